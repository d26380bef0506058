//! How rates grow with the number of ranks, over runs of one study that differ in it.

use fslab_model::definitions::{LATENCY_P50, LATENCY_P99, START_SKEW};
use fslab_model::{Better, MetricDefinition, RunRecord, Subject};
use fslab_stats::Estimate;

use crate::{Analysis, PhaseAnalysis};

/// The rates of each subject and phase by the number of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// By subject, then in the order of the phases.
    pub rows: Vec<ScalingRow>,
}

/// One phase of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingRow {
    pub subject: Subject,
    pub phase: String,
    /// Its headline metric, a rate.
    pub metric: &'static MetricDefinition,
    /// By the number of ranks, at least two.
    pub points: Vec<ScalingPoint>,
}

/// Rows that one picture shows: a phase, with files and directories that are shared and that are
/// not.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingPicture<'a> {
    /// What the phases do, without how they share: `create`.
    pub name: &'a str,
    /// The rows, in their order.
    pub rows: Vec<&'a ScalingRow>,
}

/// Beginnings of the names of phases that say what is shared.
const SHARING: [&str; 4] = ["own-", "file-each-", "shared-", "interleaved-"];

impl ScalingRow {
    /// What the phase does, without how its ranks share.
    pub fn activity(&self) -> &str {
        let mut rests = SHARING.iter().filter_map(|it| self.phase.strip_prefix(it));
        rests.next().unwrap_or(&self.phase)
    }

    /// The rate with so many `ranks` if each rank were as fast as with the fewest.
    pub fn ideal(&self, ranks: u32) -> Option<f64> {
        let fewest = self.points.first()?;
        Some(fewest.rate.value / f64::from(fewest.ranks) * f64::from(ranks))
    }
}

/// The figures with one number of ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingPoint {
    /// The number of ranks.
    pub ranks: u32,
    /// The rate of all ranks together.
    pub rate: Estimate,
    /// The smallest and the largest of the repeats.
    pub spread: [f64; 2],
    /// The rate of a rank, as a share of that with the fewest ranks.
    pub efficiency: f64,
    /// Median latency of its operations in nanoseconds.
    pub latency_p50_ns: Option<f64>,
    /// 99th percentile of it.
    pub latency_p99_ns: Option<f64>,
    /// From the start of the first rank to that of the last, in nanoseconds.
    pub start_skew_ns: Option<f64>,
}

impl Scaling {
    /// The pictures of all rows, in the order of their phases.
    pub fn pictures(&self) -> Vec<ScalingPicture<'_>> {
        let mut pictures: Vec<ScalingPicture> = Vec::new();
        for row in &self.rows {
            let is_its = |it: &&mut ScalingPicture| {
                it.name == row.activity() && it.rows[0].metric.name == row.metric.name
            };
            match pictures.iter_mut().find(is_its) {
                Some(picture) => picture.rows.push(row),
                None => pictures.push(ScalingPicture {
                    name: row.activity(),
                    rows: vec![row],
                }),
            }
        }
        pictures
    }

    /// `None` unless `runs` are of one study and each has another number of ranks.
    pub fn of(runs: &[RunRecord]) -> Option<Self> {
        if runs.len() < 2 || !differ_in_ranks(runs) {
            return None;
        }
        let mut runs: Vec<&RunRecord> = runs.iter().collect();
        runs.sort_by_key(|run| run.header.plan.ranks);
        let analyses: Vec<Analysis> = runs.iter().map(|run| Analysis::uncorrected(run)).collect();
        let first = &analyses[0];
        let mut rows = Vec::new();
        for subject in first.subjects() {
            for phase in first.runs() {
                let found = analyses.iter().filter_map(|it| point(it, subject, phase));
                let mut points: Vec<ScalingPoint> = found.collect();
                let Some(metric) = rate_of(phase).filter(|_| points.len() > 1) else {
                    continue;
                };
                let of_rank = |it: &ScalingPoint| it.rate.value / f64::from(it.ranks);
                let fewest = of_rank(&points[0]);
                for point in &mut points {
                    point.efficiency = of_rank(point) / fewest;
                }
                rows.push(ScalingRow {
                    subject: subject.clone(),
                    phase: phase.name.to_owned(),
                    metric,
                    points,
                });
            }
        }
        (!rows.is_empty()).then_some(Self { rows })
    }
}

/// True if `runs` are of one study, and no two have the same number of ranks.
pub(crate) fn differ_in_ranks(runs: &[RunRecord]) -> bool {
    let plans = runs.iter().map(|run| &run.header.plan);
    let mut counts: Vec<u32> = plans.clone().map(|plan| plan.ranks).collect();
    counts.sort_unstable();
    let is_distinct = counts.windows(2).all(|pair| pair[0] != pair[1]);
    let studies: Vec<&String> = plans.map(|plan| &plan.study).collect();
    is_distinct && studies.windows(2).all(|pair| pair[0] == pair[1])
}

/// The headline metric of a phase, if it is a rate.
fn rate_of(phase: &PhaseAnalysis) -> Option<&'static MetricDefinition> {
    let metric = phase.comparison.as_ref()?.metric;
    (metric.better == Better::Higher).then_some(metric)
}

/// The figures of `subject` in the phase of `analysis` that is defined as `phase`.
fn point(analysis: &Analysis, subject: &Subject, phase: &PhaseAnalysis) -> Option<ScalingPoint> {
    let place = analysis.subjects().position(|it| it == subject)?;
    let is_alike = |it: &&PhaseAnalysis| it.name == phase.name && it.parameters == phase.parameters;
    let found = analysis.runs().find(is_alike)?;
    let entry = &found.comparison.as_ref()?.entries[place];
    let rate = entry.location?;
    let values = entry.values.iter().copied();
    let spread = [
        values.clone().fold(rate.value, f64::min),
        values.fold(rate.value, f64::max),
    ];
    let mean = |metric| found.compare(metric).entries[place].mean();
    Some(ScalingPoint {
        ranks: analysis.run.header.plan.ranks,
        rate,
        spread,
        efficiency: 1.0,
        latency_p50_ns: mean(&LATENCY_P50),
        latency_p99_ns: mean(&LATENCY_P99),
        start_skew_ns: mean(&START_SKEW),
    })
}
