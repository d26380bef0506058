//! One load from all ranks: each trial runs on every rank at once, rank 0 included.
//!
//! ```text
//!     rank 0     fslab run --workers SOCKET --ranks N       the conductor, with the store
//!                   | its lines go to all workers, those of the worker of rank 0 come back
//!                this relay ---- MPI ---- this relay        rank 1 .. N-1
//!                   |                        |
//!                fslab worker             fslab worker      the same trial at the same time
//!                   |                        |
//!                fslab trial -- exchange -- fslab trial     see `exchange`
//! ```
//! While a trial waits for an exchange its relay looks for messages all the time; while it works,
//! every 10 ms.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::Ended;
use crate::arguments;
use crate::clocks::{self, ClockDifference};
use crate::conductor_side::{self, code_of, forward_stop};
use crate::events::{Event, listen_to_trials, read_lines, read_parts, refusal_in};
use crate::exchange::Exchange;
use crate::frame::Kind;
use crate::hello::{self, Hello};
use crate::link::{Link, Rank};
use crate::stop::Stops;
use crate::streams::{self, Output};
use crate::worker_side::{ALIVE_INTERVAL, END_MAX, SILENCE_MAX};

/// Interval at which ranks look for messages while their trials work.
const WORK_INTERVAL: Duration = Duration::from_millis(10);
/// The same while a trial waits for an exchange.
const WAIT_INTERVAL: Duration = Duration::from_micros(20);
/// Time within which all parts of an answer come.
const ANSWER_TIME: Duration = Duration::from_millis(2);

/// The conductor of rank 0.
struct Conductor {
    child: Child,
    /// The connection with its worker, once there is one.
    output: Option<(UnixStream, Output)>,
}

/// The relay of this rank.
struct Side<'a> {
    link: &'a Link<'a>,
    events: Receiver<Event>,
    sender: Sender<Event>,
    /// The socket of the trials.
    socket: PathBuf,
    clock: ClockDifference,
    worker: Option<(Child, Option<Output>)>,
    trial: Option<UnixStream>,
    /// True while the trial waits for an answer.
    waits: bool,
    /// When the last part of an answer came: more may follow.
    answered: Instant,
    /// At rank 0.
    exchange: Option<Exchange>,
    conductor: Option<Conductor>,
    last_messages: Vec<Instant>,
    /// What a worker said at last, if that was a refusal.
    refusal: Option<String>,
}

/// Relays until the run ends.
pub(crate) fn relay(link: &Link) -> Ended {
    let opened = Side::open(link);
    match opened.and_then(|opened| opened.map(|(mut side, _folder)| side.run()).transpose()) {
        Ok(Some(ended)) => ended,
        // Rank 0 has refused the job, and has said why.
        Ok(None) => Ended {
            code: 0,
            all_alive: true,
        },
        Err(message) => {
            eprintln!("error: rank {}: {message}", link.rank());
            if link.rank() == 0 {
                (1..link.size()).for_each(|rank| link.send(rank, Kind::End, &[1]));
            }
            Ended {
                code: 2,
                all_alive: true,
            }
        }
    }
}

fn failed(what: &str) -> impl Fn(io::Error) -> String {
    move |error| format!("cannot {what}: {error}")
}

impl<'a> Side<'a> {
    /// Rank 0 knows all ranks after this, and each rank its clock.
    /// `None` if rank 0 has ended the job.
    fn open(link: &'a Link) -> Result<Option<(Self, tempfile::TempDir)>, String> {
        let folder = tempfile::tempdir().map_err(failed("make a temporary directory"))?;
        let socket = folder.path().join("trials");
        let listener = UnixListener::bind(&socket).map_err(failed("make a socket"))?;
        let (sender, events) = mpsc::channel();
        listen_to_trials(listener, sender.clone());
        let (exchange, clock) = if link.rank() == 0 {
            let hosts = conductor_side::greet(link)?;
            let names = (0..)
                .zip(hosts)
                .map(|(rank, host)| format!("rank {rank} on {host}"));
            (Some(Exchange::new(names.collect())), clocks::measure(link))
        } else {
            link.send(0, Kind::Hello, Hello::here().to_text().as_bytes());
            match clocks::answer(link) {
                Some(clock) => (None, clock),
                None => return Ok(None),
            }
        };
        let ranks = usize::try_from(link.size()).unwrap_or(1);
        let side = Self {
            link,
            events,
            sender,
            socket,
            clock,
            worker: None,
            trial: None,
            waits: false,
            answered: Instant::now(),
            exchange,
            conductor: None,
            last_messages: vec![Instant::now(); ranks],
            refusal: None,
        };
        Ok(Some((side, folder)))
    }

