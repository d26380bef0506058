//! An experiment: one comparison in several conditions, the levels of factors such as the disk and
//! the memory.
//!
//! Owns what its runs say together: who is first in which condition, how much a subject loses where
//! it is not first, and what decides. A run of an experiment has its levels in its plan
//! ([`fslab_model::Condition`]); everything else of it is the analysis of that run.

use std::collections::BTreeSet;

use fslab_model::{Better, DISK_DRAW, Failure, FailureKind, RunId, RunRecord, SubjectPlan};
use fslab_stats::{VarianceShare, variance_shares};

use crate::{Analysis, Choice, Comparison, Recommendation};

/// The factor of the subjects, in the names of effects.
pub const SUBJECT_FACTOR: &str = "file system";

/// A factor with its levels, in the order of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    pub name: String,
    pub levels: Vec<String>,
}

/// A condition: one level of each factor.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionResult {
    pub run: RunId,
    /// The level of each factor.
    pub levels: Vec<usize>,
    /// The subjects that are first: one, several that are the same, or several between which it is
    /// not decided. Empty without an answer.
    pub first: Vec<usize>,
    /// True if the first are certainly ahead of all others.
    pub is_certain: bool,
    /// By subject: its speed relative to the best, at most 1; `None` if it takes no part.
    pub speeds: Vec<Option<f64>>,
}

/// What decides a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// The phase; `None` for the measure of the answer.
    pub phase: Option<String>,
    /// The shares of the variance of its logarithm, the largest first. Factor 0 is the file system,
    /// the others follow in the order of [`Experiment::factors`].
    pub shares: Vec<VarianceShare>,
}

/// A subject over all conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectSummary {
    pub subject: usize,
    /// The conditions in which it is first, alone or with others.
    pub first_in: usize,
    /// The conditions in which it takes part.
    pub takes_part_in: usize,
    /// The largest loss of speed against the best, from 0 to 1, and the condition of it.
    pub regret: Option<(f64, usize)>,
}

/// The answer on one disk, and on others drawn within its uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelBand {
    /// The profile of the disk.
    pub disk: String,
    /// The disks that were drawn.
    pub draws: usize,
    /// The first with the stated parameters.
    pub subject: usize,
    /// The drawn disks on which it is first, alone or with others.
    pub first_in: usize,
    /// Its speed relative to the best of the others, with the stated parameters.
    pub stated_lead: f64,
    /// The least and the most of that over all disks.
    pub leads: (f64, f64),
}

/// The runs of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    pub factors: Vec<Factor>,
    /// As in the first condition.
    pub subjects: Vec<SubjectPlan>,
    /// In the order of the plan: the last factor changes fastest.
    pub conditions: Vec<ConditionResult>,
    /// Of the answer's measure, then of each phase that all conditions have. Empty unless the plan
    /// is complete.
    pub effects: Vec<Effects>,
    /// Subjects that take no part in some condition, and so not in the effects.
    pub without: Vec<usize>,
    /// The conditions of the complete plan.
    pub planned: usize,
}

impl Experiment {
    /// Arranges the runs of one experiment, in any order.
    pub fn of(runs: &[RunRecord]) -> Result<Self, Failure> {
        let failed = |text: String| Failure::new(FailureKind::BadInput, text);
        let Some(first) = runs.first() else {
            return Err(failed("an experiment has at least one run".to_owned()));
        };
        let Some(condition) = &first.header.plan.condition else {
            return Err(
                failed(format!("the run {} is of no experiment", first.header.run))
                    .hint("an experiment is made by --vary"),
            );
        };
        let factors: Vec<Factor> = condition
            .factors
            .iter()
            .map(|factor| Factor {
                name: factor.name.clone(),
                levels: factor.levels.clone(),
            })
            .collect();
        let mut placed = Vec::new();
        for run in runs {
            let own = run.header.plan.condition.as_ref();
            let own = own.filter(|own| {
                own.experiment == condition.experiment && own.factors.len() == factors.len()
            });
            let Some(own) = own else {
                let text = format!(
                    "the runs {} and {} are not of one experiment",
                    first.header.run, run.header.run
                );
                return Err(failed(text));
            };
            let levels: Vec<usize> = own.factors.iter().map(|it| it.level).collect();
            let are_known = levels
                .iter()
                .zip(&factors)
                .all(|(it, of)| *it < of.levels.len());
            if !are_known {
                return Err(failed(format!(
                    "the run {} has an unknown level",
                    run.header.run
                )));
            }
            placed.push((levels, run));
        }
        placed.sort_by(|a, b| a.0.cmp(&b.0));
        placed.dedup_by(|a, b| a.0 == b.0);
        let planned = factors.iter().map(|factor| factor.levels.len()).product();
        let mut experiment = Self {
            subjects: first.header.plan.subjects.clone(),
            conditions: Vec::new(),
            effects: Vec::new(),
            without: Vec::new(),
            factors,
            planned,
        };
        experiment.arrange(&placed);
        Ok(experiment)
    }

