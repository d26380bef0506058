//! The connection of this trial with those of the other ranks of a load.
//!
//! What starts the trials of a load, such as fslab-mpi, listens at a socket on each machine. All
//! trials make the same exchanges in the same order. Numbers are little-endian:
//!
//! ```text
//!     trial -->  exchange: kind (1 byte: exchange 0, failed 1, gather 2), length (4), bytes
//!     <-- trial  answer:   0 (1 byte), count (4), and of each: length (4), bytes
//!                failed:   1 (1 byte), at any time: another rank has failed
//!                gone:     2 (1 byte), length (4), why: a rank has ended
//! ```
//! The end of the connection is the end of the trial.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use fslab_engine::{RankLink, Ranks};
use fslab_model::{Failure, FailureKind, RankSpec};
use fslab_sys::os::UnixStream;

/// Most bytes of one rank in an answer.
const BYTES_MAX: u32 = 1 << 30;
/// Most ranks.
const RANKS_MAX: u32 = 1 << 20;

/// What a trial asks for.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Exchange = 0,
    Failed = 1,
    Gather = 2,
}

/// The first byte of an answer.
const ANSWER: u8 = 0;
const OTHER_FAILED: u8 = 1;
const GONE: u8 = 2;

/// What an exchange gives: the bytes of all ranks.
type Answer = io::Result<Vec<Vec<u8>>>;

#[derive(Debug)]
struct SocketLink {
    ends: Mutex<Ends>,
    failed: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Ends {
    output: UnixStream,
    answers: Receiver<Answer>,
}

/// Reaches the other ranks.
pub(crate) fn connect(spec: &RankSpec) -> Result<Ranks, Failure> {
    let link = open(&spec.socket).map_err(|error| {
        let text = format!(
            "cannot reach the other ranks through {}",
            spec.socket.display()
        );
        Failure::new(FailureKind::Host, text).because(&error)
    })?;
    Ok(Ranks {
        rank: spec.rank,
        count: spec.count,
        host: fslab_sys::host_name(),
        clock_ahead_ns: spec.clock_ahead_ns,
        clock_error_ns: spec.clock_error_ns,
        drift_ns: Arc::default(),
        link: Arc::new(link),
    })
}

fn open(socket: &Path) -> io::Result<SocketLink> {
    let output = UnixStream::connect(socket)?;
    let input = BufReader::new(output.try_clone()?);
    let (sender, answers) = channel();
    let failed = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&failed);
    std::thread::spawn(move || listen(input, &sender, &flag));
    Ok(SocketLink {
        ends: Mutex::new(Ends { output, answers }),
        failed,
    })
}

/// Passes answers on until the connection ends.
fn listen(mut input: impl Read, answers: &Sender<Answer>, failed: &AtomicBool) {
    loop {
        let answer = match read_byte(&mut input) {
            Ok(OTHER_FAILED) => {
                failed.store(true, Ordering::Relaxed);
                continue;
            }
            Ok(ANSWER) => read_answer(&mut input),
            Ok(GONE) => read_bytes(&mut input)
                .and_then(|why| Err(io::Error::other(String::from_utf8_lossy(&why).into_owned()))),
            Ok(_) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) => Err(error),
        };
        let is_end = answer.is_err();
        if is_end {
            failed.store(true, Ordering::Relaxed);
        }
        if answers.send(answer).is_err() || is_end {
            return;
        }
    }
}

fn read_byte(input: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    input.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn read_number(input: &mut impl Read, most: u32) -> io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    let number = u32::from_le_bytes(bytes);
    match number <= most {
        true => Ok(number),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn read_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = read_number(input, BYTES_MAX)?;
    let mut bytes = Vec::new();
    let taken = input.take(length.into()).read_to_end(&mut bytes)?;
    match taken == length as usize {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn read_answer(input: &mut impl Read) -> Answer {
    let count = read_number(input, RANKS_MAX)?;
    (0..count).map(|_| read_bytes(input)).collect()
}

impl SocketLink {
    fn ask(&self, asked: Asked, own: &[u8]) -> Answer {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let length = u32::try_from(own.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut message = Vec::with_capacity(5 + own.len());
        message.push(asked as u8);
        message.extend(length.to_le_bytes());
        message.extend(own);
        ends.output.write_all(&message)?;
        // The sender ends with the connection.
        let answer = ends.answers.recv();
        answer.unwrap_or_else(|_| Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl RankLink for SocketLink {
    fn exchange(&self, own: &[u8], has_failed: bool) -> Answer {
        let asked = match has_failed {
            true => Asked::Failed,
            false => Asked::Exchange,
        };
        self.ask(asked, own)
    }

    fn gather(&self, own: &[u8]) -> Answer {
        self.ask(Asked::Gather, own)
    }

    fn failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_the_failure_of_another_raises_the_flag() {
        let mut sent = vec![OTHER_FAILED, ANSWER, 2, 0, 0, 0];
        sent.extend([1, 0, 0, 0, 7, 0, 0, 0, 0]);
        sent.extend([GONE, 2, 0, 0, 0, b'o', b'h']);
        let (sender, answers) = channel();
        let failed = AtomicBool::new(false);
        listen(&sent[..], &sender, &failed);
        drop(sender);
        assert!(failed.load(Ordering::Relaxed));
        assert_eq!(
            answers.recv().expect("sent").expect("an answer"),
            [vec![7], vec![]]
        );
        let gone = answers.recv().expect("sent").expect_err("a rank is gone");
        assert_eq!(gone.to_string(), "oh");
        assert!(answers.recv().is_err(), "nothing follows");
    }

    #[test]
    fn an_answer_that_is_too_long_or_cut_is_an_error() {
        for sent in [
            &[ANSWER, 255, 255, 255, 255][..],
            &[ANSWER, 1, 0, 0, 0, 9, 0, 0, 0, 1],
            &[9],
        ] {
            let (sender, answers) = channel();
            listen(sent, &sender, &AtomicBool::new(false));
            answers.recv().expect("sent").expect_err("refused");
        }
    }
}
