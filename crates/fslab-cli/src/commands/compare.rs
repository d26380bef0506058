//! `fslab compare`: runs a study on the named subjects.

use clap::Args;

use super::execution::ExecutionArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// File systems with their options: ext4, ext4:data=journal, xfs:mkfs=-m reflink=0, ext4@mine
    /// in the guest kernel of the lab mine, or all [default: those of the study]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The study: a name, an alias or a unique prefix of one, as in `fslab study list`, or a file
    #[arg(long, default_value = "quick")]
    study: String,
    #[command(flatten)]
    options: ExecutionArgs,
}

impl CompareArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        self.options.exec(&self.study, &self.subjects)
    }
}
