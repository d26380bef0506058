//! Choices that follow from a seed.

use fslab_stats::SplitMixRandom;

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(SplitMixRandom);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMixRandom::split_mix(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 where that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % (bound.max(1) as u64)) as usize
    }

    /// One of `items`, which are not none.
    pub(crate) fn one<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A part of something that is `length` long: at least 1 and mostly short.
    pub(crate) fn part(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        let longest = [1, 4, 32, 256, length][self.below(5)].clamp(1, length.max(1));
        let end = (start + 1 + self.below(longest)).min(length);
        start.min(end)..end
    }
}
