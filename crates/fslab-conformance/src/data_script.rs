//! The files of the conformance tree: sizes around every boundary, and all patterns of writing.

use std::ops::Range;
use std::path::Path;

use super::abilities::Abilities;
use super::scale::Scale;
use super::writer::{FilePlan, Step};
use fslab_stats::CounterRandom;

/// Most bytes of one write(2).
const RECORD_BYTES: u64 = 1 << 20;
/// Data around these offsets detects offsets that are cut to 31 or 32 bits.
const FAR: [u64; 2] = [1 << 31, 1 << 32];

/// With a smaller largest file there may be no space for the block pointers that some file systems
/// keep for holes.
const FAR_LARGEST_MIN: u64 = 4 << 20;

/// Files of all sizes and patterns, below `directory`.
pub(crate) fn plans(
    directory: &Path,
    scale: Scale,
    seed: u64,
    abilities: &Abilities,
) -> Vec<FilePlan> {
    let mut plans = sizes(directory, scale, seed);
    let medium = (scale.largest / 8).max(1_000);
    let patterns: [(&str, Steps); 13] = [
        ("largest", |pattern| pattern.records(8 * pattern.bytes)),
        ("one-write", |pattern| {
            vec![Step::Write(0..pattern.odd_length())]
        }),
        ("pieces", Pattern::pieces),
        ("appended", Pattern::appended),
        ("backwards", Pattern::backwards),
        ("overwritten", Pattern::overwritten),
        ("truncated", Pattern::truncated),
        ("replaced", Pattern::replaced),
        ("holes", Pattern::holes),
        ("hole-first", |pattern| {
            let start = pattern.odd_length();
            vec![Step::Write(start..start + 1_000), Step::Sync]
        }),
        ("mapped", Pattern::mapped),
        ("synced", Pattern::synced),
        ("anything", Pattern::anything),
    ];
    for (number, (name, steps)) in patterns.into_iter().enumerate() {
        let mut pattern = Pattern {
            bytes: medium,
            draw: CounterRandom::counter(seed, 1_000 + number as u64),
        };
        plans.push(FilePlan::new(directory.join(name), steps(&mut pattern)));
    }
    if abilities.far_offsets && scale.largest >= FAR_LARGEST_MIN {
        let mut draw = CounterRandom::counter(seed, 2_000);
        let around = |at: u64| at - draw.within(1..5_000)..at + draw.within(1..5_000);
        let steps = FAR.map(around).map(Step::Write);
        plans.push(FilePlan::new(directory.join("far"), steps.to_vec()));
    }
    plans
}

/// Files of one write: empty, one byte, one byte around each power of two, and random sizes.
fn sizes(directory: &Path, scale: Scale, seed: u64) -> Vec<FilePlan> {
    let mut sizes = vec![0, 1, 2, 3, 7];
    let most = (scale.largest / 4).min(128 << 10);
    for power in 9..=17 {
        let size: u64 = 1 << power;
        sizes.extend([size - 1, size, size + 1]);
    }
    let mut draw = CounterRandom::counter(seed, 1);
    for _ in 0..8 {
        let bits = draw.within(3..17);
        sizes.push(draw.within(1 << bits..2 << bits));
    }
    sizes.retain(|size| *size <= most);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
        .into_iter()
        .step_by(if scale.thin { 3 } else { 1 })
        .map(|size| FilePlan::single_write(directory.join(format!("size-{size}")), size))
        .collect()
}

/// Generates the steps of a pattern.
type Steps = fn(&mut Pattern) -> Vec<Step>;

/// A pattern of writing a file of about `bytes` bytes.
struct Pattern {
    bytes: u64,
    draw: CounterRandom,
}

impl Pattern {
    /// An odd length of about `bytes`.
    fn odd_length(&mut self) -> u64 {
        (self.bytes - self.draw.below(self.bytes / 8)) | 1
    }

    /// A range of up to `most` bytes that starts below `end`.
    fn random_range(&mut self, end: u64, most: u64) -> Range<u64> {
        let start = self.draw.below(end);
        start..start + self.draw.within(1..most.max(2))
    }

    /// Records in order, then fsync.
    fn records(&mut self, bytes: u64) -> Vec<Step> {
        let mut steps: Vec<_> = records_of(bytes, RECORD_BYTES).map(Step::Write).collect();
        steps.push(Step::Sync);
        steps
    }

    /// Small pieces of random length in random order, each byte once; then random overwrites.
    fn pieces(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let longest = (bytes / 400).max(64);
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < bytes {
            let end = (at + self.draw.within(1..longest)).min(bytes);
            pieces.push(Step::Write(at..end));
            at = end;
        }
        self.draw.shuffle(&mut pieces);
        for _ in 0..pieces.len() / 4 {
            pieces.push(Step::Write(self.random_range(bytes, longest)));
        }
        pieces.push(Step::SyncData);
        pieces
    }

