//! One figure of one subject in two runs.

use std::ops::Range;

use crate::{Analysis, Comparison, PhaseAnalysis, PhaseCell};
use fslab_model::{Better, MetricDefinition};
use fslab_stats::{Estimate, Summary, Test, Verdict, are_neighbouring_steps, location};

use crate::certainty::Speed;
use crate::merge::SideRanges;

/// The values of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// For each run with values: one per trial, in the order of the repeats, in the metric's unit.
    pub runs: Vec<Vec<f64>>,
    /// Their descriptive statistics; `None` without values.
    pub summary: Option<Summary>,
    /// Why there are no values, if known.
    pub absence: Option<String>,
    /// The number of values disturbed while measured.
    pub disturbed: usize,
}

impl Side {
    /// `runs` has one list each; empty lists are dropped.
    pub fn of(mut runs: Vec<Vec<f64>>) -> Self {
        runs.retain(|values| !values.is_empty());
        Self {
            summary: Summary::of(&runs.concat()),
            runs,
            absence: None,
            disturbed: 0,
        }
    }

    /// Every value of all runs.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().flatten().copied()
    }

    /// The geometric mean that the speed is a ratio of: over the values of one run, or over the
    /// means of several. `None` without values, and if one of them is not positive.
    pub fn geometric_mean(&self) -> Option<f64> {
        let of_run = |values: &Vec<f64>| Some(location(values)?.value);
        let means: Option<Vec<f64>> = self.runs.iter().map(of_run).collect();
        Some(location(&means?)?.value)
    }

    /// True if every value is 0.
    fn is_nothing(&self) -> bool {
        self.values().all(|value| value == 0.0)
    }

    /// True if all values are equal.
    fn is_constant(&self) -> bool {
        let first = self.values().next();
        self.values().all(|value| Some(value) == first)
    }
}

/// Which side has no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The base: nothing to compare with.
    Base,
    /// The new run: the figure is lost.
    New,
    Both,
}

/// One figure of one subject in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The subject; for two names, `new against base`.
    pub subject: String,
    /// The phase's name in its study, or a step such as `mkfs`.
    pub phase: String,
    /// For a sweep: the points in the geometric mean, and all points.
    pub points: Option<(usize, usize)>,
    pub metric: &'static MetricDefinition,
    pub base: Side,
    /// The new run.
    pub new: Side,
    /// The speed of `new` relative to `base`: above 1 is better in either direction.
    pub speed: Option<Estimate>,
    /// The test of a difference.
    pub test: Option<Test>,
    /// The test's p-value, corrected over all contrasts of the diff.
    pub p_corrected: Option<f64>,
    pub verdict: Verdict,
    /// True if each side is exact: virtual time.
    pub exact: bool,
}

impl Contrast {
    /// The number of values of both sides disturbed while measured.
    pub fn disturbed(&self) -> usize {
        self.base.disturbed + self.new.disturbed
    }

    /// Which side has no figure; `None` if both have one.
    pub fn absence(&self) -> Option<Absence> {
        match (self.base.runs.is_empty(), self.new.runs.is_empty()) {
            (false, false) => None,
            (true, false) => Some(Absence::Base),
            (false, true) => Some(Absence::New),
            (true, true) => Some(Absence::Both),
        }
    }

    /// True if more is better and all new values are 0. A time of 0 is no loss.
    pub fn is_total_loss(&self) -> bool {
        let has_both = self.absence().is_none();
        let of_speed = has_both && self.metric.better == Better::Higher;
        of_speed && self.new.is_nothing() && !self.base.is_nothing()
    }

    /// True if no value varies on either side, and a coarse clock may have made both from one
    /// figure.
    pub fn is_between_steps(&self) -> bool {
        let values = |side: &Side| side.values().collect::<Vec<f64>>();
        let (base, new) = (values(&self.base), values(&self.new));
        let are_repeated = base.len() > 1 && new.len() > 1;
        !self.exact && are_repeated && are_neighbouring_steps(&base, &new)
    }

