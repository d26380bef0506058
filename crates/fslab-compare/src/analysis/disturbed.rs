//! Counts of repeats that were disturbed while they were measured.

use super::{PhaseAnalysis, PhaseCell, Repeat};

impl PhaseCell<'_> {
    /// Repeats disturbed while measured; of a sweep, at any point.
    pub fn disturbed(&self) -> usize {
        let of_repeat = |repeat: &&Repeat| repeat.is_disturbed();
        self.repeats.iter().filter(of_repeat).count()
    }
}

impl PhaseAnalysis<'_> {
    /// Disturbed repeats of a subject; of a sweep, those of the point with the most.
    pub fn disturbed(&self, subject: usize) -> usize {
        let cells = self.points().iter().map(|point| point.cells.get(subject));
        let counts = cells.flatten().map(PhaseCell::disturbed);
        counts.max().unwrap_or(0)
    }
}
