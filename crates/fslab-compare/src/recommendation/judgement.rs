//! The judgement: which subject to take.

use fslab_model::{AnswerMeasure, AnswerSpec, RunRecord, StudyQuestion};
use fslab_stats::{Estimate, Verdict};

use super::dependence::{Dependence, Lead, Turn};
use super::shortfall::{Shortfall, shortfalls};
use crate::analysis::{Grounds, WeightedMeans};
use crate::{Analysis, Comparison, FirstPlace, Ground, Standing, TOLERANCE, WhyLeftOut};

/// The share of measurements beyond which disturbances keep a run from an answer.
pub const DISTURBED_MAX: f64 = 0.25;

/// What keeps a run from a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    /// The candidates between which it lies, the best figure first.
    pub between: Vec<usize>,
    /// The speed of the first relative to the one that is closest to it.
    pub closest: Option<Lead>,
    /// How many repeats of each would decide it in four of five cases; `None` if no number up to
    /// [`fslab_stats::REPEATS_MOST`] would, or if the repeats show no spread.
    pub repeats: Option<usize>,
}

/// Why no subject can be recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNone {
    /// Only one subject was measured.
    OneSubject,
    /// None was measured in full.
    NoCandidate,
    /// Only one was measured in full: there is nothing to compare it with.
    OneCandidate(usize),
    /// No phase was measured for all candidates.
    NoPhase,
    /// Repeats are too few for intervals.
    TooFewRepeats,
    /// More than [`DISTURBED_MAX`] of the measurements were disturbed, or too few were not.
    Disturbed,
}

/// Which subject to take.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One that is certainly better than every other candidate.
    Take {
        subject: usize,
        /// Its speed relative to each other candidate, the closest first.
        leads: Vec<Lead>,
    },
    /// Several whose differences are within the tolerance, and no other is.
    Either {
        /// The subjects, the best figure first.
        subjects: Vec<usize>,
        /// The speed of the first relative to each other candidate that is certainly behind, the
        /// closest first.
        leads: Vec<Lead>,
        /// The tolerance.
        within: f64,
    },
    /// One that is better than every other candidate by all phases, and is not without one of them.
    Depends {
        subject: usize,
        /// Its speed relative to each other candidate, the closest first.
        leads: Vec<Lead>,
        /// The phase without which another subject leads the most.
        on: Turn,
    },
    /// Not decided.
    Undecided(Undecided),
    /// There is nothing to decide by.
    None(WhyNone),
}

/// A subject that takes no part.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedOver {
    pub subject: usize,
    /// Why.
    pub shortfalls: Vec<Shortfall>,
    /// Its speed relative to the best candidate, over the phases that both have, and their number;
    /// `None` if it is not ahead.
    pub ahead: Option<(Estimate, usize)>,
}

/// The recommendation of a run.
#[derive(Clone, Debug)]
pub struct Recommendation<'p> {
    /// What is recommended.
    pub choice: Choice,
    /// The measure by which it is recommended.
    pub measure: AnswerMeasure,
    /// The phases that count and that all candidates have.
    pub grounds: Vec<Ground<'p>>,
    /// The indexes of phases that were measured, and whose figures do not count.
    pub left_out: Vec<(usize, WhyLeftOut)>,
    /// What it hangs on.
    pub dependence: Dependence,
    /// Disturbed measurements of the candidates, and all of them.
    pub disturbed: (usize, usize),
    /// The candidates, or the only subject, by the measure; `None` if no phase counts.
    pub comparison: Option<Comparison>,
    /// The subjects that take no part.
    pub passed_over: Vec<PassedOver>,
    /// True if times are virtual.
    pub is_virtual: bool,
    /// True if the figures are single exact points, whose sensitivity is not known.
    pub is_exact: bool,
}

