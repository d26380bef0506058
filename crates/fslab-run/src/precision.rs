//! Precision of the cells of a run: the confidence interval of each key figure.
//!
//! A trial gives one value per phase, over all rounds and points; the interval is that of the
//! geometric mean over trials. With adaptive repeats a narrow interval is not sufficient: it must
//! stay narrow over further repeats, see `fslab_stats::stopping`. Where repeats go on until the
//! differences are decided, a figure whose difference is decided counts as one without an interval
//! width, under the same rule. Reports may compute intervals differently: this only decides whether
//! another repeat is needed.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    Adaptive, CellId, PhaseRecord, Plan, RunRecord, Subject, TrialOutcome, TrialRecord,
    phase_metrics,
};
use fslab_stats::{Stopping, relative_half_widths, stopping};

use super::decisions::{Trial, geometric_mean, values};
use crate::decisions::Decisions;

/// Precision of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Precision {
    /// Every key figure reaches the target.
    Known {
        /// Half-width of the widest interval, as a share of the figure.
        reach: f64,
    },
    /// Every key figure reaches the target, and further repeats are to confirm it.
    Confirming {
        /// Half-width of the widest interval, as a share of the figure.
        reach: f64,
        /// Number of further repeats.
        more: usize,
    },
    /// A key figure misses the target.
    Wide {
        /// The phase with the widest interval.
        phase: String,
        /// Half-width of its interval, as a share of the figure; `None` if there is no interval
        /// yet.
        reach: Option<f64>,
    },
    /// Every trial so far failed.
    Failed,
    /// No trial has a key figure: the phases were skipped, took no time, or did not run.
    NoFigure,
}

impl Precision {
    /// True if another repeat may help.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Wide { .. } | Self::Confirming { .. })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CellPrecision<'a> {
    pub cell: CellId,
    pub subject: &'a Subject,
    /// Number of its trials with a record.
    pub repeats: u32,
    pub precision: Precision,
}

/// Precision of the cells of a finished `run` for the key phases of `adaptive`; cells that were
/// still confirming count as known.
pub fn precision<'a>(run: &'a RunRecord, adaptive: &Adaptive) -> Vec<CellPrecision<'a>> {
    let mut figures = Figures::new(&run.header.plan, adaptive);
    run.trials.iter().for_each(|trial| figures.add(trial));
    let cells = figures.cells(u32::MAX);
    let settled = cells.map(|cell| match cell.precision {
        Precision::Confirming { reach, .. } => CellPrecision {
            precision: Precision::Known { reach },
            ..cell
        },
        _ => cell,
    });
    settled.collect()
}

/// The key figures of a run's trials.
pub(crate) struct Figures<'a> {
    plan: &'a Plan,
    adaptive: Adaptive,
    trials: BTreeMap<(CellId, u32), Trial>,
}

impl<'a> Figures<'a> {
    pub(crate) fn new(plan: &'a Plan, adaptive: &Adaptive) -> Self {
        Self {
            plan,
            adaptive: adaptive.clone(),
            trials: BTreeMap::new(),
        }
    }

    /// Adds a trial, replacing an earlier record of it.
    pub(crate) fn add(&mut self, record: &TrialRecord) {
        let mut values: BTreeMap<&str, Vec<(&PhaseRecord, f64)>> = BTreeMap::new();
        for phase in &record.phases {
            let key = &self.adaptive.key;
            let is_key = key.is_empty() || key.iter().any(|name| name == phase.study_phase());
            if let Some(value) = headline(phase).filter(|_| is_key) {
                values.entry(&phase.name).or_default().push((phase, value));
            }
        }
        let mut phases: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        for (name, rounds) in values {
            let figures = rounds.iter().map(|(_, value)| *value);
            if let Some(mean) = geometric_mean(figures) {
                let points = phases.entry(rounds[0].0.study_phase().to_owned());
                points.or_default().insert(name.to_owned(), mean);
            }
        }
        let trial = Trial {
            is_done: record.outcome == TrialOutcome::Done,
            phases,
        };
        let id = record.trial;
        self.trials.insert((id.cell, id.repeat), trial);
    }

