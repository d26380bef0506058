//! The judgement: which subject to take.

use fslab_model::StudyQuestion;
use fslab_stats::{Estimate, Verdict};

use super::shortfall::{Shortfall, shortfalls};
use crate::analysis::WeightedMeans;
use crate::{Analysis, Comparison, FirstPlace, Ground, Standing, TOLERANCE};

/// The speed of the chosen subject relative to another candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lead {
    /// The other subject.
    pub over: usize,
    /// The speed: above 1, the chosen one is better.
    pub speed: Estimate,
}

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
    /// The phases that count and that all candidates have.
    pub grounds: Vec<Ground<'p>>,
    /// The subjects that take no part.
    pub passed_over: Vec<PassedOver>,
    /// True if times are virtual.
    pub is_virtual: bool,
    /// True if the figures are single exact points, whose sensitivity is not known.
    pub is_exact: bool,
}

impl<'p> Recommendation<'p> {
    /// The recommendation of a run; `None` if its study recommends nothing, or nothing was run.
    pub fn of(analysis: &'p Analysis) -> Option<Self> {
        let plan = &analysis.run.header.plan;
        let is_asked = plan.question.as_ref().is_none_or(StudyQuestion::has_answer);
        if !is_asked || analysis.run.trials.is_empty() {
            return None;
        }
        let mut recommendation = Self {
            choice: Choice::None(WhyNone::OneSubject),
            grounds: Ground::of(&analysis.phases, |phase| {
                let question = plan.question.as_ref();
                question.is_none_or(|question| question.counts(phase.name))
            }),
            passed_over: Vec::new(),
            is_virtual: plan.venue.kind().is_virtual(),
            is_exact: false,
        };
        let contenders = contenders(analysis);
        if contenders.len() > 1 {
            recommendation.judge(analysis, contenders);
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
        let means = WeightedMeans::of(&analysis.phases, &self.grounds, &candidates);
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
        let mut place = 0;
        self.grounds.retain(|_| {
            place += 1;
            means.places.contains(&(place - 1))
        });
    }

    /// The recommended subjects, the best figure first; none without a decision.
    pub fn chosen(&self) -> &[usize] {
        match &self.choice {
            Choice::Take { subject, .. } => std::slice::from_ref(subject),
            Choice::Either { subjects, .. } => subjects,
            Choice::Undecided(_) | Choice::None(_) => &[],
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
