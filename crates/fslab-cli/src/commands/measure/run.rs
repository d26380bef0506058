//! `fslab run`: runs a study, on its own subjects unless others are given.

use clap::Args;

use crate::commands::measure::bundled;
use crate::commands::measure::execution::ExecutionArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Study: a name, an alias or a unique prefix from `fslab study list`, a file, or a bundle
    /// (FILE.bundle)
    study: String,
    /// File systems with options, instead of the study's: ext4 xfs:mkfs=-m reflink=0
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The same: --fs ext4 --fs xfs, or --fs ext4,xfs if no option contains a comma
    #[arg(long = "fs", value_name = "SUBJECT")]
    more: Vec<String>,
    /// Allow running the programs in a bundle's lab and layers; they run in a guest, as your
    /// process
    #[arg(long)]
    allow_guest: bool,
    #[command(flatten)]
    options: ExecutionArgs,
}

impl RunArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut subjects = self.subjects.clone();
        subjects.extend(self.more.iter().flat_map(|text| split(text)));
        match bundled::find(&self.study, self.allow_guest)? {
            Some(bundle) => self.options.exec_bundle(&bundle, &subjects),
            None => self.options.exec(&self.study, &subjects),
        }
    }
}

/// The subjects of one `--fs`, separated by commas if none has options.
pub(super) fn split(text: &str) -> Vec<String> {
    if text.contains(':') {
        return vec![text.to_owned()];
    }
    text.split(',').map(|word| word.trim().to_owned()).collect()
}
