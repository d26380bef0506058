//! The phases by which subjects are compared over a run, with their weights.

use std::borrow::Cow;

use fslab_model::definitions::{BYTES, DEVICE_BUSY, ELAPSED, OPERATIONS, TOTAL};
use fslab_model::{
    AnswerMeasure, Better, CachePolicy, CacheVerdict, DISK_WORK_LEAST, MetricDefinition, PhaseKind,
    Unit,
};
use fslab_stats::TrialValues;

use super::{Comparison, PhaseAnalysis, PhaseCell, Repeat};

/// The least time of a phase, of its slowest subject, for its rate to count: less is not enough
/// work to tell file systems apart.
pub const WORK_NS_MIN: f64 = 1e7;

/// The figure of a phase that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroundFigure {
    Headline,
    /// The headline figure, with sync and unmount in the time.
    Durable,
    /// The time in which the disk worked: in virtual time, the rest of the phase was waiting for
    /// timers.
    DiskTime,
    /// The time of the phase with its sync and unmount, where these were timed.
    Time,
}

/// A phase by which subjects are compared over a run.
#[derive(Clone, Debug)]
pub struct Ground<'p> {
    /// Its index in the run.
    pub phase: usize,
    /// The figure that is compared.
    pub figure: GroundFigure,
    /// How much it counts: in a sum of times how often it is done, in a mean its weight.
    pub weight: f64,
    /// The subjects by that figure.
    pub comparison: Cow<'p, Comparison>,
}

/// Why a phase that was measured takes no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// No subject needed [`WORK_NS_MIN`].
    LittleWork,
    /// The device moved little of its data: its figure is one of the page cache.
    PageCache,
}

/// The phases that count, and those that were measured and do not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grounds<'p> {
    pub(crate) grounds: Vec<Ground<'p>>,
    /// Indexes of phases.
    pub(crate) left_out: Vec<(usize, WhyLeftOut)>,
}

impl<'p> Grounds<'p> {
    /// Every phase by its headline figure, as far as the disk decided it: the overall geometric
    /// mean of a report.
    pub(crate) fn of_rates(phases: &'p [PhaseAnalysis<'_>]) -> Self {
        let grounds = phases.iter().enumerate();
        let rate = |(index, phase)| by_rate(index, phase, 1.0);
        Self {
            grounds: grounds.filter_map(rate).collect(),
            left_out: Vec::new(),
        }
    }

    /// The phases with a `weight` above 0, by `measure`.
    ///
    /// A phase counts in full, except in virtual time if the disk worked for less than half of it:
    /// then the disk's time is compared, and in a mean of rates it counts by twice the share. The
    /// share is that of all subjects together, so that a subject that hardly needs the disk does
    /// not hide that the others do.
    ///
    /// A phase is left out where its figure says little about file systems on disks:
    /// [`WhyLeftOut`].
    pub(crate) fn by_measure(
        phases: &'p [PhaseAnalysis<'_>],
        measure: AnswerMeasure,
        weight: impl Fn(&PhaseAnalysis) -> f64,
    ) -> Self {
        let mut found = Self::default();
        for (index, phase) in phases.iter().enumerate() {
            let weight = weight(phase);
            if weight <= 0.0 {
                continue;
            }
            let ground = match measure {
                AnswerMeasure::Time => by_time(index, phase, weight),
                AnswerMeasure::DurableRate => by_durable_rate(index, phase, weight),
                AnswerMeasure::Rate | AnswerMeasure::Score => by_rate(index, phase, weight),
            };
            let Some(ground) = ground else {
                continue;
            };
            match ground.why_left_out(phase) {
                // A score counts what it says that it counts.
                Some(why) if measure != AnswerMeasure::Score => found.left_out.push((index, why)),
                _ => found.grounds.push(ground),
            }
        }
        found
    }
}

fn by_rate<'p>(index: usize, phase: &'p PhaseAnalysis<'_>, weight: f64) -> Option<Ground<'p>> {
    let headline = phase.comparison.as_ref()?;
    if headline.metric.better == Better::Neither || headline.is_empty() {
        return None;
    }
    let ground = Ground {
        phase: index,
        figure: GroundFigure::Headline,
        weight,
        comparison: Cow::Borrowed(headline),
    };
    match phase.disk_share() {
        Some(share) if share < DISK_WORK_LEAST => Some(Ground {
            figure: GroundFigure::DiskTime,
            weight: weight * share / DISK_WORK_LEAST,
            comparison: Cow::Owned(phase.disk_time()),
            ..ground
        }),
        _ => Some(ground),
    }
}

