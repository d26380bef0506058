//! Anomalies in the repeats of a phase and a subject; values are reported, never dropped.

use std::collections::BTreeMap;

use fslab_stats::{Drift, Modes, Outlier, WarmUp};
use fslab_stats::{benjamini_hochberg, drift, location, modes, outliers, quantile, warm_up};

use super::PhaseAnalysis;

/// The largest corrected p-value of a reported anomaly: of a hundred, one is expected to be false.
/// There are four kinds, and frequent false warnings are not read.
const ODD: f64 = 0.01;

/// A kind of anomaly.
#[derive(Clone, Debug, PartialEq)]
pub enum Anomaly {
    /// Values far from all others; the indexes are those of [`DetectedAnomaly::repeats`].
    Outliers(Vec<Outlier>),
    /// Values in two groups.
    TwoModes(Modes),
    /// Values that rise or fall in the order of the trials.
    Drift(Drift),
    /// A first trial that differs from the others.
    WarmUp(WarmUp),
}

/// An anomaly and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectedAnomaly {
    /// The phase's index in the run; `None` for the complete run.
    pub phase: Option<usize>,
    /// The subject; `None` for the complete run.
    pub subject: Option<usize>,
    pub anomaly: Anomaly,
    /// The p-value, corrected for all samples tested for this kind.
    pub p_corrected: f64,
    /// The repeats in the order in which they ran; an anomaly's indexes are those of this list.
    pub repeats: Vec<u32>,
}

/// The anomalies of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// In the order of phases and subjects; those of the complete run come first.
    pub findings: Vec<DetectedAnomaly>,
    /// The number of samples large enough for any test.
    pub samples: usize,
}

/// The values of a phase and a subject in the order of the trials.
struct Sample {
    phase: usize,
    subject: usize,
    repeats: Vec<u32>,
    values: Vec<f64>,
    /// The position of each trial in the run.
    positions: Vec<u32>,
    /// True for virtual time, which does not depend on the order of trials.
    is_virtual: bool,
}

impl Diagnosis {
    pub(super) fn of(phases: &[PhaseAnalysis]) -> Self {
        let samples: Vec<Sample> = samples(phases);
        let two_modes = tested(&samples, |it| {
            modes(&it.values).map(|found| (found.p_value, found))
        });
        let warm_ups = tested(&samples, |it| {
            let found = warm_up(&it.values).filter(|_| !it.is_virtual)?;
            Some((found.p_value, found))
        });
        let drifts = tested(&samples, |it| {
            let found = drift(&it.values).filter(|_| !it.is_virtual)?;
            Some((found.p_value, found))
        });
        let apart = tested(&samples, |it| {
            outliers(&it.values).map(|found| (found.p_value, found.found))
        });
        let mut findings: Vec<DetectedAnomaly> = run_drift(&samples).into_iter().collect();
        let mut looked_at = 0;
        let each = samples
            .into_iter()
            .zip(two_modes)
            .zip(warm_ups)
            .zip(drifts)
            .zip(apart);
        for ((((sample, modes), warm_up), drift), apart) in each {
            let all = [
                modes.is_some(),
                warm_up.is_some(),
                drift.is_some(),
                apart.is_some(),
            ];
            looked_at += usize::from(all.contains(&true));
            let modes = certain(modes).map(|(p, it)| (p, Anomaly::TwoModes(it)));
            let warm_up = certain(warm_up).map(|(p, it)| (p, Anomaly::WarmUp(it)));
            let drift = certain(drift).map(|(p, it)| (p, Anomaly::Drift(it)));
            // A group or a first trial that was already reported is not reported again.
            let is_reported = |found: &[Outlier]| {
                let first_alone = matches!(found, [only] if only.index == 0);
                modes.is_some() || (warm_up.is_some() && first_alone)
            };
            let apart = certain(apart)
                .filter(|(_, found)| !is_reported(found))
                .map(|(p, it)| (p, Anomaly::Outliers(it)));
            let found = [apart, modes, drift, warm_up].into_iter().flatten();
            findings.extend(found.map(|(p_corrected, anomaly)| DetectedAnomaly {
                phase: Some(sample.phase),
                subject: Some(sample.subject),
                anomaly,
                p_corrected,
                repeats: sample.repeats.clone(),
            }));
        }
        Self {
            findings,
            samples: looked_at,
        }
    }

    /// The anomalies of a phase and a subject.
    pub fn at(&self, phase: usize, subject: usize) -> impl Iterator<Item = &DetectedAnomaly> {
        let here =
            move |it: &&DetectedAnomaly| (it.phase, it.subject) == (Some(phase), Some(subject));
        self.findings.iter().filter(here)
    }
}

fn samples(phases: &[PhaseAnalysis]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (place, phase) in phases.iter().enumerate() {
        let Some(comparison) = phase.comparison.as_ref().filter(|it| !it.exact) else {
            continue;
        };
        for (subject, cell) in phase.cells.iter().enumerate() {
            let value = |repeat: &super::Repeat| {
                let position = repeat.trial?.position;
                Some((position, repeat.repeat, repeat.value(comparison.metric)?))
            };
            let mut found: Vec<(u32, u32, f64)> = cell.repeats.iter().filter_map(value).collect();
            found.sort_by_key(|(position, repeat, _)| (*position, *repeat));
            samples.push(Sample {
                phase: place,
                subject,
                repeats: found.iter().map(|(_, repeat, _)| *repeat).collect(),
                values: found.iter().map(|(_, _, value)| *value).collect(),
                positions: found.iter().map(|(position, _, _)| *position).collect(),
                is_virtual: phase.is_virtual,
            });
        }
    }
    samples
}

/// The result of each sample, with the p-value corrected over all that could be tested.
fn tested<T>(
    samples: &[Sample],
    test: impl Fn(&Sample) -> Option<(f64, T)>,
) -> Vec<Option<(f64, T)>> {
    let found: Vec<Option<(f64, T)>> = samples.iter().map(test).collect();
    let p_values = found
        .iter()
        .map(|it| it.as_ref().map_or(f64::NAN, |(p, _)| *p));
    let corrected = benjamini_hochberg(&p_values.collect::<Vec<f64>>());
    let with = |(found, p): (Option<(f64, T)>, f64)| found.map(|(_, it)| (p, it));
    found.into_iter().zip(corrected).map(with).collect()
}

fn certain<T>(found: Option<(f64, T)>) -> Option<(f64, T)> {
    found.filter(|(p, _)| *p <= ODD)
}

/// The drift of the run. A trial's value is the median, over its phases, of its figures relative to
/// the geometric means of their subject, in the order of the trials. The median, because a phase
/// that drifts alone does not show a drift of the machine.
fn run_drift(samples: &[Sample]) -> Option<DetectedAnomaly> {
    let mut trials: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let repeated = |sample: &&Sample| sample.values.len() > 1 && !sample.is_virtual;
    for sample in samples.iter().filter(repeated) {
        let Some(location) = location(&sample.values) else {
            continue;
        };
        for (position, value) in sample.positions.iter().zip(&sample.values) {
            let figures = trials.entry(*position).or_default();
            figures.push(value / location.value);
        }
    }
    let medians = trials.values().map(|figures| quantile(figures, 0.5));
    let values: Vec<f64> = medians.collect::<Option<_>>()?;
    let found = drift(&values)?;
    certain(Some((found.p_value, found))).map(|(p_corrected, found)| DetectedAnomaly {
        phase: None,
        subject: None,
        anomaly: Anomaly::Drift(found),
        p_corrected,
        repeats: Vec::new(),
    })
}