/// The answer of `run` in a few words: "xfs", "ext4 or xfs", "depends on list", "not decided" or
/// "none"; `None` if there is no question to answer.
pub fn answer_in_words(run: &RunRecord) -> Option<String> {
    let analysis = Analysis::of(run);
    let answer = Recommendation::of(&analysis)?;
    let subjects: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    Some(match &answer.choice {
        Choice::Depends { on, .. } => format!("depends on {}", analysis.phases[on.phase].name),
        Choice::Undecided(_) => "not decided".to_owned(),
        Choice::None(WhyNone::OneSubject) => return None,
        Choice::None(_) => "none".to_owned(),
        Choice::Take { .. } | Choice::Either { .. } => {
            let chosen = answer.chosen().iter().map(|it| subjects[*it].clone());
            chosen.collect::<Vec<_>>().join(" or ")
        }
    })
}

impl<'p> Recommendation<'p> {
    /// The recommendation of a run; `None` if its study recommends nothing, or nothing was run.
    pub fn of(analysis: &'p Analysis) -> Option<Self> {
        let plan = &analysis.run.header.plan;
        let is_asked = plan.question.as_ref().is_none_or(StudyQuestion::has_answer);
        if !is_asked || analysis.run.trials.is_empty() {
            return None;
        }
        let default = AnswerSpec::default();
        let spec = plan.answer.as_ref().unwrap_or(&default);
        let weight = |name: &str| {
            let question = plan.question.as_ref();
            let counts = question.is_none_or(|question| question.counts(name));
            let in_score = match (spec.measure, &plan.score) {
                (AnswerMeasure::Score, Some(score)) => score.weight(name),
                _ => 1.0,
            };
            if counts {
                spec.weight(name) * in_score
            } else {
                0.0
            }
        };
        let found = Grounds::by_measure(&analysis.phases, spec.measure, |phase| weight(phase.name));
        let mut recommendation = Self {
            choice: Choice::None(WhyNone::OneSubject),
            measure: spec.measure,
            grounds: found.grounds,
            left_out: found.left_out,
            dependence: Dependence::default(),
            disturbed: (0, 0),
            comparison: None,
            passed_over: Vec::new(),
            is_virtual: plan.venue.kind().is_virtual(),
            is_exact: false,
        };
        let contenders = contenders(analysis);
        if contenders.len() > 1 {
            recommendation.judge(analysis, contenders);
        } else {
            let means = recommendation.means(analysis, &contenders);
            recommendation.comparison = means.map(|means| means.comparison);
        }
        Some(recommendation)
    }

    fn judge(&mut self, analysis: &Analysis, contenders: Vec<usize>) {
        let mut candidates = Vec::new();
        for subject in contenders {
            let shortfalls = shortfalls(analysis, &self.grounds, subject);
            if shortfalls.is_empty() {
                candidates.push(subject);
            } else {
                self.passed_over.push(PassedOver {
                    subject,
                    shortfalls,
                    ahead: None,
                });
            }
        }
        let means = self.means(analysis, &candidates);
        self.choice = match (candidates.as_slice(), &means) {
            ([], _) => Choice::None(WhyNone::NoCandidate),
            ([only], _) => Choice::None(WhyNone::OneCandidate(*only)),
            (_, None) => Choice::None(WhyNone::NoPhase),
            (_, Some(means)) => decide(&means.comparison),
        };
        let Some(means) = means else {
            return;
        };
        let best = means.comparison.best;
        for passed in &mut self.passed_over {
            passed.ahead =
                best.and_then(|best| ahead(analysis, &self.grounds, passed.subject, best));
        }
        self.is_exact = means.comparison.exact;
        if self.is_virtual {
            self.join_within_model();
        }
        self.disturbed = self.count_disturbed(analysis, &candidates);
        if self.disturbed.0 > 0 {
            self.weigh_disturbances(analysis, &candidates);
        }
        self.dependence = Dependence::of(
            analysis,
            &self.grounds,
            &candidates,
            &means,
            self.is_virtual,
        );
        self.hang_on_a_phase();
        let mut place = 0;
        self.grounds.retain(|_| {
            place += 1;
            means.places.contains(&(place - 1))
        });
        self.comparison = Some(means.comparison);
    }

