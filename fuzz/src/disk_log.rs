//! Mutations of the log of a simulated disk. It is compressed and has a checksum, so that hardly
//! any change of its bytes is read: what is inside is changed, and compressed again.
//!
//! ```text
//!     "fslabdsk"  version     zlib stream:  bytes of the head  head (JSON)  requests, blocks: u64
//!                                           requests of 32 bytes with numbers of blocks, blocks
//! ```

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde_json::Value;

use crate::chance::Chance;
use crate::structure::mutate;

/// Bytes before the stream.
const START_BYTES: usize = 12;
/// What is inside is no longer than this: what is long is slow, and finds the same.
const BYTES_MAX: usize = 1 << 20;
/// Bytes of a request without its blocks.
const REQUEST_BYTES: usize = 32;
/// Numbers at which readers go wrong.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    7,
    8,
    9,
    255,
    4096,
    65535,
    1 << 17,
    (1 << 17) + 1,
    4 << 20,
    (4 << 20) + 1,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64 / 512,
    i64::MAX as u64,
    u64::MAX,
];

/// A changed log, with parts of another; `None` for what is no log.
pub(crate) fn change(input: &[u8], other: &[u8], chance: &mut Chance) -> Option<Vec<u8>> {
    let (start, mut inside) = opened(input)?;
    let donor = opened(other).map_or_else(Vec::new, |it| it.1);
    for _ in 0..=chance.below(4) {
        match chance.below(8) {
            0 => change_head(&mut inside, &donor, chance)?,
            1 => flip(&mut inside, chance),
            2 | 3 => put_number(&mut inside, chance),
            4 => {
                let part = chance.part(inside.len());
                inside.drain(part);
            }
            5 => splice(&mut inside, &donor, chance),
            6 => repeat_request(&mut inside, chance),
            _ => count_requests(&mut inside, chance),
        }
    }
    inside.truncate(BYTES_MAX);
    let mut stream = ZlibEncoder::new(start.to_vec(), Compression::fast());
    stream.write_all(&inside).ok()?;
    stream.finish().ok()
}

/// What is before the stream, and what is inside of it.
fn opened(input: &[u8]) -> Option<(&[u8], Vec<u8>)> {
    let (start, stream) = input.split_at_checked(START_BYTES)?;
    let mut inside = Vec::new();
    let mut stream = ZlibDecoder::new(stream).take(BYTES_MAX as u64);
    // Of a stream that is cut, what is there.
    let read = stream.read_to_end(&mut inside);
    (read.is_ok() || !inside.is_empty()).then_some((start, inside))
}

/// The bytes of the head.
fn head_of(inside: &[u8]) -> Option<&[u8]> {
    let bytes = u32::from_le_bytes(inside.get(..4)?.try_into().ok()?);
    inside.get(4..4 + bytes as usize)
}

fn change_head(inside: &mut Vec<u8>, donor: &[u8], chance: &mut Chance) -> Option<()> {
    let Some(head) = head_of(inside) else {
        return Some(());
    };
    let length = head.len();
    let Ok(mut value) = serde_json::from_slice::<Value>(head) else {
        return Some(());
    };
    let other = head_of(donor).and_then(|it| serde_json::from_slice(it).ok());
    mutate(&mut value, &other.unwrap_or(Value::Null), chance);
    let text = value.to_string().into_bytes();
    let bytes = u32::try_from(text.len()).ok()?.to_le_bytes();
    inside.splice(..4 + length, bytes.into_iter().chain(text));
    Some(())
}

fn flip(inside: &mut [u8], chance: &mut Chance) {
    let at = chance.below(inside.len());
    if let Some(byte) = inside.get_mut(at) {
        *byte ^= 1 << chance.below(8);
    }
}

/// Where a request begins, if none has more blocks than those of the seeds.
fn some_request(inside: &[u8], chance: &mut Chance) -> Option<usize> {
    let first = head_of(inside)?.len() + 4 + 16;
    let count = u64::from_le_bytes(inside.get(first - 16..first - 8)?.try_into().ok()?);
    let mut at = first;
    for _ in 0..chance.below(usize::try_from(count.min(4096)).ok()?) {
        let request = inside.get(at..at + REQUEST_BYTES)?;
        let sectors = u32::from_le_bytes(request[4..8].try_into().ok()?);
        let blocks = if request[0] == 0 {
            sectors.div_ceil(8)
        } else {
            0
        };
        at += REQUEST_BYTES + 4 * blocks as usize;
    }
    Some(at)
}

/// A field of a request, or any bytes, become one of the numbers.
fn put_number(inside: &mut [u8], chance: &mut Chance) {
    let number = *chance.one(NUMBERS);
    let field = match some_request(inside, chance) {
        Some(request) => {
            let fields = [(0, 1), (1, 1), (4, 4), (8, 8), (16, 8), (24, 8), (32, 4)];
            let (at, bytes) = *chance.one(&fields);
            request + at..request + at + bytes
        }
        None => {
            let at = chance.below(inside.len());
            at..at + [1, 2, 4, 8][chance.below(4)]
        }
    };
    if let Some(bytes) = inside.get_mut(field) {
        let length = bytes.len();
        bytes.copy_from_slice(&number.to_le_bytes()[..length]);
    }
}

fn splice(inside: &mut Vec<u8>, donor: &[u8], chance: &mut Chance) {
    let part = chance.part(donor.len());
    let at = chance.below(inside.len() + 1);
    inside.splice(at..at, donor[part].iter().copied());
}

/// A request comes many times, and is counted.
fn repeat_request(inside: &mut Vec<u8>, chance: &mut Chance) {
    let Some(at) = some_request(inside, chance) else {
        return;
    };
    let length = [REQUEST_BYTES, REQUEST_BYTES + 4][chance.below(2)];
    let Some(request) = inside.get(at..at + length).map(<[u8]>::to_vec) else {
        return;
    };
    let times = [1, 2, 100, 5000][chance.below(4)];
    inside.splice(at..at, request.repeat(times));
    add_to_count(inside, times as u64);
}

/// The number of requests is another than there are.
fn count_requests(inside: &mut [u8], chance: &mut Chance) {
    add_to_count(inside, [1, 2, u64::MAX, 1 << 40][chance.below(4)]);
}

fn add_to_count(inside: &mut [u8], more: u64) {
    let Some(at) = head_of(inside).map(|head| 4 + head.len()) else {
        return;
    };
    if let Some(bytes) = inside.get_mut(at..at + 8) {
        let mut count = [0; 8];
        count.copy_from_slice(bytes);
        let count = u64::from_le_bytes(count).wrapping_add(more);
        bytes.copy_from_slice(&count.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_crash::{LogLimits, read_log};

    /// Else the target sees broken streams alone.
    #[test]
    fn many_changed_logs_are_still_logs() {
        let seed = include_bytes!("../corpus/disk-log/seed-fat16.disklog");
        let mut chance = Chance::new(1);
        let (mut changed, mut read) = (0, 0);
        for _ in 0..300 {
            let log = change(seed, seed, &mut chance).expect("a log");
            changed += u32::from(log != seed);
            read += u32::from(read_log(&log[..], LogLimits::default()).is_ok());
        }
        assert!(changed > 290 && read > 20, "{changed} changed, {read} read");
    }
}
