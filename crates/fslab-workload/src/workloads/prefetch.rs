//! A cold file is read block by block, to see how far the kernel reads ahead of it.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::probe::{self, PrefetchParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Prefetch;

impl Definition for Prefetch {
    type Parameters = PrefetchParameters;
    const NAME: &'static str = "prefetch";
    const TITLE: &'static str = "probe: how many blocks each read of a cold file brings in";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &PrefetchParameters, context: &RunContext) -> Result<Finished, RunError> {
        probe::prefetch(parameters, context)
    }
}