    /// The candidates by the measure.
    fn means(&self, analysis: &Analysis, candidates: &[usize]) -> Option<WeightedMeans> {
        let means = WeightedMeans::of(&analysis.phases, &self.grounds, candidates)?;
        match (self.measure, &analysis.score) {
            (AnswerMeasure::Score, Some(score)) => Some(WeightedMeans {
                comparison: score.comparison.only(candidates, self.is_virtual),
                ..means
            }),
            _ => Some(means),
        }
    }

    /// In virtual time a certain lead within the tolerance is one of the model only: no profile of
    /// a disk is as exact.
    fn join_within_model(&mut self) {
        let is_near = |lead: &Lead| lead.speed.value < 1.0 + TOLERANCE;
        let Choice::Take { subject, leads } = &mut self.choice else {
            return;
        };
        if !leads.first().is_some_and(is_near) {
            return;
        }
        let (near, behind): (Vec<Lead>, Vec<Lead>) =
            std::mem::take(leads).into_iter().partition(is_near);
        let others = near.iter().map(|lead| lead.over);
        self.choice = Choice::Either {
            subjects: std::iter::once(*subject).chain(others).collect(),
            leads: behind,
            within: TOLERANCE,
        };
    }

    fn count_disturbed(&self, analysis: &Analysis, candidates: &[usize]) -> (usize, usize) {
        let pairs = self.grounds.iter().flat_map(|ground| {
            let phase = &analysis.phases[ground.phase];
            let entries = &ground.comparison.entries;
            candidates
                .iter()
                .map(move |it| (phase.disturbed(*it), entries[*it].values.len()))
        });
        pairs.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    }

    /// Takes an answer back that does not hold without the disturbed measurements, and extends its
    /// intervals to those without them.
    fn weigh_disturbances(&mut self, analysis: &Analysis, candidates: &[usize]) {
        let (disturbed, all) = self.disturbed;
        let is_decided = matches!(self.choice, Choice::Take { .. } | Choice::Either { .. });
        if !is_decided {
            return;
        }
        if disturbed as f64 > DISTURBED_MAX * all as f64 {
            self.choice = Choice::None(WhyNone::Disturbed);
            return;
        }
        let quiet = WeightedMeans::undisturbed(&analysis.phases, &self.grounds, candidates);
        let quiet = quiet.filter(|quiet| quiet.comparison.has_intervals());
        let holds = quiet.map(|quiet| (decide(&quiet.comparison), quiet));
        match (&mut self.choice, holds) {
            (
                Choice::Take { subject, leads },
                Some((Choice::Take { subject: same, .. }, quiet)),
            ) if *subject == same => {
                for lead in leads {
                    let other = quiet.comparison.speed(*subject, lead.over);
                    lead.speed = lead.speed.including(other);
                }
            }
            (Choice::Either { subjects, .. }, Some((Choice::Either { subjects: same, .. }, _)))
                if subjects.len() == same.len() && subjects.iter().all(|it| same.contains(it)) => {}
            (choice, _) => *choice = Choice::None(WhyNone::Disturbed),
        }
    }

    /// Says that the answer depends on a phase without which it turns.
    fn hang_on_a_phase(&mut self) {
        let Some(on) = self.dependence.turns.first().copied() else {
            return;
        };
        if let Choice::Take { subject, leads } = &mut self.choice {
            self.choice = Choice::Depends {
                subject: *subject,
                leads: std::mem::take(leads),
                on,
            };
        }
    }

    /// The recommended subjects, the best figure first; none without a decision.
    pub fn chosen(&self) -> &[usize] {
        match &self.choice {
            Choice::Take { subject, .. } => std::slice::from_ref(subject),
            Choice::Either { subjects, .. } => subjects,
            Choice::Depends { .. } | Choice::Undecided(_) | Choice::None(_) => &[],
        }
    }

