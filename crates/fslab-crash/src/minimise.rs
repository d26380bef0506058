//! The smallest set of lost writes that still fails.

use crate::CrashState;

/// Removes losses from `state` as long as `fails` of the rest is true: first parts of them, at last
/// single ones (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
/// No single loss of the result can be left out. At most `tries` states are tried; `None` if
/// `state` itself does not fail.
pub fn minimise(
    state: &CrashState,
    mut tries: usize,
    mut fails: impl FnMut(&CrashState) -> bool,
) -> Option<CrashState> {
    if !fails(state) {
        return None;
    }
    let mut best = state.clone();
    let mut parts = 2;
    while !best.lost.is_empty() && tries > 0 {
        let count = best.lost.len();
        parts = parts.min(count);
        let length = count.div_ceil(parts);
        let mut is_smaller = false;
        for first in (0..count).step_by(length) {
            if tries == 0 {
                break;
            }
            tries -= 1;
            let mut rest = best.clone();
            rest.lost.drain(first..(first + length).min(count));
            if fails(&rest) {
                best = rest;
                is_smaller = true;
                break;
            }
        }
        match (is_smaller, length) {
            (true, _) => parts = parts.saturating_sub(1).max(2),
            (false, 1) => break,
            (false, _) => parts = parts.saturating_mul(2),
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state(text: &str) -> CrashState {
        text.parse().expect("a state")
    }

    #[test]
    fn a_state_that_does_not_fail_and_one_that_fails_without_losses() {
        assert_eq!(minimise(&state("9-1..5"), 100, |_| false), None);
        assert_eq!(minimise(&state("9-1..5"), 100, |_| true), Some(state("9")));
    }

    #[test]
    fn the_number_of_tries_is_kept() {
        let mut tried = 0;
        let found = minimise(&state("9-1..500"), 3, |it| {
            tried += 1;
            it.lost.len() > 400
        });
        assert!(found.is_some_and(|it| it.lost.len() > 400));
        assert_eq!(tried, 4);
    }

    proptest! {
        #[test]
        fn exactly_the_losses_that_matter_are_left(
            count in 1_usize..60,
            matter in proptest::collection::btree_set(0_usize..60, 0..4),
        ) {
            let all = state(&format!("7-0..{}", count - 1));
            let matter: Vec<usize> = matter.into_iter().filter(|it| *it < count).collect();
            let found = minimise(&all, usize::MAX, |it| {
                matter.iter().all(|one| it.lost.iter().any(|loss| loss.request == *one))
            });
            let left: Vec<usize> = found.expect("fails").lost.iter().map(|it| it.request).collect();
            prop_assert_eq!(left, matter);
        }
    }
}
