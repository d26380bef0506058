//! The file of a snapshot: the state of the devices, and the pages of memory that are not zero.
//!
//! ```text
//!     16 bytes   "fslab-snapshot 2"
//!     u64        bytes of the state of the devices
//!     u64        bytes of memory
//!     u64        checksum: of what is before it and of the state of the devices
//!     ...        the state of the devices
//!     runs of pages, by their addresses: u64 address, u64 bytes, u64 checksum, the bytes
//!     u64 x 3    a run of 0 bytes at the end of the memory
//! ```
//! Numbers are little endian. A checksum is the CRC-32 of the run's bytes, continued from the
//! checksum before and over the address and length: a run that is changed, moved, missing or taken
//! from another snapshot is noticed. It shows damage, not forgery: only the user can write the
//! file.

use std::fs::File;
use std::io::{self, Read, Write};

use crc32fast::Hasher;
use fslab_sys::os::FileExt;

use super::state::Snapshot;

pub(super) const MAGIC: &[u8; 16] = b"fslab-snapshot 2";
const PAGE: usize = 4096;
/// Bytes that are read at a time; the longest run.
const PART: usize = 1 << 20;
/// More than the state of any machine's devices.
pub(super) const DEVICES_MAX: u64 = 1 << 20;

impl Snapshot {
    /// Writes it to `out`.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let bytes = self.memory.metadata()?.len();
        let head = head(self.devices.len() as u64, bytes);
        let mut sum = head_checksum(&head, &self.devices);
        out.write_all(&head)?;
        out.write_all(&u64::from(sum).to_le_bytes())?;
        out.write_all(&self.devices)?;
        let mut part = vec![0; PART];
        let mut address = 0;
        while let Some(used) = fslab_sys::next_used(&self.memory, address)? {
            address = used - used % PAGE as u64;
            let length = (bytes - address).min(PART as u64);
            let part = &mut part[..length as usize];
            self.memory.read_exact_at(part, address)?;
            write_runs(out, address, part, &mut sum)?;
            address += length;
        }
        write_run(out, bytes, &[], &mut sum)
    }

    /// Reads it from `input`, with its memory in a new file.
    ///
    /// # Errors
    /// `InvalidData` if it is not one, or not of a machine with `bytes` of memory; those of reading
    /// it.
    pub(super) fn read(input: &mut impl Read, bytes: u64) -> io::Result<Self> {
        let head = Head::read(input)?;
        if head.bytes != bytes {
            return Err(damaged());
        }
        let memory: File = fslab_sys::memory_file(bytes)?;
        head.read_runs(input, &mut |address, part| {
            memory.write_all_at(part, address)
        })?;
        Ok(Self {
            devices: head.devices,
            memory,
        })
    }
}

/// Reads a file to its end.
///
/// # Errors
/// `InvalidData` if it is no snapshot or is damaged; those of reading it.
pub(super) fn ensure_sound(input: &mut impl Read) -> io::Result<()> {
    Head::read(input)?.read_runs(input, &mut |_, _| Ok(()))
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a damaged snapshot")
}

/// What is before the runs.
struct Head {
    devices: Vec<u8>,
    /// Bytes of memory.
    bytes: u64,
    /// The checksum so far.
    sum: u32,
}

impl Head {
    fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        input.read_exact(&mut magic)?;
        let (length, bytes) = (read_number(input)?, read_number(input)?);
        let sum_there = read_number(input)?;
        if magic != *MAGIC || length > DEVICES_MAX {
            return Err(damaged());
        }
        let mut devices = vec![0; length as usize];
        input.read_exact(&mut devices)?;
        let sum = head_checksum(&head(length, bytes), &devices);
        if sum_there != u64::from(sum) {
            return Err(damaged());
        }
        Ok(Self {
            devices,
            bytes,
            sum,
        })
    }

    /// Reads the runs, and gives each that matches its checksum to `on_run`, with its address.
    fn read_runs(
        &self,
        input: &mut impl Read,
        on_run: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut part = vec![0; PART];
        let (mut begin, mut sum) = (0, self.sum);
        loop {
            let (address, length) = (read_number(input)?, read_number(input)?);
            let sum_there = read_number(input)?;
            let end = address.checked_add(length);
            let end = end.filter(|end| *end <= self.bytes).ok_or_else(damaged)?;
            if length > PART as u64 || address < begin {
                return Err(damaged());
            }
            let part = &mut part[..length as usize];
            input.read_exact(part)?;
            sum = run_checksum(sum, address, part);
            if sum_there != u64::from(sum) {
                return Err(damaged());
            }
            if length == 0 {
                let is_end = address == self.bytes && input.read(&mut [0])? == 0;
                return is_end.then_some(()).ok_or_else(damaged);
            }
            begin = end;
            on_run(address, part)?;
        }
    }
}

