//! Workers that lie: a process between the conductor and a real worker changes what that one says.
//! A lie costs the worker its trials, is named, and is never stored.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Desk, Ended};

/// Changes a message of a worker on its way; false ends the connection.
type Lie = fn(Value, &mut UnixStream) -> bool;

/// A socket whose first connection has a worker that lies; all others have honest ones.
fn transport(desk: &Desk, lie: Lie) -> PathBuf {
    let socket = desk.path("workers");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let home = desk.path("home");
    // It ends with the process of the tests.
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let lie = if number == 0 { lie } else { HONEST };
            let home = home.clone();
            std::thread::spawn(move || relay(stream, &home, lie));
        }
    });
    socket
}

const HONEST: Lie = |message, to| say(&message, to);

fn say(message: &Value, to: &mut UnixStream) -> bool {
    to.write_all(format!("{message}\n").as_bytes()).is_ok()
}

fn relay(mut stream: UnixStream, home: &Path, lie: Lie) {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_fslab"))
        .arg("worker")
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = worker.stdin.take().expect("piped");
    let mut asked = stream.try_clone().expect("a copy");
    std::thread::spawn(move || {
        // Not by `copy`: a splice would hold the pipe while it waits for the socket.
        let mut part = [0; 65_536];
        while let Ok(length @ 1..) = asked.read(&mut part) {
            if input.write_all(&part[..length]).is_err() {
                break;
            }
        }
    });
    let output = BufReader::new(worker.stdout.take().expect("piped"));
    for line in output.lines().map_while(Result::ok) {
        let message = serde_json::from_str(&line).expect("an honest worker sends JSON");
        if !lie(message, &mut stream) {
            break;
        }
    }
    let _ = stream.shutdown(std::net::Shutdown::Both);
    worker.wait().expect("it ends");
}

/// The same message, with its record changed if it has one.
fn with_record(mut message: Value, to: &mut UnixStream, change: fn(&mut Value)) -> bool {
    if message["message"] == "record" {
        change(&mut message["record"]);
    }
    say(&message, to)
}

/// Runs the small study on the fake file system by workers behind `socket`.
fn compare(desk: &Desk, socket: &Path, options: &[&str]) -> Ended {
    let socket = socket.to_str().expect("plain");
    let begin = ["compare", "fake", "--study", "./small.toml", "--out", "out"];
    desk.run(&[&begin[..], &["--workers", socket], options].concat())
}

fn trials(desk: &Desk) -> usize {
    desk.last_run()["trials"].as_array().map_or(0, Vec::len)
}

/// A run by one worker with this lie, which is named by `what`; nothing of it is stored.
fn expect_refused(lie: Lie, what: &str) {
    let desk = Desk::new();
    let socket = transport(&desk, lie);
    let ended = compare(&desk, &socket, &["--jobs", "1"]);
    assert_eq!(ended.code, Some(4), "{what}: {}", ended.err);
    assert!(ended.err.contains("the worker 1 on "), "{}", ended.err);
    assert!(ended.err.contains(what), "{what}: {}", ended.err);
    assert_eq!(trials(&desk), 0, "{what}");
}

// Each of these was stored as the result of its trial, with exit code 0.
#[test]
fn a_record_that_does_not_match_its_trial_is_refused_and_says_why() {
    let lies: [(Lie, &str); 8] = [
        (
            |it, to| with_record(it, to, |record| record["subject"] = "xfs".into()),
            "sent a record with the subject 'xfs', which must be 'fake'",
        ),
        (
            |it, to| with_record(it, to, |record| record["phases"] = json!([])),
            "sent a record with no phase 'write'",
        ),
        (
            |it, to| with_record(it, to, |record| record["phases"][0]["name"] = "x".into()),
            "the name of phase 1 'x', which must be 'write'",
        ),
        (
            |it, to| with_record(it, to, |record| record["position"] = 77.into()),
            "the position '77'",
        ),
        (
            |it, to| with_record(it, to, |record| record["trial"]["repeat"] = 5.into()),
            "sent a record with the trial ",
        ),
        (
            |it, to| with_record(it, to, |record| record["facts"]["fslab"] = "9.9".into()),
            "the fact fslab = '9.9'",
        ),
        (
            |it, to| with_record(it, to, |record| record["elapsed_ns"] = u64::MAX.into()),
            "s for the trial, but",
        ),
        (
            |it, to| {
                let change = |record: &mut Value| record["phases"][0]["operations"] = Value::Null;
                with_record(it, to, change)
            },
            "no time or no operations in the phase 'write'",
        ),
    ];
    for (lie, what) in lies {
        expect_refused(lie, what);
    }
}

