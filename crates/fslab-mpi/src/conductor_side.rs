//! Rank 0: starts `fslab` with a socket for its workers, and relays each connection to a rank.

use std::ffi::OsString;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Ended;
use crate::frame::Kind;
use crate::hello::{self, Hello};
use crate::link::{Link, Rank};
use crate::stop::Stops;
use crate::streams::{self, Output, PARTS_MAX, Part};
use crate::worker_side::{ALIVE_INTERVAL, SILENCE_MAX};

/// Interval at which rank 0 looks for messages: each adds its half to every trial.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Time in which every rank must say who it is.
const HELLO_MAX: Duration = Duration::from_secs(120);
/// Time that ranks have to end their workers.
const BYE_MAX: Duration = Duration::from_secs(70);
/// The commands whose trials run on ranks.
const COMMANDS: [&str; 2] = ["run", "compare"];

/// What rank 0 knows of another rank.
struct Peer {
    host: String,
    last_message: Instant,
    alive: bool,
    /// The connection of the conductor with its worker.
    connection: Option<(UnixStream, Output)>,
}

struct Side<'a> {
    link: &'a Link<'a>,
    /// Those of rank 1, 2 and so on.
    peers: Vec<Peer>,
}

/// Runs fslab and relays until it ends; the exit code is that of fslab.
pub(crate) fn relay(link: &Link) -> Ended {
    let new = || Peer {
        host: String::new(),
        last_message: Instant::now(),
        alive: true,
        connection: None,
    };
    let peers = (1..link.size()).map(|_| new()).collect();
    let mut side = Side { link, peers };
    let code = side.run().unwrap_or_else(|message| {
        eprintln!("error: {message}");
        2
    });
    let all_alive = side.end();
    Ended { code, all_alive }
}

