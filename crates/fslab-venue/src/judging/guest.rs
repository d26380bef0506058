//! The process of a guest that judges: its messages, its end, and its last words.

use std::fs::File;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use fslab_crash::{StateMessage, StatePart};
use fslab_model::{Failure, FailureKind};
use fslab_sys::{ProcessGroup, Signal};

use crate::guest::kernel_errors;

/// Interval at which the guest's end is checked.
const TICK: Duration = Duration::from_millis(20);
/// Timeout for the pipes of a guest that has ended.
const PIPE_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for booting, besides the limit of a part.
const BOOT_TIME: Duration = Duration::from_secs(60);

/// How a wait for a guest ended.
pub(super) enum Waited {
    /// It waits, too.
    Message(StateMessage),
    /// Its kernel ended, with its last errors.
    Died(StatePart, String),
    /// It did not answer within the limit.
    Hung(StatePart),
}

/// The process of a guest.
pub(super) struct JudgingGuest {
    pub(super) group: ProcessGroup,
    pub(super) messages: Receiver<Result<StateMessage, String>>,
    /// The host's own end of the pipe of messages, which end when it is closed.
    pub(super) holder: Option<File>,
    pub(super) console: Receiver<String>,
    /// The part that the guest has begun.
    pub(super) part: Option<StatePart>,
    /// True until its first message.
    pub(super) is_booting: bool,
}

impl JudgingGuest {
    /// What the guest says next.
    ///
    /// # Errors
    /// If it has not booted, cannot judge, or says what is no message.
    pub(super) fn wait(&mut self, limit: Duration) -> Result<Waited, Failure> {
        let limit = match self.is_booting {
            true => limit + BOOT_TIME,
            false => limit,
        };
        let began = Instant::now();
        let mut has_ended = false;
        loop {
            // Before the wait: what it wrote at last is received then.
            has_ended = has_ended || self.group.has_ended().unwrap_or(true);
            if has_ended {
                self.holder = None;
            }
            match self.messages.recv_timeout(TICK) {
                Ok(Ok(StateMessage::Begin(begun))) => self.part = Some(begun),
                Ok(Ok(StateMessage::Failed(text))) => {
                    return Err(Failure::new(FailureKind::Protocol, text));
                }
                Ok(Ok(message)) => {
                    self.is_booting = false;
                    return Ok(Waited::Message(message));
                }
                Ok(Err(text)) => {
                    let what = "the guest sent a malformed message";
                    let mut failure = Failure::new(FailureKind::Protocol, what);
                    failure.causes.push(text);
                    return Err(failure);
                }
                Err(RecvTimeoutError::Timeout) if began.elapsed() > limit => {
                    return match self.part {
                        Some(part) => Ok(Waited::Hung(part)),
                        None => Err(self.not_booted("did not boot in time")),
                    };
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return match self.part {
                        Some(part) => Ok(Waited::Died(part, self.last_words())),
                        None => Err(self.not_booted("ended before it judged a state")),
                    };
                }
            }
        }
    }

    fn not_booted(&mut self, how: &str) -> Failure {
        let words = self.last_words();
        let mut failure = Failure::new(FailureKind::Crash, format!("the guest kernel {how}"));
        failure.causes.extend((!words.is_empty()).then_some(words));
        failure
    }

    /// Ends the guest; gives the errors of its kernel, or the end of its console.
    fn last_words(&mut self) -> String {
        self.kill();
        let console = self.console.recv_timeout(PIPE_TIMEOUT).unwrap_or_default();
        match kernel_errors(&console) {
            errors if errors.is_empty() => {
                let lines: Vec<&str> = console.lines().collect();
                lines[lines.len().saturating_sub(2)..].join("; ")
            }
            errors => errors.join("; "),
        }
    }

    pub(super) fn kill(&mut self) {
        self.holder = None;
        let _ = self.group.signal(Signal::Kill);
        // Fails if it was reaped before.
        let _ = self.group.reap();
    }
}

impl Drop for JudgingGuest {
    fn drop(&mut self) {
        self.kill();
    }
}
