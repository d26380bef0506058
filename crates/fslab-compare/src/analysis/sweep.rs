//! Sweeps: a phase at many points, and the figures that summarise them.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::definitions::{DURABLE_THROUGHPUT, ELAPSED, TOTAL};
use fslab_model::{Headline, Metric, MetricDefinition, Point, PointValue, Round};

use super::rounds::RepeatRound;
use super::{PhaseAnalysis, PhaseCell, Repeat, RepeatState};

/// A subject with less than 1/`FEW_POINTS` of the points that the most complete one has is left out
/// of the summary, so that its few points do not limit the others.
const FEW_POINTS: usize = 2;

/// One dimension of a sweep with its values, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepDimension<'a> {
    /// Its name, such as `file_size`.
    pub name: &'a str,
    /// At least one.
    pub values: Vec<PointValue>,
}

/// The points of a phase.
#[derive(Clone, Debug)]
pub struct SweepAnalysis<'a> {
    /// The dimensions; the one with the most values first.
    pub dimensions: Vec<SweepDimension<'a>>,
    /// The points in the order of the study, each as a phase.
    pub points: Vec<PhaseAnalysis<'a>>,
    /// The number of points in the geometric mean of the headline figure.
    pub shared: usize,
}

impl<'a> SweepAnalysis<'a> {
    fn of(points: Vec<PhaseAnalysis<'a>>) -> Self {
        let mut values: BTreeMap<&'a str, BTreeSet<PointValue>> = BTreeMap::new();
        for (name, value) in points.iter().filter_map(|phase| phase.point).flatten() {
            values.entry(name).or_default().insert(*value);
        }
        let mut dimensions: Vec<SweepDimension> = values
            .into_iter()
            .map(|(name, values)| SweepDimension {
                name,
                values: values.into_iter().collect(),
            })
            .collect();
        // The sort is stable: of dimensions with as many values, the first by name leads.
        dimensions.sort_by_key(|dimension| std::cmp::Reverse(dimension.values.len()));
        Self {
            dimensions,
            points,
            shared: 0,
        }
    }

    /// The indexes of the points at which every complete subject has the metric.
    fn shared(&self, metric: &MetricDefinition) -> Vec<usize> {
        let subjects = self.points.first().map_or(0, |point| point.cells.len());
        let has = |place: usize, subject: usize| {
            let cell = self.points[place].cells.get(subject);
            cell.is_some_and(|cell| !cell.values(metric).is_empty())
        };
        let count = |subject: usize| {
            let places = 0..self.points.len();
            places.filter(|place| has(*place, subject)).count()
        };
        let counts: Vec<usize> = (0..subjects).map(count).collect();
        let most = counts.iter().max().copied().unwrap_or_default();
        let weighty: Vec<usize> = (0..subjects)
            .filter(|subject| counts[*subject] * FEW_POINTS >= most.max(1))
            .collect();
        (0..self.points.len())
            .filter(|place| !weighty.is_empty() && weighty.iter().all(|s| has(*place, *s)))
            .collect()
    }

    /// The geometric mean of a metric over `places`, for one repeat of a subject or one of its
    /// rounds; `None` if it lacks one of them.
    fn mean(
        &self,
        metric: &MetricDefinition,
        places: &[usize],
        (subject, repeat, round): (usize, u32, Option<Round>),
    ) -> Option<f64> {
        let value = |place: &usize| {
            let repeats = &self.points[*place].cells.get(subject)?.repeats;
            let found = repeats.iter().find(|found| found.repeat == repeat)?;
            let value = match round {
                None => found.value(metric),
                Some(round) => {
                    let found = found.rounds.iter().find(|found| found.round == round)?;
                    found.value(metric)
                }
            };
            value.filter(|value| *value > 0.0)
        };
        let logarithms = places
            .iter()
            .map(|place| value(place).map(f64::ln))
            .collect::<Option<Vec<f64>>>()?;
        (!places.is_empty()).then(|| (logarithms.iter().sum::<f64>() / places.len() as f64).exp())
    }
}

/// Joins the points of a phase, which have one name in the study.
pub(super) fn join<'a>(name: &'a str, points: Vec<PhaseAnalysis<'a>>) -> Option<PhaseAnalysis<'a>> {
    let headline = points.iter().find_map(|point| point.comparison.as_ref());
    let headline = headline.map(|comparison| comparison.metric);
    let mut sweep = SweepAnalysis::of(points);
    let known_by = headline.unwrap_or(Headline::Throughput.metric());
    let metrics = [known_by, &DURABLE_THROUGHPUT, &ELAPSED, &TOTAL];
    let shared = metrics.map(|metric| (metric, sweep.shared(metric)));
    sweep.shared = shared[0].1.len();
    let first = sweep.points.first()?;
    let cells = (0..first.cells.len()).map(|subject| PhaseCell {
        repeats: first.cells[subject]
            .repeats
            .iter()
            .map(|repeat| summary(&sweep, &shared, subject, repeat))
            .collect(),
    });
    let mut phase = PhaseAnalysis {
        name,
        workload: first.workload,
        cache: first.cache,
        parameters: first.parameters,
        kind: sweep.points.iter().find_map(|point| point.kind),
        cells: cells.collect(),
        comparison: None,
        is_virtual: first.is_virtual,
        is_perturbed: first.is_perturbed,
        disk_cache: first.disk_cache,
        point: None,
        sweep: None,
    };
    phase.comparison = headline.map(|metric| phase.compare(metric));
    phase.sweep = Some(sweep);
    Some(phase)
}

fn summary<'a>(
    sweep: &SweepAnalysis<'a>,
    shared: &[(&'static MetricDefinition, Vec<usize>)],
    subject: usize,
    of: &Repeat<'a>,
) -> Repeat<'a> {
    let repeats = sweep.points.iter().filter_map(|point| {
        let repeats = &point.cells.get(subject)?.repeats;
        repeats.iter().find(|repeat| repeat.repeat == of.repeat)
    });
    let repeats: Vec<&Repeat> = repeats.collect();
    let states: Vec<&RepeatState> = repeats.iter().map(|repeat| &repeat.state).collect();
    let is_done = |state: &&&RepeatState| matches!(state, RepeatState::Done(_));
    let metrics = |round: Option<Round>| -> Vec<Metric> {
        let mean = |(definition, places): &(&'static MetricDefinition, Vec<usize>)| {
            let value = sweep.mean(definition, places, (subject, of.repeat, round))?;
            Some(Metric { definition, value })
        };
        shared.iter().filter_map(mean).collect()
    };
    let rounds = repeats.iter().flat_map(|repeat| &repeat.rounds);
    let rounds: BTreeSet<Round> = rounds.map(|round| round.round).collect();
    let state = match states.iter().filter(is_done).count() {
        // Without measurements, the first point has the reason.
        0 => states.first().map_or(RepeatState::NotRun, |state| **state),
        done => RepeatState::Points {
            done,
            planned: sweep.points.len(),
        },
    };
    Repeat {
        repeat: of.repeat,
        trial: of.trial,
        state,
        metrics: metrics(None),
        rounds: rounds
            .into_iter()
            .map(|round| RepeatRound {
                round,
                record: None,
                metrics: metrics(Some(round)),
            })
            .collect(),
    }
}

/// A point as text: `64 KiB, 8 KiB` in the order of `dimensions`.
pub fn point_in_words(point: &Point, dimensions: &[SweepDimension]) -> String {
    let values = dimensions.iter().filter_map(|d| point.get(d.name));
    let values: Vec<String> = values.map(ToString::to_string).collect();
    values.join(", ")
}