    fn arrange(&mut self, placed: &[(Vec<usize>, &RunRecord)]) {
        let analyses: Vec<Analysis> = placed.iter().map(|(_, run)| Analysis::of(run)).collect();
        let answers: Vec<Option<Recommendation>> =
            analyses.iter().map(Recommendation::of).collect();
        let comparisons: Vec<Option<&Comparison>> = answers
            .iter()
            .map(|answer| answer.as_ref()?.comparison.as_ref())
            .collect();
        for ((levels, run), answer) in placed.iter().zip(&answers) {
            let subjects = self.subjects.len();
            self.conditions
                .push(condition(levels, run, answer.as_ref(), subjects));
        }
        let takes_part = |subject: &usize| {
            self.conditions
                .iter()
                .all(|it| it.speeds.get(*subject).is_some_and(Option::is_some))
        };
        let (with, without): (Vec<usize>, Vec<usize>) =
            (0..self.subjects.len()).partition(takes_part);
        self.without = without;
        if self.conditions.len() < self.planned {
            return;
        }
        let of_all = self.shares(&with, &comparisons);
        self.effects.extend(of_all.map(|shares| Effects {
            phase: None,
            shares,
        }));
        let Some(first) = analyses.first() else {
            return;
        };
        let mut seen = BTreeSet::new();
        for phase in &first.phases {
            let place =
                |analysis: &Analysis| analysis.phases.iter().position(|it| it.name == phase.name);
            let counted = analyses.iter().zip(&answers).map(|(analysis, answer)| {
                let place = place(analysis)?;
                let mut grounds = answer.iter().flat_map(|it| &it.grounds);
                let ground = grounds.find(|ground| ground.phase == place)?;
                Some(ground.comparison.clone().into_owned())
            });
            let counted: Option<Vec<Comparison>> = counted.collect();
            // A phase that does not count in every answer is compared by its headline figure.
            let found: Vec<Option<Comparison>> = match counted {
                Some(counted) => counted.into_iter().map(Some).collect(),
                None => analyses
                    .iter()
                    .map(|analysis| analysis.phases[place(analysis)?].comparison.clone())
                    .collect(),
            };
            let found: Vec<Option<&Comparison>> = found.iter().map(Option::as_ref).collect();
            if !seen.insert(phase.name) {
                continue;
            }
            let is_measured = |subject: &usize| {
                let has_values = |comparison: &Option<&Comparison>| {
                    let entry = comparison.and_then(|it| it.entries.get(*subject));
                    entry.is_some_and(|entry| !entry.values.is_empty())
                };
                found.iter().all(has_values)
            };
            let measured: Vec<usize> = (0..self.subjects.len()).filter(is_measured).collect();
            let shares = self.shares(&measured, &found);
            self.effects.extend(shares.map(|shares| Effects {
                phase: Some(phase.name.to_owned()),
                shares,
            }));
        }
    }

    /// The shares of the variance of a figure over subjects and conditions.
    fn shares(
        &self,
        subjects: &[usize],
        comparisons: &[Option<&Comparison>],
    ) -> Option<Vec<VarianceShare>> {
        // A single level is no factor.
        let varied: Vec<usize> = std::iter::once(subjects.len())
            .chain(self.factors.iter().map(|factor| factor.levels.len()))
            .collect();
        let levels: Vec<usize> = varied
            .iter()
            .copied()
            .filter(|levels| *levels > 1)
            .collect();
        let cells = subjects.iter().flat_map(|subject| {
            comparisons.iter().map(move |comparison| {
                let comparison = (*comparison)?;
                let values = &comparison.entries.get(*subject)?.values;
                let sign = match comparison.metric.better {
                    Better::Lower => -1.0,
                    _ => 1.0,
                };
                Some(
                    values
                        .iter()
                        .map(|value| sign * value.ln())
                        .collect::<Vec<f64>>(),
                )
            })
        });
        let cells: Option<Vec<Vec<f64>>> = cells.collect();
        let mut shares = variance_shares(&levels, &cells?)?;
        let places: Vec<usize> = (0..varied.len()).filter(|it| varied[*it] > 1).collect();
        for share in &mut shares {
            share.factors = share.factors.iter().map(|it| places[*it]).collect();
        }
        Some(shares)
    }

