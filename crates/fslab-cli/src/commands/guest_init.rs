//! `fslab guest-init`: the first process of a guest kernel.

use clap::{Args, ValueEnum};
use fslab_venue::GuestTask;

use crate::exit::{CommandError, CommandResult, Exit};

/// Arguments of `fslab guest-init`.
#[derive(Debug, Args)]
pub(crate) struct GuestInitArgs {
    /// Task of the guest
    #[arg(value_enum)]
    task: TaskName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TaskName {
    /// One trial
    Trial,
    /// A shell on the console
    Shell,
    /// States of the disk after a power loss
    States,
}

impl GuestInitArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let task = match self.task {
            TaskName::Trial => GuestTask::Trial,
            TaskName::Shell => GuestTask::Shell,
            TaskName::States => GuestTask::States,
        };
        fslab_venue::run_as_init(task)
            .map_err(|error| CommandError::io("cannot run as a guest's first process", &error))?;
        Ok(Exit::Done)
    }
}
