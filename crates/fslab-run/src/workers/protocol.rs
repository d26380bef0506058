//! The lines of a connection between a conductor and a worker.
//!
//! ```text
//!     begin   -->            the run and its plan
//!             <-- ready      or refused, with the reason
//!     trial   -->
//!             <-- event ...  steps that begin
//!             <-- record
//!     stop    -->            twice: kill. The end of the connection kills, too.
//! ```

use std::io::{self, BufRead, Read, Write};

use fslab_model::{Event, Failure, Plan, RunId, TrialId, TrialRecord};
use fslab_venue::quoted;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Bytes shown of a line that is no message.
const LINE_SHOWN: usize = 256;

/// What a worker has to know before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Version of fslab.
    pub fslab: String,
    pub run: RunId,
    pub plan: Plan,
    /// Whether trials may start programs that the study names.
    pub allow_commands: bool,
}

/// A line to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub(super) enum ToWorker {
    /// The first line.
    Begin(Box<Assignment>),
    /// Run this trial.
    Trial {
        trial: TrialId,
        /// Its position in the order of all trials of the run.
        position: u32,
    },
    /// End the running trial.
    Stop,
}

/// A line from a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub(super) enum FromWorker {
    /// It can run trials.
    Ready {
        /// The name of its machine.
        host: String,
    },
    /// It cannot run trials of this plan.
    Refused {
        /// The name of its machine.
        host: String,
        /// Why.
        failure: Failure,
    },
    /// A step of the running trial begins.
    Event {
        /// The event of the trial.
        body: Event,
    },
    /// The running trial has ended.
    Record { record: Box<TrialRecord> },
}

/// Writes a message as one line.
pub(super) fn send(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// Why a message cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The connection is broken.
    Io(io::Error),
    /// What the other side sent is no message.
    Bad(String),
}

impl From<Unreadable> for io::Error {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::Io(error) => error,
            Unreadable::Bad(why) => Self::new(io::ErrorKind::InvalidData, format!("it sent {why}")),
        }
    }
}

/// Reads the next message, of at most `bytes_max` bytes; `None` at the end of the connection.
pub(super) fn receive<T: DeserializeOwned>(
    input: &mut impl BufRead,
    bytes_max: u64,
) -> Result<Option<T>, Unreadable> {
    let mut line = Vec::new();
    let mut bounded = input.take(bytes_max.saturating_add(1));
    let length = bounded.read_until(b'\n', &mut line);
    let length = length.map_err(Unreadable::Io)?;
    if length == 0 {
        return Ok(None);
    }
    if length as u64 > bytes_max {
        let text = format!("a line of more than {bytes_max} bytes");
        return Err(Unreadable::Bad(text));
    }
    let message = serde_json::from_slice(&line);
    message.map(Some).map_err(|error| {
        let text = String::from_utf8_lossy(&line[..line.len().min(LINE_SHOWN)]);
        Unreadable::Bad(format!(
            "{}, which is not a valid message: {error}",
            quoted(&text)
        ))
    })
}
