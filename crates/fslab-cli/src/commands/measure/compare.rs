//! `fslab compare`: runs a study on the named subjects.

use clap::Args;

use crate::commands::measure::execution::ExecutionArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// File systems with options, for example ext4, ext4:data=journal, xfs:mkfs=-m reflink=0,
    /// ext4@mine (with the guest kernel of the lab `mine`), or `all` [default: the study's]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// Study: a name, an alias or a unique prefix from `fslab study list`, or a file
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
