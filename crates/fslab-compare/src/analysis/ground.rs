//! The phases by which subjects are compared over a run, with their weights.

use std::borrow::Cow;

use fslab_model::Better;
use fslab_stats::TrialValues;

use super::disk_bound::FULL_SHARE;
use super::{Comparison, PhaseAnalysis};

/// The figure of a phase that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroundFigure {
    Headline,
    /// The time in which the disk worked: in virtual time, the rest of the phase was waiting for
    /// timers.
    DiskTime,
}

/// A phase by which subjects are compared over a run.
#[derive(Clone, Debug)]
pub struct Ground<'p> {
    /// Its index in the run.
    pub phase: usize,
    /// The figure that is compared.
    pub figure: GroundFigure,
    /// Its weight, from 0 to 1.
    pub weight: f64,
    /// The subjects by that figure.
    pub comparison: Cow<'p, Comparison>,
}

impl<'p> Ground<'p> {
    /// Those of `phases` that `counts` admits.
    ///
    /// A phase counts in full, except in virtual time if the disk worked for less than half of it:
    /// then it counts by twice that share, and the disk's time is compared. The share is that of
    /// all subjects together, so that a subject that hardly needs the disk does not hide that the
    /// others do.
    pub(crate) fn of(
        phases: &'p [PhaseAnalysis<'_>],
        counts: impl Fn(&PhaseAnalysis) -> bool,
    ) -> Vec<Self> {
        phases
            .iter()
            .enumerate()
            .filter(|(_, phase)| counts(phase))
            .filter_map(|(index, phase)| Self::of_phase(index, phase))
            .collect()
    }

    fn of_phase(index: usize, phase: &'p PhaseAnalysis<'_>) -> Option<Self> {
        let headline = phase.comparison.as_ref()?;
        if headline.metric.better == Better::Neither || headline.is_empty() {
            return None;
        }
        let in_full = Self {
            phase: index,
            figure: GroundFigure::Headline,
            weight: 1.0,
            comparison: Cow::Borrowed(headline),
        };
        match phase.disk_share() {
            Some(share) if share < FULL_SHARE => Some(Self {
                figure: GroundFigure::DiskTime,
                weight: share / FULL_SHARE,
                comparison: Cow::Owned(phase.disk_time()),
                ..in_full
            }),
            _ => Some(in_full),
        }
    }

    /// The value of a repeat, as a speed.
    fn speed(&self, phase: &PhaseAnalysis, subject: usize, repeat: usize) -> Option<f64> {
        let repeat = phase.cells.get(subject)?.repeats.get(repeat)?;
        let (value, better) = match self.figure {
            GroundFigure::Headline => {
                let metric = self.comparison.metric;
                (repeat.value(metric)?, metric.better)
            }
            GroundFigure::DiskTime => (phase.disk_ns(subject, repeat)?, Better::Lower),
        };
        better.speed(value)
    }
}

/// The speeds of a subject by trial and ground.
pub(super) fn speeds(phases: &[PhaseAnalysis], grounds: &[Ground], subject: usize) -> TrialValues {
    let phase = |ground: &Ground| &phases[ground.phase];
    let repeats = grounds.iter().filter_map(|ground| {
        let cell = phase(ground).cells.get(subject)?;
        Some(cell.repeats.len())
    });
    let values = |repeat: usize| {
        let of = |ground: &Ground| ground.speed(phase(ground), subject, repeat);
        grounds.iter().map(of).collect()
    };
    (0..repeats.max().unwrap_or_default()).map(values).collect()
}
