//! Random numbers that follow from a seed: SplitMix64 (Steele, Lea and Flood, 2014).

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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
