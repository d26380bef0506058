//! Space, special files, data that is appended, and data that is damaged below the file system.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use fslab_model::Bytes;
use fslab_stats::CounterRandom;
use fslab_sys::os::{FileExt, MetadataExt, set_mode};
use fslab_sys::{
    DataFile, DataFileOptions, FileAdvice, FileSystemRoom, device_numbers, make_device_node,
};

use super::sheet::{Sheet, word};
use crate::failure::ConformanceFailure;

/// `/dev/null`.
const DEVICE_NODE: (u32, u32) = (1, 3);
const SPECIAL_MODE: u32 = 0o4755;
/// Bytes written at first, and appended afterwards: blocks of 512 bytes on both sides of the 72
/// that a header of AFFS holds.
const APPENDED: (usize, usize) = (80 * 512, 10 * 512);
const VICTIM_BYTES: usize = 1 << 20;
/// The block of the victim that is damaged.
const VICTIM_BLOCK: usize = 100 * 4096;
/// Bytes of it that are looked for on the device.
const SECTOR: usize = 512;
/// Bytes of the device that are read at once.
const SCAN_BYTES: usize = 4 << 20;

/// States the facts of space, and makes what [`recall`] looks at.
pub(super) fn probe(
    sheet: &mut Sheet<'_>,
    empty: Option<FileSystemRoom>,
) -> Result<(), ConformanceFailure> {
    if let Some(room) = empty {
        let used = room.total_bytes.saturating_sub(room.free_bytes);
        let words = format!("{} of {}", Bytes(used), Bytes(room.total_bytes));
        sheet.state("space.used_when_empty", words);
        let files = room.free_files.map_or_else(
            || "not limited".to_owned(),
            |files| format!("{files} with {}", Bytes(room.total_bytes)),
        );
        sheet.state("space.files", files);
    }
    let one = sheet.base.join("one");
    let file = sheet.synced_file(&one, b"1")?;
    let metadata = sheet.checker.must("stat", &one, file.metadata())?;
    sheet.state("space.one_byte", Bytes(metadata.blocks() * 512).to_string());
    let node = sheet.base.join("node");
    if let Err(error) = make_device_node(&node, DEVICE_NODE) {
        sheet.state("node.device", format!("refused ({})", word(&error)));
    }
    let special = sheet.base.join("special");
    sheet.synced_file(&special, b"special")?;
    // A refusal is seen after the remount, as a mode that was not kept.
    let _ = set_mode(&special, SPECIAL_MODE);
    let data = noise(sheet, APPENDED.0 + APPENDED.1);
    let path = appended(sheet);
    drop(sheet.synced_file(&path, &data[..APPENDED.0])?);
    sheet.settle()?;
    let opened = File::options().append(true).open(&path);
    let mut file = sheet.checker.must("open", &path, opened)?;
    let written = file.write_all(&data[APPENDED.0..]);
    sheet.checker.must("append to", &path, written)?;
    sheet.checker.must("sync", &path, file.sync_all())?;
    let victim = noise(sheet, VICTIM_BYTES);
    let path = sheet.base.join("victim");
    sheet.synced_file(&path, &victim).map(drop)
}

/// States what is left after a remount.
pub(super) fn recall(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let node = sheet.base.join("node");
    if fs::symlink_metadata(&node).is_ok() {
        let numbers = device_numbers(&node);
        let words = match sheet.checker.must("stat", &node, numbers)? {
            DEVICE_NODE => "kept".to_owned(),
            (major, minor) => format!("becomes {major}:{minor}"),
        };
        sheet.state("node.device", words);
    }
    let special = sheet.base.join("special");
    let metadata = sheet
        .checker
        .must("stat", &special, fs::metadata(&special))?;
    let mode = metadata.mode() & 0o7777;
    let words = match mode {
        SPECIAL_MODE => "kept".to_owned(),
        mode => format!("{SPECIAL_MODE:04o} becomes {mode:04o}"),
    };
    sheet.state("mode.special", words);
    let path = appended(sheet);
    let expected = noise(sheet, APPENDED.0 + APPENDED.1);
    let words = match fs::read(&path) {
        Err(error) => format!("lost ({})", word(&error)),
        Ok(found) if found == expected => "kept".to_owned(),
        Ok(found) => {
            let mut pairs = found.iter().zip(&expected);
            let differs = pairs.position(|(found, expected)| found != expected);
            let from = differs.unwrap_or(found.len().min(expected.len()));
            format!("lost from byte {from} of {}", expected.len())
        }
    };
    if words == "kept" {
        sheet
            .checker
            .must("remove", &path, fs::remove_file(&path))?;
    }
    sheet.state("data.appended", words);
    damage(sheet)
}

