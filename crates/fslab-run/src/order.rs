//! The order of trials: each repeat is a block of all cells, shuffled.
//!
//! A randomised complete block design: what changes slowly on a machine (heat, other tenants, wear)
//! meets every subject alike.

use fslab_model::{CellId, TrialId};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// All trials of `cells` cells and `repeats` repeats in the order of `seed`.
pub(crate) fn shuffled(cells: u32, repeats: u32, seed: u64) -> Vec<TrialId> {
    let mut chance = SplitMix64::seed_from_u64(seed);
    let mut trials = Vec::new();
    for repeat in 0..repeats {
        let mut block: Vec<u32> = (0..cells).collect();
        // Fisher and Yates; the bias of the remainder is below cells / 2^64.
        for last in (1..block.len()).rev() {
            let other = (chance.next_u64() % (last as u64 + 1)) as usize;
            block.swap(last, other);
        }
        trials.extend(block.into_iter().map(|cell| TrialId {
            cell: CellId(cell),
            repeat,
        }));
    }
    trials
}

/// The seed of a trial's data and places: the same for every subject in one repeat, so that they
/// are measured with the same work, and another in the next.
pub(crate) fn trial_seed(seed: u64, repeat: u32) -> u64 {
    SplitMix64::seed_from_u64(seed.wrapping_add(u64::from(repeat))).next_u64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_block_has_every_cell_once(cells in 1_u32..20, repeats in 1_u32..8, seed: u64) {
            let order = shuffled(cells, repeats, seed);
            for (repeat, block) in (0..).zip(order.chunks(cells as usize)) {
                let mut seen: Vec<_> = block.iter().map(|trial| trial.cell.0).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..cells).collect::<Vec<_>>());
                prop_assert!(block.iter().all(|trial| trial.repeat == repeat));
            }
        }

        #[test]
        fn more_repeats_go_on_where_fewer_ended(seed: u64) {
            let (few, many) = (shuffled(5, 2, seed), shuffled(5, 4, seed));
            prop_assert_eq!(&few[..], &many[..few.len()]);
        }
    }

    #[test]
    fn another_seed_is_another_order_and_the_same_seed_the_same() {
        assert_eq!(shuffled(6, 3, 1), shuffled(6, 3, 1));
        assert_ne!(shuffled(6, 3, 1), shuffled(6, 3, 2));
        assert_ne!(trial_seed(1, 0), trial_seed(1, 1));
    }
}
