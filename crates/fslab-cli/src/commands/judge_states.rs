//! `fslab judge-states`: judges states of a disk in a guest.

use std::io::Read;

use clap::Args;
use fslab_crash::StateTask;

use crate::exit::{CommandError, CommandResult, Exit};

/// Most bytes of a task.
const TASK_BYTES_MAX: u64 = 16 << 20;

/// Arguments of `fslab judge-states`: none, since the task has everything.
#[derive(Debug, Args)]
pub(crate) struct JudgeStatesArgs {}

impl JudgeStatesArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut text = String::new();
        std::io::stdin()
            .take(TASK_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| CommandError::io("cannot read the task", &error))?;
        let task: StateTask = serde_json::from_str(&text)
            .map_err(|error| CommandError::bad_input(format!("cannot read the task: {error}")))?;
        fslab_trial::judge_states(&task, std::io::stdout())
            .map_err(|error| CommandError::io("cannot judge states", &error))?;
        Ok(Exit::Done)
    }
}
