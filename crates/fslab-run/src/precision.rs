//! How well the cells of a run are known: the width of the interval of each key figure.
//!
//! A trial gives one value of a phase, whatever its rounds and points; the interval is that of the
//! geometric mean over trials. What the report shows may be computed otherwise: this decides only
//! whether another repeat is worth its time.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    Adaptive, CellId, Percent, PhaseRecord, Plan, RunRecord, Subject, TrialOutcome, TrialRecord,
    phase_metrics,
};
use fslab_stats::location;

/// How well a cell is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Every key figure is within the target; the least well known reaches so far.
    Known {
        /// As a share of the figure.
        reach: f64,
    },
    /// A key figure is not.
    Wide {
        /// The phase that is known least.
        phase: String,
        /// How far its interval reaches, as a share of the figure; `None` where there is none yet.
        reach: Option<f64>,
    },
    /// Every trial so far failed.
    Failed,
    /// No trial has a key figure: they were skipped, took no time, or did not run.
    NoFigure,
}

impl Standing {
    /// Whether another repeat may help.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Wide { .. })
    }
}

/// A cell, and how well it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct CellPrecision<'a> {
    /// The cell.
    pub cell: CellId,
    /// Its subject.
    pub subject: &'a Subject,
    /// Its trials that have a record.
    pub repeats: u32,
    /// How well it is known.
    pub standing: Standing,
}

/// How well the cells of `run` are known by the phases that `adaptive` names.
#[must_use]
pub fn precision<'a>(run: &'a RunRecord, adaptive: &Adaptive) -> Vec<CellPrecision<'a>> {
    let mut figures = Figures::new(&run.header.plan, adaptive);
    run.trials.iter().for_each(|trial| figures.add(trial));
    figures.standings(u32::MAX).collect()
}

/// The key figures of a run's trials.
pub(crate) struct Figures<'a> {
    plan: &'a Plan,
    key: Vec<String>,
    target: Percent,
    trials: BTreeMap<(CellId, u32), Trial>,
}

/// What one trial says of its cell.
struct Trial {
    is_done: bool,
    /// By the phase's name in the study, the headline figure of each of its points.
    phases: BTreeMap<String, BTreeMap<String, f64>>,
}

impl<'a> Figures<'a> {
    pub(crate) fn new(plan: &'a Plan, adaptive: &Adaptive) -> Self {
        Self {
            plan,
            key: adaptive.key.clone(),
            target: adaptive.target,
            trials: BTreeMap::new(),
        }
    }

    /// Takes in a trial, in the place of an earlier record of it.
    pub(crate) fn add(&mut self, record: &TrialRecord) {
        let mut values: BTreeMap<&str, Vec<(&PhaseRecord, f64)>> = BTreeMap::new();
        for phase in &record.phases {
            let is_key = self.key.is_empty() || self.key.iter().any(|k| k == phase.study_phase());
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

    /// How well each cell was known by its repeats before `before`.
    pub(crate) fn standings(&self, before: u32) -> impl Iterator<Item = CellPrecision<'a>> {
        self.plan.cells().map(move |cell| {
            let trials: Vec<&Trial> = self.of(cell.id, before).collect();
            CellPrecision {
                cell: cell.id,
                subject: &cell.subject.subject,
                repeats: u32::try_from(trials.len()).unwrap_or(u32::MAX),
                standing: self.standing(&trials),
            }
        })
    }

    fn of(&self, cell: CellId, before: u32) -> impl Iterator<Item = &Trial> {
        self.trials
            .range((cell, 0)..(cell, before))
            .map(|(_, trial)| trial)
    }

    fn standing(&self, trials: &[&Trial]) -> Standing {
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_done) {
            return Standing::Failed;
        }
        let names = trials.iter().flat_map(|trial| trial.phases.keys());
        let names: BTreeSet<&String> = names.collect();
        let mut widest: Option<(&String, Option<f64>)> = None;
        for name in names {
            let reach = reach(&values(trials, name));
            let is_wider = match widest {
                None => true,
                Some((_, known)) => breadth(reach) > breadth(known),
            };
            if is_wider {
                widest = Some((name, reach));
            }
        }
        match widest {
            None => Standing::NoFigure,
            Some((_, Some(reach))) if reach <= self.target.share() => Standing::Known { reach },
            Some((phase, reach)) => Standing::Wide {
                phase: phase.clone(),
                reach,
            },
        }
    }
}

/// What is not known at all is wider than anything.
fn breadth(reach: Option<f64>) -> f64 {
    reach.unwrap_or(f64::INFINITY)
}

fn headline(phase: &PhaseRecord) -> Option<f64> {
    let wanted = phase.headline.metric();
    let found = phase_metrics(phase).into_iter();
    let mut found = found.filter(|metric| metric.definition == wanted);
    found.next().map(|metric| metric.value)
}