/// Writes the runs of pages of `part` that are not zero.
fn write_runs(out: &mut impl Write, address: u64, part: &[u8], sum: &mut u32) -> io::Result<()> {
    let is_zero = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    let pages: Vec<_> = part.chunks(PAGE).collect();
    let mut start = 0;
    for run in pages.chunk_by(|one, next| is_zero(one) == is_zero(next)) {
        let end = (start + run.len() * PAGE).min(part.len());
        if !is_zero(run[0]) {
            write_run(out, address + start as u64, &part[start..end], sum)?;
        }
        start = end;
    }
    Ok(())
}

/// Writes a run, and continues the checksum `sum`.
fn write_run(out: &mut impl Write, address: u64, bytes: &[u8], sum: &mut u32) -> io::Result<()> {
    *sum = run_checksum(*sum, address, bytes);
    out.write_all(&address.to_le_bytes())?;
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(&u64::from(*sum).to_le_bytes())?;
    out.write_all(bytes)
}

/// What is before the first checksum.
fn head(device_bytes: u64, memory_bytes: u64) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(device_bytes.to_le_bytes());
    head.extend(memory_bytes.to_le_bytes());
    head
}

fn head_checksum(head: &[u8], devices: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(head);
    hasher.update(devices);
    hasher.finalize()
}

/// The checksum of a run behind one with the checksum `before`.
fn run_checksum(before: u32, address: u64, bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(before);
    hasher.update(&address.to_le_bytes());
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

fn read_number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const BYTES: u64 = 3 * PART as u64 + 12_288;

    fn snapshot() -> Snapshot {
        let memory = fslab_sys::memory_file(BYTES).expect("made");
        for (address, content) in [(0, "first"), (8190, "two pages"), (PART as u64, "second")] {
            memory
                .write_all_at(content.as_bytes(), address)
                .expect("written");
        }
        memory.write_all_at(b"last", BYTES - 4).expect("written");
        Snapshot {
            devices: b"the state of the devices".to_vec(),
            memory,
        }
    }

    fn written(snapshot: &Snapshot) -> Vec<u8> {
        let mut file = Vec::new();
        snapshot.write(&mut file).expect("written");
        file
    }

    fn content(memory: &File) -> Vec<u8> {
        let mut bytes = vec![0; BYTES as usize];
        memory.read_exact_at(&mut bytes, 0).expect("read");
        bytes
    }

    #[test]
    fn a_snapshot_is_read_as_it_was_written_and_zeros_take_no_room() {
        let snapshot = snapshot();
        let file = written(&snapshot);
        assert!(file.len() < 6 * PAGE, "{}", file.len());
        let read = Snapshot::read(&mut &file[..], BYTES).expect("read");
        assert_eq!(read.devices, snapshot.devices);
        assert!(content(&read.memory) == content(&snapshot.memory));
    }

    #[test]
    fn a_file_that_ends_early_or_is_of_another_machine_is_refused() {
        let file = written(&snapshot());
        let read = |bytes: &[u8], memory: u64| Snapshot::read(&mut &bytes[..], memory).err();
        assert!(read(&file, BYTES).is_none());
        assert!(read(&file, BYTES + 4096).is_some());
        for end in (0..file.len()).step_by(7) {
            assert!(read(&file[..end], BYTES).is_some(), "{end}");
        }
        let mut damaged = file.clone();
        damaged[3] ^= 1;
        assert!(read(&damaged, BYTES).is_some());
        let at = MAGIC.len() + 24 + b"the state of the devices".len();
        let with = |range: std::ops::Range<usize>, bytes: &[u8]| {
            let mut damaged = file.clone();
            damaged[range].copy_from_slice(bytes);
            damaged
        };
        // A run that would lie behind the memory, and one of zeros where the first was.
        assert!(read(&with(at..at + 8, &u64::MAX.to_le_bytes()), BYTES).is_some());
        assert!(read(&with(at..at + 16, &[0; 16]), BYTES).is_some());
        // The first run a second time.
        let second = at + 24 + 3 * PAGE;
        assert!(read(&with(second..second + 8, &[0; 8]), BYTES).is_some());
        assert!(read(&[&file[..], b"more"].concat(), BYTES).is_some());
    }

    /// Of twelve snapshots with 25 flipped bits two ran to the end, with another fingerprint.
    #[test]
    fn a_flipped_bit_anywhere_a_missing_run_and_one_of_another_snapshot_are_damage() {
        let file = written(&snapshot());
        let mut damaged = file.clone();
        for at in 0..file.len() {
            let bit = 1 << (at % 8);
            damaged[at] ^= bit;
            let read = Snapshot::read(&mut &damaged[..], BYTES);
            assert!(read.is_err(), "bit {} of byte {at}", at % 8);
            damaged[at] ^= bit;
        }
        let at = MAGIC.len() + 24 + b"the state of the devices".len();
        let first_run = at..at + 24 + 3 * PAGE;
        let without = [&file[..first_run.start], &file[first_run.end..]].concat();
        assert!(Snapshot::read(&mut &without[..], BYTES).is_err());
        let mut other = snapshot();
        other.devices[0] ^= 1;
        let other = written(&other);
        let mixed = [&file[..first_run.end], &other[first_run.end..]].concat();
        assert!(Snapshot::read(&mut &mixed[..], BYTES).is_err());
    }
}
