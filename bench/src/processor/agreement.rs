//! How two runs of one study agree on the order of subjects and on their ratios, phase by phase.

use fslab_model::{PhaseRecord, RunRecord, phase_metrics};
use fslab_stats::{RankCorrelation, rank_correlation};

/// The phases that both runs measured, in the order of the study.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    pub(crate) phases: Vec<PhaseAgreement>,
}

/// One phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseAgreement {
    pub(crate) name: String,
    /// The subjects that both measured, with their rates: real, counted.
    pub(crate) rates: Vec<(String, f64, f64)>,
    /// Of the rates; `None` below two subjects.
    pub(crate) correlation: Option<RankCorrelation>,
    /// The geometric mean of real over counted: the factor between the two processors.
    pub(crate) factor: f64,
    /// Of each pair of subjects, by how much their ratio differs between the runs: 0.25 is 25 %.
    pub(crate) ratio_errors: Vec<f64>,
}

impl Agreement {
    pub(crate) fn of(real: &RunRecord, counted: &RunRecord) -> Self {
        let names = real.header.plan.phases.iter().map(|phase| &phase.name);
        let phases = names.filter_map(|name| PhaseAgreement::of(name, real, counted));
        Self {
            phases: phases.collect(),
        }
    }

    /// The median over the phases of their rank correlation.
    pub(crate) fn median_correlation(&self) -> Option<f64> {
        let found = self.phases.iter().filter_map(|it| it.correlation.as_ref());
        median(found.map(|it| it.rho).collect())
    }

    /// The median over all pairs of subjects in all phases.
    pub(crate) fn median_ratio_error(&self) -> Option<f64> {
        let all = self.phases.iter().flat_map(|it| it.ratio_errors.clone());
        median(all.collect())
    }
}

impl PhaseAgreement {
    fn of(name: &str, real: &RunRecord, counted: &RunRecord) -> Option<Self> {
        let subjects = real.header.plan.subjects.iter();
        let rates: Vec<_> = subjects
            .filter_map(|it| {
                let subject = it.subject.to_string();
                let real = rate(real, &subject, name)?;
                let counted = rate(counted, &subject, name)?;
                Some((subject, real, counted))
            })
            .collect();
        if rates.len() < 2 {
            return None;
        }
        let of_real: Vec<f64> = rates.iter().map(|(_, real, _)| *real).collect();
        let of_counted: Vec<f64> = rates.iter().map(|(_, _, counted)| *counted).collect();
        let logs: Vec<f64> = of_real
            .iter()
            .zip(&of_counted)
            .map(|(a, b)| (a / b).ln())
            .collect();
        let pairs = (0..logs.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let errors = pairs.map(|(i, j)| (logs[i] - logs[j]).abs().exp_m1());
        Some(Self {
            name: name.to_owned(),
            correlation: rank_correlation(&of_real, &of_counted),
            factor: (logs.iter().sum::<f64>() / logs.len() as f64).exp(),
            ratio_errors: errors.collect(),
            rates,
        })
    }

    /// The median over the pairs of subjects.
    pub(crate) fn median_ratio_error(&self) -> Option<f64> {
        median(self.ratio_errors.clone())
    }
}

/// The median over the repeats of the phase's headline figure; `None` if a repeat has none.
fn rate(run: &RunRecord, subject: &str, phase: &str) -> Option<f64> {
    let trials = run
        .trials
        .iter()
        .filter(|trial| trial.subject.to_string() == subject);
    let values: Option<Vec<f64>> = trials
        .map(|trial| headline(trial.phases.iter().find(|it| it.name == phase)?))
        .collect();
    median(values?)
}

fn headline(phase: &PhaseRecord) -> Option<f64> {
    let wanted = phase.headline.metric();
    let metrics = phase_metrics(phase);
    let found = metrics
        .into_iter()
        .find(|metric| metric.definition == wanted)?;
    (found.value > 0.0).then_some(found.value)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
