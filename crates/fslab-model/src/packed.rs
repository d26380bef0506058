//! A stored latency histogram: only non-empty buckets.
//!
//! In memory an HDR histogram of these bounds has 33,000 counters, 270 KB; a stored one has some
//! hundred that are not zero, and a run has thousands of histograms. Supports only the bounds of
//! [`crate::LatencyHistogram`].
//!
//! The encoding is HDR's "V2": a header of 40 bytes (cookie, length, offset, digits, lowest,
//! highest, ratio), then the counters as zigzag LEB128, where a negative number is a run of zeros.

/// The first word of an encoding: "V2", with numbers of at most nine bytes.
const COOKIE: u32 = 0x1c84_9303 | 0x10;
const HEADER_BYTES: usize = 40;
/// Counters per power of two: three digits need 2048, whose lower half is that of the power before.
const HALF_BITS: u32 = 10;
const HALF: u64 = 1 << HALF_BITS;

/// Buckets in ascending order: the largest value of each, and its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    buckets: Box<[(u64, u64)]>,
    total: u64,
}

impl Packed {
    pub(crate) fn of(values: impl Iterator<Item = (u64, u64)>) -> Self {
        let buckets: Box<[(u64, u64)]> = values.collect();
        let total = buckets.iter().map(|(_, count)| count).sum();
        Self { buckets, total }
    }

    /// Reads an encoding with these bounds; `None` for any other: the library reads more of them
    /// and reports errors.
    pub(crate) fn read(bytes: &[u8], highest: u64) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES)?;
        let u32_at = |at: usize| Some(u32::from_be_bytes(header[at..at + 4].try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_be_bytes(header[at..at + 8].try_into().ok()?));
        let payload = usize::try_from(u32_at(4)?).ok()?;
        let ours = u32_at(0)? == COOKIE
            && u32_at(8)? == 0
            && u32_at(12)? == 3
            && u64_at(16)? == 1
            && u64_at(24)? <= highest
            && payload == rest.len();
        if !ours {
            return None;
        }
        let (mut buckets, mut index, mut total) = (Vec::new(), 0_u64, 0_u64);
        for number in Numbers(rest) {
            let number = number?;
            match u64::try_from(number) {
                Ok(0) => index += 1,
                Ok(count) => {
                    buckets.push((last_value(index)?, count));
                    total = total.checked_add(count)?;
                    index += 1;
                }
                Err(_) => index = index.checked_add(number.unsigned_abs())?,
            }
        }
        let buckets = buckets.into_boxed_slice();
        Some(Self { buckets, total })
    }

    /// The encoding of these buckets, equal to the library's; `None` for a count above 2^63.
    pub(crate) fn write(&self, highest: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + 3 * self.buckets.len());
        for word in [COOKIE, 0, 0, 3] {
            bytes.extend(word.to_be_bytes());
        }
        for word in [1, highest, 1.0_f64.to_bits()] {
            bytes.extend(u64::to_be_bytes(word));
        }
        let mut next = 0;
        for (last, count) in &self.buckets {
            let index = index_of(*last);
            match i64::try_from(index - next).ok()? {
                0 => {}
                // A single zero is written as such.
                1 => write_number(0, &mut bytes),
                zeros => write_number(-zeros, &mut bytes),
            }
            write_number(i64::try_from(*count).ok()?, &mut bytes);
            next = index + 1;
        }
        if self.buckets.is_empty() {
            write_number(0, &mut bytes);
        }
        let payload = u32::try_from(bytes.len() - HEADER_BYTES).ok()?;
        bytes[4..8].copy_from_slice(&payload.to_be_bytes());
        Some(bytes)
    }

    /// The sum; `None` if a count overflows.
    pub(crate) fn merged(&self, other: &Self) -> Option<Self> {
        let (mut ours, mut theirs) = (
            self.buckets.iter().peekable(),
            other.buckets.iter().peekable(),
        );
        let mut buckets = Vec::with_capacity(self.buckets.len() + other.buckets.len());
        while let Some(last) = [ours.peek(), theirs.peek()]
            .into_iter()
            .flatten()
            .map(|(last, _)| *last)
            .min()
        {
            let mut count = 0_u64;
            for side in [&mut ours, &mut theirs] {
                if let Some((_, more)) = side.next_if(|(value, _)| *value == last) {
                    count = count.checked_add(*more)?;
                }
            }
            buckets.push((last, count));
        }
        Some(Self {
            buckets: buckets.into_boxed_slice(),
            total: self.total.checked_add(other.total)?,
        })
    }

    /// The largest value of the bucket with the operation of that rank, as HDR defines a quantile:
    /// rank ⌈quantile · total⌉, and at least 1. `None` if empty.
    pub(crate) fn at_quantile(&self, quantile: f64) -> Option<u64> {
        let rank = (quantile.min(1.0) * self.total as f64).ceil().max(1.0) as u64;
        let mut counted = 0;
        let found = self.buckets.iter().find(|(_, count)| {
            counted += count;
            counted >= rank
        });
        let last = found?.0;
        Some(if quantile == 0.0 {
            first_value(last)
        } else {
            last
        })
    }

    /// The mean, with each operation in the middle of its bucket.
    pub(crate) fn mean(&self) -> Option<f64> {
        let total = self.total as f64;
        let share = |(last, count): &(u64, u64)| {
            let first = first_value(*last);
            let middle = first + (last - first).div_ceil(2);
            middle as f64 * *count as f64 / total
        };
        (self.total > 0).then(|| self.buckets.iter().map(share).sum())
    }

    pub(crate) fn min(&self) -> Option<u64> {
        self.buckets.first().map(|(last, _)| first_value(*last))
    }

    pub(crate) fn max(&self) -> Option<u64> {
        self.buckets.last().map(|(last, _)| *last)
    }

    pub(crate) fn buckets(&self) -> &[(u64, u64)] {
        &self.buckets
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}

