//! The files of the conformance tree: every size at which something changes, and every way in which
//! a file comes by its bytes.

use std::ops::Range;
use std::path::Path;

use super::abilities::Abilities;
use super::scale::Scale;
use super::writer::{Draft, Step};
use fslab_stats::CounterRandom;

/// The most that one write(2) gets.
const RECORD_BYTES: u64 = 1 << 20;
/// Data around these offsets is what a number of 31 or 32 bits cannot tell apart.
const FAR: [u64; 2] = [1 << 31, 1 << 32];

/// Where the largest file is smaller, there may be no room for the pointers to holes that some
/// file systems keep.
const FAR_LARGEST_MIN: u64 = 4 << 20;

/// Files of all sizes and of all ways, below `directory`.
pub(crate) fn drafts(
    directory: &Path,
    scale: Scale,
    seed: u64,
    abilities: &Abilities,
) -> Vec<Draft> {
    let mut drafts = sizes(directory, scale, seed);
    let medium = (scale.largest / 8).max(1_000);
    let ways: [(&str, Steps); 13] = [
        ("largest", |way| way.records(8 * way.bytes)),
        ("one-write", |way| vec![Step::Write(0..way.odd())]),
        ("pieces", Way::pieces),
        ("appended", Way::appended),
        ("backwards", Way::backwards),
        ("overwritten", Way::overwritten),
        ("truncated", Way::truncated),
        ("replaced", Way::replaced),
        ("holes", Way::holes),
        ("hole-first", |way| {
            let start = way.odd();
            vec![Step::Write(start..start + 1_000), Step::Sync]
        }),
        ("mapped", Way::mapped),
        ("synced", Way::synced),
        ("anything", Way::anything),
    ];
    for (number, (name, steps)) in ways.into_iter().enumerate() {
        let mut way = Way {
            bytes: medium,
            draw: CounterRandom::counter(seed, 1_000 + number as u64),
        };
        drafts.push(Draft::new(directory.join(name), steps(&mut way)));
    }
    if abilities.far_offsets && scale.largest >= FAR_LARGEST_MIN {
        let mut draw = CounterRandom::counter(seed, 2_000);
        let around = |at: u64| at - draw.within(1..5_000)..at + draw.within(1..5_000);
        let steps = FAR.map(around).map(Step::Write);
        drafts.push(Draft::new(directory.join("far"), steps.to_vec()));
    }
    drafts
}