    /// The subjects over all conditions, the most often first ones at the top.
    pub fn summaries(&self) -> Vec<SubjectSummary> {
        let of = |subject: usize| {
            let speeds = self.conditions.iter().enumerate();
            let speeds = speeds.filter_map(|(place, it)| Some((it.speeds[subject]?, place)));
            let speeds: Vec<(f64, usize)> = speeds.collect();
            let least = speeds.iter().min_by(|a, b| a.0.total_cmp(&b.0));
            let is_first = |it: &&ConditionResult| it.first.contains(&subject);
            SubjectSummary {
                subject,
                first_in: self.conditions.iter().filter(is_first).count(),
                takes_part_in: speeds.len(),
                regret: least.map(|(speed, place)| (1.0 - speed, *place)),
            }
        };
        let mut found: Vec<SubjectSummary> = (0..self.subjects.len()).map(of).collect();
        found.sort_by_key(|it| std::cmp::Reverse(it.first_in));
        found
    }

    /// What the disks say that are drawn within the uncertainty of one: `None` unless the disk is
    /// the only factor, its levels are one profile and draws of it, and all have an answer.
    pub fn model_band(&self) -> Option<ModelBand> {
        let [factor] = self.factors.as_slice() else {
            return None;
        };
        let (disk, draws) = factor.levels.split_first()?;
        let is_draw = |level: &String| {
            let rest = level.strip_prefix(disk.as_str());
            rest.is_some_and(|rest| rest.starts_with(DISK_DRAW))
        };
        if draws.is_empty() || !draws.iter().all(is_draw) || self.conditions.len() < self.planned {
            return None;
        }
        let stated = self.conditions.first()?;
        let subject = *stated.first.first()?;
        let lead = |condition: &ConditionResult| {
            let own = condition.speeds[subject]?;
            let others = condition.speeds.iter().enumerate();
            let others = others.filter(|(other, _)| *other != subject);
            let next = others
                .filter_map(|(_, speed)| *speed)
                .max_by(f64::total_cmp)?;
            Some(own / next)
        };
        let leads: Option<Vec<f64>> = self.conditions.iter().map(lead).collect();
        let leads = leads?;
        let is_first = |it: &&ConditionResult| it.first.contains(&subject);
        Some(ModelBand {
            disk: disk.clone(),
            draws: draws.len(),
            subject,
            first_in: self.conditions[1..].iter().filter(is_first).count(),
            stated_lead: leads[0],
            leads: (
                leads.iter().copied().fold(f64::INFINITY, f64::min),
                leads.iter().copied().fold(0.0, f64::max),
            ),
        })
    }

    /// The levels of a condition: "disk hdd, memory 2 GiB".
    pub fn condition_text(&self, condition: usize) -> String {
        let levels = self.conditions[condition].levels.iter().zip(&self.factors);
        let words =
            levels.map(|(level, factor)| format!("{} {}", factor.name, factor.levels[*level]));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The name of an effect: "disk", "file system x disk", "repeats".
    pub fn effect_text(&self, share: &VarianceShare) -> String {
        let name = |factor: &usize| match factor {
            0 => SUBJECT_FACTOR.to_owned(),
            factor => self.factors[factor - 1].name.clone(),
        };
        let names: Vec<String> = share.factors.iter().map(name).collect();
        match names.as_slice() {
            [] => "repeats".to_owned(),
            names => names.join(" \u{d7} "),
        }
    }
}

/// The condition of `run`: who is first is what its answer says.
fn condition(
    levels: &[usize],
    run: &RunRecord,
    answer: Option<&Recommendation>,
    subjects: usize,
) -> ConditionResult {
    let mut result = ConditionResult {
        run: run.header.run.clone(),
        levels: levels.to_vec(),
        first: Vec::new(),
        is_certain: false,
        speeds: vec![None; subjects],
    };
    let Some((answer, comparison)) = answer.and_then(|it| Some((it, it.comparison.as_ref()?)))
    else {
        return result;
    };
    for (subject, entry) in comparison.entries.iter().enumerate().take(subjects) {
        result.speeds[subject] = entry.to_best.map(|speed| speed.value);
    }
    (result.first, result.is_certain) = match &answer.choice {
        Choice::Take { subject, .. } | Choice::Depends { subject, .. } => (vec![*subject], true),
        Choice::Either { subjects, .. } => (subjects.clone(), true),
        Choice::Undecided(undecided) => (undecided.between.clone(), false),
        Choice::None(_) => (comparison.best.into_iter().collect(), false),
    };
    result
}
