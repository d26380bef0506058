//! The lines of fio's logs: integers with commas, as fast as a log of millions of them needs.

use crate::latency_bins;

/// The last direction: 0 reads, 1 writes, 2 trims.
pub(super) const DIRECTION_MAX: u64 = 2;
/// Fields of a line: time, value, direction, block size; later versions have the priority, and with
/// options the offset and the time of issue.
const FIELDS: std::ops::RangeInclusive<usize> = 4..=7;
/// Fields before the bins: time, direction, block size.
const BEFORE_BINS: usize = 3;
/// fio merges up to 64 bins (`log_hist_coarseness`).
const COARSENESS_MAX: u32 = 6;

/// How the lines of a log look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Entries,
    Bins(usize),
}

impl Shape {
    pub(super) fn of(line: &str) -> Option<Self> {
        let fields = line.bytes().filter(|byte| *byte == b',').count() + 1;
        let shape = match fields {
            fields if FIELDS.contains(&fields) => Self::Entries,
            fields => {
                Bins::of_count(fields.checked_sub(BEFORE_BINS)?)?;
                Self::Bins(fields)
            }
        };
        shape.has(line).then_some(shape)
    }

    pub(super) fn has(self, line: &str) -> bool {
        match self {
            Self::Entries => Entry::of(line).is_some(),
            Self::Bins(fields) => {
                let is_direction = |(place, value): (usize, Option<u64>)| {
                    value.is_some_and(|value| place != 1 || value <= DIRECTION_MAX)
                };
                let count = line.bytes().filter(|byte| *byte == b',').count() + 1;
                count == fields && numbers(line).enumerate().all(is_direction)
            }
        }
    }
}

/// A line of an operation, or of a mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at_ms: u64,
    pub(super) value: u64,
    pub(super) direction: u64,
    pub(super) block_bytes: u64,
    /// True if no version before 3 writes such a line: its last field is a priority.
    pub(super) is_of_fio_3: bool,
}

impl Entry {
    pub(super) fn of(line: &str) -> Option<Self> {
        let mut fields = [0; 7];
        let mut count = 0;
        let mut has_hexadecimal = false;
        let mut rest = line.as_bytes();
        loop {
            let place = fields.get_mut(count)?;
            (*place, rest) = match leading(rest) {
                Some((number, [])) => (number, [].as_slice()),
                Some((number, [b',', rest @ ..])) if !rest.is_empty() => (number, rest),
                _ if count >= 4 => {
                    has_hexadecimal = true;
                    hexadecimal(rest)?
                }
                _ => return None,
            };
            count += 1;
            if rest.is_empty() {
                break;
            }
        }
        let [at_ms, value, direction, block_bytes, last, ..] = fields;
        let is_entry = FIELDS.contains(&count) && direction <= DIRECTION_MAX;
        is_entry.then_some(Self {
            at_ms,
            value,
            direction,
            block_bytes,
            // The fifth field of fio 2 is an offset.
            is_of_fio_3: has_hexadecimal || count > 5 || count == 5 && last <= 1,
        })
    }

    /// The line of a histogram, without its bins.
    pub(super) fn of_bins(line: &str) -> Option<Self> {
        let mut fields = numbers(line);
        let (at_ms, direction) = (fields.next()??, fields.next()??);
        let block_bytes = fields.next()??;
        (direction <= DIRECTION_MAX).then_some(Self {
            at_ms,
            value: 0,
            direction,
            block_bytes,
            is_of_fio_3: true,
        })
    }
}

/// The bins of a histogram's line.
pub(super) struct Bins {
    /// The nanoseconds in the middle of each.
    middles_ns: Vec<u64>,
    coarseness: u32,
}

impl Bins {
    pub(super) fn of(line: &str) -> Option<Self> {
        let fields = line.bytes().filter(|byte| *byte == b',').count() + 1;
        Self::of_count(fields.checked_sub(BEFORE_BINS)?)
    }

    /// The bins of fio 3 in nanoseconds, or of fio 2 in microseconds; their number says which.
    fn of_count(count: usize) -> Option<Self> {
        for (last, unit) in [
            (latency_bins::LAST_OF_NANOSECONDS, 1),
            (latency_bins::LAST_OF_MICROSECONDS, 1000),
        ] {
            let all = last + 1;
            let coarseness = (0..=COARSENESS_MAX).find(|it| all >> it == count as u64);
            if let Some(coarseness) = coarseness {
                let middle = |bin: u64| latency_bins::middle(bin).map(|middle| middle * unit);
                let merged = |place: u64| {
                    let first = place << coarseness;
                    let last = first + (1 << coarseness) - 1;
                    Some(middle(first)?.midpoint(middle(last)?))
                };
                let middles: Option<Vec<u64>> = (0..count as u64).map(merged).collect();
                return middles.map(|middles_ns| Self {
                    middles_ns,
                    coarseness,
                });
            }
        }
        None
    }

