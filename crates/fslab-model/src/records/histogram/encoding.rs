//! The encoding of a histogram: HDR's "V2", which other tools read, with the bounds of
//! [`super::buckets`] only.
//!
//! A header of 40 bytes (cookie, length, offset, digits, lowest, highest, ratio), then the counters
//! as zigzag LEB128, where a negative number is a run of zeros.

use super::buckets::{BUCKETS, DIGITS, HIGHEST_NS, index, largest_ns};

/// The first word of an encoding: "V2", with numbers of at most nine bytes.
const COOKIE: u32 = 0x1c84_9303 | 0x10;
const HEADER_BYTES: usize = 40;
const LOWEST_NS: u64 = 1;

/// Encodes buckets in ascending order: the largest value of each, and its count.
pub(super) fn encode(buckets: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + 3 * buckets.len());
    for word in [COOKIE, 0, 0, DIGITS] {
        bytes.extend(word.to_be_bytes());
    }
    for word in [LOWEST_NS, HIGHEST_NS, 1.0_f64.to_bits()] {
        bytes.extend(u64::to_be_bytes(word));
    }
    let mut next = 0;
    for (largest, count) in buckets {
        let index = index(*largest);
        match (index - next) as i64 {
            0 => {}
            // A single zero is written as such.
            1 => write_number(0, &mut bytes),
            zeros => write_number(-zeros, &mut bytes),
        }
        write_number(i64::try_from(*count).unwrap_or(i64::MAX), &mut bytes);
        next = index + 1;
    }
    if buckets.is_empty() {
        write_number(0, &mut bytes);
    }
    let payload = (bytes.len() - HEADER_BYTES) as u32;
    bytes[4..8].copy_from_slice(&payload.to_be_bytes());
    bytes
}

/// Decodes what [`encode`] wrote; an error says what is wrong.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<(u64, u64)>, &'static str> {
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or("too short")?;
    let (words, numbers) = header.split_at(16);
    let words = words.as_chunks().0;
    let [cookie, length, offset, digits] = [0, 1, 2, 3].map(|at| u32::from_be_bytes(words[at]));
    let numbers = numbers.as_chunks().0;
    let [lowest, highest] = [0, 1].map(|at| u64::from_be_bytes(numbers[at]));
    if cookie != COOKIE {
        return Err("not in HDR's encoding V2");
    }
    if (offset, digits, lowest) != (0, DIGITS, LOWEST_NS) || highest > HIGHEST_NS {
        return Err("other bounds");
    }
    if length as usize != rest.len() {
        return Err("another length");
    }
    let (mut buckets, mut index, mut total) = (Vec::new(), 0_u64, 0_u64);
    for number in Numbers(rest) {
        let number = number.ok_or("a torn number")?;
        let zeros = match u64::try_from(number) {
            Ok(count @ 1..) => {
                let index = usize::try_from(index).ok().filter(|index| *index < BUCKETS);
                buckets.push((largest_ns(index.ok_or("too many counters")?), count));
                total = total.checked_add(count).ok_or("too large counts")?;
                1
            }
            Ok(0) => 1,
            Err(_) => number.unsigned_abs(),
        };
        index = index.checked_add(zeros).ok_or("too many counters")?;
    }
    Ok(buckets)
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

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::latency_histogram::LatencyHistogram;
    use super::*;

    proptest! {
        /// Our figures and our encoding are those of the library of HDR histograms.
        #[test]
        fn a_histogram_is_one_of_the_library(
            counted in vec((0..=HIGHEST_NS, 1..1_000_u64), 0..40),
            small in vec((0..5_000_u64, 1..3_u64), 0..40),
        ) {
            let mut ours = LatencyHistogram::new();
            let digits = u8::try_from(DIGITS).expect("three");
            let mut theirs = Histogram::<u64>::new_with_bounds(LOWEST_NS, HIGHEST_NS, digits)
                .expect("bounds");
            for (ns, count) in counted.iter().chain(&small) {
                ours.record_many(*ns, *count);
                theirs.saturating_record_n((*ns).max(LOWEST_NS), *count);
            }
            let mut encoded = Vec::new();
            V2Serializer::new().serialize(&theirs, &mut encoded).expect("encodes");
            prop_assert_eq!(&ours.to_bytes(), &encoded);
            let read: Histogram<u64> =
                Deserializer::new().deserialize(&mut &encoded[..]).expect("decodes");
            prop_assert_eq!(&read, &theirs);
            prop_assert_eq!(&LatencyHistogram::from_bytes(&encoded).expect("reads"), &ours);
            let is_any = !theirs.is_empty();
            prop_assert_eq!(ours.count(), theirs.len());
            prop_assert_eq!(ours.min_ns(), is_any.then(|| theirs.min()));
            prop_assert_eq!(ours.max_ns(), is_any.then(|| theirs.max()));
            prop_assert_eq!(ours.mean_ns(), is_any.then(|| theirs.mean()));
            for percentile in [0.0, 1.0, 33.3, 50.0, 95.0, 99.0, 99.9, 100.0] {
                let quantile = theirs.value_at_quantile(percentile / 100.0);
                prop_assert_eq!(ours.percentile_ns(percentile), is_any.then_some(quantile));
            }
        }
    }
}
