//! What the driver sends to the device: by itself, for each kind of sync, and for reading.

use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fslab_sys::{DataFile, DataFileOptions, OpenedSync, sync_everything, sync_file_system};

use super::sheet::{Sent, Sheet, word};
use crate::failure::ConformanceFailure;

/// Names that are created, renamed and removed.
const NAMES: u64 = 40;
/// Files that are read after a remount, twice.
const READ_FILES: u64 = 64;
/// 2001.
const OLD_ACCESS: Duration = Duration::from_secs(1_000_000_000);
const DATA_BYTES: usize = 1 << 20;
const RECORD_BYTES: usize = 64 << 10;
/// Writes of one record that are more than the background's.
const EARLY_WRITES: u64 = 16;

/// States the facts of writes and syncs; nothing without a device.
pub(super) fn probe(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    let folder = sheet.folder("syncs")?;
    let read = sheet.folder("read")?;
    for number in 0..2 * READ_FILES {
        let path = read.join(format!("r{number}"));
        let file = sheet.synced_file(&path, &[b'r'; 4096])?;
        // Older than the data, so that relatime updates it, and by more than any granularity.
        let accessed = SystemTime::UNIX_EPOCH + OLD_ACCESS;
        let set = file.set_times(FileTimes::new().set_accessed(accessed));
        sheet.checker.must("set the times of", &path, set)?;
    }
    sheet.settle()?;
    if sheet.device.is_none() {
        return Ok(());
    }
    names(sheet, &folder)?;
    data(sheet, &folder)?;
    let path = folder.join("file");
    let mut file = sheet.synced_file(&path, b"file")?;
    strength(sheet, "sync.fsync", |_| {
        file.write_all(&[b'f'; 8192])?;
        file.sync_all()
    })?;
    strength(sheet, "sync.fsync_directory", |folder| {
        drop(File::create(folder.join("new"))?);
        File::open(folder)?.sync_all()
    })?;
    strength(sheet, "sync.o_sync", |folder| {
        let options = DataFileOptions {
            write: true,
            create: true,
            sync: OpenedSync::Full,
            ..DataFileOptions::default()
        };
        let file = DataFile::open(&folder.join("o-sync"), options)?;
        file.write_at(&[b'o'; 4096], 0).map(drop)
    })?;
    strength(sheet, "sync.syncfs", |folder| {
        drop(File::create(folder.join("syncfs"))?);
        sync_file_system(folder)
    })?;
    strength(sheet, "sync.sync", |folder| {
        drop(File::create(folder.join("sync"))?);
        sync_everything()
    })
}

/// States what reading files writes, which no cache holds.
pub(super) fn recall(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    if sheet.device.is_none() {
        return Ok(());
    }
    let by_syncfs = read_files(sheet, 0..READ_FILES, |sheet| sheet.settle())?;
    let by_sync = read_files(sheet, READ_FILES..2 * READ_FILES, |sheet| {
        let synced = sync_everything();
        sheet.checker.must("sync", &sheet.base.clone(), synced)
    })?;
    let words = if by_sync == by_syncfs {
        by_sync
    } else {
        format!("{by_syncfs} by syncfs(2), {by_sync} by sync(2)")
    };
    sheet.state("write.read", words);
    Ok(())
}

/// What reading each of some files sends to the device, up to the end of `sync`.
fn read_files(
    sheet: &mut Sheet<'_>,
    numbers: Range<u64>,
    sync: impl FnOnce(&mut Sheet<'_>) -> Result<(), ConformanceFailure>,
) -> Result<String, ConformanceFailure> {
    let folder = sheet.base.join("read");
    let (_, sent) = sheet.counted(|sheet| {
        for number in numbers {
            let path = folder.join(format!("r{number}"));
            sheet.checker.must("read", &path, fs::read(&path))?;
        }
        sync(sheet)
    })?;
    Ok(sent.map_or_else(|| "unknown".to_owned(), |sent| sent.each_of(READ_FILES)))
}

/// States what names cost at the device before any sync.
fn names(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let path = |name: &str, number: u64| folder.join(format!("{name}{number}"));
    each(sheet, "write.create", |sheet, number| {
        let path = path("a", number);
        let made = File::create(&path).map(drop);
        sheet.checker.must("create", &path, made)
    })?;
    each(sheet, "write.rename", |sheet, number| {
        let (from, to) = (path("a", number), path("b", number));
        sheet.checker.must("rename", &from, fs::rename(&from, &to))
    })?;
    each(sheet, "write.unlink", |sheet, number| {
        let path = path("b", number);
        sheet.checker.must("remove", &path, fs::remove_file(&path))
    })
}

/// States the requests of each of [`NAMES`] operations.
fn each(
    sheet: &mut Sheet<'_>,
    fact: &str,
    mut operation: impl FnMut(&mut Sheet<'_>, u64) -> Result<(), ConformanceFailure>,
) -> Result<(), ConformanceFailure> {
    sheet.settle()?;
    let (_, sent) = sheet.counted(|sheet| (0..NAMES).try_for_each(|it| operation(sheet, it)))?;
    if let Some(sent) = sent {
        sheet.state(fact, sent.each_of(NAMES));
    }
    Ok(())
}

/// States whether data is at the device before any sync.
fn data(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let path = folder.join("data");
    let mut file = sheet.synced_file(&path, b"")?;
    sheet.settle()?;
    let record = vec![b'd'; RECORD_BYTES];
    let (_, sent) = sheet.counted(|sheet| {
        for _ in 0..DATA_BYTES / RECORD_BYTES {
            let written = file.write_all(&record);
            sheet.checker.must("write", &path, written)?;
        }
        Ok(())
    })?;
    let words = sent.map(|sent| match sent {
        Sent { writes, .. } if writes < EARLY_WRITES => "none".to_owned(),
        Sent {
            writes,
            write_bytes,
            ..
        } => format!(
            "{} writes of {} KiB a MiB",
            // Metadata adds a few.
            writes / 16 * 16,
            write_bytes / writes / 1024
        ),
    });
    if let Some(words) = words {
        sheet.state("write.data", words);
    }
    Ok(())
}

/// States what `work` sends to the device.
fn strength(
    sheet: &mut Sheet<'_>,
    fact: &str,
    work: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), ConformanceFailure> {
    sheet.settle()?;
    let folder = sheet.base.join("syncs");
    let (done, sent) = sheet.counted(|_| Ok(work(&folder)))?;
    let words = match (done, sent) {
        (Err(error), _) => format!("refused ({})", word(&error)),
        (Ok(()), Some(sent)) => sent.strongest().to_owned(),
        (Ok(()), None) => return Ok(()),
    };
    sheet.state(fact, words);
    Ok(())
}
