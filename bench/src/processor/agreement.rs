//! How two runs of one study agree on the order of subjects and on their ratios, phase by phase,
//! and whether the real run agrees with itself.

use fslab_model::{PhaseRecord, RunRecord, phase_metrics};
use fslab_stats::{RankCorrelation, rank_correlation};

/// The least rank correlation between the odd and the even repeats of the real run with which the
/// order of a phase is repeated. An order that is not cannot be decided.
pub(crate) const REPEATED_LEAST: f64 = 0.9;

/// By how much two rates of the real run must differ, at least, to be a clear difference.
pub(crate) const CLEAR_DIFFERENCE: f64 = 0.2;

/// The phases that both runs measured, in the order of the study.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    pub(crate) phases: Vec<PhaseAgreement>,
}

#[derive(Clone, Debug)]
pub(crate) struct PhaseAgreement {
    pub(crate) name: String,
    /// The subjects that both measured.
    pub(crate) rates: Vec<Rates>,
    /// Of the rates; `None` if those of a run are all equal.
    pub(crate) correlation: Option<RankCorrelation>,
    /// Between the medians of the odd and of the even repeats of the real run; `None` with a single
    /// repeat.
    pub(crate) own_order: Option<f64>,
    /// The geometric mean of real over counted: the factor between the two processors.
    pub(crate) factor: f64,
    /// Of each pair of subjects, by how much their ratio differs between the runs: 0.25 is 25 %.
    pub(crate) ratio_errors: Vec<f64>,
}

/// A subject's rates in a phase, medians of the repeats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) subject: String,
    pub(crate) real: f64,
    pub(crate) counted: f64,
}

impl Agreement {
    pub(crate) fn of(real: &RunRecord, counted: &RunRecord) -> Self {
        let names = real.header.plan.phases.iter().map(|phase| &phase.name);
        let phases = names.filter_map(|name| measured(name, real, counted));
        Self {
            phases: phases.collect(),
        }
    }

    /// The median over the phases of their rank correlation.
    pub(crate) fn median_correlation(&self) -> Option<f64> {
        median_of_correlations(&self.phases.iter().collect::<Vec<_>>())
    }

    /// The same over the phases whose real order is repeated, and their number.
    pub(crate) fn median_correlation_of_repeated(&self) -> (Option<f64>, usize) {
        let repeated = self.phases.iter().filter(|it| it.is_repeated());
        let repeated: Vec<_> = repeated.collect();
        (median_of_correlations(&repeated), repeated.len())
    }

    /// Of the pairs of subjects in a phase whose real rates differ clearly: how many have the same
    /// order in the counted run, and how many there are.
    pub(crate) fn ordered_alike(&self) -> (usize, usize) {
        let pairs = self.phases.iter().flat_map(PhaseAgreement::clear_pairs);
        let alike: Vec<bool> = pairs.collect();
        (alike.iter().filter(|it| **it).count(), alike.len())
    }

    /// The median over all pairs of subjects in all phases.
    pub(crate) fn median_ratio_error(&self) -> Option<f64> {
        let all = self.phases.iter().flat_map(|it| it.ratio_errors.clone());
        median(all.collect())
    }
}

impl PhaseAgreement {
    /// Of `rates`; `None` below two subjects.
    pub(crate) fn of(name: &str, rates: Vec<Rates>, own_order: Option<f64>) -> Option<Self> {
        if rates.len() < 2 {
            return None;
        }
        let real: Vec<f64> = rates.iter().map(|it| it.real).collect();
        let counted: Vec<f64> = rates.iter().map(|it| it.counted).collect();
        let logs = real.iter().zip(&counted).map(|(a, b)| (a / b).ln());
        Some(Self {
            name: name.to_owned(),
            correlation: rank_correlation(&real, &counted),
            own_order,
            factor: (logs.sum::<f64>() / rates.len() as f64).exp(),
            ratio_errors: ratio_errors(&real, &counted),
            rates,
        })
    }

    /// True if the real run agrees with itself on the order.
    pub(crate) fn is_repeated(&self) -> bool {
        self.own_order.is_some_and(|rho| rho >= REPEATED_LEAST)
    }

    /// Of each pair of subjects whose real rates differ clearly, whether the counted ones have the
    /// same order.
    fn clear_pairs(&self) -> impl Iterator<Item = bool> {
        let rates = &self.rates;
        pairs(rates.len()).filter_map(|(i, j)| {
            let (slow, fast) = match rates[i].real < rates[j].real {
                true => (&rates[i], &rates[j]),
                false => (&rates[j], &rates[i]),
            };
            let is_clear = fast.real > slow.real * (1.0 + CLEAR_DIFFERENCE);
            is_clear.then_some(fast.counted > slow.counted)
        })
    }

    /// The median over the pairs of subjects.
    pub(crate) fn median_ratio_error(&self) -> Option<f64> {
        median(self.ratio_errors.clone())
    }
}

/// Of each pair of subjects, by how much their ratio differs between two measurements.
pub(super) fn ratio_errors(real: &[f64], counted: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = real
        .iter()
        .zip(counted)
        .map(|(a, b)| (a / b).ln())
        .collect();
    pairs(logs.len())
        .map(|(i, j)| (logs[i] - logs[j]).abs().exp_m1())
        .collect()
}