    /// Appends, each with its own open and close.
    fn appended(&mut self) -> Vec<Step> {
        let longest = (self.bytes / 100).max(16);
        let mut steps = Vec::new();
        for turn in 0..150 {
            steps.push(Step::Append(self.draw.within(1..longest)));
            if turn % 40 == 7 {
                steps.push(Step::Sync);
            }
        }
        steps
    }

    /// From the last record to the first.
    fn backwards(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let record = (bytes / 50).max(100);
        let mut steps: Vec<_> = records_of(bytes, record).map(Step::Write).collect();
        steps.reverse();
        steps
    }

    /// Written, synced, then overwritten at unaligned offsets, some beyond the end.
    fn overwritten(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let mut steps = self.records(bytes);
        steps.push(Step::Reopen);
        for turn in 0..60 {
            let range = self.random_range(bytes, self.bytes / 20);
            steps.push(Step::Write(range.clone()));
            if turn % 20 == 0 {
                steps.extend([Step::Sync, Step::Compare(range)]);
            }
        }
        steps.push(Step::Write(bytes - 10..bytes + 10));
        steps
    }

    /// Truncated and lengthened repeatedly; bytes cut off must read as zeros.
    fn truncated(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let mut steps = self.records(bytes);
        for turn in 0..12 {
            let shorter = self.draw.below(bytes);
            let longer = shorter + self.draw.below(bytes - shorter + 1);
            steps.extend([Step::Truncate(shorter), Step::Truncate(longer)]);
            steps.push(Step::Write(self.random_range(bytes, self.bytes / 10)));
            if turn % 4 == 0 {
                steps.extend([Step::Sync, Step::Compare(0..2 * bytes)]);
            }
        }
        steps
    }

    /// Truncated to 0 and rewritten, shorter.
    fn replaced(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let mut steps = self.records(bytes);
        steps.extend([Step::Reopen, Step::Truncate(0)]);
        steps.extend(self.records(bytes / 3));
        steps
    }

    /// Ranges of data with holes between them, and a hole at the end.
    fn holes(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let mut data_ranges: Vec<_> = (0..20)
            .map(|_| Step::Write(self.random_range(bytes, self.bytes / 100)))
            .collect();
        data_ranges.insert(10, Step::Sync);
        data_ranges.extend([Step::Truncate(bytes + self.bytes / 4), Step::Sync]);
        data_ranges.push(Step::Compare(0..2 * bytes));
        data_ranges
    }

    /// Stores into mapped memory, over data and over a hole.
    fn mapped(&mut self) -> Vec<Step> {
        let bytes = self.odd_length();
        let mut steps = self.records(bytes / 2);
        steps.push(Step::Truncate(bytes));
        for _ in 0..20 {
            let range = self.random_range(bytes, self.bytes / 20);
            steps.push(Step::WriteMapped(range.start..range.end.min(bytes)));
        }
        steps.extend([Step::Compare(0..bytes), Step::Sync]);
        steps
    }

    /// Writes with O_SYNC.
    fn synced(&mut self) -> Vec<Step> {
        let bytes = self.bytes / 8 + 1;
        let one = |pattern: &mut Self| Step::WriteSynced(pattern.random_range(bytes, bytes / 4));
        (0..20).map(|_| one(self)).collect()
    }

    /// All steps at random, with comparisons in between. O_APPEND after a lengthening truncate is
    /// left out, since it is tested separately.
    fn anything(&mut self) -> Vec<Step> {
        let most = self.odd_length();
        let (mut length, mut steps) = (0, Vec::new());
        let mut ends_in_data = true;
        for _ in 0..300 {
            let range = self.random_range(most, self.bytes / 30);
            match self.draw.below(10) {
                0..=3 => {
                    ends_in_data |= range.end >= length;
                    length = length.max(range.end);
                    steps.push(Step::Write(range));
                }
                4 if length > 0 => {
                    let inside = range.start % length..length.min(range.start % length + 5_000);
                    steps.push(Step::WriteMapped(inside));
                }
                5 => {
                    ends_in_data &= range.start <= length;
                    length = range.start;
                    steps.push(Step::Truncate(length));
                }
                6 if ends_in_data => {
                    length += range.end - range.start;
                    steps.push(Step::Append(range.end - range.start));
                }
                7 => steps.push(Step::Sync),
                8 => steps.push(Step::Reopen),
                _ => steps.push(Step::Compare(range)),
            }
        }
        steps
    }
}

/// Splits `bytes` into ranges of `record`.
fn records_of(bytes: u64, record: u64) -> impl Iterator<Item = Range<u64>> {
    (0..bytes.div_ceil(record)).map(move |number| {
        let start = number * record;
        start..(start + record).min(bytes)
    })
}
