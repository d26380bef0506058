//! The order of trials: each repeat is a block of all cells, in random order.
//!
//! A randomised complete block design: slow changes of the machine (heat, other tenants, wear)
//! affect all subjects alike.

use fslab_model::{CellId, Perturbation, Plan, TrialId};
use fslab_stats::SplitMixRandom;

/// The blocks of a run: each has every cell once, in a separate random order. Leaving out cells of
/// a block does not change other blocks.
pub(crate) struct Blocks {
    cells: u32,
    repeat: u32,
    random: SplitMixRandom,
}

impl Blocks {
    pub(crate) fn new(cells: u32, seed: u64) -> Self {
        Self {
            cells,
            repeat: 0,
            random: SplitMixRandom::split_mix(seed),
        }
    }
}

impl Iterator for Blocks {
    /// Each trial with its position in the order of all blocks.
    type Item = Vec<(u32, TrialId)>;

    fn next(&mut self) -> Option<Self::Item> {
        let repeat = self.repeat;
        self.repeat += 1;
        let mut block: Vec<u32> = (0..self.cells).collect();
        // Fisher-Yates; the modulo bias is below cells / 2^64.
        for last in (1..block.len()).rev() {
            let other = (self.random.next_u64() % (last as u64 + 1)) as usize;
            block.swap(last, other);
        }
        let first = repeat.saturating_mul(self.cells);
        let trials = block.into_iter().map(|cell| TrialId {
            cell: CellId(cell),
            repeat,
        });
        Some((first..).zip(trials).collect())
    }
}

/// The order of the conditions of an experiment in each round of repeats: a separate random order
/// for each, so that what drifts with time does not look like a factor.
pub fn condition_rounds(conditions: usize, seed: u64) -> impl Iterator<Item = Vec<usize>> {
    let cells = u32::try_from(conditions).unwrap_or(u32::MAX);
    let places = |block: Vec<(u32, TrialId)>| block.iter().map(|it| it.1.cell.0 as usize).collect();
    Blocks::new(cells, seed).map(places)
}

/// The seed of data and positions of a repeat, and its perturbation: the same for all subjects, so
/// that they do the same work.
///
/// Perturbed repeats all have the seed of the first, so that only the perturbation differs; other
/// repeats have different seeds.
pub(crate) fn of_repeat(plan: &Plan, repeat: u32) -> (u64, Perturbation) {
    match plan.perturb {
        true => (
            trial_seed(plan.seed, 0),
            Perturbation::of(plan.seed, repeat),
        ),
        false => (trial_seed(plan.seed, repeat), Perturbation::NONE),
    }
}

fn trial_seed(seed: u64, repeat: u32) -> u64 {
    SplitMixRandom::split_mix(seed.wrapping_add(u64::from(repeat))).next_u64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shuffled(cells: u32, repeats: usize, seed: u64) -> Vec<TrialId> {
        let blocks = Blocks::new(cells, seed).take(repeats).flatten();
        blocks.map(|(_, trial)| trial).collect()
    }

    proptest! {
        #[test]
        fn every_block_has_every_cell_once(cells in 1_u32..20, repeats in 1_usize..8, seed: u64) {
            let order = shuffled(cells, repeats, seed);
            for (repeat, block) in (0..).zip(order.chunks(cells as usize)) {
                let mut seen: Vec<_> = block.iter().map(|trial| trial.cell.0).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..cells).collect::<Vec<_>>());
                prop_assert!(block.iter().all(|trial| trial.repeat == repeat));
            }
        }

        #[test]
        fn more_repeats_continue_the_same_order(seed: u64) {
            let (few, many) = (shuffled(5, 2, seed), shuffled(5, 4, seed));
            prop_assert_eq!(&few[..], &many[..few.len()]);
        }
    }

    #[test]
    fn positions_count_through_all_blocks() {
        let places = Blocks::new(3, 1).take(2).flatten().map(|(place, _)| place);
        assert_eq!(places.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn perturbed_repeats_have_the_work_of_the_first_and_others_their_own() {
        let study = crate::load_study("quick").expect("built in").0;
        let venue = crate::VenueChoice::Named(fslab_model::VenuePlan::Fake);
        let request = crate::Request::new(study, &["fake"], venue, 7);
        let plan = crate::resolve(&request).expect("resolves").plan;
        let perturbed = Plan {
            perturb: true,
            ..plan.clone()
        };
        // The first is the same in both cases: the exact point.
        assert_eq!(of_repeat(&plan, 0), of_repeat(&perturbed, 0));
        assert!(of_repeat(&plan, 0).1.is_none());
        let (work, state) = of_repeat(&perturbed, 1);
        assert_eq!(work, of_repeat(&perturbed, 0).0);
        assert_eq!(state, Perturbation::of(7, 1));
        let (work, state) = of_repeat(&plan, 1);
        assert_ne!(work, of_repeat(&plan, 0).0);
        assert!(state.is_none());
    }

    #[test]
    fn another_seed_is_another_order_and_the_same_seed_the_same() {
        assert_eq!(shuffled(6, 3, 1), shuffled(6, 3, 1));
        assert_ne!(shuffled(6, 3, 1), shuffled(6, 3, 2));
        assert_ne!(trial_seed(1, 0), trial_seed(1, 1));
    }
}
