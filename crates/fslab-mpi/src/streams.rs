//! Threads between a stream and the main thread, which must never wait for a stream.

use std::io::{Read, Write};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread;

use crate::link::Rank;

/// Bytes of a stream; `None` at its end.
pub(crate) type Part = (Rank, Option<Vec<u8>>);

/// Number of parts that may wait to be sent.
pub(crate) const PARTS_MAX: usize = 256;
const PART_BYTES: usize = 64 << 10;

/// Sends what `input` gives, marked with `rank`.
pub(crate) fn read_from(mut input: impl Read + Send + 'static, rank: Rank, to: SyncSender<Part>) {
    thread::spawn(move || {
        let mut buffer = vec![0; PART_BYTES];
        while let Ok(length @ 1..) = input.read(&mut buffer) {
            if to.send((rank, Some(buffer[..length].to_vec()))).is_err() {
                return;
            }
        }
        let _ = to.send((rank, None));
    });
}

/// A sender whose bytes are written to `output`. `at_end` gets the output after the sender is
/// dropped and all is written.
pub(crate) fn write_to<W: Write + Send + 'static>(
    mut output: W,
    at_end: impl FnOnce(W) + Send + 'static,
) -> Sender<Vec<u8>> {
    let (sender, parts) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for part in parts {
            // The reader has ended, and says so at its own end.
            if output
                .write_all(&part)
                .and_then(|()| output.flush())
                .is_err()
            {
                break;
            }
        }
        at_end(output);
    });
    sender
}