// An endless line, and endless lines, ended the conductor for lack of memory.
#[test]
fn lines_without_an_end_and_lines_that_are_no_messages_are_refused() {
    const STEP: &str =
        r#"{"message":"event","body":{"at_ns":0,"event":"step-started","step":"x"}}"#;
    fn instead_of_a_record(message: &Value, to: &mut UnixStream, line: &[u8]) -> bool {
        match message["message"] == "record" {
            true => {
                (0..)
                    .take_while(|_: &u64| to.write_all(line).is_ok())
                    .count()
                    == 0
            }
            false => say(message, to),
        }
    }
    fn replaced(message: &Value, to: &mut UnixStream, name: &str, by: &str) -> bool {
        let text = format!("{message}\n").replacen(&format!("\"{name}\":"), by, 1);
        to.write_all(text.as_bytes()).is_ok()
    }
    expect_refused(
        |it, to| instead_of_a_record(&it, to, &[b'x'; 65_536]),
        "sent a line of more than ",
    );
    let steps: Lie = |it, to| instead_of_a_record(&it, to, format!("{STEP}\n").as_bytes());
    expect_refused(steps, "sent more than 1");
    let negative: Lie = |it, to| replaced(&it, to, "elapsed_ns", "\"elapsed_ns\":-5,\"x\":");
    expect_refused(negative, "which is not a valid message");
    let infinite: Lie = |it, to| replaced(&it, to, "operations", "\"operations\":1e999,\"x\":");
    expect_refused(infinite, "which is not a valid message");
    let not_a_number: Lie =
        |it, to| replaced(&it, to, "harness_share", "\"harness_share\":NaN,\"x\":");
    expect_refused(not_a_number, "which is not a valid message");
    let giant: Lie = |it, to| {
        with_record(it, to, |record| {
            record["phases"][0]["latencies"][0]["histogram"] = "A".repeat(64 << 20).into();
        })
    };
    expect_refused(giant, "sent a line of more than ");
}

#[test]
fn a_record_that_no_one_asked_for_is_refused() {
    let early: Lie = |it, to| {
        let record = json!({
            "trial": { "cell": 0, "repeat": 0 }, "subject": "fake", "position": 0,
            "started_unix_s": 0, "elapsed_ns": 0, "outcome": "done",
            "steps": [], "phases": [], "facts": {}, "console": "",
        });
        let is_ready = it["message"] == "ready";
        say(&it, to) && (!is_ready || say(&json!({ "message": "record", "record": record }), to))
    };
    let desk = Desk::new();
    let socket = transport(&desk, early);
    let ended = compare(&desk, &socket, &["--jobs", "1"]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert!(ended.err.contains("the worker 1 on "), "{}", ended.err);
    assert_eq!(trials(&desk), 0);
}

// A record that came 3,000 times was held 3,000 times, and the second was taken for that of the
// next trial of the same number.
#[test]
fn a_record_that_comes_again_ends_its_worker_and_a_resumed_run_repeats_the_rest() {
    let again: Lie = |mut it, to| {
        if !say(&it, to) || it["message"] != "record" {
            return true;
        }
        // With the number of the trial that will be asked for next.
        let repeat = it["record"]["trial"]["repeat"].as_u64().expect("a number");
        it["record"]["trial"]["repeat"] = (1 - repeat).into();
        (0..3_000).all(|_| say(&it, to))
    };
    let desk = Desk::new();
    let socket = transport(&desk, again);
    let ended = compare(&desk, &socket, &["--jobs", "1", "--seed", "1"]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert!(ended.err.contains("the worker 1 on "), "{}", ended.err);
    assert_eq!(trials(&desk), 1, "the first was asked for");
    let resumed = [
        "compare",
        "fake",
        "--study",
        "./small.toml",
        "--out",
        "out",
        "--resume",
    ];
    desk.run(&[&resumed[..], &["--seed", "1"]].concat())
        .expect_code(0);
    assert_eq!(trials(&desk), 2);
}

#[test]
fn beside_an_honest_worker_a_lying_one_costs_its_trial_alone() {
    let desk = Desk::new();
    let socket = transport(&desk, |it, to| {
        with_record(it, to, |record| record["phases"] = json!([]))
    });
    let ended = compare(&desk, &socket, &["--jobs", "2", "--repeats", "12"]);
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains("the worker 1 on "), "{}", ended.err);
    assert_eq!(trials(&desk), 11);
}

// An hour was stored for a phase of a trial that took less than a second.
#[test]
fn a_time_that_has_not_passed_for_the_conductor_is_refused() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).expect("a directory");
    let socket = transport(&desk, |it, to| {
        with_record(it, to, |record| {
            record["phases"][0]["elapsed_ns"] = 3_600_000_000_000_u64.into();
        })
    });
    let (socket, data) = (socket.to_str().expect("plain"), desk.path("data"));
    let begin = [
        "compare",
        "--study",
        "./small.toml",
        "--out",
        "out",
        "--size",
        "64MiB",
    ];
    let options = [
        "--workers",
        socket,
        "--jobs",
        "1",
        "--dir",
        data.to_str().expect("plain"),
    ];
    let ended = desk.run(&[&begin[..], &options].concat());
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert!(ended.err.contains("s for its phases, but"), "{}", ended.err);
    assert_eq!(trials(&desk), 0);
}