fn by_durable_rate<'p>(
    index: usize,
    phase: &'p PhaseAnalysis<'_>,
    weight: f64,
) -> Option<Ground<'p>> {
    let ground = by_rate(index, phase, weight)?;
    if !phase.is_settled() || ground.figure == GroundFigure::DiskTime {
        return Some(ground);
    }
    Some(compared(ground, GroundFigure::Durable, phase))
}

fn by_time<'p>(index: usize, phase: &'p PhaseAnalysis<'_>, weight: f64) -> Option<Ground<'p>> {
    let ground = Ground {
        phase: index,
        figure: GroundFigure::Time,
        weight,
        comparison: Cow::Owned(Comparison::of(&TOTAL, Vec::new())),
    };
    let ground = compared(ground, GroundFigure::Time, phase);
    (!ground.comparison.is_empty()).then_some(ground)
}

/// The ground with the comparison of a figure that no record has.
fn compared<'p>(
    ground: Ground<'p>,
    figure: GroundFigure,
    phase: &'p PhaseAnalysis<'_>,
) -> Ground<'p> {
    let metric = match figure {
        GroundFigure::Durable => ground.comparison.metric,
        _ => &TOTAL,
    };
    let ground = Ground { figure, ..ground };
    let samples = (0..phase.cells.len()).map(|subject| {
        let repeats = phase.cells[subject].repeats.iter();
        repeats
            .filter_map(|repeat| ground.value(phase, subject, repeat, metric))
            .collect()
    });
    let comparison = Comparison::timed(metric, samples.collect(), phase.is_virtual);
    Ground {
        comparison: Cow::Owned(comparison),
        ..ground
    }
}

impl Ground<'_> {
    /// The value of a repeat, in the unit and direction of its comparison.
    fn value(
        &self,
        phase: &PhaseAnalysis,
        subject: usize,
        repeat: &Repeat,
        metric: &MetricDefinition,
    ) -> Option<f64> {
        match self.figure {
            GroundFigure::Headline => repeat.value(metric),
            GroundFigure::DiskTime => phase.disk_ns(subject, repeat),
            GroundFigure::Time => time_ns(phase, subject, repeat),
            GroundFigure::Durable => {
                let value = repeat.value(metric)?;
                let longer = repeat.value(&TOTAL).zip(repeat.value(&ELAPSED));
                let longer = longer.map_or(1.0, |(total, elapsed)| total / elapsed);
                Some(match metric.better {
                    Better::Higher => value / longer,
                    _ => value * longer,
                })
            }
        }
    }

    /// The value of a repeat: for a mean a speed, for a sum of times a time in ns.
    fn part(&self, phase: &PhaseAnalysis, subject: usize, repeat: &Repeat) -> Option<f64> {
        let metric = self.comparison.metric;
        let value = self.value(phase, subject, repeat, metric)?;
        match self.figure {
            GroundFigure::Time => Some(value),
            GroundFigure::DiskTime => DEVICE_BUSY.better.speed(value),
            GroundFigure::Headline | GroundFigure::Durable => metric.better.speed(value),
        }
    }

    /// Whether the repeat has a value.
    pub(crate) fn is_measured(
        &self,
        phase: &PhaseAnalysis,
        subject: usize,
        repeat: &Repeat,
    ) -> bool {
        let value = self.value(phase, subject, repeat, self.comparison.metric);
        value.is_some()
    }

    fn why_left_out(&self, phase: &PhaseAnalysis) -> Option<WhyLeftOut> {
        let is_sum = self.figure == GroundFigure::Time;
        // What little time it takes counts as little in a sum.
        if !is_sum && slowest_ns(phase).is_some_and(|ns| ns < WORK_NS_MIN) {
            return Some(WhyLeftOut::LittleWork);
        }
        self.is_of_page_cache(phase)
            .then_some(WhyLeftOut::PageCache)
    }

    /// True if the page cache served a subject in a phase that is about the disk.
    fn is_of_page_cache(&self, phase: &PhaseAnalysis) -> bool {
        let settled =
            matches!(self.figure, GroundFigure::Time | GroundFigure::Durable) && phase.is_settled();
        let is_about_disk = match phase.kind {
            // Warm reads belong to the work that a sum of times is about.
            Some(PhaseKind::Read) => {
                self.figure != GroundFigure::Time || phase.cache == CachePolicy::Cold
            }
            Some(PhaseKind::Write) => !settled,
            _ => false,
        };
        let is_cached = |phase: &PhaseAnalysis| {
            let verdicts = phase.cells.iter().filter_map(PhaseCell::cache_verdict);
            verdicts.into_iter().any(|it| it == CacheVerdict::Cache)
        };
        // Of a sweep the sizes decide, each for itself.
        is_about_disk && phase.points().iter().all(is_cached)
    }
}

