//! Perturbations: differences between repeats in virtual time that no figure should depend on.
//!
//! In virtual time a second run repeats the first to the last digit. That is a single point of a
//! system in which one more page of memory may move every later allocation. So repeats are
//! perturbed: each trial starts in another, equivalent state of the machine. The measured work
//! stays the same: data, order of access, options.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Upper bound of pages held back from a guest: 4 MiB of pages of 4 KiB.
const MEMORY_PAGES_END: u64 = 1024;
/// Upper bound of the delay of a trial's start: more than two ticks of the guest's clock, of which
/// there are 250 per second.
const START_NS_END: u64 = 10_000_000;
/// Upper bound of process ids used up before a trial.
const PROCESSES_END: u64 = 64;

/// The differences of a trial's guest in virtual time from that of another repeat. The default is
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Perturbation {
    /// Pages of memory held back from the guest, 0 to 1023.
    pub memory_pages: u32,
    /// Delay of the trial's start, below 10 ms.
    pub start_ns: u64,
    /// Process ids used up before the trial, 0 to 63.
    pub processes: u32,
    /// The seed of the guest's random numbers: UUIDs, hash seeds, random choices of allocators. 0:
    /// the trial's.
    pub seed: u64,
}

impl Perturbation {
    /// No perturbation.
    pub const NONE: Self = Self {
        memory_pages: 0,
        start_ns: 0,
        processes: 0,
        seed: 0,
    };

    /// The perturbation of a repeat: the first has none, each other one its own, derived from the
    /// run's seed and the same for every subject.
    pub fn of(run_seed: u64, repeat: u32) -> Self {
        if repeat == 0 {
            return Self::NONE;
        }
        let draw = |what: &str, end: u64| {
            let text = format!("fslab perturbation {what} {run_seed} {repeat}");
            let digest = Sha256::digest(text);
            let head: [u8; 8] = std::array::from_fn(|place| digest[place]);
            // The bias of the remainder is below end / 2^64.
            u64::from_le_bytes(head) % end
        };
        let small = |what, end| u32::try_from(draw(what, end)).expect("below 2^32");
        Self {
            memory_pages: small("memory_pages", MEMORY_PAGES_END),
            start_ns: draw("start_ns", START_NS_END),
            processes: small("processes", PROCESSES_END),
            // Never 0, which means none.
            seed: 1 + draw("seed", u64::MAX),
        }
    }

    /// True if there is no perturbation.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// The seed of the guest's random numbers, in a trial with `trial_seed`.
    pub fn guest_seed(&self, trial_seed: u64) -> u64 {
        match self.seed {
            0 => trial_seed,
            seed => seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_first_repeat_has_none_and_every_other_its_own_within_the_ranges() {
        assert!(Perturbation::of(1, 0).is_none());
        let drawn: Vec<_> = (1..2000)
            .map(|repeat| Perturbation::of(1, repeat))
            .collect();
        for one in &drawn {
            assert!(one.memory_pages < 1024 && one.processes < 64, "{one:?}");
            assert!(one.start_ns < 10_000_000 && one.seed != 0, "{one:?}");
            assert!(!one.is_none());
        }
        let different = |of: fn(&Perturbation) -> u64| {
            let values: BTreeSet<u64> = drawn.iter().map(of).collect();
            values.len()
        };
        assert!(different(|it| it.memory_pages.into()) > 800);
        assert!(different(|it| it.start_ns) > 1900);
        assert_eq!(different(|it| it.processes.into()), 64);
        assert_eq!(different(|it| it.seed), drawn.len());
    }

    /// Stored records and committed fingerprints depend on these values.
    #[test]
    fn what_a_seed_gives_never_changes() {
        let expected = Perturbation {
            memory_pages: 431,
            start_ns: 4_356_102,
            processes: 22,
            seed: 17_013_508_179_702_705_179,
        };
        assert_eq!(Perturbation::of(1, 1), expected);
        assert_ne!(Perturbation::of(1, 1), Perturbation::of(2, 1));
    }

    #[test]
    fn a_guest_without_its_own_seed_has_that_of_its_trial() {
        assert_eq!(Perturbation::NONE.guest_seed(7), 7);
        let perturbed = Perturbation::of(1, 1);
        assert_eq!(perturbed.guest_seed(7), perturbed.seed);
    }
}
