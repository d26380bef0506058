//! The score of each subject, if the study has one.

use fslab_model::{Better, MetricDefinition, PhaseRecord, ScorePart, ScoreSpec, Unit};
use fslab_stats::{Estimate, location};

use super::{Comparison, PhaseAnalysis, RepeatState};

/// Not a metric of any record: its unit is that of the study's formula.
static SCORE: MetricDefinition = MetricDefinition {
    name: "Score",
    unit: Unit::Ratio,
    better: Better::Higher,
    title: "the score of a study",
};

/// The scores of the subjects.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreAnalysis<'a> {
    /// The study's definition.
    pub spec: &'a ScoreSpec,
    /// Each part, by subject: the geometric mean over its repeats; `None` without the figures.
    pub parts: Vec<Vec<Option<Estimate>>>,
    /// The scores of all repeats.
    pub comparison: Comparison,
    /// The phase of the spec's `timed` that took the least time, by subject, with that time in
    /// seconds, if it was too short.
    pub too_short: Vec<Option<(&'a str, f64)>>,
}

impl<'a> ScoreAnalysis<'a> {
    /// The scores of `subjects` subjects by `spec`.
    pub(super) fn of(spec: &'a ScoreSpec, phases: &[PhaseAnalysis<'a>], subjects: usize) -> Self {
        let all = |value: &dyn Fn(Repeated<'_, 'a>) -> Option<f64>| -> Vec<Vec<f64>> {
            let values = |subject| {
                let repeats = repeats(phases, subject);
                let of = |repeat| {
                    value(Repeated {
                        phases,
                        subject,
                        repeat,
                    })
                };
                (0..repeats).filter_map(of).collect()
            };
            (0..subjects).map(values).collect()
        };
        let of_part = |part: &ScorePart| -> Vec<Option<Estimate>> {
            let samples = all(&|it| it.part(part));
            samples.iter().map(|sample| location(sample)).collect()
        };
        let parts = spec.parts.iter().map(of_part).collect();
        let is_virtual = phases.iter().any(|phase| phase.is_virtual);
        let comparison = Comparison::timed(&SCORE, all(&|it| it.score(spec)), is_virtual);
        let too_short = (0..subjects)
            .map(|it| too_short(spec, phases, it))
            .collect();
        Self {
            spec,
            parts,
            comparison,
            too_short,
        }
    }
}

/// A repeat of a subject.
#[derive(Clone, Copy)]
struct Repeated<'p, 'a> {
    phases: &'p [PhaseAnalysis<'a>],
    subject: usize,
    repeat: usize,
}

impl<'a> Repeated<'_, 'a> {
    fn score(self, spec: &ScoreSpec) -> Option<f64> {
        geometric_mean(spec.parts.iter().map(|part| self.part(part)))
    }

    fn part(self, part: &ScorePart) -> Option<f64> {
        geometric_mean(part.phases.iter().map(|rate| {
            let records = rate.names().iter().map(|name| self.record(name));
            part.unit.rate_of(&records.collect::<Option<Vec<_>>>()?)
        }))
    }

    fn record(self, name: &str) -> Option<&'a PhaseRecord> {
        let phase = self.phases.iter().find(|phase| phase.name == name)?;
        match phase
            .cells
            .get(self.subject)?
            .repeats
            .get(self.repeat)?
            .state
        {
            RepeatState::Done(record) => Some(record),
            _ => None,
        }
    }
}

fn repeats(phases: &[PhaseAnalysis<'_>], subject: usize) -> usize {
    let of_phase = |phase: &PhaseAnalysis<'_>| phase.cells.get(subject).map(|it| it.repeats.len());
    phases.iter().filter_map(of_phase).max().unwrap_or(0)
}

/// `None` if there are no values, or one is missing or not positive.
fn geometric_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    location(&values).map(|mean| mean.value)
}

fn too_short<'a>(
    spec: &'a ScoreSpec,
    phases: &[PhaseAnalysis<'a>],
    subject: usize,
) -> Option<(&'a str, f64)> {
    let times = spec.timed.iter().flat_map(|name| {
        let of = move |repeat| {
            Repeated {
                phases,
                subject,
                repeat,
            }
            .record(name)
        };
        let records = (0..repeats(phases, subject)).filter_map(of);
        records.filter_map(|it| Some((name.as_str(), it.elapsed_ns? as f64 / 1e9)))
    });
    let shortest = times.min_by(|one, other| one.1.total_cmp(&other.1));
    shortest.filter(|(_, seconds)| *seconds < f64::from(spec.at_least_s))
}
