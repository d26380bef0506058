//! Trials and judgements as processes: what they are to do is read from standard input, and what
//! came of it is written to standard output.

use std::io::{self, Read};

use fslab_crash::StateTask;
use fslab_engine::StopFlag;
use fslab_model::{Failure, FailureKind, TrialSpec};

use crate::judging::judge_states;
use crate::trial::run_trial;

/// Most bytes of a task on states.
const TASK_BYTES_MAX: u64 = 16 << 20;

/// Runs the trial whose specification is the standard input, and writes its events. A signal to
/// stop ends it before its next operation.
///
/// # Errors
/// A specification that cannot be read, or events that cannot be written. Every other failure is an
/// event.
pub fn serve_trial() -> Result<(), Failure> {
    let stop = StopFlag::new();
    fslab_sys::raise_on_stop_signals(&stop.arc())
        .map_err(|error| failed("cannot handle signals", &error))?;
    let text = io::read_to_string(io::stdin())
        .map_err(|error| failed("cannot read the specification", &error))?;
    let spec: TrialSpec = serde_json::from_str(&text)
        .map_err(|error| unreadable("the specification of the trial", &error))?;
    run_trial(&spec, &stop, io::stdout())
        .map_err(|error| failed("cannot write the trial's events", &error))
}

/// Judges the states of the task that is the standard input, and writes a report of each.
pub fn serve_judgement() -> Result<(), Failure> {
    let text = io::read_to_string(io::stdin().take(TASK_BYTES_MAX))
        .map_err(|error| failed("cannot read the task", &error))?;
    let task: StateTask =
        serde_json::from_str(&text).map_err(|error| unreadable("the task", &error))?;
    judge_states(&task, io::stdout()).map_err(|error| failed("cannot judge states", &error))
}

fn failed(what: &str, error: &io::Error) -> Failure {
    let kind = FailureKind::of_users_file(error, FailureKind::BadInput);
    Failure::new(kind, what).because(error)
}

fn unreadable(what: &str, error: &serde_json::Error) -> Failure {
    Failure::new(
        FailureKind::BadInput,
        format!("cannot read {what}: {error}"),
    )
}
