//! What libFuzzer asks for in the process of one target: the target, and its mutations.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::campaign::{self, CURRENT, SEEDS, TARGET};
use crate::{Target, find};

/// The target of this process, and the file of the input that runs: a process without memory or
/// stack cannot write it any more.
static SEARCHED: OnceLock<(&Target, File)> = OnceLock::new();

/// The target of disks' logs.
const LOGS: &str = "disk-log";
/// Bytes of a log before its stream.
const START_BYTES: usize = 12;
/// What is inside of a stream is no longer than this: what is long is slow, and finds the same.
const INSIDE_MAX: usize = 1 << 20;

/// Begins the process of a target, and returns how many inputs come before any that is searched;
/// without a target runs the command, and ends.
///
/// # Panics
/// For a target that is not known, or a directory that is not the campaign's.
pub fn begin() -> usize {
    let Ok(name) = std::env::var(TARGET) else {
        std::process::exit(campaign::command());
    };
    let target = find(&name).expect("the command knows the target");
    let file = File::create(CURRENT).expect("the command made the directory");
    SEARCHED.get_or_init(|| (target, file));
    let seeds = std::fs::read(SEEDS).unwrap_or_default();
    // An empty one is before them.
    2 + seeds.iter().filter(|byte| **byte == b',').count()
}

/// Runs the target with `input`.
///
/// # Panics
/// Where the target does, or before [`begin`].
pub fn run(input: &[u8]) {
    let (target, file) = SEARCHED.get().expect("the process began");
    let length = (input.len() as u64).to_le_bytes();
    file.write_all_at(&[&length, input].concat(), 0)
        .expect("memory is left for an input");
    (target.run)(input);
}

/// Changes the first `size` bytes of `data` to at most `max_size`, by `change`; of a disk's log
/// what is inside of its stream, because hardly any change of a compressed byte is read.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    change: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let is_log = SEARCHED
        .get()
        .is_some_and(|(target, _)| target.name == LOGS);
    if !is_log {
        return change(data, size, max_size);
    }
    match changed_log(&data[..size], change) {
        Some(log) if log.len() <= max_size => {
            data[..log.len()].copy_from_slice(&log);
            log.len()
        }
        _ => change(data, size, max_size),
    }
}

fn changed_log(log: &[u8], change: fn(&mut [u8], usize, usize) -> usize) -> Option<Vec<u8>> {
    let (start, stream) = log.split_at_checked(START_BYTES)?;
    let mut inside = Vec::new();
    // Of a stream that is cut, what is there.
    let read = ZlibDecoder::new(stream)
        .take(INSIDE_MAX as u64)
        .read_to_end(&mut inside);
    if read.is_err() && inside.is_empty() {
        return None;
    }
    let size = inside.len();
    inside.resize(INSIDE_MAX.min(size + 4096), 0);
    let max_size = inside.len();
    let size = change(&mut inside, size, max_size);
    let mut stream = ZlibEncoder::new(start.to_vec(), Compression::fast());
    stream.write_all(&inside[..size]).ok()?;
    stream.finish().ok()
}
