//! A metric along one dimension of a sweep.

use fslab_model::{MetricDefinition, PointValue};
use fslab_stats::{Summary, centre};

use super::PhaseAnalysis;

/// The values of one subject where a sweep has `value`: geometric mean, smallest and largest.
pub type Spread = [f64; 3];

/// The metric of each subject at `points`, which differ in dimensions that are not drawn: the
/// geometric mean over the points that all subjects with any value have.
pub fn spread_over(
    points: &[&PhaseAnalysis],
    metric: &MetricDefinition,
    subjects: usize,
) -> Vec<Option<Spread>> {
    let at = |subject: usize, point: &&PhaseAnalysis| {
        let values = point.cells.get(subject)?.values(metric);
        let summary = Summary::of(&values)?;
        Some([centre(&values)?, summary.min, summary.max])
    };
    let table: Vec<Vec<Option<Spread>>> = (0..subjects)
        .map(|subject| points.iter().map(|point| at(subject, point)).collect())
        .collect();
    if points.len() == 1 {
        return table.into_iter().map(|row| row[0]).collect();
    }
    let present = |row: &&Vec<Option<Spread>>| row.iter().any(Option::is_some);
    let shared: Vec<usize> = (0..points.len())
        .filter(|place| {
            table
                .iter()
                .filter(present)
                .all(|row| row[*place].is_some())
        })
        .collect();
    let mean = |row: &Vec<Option<Spread>>| {
        let values: Vec<Spread> = shared.iter().filter_map(|place| row[*place]).collect();
        let positive = values.iter().all(|[_, low, _]| *low > 0.0);
        (!values.is_empty() && positive).then(|| {
            let part = |part: usize| {
                let sum: f64 = values.iter().map(|value| value[part].ln()).sum();
                (sum / values.len() as f64).exp()
            };
            [part(0), part(1), part(2)]
        })
    };
    table.iter().map(mean).collect()
}

/// The points of each value of `dimension`, sorted by value.
pub fn by_value<'p, 'a>(
    points: &[&'p PhaseAnalysis<'a>],
    dimension: &str,
) -> Vec<(PointValue, Vec<&'p PhaseAnalysis<'a>>)> {
    let mut found: Vec<(PointValue, Vec<&PhaseAnalysis>)> = Vec::new();
    for phase in points {
        let Some(value) = phase.point.and_then(|point| point.get(dimension)) else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| known == value) {
            Some((_, phases)) => phases.push(phase),
            None => found.push((*value, vec![phase])),
        }
    }
    found.sort_by_key(|(value, _)| *value);
    found
}
