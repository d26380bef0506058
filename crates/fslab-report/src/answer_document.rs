//! The answer of a run as data, for JSON.

use fslab_compare::{Analysis, Choice, Recommendation, WhyLeftOut};
use fslab_stats::Estimate;
use serde::Serialize;

use crate::recommendation::{Reservations, answer};

/// The answer of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerDocument {
    /// Null if the study states none.
    pub question: Option<String>,
    /// The answer, in sentences.
    pub text: String,
    /// `take`, `either`, `depends`, `undecided` or `none`.
    pub choice: &'static str,
    /// The subjects that it is about, the best first.
    pub subjects: Vec<String>,
    /// `time`, `durable-rate`, `rate` or `score`.
    pub measure: &'static str,
    /// The phases that count, with their weights.
    pub phases: Vec<CountedPhase>,
    /// Phases that were measured and do not count.
    pub left_out: Vec<LeftOutPhase>,
    /// Who is first, as a share of random weightings of the phases.
    pub first_by_weighting: Vec<FirstShare>,
    /// The phases without which another subject is first.
    pub turns: Vec<TurningPhase>,
    /// The share of each phase at which another subject becomes first, the nearest first.
    pub thresholds: Vec<ThresholdShare>,
    /// Disturbed measurements of the candidates.
    pub disturbed: usize,
    /// All of them.
    pub measurements: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountedPhase {
    pub phase: String,
    pub weight: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOutPhase {
    pub phase: String,
    /// `page-cache` or `little-work`.
    pub why: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstShare {
    pub subject: String,
    pub share: f64,
}

/// A phase without which `then` is `speed` times as fast as the subject that is first with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurningPhase {
    pub phase: String,
    pub then: String,
    pub speed: f64,
    /// The ends of its 95 % interval; null without one.
    pub interval: Option<[f64; 2]>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdShare {
    pub phase: String,
    pub own: f64,
    pub at: f64,
    pub then: String,
}

impl AnswerDocument {
    /// The answer that a run gives; `None` if its study recommends nothing, or nothing was run.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        let recommendation = Recommendation::of(analysis)?;
        let words = answer(analysis, &Reservations::new())?;
        let subjects: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
        let subject = |place: usize| subjects[place].clone();
        let phase = |place: usize| analysis.phases[place].name.to_owned();
        let (choice, about) = match &recommendation.choice {
            Choice::Take { subject, .. } => ("take", vec![*subject]),
            Choice::Either { subjects, .. } => ("either", subjects.clone()),
            Choice::Depends { subject, on, .. } => ("depends", vec![*subject, on.then]),
            Choice::Undecided(undecided) => ("undecided", undecided.between.clone()),
            Choice::None(_) => ("none", Vec::new()),
        };
        let dependence = &recommendation.dependence;
        let ends = |speed: Estimate| speed.interval.map(|it| [it.low, it.high]);
        Some(Self {
            question: words.question,
            text: words.text,
            choice,
            subjects: about.into_iter().map(subject).collect(),
            measure: recommendation.measure.as_str(),
            phases: recommendation
                .grounds
                .iter()
                .map(|ground| CountedPhase {
                    phase: phase(ground.phase),
                    weight: ground.weight,
                })
                .collect(),
            left_out: recommendation
                .left_out
                .iter()
                .map(|(place, why)| LeftOutPhase {
                    phase: phase(*place),
                    why: match why {
                        WhyLeftOut::PageCache => "page-cache",
                        WhyLeftOut::LittleWork => "little-work",
                    },
                })
                .collect(),
            first_by_weighting: dependence
                .first
                .iter()
                .map(|(place, share)| FirstShare {
                    subject: subject(*place),
                    share: *share,
                })
                .collect(),
            turns: dependence
                .turns
                .iter()
                .map(|turn| TurningPhase {
                    phase: phase(turn.phase),
                    then: subject(turn.then),
                    speed: turn.lead.speed.value,
                    interval: ends(turn.lead.speed),
                })
                .collect(),
            thresholds: dependence
                .thresholds
                .iter()
                .map(|threshold| ThresholdShare {
                    phase: phase(threshold.phase),
                    own: threshold.own,
                    at: threshold.at,
                    then: subject(threshold.then),
                })
                .collect(),
            disturbed: recommendation.disturbed.0,
            measurements: recommendation.disturbed.1,
        })
    }
}