    fn run(&mut self) -> Result<Ended, String> {
        let mut stops = Stops::catch().map_err(failed("handle signals"))?;
        let _folder = self.start_conductor()?;
        let mut last_sent = Instant::now();
        loop {
            let interval = match self.waits || self.answered.elapsed() < ANSWER_TIME {
                true => WAIT_INTERVAL,
                false => WORK_INTERVAL,
            };
            let mut event = self.events.recv_timeout(interval).ok();
            while let Some(happened) = event {
                self.take_event(happened);
                event = self.events.try_recv().ok();
            }
            if let Some(ended) = self.receive() {
                return Ok(ended);
            }
            for _ in 0..stops.take() {
                match &self.conductor {
                    Some(conductor) => forward_stop(&conductor.child),
                    None => self.end_worker(),
                }
            }
            if last_sent.elapsed() > ALIVE_INTERVAL {
                self.send_to_others(Kind::Alive, &[]);
                last_sent = Instant::now();
            }
            if let Some(ended) = self.give_up_silent() {
                return Ok(ended);
            }
            if let Some(conductor) = &mut self.conductor
                && let Some(status) = conductor
                    .child
                    .try_wait()
                    .map_err(failed("wait for fslab"))?
            {
                let code = code_of(status);
                return Ok(self.end(code));
            }
        }
    }

