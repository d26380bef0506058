//! `fslab compare`: runs a study on the named subjects.

use clap::Args;

use crate::commands::measure::execution::ExecutionArgs;
use crate::commands::measure::own_program::OwnProgram;
use crate::commands::measure::run::split;
use crate::exit::CommandResult;
use crate::habits::without_joints;

/// Arguments of `fslab compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// File systems with options, for example ext4, ext4:data=journal, xfs:mkfs=-m reflink=0,
    /// ext4@mine (with the guest kernel of the lab `mine`), or `all` [default: the study's]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The same, as in `fslab run`
    #[arg(long = "fs", value_name = "SUBJECT", hide = true)]
    more: Vec<String>,
    #[command(flatten)]
    program: OwnProgram,
    /// Study: a name, an alias or a unique prefix from `fslab study list`, or a file
    #[arg(long, default_value = "quick")]
    study: String,
    #[command(flatten)]
    options: ExecutionArgs,
}

impl CompareArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut subjects = without_joints(&self.subjects);
        subjects.extend(self.more.iter().flat_map(|text| split(text)));
        match self.program.study()? {
            Some(study) => self.options.of_own_program(study).exec("", &subjects),
            None => self.options.exec(&self.study, &subjects),
        }
    }
}