impl Side<'_> {
    fn run(&mut self) -> Result<u8, String> {
        let failed = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| format!("cannot {what}: {error}")
        };
        let mut stops = Stops::catch().map_err(failed("handle signals"))?;
        let hosts = greet(self.link)?;
        for (peer, host) in self.peers.iter_mut().zip(hosts.into_iter().skip(1)) {
            peer.host = host;
            peer.last_message = Instant::now();
        }
        let folder = tempfile::tempdir().map_err(failed("make a temporary directory"))?;
        let socket = folder.path().join("workers");
        let listener = UnixListener::bind(&socket).map_err(failed("make a socket"))?;
        let arguments = arguments(
            std::env::args_os().skip(1).collect(),
            &socket,
            self.peers.len(),
        )?;
        // In a separate process group: what ends this rank by force does not end it.
        let mut child = Command::new(hello::program())
            .args(arguments)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed("start fslab"))?;
        let (to_ranks, parts) = mpsc::sync_channel(PARTS_MAX);
        let (to_main, connections) = mpsc::channel();
        accept(listener, self.peers.len(), to_ranks, to_main);
        let mut last_sent = Instant::now();
        loop {
            self.send_parts(&parts);
            // Before `receive`, which drops what has no connection: an answer to a part just sent
            // may already be there.
            for (rank, stream) in connections.try_iter() {
                self.connect(rank, stream);
            }
            self.receive();
            (0..stops.take()).for_each(|_| forward_stop(&child));
            if last_sent.elapsed() > ALIVE_INTERVAL {
                self.send_all(Kind::Alive, &[]);
                last_sent = Instant::now();
            }
            self.give_up_silent();
            if let Some(status) = child.try_wait().map_err(failed("wait for fslab"))? {
                return Ok(code_of(status));
            }
        }
    }

    fn peer(&mut self, rank: Rank) -> &mut Peer {
        let index = usize::try_from(rank - 1).expect("ranks from 1");
        &mut self.peers[index]
    }

    fn connect(&mut self, rank: Rank, stream: UnixStream) {
        let Ok(output) = stream.try_clone() else {
            return;
        };
        let peer = self.peer(rank);
        if !peer.alive {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
        // The reader's copy would keep the connection open.
        let at_end = |stream: UnixStream| {
            let _ = stream.shutdown(Shutdown::Both);
        };
        peer.connection = Some((stream, streams::write_to(output, at_end)));
    }

    /// Sends what the conductor has written; waits a little for it.
    fn send_parts(&mut self, parts: &Receiver<Part>) {
        let mut wait = POLL_INTERVAL;
        while let Ok((rank, bytes)) = parts.recv_timeout(wait) {
            wait = Duration::ZERO;
            if !self.peer(rank).alive {
                continue;
            }
            match bytes {
                Some(bytes) => self.link.send(rank, Kind::Data, &bytes),
                None => self.link.send(rank, Kind::Close, &[]),
            }
        }
    }

    fn receive(&mut self) {
        while let Some((rank, kind, payload)) = self.link.receive() {
            let peer = self.peer(rank);
            peer.last_message = Instant::now();
            match (kind, &peer.connection) {
                (Kind::Data, Some((_, connection))) => {
                    if !connection.send(payload) {
                        let why = "sends data without end";
                        self.give_up(rank, why);
                    }
                }
                (Kind::Close, _) => peer.connection = None,
                _ => {}
            }
        }
    }

    /// Gives up the ranks that give no sign of life.
    fn give_up_silent(&mut self) {
        let is_silent = |peer: &Peer| peer.alive && peer.last_message.elapsed() > SILENCE_MAX;
        let ranks = (1..).zip(&self.peers);
        let silent: Vec<Rank> = ranks.filter(|it| is_silent(it.1)).map(|it| it.0).collect();
        let why = format!("has been silent for {} s", SILENCE_MAX.as_secs());
        silent.into_iter().for_each(|rank| self.give_up(rank, &why));
    }

    /// Closes the connection of a rank: the conductor goes on without.
    fn give_up(&mut self, rank: Rank, why: &str) {
        let peer = self.peer(rank);
        eprintln!(
            "warning: rank {rank} on {} {why}; continuing without it",
            peer.host
        );
        peer.alive = false;
        if let Some((stream, _)) = peer.connection.take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn send_all(&mut self, kind: Kind, payload: &[u8]) {
        for (rank, peer) in (1..).zip(&self.peers) {
            if peer.alive {
                self.link.send(rank, kind, payload);
            }
        }
    }

    /// Ends the other ranks; whether all are alive.
    fn end(&mut self) -> bool {
        let all_alive = self.peers.iter().all(|peer| {
            // A rank that died lately is not known to be dead.
            peer.alive && peer.last_message.elapsed() < 2 * ALIVE_INTERVAL + ALIVE_INTERVAL / 2
        });
        self.send_all(Kind::End, &[u8::from(all_alive)]);
        let left: Vec<_> = (1..)
            .zip(&self.peers)
            .filter(|it| it.1.alive)
            .map(|it| it.0)
            .collect();
        wait_for_byes(self.link, left) && all_alive
    }
}

/// Waits until these ranks have ended and undone everything; whether all have.
pub(crate) fn wait_for_byes(link: &Link, mut left: Vec<Rank>) -> bool {
    let until = Instant::now() + BYE_MAX;
    while !left.is_empty() && Instant::now() < until {
        match link.receive() {
            Some((rank, Kind::Bye, _)) => left.retain(|other| *other != rank),
            Some(_) => {}
            None => std::thread::sleep(POLL_INTERVAL),
        }
    }
    left.is_empty()
}

/// Waits until every rank has said who it is; refuses ranks with another fslab. Gives the names of
/// all machines, by rank.
pub(crate) fn greet(link: &Link) -> Result<Vec<String>, String> {
    let own = Hello::here();
    if !own.error.is_empty() {
        return Err(own.error);
    }
    let until = Instant::now() + HELLO_MAX;
    let mut silent: Vec<_> = (1..link.size()).collect();
    let mut hosts = vec![own.host.clone(); silent.len() + 1];
    while !silent.is_empty() {
        if Instant::now() > until {
            return Err(format!("the ranks {silent:?} do not respond"));
        }
        let Some((rank, kind, payload)) = link.receive() else {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        };
        if kind == Kind::Hello {
            let hello = Hello::of_text(&String::from_utf8_lossy(&payload));
            let hello =
                hello.ok_or(format!("rank {rank} runs a different version of fslab-mpi"))?;
            own.ensure_same(rank, &hello).map_err(|why| {
                format!("{why}\n  hint: install one build of fslab on every machine")
            })?;
            if let Some(host) = usize::try_from(rank)
                .ok()
                .and_then(|rank| hosts.get_mut(rank))
            {
                *host = hello.host;
            }
            silent.retain(|other| *other != rank);
        }
    }
    Ok(hosts)
}

/// Gives the i-th connection to rank i, from 1.
fn accept(
    listener: UnixListener,
    ranks: usize,
    to_ranks: SyncSender<Part>,
    to_main: Sender<(Rank, UnixStream)>,
) {
    std::thread::spawn(move || {
        for (rank, stream) in (1..).zip(listener.incoming().take(ranks).flatten()) {
            let Ok(input) = stream.try_clone() else {
                return;
            };
            if to_main.send((rank, stream)).is_err() {
                return;
            }
            streams::read_from(input, rank, to_ranks.clone());
        }
    });
}

/// The arguments of fslab: those given, with the socket after the command.
fn arguments(given: Vec<OsString>, socket: &Path, ranks: usize) -> Result<Vec<OsString>, String> {
    let has_jobs = given.iter().any(|word| {
        let word = word.to_string_lossy();
        word == "--jobs" || word.starts_with("--jobs=")
    });
    let mut own: Vec<OsString> = vec!["--workers".into(), socket.into()];
    if !has_jobs {
        own.extend(["--jobs".into(), ranks.to_string().into()]);
    }
    with_own(given, own)
}

/// The arguments that were given, with `own` after the command.
pub(crate) fn with_own(given: Vec<OsString>, own: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let is_command = |word: &OsString| COMMANDS.iter().any(|command| word == *command);
    let Some(place) = given.iter().position(is_command) else {
        return Err(
            "fslab-mpi only runs studies: fslab-mpi run STUDY, or fslab-mpi compare SUBJECTS\n  \
             hint: use `fslab` for everything else"
                .into(),
        );
    };
    let mut all = given;
    all.splice(place + 1..place + 1, own);
    Ok(all)
}

pub(crate) fn forward_stop(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(id) = id {
        let _ = kill_process(id, Signal::TERM);
    }
}

pub(crate) fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> Result<Vec<OsString>, String> {
        let words = words.iter().map(OsString::from).collect();
        arguments(words, Path::new("/s"), 3)
    }

    #[test]
    fn the_socket_stands_after_the_command() {
        let all = given(&["--quiet", "run", "small-files", "--", "x"]).expect("a command");
        let all: Vec<_> = all.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            all.join(" "),
            "--quiet run --workers /s --jobs 3 small-files -- x"
        );
    }

    #[test]
    fn jobs_that_the_user_gave_stay() {
        let all = given(&["run", "x", "--jobs", "2"]).expect("a command");
        assert_eq!(all.iter().filter(|word| *word == "--jobs").count(), 1);
    }

    #[test]
    fn other_commands_are_refused_with_a_hint() {
        assert!(
            given(&["list"])
                .expect_err("refused")
                .contains("use `fslab`")
        );
        assert!(given(&[]).is_err());
    }
}