    /// The figures that stand for base and new, `None` without values: geometric means, whose ratio
    /// is the speed; medians if a value of either side is not positive, so that there is no ratio.
    pub fn figures(&self) -> [Option<f64>; 2] {
        let sides = [&self.base, &self.new];
        let has_mean = |side: &&Side| side.runs.is_empty() || side.geometric_mean().is_some();
        let of = |side: &Side| match sides.iter().all(has_mean) {
            true => side.geometric_mean(),
            false => side.summary.map(|summary| summary.median),
        };
        sides.map(of)
    }

    /// Why two figures have no ratio.
    pub fn why_no_ratio(&self) -> &'static str {
        match self.metric.better {
            Better::Neither => "neither more nor less is better",
            Better::Higher | Better::Lower => "a value of 0 has no ratio",
        }
    }

    /// The values of both sides as a speed; `None` if the metric has no good direction.
    pub(crate) fn as_speed(&self) -> Option<Speed<'_>> {
        Speed::of(self.metric.better, &self.base.runs, &self.new.runs)
    }

    /// The figure's name in a message: `Random read of ext4`.
    pub fn title(&self) -> String {
        let phase = crate::wording::heading(&self.phase);
        format!("{phase} of {}", self.subject)
    }
}

/// The contrasts of a joined run in `metric`; `None` means each phase's headline.
pub(crate) fn contrasts(
    subject: &str,
    analysis: &Analysis,
    sides: &SideRanges,
    metric: Option<&'static MetricDefinition>,
) -> Vec<Contrast> {
    let of_trial = analysis
        .steps
        .iter()
        .find(|step| Some(step.metric) == metric);
    if let Some(step) = of_trial {
        let phase = step.metric.name.trim_end_matches("_ns");
        return vec![contrast((subject, phase), step, sides, |_| Seen::default())];
    }
    let phases = analysis.phases.iter();
    phases
        .filter_map(|phase| of_phase(subject, phase, sides, metric))
        .collect()
}

fn of_phase(
    subject: &str,
    phase: &PhaseAnalysis,
    sides: &SideRanges,
    metric: Option<&'static MetricDefinition>,
) -> Option<Contrast> {
    let comparison = match metric {
        Some(metric) => phase.compare(metric),
        None => phase.comparison.clone()?,
    };
    let seen = |place: usize| Seen {
        absence: phase.cells.get(place).and_then(PhaseCell::absence),
        disturbed: phase.disturbed(place),
    };
    // A metric that no subject has in a phase gives no contrast there.
    if comparison.is_empty() && metric.is_some() {
        return None;
    }
    let mut found = contrast((subject, phase.name), &comparison, sides, seen);
    let sweep = phase.sweep.as_ref();
    found.points = sweep.map(|sweep| (sweep.shared, sweep.points.len()));
    Some(found)
}

/// Facts about a subject's repeats besides their values.
#[derive(Default)]
struct Seen {
    /// Why there is no figure.
    absence: Option<String>,
    /// The number of disturbed repeats.
    disturbed: usize,
}

fn contrast(
    (subject, phase): (&str, &str),
    comparison: &Comparison,
    sides: &SideRanges,
    seen: impl Fn(usize) -> Seen,
) -> Contrast {
    let side = |places: Range<usize>| Side {
        absence: places.clone().find_map(|place| seen(place).absence),
        disturbed: places.clone().map(|place| seen(place).disturbed).sum(),
        ..Side::of(values(comparison, places))
    };
    let (base, new) = (side(sides.base.clone()), side(sides.new.clone()));
    let exact = comparison.exact && base.is_constant() && new.is_constant();
    let mut contrast = Contrast {
        subject: subject.to_owned(),
        phase: phase.to_owned(),
        points: None,
        metric: comparison.metric,
        base,
        new,
        speed: None,
        test: None,
        p_corrected: None,
        verdict: Verdict::Undecided,
        exact,
    };
    let speed = contrast.as_speed().and_then(Speed::estimate);
    // Equal repeats of virtual time do not make a difference in the ninth digit significant.
    contrast.speed = speed.map(|speed| speed.widened(comparison.resolution));
    contrast
}

/// The values at `places` of a comparison, one list each.
pub(crate) fn values(comparison: &Comparison, places: Range<usize>) -> Vec<Vec<f64>> {
    let entries = places.filter_map(|place| comparison.entries.get(place));
    entries.map(|entry| entry.values.clone()).collect()
}
