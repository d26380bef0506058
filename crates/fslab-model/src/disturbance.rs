//! What else took place while a phase was measured, as the kernel counts it, and what the kernel
//! logged meanwhile.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What disturbed a phase.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DisturbanceKind {
    /// The trial's process, or one that works for it, was stopped, frozen, or not run at all.
    Stopped,
    /// The hypervisor gave the machine's processors to others.
    Steal,
    /// Other programs used the processors.
    Processor,
    /// The trial's threads were ready to run and waited for a processor.
    Waiting,
    /// The device wrote for others.
    Writers,
    /// The device read for others.
    Readers,
}

impl DisturbanceKind {
    /// The kind as it is stored and printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Steal => "steal",
            Self::Processor => "processor",
            Self::Waiting => "waiting",
            Self::Writers => "writers",
            Self::Readers => "readers",
        }
    }
}

/// One disturbance of a phase. It is recorded only where it is past its threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// Its kind.
    pub kind: DisturbanceKind,
    /// Nanoseconds; bytes where the device worked for others.
    pub amount: u64,
    /// The part of the whole that this is: of the phase's duration, of the time of all processors
    /// in it, or of the bytes that the device moved; 0 to 1.
    pub share: f64,
    /// The share from which on it is recorded.
    pub threshold: f64,
    /// The sentence that is shown.
    pub text: String,
}

/// A message of the kernel's log, or of a file system's own count of errors, that concerns the
/// device of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMessage {
    /// The step or the phase in which it was found.
    pub during: String,
    /// The message.
    pub text: String,
    /// How many messages of these very words there were in a row.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
    /// Whether it says that something was not read or not written as it should be: then the trial
    /// has failed.
    pub is_error: bool,
}

fn once() -> u64 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_once(times: &u64) -> bool {
    *times == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_prints_as_it_is_serialised() {
        use DisturbanceKind::{Processor, Readers, Steal, Stopped, Waiting, Writers};
        for kind in [Stopped, Steal, Processor, Waiting, Writers, Readers] {
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
    }

    #[test]
    fn a_message_that_was_logged_once_has_no_count() {
        let message = KernelMessage {
            during: "write".into(),
            text: "I/O error".into(),
            times: 1,
            is_error: true,
        };
        let text = serde_json::to_string(&message).expect("serialises");
        assert!(!text.contains("times"), "{text}");
        let read: KernelMessage = serde_json::from_str(&text).expect("reads");
        assert_eq!(read, message);
    }
}