    /// Precision of each cell by its repeats below `before`.
    pub(crate) fn cells(&self, before: u32) -> impl Iterator<Item = CellPrecision<'a>> {
        let trials = self.plan.cells().map(|cell| self.of(cell.id, before));
        let trials: Vec<Vec<&Trial>> = trials.map(Iterator::collect).collect();
        let decisions = (self.adaptive.until_decided).then(|| Decisions::new(trials.clone()));
        let cells = self.plan.cells().zip(trials).enumerate();
        cells.map(move |(place, (cell, trials))| CellPrecision {
            cell: cell.id,
            subject: &cell.subject.subject,
            repeats: u32::try_from(trials.len()).unwrap_or(u32::MAX),
            precision: self.precision(&trials, |phase, repeats| {
                let decisions = decisions.as_ref();
                decisions.is_some_and(|it| it.is_decided(phase, place, repeats))
            }),
        })
    }

    fn of(&self, cell: CellId, before: u32) -> impl Iterator<Item = &Trial> {
        self.trials
            .range((cell, 0)..(cell, before))
            .map(|(_, trial)| trial)
    }

    /// The precision of a cell with these trials; `is_decided` says of a phase whether the cell's
    /// difference was decided after so many repeats.
    fn precision(&self, trials: &[&Trial], is_decided: impl Fn(&str, usize) -> bool) -> Precision {
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_done) {
            return Precision::Failed;
        }
        let names = trials.iter().flat_map(|trial| trial.phases.keys());
        let names: BTreeSet<&String> = names.collect();
        let least = (self.plan.repeats as usize).clamp(1, trials.len().max(1));
        let figures = names.into_iter().map(|name| {
            let mut reaches = relative_half_widths(&values(trials, name));
            for (place, reach) in reaches.iter_mut().enumerate().skip(least - 1) {
                if is_decided(name, place + 1) {
                    *reach = Some(0.0);
                }
            }
            Reaches {
                phase: name,
                reaches,
            }
        });
        let figures: Vec<Reaches> = figures.collect();
        let Some(last) = trials.len().checked_sub(1) else {
            return Precision::NoFigure;
        };
        let Some((phase, reach)) = widest(&figures, last) else {
            return Precision::NoFigure;
        };
        // Trials without a figure are not counted: they add nothing.
        let is_counted = |place: &usize| *place + 1 == least || !trials[*place].phases.is_empty();
        let looks = (least - 1..trials.len()).filter(is_counted);
        let looks = looks.map(|place| widest(&figures, place).and_then(|(_, reach)| reach));
        let looks: Vec<Option<f64>> = looks.collect();
        match (stopping(&looks, self.adaptive.target.share()), reach) {
            (Stopping::Known, Some(reach)) => Precision::Known { reach },
            (Stopping::Confirming { more }, Some(reach)) => Precision::Confirming { reach, more },
            _ => Precision::Wide {
                phase: phase.clone(),
                reach,
            },
        }
    }
}

/// Half-width of the interval of a phase's figure after each trial.
struct Reaches<'a> {
    phase: &'a String,
    reaches: Vec<Option<f64>>,
}

/// The phase with the widest interval after trial `place`; the first if several are equal.
fn widest<'a>(figures: &[Reaches<'a>], place: usize) -> Option<(&'a String, Option<f64>)> {
    let at = |looks: &Reaches<'a>| (looks.phase, looks.reaches.get(place).copied().flatten());
    let wider = |known: (&'a String, Option<f64>), other: (&'a String, Option<f64>)| {
        if breadth(other.1) > breadth(known.1) {
            other
        } else {
            known
        }
    };
    figures.iter().map(at).reduce(wider)
}

/// A missing interval counts as infinitely wide.
fn breadth(reach: Option<f64>) -> f64 {
    reach.unwrap_or(f64::INFINITY)
}

fn headline(phase: &PhaseRecord) -> Option<f64> {
    let wanted = phase.headline.metric();
    let found = phase_metrics(phase).into_iter();
    let mut found = found.filter(|metric| metric.definition == wanted);
    wanted.better.speed(found.next()?.value)
}

#[cfg(test)]
pub(crate) mod tests {
    use fslab_model::{Failure, FailureKind, Headline, Parameters, PhaseKind, PhaseOutcome};
    use fslab_model::{PhaseSpec, RecordBuilder, Round, TrialId, TrialRun, VenuePlan};

    use super::*;
    use crate::{Request, VenueChoice, resolve};

    pub(crate) fn plan() -> Plan {
        let study = crate::load_study("quick").expect("built in").0;
        let venue = VenueChoice::Named(VenuePlan::Fake);
        let request = Request::new(study, &["fake"], venue, 7);
        resolve(&request).expect("resolves").plan
    }

    /// A trial whose phases took this many seconds for a gigabyte.
    pub(crate) fn trial(repeat: u32, phases: &[(&str, f64)]) -> TrialRecord {
        let id = TrialId {
            cell: CellId(0),
            repeat,
        };
        let death = Failure::new(FailureKind::Crash, "died");
        let death = phases.is_empty().then_some(death);
        let mut record = RecordBuilder::default()
            .finish(death)
            .into_record(TrialRun {
                trial: id,
                subject: Subject::plain("fake"),
                perturbation: fslab_model::Perturbation::NONE,
                position: 0,
                started_unix_s: 0,
                elapsed_ns: 0,
                console: String::new(),
            });
        if !phases.is_empty() {
            record.outcome = TrialOutcome::Done;
        }
        record.phases = phases
            .iter()
            .map(|(name, seconds)| {
                let spec = PhaseSpec::new(*name, "write", Parameters::new());
                let (kind, headline) = (PhaseKind::Write, Headline::Throughput);
                let mut phase = PhaseRecord::empty(&spec, kind, headline, PhaseOutcome::Done);
                phase.bytes = Some(1 << 30);
                phase.elapsed_ns = Some((seconds * 1e9) as u64);
                phase
            })
            .collect();
        record
    }

