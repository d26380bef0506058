//! The figures that an original printed, as a run on which its claims can be evaluated.
//!
//! Every number is taken as exact. A phase of a subject of which the original printed rows without
//! a value failed. A phase `all` stands for every one. Rates over the points of a sweep are not
//! read: no original prints one.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    CellId, Failure, FailureKind, Headline, MachineFacts, Parameters, Perturbation, PhaseKind,
    PhaseOutcome, PhaseRecord, PhaseSpec, Plan, RunHeader, RunRecord, Subject, SubjectPlan,
    TrialId, TrialOutcome, TrialRecord, ValueList, definitions as d,
};

use crate::published::score_of;
use crate::{Original, PublishedRow, PublishedValue, Score};

/// Phase of a number that is of all of them.
const ALL: &str = "all";
/// The list of the blocks that each read brings in.
const WINDOW: &str = "readahead-window";

/// The printed figures of one subject's phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PrintedFigures {
    figures: Vec<(Score, f64)>,
    windows: Vec<f64>,
    /// Whether there is a row without a value.
    has_gap: bool,
}

impl PrintedFigures {
    fn set(&mut self, score: Score, value: f64) {
        // The original's text may repeat a table: the first row counts.
        if self.exactly(score).is_none() {
            self.figures.push((score, value));
        }
    }

    fn exactly(&self, score: Score) -> Option<f64> {
        let found = self.figures.iter().find(|(known, _)| *known == score);
        found.map(|(_, value)| *value)
    }

    /// The figure, as printed or as it follows from printed ones.
    pub(crate) fn get(&self, score: Score) -> Option<f64> {
        match score {
            Score::Headline => {
                let rate = self.exactly(Score::Metric(&d::THROUGHPUT));
                let rate = rate.or_else(|| self.exactly(Score::Metric(&d::OPERATION_RATE)));
                rate.or_else(|| Some(1e9 / self.exactly(Score::Metric(&d::ELAPSED))?))
            }
            Score::Sum(part) => self.exactly(Score::Clean(part)),
            Score::RelativeDeviation(part) => {
                let mean = self.exactly(Score::Clean(part))?;
                Some(100.0 * self.exactly(Score::Deviation(part))? / mean)
            }
            other => self.exactly(other),
        }
    }

    fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.windows.is_empty()
    }
}

/// An original's figures as a run of one repeat.
pub(crate) struct PrintedRun {
    /// Subjects, phases and lists, without figures.
    pub(crate) record: RunRecord,
    /// The figures by subject and phase.
    figures: BTreeMap<(String, String), PrintedFigures>,
}

impl PrintedRun {
    pub(crate) fn of(original: &Original) -> Self {
        let claims = &original.claims.claims;
        let kinds = || claims.iter().map(|claim| &claim.holds.kind);
        let mut subjects: BTreeSet<&str> = kinds().flat_map(|kind| kind.subjects()).collect();
        let phases: BTreeSet<&str> = kinds().flat_map(|kind| kind.phases()).collect();
        let mut figures: BTreeMap<(String, String), PrintedFigures> = BTreeMap::new();
        for row in &original.published.rows {
            let Some(subject) = row.subject.as_deref().filter(|it| is_subject(row, it)) else {
                continue;
            };
            subjects.insert(subject);
            let of_row = if row.phase == ALL {
                phases.iter().copied().collect()
            } else {
                vec![row.phase.as_str()]
            };
            for phase in of_row {
                let key = (subject.to_owned(), phase.to_owned());
                read(figures.entry(key).or_default(), row, original);
            }
        }
        for row in &original.published.rows {
            read_speedup(&mut figures, row);
        }
        figures.retain(|_, printed| !printed.is_empty() || printed.has_gap);
        Self {
            record: record_of(original, &subjects, &figures),
            figures,
        }
    }

    /// The figures of a phase of its record.
    pub(crate) fn figures(&self, subject: &Subject, phase: &str) -> PrintedFigures {
        let key = (subject.to_string(), phase.to_owned());
        self.figures.get(&key).cloned().unwrap_or_default()
    }
}

/// Whether the row is a figure of a subject, and not of the mean over all.
fn is_subject(row: &PublishedRow, subject: &str) -> bool {
    let metric = row.metric.as_deref().unwrap_or_default();
    let is_other = ["failed-runs", "window", "window-first"].contains(&metric);
    subject != "mean" && (is_other || score_of(metric, row.part.as_deref()).is_some())
}

