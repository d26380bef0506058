//! Numbers in any order, of which the smallest of any part are found in a few steps.
//!
//! A wavelet matrix (Claude, Navarro, Ordóñez, "The wavelet matrix: An efficient wavelet tree for
//! large alphabets", 2015): of each bit of the numbers, from the highest on, a row with that bit of
//! each; below a row the numbers with a 0 come first, then those with a 1, in the order that they
//! had. It takes as many bits as the numbers have, and half of that for the sums.

use std::ops::Range;

/// Bits of a word.
const WORD: usize = 64;

/// One bit of each number.
#[derive(Debug)]
struct Row {
    bits: Vec<u64>,
    /// The ones before each word.
    ones_before: Vec<u32>,
    zeros: usize,
}

/// Different numbers, in any order.
#[derive(Debug)]
pub(super) struct Wavelet {
    rows: Vec<Row>,
    len: usize,
}

impl Row {
    fn of(numbers: &[u32], bit: usize) -> Self {
        let mut bits = vec![0_u64; numbers.len() / WORD + 1];
        for (place, number) in numbers.iter().enumerate() {
            bits[place / WORD] |= u64::from(number >> bit & 1) << (place % WORD);
        }
        let mut ones = 0;
        let mut ones_before = Vec::with_capacity(bits.len());
        for word in &bits {
            ones_before.push(ones);
            ones += word.count_ones();
        }
        Self {
            bits,
            ones_before,
            zeros: numbers.len() - ones as usize,
        }
    }

    /// The ones before a place.
    fn ones(&self, place: usize) -> usize {
        let below = self.bits[place / WORD] & ((1 << (place % WORD)) - 1);
        self.ones_before[place / WORD] as usize + below.count_ones() as usize
    }

    /// Where the numbers of a part are in the next row: those with a 0, and those with a 1.
    fn split(&self, part: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let (begin, end) = (self.ones(part.start), self.ones(part.end));
        let with_one = self.zeros + begin..self.zeros + end;
        (part.start - begin..part.end - end, with_one)
    }
}

impl Wavelet {
    /// Takes numbers in their order.
    pub(super) fn of(mut numbers: Vec<u32>) -> Self {
        let highest = numbers.iter().copied().max().unwrap_or(0);
        let bits = (u32::BITS - highest.leading_zeros()) as usize;
        let mut rows = Vec::with_capacity(bits);
        let mut ones = Vec::new();
        for bit in (0..bits).rev() {
            rows.push(Row::of(&numbers, bit));
            ones.clear();
            let is_one = |number: u32| number >> bit & 1 == 1;
            ones.extend(numbers.iter().copied().filter(|it| is_one(*it)));
            numbers.retain(|it| !is_one(*it));
            numbers.append(&mut ones);
        }
        Self {
            rows,
            len: numbers.len(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number with so many smaller ones among those at `part`, which has more.
    pub(super) fn smallest(&self, mut part: Range<usize>, mut smaller: usize) -> u32 {
        let mut number = 0;
        for row in &self.rows {
            let (zeros, ones) = row.split(&part);
            number <<= 1;
            if smaller < zeros.len() {
                part = zeros;
            } else {
                smaller -= zeros.len();
                number |= 1;
                part = ones;
            }
        }
        number
    }

    /// The numbers at `part`, the smallest first.
    pub(super) fn ascending(&self, part: Range<usize>) -> Ascending<'_> {
        Ascending {
            wavelet: self,
            waiting: vec![(0, part, 0)],
        }
    }
}

/// Numbers of a part, in order.
pub(super) struct Ascending<'a> {
    wavelet: &'a Wavelet,
    /// Parts of rows with the bits above them, the smallest last.
    waiting: Vec<(usize, Range<usize>, u32)>,
}

impl Iterator for Ascending<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while let Some((depth, part, number)) = self.waiting.pop() {
            if part.is_empty() {
                continue;
            }
            let Some(row) = self.wavelet.rows.get(depth) else {
                return Some(number);
            };
            let (zeros, ones) = row.split(&part);
            self.waiting.push((depth + 1, ones, number << 1 | 1));
            self.waiting.push((depth + 1, zeros, number << 1));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_a_part_are_found_as_by_sorting_it(
            numbers in Just((0_u32..150).collect::<Vec<u32>>()).prop_shuffle(),
            kept in 0_usize..150,
            ends in (0_usize..150, 0_usize..150),
        ) {
            let numbers = numbers[..kept].to_vec();
            let [a, b] = [ends.0.min(kept), ends.1.min(kept)];
            let part = a.min(b)..a.max(b);
            let mut sorted = numbers[part.clone()].to_vec();
            sorted.sort_unstable();
            let wavelet = Wavelet::of(numbers);
            prop_assert_eq!(wavelet.len(), kept);
            let found: Vec<u32> = wavelet.ascending(part.clone()).collect();
            prop_assert_eq!(&found, &sorted);
            for (place, number) in sorted.into_iter().enumerate() {
                prop_assert_eq!(wavelet.smallest(part.clone(), place), number);
            }
        }
    }
}