    fn adaptive(key: &[&str]) -> Adaptive {
        Adaptive {
            repeats_max: 20,
            target: Adaptive::TARGET,
            key: key.iter().map(ToString::to_string).collect(),
            until_decided: false,
            budget_s: None,
        }
    }

    fn precision_of(key: &[&str], before: u32, trials: &[TrialRecord]) -> Precision {
        let (plan, adaptive) = (plan(), adaptive(key));
        let mut figures = Figures::new(&plan, &adaptive);
        trials.iter().for_each(|trial| figures.add(trial));
        let cells: Vec<_> = figures.cells(before).collect();
        cells[0].precision.clone()
    }

    #[test]
    fn a_cell_is_known_when_its_widest_key_figure_is() {
        let trials = [
            trial(0, &[("write", 1.0), ("read", 1.0)]),
            trial(1, &[("write", 1.01), ("read", 1.5)]),
            trial(2, &[("write", 0.99), ("read", 2.0)]),
        ];
        let by_write = precision_of(&["write"], 3, &trials);
        let Precision::Confirming { reach, more: 6 } = by_write else {
            panic!("{by_write:?}")
        };
        // The standard deviation of the logarithms is 0.01, t(2) = 4.303: 4.303 * 0.01 / √3 =
        // 0.0248.
        assert!((reach - 0.0252).abs() < 3e-4, "{reach}");
        let Precision::Wide { phase, reach } = precision_of(&[], 3, &trials) else {
            panic!("read is wide")
        };
        assert_eq!(phase, "read");
        assert!(reach.is_some_and(|reach| reach > 1.0));
        // After one repeat there is no interval.
        let Precision::Wide { reach: None, .. } = precision_of(&["write"], 1, &trials) else {
            panic!("one value has no interval")
        };
    }

    #[test]
    fn a_narrow_interval_is_confirmed_by_further_repeats() {
        let seconds = [1.0, 1.015, 0.985, 1.01, 0.99, 1.01, 0.99, 1.01, 0.99];
        let trials: Vec<TrialRecord> = (0..)
            .zip(seconds)
            .map(|(repeat, seconds)| trial(repeat, &[("write", seconds)]))
            .collect();
        let at = |before: u32| precision_of(&[], before, &trials[..before as usize]);
        assert!(
            matches!(at(3), Precision::Confirming { more: 6, .. }),
            "{:?}",
            at(3)
        );
        assert!(at(3).is_open());
        assert!(
            matches!(at(8), Precision::Confirming { more: 1, .. }),
            "{:?}",
            at(8)
        );
        assert!(matches!(at(9), Precision::Known { .. }), "{:?}", at(9));
    }

    #[test]
    fn a_trial_without_a_figure_confirms_nothing() {
        let mut trials: Vec<TrialRecord> = (0..5).map(|i| trial(i, &[("write", 2.0)])).collect();
        assert_eq!(
            precision_of(&[], 5, &trials),
            Precision::Known { reach: 0.0 }
        );
        trials[4] = trial(4, &[]);
        let more = Precision::Confirming {
            reach: 0.0,
            more: 1,
        };
        assert_eq!(precision_of(&[], 5, &trials), more);
    }

    #[test]
    fn a_spread_of_zero_is_known_and_failures_and_skips_are_distinguished() {
        let same = [0, 1, 2, 3, 4].map(|repeat| trial(repeat, &[("write", 2.0)]));
        assert_eq!(precision_of(&[], 5, &same), Precision::Known { reach: 0.0 });
        let failed = [0, 1].map(|repeat| trial(repeat, &[]));
        assert_eq!(precision_of(&[], 2, &failed), Precision::Failed);
        assert_eq!(precision_of(&["read"], 2, &same), Precision::NoFigure);
        assert!(!Precision::Failed.is_open() && !Precision::NoFigure.is_open());
    }

    #[test]
    fn rounds_give_one_value_per_trial() {
        let with_rounds = |repeat| {
            let mut trial = trial(repeat, &[("write", 1.0), ("write", 4.0)]);
            for (iteration, phase) in (0..).zip(&mut trial.phases) {
                phase.round = Some(Round {
                    mount: 0,
                    iteration,
                });
            }
            trial
        };
        let trials = [0, 1, 2, 3, 4].map(with_rounds);
        assert_eq!(
            precision_of(&[], 5, &trials),
            Precision::Known { reach: 0.0 }
        );
    }
}
