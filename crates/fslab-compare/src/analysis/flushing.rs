//! Phases whose durability is not real: they asked for it, and the disk was not flushed.

use fslab_model::{PhaseRecord, RunRecord, VenuePlan};

use super::{PhaseAnalysis, PhaseCell};

impl PhaseCell<'_> {
    /// Records in which the disk was not flushed for what was to be durable.
    pub fn unflushed(&self) -> usize {
        self.records()
            .filter(|record| PhaseRecord::is_unflushed(record))
            .count()
    }
}

impl PhaseAnalysis<'_> {
    /// True if the subject made data durable in this phase, in any repeat or at any point of a
    /// sweep, without a flush of the disk, whose cache is volatile: a power loss may take what was
    /// durable.
    pub fn does_not_flush(&self, subject: usize) -> bool {
        let points = self.points().iter();
        let mut cells = points.filter_map(|point| point.cells.get(subject));
        self.has_volatile_cache && cells.any(|cell| cell.unflushed() > 0)
    }

    /// The subjects that do not flush in this phase, in the order of the plan.
    pub fn not_flushing(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cells.len()).filter(|subject| self.does_not_flush(*subject))
    }
}

/// True if the run's disk is simulated and loses at a power loss what it was not asked to keep.
pub(super) fn has_volatile_cache(run: &RunRecord) -> bool {
    match &run.header.plan.venue {
        VenuePlan::Sim { disk, .. } => disk.queue.write_cache,
        _ => false,
    }
}