/// Files of one write: nothing, one byte, a byte around each power of two, and sizes between.
fn sizes(directory: &Path, scale: Scale, seed: u64) -> Vec<Draft> {
    let mut sizes = vec![0, 1, 2, 3, 7];
    let most = (scale.largest / 4).min(128 << 10);
    for power in 9..=17 {
        let whole: u64 = 1 << power;
        sizes.extend([whole - 1, whole, whole + 1]);
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
        .map(|size| Draft::whole(directory.join(format!("size-{size}")), size))
        .collect()
}

/// What makes the steps of a way.
type Steps = fn(&mut Way) -> Vec<Step>;

/// One way of writing a file of about `bytes` bytes.
struct Way {
    bytes: u64,
    draw: CounterRandom,
}

impl Way {
    /// About the bytes of the file, and no multiple of anything.
    fn odd(&mut self) -> u64 {
        (self.bytes - self.draw.below(self.bytes / 8)) | 1
    }

    /// A range of up to `most` bytes that begins below `end`.
    fn somewhere(&mut self, end: u64, most: u64) -> Range<u64> {
        let start = self.draw.below(end);
        start..start + self.draw.within(1..most.max(2))
    }

    /// In records from front to back, then fsync.
    fn records(&mut self, bytes: u64) -> Vec<Step> {
        let mut steps: Vec<_> = cut(bytes, RECORD_BYTES).map(Step::Write).collect();
        steps.push(Step::Sync);
        steps
    }

    /// In small pieces of every length, in any order, each byte once; then some of it again.
    fn pieces(&mut self) -> Vec<Step> {
        let bytes = self.odd();
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
            pieces.push(Step::Write(self.somewhere(bytes, longest)));
        }
        pieces.push(Step::SyncData);
        pieces
    }

    /// Piece behind piece, the file closed between them.
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
        let bytes = self.odd();
        let record = (bytes / 50).max(100);
        let mut steps: Vec<_> = cut(bytes, record).map(Step::Write).collect();
        steps.reverse();
        steps
    }

    /// Written, synced, and then overwritten at odd places, some beyond its end.
    fn overwritten(&mut self) -> Vec<Step> {
        let bytes = self.odd();
        let mut steps = self.records(bytes);
        steps.push(Step::Reopen);
        for turn in 0..60 {
            let range = self.somewhere(bytes, self.bytes / 20);
            steps.push(Step::Write(range.clone()));
            if turn % 20 == 0 {
                steps.extend([Step::Sync, Step::Compare(range)]);
            }
        }
        steps.push(Step::Write(bytes - 10..bytes + 10));
        steps
    }

    /// Cut and lengthened again and again; what was cut off must come back as zeros.
    fn truncated(&mut self) -> Vec<Step> {
        let bytes = self.odd();
        let mut steps = self.records(bytes);
        for turn in 0..12 {
            let shorter = self.draw.below(bytes);
            let longer = shorter + self.draw.below(bytes - shorter + 1);
            steps.extend([Step::Truncate(shorter), Step::Truncate(longer)]);
            steps.push(Step::Write(self.somewhere(bytes, self.bytes / 10)));
            if turn % 4 == 0 {
                steps.extend([Step::Sync, Step::Compare(0..2 * bytes)]);
            }
        }
        steps
    }

    /// Cut to nothing and written anew, shorter.
    fn replaced(&mut self) -> Vec<Step> {
        let bytes = self.odd();
        let mut steps = self.records(bytes);
        steps.extend([Step::Reopen, Step::Truncate(0)]);
        steps.extend(self.records(bytes / 3));
        steps
    }

    /// Islands of data with holes between them, and a hole at the end.
    fn holes(&mut self) -> Vec<Step> {
        let bytes = self.odd();
        let mut islands: Vec<_> = (0..20)
            .map(|_| Step::Write(self.somewhere(bytes, self.bytes / 100)))
            .collect();
        islands.insert(10, Step::Sync);
        islands.extend([Step::Truncate(bytes + self.bytes / 4), Step::Sync]);
        islands.push(Step::Compare(0..2 * bytes));
        islands
    }

    /// Stores into mapped memory, over data and over a hole.
    fn mapped(&mut self) -> Vec<Step> {
        let bytes = self.odd();
        let mut steps = self.records(bytes / 2);
        steps.push(Step::Truncate(bytes));
        for _ in 0..20 {
            let range = self.somewhere(bytes, self.bytes / 20);
            steps.push(Step::WriteMapped(range.start..range.end.min(bytes)));
        }
        steps.extend([Step::Compare(0..bytes), Step::Sync]);
        steps
    }

    /// Some writes that wait for the device.
    fn synced(&mut self) -> Vec<Step> {
        let bytes = self.bytes / 8 + 1;
        let one = |way: &mut Self| Step::WriteSynced(way.somewhere(bytes, bytes / 4));
        (0..20).map(|_| one(self)).collect()
    }

    /// Everything at random, looked at on the way. Only O_APPEND behind a length that truncate gave
    /// is left out: that is tried on its own.
    fn anything(&mut self) -> Vec<Step> {
        let most = self.odd();
        let (mut length, mut steps) = (0, Vec::new());
        let mut ends_in_data = true;
        for _ in 0..300 {
            let range = self.somewhere(most, self.bytes / 30);
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

/// `bytes` in ranges of `record`.
fn cut(bytes: u64, record: u64) -> impl Iterator<Item = Range<u64>> {
    (0..bytes.div_ceil(record)).map(move |number| {
        let start = number * record;
        start..(start + record).min(bytes)
    })
}
