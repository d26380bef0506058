//! One figure of one subject in two runs.

use std::ops::Range;

use crate::{Analysis, Comparison, PhaseAnalysis, PhaseCell};
use fslab_model::{Better, MetricDefinition};
use fslab_stats::{Estimate, Summary, Test, Verdict, are_neighbouring_steps};

use crate::certainty::Speed;
use crate::merge::SideRanges;

/// The values of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Of each run that has any: one value a trial, in the order of the repeats, in the metric's
    /// unit.
    pub runs: Vec<Vec<f64>>,
    /// The values in a few figures; `None` where there is none.
    pub summary: Option<Summary>,
    /// Why there is none, where that is known.
    pub absence: Option<String>,
    /// How many of the values were disturbed while they were measured.
    pub disturbed: usize,
}

impl Side {
    /// Of `runs`, one list each; those that have nothing are passed over.
    #[must_use]
    pub fn of(mut runs: Vec<Vec<f64>>) -> Self {
        runs.retain(|values| !values.is_empty());
        Self {
            summary: Summary::of(&runs.concat()),
            runs,
            absence: None,
            disturbed: 0,
        }
    }

    /// Every value, in a sequence.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().flatten().copied()
    }

    /// Whether every value is 0.
    fn is_nothing(&self) -> bool {
        self.values().all(|value| value == 0.0)
    }

    /// Whether there is one value, however often.
    fn is_constant(&self) -> bool {
        let first = self.values().next();
        self.values().all(|value| Some(value) == first)
    }
}

/// Which run has no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The run that is compared with: there is nothing to be slower than.
    Base,
    /// The run that is compared: what was there is lost.
    New,
    /// Both.
    Both,
}

/// One figure of one subject in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The subject; of two names, `new against base`.
    pub subject: String,
    /// The phase's name in its study, or what is timed around the phases: `mkfs`.
    pub phase: String,
    /// For a sweep, of how many points the figure is the geometric mean, and how many there are.
    pub points: Option<(usize, usize)>,
    /// The metric.
    pub metric: &'static MetricDefinition,
    /// The run that is compared with.
    pub base: Side,
    /// The run that is compared.
    pub new: Side,
    /// How many times as good `new` is: above 1 is better, whichever direction that is.
    pub speed: Option<Estimate>,
    /// Whether the two differ at all.
    pub test: Option<Test>,
    /// The test's p-value, corrected over all contrasts of the diff.
    pub p_corrected: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// Whether each side is the only value that there can be: virtual time.
    pub exact: bool,
}

impl Contrast {
    /// How many values of both sides were disturbed while they were measured.
    #[must_use]
    pub fn disturbed(&self) -> usize {
        self.base.disturbed + self.new.disturbed
    }

    /// Which side has no figure; `None` where both have.
    #[must_use]
    pub fn absence(&self) -> Option<Absence> {
        match (self.base.runs.is_empty(), self.new.runs.is_empty()) {
            (false, false) => None,
            (true, false) => Some(Absence::Base),
            (false, true) => Some(Absence::New),
            (true, true) => Some(Absence::Both),
        }
    }

    /// Whether all speed that there was is lost: more is better, and all new values are 0. A time
    /// of 0 is no loss.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let has_both = self.absence().is_none();
        let of_speed = has_both && self.metric.better == Better::Higher;
        of_speed && self.new.is_nothing() && !self.base.is_nothing()
    }

    /// Whether no value varies on either side, and one figure between the two would give both on a
    /// coarse clock.
    #[must_use]
    pub fn is_between_steps(&self) -> bool {
        let values = |side: &Side| side.values().collect::<Vec<f64>>();
        let (base, new) = (values(&self.base), values(&self.new));
        let are_repeated = base.len() > 1 && new.len() > 1;
        !self.exact && are_repeated && are_neighbouring_steps(&base, &new)
    }

    /// Why two figures have no ratio, in a few words.
    #[must_use]
    pub fn why_no_ratio(&self) -> &'static str {
        match self.metric.better {
            Better::Neither => "neither more nor less is better",
            Better::Higher | Better::Lower => "a value of 0 has no ratio",
        }
    }

    /// The values of both sides as a speed; `None` where the metric has no good direction.
    pub(crate) fn as_speed(&self) -> Option<Speed<'_>> {
        Speed::of(self.metric.better, &self.base.runs, &self.new.runs)
    }

    /// `Random read of ext4`: what a line of a message names.
    #[must_use]
    pub fn title(&self) -> String {
        let phase = crate::wording::heading(&self.phase);
        format!("{phase} of {}", self.subject)
    }
}

/// The contrasts of a joined run in `metric`; `None`: each phase's headline.
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
    // A metric that a phase has nowhere is none of its figures.
    if comparison.is_empty() && metric.is_some() {
        return None;
    }
    let mut found = contrast((subject, phase.name), &comparison, sides, seen);
    let sweep = phase.sweep.as_ref();
    found.points = sweep.map(|sweep| (sweep.shared, sweep.points.len()));
    Some(found)
}

/// What is known of a subject's repeats beside their values.
#[derive(Default)]
struct Seen {
    /// Why there is no figure.
    absence: Option<String>,
    /// How many repeats were disturbed.
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
    // Equal repeats of virtual time are no proof that a difference in the ninth digit matters.
    contrast.speed = speed.map(|speed| speed.widened(comparison.resolution));
    contrast
}

/// The values at `places` of a comparison, a list each.
pub(crate) fn values(comparison: &Comparison, places: Range<usize>) -> Vec<Vec<f64>> {
    let entries = places.filter_map(|place| comparison.entries.get(place));
    entries.map(|entry| entry.values.clone()).collect()
}
