//! Calls that a driver has or refuses, and offsets that it takes.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use fslab_model::Bytes;
use fslab_sys::os::{FileExt, MetadataExt};
use fslab_sys::{
    Allocation, DataFile, DataFileOptions, FileAdvice, PageBuffer, RenameFlag, TransferFlag,
    allocate_range, copy_range, extents, read_flagged, rename_with, unnamed_file, write_flagged,
};

use super::sheet::{Sheet, word, yes_or};
use crate::failure::ConformanceFailure;

/// Size of the file whose ranges are changed: 16 blocks of 4 KiB.
const RANGED_BYTES: usize = 64 << 10;
/// A range of whole blocks inside it.
const RANGE: (u64, u64) = (16 << 10, 16 << 10);
const DIRECT_BYTES: usize = 64 << 10;
const TRANSFER_BYTES: usize = 4096;
/// A hole that takes no space where there are holes.
const HOLE_BYTES: u64 = 4 << 20;
/// Time of one write after a hole above which no larger hole is tried.
const FAR_WRITE_TIME: Duration = Duration::from_secs(1);

/// States the facts of calls.
pub(super) fn probe(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let folder = sheet.folder("calls")?;
    allocations(sheet, &folder)?;
    renames(sheet, &folder)?;
    let unnamed = yes_or(&unnamed_file(&folder));
    sheet.state("call.o_tmpfile", unnamed);
    let copied = copies(sheet, &folder)?;
    sheet.state("call.copy_file_range", copied);
    transfers(sheet, &folder)?;
    let mapped = sheet.synced_file(&folder.join("mapped"), &[b'm'; 8192])?;
    let mapped = sheet.context().outside(|| extents(&mapped));
    sheet.state("call.fiemap", yes_or(&mapped));
    let opened = File::open(&folder);
    let opened = sheet.checker.must("open", &folder, opened)?;
    sheet.state("call.fsync_directory", yes_or(&opened.sync_all()));
    let reads = direct_reads(sheet, &folder)?;
    sheet.state("direct.read", reads);
    let writes = direct_writes(sheet, &folder)?;
    sheet.state("direct.write", writes);
    let offset = largest_offset(sheet, &folder)?;
    sheet.state(
        "file.largest_offset",
        format!("{} ({offset} B)", Bytes(offset)),
    );
    let written = largest_write(sheet, &folder, offset)?;
    sheet.state("file.largest_write", written);
    Ok(())
}

/// The modes of fallocate(2) that work.
fn allocations(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let path = folder.join("ranges");
    let mut has = Vec::new();
    for (how, name) in [
        (Allocation::Plain, "allocate"),
        (Allocation::KeepSize, "keep size"),
        (Allocation::PunchHole, "punch hole"),
        (Allocation::ZeroRange, "zero range"),
        (Allocation::CollapseRange, "collapse range"),
        (Allocation::InsertRange, "insert range"),
    ] {
        let file = sheet.synced_file(&path, &vec![b'r'; RANGED_BYTES])?;
        let (offset, length) = match how {
            Allocation::Plain | Allocation::KeepSize => (0, 4 * RANGED_BYTES as u64),
            _ => RANGE,
        };
        if allocate_range(&file, how, offset, length).is_ok() {
            has.push(name);
        }
        drop(file);
        sheet
            .checker
            .must("remove", &path, fs::remove_file(&path))?;
    }
    sheet.state("call.fallocate", listed(&has));
    Ok(())
}

