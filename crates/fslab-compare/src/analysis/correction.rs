//! Correction of comparisons that are read together.

use fslab_stats::benjamini_hochberg;

use super::{Comparison, Entry};

/// Tests every subject of every comparison against the best of its comparison, corrects the
/// p-values for their number, and ranks again. Returns the number of pairs.
///
/// The family is all pairs of subjects of all comparisons: a reader looks at each difference in a
/// table, and the best subject was chosen from the same data. Comparing all others with the best of
/// many searches for the largest of all differences: of 25 equals, one run in four would have a
/// false difference. So a p-value among k subjects is first multiplied by k / 2, because there are
/// k - 1 tests and k (k - 1) / 2 pairs.
pub(crate) fn correct(comparisons: &mut [&mut Comparison]) -> usize {
    let testable: Vec<Vec<usize>> = comparisons.iter().map(|it| it.testable()).collect();
    let pairs = |tested: &Vec<usize>| tested.len() * (tested.len() + 1) / 2;
    let family = testable.iter().map(pairs).sum();
    let mut p_values = Vec::new();
    for (comparison, tested) in comparisons.iter_mut().zip(&testable) {
        let chosen = (tested.len() + 1) as f64 / 2.0;
        p_values.extend(tested.iter().map(|subject| {
            let p_value = comparison.test(*subject, family);
            p_value.map_or(f64::NAN, |p| (p * chosen).min(1.0))
        }));
    }
    let mut corrected = benjamini_hochberg(&p_values).into_iter();
    for (comparison, tested) in comparisons.iter_mut().zip(&testable) {
        for (subject, p) in tested.iter().zip(corrected.by_ref()) {
            comparison.entries[*subject].p_corrected = (!p.is_nan()).then_some(p);
        }
        comparison.rank();
    }
    family
}

impl Comparison {
    /// The same figures of `subjects` only, tested.
    pub(crate) fn only(&self, subjects: &[usize], is_virtual: bool) -> Self {
        let of = |(subject, entry): (usize, &Entry)| match subjects.contains(&subject) {
            true => entry.values.clone(),
            false => Vec::new(),
        };
        let samples = self.entries.iter().enumerate().map(of).collect();
        let mut comparison = Self::timed(self.metric, samples, is_virtual);
        correct(&mut [&mut comparison]);
        comparison
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::THROUGHPUT;
    use fslab_stats::{SplitMixRandom, Verdict};

    use super::*;
    use crate::Standing;

    /// Two subjects, the second faster by `times`; `place` sets the noise.
    fn pair(place: u32, times: f64) -> Comparison {
        let value = |i: u32| 100.0 + f64::from((i * 7 + place * 3) % 10) - 4.5;
        let first: Vec<f64> = (0..10).map(value).collect();
        let second = (0..10).map(|i| times * value(i + 5)).collect();
        Comparison::of(&THROUGHPUT, vec![first, second])
    }

    #[test]
    fn a_narrow_difference_among_many_equals_is_not_reported() {
        let narrow = 1.032;
        let alone = pair(0, narrow);
        assert_eq!(alone.entries[0].standing, Standing::Behind);
        let mut many: Vec<Comparison> = (0..20).map(|place| pair(place, 1.0)).collect();
        many.push(pair(0, narrow));
        let family = correct(&mut many.iter_mut().collect::<Vec<_>>());
        assert_eq!(family, 21);
        let last = &many[20];
        assert_eq!(last.entries[0].standing, Standing::Undecided);
        assert!(last.is_lost_in_correction(0));
        assert!(!many[0].is_lost_in_correction(0));
        assert!(!matches!(last.verdict(0, 1), Verdict::Slower));
        assert_eq!(last.winner(), None);
    }

    #[test]
    fn a_clear_difference_stays_significant_and_the_best_has_no_test() {
        let mut many: Vec<Comparison> = (0..20).map(|place| pair(place, 1.0)).collect();
        many.push(pair(0, 1.2));
        correct(&mut many.iter_mut().collect::<Vec<_>>());
        let last = &many[20];
        assert_eq!(last.winner(), Some(1));
        assert_eq!(last.verdict(0, 1), Verdict::Slower);
        assert!(last.entries[1].test.is_none());
        let p = last.entries[0].test.expect("tested").p_value;
        assert!(last.entries[0].p_corrected.expect("tested") >= p);
    }

    #[test]
    fn the_best_of_many_equals_does_not_differ_from_them() {
        // Box and Muller, as in the fixtures of the report's tests.
        let mut random = SplitMixRandom::split_mix(5);
        let mut uniform = move || random.open_unit();
        let mut value = move |_| {
            let radius = (-2.0 * uniform().ln()).sqrt();
            (0.05 * radius * (std::f64::consts::TAU * uniform()).cos()).exp()
        };
        let mut alarms = 0;
        for _ in 0..80 {
            let equals = (0..20).map(|_| (0..10).map(&mut value).collect()).collect();
            let mut comparison = Comparison::of(&THROUGHPUT, equals);
            assert_eq!(correct(&mut [&mut comparison]), 190);
            alarms += u32::from(comparison.with(Standing::Behind).next().is_some());
        }
        // 5 % of 80, and three standard deviations. Without the factor k / 2 it is one in five.
        assert!(alarms <= 9, "{alarms}");
    }

    #[test]
    fn exact_figures_and_single_repeats_are_not_tested() {
        let exact = Comparison::of_virtual_time(&THROUGHPUT, vec![vec![1.0], vec![2.0]]);
        let single = Comparison::of(&THROUGHPUT, vec![vec![1.0], vec![2.0, 2.1]]);
        let mut both = [exact.clone(), single];
        assert_eq!(correct(&mut both.iter_mut().collect::<Vec<_>>()), 0);
        assert_eq!(both[0], exact);
    }
}
