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

use std::io::{self, BufRead, Write};

use fslab_model::{Event, Failure, Plan, RunId, TrialId, TrialRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a worker has to know before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Version of fslab.
    pub fslab: String,
    /// The run.
    pub run: RunId,
    /// Its plan.
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
        /// The trial.
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
    Record {
        /// Its record.
        record: Box<TrialRecord>,
    },
}

/// Writes a message as one line.
pub(super) fn send(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// Reads the next message; `None` at the end of the connection.
pub(super) fn receive<T: DeserializeOwned>(input: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    if input.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
