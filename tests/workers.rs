//! Trials in worker processes: the records are those of one machine, and a dead worker costs its
//! trial alone.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::Desk;

/// A socket with a worker behind each connection.
struct Transport {
    socket: PathBuf,
    workers: Arc<Mutex<Vec<Child>>>,
}

impl Transport {
    fn open(desk: &Desk) -> Self {
        let socket = desk.path("workers");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let workers = Arc::new(Mutex::new(Vec::new()));
        let (started, home) = (Arc::clone(&workers), desk.path("home"));
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let output = stream.try_clone().expect("a copy");
                let worker = Command::new(env!("CARGO_BIN_EXE_fslab"))
                    .arg("worker")
                    .env_clear()
                    .env("HOME", &home)
                    .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                    .stdin(Stdio::from(OwnedFd::from(stream)))
                    .stdout(Stdio::from(OwnedFd::from(output)))
                    .spawn();
                started
                    .lock()
                    .expect("no panic")
                    .push(worker.expect("it starts"));
            }
        });
        Self { socket, workers }
    }

    /// Kills the worker that was started first.
    fn kill_one(&self) {
        let mut workers = self.workers.lock().expect("no panic");
        let pid = Pid::from_child(&workers[0]);
        kill_process(pid, Signal::KILL).expect("it is there");
        workers[0].wait().expect("it ends");
    }

    /// Waits for all: each ends with its connection.
    fn wait(&self) {
        for worker in self.workers.lock().expect("no panic").iter_mut() {
            worker.wait().expect("it ends");
        }
    }
}

const COMPARE: [&str; 12] = [
    "compare",
    "ext2",
    "xfs",
    "--study",
    "./small.toml",
    "--venue",
    "sim",
    "--images",
    "images",
    "--out",
    "out",
    "--resume",
];

fn with_workers(transport: &Transport) -> Vec<&str> {
    let socket = transport.socket.to_str().expect("plain");
    [&COMPARE[..], &["--workers", socket, "--jobs", "2"]].concat()
}

#[test]
fn the_records_of_workers_are_those_of_one_machine() {
    let Some(desk) = Desk::new().with_lab("the records of workers") else {
        return;
    };
    let transport = Transport::open(&desk);
    desk.run(&with_workers(&transport)).expect_code(0);
    transport.wait();
    assert_eq!(transport.workers.lock().expect("no panic").len(), 2);
    let exact = ["export", "--format", "exact"];
    let theirs = desk.run(&exact);
    // A complete run is not resumed: this one is new.
    let alone = COMPARE.iter().filter(|word| **word != "--resume");
    let alone: Vec<&str> = alone.copied().collect();
    desk.run(&alone).expect_code(0);
    let own = desk.run(&exact);
    own.expect_code(0);
    assert_eq!(own.out, theirs.expect_code(0).out);
}

#[test]
fn a_killed_worker_costs_its_trial_and_a_resumed_run_repeats_it() {
    let Some(desk) = Desk::new().with_lab("a killed worker") else {
        return;
    };
    let transport = Transport::open(&desk);
    let mut child = desk.start(&with_workers(&transport));
    crate::interruption::wait_for_first_trial(&mut child);
    transport.kill_one();
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    transport.wait();
    let trials = || desk.last_run()["trials"].as_array().map_or(0, Vec::len);
    let planned = 2 * 2;
    assert_eq!(trials(), planned - 1);
    desk.run(&COMPARE).expect_code(0);
    assert_eq!(trials(), planned);
    desk.expect_nothing_left();
}
