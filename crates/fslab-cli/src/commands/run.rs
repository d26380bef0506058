//! `fslab run`: runs a study, on its own subjects unless others are given.

use clap::Args;

use super::bundled;
use super::execution::ExecutionArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The study: a name, an alias or a unique prefix of one, as in `fslab study list`; a file; or
    /// a bundle, FILE.bundle
    study: String,
    /// File systems with their options, instead of the study's own: --fs ext4 --fs xfs, or
    /// --fs ext4,xfs where no option has a comma
    #[arg(long = "fs", value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// Allow a bundle's lab and layers: programs that run in a guest, as your process
    #[arg(long)]
    allow_guest: bool,
    #[command(flatten)]
    options: ExecutionArgs,
}

impl RunArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let subjects: Vec<_> = self.subjects.iter().flat_map(|text| split(text)).collect();
        match bundled::find(&self.study, self.allow_guest)? {
            Some(bundle) => self.options.exec_bundle(&bundle, &subjects),
            None => self.options.exec(&self.study, &subjects),
        }
    }
}

/// The subjects of one `--fs`, separated by commas if none has options.
fn split(text: &str) -> Vec<String> {
    if text.contains(':') {
        return vec![text.to_owned()];
    }
    text.split(',').map(|word| word.trim().to_owned()).collect()
}
