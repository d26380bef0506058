//! One figure of one subject in two runs.

use fslab_model::MetricDefinition;
use fslab_report::{Analysis, Comparison, PhaseAnalysis, PhaseCell};
use fslab_stats::{Estimate, Summary, Test, Verdict};

use crate::joint::{BASE, NEW};

/// The values of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// One a trial, in the order of the repeats, in the metric's unit.
    pub values: Vec<f64>,
    /// The values in a few figures; `None` where there is none.
    pub summary: Option<Summary>,
    /// Why there is none, where that is known.
    pub absence: Option<String>,
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
    /// Which side has no figure; `None` where both have.
    #[must_use]
    pub fn absence(&self) -> Option<Absence> {
        match (self.base.values.is_empty(), self.new.values.is_empty()) {
            (false, false) => None,
            (true, false) => Some(Absence::Base),
            (false, true) => Some(Absence::New),
            (true, true) => Some(Absence::Both),
        }
    }

    /// The samples as (better on top, below): their ratio is the speed.
    pub(crate) fn as_speed(&self) -> (&[f64], &[f64]) {
        match self.metric.better {
            fslab_model::Better::Lower => (&self.base.values, &self.new.values),
            _ => (&self.new.values, &self.base.values),
        }
    }

    /// `Random read of ext4`: what a line of a message names.
    #[must_use]
    pub fn title(&self) -> String {
        let phase = fslab_report::wording::heading(&self.phase);
        format!("{phase} of {}", self.subject)
    }
}

/// The contrasts of a joint run in `metric`; `None`: each phase's headline.
pub(crate) fn contrasts(
    subject: &str,
    analysis: &Analysis,
    metric: Option<&'static MetricDefinition>,
) -> Vec<Contrast> {
    let of_trial = analysis
        .steps
        .iter()
        .find(|step| Some(step.metric) == metric);
    if let Some(step) = of_trial {
        let phase = step.metric.name.trim_end_matches("_ns");
        return vec![contrast(subject, phase, step, [None, None])];
    }
    let phases = analysis.phases.iter();
    phases
        .filter_map(|phase| of_phase(subject, phase, metric))
        .collect()
}

fn of_phase(
    subject: &str,
    phase: &PhaseAnalysis,
    metric: Option<&'static MetricDefinition>,
) -> Option<Contrast> {
    let comparison = match metric {
        Some(metric) => phase.compare(metric),
        None => phase.comparison.clone()?,
    };
    let absence = |place: usize| phase.cells.get(place).and_then(PhaseCell::absence);
    // A metric that a phase has nowhere is none of its figures.
    if comparison.is_empty() && metric.is_some() {
        return None;
    }
    let mut found = contrast(
        subject,
        phase.name,
        &comparison,
        [absence(BASE), absence(NEW)],
    );
    let sweep = phase.sweep.as_ref();
    found.points = sweep.map(|sweep| (sweep.shared, sweep.points.len()));
    Some(found)
}

fn contrast(
    subject: &str,
    phase: &str,
    comparison: &Comparison,
    [of_base, of_new]: [Option<String>; 2],
) -> Contrast {
    let side = |place: usize, absence| {
        let entry = comparison.entries.get(place);
        Side {
            values: entry.map(|entry| entry.values.clone()).unwrap_or_default(),
            summary: entry.and_then(|entry| entry.summary),
            absence,
        }
    };
    Contrast {
        subject: subject.to_owned(),
        phase: phase.to_owned(),
        points: None,
        metric: comparison.metric,
        base: side(BASE, of_base),
        new: side(NEW, of_new),
        speed: comparison.speed(NEW, BASE),
        test: None,
        p_corrected: None,
        verdict: Verdict::Undecided,
        exact: comparison.exact,
    }
}
