//! The program: libFuzzer's `main`, which searches one target, and instead of it the command, which
//! starts this program again for each target.
//!
//! libFuzzer keeps the inputs that reach new code, and mutates these. It sees code only in a build
//! with SanitizerCoverage, which `cargo xtask fuzz` makes; in any other it mutates the seeds.

#![no_main]
#![expect(
    unsafe_code,
    reason = "libFuzzer finds its entry points and counters by their names and sections"
)]

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Each of the first inputs, which are the seeds, counts as new, even if no code is seen. What only
/// libFuzzer reads is removed by an optimising compiler unless it is said to be used.
#[used]
// SAFETY: libFuzzer reads and clears bytes of this section, and nothing else is in it.
#[unsafe(link_section = "__libfuzzer_extra_counters")]
static SEEDS: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];
static SEEDS_LEFT: AtomicUsize = AtomicUsize::new(0);

fuzz_target!(init: SEEDS_LEFT.store(fslab_fuzz::begin(), Relaxed), |input: &[u8]| {
    let left = SEEDS_LEFT.load(Relaxed);
    if let Some(counter) = left.checked_sub(1).and_then(|seed| SEEDS.get(seed)) {
        counter.store(1, Relaxed);
    }
    SEEDS_LEFT.store(left.saturating_sub(1), Relaxed);
    fslab_fuzz::run(input);
});

fuzz_mutator!(
    |data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
        fslab_fuzz::mutate(data, size, max_size, fuzzer_mutate)
    }
);
