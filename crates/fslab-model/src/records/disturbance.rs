//! Other activity during a phase, as counted by the kernel, and the kernel's log messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of disturbance.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DisturbanceKind {
    /// The trial's process, or one that works for it, was stopped, frozen, or not scheduled.
    Stopped,
    /// The hypervisor gave the machine's processors to other guests.
    Steal,
    /// Other programs used the processors.
    Processor,
    /// The trial's threads were runnable and waited for a processor.
    Waiting,
    /// The device wrote for other processes.
    Writers,
    /// The device read for other processes.
    Readers,
}

impl DisturbanceKind {
    /// The kind in the store and in output.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One disturbance of a phase, recorded only if above its threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// Its kind.
    pub kind: DisturbanceKind,
    /// Nanoseconds; bytes for `Writers` and `Readers`.
    pub amount: u64,
    /// The amount as a share of the phase's duration, of all processors' time in it, or of the
    /// bytes that the device moved; 0 to 1.
    pub share: f64,
    /// The smallest share that is recorded.
    pub threshold: f64,
    /// The sentence shown.
    pub text: String,
}

/// A message of the kernel's log, or of a file system's error counter, about the device of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMessage {
    /// The step or the phase in which it was found.
    pub during: String,
    /// The message.
    pub text: String,
    /// Number of consecutive messages with this text.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
    /// Whether it reports a failed read or write, which fails the trial.
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