/// The file that was appended to. It is outside of the tree that is removed: AFFS turns read-only
/// when such a file is unlinked whose data it has lost.
fn appended(sheet: &Sheet<'_>) -> PathBuf {
    sheet.base.with_extension("appended")
}

/// States what reading a damaged block gives. One bit is flipped on the device, and flipped back.
///
/// Only on a device of User-Mode Linux (`ubd`), which belongs to the trial's guest. In virtual time
/// the kernel's log is read at the end of the trial, which does not know that it was on
/// purpose.
fn damage(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let name = sheet.device.and_then(|device| {
        let name = sheet.context().outside(|| device.kernel_name());
        name.filter(|name| name.starts_with("ubd"))
    });
    let Some(name) = name else {
        return Ok(());
    };
    let device = Path::new("/dev").join(name);
    let data = noise(sheet, VICTIM_BYTES);
    let sector = &data[VICTIM_BLOCK..][..SECTOR];
    let places = sheet
        .context()
        .outside(|| find(&device, sector))
        .map_err(|error| ConformanceFailure::io("search", &device, &error))?;
    if places.is_empty() {
        sheet.state("data.damaged", "not found on the device");
        return Ok(());
    }
    let flip = |sheet: &Sheet<'_>| {
        let flipped = sheet.context().outside(|| flip_bits(&device, &places));
        flipped.map_err(|error| ConformanceFailure::io("write", &device, &error))
    };
    flip(sheet)?;
    let read = read_cold(sheet, &sheet.base.join("victim"));
    flip(sheet)?;
    let words = match read {
        Err(error) => word(&error),
        Ok(found) if found == sector => "the right data".to_owned(),
        Ok(_) => "the damaged data".to_owned(),
    };
    sheet.state("data.damaged", words);
    Ok(())
}

/// Reads the damaged sector with the block around it, from the device.
fn read_cold(sheet: &Sheet<'_>, path: &Path) -> std::io::Result<Vec<u8>> {
    let options = DataFileOptions {
        read: true,
        ..DataFileOptions::default()
    };
    let file = DataFile::open(path, options)?;
    file.advise(FileAdvice::DontNeed)?;
    // Without readahead, which would read the block as part of another request.
    file.advise(FileAdvice::Random)?;
    sheet.context().outside(fslab_sys::drop_caches)?;
    let mut block = vec![0; 4096];
    let read = file.read_at(&mut block, VICTIM_BLOCK as u64)?;
    block.truncate(read.min(SECTOR));
    Ok(block)
}

/// The offsets on the device of all copies of `sector`.
fn find(device: &Path, sector: &[u8]) -> std::io::Result<Vec<u64>> {
    let mut file = File::open(device)?;
    let mut buffer = vec![0; SCAN_BYTES];
    let (mut places, mut offset) = (Vec::new(), 0);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(places);
        }
        let sectors = buffer[..read].chunks_exact(SECTOR).enumerate();
        let found = sectors.filter(|(_, it)| *it == sector);
        places.extend(found.map(|(number, _)| offset + (number * SECTOR) as u64));
        offset += read as u64;
    }
}

/// Flips a bit of each of `places`, and syncs the device.
fn flip_bits(device: &Path, places: &[u64]) -> std::io::Result<()> {
    let file = File::options().read(true).write(true).open(device)?;
    for place in places {
        let mut byte = [0];
        file.read_exact_at(&mut byte, *place)?;
        byte[0] ^= 0x40;
        file.write_all_at(&byte, *place)?;
    }
    file.sync_all()
}

/// Bytes that follow from the seed, and stand nowhere else on the device.
fn noise(sheet: &Sheet<'_>, length: usize) -> Vec<u8> {
    let mut draw = CounterRandom::counter(sheet.context().seed, 0xFAC7);
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        bytes.extend(draw.next_u64().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
