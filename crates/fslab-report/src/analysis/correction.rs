//! Many comparisons that are read together, corrected together.

use fslab_stats::benjamini_hochberg;

use super::Comparison;

/// Tests every subject of every comparison against the best of its comparison, corrects the
/// p-values for how many they are, and ranks anew.
///
/// The family is all of them: whoever looks through a table for differences looks at each. Gives
/// its size.
pub(crate) fn correct(comparisons: &mut [&mut Comparison]) -> usize {
    let pairs: Vec<(usize, usize)> = comparisons
        .iter()
        .enumerate()
        .flat_map(|(place, comparison)| {
            let testable = comparison.testable().into_iter();
            testable.map(move |subject| (place, subject))
        })
        .collect();
    let p_values: Vec<f64> = pairs
        .iter()
        .map(|(place, subject)| {
            let p_value = comparisons[*place].test(*subject, pairs.len());
            p_value.unwrap_or(f64::NAN)
        })
        .collect();
    for ((place, subject), p) in pairs.iter().zip(benjamini_hochberg(&p_values)) {
        comparisons[*place].entries[*subject].p_corrected = (!p.is_nan()).then_some(p);
    }
    for comparison in comparisons.iter_mut() {
        comparison.rank();
    }
    pairs.len()
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::THROUGHPUT;
    use fslab_stats::Verdict;

    use super::*;
    use crate::Standing;

    /// Two subjects, the second faster by `times`; the noise is that of the place.
    fn pair(place: u32, times: f64) -> Comparison {
        let value = |i: u32| 100.0 + f64::from((i * 7 + place * 3) % 10) - 4.5;
        let first: Vec<f64> = (0..10).map(value).collect();
        let second = (0..10).map(|i| times * value(i + 5)).collect();
        Comparison::of(&THROUGHPUT, vec![first, second])
    }

    #[test]
    fn a_narrow_difference_among_many_equals_is_not_told() {
        let narrow = 1.032;
        let alone = pair(0, narrow);
        assert_eq!(alone.entries[0].standing, Standing::Behind);
        let mut many: Vec<Comparison> = (0..20).map(|place| pair(place, 1.0)).collect();
        many.push(pair(0, narrow));
        let family = correct(&mut many.iter_mut().collect::<Vec<_>>());
        assert_eq!(family, 21);
        let last = &many[20];
        assert_eq!(last.entries[0].standing, Standing::Tied);
        assert!(last.is_lost_in_correction(0));
        assert!(!many[0].is_lost_in_correction(0));
        assert!(!matches!(last.verdict(0, 1), Verdict::Slower));
        assert_eq!(last.winner(), None);
    }

    #[test]
    fn a_clear_difference_outlasts_correction_and_the_best_has_no_test() {
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
    fn exact_figures_and_single_repeats_are_not_tested() {
        let exact = Comparison::of_virtual_time(&THROUGHPUT, vec![vec![1.0], vec![2.0]]);
        let single = Comparison::of(&THROUGHPUT, vec![vec![1.0], vec![2.0, 2.1]]);
        let mut both = [exact.clone(), single];
        assert_eq!(correct(&mut both.iter_mut().collect::<Vec<_>>()), 0);
        assert_eq!(both[0], exact);
    }
}