/// The flags of renameat2(2) that work.
fn renames(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let mut has = Vec::new();
    for (flag, name) in [
        (RenameFlag::NoReplace, "no replace"),
        (RenameFlag::Exchange, "exchange"),
        (RenameFlag::Whiteout, "whiteout"),
    ] {
        let (from, to) = (folder.join("from"), folder.join("to"));
        sheet.synced_file(&from, b"from")?;
        if flag == RenameFlag::Exchange {
            sheet.synced_file(&to, b"to")?;
        }
        if rename_with(&from, &to, flag).is_ok() {
            has.push(name);
        }
        for path in [&from, &to] {
            if fs::symlink_metadata(path).is_ok() {
                sheet.checker.must("remove", path, fs::remove_file(path))?;
            }
        }
    }
    sheet.state("call.renameat2", listed(&has));
    Ok(())
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

fn copies(sheet: &mut Sheet<'_>, folder: &Path) -> Result<String, ConformanceFailure> {
    let from = sheet.synced_file(&folder.join("copied"), &[b'c'; 8192])?;
    let to = sheet.synced_file(&folder.join("copy"), b"")?;
    Ok(yes_or(&copy_range(&from, &to, 8192)))
}

/// Whether O_DIRECT reads come from the device.
fn direct_reads(sheet: &mut Sheet<'_>, folder: &Path) -> Result<String, ConformanceFailure> {
    let path = folder.join("direct-read");
    let data = vec![b'd'; DIRECT_BYTES];
    drop(sheet.synced_file(&path, &data)?);
    drop_pages(sheet, &path)?;
    let direct = DataFileOptions {
        read: true,
        direct: true,
        ..DataFileOptions::default()
    };
    let mut buffer = PageBuffer::zeroed(DIRECT_BYTES);
    let (read, sent) = sheet.counted(|_| {
        Ok(DataFile::open(&path, direct).and_then(|file| file.read_at(&mut buffer, 0)))
    })?;
    Ok(match (read, sent) {
        (Err(error), _) => format!("refused ({})", word(&error)),
        (Ok(_), None) => "no device".to_owned(),
        (Ok(bytes), Some(sent)) if sent.read_bytes >= bytes as u64 => "from the device".to_owned(),
        (Ok(_), Some(_)) => "from the page cache".to_owned(),
    })
}

/// Whether O_DIRECT writes are at the device when they return.
fn direct_writes(sheet: &mut Sheet<'_>, folder: &Path) -> Result<String, ConformanceFailure> {
    let path = folder.join("direct-write");
    drop(sheet.synced_file(&path, &vec![b'd'; DIRECT_BYTES])?);
    sheet.settle()?;
    drop_pages(sheet, &path)?;
    let direct = DataFileOptions {
        write: true,
        direct: true,
        ..DataFileOptions::default()
    };
    let mut buffer = PageBuffer::zeroed(DIRECT_BYTES);
    buffer.fill(b'e');
    let (written, sent) = sheet.counted(|_| {
        Ok(DataFile::open(&path, direct).and_then(|file| file.write_at(&buffer, 0)))
    })?;
    let opened = sheet.checker.must("open", &path, File::open(&path))?;
    let resident = fslab_sys::resident_pages(&opened).unwrap_or(0);
    Ok(match (written, sent) {
        (Err(error), _) => format!("refused ({})", word(&error)),
        (Ok(_), None) => "no device".to_owned(),
        (Ok(bytes), Some(sent)) if sent.write_bytes < bytes as u64 => {
            "to the page cache".to_owned()
        }
        (Ok(_), Some(_)) if resident > 0 => "to the device, by the page cache".to_owned(),
        (Ok(_), Some(_)) => "to the device".to_owned(),
    })
}

fn drop_pages(sheet: &mut Sheet<'_>, path: &Path) -> Result<(), ConformanceFailure> {
    let options = DataFileOptions {
        read: true,
        ..DataFileOptions::default()
    };
    let opened = DataFile::open(path, options);
    let file = sheet.checker.must("open", path, opened)?;
    let dropped = file.advise(FileAdvice::DontNeed);
    sheet.checker.must("drop the pages of", path, dropped)
}

/// The largest offset that lseek(2) takes.
fn largest_offset(sheet: &mut Sheet<'_>, folder: &Path) -> Result<u64, ConformanceFailure> {
    let mut file = sheet.synced_file(&folder.join("offsets"), b"o")?;
    let (mut taken, mut beyond) = (0, 1_u64 << 63);
    while beyond - taken > 1 {
        let middle = taken + (beyond - taken) / 2;
        match file.seek(SeekFrom::Start(middle)) {
            Ok(_) => taken = middle,
            Err(_) => beyond = middle,
        }
    }
    Ok(taken)
}

/// The largest offset at which pwrite(2) writes a byte, up to the largest that lseek(2) takes; not
/// tried where holes take space.
fn largest_write(
    sheet: &mut Sheet<'_>,
    folder: &Path,
    largest_offset: u64,
) -> Result<String, ConformanceFailure> {
    let path = folder.join("far");
    let file = sheet.synced_file(&path, b"f")?;
    let written = file.write_at(b"f", HOLE_BYTES);
    sheet.checker.must("write", &path, written)?;
    sheet.checker.must("sync", &path, file.sync_all())?;
    let metadata = sheet.checker.must("stat", &path, file.metadata())?;
    let has_holes = metadata.blocks() * 512 < HOLE_BYTES;
    drop(file);
    sheet
        .checker
        .must("remove", &path, fs::remove_file(&path))?;
    if !has_holes {
        return Ok("not tried: a hole takes space".to_owned());
    }
    let (mut taken, mut beyond) = (HOLE_BYTES, None);
    // Doubled up to the first refusal, then halved.
    loop {
        let next = match beyond {
            None => taken.saturating_mul(2).min(largest_offset),
            Some((beyond, _)) => taken + (beyond - taken) / 2,
        };
        if next == taken {
            break;
        }
        let file = sheet.synced_file(&path, b"")?;
        let began = Instant::now();
        let written = file.write_at(b"f", next);
        drop(file);
        sheet
            .checker
            .must("remove", &path, fs::remove_file(&path))?;
        sheet.checker.check()?;
        match written {
            Ok(_) => taken = next,
            Err(error) => beyond = Some((next, word(&error))),
        }
        if began.elapsed() > FAR_WRITE_TIME && taken < largest_offset {
            return Ok(format!("{} or more, slowly", Bytes(taken)));
        }
    }
    Ok(match beyond {
        None => format!("{} ({taken} B)", Bytes(taken)),
        Some((_, error)) => format!("{} ({taken} B), then {error}", Bytes(taken)),
    })
}

/// States the flags of preadv2(2) and pwritev2(2) that work.
fn transfers(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let path = folder.join("flags");
    let mut has = Vec::new();
    let read = sheet.synced_file(&path, &[b'r'; TRANSFER_BYTES])?;
    for (flag, name) in [
        (TransferFlag::NoWait, "nowait"),
        (TransferFlag::DontCache, "dontcache"),
    ] {
        let mut buffer = [0; TRANSFER_BYTES];
        let done = read_flagged(&read, &mut buffer, flag);
        if done.is_ok() || done.is_err_and(|error| word(&error) == "EAGAIN") {
            has.push(name);
        }
    }
    sheet.state("call.preadv2", listed(&has));
    has.clear();
    let buffer = PageBuffer::zeroed(TRANSFER_BYTES);
    for (flag, name) in [
        (TransferFlag::DataSync, "dsync"),
        (TransferFlag::Sync, "sync"),
        (TransferFlag::Append, "append"),
        (TransferFlag::NoAppend, "noappend"),
        (TransferFlag::NoWait, "nowait"),
        (TransferFlag::DontCache, "dontcache"),
        (TransferFlag::Atomic, "atomic"),
    ] {
        let done = write_flagged(&path, &buffer, flag);
        if done.is_ok() || done.is_err_and(|error| word(&error) == "EAGAIN") {
            has.push(name);
        }
    }
    sheet.state("call.pwritev2", listed(&has));
    Ok(())
}
