//! The expected content of a file, computed instead of stored: each byte is a function of a key,
//! the generation of the write that put it there, and its offset.
//!
//! ```text
//!     offset    0 ......... 700 ........... 9000 ........ length
//!     holds     zeros       generation 3    zeros
//! ```
//!
//! Words are a mixed counter, so that any range can be generated, two files share no block, and
//! nothing compresses.

use std::collections::BTreeMap;
use std::ops::Range;

use fslab_job::generate_content;
use fslab_stats::mix;

/// The expected content of a file.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    key: u64,
    length: u64,
    /// Written ranges by first byte: end and generation. Between them are zeros.
    pieces: BTreeMap<u64, (u64, u64)>,
    generation: u64,
}

impl Content {
    /// An empty file, whose data will follow from `key`.
    pub(crate) fn new(key: u64) -> Self {
        Self {
            key,
            length: 0,
            pieces: BTreeMap::new(),
            generation: 0,
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Writes the next generation into `range`; returns its key for [`generate`].
    pub(crate) fn write(&mut self, range: Range<u64>) -> u64 {
        self.generation += 1;
        if !range.is_empty() {
            self.clear(range.clone());
            self.pieces
                .insert(range.start, (range.end, self.generation));
            self.length = self.length.max(range.end);
        }
        self.key_of(self.generation)
    }

    /// Sets the length; new bytes are zeros.
    pub(crate) fn truncate(&mut self, length: u64) {
        if length < self.length {
            self.clear(length..self.length);
        }
        self.length = length;
    }

    /// The bytes from `offset` on; zeros past the end.
    pub(crate) fn expected(&self, offset: u64, into: &mut [u8]) {
        into.fill(0);
        let end = offset + into.len() as u64;
        let first = self.pieces.range(..=offset).next_back();
        let inside = self.pieces.range(offset + 1..end);
        for (start, (piece_end, generation)) in first.into_iter().chain(inside) {
            let (from, to) = ((*start).max(offset), (*piece_end).min(end));
            if from < to {
                let place = index(from - offset)..index(to - offset);
                generate_content(self.key_of(*generation), from, &mut into[place]);
            }
        }
    }

    /// Maximal ranges of written data.
    pub(crate) fn data_ranges(&self) -> Vec<Range<u64>> {
        let mut data_ranges: Vec<Range<u64>> = Vec::new();
        for (start, (end, _)) in &self.pieces {
            match data_ranges.last_mut() {
                Some(last) if last.end == *start => last.end = *end,
                _ => data_ranges.push(*start..*end),
            }
        }
        data_ranges
    }

    /// Describes the first difference between `found`, read at `offset`, and the expected bytes: a
    /// predicate that follows the path, with the offset in the file.
    pub(crate) fn difference(&self, offset: u64, found: &[u8]) -> Option<String> {
        let mut expected = vec![0; found.len()];
        self.expected(offset, &mut expected);
        if expected == found {
            return None;
        }
        let at = expected.iter().zip(found).position(|(a, b)| a != b)?;
        let wrong = expected.iter().zip(found).filter(|(a, b)| a != b).count();
        let shown = at..(at + 8).min(found.len());
        let what = if found[at..].iter().take(64).all(|byte| *byte == 0) {
            ", which are zeros"
        } else {
            ""
        };
        Some(format!(
            "holds {:02x?}{what} at offset {} where {:02x?} was written; {wrong} of the {} bytes \
             from offset {offset} on differ",
            &found[shown.clone()],
            offset + at as u64,
            &expected[shown],
            found.len(),
        ))
    }

    fn key_of(&self, generation: u64) -> u64 {
        mix(self.key, generation)
    }

    /// Replaces `range` by zeros.
    fn clear(&mut self, range: Range<u64>) {
        let before = self.pieces.range(..range.start).next_back();
        if let Some((start, (end, generation))) = before.map(|(start, piece)| (*start, *piece)) {
            if end > range.start {
                self.pieces.insert(start, (range.start, generation));
            }
            if end > range.end {
                self.pieces.insert(range.end, (end, generation));
            }
        }
        let inside: Vec<u64> = self
            .pieces
            .range(range.clone())
            .map(|(at, _)| *at)
            .collect();
        for start in inside {
            let removed = self.pieces.remove(&start);
            if let Some((end, generation)) = removed.filter(|(end, _)| *end > range.end) {
                self.pieces.insert(range.end, (end, generation));
            }
        }
    }
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("an offset within memory")
}

#[cfg(test)]
mod tests {
    use fslab_stats::CounterRandom;

    use super::*;

    #[test]
    fn any_part_of_the_data_is_the_same_as_in_all_of_it() {
        let mut all = [0; 100];
        generate_content(7, 0, &mut all);
        for start in 0..24 {
            for end in start..60 {
                let mut part = vec![0; end - start];
                generate_content(7, start as u64, &mut part);
                assert_eq!(part, all[start..end], "{start}..{end}");
            }
        }
    }

    #[test]
    fn content_equals_a_plain_array_after_any_writes_and_truncations() {
        let mut draw = CounterRandom::counter(5, 0);
        let mut content = Content::new(9);
        let mut plain: Vec<u8> = Vec::new();
        for _ in 0..2_000 {
            if draw.below(4) == 0 {
                let length = draw.below(600);
                content.truncate(length);
                plain.resize(index(length), 0);
            } else {
                let start = draw.below(500);
                let end = start + draw.within(1..120);
                let key = content.write(start..end);
                plain.resize(plain.len().max(index(end)), 0);
                generate_content(key, start, &mut plain[index(start)..index(end)]);
            }
            assert_eq!(content.length(), plain.len() as u64);
            let mut found = vec![0; plain.len()];
            content.expected(0, &mut found);
            assert_eq!(found, plain);
        }
    }

    #[test]
    fn a_difference_names_the_offset_in_the_file_and_both_bytes() {
        let mut content = Content::new(1);
        content.write(1_000..3_000);
        let mut found = vec![0; 500];
        content.expected(2_000, &mut found);
        assert_eq!(content.difference(2_000, &found), None);
        let right = found[17];
        found[17] ^= 0xff;
        let text = content.difference(2_000, &found).expect("differs");
        assert!(text.contains("at offset 2017"), "{text}");
        assert!(text.contains(&format!("{:02x}", found[17])), "{text}");
        assert!(text.contains(&format!("{right:02x}")), "{text}");
    }

    #[test]
    fn data_ranges_are_the_written_ranges() {
        let mut content = Content::new(1);
        content.write(0..10);
        content.write(10..20);
        content.write(50..60);
        content.truncate(100);
        assert_eq!(content.data_ranges(), [0..20, 50..60]);
    }
}
