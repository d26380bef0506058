//! `fslab run`: a study as it stands, over its own subjects unless others are named.

use clap::Args;

use super::execution::Execution;
use super::place_args::PlaceArgs;
use super::plan_args::{OutputArgs, PlanArgs};
use super::store_args::StoreArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The study, by name or file (see `fslab study list`)
    study: String,
    /// File systems with their options, instead of the study's own: --fs ext4 --fs xfs, or
    /// --fs ext4,xfs where no option has a comma
    #[arg(long = "fs", value_name = "SUBJECT")]
    subjects: Vec<String>,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    store: StoreArgs,
}

impl RunArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let subjects: Vec<_> = self.subjects.iter().flat_map(|text| split(text)).collect();
        let execution = Execution {
            study: &self.study,
            subjects: &subjects,
            place: &self.place,
            plan: &self.plan,
            output: &self.output,
            store: &self.store,
        };
        execution.exec()
    }
}

/// The subjects of one `--fs`: separated by commas where none of them has options.
fn split(text: &str) -> Vec<String> {
    if text.contains(':') {
        return vec![text.to_owned()];
    }
    text.split(',').map(|word| word.trim().to_owned()).collect()
}