/// The time of a repeat with sync and unmount, in ns, over all points of a sweep; of a phase that
/// the disk did not decide, the time in which it worked. Where subjects did different amounts of
/// work, the time for the amount of the first.
fn time_ns(phase: &PhaseAnalysis, subject: usize, repeat: &Repeat) -> Option<f64> {
    let elapsed = phase.total_of(subject, repeat, &ELAPSED)?;
    let with_settling = phase.total_of(subject, repeat, &TOTAL).unwrap_or(elapsed);
    let settling = with_settling - elapsed;
    let worked = match phase.disk_share() {
        Some(share) if share < DISK_WORK_LEAST => phase.disk_ns(subject, repeat)?,
        _ => elapsed,
    };
    let scale = phase
        .work_of(0, None)
        .zip(phase.work_of(subject, Some(repeat)));
    let scale = scale.map_or(1.0, |(wanted, done)| wanted / done);
    // A phase that took no time takes part in a sum, too.
    Some((worked * scale + settling).max(1.0))
}

/// The longest mean time of a phase among subjects, in ns.
fn slowest_ns(phase: &PhaseAnalysis) -> Option<f64> {
    let mean = |subject: usize| {
        let repeats = phase.cells[subject].repeats.iter();
        let times: Vec<f64> = repeats
            .filter_map(|repeat| time_ns(phase, subject, repeat))
            .collect();
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    };
    let means = (0..phase.cells.len()).filter_map(mean);
    means.max_by(f64::total_cmp)
}

impl PhaseAnalysis<'_> {
    /// True if the sync and the unmount after it were timed.
    fn is_settled(&self) -> bool {
        let mut cells = self.cells.iter();
        cells.any(|cell| !cell.values(&TOTAL).is_empty())
    }

    /// A time of a repeat, over all points of a sweep; `None` unless all have it.
    fn total_of(&self, subject: usize, repeat: &Repeat, metric: &MetricDefinition) -> Option<f64> {
        let at = |point: &PhaseAnalysis| {
            let repeats = &point.cells.get(subject)?.repeats;
            let same = repeats.iter().find(|it| it.repeat == repeat.repeat)?;
            same.value(metric)
        };
        self.points().iter().map(at).sum()
    }

    /// The work of a repeat of a phase, or of the first that has any: bytes where the headline
    /// figure is of bytes, else operations. `None` for a sweep, whose work is given.
    fn work_of(&self, subject: usize, repeat: Option<&Repeat>) -> Option<f64> {
        let metric = match self.comparison.as_ref()?.metric.unit {
            Unit::BytesPerSecond => &BYTES,
            _ => &OPERATIONS,
        };
        if self.sweep.is_some() {
            return None;
        }
        let work = match repeat {
            Some(repeat) => repeat.value(metric),
            None => {
                let cells = self.cells.iter().skip(subject);
                let mut repeats = cells.flat_map(|cell| &cell.repeats);
                repeats.find_map(|repeat| repeat.value(metric))
            }
        };
        work.filter(|work| *work > 0.0)
    }
}

/// The values of a subject by trial and ground, of the repeats that count: see [`Ground::part`].
pub(super) fn parts(
    phases: &[PhaseAnalysis],
    grounds: &[Ground],
    subject: usize,
    counts: &dyn Fn(&Repeat) -> bool,
) -> TrialValues {
    let phase = |ground: &Ground| &phases[ground.phase];
    let repeats = grounds.iter().filter_map(|ground| {
        let cell = phase(ground).cells.get(subject)?;
        Some(cell.repeats.len())
    });
    let values = |repeat: usize| {
        let of = |ground: &Ground| {
            let phase = phase(ground);
            let repeat = phase.cells.get(subject)?.repeats.get(repeat)?;
            let part = ground.part(phase, subject, repeat);
            part.filter(|_| counts(repeat))
        };
        grounds.iter().map(of).collect()
    };
    (0..repeats.max().unwrap_or_default()).map(values).collect()
}