    /// The grounds in which `subject` is certainly and by more than the tolerance behind another
    /// candidate: the best of these, with its speed relative to `subject`. The worst first.
    pub fn drawbacks(&self, subject: usize) -> Vec<(&Ground<'p>, Lead)> {
        let passed = |other: usize| self.passed_over.iter().any(|it| it.subject == other);
        let worst = |ground: &Ground| {
            let others = (0..ground.comparison.entries.len()).filter(|other| !passed(*other));
            let ahead = others.filter_map(|other| {
                let slower = ground.comparison.verdict(subject, other) == Verdict::Slower;
                let speed = ground.comparison.speed(other, subject)?;
                let matters = speed.value > 1.0 + TOLERANCE;
                (slower && matters).then_some(Lead { over: other, speed })
            });
            ahead.max_by(|a, b| a.speed.value.total_cmp(&b.speed.value))
        };
        let found = self.grounds.iter();
        let mut found: Vec<_> = found
            .filter_map(|ground| Some((ground, worst(ground)?)))
            .collect();
        found.sort_by(|a, b| b.1.speed.value.total_cmp(&a.1.speed.value));
        found
    }
}

/// The subjects that are compared: the fresh ones, unless all have stages. An aged subject is a
/// state, not a choice.
fn contenders(analysis: &Analysis) -> Vec<usize> {
    let fresh: Vec<usize> = analysis
        .subjects()
        .enumerate()
        .filter(|(_, subject)| subject.stages().is_empty())
        .map(|(place, _)| place)
        .collect();
    match fresh.as_slice() {
        [] => (0..analysis.subjects().len()).collect(),
        _ => fresh,
    }
}

/// By how much `subject` is ahead of `best`, over the phases that both have.
fn ahead(
    analysis: &Analysis,
    grounds: &[Ground],
    subject: usize,
    best: usize,
) -> Option<(Estimate, usize)> {
    let means = WeightedMeans::of(&analysis.phases, grounds, &[subject, best])?;
    let speed = means.comparison.speed(subject, best)?;
    (speed.value > 1.0).then_some((speed, means.places.len()))
}

fn decide(comparison: &Comparison) -> Choice {
    if !comparison.has_intervals() {
        return Choice::None(WhyNone::TooFewRepeats);
    }
    let leads = |subject: usize, others: &mut dyn Iterator<Item = usize>| {
        let lead = |over| {
            comparison
                .speed(subject, over)
                .map(|speed| Lead { over, speed })
        };
        let mut leads: Vec<Lead> = others.filter_map(lead).collect();
        leads.sort_by(|a, b| a.speed.value.total_cmp(&b.speed.value));
        leads
    };
    let order = comparison.order();
    if let Some(subject) = comparison.winner() {
        let mut others = order.iter().copied().filter(|other| *other != subject);
        return Choice::Take {
            subject,
            leads: leads(subject, &mut others),
        };
    }
    let best = order.first().copied();
    match (comparison.first_place(), best) {
        (FirstPlace::Same(subjects), Some(best)) => Choice::Either {
            leads: leads(best, &mut comparison.with(Standing::Behind)),
            within: match comparison.exact {
                true => crate::EXACT_TOLERANCE,
                false => TOLERANCE,
            },
            subjects: best_first(&order, &subjects),
        },
        (FirstPlace::Undecided(subjects), Some(best)) => {
            let mut open = comparison
                .with(Standing::Undecided)
                .filter(|other| *other != best);
            // A difference is tested among all candidates, see `correct`.
            let family = (comparison.testable().len() + 1).div_ceil(2);
            Choice::Undecided(Undecided {
                closest: leads(best, &mut open).into_iter().next(),
                repeats: comparison.repeats_to_decide(family),
                between: best_first(&order, &subjects),
            })
        }
        _ => Choice::None(WhyNone::TooFewRepeats),
    }
}

/// Those of `subjects`, in this order.
fn best_first(order: &[usize], subjects: &[usize]) -> Vec<usize> {
    let is_one = |subject: &usize| subjects.contains(subject);
    order.iter().copied().filter(is_one).collect()
}
