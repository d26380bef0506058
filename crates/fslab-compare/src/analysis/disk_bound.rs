//! Phases of virtual time that the disk does not decide: it worked for less than half of them, and
//! the rest is waiting for timers.

use fslab_model::definitions::DEVICE_BUSY;
use fslab_model::{DISK_WORK_LEAST, PhaseRecord};

use super::{Comparison, PhaseAnalysis, Repeat};

impl PhaseAnalysis<'_> {
    /// The share of the time in which the disk worked, over all subjects and repeats together, so
    /// that a subject that hardly needs the disk does not hide that the others do; `None` where the
    /// processor takes time, too.
    pub fn disk_share(&self) -> Option<f64> {
        let records = self.points().iter().flat_map(|point| &point.cells);
        let insights = records
            .flat_map(|cell| cell.records().filter(|it| it.is_of_disk_time()))
            .filter_map(|it| it.insight.as_ref())
            .map(|it| (it.depth.busy_ns as f64, it.window.length_ns() as f64));
        let (busy, length) = insights.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        (length > 0.0).then(|| busy / length)
    }

    /// False if its time is virtual and the disk worked for less than half of it, but did work:
    /// then the rest, waiting for timers, decides the headline figure.
    pub fn is_disk_bound(&self) -> bool {
        let is_little = |share: f64| share > 0.0 && share < DISK_WORK_LEAST;
        !self.disk_share().is_some_and(is_little)
    }

    /// The comparison by the time in which the disk worked.
    pub fn disk_time(&self) -> Comparison {
        let of = |subject: usize| {
            let repeats = self.cells[subject].repeats.iter();
            repeats
                .filter_map(|repeat| self.disk_ns(subject, repeat))
                .collect()
        };
        let samples = (0..self.cells.len()).map(of).collect();
        Comparison::of_virtual_time(&DEVICE_BUSY, samples)
    }

    /// The time in which the disk worked in a repeat, over all points of a sweep and the mean over
    /// the rounds; `None` unless all points were measured.
    pub(crate) fn disk_ns(&self, subject: usize, repeat: &Repeat) -> Option<f64> {
        let at = |point: &PhaseAnalysis| {
            let cell = point.cells.get(subject)?;
            let same = cell.repeats.iter().find(|it| it.repeat == repeat.repeat)?;
            let busy = |record: &PhaseRecord| Some(record.insight.as_ref()?.depth.busy_ns as f64);
            let found: Vec<f64> = same.records().filter_map(busy).collect();
            (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
        };
        let times: Option<Vec<f64>> = self.points().iter().map(at).collect();
        times.map(|times| times.iter().sum())
    }
}
