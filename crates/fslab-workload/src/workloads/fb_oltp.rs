//! The database of filebench. What is timed: the reads of many readers, the synced writes of some
//! writers and of a log, each held back by the others' progress.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::applications::{self, OltpParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct FbOltp;

impl Definition for FbOltp {
    type Parameters = OltpParameters;
    const NAME: &'static str = "fb-oltp";
    const TITLE: &'static str = "filebench's database: readers, synced writers and a log";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &OltpParameters, context: &RunContext) -> Result<Finished, RunError> {
        applications::serve_transactions(parameters, context)
    }
}
