//! A run arranged for comparison.

use super::{Comparison, Diagnosis, OverallAnalysis, PhaseAnalysis, ScoreAnalysis, correct, phase};
use fslab_model::definitions::{CHECK, MKFS, MOUNT, UNMOUNT};
use fslab_model::trial_metrics;
use fslab_model::{CellId, MetricDefinition, RunRecord, Subject, TrialRecord};

/// The metrics of a trial outside its phases.
pub(crate) const STEP_METRICS: [&MetricDefinition; 4] = [&MKFS, &MOUNT, &UNMOUNT, &CHECK];

/// A run arranged for comparison: subjects in the order of the plan, phases in that of the study.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    pub run: &'a RunRecord,
    /// Its phases; the points of a sweep are one phase.
    pub phases: Vec<PhaseAnalysis<'a>>,
    /// mkfs, mount, unmount and check, if any trial measured them.
    pub steps: Vec<Comparison>,
    /// The number of pairs of subjects, over all headline figures, that were corrected together.
    pub family: usize,
    /// The mean over all phases; `None` if there is nothing to compare.
    pub overall: Option<OverallAnalysis>,
    /// The score of each subject; `None` if the study has none.
    pub score: Option<ScoreAnalysis<'a>>,
    /// The anomalies of the repeats.
    pub diagnosis: Diagnosis,
}

impl<'a> Analysis<'a> {
    /// Arranges `run`. Headline figures are corrected together over all phases, the points of each
    /// sweep together, and the steps around the phases together.
    pub fn of(run: &'a RunRecord) -> Self {
        let mut analysis = Self::uncorrected(run);
        correct(&mut analysis.steps.iter_mut().collect::<Vec<_>>());
        correct(
            &mut analysis
                .score
                .iter_mut()
                .map(|it| &mut it.comparison)
                .collect::<Vec<_>>(),
        );
        let phases = analysis.phases.iter_mut();
        for sweep in phases.filter_map(|phase| phase.sweep.as_mut()) {
            correct(&mut headlines(&mut sweep.points));
        }
        analysis.family = correct(&mut headlines(&mut analysis.phases));
        analysis.diagnosis = Diagnosis::of(&analysis.phases);
        analysis
    }

    /// As [`Analysis::of`], but without tests and diagnosis, for callers with their own tests.
    pub fn uncorrected(run: &'a RunRecord) -> Self {
        let cells: Vec<Vec<&TrialRecord>> = run
            .header
            .plan
            .cells()
            .map(|cell| run.cell(cell.id).collect())
            .collect();
        let phases = phase::arrange(run, &cells);
        let is_virtual = run.header.plan.venue.kind().is_virtual();
        let steps: Vec<Comparison> = STEP_METRICS
            .into_iter()
            .map(|metric| Comparison::timed(metric, step_samples(metric, &cells), is_virtual))
            .filter(|comparison| !comparison.is_empty())
            .collect();
        Self {
            run,
            overall: OverallAnalysis::of(&phases),
            score: (run.header.plan.score.as_ref())
                .map(|spec| ScoreAnalysis::of(spec, &phases, cells.len())),
            diagnosis: Diagnosis::default(),
            phases,
            steps,
            family: 0,
        }
    }

    /// Every executed phase: each point of a sweep is one.
    pub fn runs(&self) -> impl Iterator<Item = &PhaseAnalysis<'a>> {
        self.phases.iter().flat_map(PhaseAnalysis::points)
    }

    /// The subjects in the order of every comparison.
    pub fn subjects(&self) -> impl ExactSizeIterator<Item = &'a Subject> + use<'a> {
        self.run.header.plan.subjects.iter().map(|s| &s.subject)
    }

    /// The subject's trials, in the order of their repeats.
    pub fn trials_of(&self, subject: usize) -> impl Iterator<Item = &'a TrialRecord> + use<'a> {
        self.run.cell(CellId::at(subject))
    }

    /// True if the figures have no variation: virtual time and one repeat.
    pub fn is_exact(&self) -> bool {
        let plan = &self.run.header.plan;
        plan.venue.kind().is_virtual()
            && self.phases.iter().all(PhaseAnalysis::is_exact)
            && plan.repeats < 2
    }

    /// True if any comparison of the run has an interval, so that rankings may be stated.
    pub fn has_intervals(&self) -> bool {
        self.phases
            .iter()
            .filter_map(|phase| phase.comparison.as_ref())
            .any(Comparison::has_intervals)
    }
}

fn headlines<'p>(phases: &'p mut [PhaseAnalysis<'_>]) -> Vec<&'p mut Comparison> {
    let headlines = phases.iter_mut().map(|phase| phase.comparison.as_mut());
    headlines.flatten().collect()
}

fn step_samples(metric: &MetricDefinition, cells: &[Vec<&TrialRecord>]) -> Vec<Vec<f64>> {
    let value = |trial: &&TrialRecord| {
        trial_metrics(trial)
            .into_iter()
            .find(|found| found.definition == metric)
            .map(|found| found.value)
    };
    cells
        .iter()
        .map(|trials| trials.iter().filter_map(value).collect())
        .collect()
}
