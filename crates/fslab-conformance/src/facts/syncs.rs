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
/// Tries of each sync and of each operation on names.
const TRIES: u32 = 3;
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
    blocks(sheet, &folder)?;
    data(sheet, &folder)?;
    let path = folder.join("file");
    let mut file = sheet.synced_file(&path, b"file")?;
    strength(sheet, "sync.fsync", |_, _| {
        file.write_all(&[b'f'; 8192])?;
        file.sync_all()
    })?;
    strength(sheet, "sync.fsync_directory", |folder, turn| {
        drop(File::create(folder.join(format!("new{turn}")))?);
        File::open(folder)?.sync_all()
    })?;
    strength(sheet, "sync.o_sync", |folder, turn| {
        let options = DataFileOptions {
            write: true,
            create: true,
            sync: OpenedSync::Full,
            ..DataFileOptions::default()
        };
        let path = folder.join(format!("o-sync{turn}"));
        let file = DataFile::open(&path, options)?;
        file.write_at(&[b'o'; 4096], 0).map(drop)
    })?;
    strength(sheet, "sync.syncfs", |folder, turn| {
        drop(File::create(folder.join(format!("syncfs{turn}")))?);
        sync_file_system(folder)
    })?;
    strength(sheet, "sync.sync", |folder, turn| {
        drop(File::create(folder.join(format!("sync{turn}")))?);
        sync_everything()
    })
}

/// States what reading files writes, which no cache holds.
pub(super) fn recall(sheet: &mut Sheet<'_>) -> Result<(), ConformanceFailure> {
    if sheet.device.is_none() {
        return Ok(());
    }
    let by_syncfs = read_files(sheet, 0..READ_FILES, sync_file_system)?;
    let by_sync = read_files(sheet, READ_FILES..2 * READ_FILES, |_| sync_everything())?;
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
    sync: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<String, ConformanceFailure> {
    let folder = sheet.base.join("read");
    let (_, sent) = sheet.counted(|sheet| {
        for number in numbers {
            let path = folder.join(format!("r{number}"));
            sheet.checker.must("read", &path, fs::read(&path))?;
        }
        let synced = sync(&sheet.base);
        sheet.checker.must("sync", &sheet.base, synced)
    })?;
    Ok(sent.map_or_else(|| "unknown".to_owned(), |sent| sent.each_of(READ_FILES)))
}

/// States what names cost at the device before any sync.
fn names(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let path = |name: &str, number: u64| folder.join(format!("{name}{number}"));
    let mut least: [Option<Sent>; 3] = [None; 3];
    for _ in 0..TRIES {
        let created = each(sheet, |sheet, number| {
            let path = path("a", number);
            let made = File::create(&path).map(drop);
            sheet.checker.must("create", &path, made)
        })?;
        let renamed = each(sheet, |sheet, number| {
            let (from, to) = (path("a", number), path("b", number));
            sheet.checker.must("rename", &from, fs::rename(&from, &to))
        })?;
        let removed = each(sheet, |sheet, number| {
            let path = path("b", number);
            sheet.checker.must("remove", &path, fs::remove_file(&path))
        })?;
        for (least, sent) in least.iter_mut().zip([created, renamed, removed]) {
            *least = lesser(*least, sent);
        }
    }
    for (fact, sent) in ["write.create", "write.rename", "write.unlink"]
        .into_iter()
        .zip(least)
    {
        if let Some(sent) = sent {
            sheet.state(fact, sent.each_of(NAMES));
        }
    }
    Ok(())
}

/// The requests of [`NAMES`] operations.
fn each(
    sheet: &mut Sheet<'_>,
    mut operation: impl FnMut(&mut Sheet<'_>, u64) -> Result<(), ConformanceFailure>,
) -> Result<Option<Sent>, ConformanceFailure> {
    sheet.settle()?;
    let (_, sent) = sheet.counted(|sheet| (0..NAMES).try_for_each(|it| operation(sheet, it)))?;
    Ok(sent)
}

/// The one with fewer requests: the driver may also write by itself meanwhile.
fn lesser(one: Option<Sent>, other: Option<Sent>) -> Option<Sent> {
    let requests = |it: &Sent| (it.flushes, it.writes);
    one.into_iter().chain(other).min_by_key(requests)
}

/// States what each appended block of 4 KiB costs at the device before any sync.
fn blocks(sheet: &mut Sheet<'_>, folder: &Path) -> Result<(), ConformanceFailure> {
    let path = folder.join("blocks");
    let mut file = sheet.synced_file(&path, b"")?;
    sheet.settle()?;
    let (_, sent) = sheet.counted(|sheet| {
        (0..NAMES).try_for_each(|_| {
            let written = file.write_all(&[b'b'; 4096]);
            sheet.checker.must("write", &path, written)
        })
    })?;
    if let Some(sent) = sent {
        sheet.state("write.block", sent.each_of(NAMES));
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

/// States what `work` sends to the device: the least of some tries.
fn strength(
    sheet: &mut Sheet<'_>,
    fact: &str,
    mut work: impl FnMut(&Path, u32) -> std::io::Result<()>,
) -> Result<(), ConformanceFailure> {
    let folder = sheet.base.join("syncs");
    let mut least = None;
    for turn in 0..TRIES {
        sheet.settle()?;
        let (done, sent) = sheet.counted(|_| Ok(work(&folder, turn)))?;
        if let Err(error) = done {
            sheet.state(fact, format!("refused ({})", word(&error)));
            return Ok(());
        }
        least = lesser(least, sent);
    }
    if let Some(sent) = least {
        sheet.state(fact, sent.strongest());
    }
    Ok(())
}