/// The largest value of a counter by index; `None` past the last one.
fn last_value(index: u64) -> Option<u64> {
    let (power, within) = (index >> HALF_BITS, index & (HALF - 1));
    let Some(shift) = power.checked_sub(1) else {
        return Some(within);
    };
    let above = within + HALF + 1;
    let fits = shift < u64::from(above.leading_zeros());
    fits.then(|| (above << shift) - 1)
}

/// The index of the counter whose largest value is `last`.
fn index_of(last: u64) -> u64 {
    let shift =
        u64::from(u64::BITS - last.leading_zeros()).saturating_sub(u64::from(HALF_BITS) + 1);
    (shift << HALF_BITS) + (last >> shift)
}

/// A zigzag LEB128 number of at most nine bytes.
fn write_number(number: i64, bytes: &mut Vec<u8>) {
    let mut left = ((number << 1) ^ (number >> 63)).cast_unsigned();
    for _ in 0..8 {
        if left < 0x80 {
            bytes.push(left as u8);
            return;
        }
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// The smallest value of the bucket whose largest is `last`.
fn first_value(last: u64) -> u64 {
    let shift = (u64::BITS - last.leading_zeros()).saturating_sub(HALF_BITS + 1);
    (last >> shift) << shift
}

/// Zigzag LEB128 numbers of at most nine bytes; an inner `None` is a truncated one, and the last.
struct Numbers<'a>(&'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = Option<i64>;

    fn next(&mut self) -> Option<Option<i64>> {
        if self.0.is_empty() {
            return None;
        }
        let mut number = 0_u64;
        for place in 0..9 {
            let Some((byte, rest)) = self.0.split_first() else {
                return Some(None);
            };
            self.0 = rest;
            // The ninth byte has eight bits of the number.
            let (bits, ends) = match place {
                8 => (u64::from(*byte), true),
                _ => (u64::from(byte & 0x7f), byte & 0x80 == 0),
            };
            number |= bits << (7 * place);
            if ends {
                break;
            }
        }
        let half = i64::try_from(number >> 1).unwrap_or(i64::MAX);
        Some(Some(if number & 1 == 0 { half } else { -half - 1 }))
    }
}