fn read(printed: &mut PrintedFigures, row: &PublishedRow, original: &Original) {
    let metric = row.metric.as_deref().unwrap_or_default();
    let subject = row.subject.as_deref().unwrap_or_default();
    // Another number of the same subject and phase.
    let beside = |metric: &str| {
        let mut rows = original.published.of(subject, &row.phase, metric);
        rows.find_map(number)
    };
    match (metric, number(row)) {
        ("failed-runs", Some(failed)) => {
            if let Some(runs) = beside("runs") {
                printed.set(Score::FailedPercent, 100.0 * failed / runs);
            }
        }
        ("window", Some(blocks)) => printed.windows = vec![blocks],
        ("window-first", Some(first)) => {
            let growth = beside("window-growth").filter(|growth| *growth > 1.0);
            if let (Some(largest), Some(growth)) = (beside("window-max"), growth) {
                let next = |blocks: &f64| (*blocks < largest).then_some(blocks * growth);
                printed.windows = std::iter::successors(Some(first), next).collect();
            }
        }
        _ => match (score_of(metric, row.part.as_deref()), row.in_base_unit()) {
            (Some(score), Some(value)) => printed.set(score, value),
            (Some(_), None) => printed.has_gap = true,
            (None, _) => {}
        },
    }
}

fn number(row: &PublishedRow) -> Option<f64> {
    match row.value {
        PublishedValue::Number(number) => Some(number),
        PublishedValue::Missing | PublishedValue::Text(_) => None,
    }
}

/// `speedup` with `over=SUBJECT`: the two rates relative to each other, where neither is printed.
fn read_speedup(figures: &mut BTreeMap<(String, String), PrintedFigures>, row: &PublishedRow) {
    let over = row.parameters.iter().find(|(key, _)| key == "over");
    let (Some("speedup"), Some(subject), Some((_, over)), Some(speedup)) =
        (row.metric.as_deref(), &row.subject, over, number(row))
    else {
        return;
    };
    let keys = [subject, over].map(|subject| (subject.clone(), row.phase.clone()));
    let has_rate = |key| {
        let printed: Option<&PrintedFigures> = figures.get(key);
        printed.is_some_and(|printed| printed.get(Score::Headline).is_some())
    };
    if keys.iter().any(has_rate) {
        return;
    }
    for (key, rate) in keys.into_iter().zip([speedup, 1.0]) {
        let printed = figures.entry(key).or_default();
        printed.set(Score::Metric(&d::THROUGHPUT), rate);
    }
}

fn record_of(
    original: &Original,
    subjects: &BTreeSet<&str>,
    figures: &BTreeMap<(String, String), PrintedFigures>,
) -> RunRecord {
    let subjects: Vec<Subject> = subjects.iter().filter_map(|it| it.parse().ok()).collect();
    let phases: BTreeSet<&String> = figures.keys().map(|(_, phase)| phase).collect();
    let phases: Vec<PhaseSpec> = phases
        .into_iter()
        .map(|phase| PhaseSpec::new(phase, "printed", Parameters::new()))
        .collect();
    let trials = (0..).zip(&subjects).map(|(cell, subject)| {
        let record = |spec: &PhaseSpec| {
            let printed = figures.get(&(subject.to_string(), spec.name.clone()))?;
            Some(phase_of(spec, printed))
        };
        trial_of(
            CellId(cell),
            subject,
            phases.iter().filter_map(record).collect(),
        )
    });
    let trials = trials.collect();
    let plan = Plan {
        subjects: subjects.into_iter().map(SubjectPlan::existing).collect(),
        phases,
        ..Plan::imported(original.claims.study.clone(), "the original")
    };
    let machine = MachineFacts {
        memory_bytes: original.claims.memory.as_ref().map(|rule| rule.original),
        ..MachineFacts::default()
    };
    let header = RunHeader {
        run: "original".parse().expect("a plain name"),
        plan_hash: plan.hash(),
        plan,
        fslab: String::new(),
        machine,
        command: Vec::new(),
        started_unix_s: 0,
    };
    RunRecord { header, trials }
}

fn trial_of(cell: CellId, subject: &Subject, phases: Vec<PhaseRecord>) -> TrialRecord {
    TrialRecord {
        trial: TrialId { cell, repeat: 0 },
        subject: subject.clone(),
        perturbation: Perturbation::NONE,
        position: cell.0,
        started_unix_s: 0,
        elapsed_ns: 0,
        outcome: TrialOutcome::Done,
        steps: Vec::new(),
        phases,
        facts: BTreeMap::new(),
        console: String::new(),
        insight: None,
        kernel_log: Vec::new(),
        survival: None,
    }
}

fn phase_of(spec: &PhaseSpec, printed: &PrintedFigures) -> PhaseRecord {
    let outcome = match printed.is_empty() {
        true => PhaseOutcome::Failed {
            failure: Failure::new(FailureKind::Io, "the original has no figure"),
        },
        false => PhaseOutcome::Done,
    };
    let mut record = PhaseRecord::empty(spec, PhaseKind::Mixed, Headline::Throughput, outcome);
    if !printed.windows.is_empty() {
        let points = (0_u32..).map(f64::from).zip(printed.windows.clone());
        record.lists.push(ValueList {
            name: WINDOW.to_owned(),
            x: "read".to_owned(),
            y: "blocks".to_owned(),
            points: points.collect(),
        });
    }
    record
}