/// The pairs of so many, by their positions.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(|i| (0..i).map(move |j| (i, j)))
}

/// The middle value; between the two middle ones of an even number.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

fn median_of_correlations(phases: &[&PhaseAgreement]) -> Option<f64> {
    let found = phases.iter().filter_map(|it| it.correlation.as_ref());
    median(found.map(|it| it.rho).collect())
}

/// The phase `name` of both runs.
fn measured(name: &str, real: &RunRecord, counted: &RunRecord) -> Option<PhaseAgreement> {
    let subjects = real.header.plan.subjects.iter();
    let both = subjects.filter_map(|it| {
        let subject = it.subject.to_string();
        let real = repeats(real, &subject, name)?;
        let counted = repeats(counted, &subject, name)?;
        Some((subject, real, counted))
    });
    let both: Vec<_> = both.collect();
    let repeated: Vec<_> = both.iter().map(|(_, real, _)| real.as_slice()).collect();
    let own_order = own_order(&repeated);
    let rates = both.into_iter().filter_map(|(subject, real, counted)| {
        Some(Rates {
            subject,
            real: median(real)?,
            counted: median(counted)?,
        })
    });
    PhaseAgreement::of(name, rates.collect(), own_order)
}

/// The rank correlation between the medians of the odd and of the even repeats, given for each
/// subject.
fn own_order(repeats: &[&[f64]]) -> Option<f64> {
    let medians = |from: usize| -> Option<Vec<f64>> {
        let each = repeats.iter().map(|values| {
            let half = values.iter().skip(from).step_by(2);
            median(half.copied().collect())
        });
        each.collect()
    };
    Some(rank_correlation(&medians(0)?, &medians(1)?)?.rho)
}

/// The phase's headline figure in each repeat, in their order; `None` if a repeat has none.
fn repeats(run: &RunRecord, subject: &str, phase: &str) -> Option<Vec<f64>> {
    let trials = run.trials.iter();
    let trials = trials.filter(|trial| trial.subject.to_string() == subject);
    let mut trials: Vec<_> = trials.collect();
    trials.sort_by_key(|trial| trial.trial.repeat);
    let values = trials.into_iter().map(|trial| {
        let phase = trial.phases.iter().find(|it| it.name == phase)?;
        headline(phase)
    });
    values.collect()
}

fn headline(phase: &PhaseRecord) -> Option<f64> {
    let wanted = phase.headline.metric();
    let metrics = phase_metrics(phase);
    let found = metrics
        .into_iter()
        .find(|metric| metric.definition == wanted)?;
    (found.value > 0.0).then_some(found.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(rates: &[(f64, f64)], own_order: Option<f64>) -> PhaseAgreement {
        let rates = rates.iter().enumerate().map(|(number, rates)| Rates {
            subject: format!("fs{number}"),
            real: rates.0,
            counted: rates.1,
        });
        PhaseAgreement::of("p", rates.collect(), own_order).expect("two subjects")
    }

    #[test]
    fn the_median_of_an_even_number_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn a_ratio_differs_by_as_much_whichever_of_the_two_is_larger() {
        let [error] = ratio_errors(&[4.0, 2.0], &[2.0, 2.0])[..] else {
            panic!("one pair")
        };
        assert!((error - 1.0).abs() < 1e-12);
        assert_eq!(
            ratio_errors(&[4.0, 2.0], &[2.0, 4.0]),
            ratio_errors(&[2.0, 4.0], &[4.0, 2.0])
        );
    }

    #[test]
    fn the_order_of_pairs_counts_where_the_real_machine_decides_it() {
        let agreement = |rates: &[(f64, f64)]| Agreement {
            phases: vec![phase(rates, None)],
        };
        // Of three pairs, one differs by less than a fifth.
        let rates = [(1.0, 1.0), (1.1, 0.5), (2.0, 0.7)];
        assert_eq!(agreement(&rates).ordered_alike(), (1, 2));
        // Equal counted rates have no order.
        assert_eq!(agreement(&[(2.0, 1.0), (1.0, 1.0)]).ordered_alike(), (0, 1));
        assert_eq!(agreement(&[(1.0, 1.0), (1.0, 2.0)]).ordered_alike(), (0, 0));
    }

    #[test]
    fn an_order_is_compared_between_odd_and_even_repeats() {
        let steady: [&[f64]; 3] = [&[1.0, 1.1], &[2.0, 2.1], &[3.0, 3.1]];
        assert_eq!(own_order(&steady), Some(1.0));
        let reversed: [&[f64]; 2] = [&[1.0, 2.0, 1.0], &[2.0, 1.0, 2.0]];
        assert_eq!(own_order(&reversed), Some(-1.0));
        // A single repeat has no even one.
        assert_eq!(own_order(&[&[1.0], &[2.0]]), None);
    }

    #[test]
    fn phases_without_a_repeated_order_count_in_one_median_only() {
        let same = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)];
        let reverse = [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)];
        let agreement = Agreement {
            phases: vec![
                phase(&same, Some(0.9)),
                phase(&reverse, Some(0.89)),
                phase(&reverse, None),
            ],
        };
        assert_eq!(agreement.median_correlation(), Some(-1.0));
        assert_eq!(agreement.median_correlation_of_repeated(), (Some(1.0), 1));
    }
}
