//! What happens at a rank of a load: lines of its worker, bytes of its trial and of the conductor.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::Sender;
use std::thread;

/// Bytes that are read at once.
const PART_BYTES: usize = 64 << 10;

/// What happens at this rank.
pub(crate) enum Event {
    /// The conductor has written to its worker; `None`: it has closed the connection.
    Conductor(Option<Vec<u8>>),
    /// The worker has written a line; `None`: it has ended.
    Worker(Option<Vec<u8>>),
    /// The trial has connected.
    TrialBegins(UnixStream),
    /// The trial has written; `None`: it has ended.
    Trial(Option<Vec<u8>>),
}

pub(crate) fn listen_to_trials(listener: UnixListener, sender: Sender<Event>) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if sender.send(Event::TrialBegins(stream)).is_err() {
                return;
            }
        }
    });
}

pub(crate) fn read_parts(
    mut input: impl Read,
    sender: &Sender<Event>,
    event: fn(Option<Vec<u8>>) -> Event,
) {
    let mut buffer = vec![0; PART_BYTES];
    while let Ok(length @ 1..) = input.read(&mut buffer) {
        if sender.send(event(Some(buffer[..length].to_vec()))).is_err() {
            return;
        }
    }
    let _ = sender.send(event(None));
}

pub(crate) fn read_lines(input: impl Read, sender: &Sender<Event>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(1..) => {
                if sender.send(Event::Worker(Some(line))).is_err() {
                    return;
                }
            }
            Ok(0) | Err(_) => break,
        }
    }
    let _ = sender.send(Event::Worker(None));
}

/// Why a worker refuses the run, if its line says that.
pub(crate) fn refusal_in(line: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    if value["message"] != "refused" {
        return None;
    }
    let message = value["failure"]["message"].as_str()?;
    Some(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_is_taken_out_of_a_workers_lines() {
        let refused =
            br#"{"message":"refused","host":"b","failure":{"kind":"no-space","message":"full"}}"#;
        assert_eq!(refusal_in(refused).as_deref(), Some("full"));
        assert_eq!(refusal_in(br#"{"message":"ready","host":"b"}"#), None);
        assert_eq!(refusal_in(b"no JSON"), None);
    }
}