    /// Starts the conductor at rank 0, with a socket that its one worker answers.
    fn start_conductor(&mut self) -> Result<Option<tempfile::TempDir>, String> {
        if self.exchange.is_none() {
            return Ok(None);
        }
        let folder = tempfile::tempdir().map_err(failed("make a temporary directory"))?;
        let socket = folder.path().join("workers");
        let listener = UnixListener::bind(&socket).map_err(failed("make a socket"))?;
        let given = std::env::args_os().skip(1).collect();
        let own = arguments::of_load(&socket, self.link.size());
        let arguments = conductor_side::with_own(given, own)?;
        // In a separate process group: what ends this rank by force does not end it.
        let child = Command::new(hello::program())
            .args(arguments)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed("start fslab"))?;
        let output = None;
        self.conductor = Some(Conductor { child, output });
        let (to_main, connections) = mpsc::channel();
        let sender = self.sender.clone();
        thread::spawn(move || {
            // The conductor has one worker.
            let Ok((stream, _)) = listener.accept() else {
                return;
            };
            let Ok(input) = stream.try_clone() else {
                return;
            };
            if to_main.send(stream).is_ok() {
                read_parts(input, &sender, Event::Conductor);
            }
        });
        // Connected before its first line comes as an event.
        let stream = loop {
            match connections.recv_timeout(WORK_INTERVAL) {
                Ok(stream) => break Some(stream),
                Err(mpsc::RecvTimeoutError::Disconnected) => break None,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let conductor = self.conductor.as_mut().expect("was just started");
                    let ended = conductor
                        .child
                        .try_wait()
                        .map_err(failed("wait for fslab"))?;
                    if ended.is_some() {
                        // It has said why; its exit is seen later.
                        break None;
                    }
                    self.receive();
                }
            }
        };
        if let (Some(stream), Some(conductor)) = (stream, &mut self.conductor)
            && let Ok(output) = stream.try_clone()
        {
            let at_end = |stream: UnixStream| {
                let _ = stream.shutdown(Shutdown::Both);
            };
            conductor.output = Some((stream, streams::write_to(output, at_end)));
        }
        Ok(Some(folder))
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Conductor(Some(bytes)) => {
                self.send_to_others(Kind::Data, &bytes);
                self.give_worker(bytes);
            }
            Event::Conductor(None) => {
                self.send_to_others(Kind::Close, &[]);
                self.close_worker();
            }
            Event::Worker(line) => self.take_line(line),
            Event::TrialBegins(stream) => {
                if let Ok(input) = stream.try_clone() {
                    let sender = self.sender.clone();
                    thread::spawn(move || read_parts(input, &sender, Event::Trial));
                }
                (self.trial, self.waits) = (Some(stream), false);
            }
            Event::Trial(bytes) => self.take_of_trial(bytes.as_deref()),
        }
    }

    /// Takes what the trial of this rank has written.
    fn take_of_trial(&mut self, bytes: Option<&[u8]>) {
        let sent = match (&mut self.exchange, bytes) {
            (Some(exchange), Some(bytes)) => exchange.take(0, bytes),
            (Some(exchange), None) => exchange.end(0),
            (None, Some(bytes)) => {
                self.link.send(0, Kind::Trial, bytes);
                Vec::new()
            }
            (None, None) => {
                self.link.send(0, Kind::TrialEnd, &[]);
                Vec::new()
            }
        };
        if bytes.is_none() {
            self.trial = None;
        }
        self.waits = bytes.is_some();
        if self.exchange.is_some() {
            self.deliver(sent);
        }
    }

    /// Gives trials what they get of an exchange.
    fn deliver(&mut self, sent: Vec<(usize, Vec<u8>)>) {
        for (rank, bytes) in sent {
            match Rank::try_from(rank) {
                Ok(0) => self.give_trial(&bytes),
                Ok(rank) => self.link.send(rank, Kind::Trial, &bytes),
                Err(_) => {}
            }
        }
        if let Some(exchange) = &self.exchange {
            self.waits = exchange.has_waiting(0);
        }
    }

    fn give_trial(&mut self, bytes: &[u8]) {
        if let Some(trial) = &mut self.trial {
            // An error: it has ended, and its end comes as an event.
            let _ = io::Write::write_all(trial, bytes);
        }
    }

    /// Takes a line of the worker of this rank. That of rank 0 answers the conductor; of the others
    /// only why they refuse the run is of interest.
    fn take_line(&mut self, line: Option<Vec<u8>>) {
        let Some(line) = line else {
            self.worker = None;
            let why = self
                .refusal
                .take()
                .unwrap_or_else(|| "its fslab has ended".into());
            match (&mut self.exchange, &mut self.conductor) {
                (Some(exchange), Some(conductor)) => {
                    conductor.output = None;
                    let sent = exchange.lose(0, &why);
                    self.deliver(sent);
                }
                _ => self.link.send(0, Kind::WorkerEnd, why.as_bytes()),
            }
            return;
        };
        if let Some(conductor) = &self.conductor {
            if let Some((_, output)) = &conductor.output {
                let _ = output.send(line);
            }
        } else if let Some(why) = refusal_in(&line) {
            self.refusal = Some(why);
        }
    }

    fn give_worker(&mut self, bytes: Vec<u8>) {
        if self.worker.is_none() {
            match self.start_worker() {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => {
                    self.refusal = Some(format!("cannot start fslab: {error}"));
                    self.take_line(None);
                    return;
                }
            }
        }
        if let Some((_, Some(input))) = &self.worker {
            let _ = input.send(bytes);
        }
    }

    /// In a separate process group: what ends the rank by force leaves it the time to clean up.
    fn start_worker(&self) -> io::Result<(Child, Option<Output>)> {
        let mut child = Command::new(hello::program())
            .arg("worker")
            .arg("--rank-socket")
            .arg(&self.socket)
            .args(["--rank", &self.link.rank().to_string()])
            .args(["--ranks", &self.link.size().to_string()])
            .args(["--clock-ahead-ns", &self.clock.ahead_ns.to_string()])
            .args(["--clock-error-ns", &self.clock.error_ns.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let sender = self.sender.clone();
        let stdout = stdout.expect("piped");
        thread::spawn(move || read_lines(stdout, &sender));
        let input = streams::write_to(stdin.expect("piped"), drop);
        Ok((child, Some(input)))
    }

    fn close_worker(&mut self) {
        if let Some((_, input)) = &mut self.worker {
            *input = None;
        }
    }

    /// Ends the input of the worker, and waits until it has ended its trial and itself.
    fn end_worker(&mut self) {
        self.close_worker();
        let Some((child, _)) = &mut self.worker else {
            return;
        };
        let until = Instant::now() + END_MAX;
        while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(WORK_INTERVAL);
        }
    }

    /// Takes what other ranks have sent; how this one ends, if it does.
    fn receive(&mut self) -> Option<Ended> {
        while let Some((from, kind, payload)) = self.link.receive() {
            let rank = usize::try_from(from).unwrap_or(0);
            if let Some(last) = self.last_messages.get_mut(rank) {
                *last = Instant::now();
            }
            let sent = match (kind, &mut self.exchange) {
                (Kind::Trial, Some(exchange)) => exchange.take(rank, &payload),
                (Kind::TrialEnd, Some(exchange)) => exchange.end(rank),
                (Kind::WorkerEnd, Some(exchange)) => {
                    exchange.lose(rank, &String::from_utf8_lossy(&payload))
                }
                (Kind::Trial, None) => {
                    self.give_trial(&payload);
                    (self.waits, self.answered) = (false, Instant::now());
                    Vec::new()
                }
                (Kind::Data, None) => {
                    self.give_worker(payload);
                    Vec::new()
                }
                (Kind::Close, None) => {
                    self.close_worker();
                    Vec::new()
                }
                (Kind::End, None) => {
                    self.end_worker();
                    self.link.send(0, Kind::Bye, &[]);
                    return Some(Ended {
                        code: 0,
                        all_alive: payload == [1],
                    });
                }
                _ => Vec::new(),
            };
            if self.exchange.is_some() {
                self.deliver(sent);
            }
        }
        None
    }

    fn send_to_others(&self, kind: Kind, payload: &[u8]) {
        match self.exchange {
            Some(_) => (1..self.link.size()).for_each(|rank| self.link.send(rank, kind, payload)),
            None if kind == Kind::Alive => self.link.send(0, kind, payload),
            None => {}
        }
    }

    /// Loses ranks that give no sign of life; without rank 0 this one ends.
    fn give_up_silent(&mut self) -> Option<Ended> {
        let limit = SILENCE_MAX.as_secs();
        if self.exchange.is_none() {
            if self.last_messages[0].elapsed() <= SILENCE_MAX {
                return None;
            }
            let rank = self.link.rank();
            eprintln!("error: rank {rank}: rank 0 does not respond; this rank ends");
            self.end_worker();
            return Some(Ended {
                code: 4,
                all_alive: false,
            });
        }
        for rank in 1..self.last_messages.len() {
            if self.last_messages[rank].elapsed() <= SILENCE_MAX {
                continue;
            }
            let why = format!("it has been silent for {limit} s");
            let sent = self.exchange.as_mut().map(|it| it.lose(rank, &why));
            self.deliver(sent.unwrap_or_default());
        }
        None
    }

    /// Ends the other ranks, after the conductor.
    fn end(&mut self, code: u8) -> Ended {
        self.end_worker();
        let is_alive = |last: &Instant| last.elapsed() < 2 * ALIVE_INTERVAL + ALIVE_INTERVAL / 2;
        let all_alive = self.last_messages[1..].iter().all(is_alive);
        self.send_to_others(Kind::End, &[u8::from(all_alive)]);
        let others = (1..self.link.size()).zip(&self.last_messages[1..]);
        let left = others.filter(|(_, last)| last.elapsed() <= SILENCE_MAX);
        let left = left.map(|(rank, _)| rank).collect();
        let all_said_bye = conductor_side::wait_for_byes(self.link, left);
        Ended {
            code,
            all_alive: all_alive && all_said_bye,
        }
    }
}
