//! `fslab run`: runs a study, on its own subjects unless others are given.

use clap::Args;

use super::execution::ExecutionArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The study: a name, an alias or a beginning of one, as in `fslab study list`, or a file
    study: String,
    /// File systems with their options, instead of the study's own: --fs ext4 --fs xfs, or
    /// --fs ext4,xfs where no option has a comma
    #[arg(long = "fs", value_name = "SUBJECT")]
    subjects: Vec<String>,
    #[command(flatten)]
    options: ExecutionArgs,
}

impl RunArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let subjects: Vec<_> = self.subjects.iter().flat_map(|text| split(text)).collect();
        self.options.exec(&self.study, &subjects)
    }
}

/// The subjects of one `--fs`, separated by commas if none has options.
fn split(text: &str) -> Vec<String> {
    if text.contains(':') {
        return vec![text.to_owned()];
    }
    text.split(',').map(|word| word.trim().to_owned()).collect()
}
