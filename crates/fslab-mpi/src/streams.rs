//! Threads between a stream and the main thread, which must never wait for a stream.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread;

use crate::link::Rank;

/// Bytes of a stream; `None` at its end.
pub(crate) type Part = (Rank, Option<Vec<u8>>);

/// Number of parts that may wait to be sent.
pub(crate) const PARTS_MAX: usize = 256;
const PART_BYTES: usize = 64 << 10;
/// Bytes that may wait for the reader of a stream: some records. Who sends more sends without end.
const WAITING_BYTES_MAX: usize = 256 << 20;

/// The way to a stream that a thread writes.
#[derive(Debug)]
pub(crate) struct Output {
    sender: Sender<Vec<u8>>,
    /// Bytes that are not written yet.
    waiting: Arc<AtomicUsize>,
}

impl Output {
    /// Adds bytes; false if too many wait already, and these are dropped.
    pub(crate) fn send(&self, bytes: Vec<u8>) -> bool {
        let waiting = self.waiting.fetch_add(bytes.len(), Ordering::Relaxed);
        if waiting.saturating_add(bytes.len()) > WAITING_BYTES_MAX {
            return false;
        }
        // An error: the stream has ended, and its reader says so.
        let _ = self.sender.send(bytes);
        true
    }
}

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

/// A way whose bytes are written to `output`. `at_end` gets the output after the way is dropped and
/// all is written.
pub(crate) fn write_to<W: Write + Send + 'static>(
    mut output: W,
    at_end: impl FnOnce(W) + Send + 'static,
) -> Output {
    let (sender, parts) = mpsc::channel::<Vec<u8>>();
    let waiting = Arc::new(AtomicUsize::new(0));
    let left = Arc::clone(&waiting);
    thread::spawn(move || {
        for part in parts {
            let length = part.len();
            // The reader has ended, and says so at its own end.
            if output
                .write_all(&part)
                .and_then(|()| output.flush())
                .is_err()
            {
                break;
            }
            left.fetch_sub(length, Ordering::Relaxed);
        }
        at_end(output);
    });
    Output { sender, waiting }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that never ends its first write.
    struct Stuck;

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            loop {
                thread::park();
            }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    // What a rank sends waited at rank 0 without a limit: endless lines of one rank ended the job
    // for lack of memory.
    #[test]
    fn what_waits_for_a_reader_has_a_limit() {
        let output = write_to(Stuck, drop);
        let part = vec![0; 32 << 20];
        let taken = (0..100).take_while(|_| output.send(part.clone())).count();
        assert_eq!(taken, WAITING_BYTES_MAX / part.len());
    }

    #[test]
    fn what_was_written_does_not_count() {
        let output = write_to(std::io::sink(), drop);
        for _ in 0..(WAITING_BYTES_MAX / PART_BYTES) * 2 {
            while !output.send(vec![0; PART_BYTES]) {
                panic!("the sink takes all");
            }
            while output.waiting.load(Ordering::Relaxed) > WAITING_BYTES_MAX / 2 {
                thread::yield_now();
            }
        }
    }
}