    /// Gives each bin with operations to `take`; `None` if the line has another number of bins.
    pub(super) fn each(&self, line: &str, mut take: impl FnMut(u64, u64)) -> Option<()> {
        let mut places = self.middles_ns.iter();
        for count in numbers(line).skip(BEFORE_BINS) {
            let (ns, count) = (places.next()?, count?);
            if count > 0 {
                take(*ns, count);
            }
        }
        places.next().is_none().then_some(())
    }

    /// What its latencies lack.
    pub(super) fn note(&self) -> Option<String> {
        (self.coarseness > 0).then(|| {
            format!(
                "Its bins are {} of fio's (log_hist_coarseness): percentiles are their middles.",
                1 << self.coarseness
            )
        })
    }
}

fn numbers(line: &str) -> impl Iterator<Item = Option<u64>> {
    line.split(',').map(number)
}

/// Digits of an integer that surely fits into 64 bits.
const DIGITS_MAX: usize = 18;

/// An integer with spaces around it.
fn number(field: &str) -> Option<u64> {
    match leading(field.as_bytes())? {
        (number, []) => Some(number),
        _ => None,
    }
}

/// The integer at the beginning, with spaces around it, and what follows.
#[inline]
fn leading(mut text: &[u8]) -> Option<(u64, &[u8])> {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    let (mut number, mut rest) = (0, text);
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        number = u64::wrapping_add(u64::wrapping_mul(number, 10), u64::from(digit - b'0'));
        rest = after;
    }
    let digits = text.len() - rest.len();
    while let [b' ' | b'\t', after @ ..] = rest {
        rest = after;
    }
    (1..=DIGITS_MAX).contains(&digits).then_some((number, rest))
}

/// The hexadecimal field at the beginning, and what follows its comma.
fn hexadecimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| *byte == b',');
    let (field, rest) = match end {
        Some(end) if end + 1 == text.len() => return None,
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, [].as_slice()),
    };
    let digits = std::str::from_utf8(field).ok()?.trim().strip_prefix("0x")?;
    Some((u64::from_str_radix(digits, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_without_room_for_it_is_none() {
        assert_eq!(
            number(" 999999999999999999 "),
            Some(999_999_999_999_999_999)
        );
        assert_eq!(
            [number("1000000000000000000"), number(&"9".repeat(400))],
            [None; 2]
        );
        assert_eq!([number(""), number("1x"), number("-1")], [None; 3]);
    }

    #[test]
    fn the_last_field_tells_the_version() {
        for (line, is_of_fio_3) in [
            ("22, 334, 0, 4096, 0", true),
            ("22, 334, 0, 4096, 0x0004", true),
            ("22, 334, 0, 4096, 8192, 0", true),
            ("22, 334, 0, 4096, 8192", false),
            ("22, 334, 0, 4096", false),
        ] {
            let entry = Entry::of(line).expect(line);
            assert_eq!(entry.is_of_fio_3, is_of_fio_3, "{line}");
            assert_eq!(
                (entry.at_ms, entry.value, entry.block_bytes),
                (22, 334, 4096)
            );
        }
        for line in [
            "1, 2, 3, 4",
            "1, 2, 0",
            "1, 2, 0, -4",
            "1, x, 0, 4",
            "1,2,0,4,5,6,7,8",
            "1,2,0,4,",
            "1,2,0,4,0x1,",
        ] {
            assert_eq!(Entry::of(line), None, "{line}");
        }
    }

    #[test]
    fn the_number_of_bins_tells_their_width_and_unit() {
        let bins = Bins::of_count(1856).expect("of fio 3");
        assert_eq!((bins.middles_ns[127], bins.middles_ns[128]), (127, 129));
        let coarse = Bins::of_count(116).expect("of fio 3, merged");
        assert_eq!(coarse.coarseness, 4);
        assert_eq!(coarse.middles_ns[0], 7);
        let older = Bins::of_count(1216).expect("of fio 2");
        assert_eq!(older.middles_ns[5], 5000);
        assert!(Bins::of_count(117).is_none());
    }
}
