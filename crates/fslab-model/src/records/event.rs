//! Events of a running trial: one JSON document per line on standard output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Facts, Failure, KernelMessage, PhaseRecord};

/// One line of a trial's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Nanoseconds since the trial's process began.
    pub at_ns: u64,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened. A reader of the same format skips lines with an unknown `event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventBody {
    /// Always the first line.
    Hello {
        /// Version of this format.
        format: u32,
        /// Version of fslab.
        fslab: String,
    },
    /// A fact about tools, device or file system.
    Facts {
        /// By name.
        facts: Facts,
    },
    /// A step begins; if the trial dies, it died here.
    StepStarted {
        /// `mkfs`, `mount`, `unmount`, `check`, or a phase's name.
        step: String,
    },
    /// A step other than a phase is done.
    Step(StepRecord),
    /// A phase is done, failed or skipped.
    Phase(Box<PhaseRecord>),
    /// Kernel messages about the device since the last event of this kind.
    Kernel {
        /// In order.
        messages: Vec<KernelMessage>,
    },
    /// Reported figures are invalid: what their phases wrote was lost.
    Withdrawn {
        /// The first invalid phase, counted from 0 in the order of their events; all after it are,
        /// too.
        from: usize,
        /// Why.
        failure: Failure,
    },
    /// The trial failed outside its phases.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// Always the last line of a trial that was not killed.
    End,
}

/// A step of a trial around its phases: mkfs, mount, unmount, check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// `mkfs`, `mount`, `unmount` or `check`.
    pub step: String,
    /// The command, or the command equivalent to the system call.
    pub command: Vec<String>,
    /// Duration.
    pub elapsed_ns: u64,
    /// Exit status of the command; `None` for a system call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the command printed, shortened to its last lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}
