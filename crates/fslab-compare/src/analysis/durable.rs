//! Durable throughput, compared over the phases that measure it.

use fslab_model::definitions::DURABLE_THROUGHPUT;

use super::{Analysis, Comparison, PhaseAnalysis, correct};

impl<'a> Analysis<'a> {
    /// The durable throughput of each phase that has it, corrected together.
    pub fn durable_throughput(&self) -> Vec<(&PhaseAnalysis<'a>, Comparison)> {
        let compared = self.phases.iter().map(|phase| {
            let durable = phase.compare(&DURABLE_THROUGHPUT);
            (phase, durable)
        });
        let mut found: Vec<_> = compared
            .filter(|(_, durable)| !durable.is_empty())
            .collect();
        correct(&mut found.iter_mut().map(|(_, it)| it).collect::<Vec<_>>());
        found
    }
}
