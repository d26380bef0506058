//! `fslab compare`: a study over the subjects that are named.

use clap::Args;

use super::execution::Execution;
use super::place_args::PlaceArgs;
use super::plan_args::{OutputArgs, PlanArgs};
use super::store_args::StoreArgs;
use crate::exit::CommandResult;

/// Arguments of `fslab compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// File systems with their options: ext4, ext4:data=journal, xfs:mkfs=-m reflink=0, or all
    /// [default: those of the study]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The study, by name or file
    #[arg(long, default_value = "quick")]
    study: String,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    store: StoreArgs,
}

impl CompareArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let execution = Execution {
            study: &self.study,
            subjects: &self.subjects,
            place: &self.place,
            plan: &self.plan,
            output: &self.output,
            store: &self.store,
        };
        execution.exec()
    }
}
