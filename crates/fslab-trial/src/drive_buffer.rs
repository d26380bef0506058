//! Empties the buffer of a simulated disk before a cold phase, as its profile says.
//!
//! The page cache is dropped before; without this, a disk answers from its own buffer what an
//! earlier phase read, at the rate of its interface. The requests depend on the profile and on the
//! size of the device alone, so they are the same in every run.

use std::io;
use std::path::Path;
use std::time::Duration;

use fslab_model::{BufferEmptying, Failure, FailureKind};
use fslab_sys::{DataFile, DataFileOptions, PageBuffer};

/// Bytes of each read: no disk has larger blocks.
const READ_BYTES: u64 = 4096;
/// The golden ratio, in units of 2^-64: its multiples, modulo 1, fill the range
/// from 0 to 1 evenly, with neighbours far apart.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Empties the buffer of the disk behind `device`.
pub(crate) fn empty_buffer(device: &Path, by: BufferEmptying) -> Result<(), Failure> {
    read_around(device, by).map_err(|error| {
        let text = format!("cannot empty the buffer of {}", device.display());
        Failure::new(FailureKind::Device, text).because(&error)
    })
}

fn read_around(device: &Path, by: BufferEmptying) -> io::Result<()> {
    let size = io::Seek::seek(&mut std::fs::File::open(device)?, io::SeekFrom::End(0))?;
    let direct = DataFileOptions {
        read: true,
        direct: true,
        ..DataFileOptions::default()
    };
    let disk = DataFile::open(device, direct)?;
    disk.fsync()?;
    std::thread::sleep(Duration::from_nanos(by.wait_ns));
    let mut into = PageBuffer::zeroed(READ_BYTES as usize);
    for place in places(size, by.reads) {
        disk.read_at(&mut into, place)?;
    }
    Ok(())
}

/// Offsets of the reads. The last one is the end of the device, after which no disk reads ahead.
fn places(size: u64, reads: u32) -> impl Iterator<Item = u64> {
    let blocks = size / READ_BYTES;
    let reads = if blocks == 0 { 0 } else { u64::from(reads) };
    (1..=reads).map(move |number| {
        let share = u128::from(GOLDEN.wrapping_mul(number));
        let block = if number == reads {
            blocks - 1
        } else {
            ((share * u128::from(blocks)) >> 64) as u64
        };
        block * READ_BYTES
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spread_over_the_device_and_end_with_its_last_block() {
        let size = 64 << 20;
        let found: Vec<u64> = places(size, 32).collect();
        assert_eq!(found.len(), 32);
        assert_eq!(found[31], size - READ_BYTES);
        assert!(found.iter().all(|place| place % READ_BYTES == 0));
        // Each eighth of the device has its share, and no read continues another.
        for eighth in 0..8 {
            let within = |place: &&u64| **place / (size / 8) == eighth;
            assert!((3..=6).contains(&found.iter().filter(within).count()));
        }
        for pair in found.windows(2) {
            assert!(pair[0].abs_diff(pair[1]) > 8 << 20, "{pair:?}");
        }
        assert_eq!(places(size, 32).collect::<Vec<_>>(), found);
    }

    #[test]
    fn a_device_of_no_block_has_no_places() {
        assert_eq!(places(0, 32).count(), 0);
        assert_eq!(places(4095, 32).count(), 0);
        assert_eq!(places(4096, 3).collect::<Vec<_>>(), [0, 0, 0]);
        assert_eq!(places(1 << 40, 0).count(), 0);
    }

    #[test]
    fn a_missing_device_is_an_error_that_names_it() {
        let by = BufferEmptying {
            reads: 1,
            wait_ns: 0,
        };
        let failure = empty_buffer(Path::new("/nonexistent/disk"), by).expect_err("missing");
        assert!(failure.message.contains("/nonexistent/disk"), "{failure:?}");
        assert_eq!(failure.errno, Some(2));
    }
}