/// `None` where there is nothing, or a value has no logarithm.
fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Option<Vec<f64>> = values
        .map(|value| (value > 0.0).then(|| value.ln()))
        .collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// The phase's value in each trial that has one: over the points that all of these have.
fn values(trials: &[&Trial], phase: &str) -> Vec<f64> {
    let having: Vec<_> = trials
        .iter()
        .filter_map(|trial| trial.phases.get(phase))
        .collect();
    let Some(first) = having.first() else {
        return Vec::new();
    };
    let in_all = |name: &&String| having.iter().all(|points| points.contains_key(*name));
    let shared: Vec<&String> = first.keys().filter(in_all).collect();
    let value = |points: &&BTreeMap<String, f64>| {
        geometric_mean(shared.iter().filter_map(|name| points.get(*name).copied()))
    };
    having.iter().filter_map(value).collect()
}

/// How far the 95 % interval reaches from the value, on its wider side: the upper one, since it is
/// one on the logarithms.
fn reach(values: &[f64]) -> Option<f64> {
    let estimate = location(values)?;
    let interval = estimate.interval?;
    let (up, down) = (
        interval.high / estimate.value,
        interval.low / estimate.value,
    );
    Some((up - 1.0).max(1.0 - down))
}

#[cfg(test)]
mod tests {
    use fslab_model::{Failure, FailureKind, Headline, Parameters, PhaseKind, PhaseOutcome};
    use fslab_model::{PhaseSpec, RecordBuilder, Round, TrialId, VenuePlan};

    use super::*;
    use crate::{Request, VenueChoice, resolve};

    fn plan() -> Plan {
        let request = Request {
            study: crate::load_study("quick").expect("built in").0,
            subjects: vec!["fake".into()],
            venue: VenueChoice::Named(VenuePlan::Fake),
            size: None,
            aged: None,
            scale: None,
            repetition: crate::Repetition::default(),
            trial_limit_s: None,
            seed: 7,
        };
        resolve(&request).expect("resolves").plan
    }

    /// A trial in which phases took so many seconds for a gigabyte.
    fn trial(repeat: u32, phases: &[(&str, f64)]) -> TrialRecord {
        let id = TrialId {
            cell: CellId(0),
            repeat,
        };
        let death = Failure::new(FailureKind::Crash, "died");
        let death = phases.is_empty().then_some(death);
        let mut record = RecordBuilder::default().finish(id, Subject::plain("fake"), death);
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
        }
    }

    fn standing(key: &[&str], before: u32, trials: &[TrialRecord]) -> Standing {
        let (plan, adaptive) = (plan(), adaptive(key));
        let mut figures = Figures::new(&plan, &adaptive);
        trials.iter().for_each(|trial| figures.add(trial));
        let mut standings = figures.standings(before);
        standings.next().expect("a cell").standing
    }

    #[test]
    fn a_cell_is_known_when_its_widest_key_figure_is() {
        let trials = [
            trial(0, &[("write", 1.0), ("read", 1.0)]),
            trial(1, &[("write", 1.01), ("read", 1.5)]),
            trial(2, &[("write", 0.99), ("read", 2.0)]),
        ];
        let by_write = standing(&["write"], 3, &trials);
        let Standing::Known { reach } = by_write else {
            panic!("{by_write:?}")
        };
        // s of the logarithms is 0.01, t(2) = 4.303: 4.303 * 0.01 / √3 = 0.0248.
        assert!((reach - 0.0252).abs() < 3e-4, "{reach}");
        let Standing::Wide { phase, reach } = standing(&[], 3, &trials) else {
            panic!("read is wide")
        };
        assert_eq!(phase, "read");
        assert!(reach.is_some_and(|reach| reach > 1.0));
        // By its first repeat alone nothing has an interval.
        let Standing::Wide { reach: None, .. } = standing(&["write"], 1, &trials) else {
            panic!("one value has no interval")
        };
    }

    #[test]
    fn a_spread_of_zero_is_known_and_failures_and_skips_are_told_apart() {
        let same = [0, 1].map(|repeat| trial(repeat, &[("write", 2.0)]));
        assert_eq!(standing(&[], 2, &same), Standing::Known { reach: 0.0 });
        let failed = [0, 1].map(|repeat| trial(repeat, &[]));
        assert_eq!(standing(&[], 2, &failed), Standing::Failed);
        assert_eq!(standing(&["read"], 2, &same), Standing::NoFigure);
        assert!(!Standing::Failed.is_open() && !Standing::NoFigure.is_open());
    }

    #[test]
    fn rounds_are_one_value_of_their_trial() {
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
        let trials = [0, 1, 2].map(with_rounds);
        assert_eq!(standing(&[], 3, &trials), Standing::Known { reach: 0.0 });
    }
}
