//! A file system is filled until nothing fits any more, and must come through it: what was written
//! stays, what is removed gives its room back.
//!
//! How full "full" is depends on the file system, and some give room back only a while after it was
//! freed: there is patience as long as something moves.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fslab_engine::{EngineKind, RunContext};
use fslab_model::Bytes;
use fslab_sys::{
    DataFile, DataFileOptions, FileAdvice, FileSystemRoom, MachineMemory, is_in_memory,
    sync_file_system,
};

use super::audit::compare_file;
use fslab_stats::mix;

use super::check_context::{CheckContext, is_refusal};
use super::content::{Content, generate};
use super::failure::ConformanceFailure;
use super::parameters::{FillParameters, TreeParameters};
use super::patience::rouse;
use super::suite::{synthetic_suite, timed};
use crate::parameters::Size;
use crate::workload::{Finished, RunError};

/// Written at once.
const RECORD_BYTES: u64 = 1 << 20;
/// Files that fill the last gaps.
const SMALL_BYTES: u64 = 4_096;
/// How many of them at most: names and inodes may outlast the room for data.
const SMALL_FILES_MAX: u64 = 64;
/// Rounds of sync and more writing after nothing fitted.
const ROUNDS: u32 = 4;
/// Read back at most, the first and the last files always among it.
const COMPARED_BYTES_MAX: u64 = 512 << 20;
/// Where less is free, a file or two would be all.
const ROOM_MIN: u64 = 128 << 10;
/// Patience where nothing moves any more.
const PATIENCE: Duration = Duration::from_secs(90);
/// Patience with figures of free room that do not move.
const PATIENCE_FOR_FIGURES: Duration = Duration::from_secs(20);
/// Room that is not worth reserving.
const RESERVED_BYTES_MIN: u64 = 1 << 20;

/// Why writing came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing fits any more.
    Full,
    /// All that may be taken was taken.
    Taken,
    /// It took too long.
    TimeUp,
}

/// A file that was written, and what it must hold.
struct Filled {
    path: PathBuf,
    content: Content,
}

/// Fills, looks, deletes, fills again, deletes all.
pub(crate) fn fill(
    parameters: &FillParameters,
    context: &RunContext,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        let tree = TreeParameters {
            largest: Size::Bytes(parameters.most.bytes() / 4),
            files: parameters.most.bytes() / parameters.file_size.0.max(1),
            ..TreeParameters::default()
        };
        return Ok(synthetic_suite(context.seed, &tree));
    }
    let base = context.root.join(&parameters.directory);
    let free = FileSystemRoom::of(&context.root)
        .map_err(|error| ConformanceFailure::io("ask for the room of", &context.root, error))?
        .available_bytes;
    if free < ROOM_MIN {
        let reason = format!("{} are free: it is full as it is", Bytes(free));
        return Err(RunError::Impossible(reason));
    }
    Ok(timed(context, |ledger| {
        Filling {
            base,
            seed: mix(context.seed, 4_000),
            parameters,
            context,
            ledger,
            files: Vec::new(),
            reserved: Vec::new(),
            made: 0,
            taken: 0,
        }
        .run()
    })?)
}

struct Filling<'a> {
    base: PathBuf,
    seed: u64,
    parameters: &'a FillParameters,
    context: &'a RunContext,
    ledger: &'a mut CheckContext,
    files: Vec<Filled>,
    reserved: Vec<PathBuf>,
    /// Files made so far, for their names.
    made: u64,
    /// Bytes of all files that are there.
    taken: u64,
}

impl Filling<'_> {
    fn run(&mut self) -> Result<(), ConformanceFailure> {
        let made = fs::create_dir(&self.base);
        self.ledger.must("create", &self.base, made)?;
        let before = self.room()?;
        let is_full = self.fill_up()?;
        self.compare()
            .map_err(|it| it.during("after it was filled"))?;
        self.free_half()
            .map_err(|it| it.during("room of deleted files"))?;
        self.compare()
            .map_err(|it| it.during("after files were deleted and others written"))?;
        self.clear()?;
        if is_full {
            self.expect_back(before)
        } else {
            Ok(())
        }
    }

    /// Removes everything; the folder is the one above from then on.
    fn clear(&mut self) -> Result<(), ConformanceFailure> {
        while let Some(file) = self.files.pop() {
            self.remove(&file.path)?;
        }
        while let Some(path) = self.reserved.pop() {
            self.remove(&path)?;
        }
        let removed = fs::remove_dir(&self.base);
        self.ledger
            .must("remove the directory", &self.base, removed)?;
        self.base.pop();
        Ok(())
    }

    /// Writes until nothing fits; gives whether it came to that.
    fn fill_up(&mut self) -> Result<bool, ConformanceFailure> {
        let most = self.most()?;
        let seconds = u64::from(self.parameters.seconds);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let size = self.parameters.file_size.0;
        let mut end = self.pour(most, size, Some(deadline))?;
        if end == End::TimeUp {
            if !self.reserve(most)? {
                self.ledger.note(format!(
                    "not filled: {} were written in {seconds} s, and room is not reserved ahead",
                    Bytes(self.taken)
                ));
                return Ok(false);
            }
            end = self.pour(most, size, None)?;
        }
        // What was promised for data that is not written yet may turn out not to be needed.
        for _ in 0..ROUNDS {
            let before = self.taken;
            if end == End::Full {
                self.sync()?;
                end = self.pour(most, size, None)?;
            }
            if self.taken - before < RECORD_BYTES {
                break;
            }
        }
        if end == End::Full {
            let little = self.taken.saturating_add(SMALL_FILES_MAX * SMALL_BYTES);
            self.pour(little.min(most), SMALL_BYTES, None)?;
        } else {
            self.ledger.note(format!(
                "not filled: {} were taken, and no more may be",
                Bytes(self.taken)
            ));
        }
        self.sync()?;
        Ok(end == End::Full)
    }

    /// The most that may be taken. Files in memory leave half of it alone: the kernel would sooner
    /// kill somebody than say that it is full.
    fn most(&mut self) -> Result<u64, ConformanceFailure> {
        let most = self.parameters.most.bytes();
        let in_memory = is_in_memory(&self.base);
        let in_memory = self
            .ledger
            .must("ask for the kind of", &self.base, in_memory)?;
        let memory = self.context.outside(MachineMemory::now);
        let available = memory.and_then(|it| it.available_bytes);
        let available = available.filter(|bytes| in_memory && bytes / 2 < most);
        let Some(available) = available else {
            return Ok(most);
        };
        self.ledger.note(format!(
            "its files are in memory, of which {} are available: half of that is taken",
            Bytes(available)
        ));
        Ok(available / 2)
    }

    /// Writes files of `file_bytes` until `most` is taken, nothing fits, or time is up.
    fn pour(
        &mut self,
        most: u64,
        file_bytes: u64,
        deadline: Option<Instant>,
    ) -> Result<End, ConformanceFailure> {
        while self.taken < most {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(End::TimeUp);
            }
            if self.write_file(file_bytes.min(most - self.taken))? {
                return Ok(End::Full);
            }
        }
        Ok(End::Taken)
    }

    /// Writes one file of up to `length` bytes; gives whether the room ended before it did.
    fn write_file(&mut self, length: u64) -> Result<bool, ConformanceFailure> {
        let path = self.base.join(format!("fill-{:06}", self.made));
        self.made += 1;
        match File::create_new(&path) {
            Err(error) if is_full(&error) => return Ok(true),
            created => self.ledger.must("create", &path, created.map(drop))?,
        }
        let file = self.open(&path)?;
        let mut content = Content::new(mix(self.seed, self.made));
        let key = content.write(0..length);
        let (mut done, mut ended) = (0, false);
        let mut data = vec![0; index(RECORD_BYTES.min(length))];
        while done < length && !ended {
            let part = index((length - done).min(RECORD_BYTES));
            generate(key, done, &mut data[..part]);
            self.ledger.check()?;
            match file.write_at(&data[..part], done) {
                Ok(0) => ended = true,
                Ok(written) => done += written as u64,
                Err(error) if is_full(&error) => ended = true,
                // This file is as long as files can be: the next one goes on.
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge && done > 0 => break,
                Err(error) => return Err(ConformanceFailure::io("write", &path, error)),
            }
        }
        content.truncate(done);
        let synced = file.fsync();
        drop(file);
        self.ledger.bytes += done;
        if synced.as_ref().is_err_and(is_full) {
            self.ledger
                .note("that it is full is said by fsync, after write took the data");
            self.remove(&path)?;
            return Ok(true);
        }
        self.ledger.must("fsync", &path, synced)?;
        self.taken += done;
        self.files.push(Filled { path, content });
        Ok(ended)
    }

    /// Reserves what is left of `most`, in ever smaller files; gives whether that can be done.
    fn reserve(&mut self, most: u64) -> Result<bool, ConformanceFailure> {
        let mut wish = most - self.taken;
        while wish >= RESERVED_BYTES_MIN && self.taken < most {
            let path = self
                .base
                .join(format!("reserved-{:03}", self.reserved.len()));
            match File::create_new(&path) {
                Err(error) if is_full(&error) => break,
                created => self.ledger.must("create", &path, created.map(drop))?,
            }
            self.reserved.push(path.clone());
            let wanted = wish.min(most - self.taken);
            let allocated = self.open(&path)?.allocate(wanted);
            self.ledger.check()?;
            match allocated {
                Ok(()) => self.taken += wanted,
                Err(error) if is_full(&error) || error.kind() == io::ErrorKind::FileTooLarge => {
                    self.reserved.pop();
                    self.remove(&path)?;
                    wish /= 2;
                }
                Err(error) if is_refusal(&error) => return Ok(false),
                Err(error) => return Err(ConformanceFailure::io("reserve room for", &path, error)),
            }
        }
        let reserved = self.reserved.len();
        self.ledger.note(format!(
            "{} were taken; the last of it is room that was reserved by {reserved} files",
            Bytes(self.taken)
        ));
        Ok(true)
    }

    /// What was written is there. All of it, or a sample with the first and the last files.
    fn compare(&mut self) -> Result<(), ConformanceFailure> {
        let total: u64 = self.files.iter().map(|file| file.content.length()).sum();
        let step = index(total.div_ceil(COMPARED_BYTES_MAX).max(1));
        let last = self.files.len().saturating_sub(3);
        for number in (0..self.files.len()).filter(|it| it % step == 0 || *it >= last) {
            let file = &self.files[number];
            let opened = self.ledger.must("open", &file.path, open(&file.path))?;
            // Advice: where it is not taken, what is compared comes from memory.
            let _ = opened.advise(FileAdvice::DontNeed);
            drop(opened);
            compare_file(&file.path, &file.content, self.ledger)?;
        }
        Ok(())
    }

    /// Deletes every second file and writes half of their bytes anew.
    fn free_half(&mut self) -> Result<(), ConformanceFailure> {
        let mut freed = 0;
        for number in (0..self.files.len()).rev().step_by(2) {
            let file = self.files.remove(number);
            freed += file.content.length();
            self.remove(&file.path)?;
        }
        self.sync()?;
        self.taken -= freed;
        self.pour_patiently(self.taken + freed / 2)
    }

    /// Writes until `wanted` bytes are taken, as long as at least now and then some fit.
    fn pour_patiently(&mut self, wanted: u64) -> Result<(), ConformanceFailure> {
        let began = self.taken;
        let mut moved = Instant::now();
        let mut pause = Duration::from_millis(50);
        while self.taken < wanted {
            let before = self.taken;
            let end = self.pour(wanted, self.parameters.file_size.0, None)?;
            if end == End::Taken {
                break;
            }
            if self.taken > before {
                moved = Instant::now();
            } else if moved.elapsed() > PATIENCE {
                return Err(ConformanceFailure::no_room(format!(
                    "of {} bytes that should fit, {} could be written",
                    wanted - began,
                    self.taken - began
                )));
            }
            self.rouse()?;
            self.ledger.check()?;
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(2));
        }
        Ok(())
    }

    /// The room comes back, but for what the file system keeps for names and its own trees.
    fn expect_back(&mut self, before: FileSystemRoom) -> Result<(), ConformanceFailure> {
        let kept = before.total_bytes / 16 + (128 << 10);
        let wanted = before.free_bytes.saturating_sub(kept);
        let (mut best, mut moved) = (0, Instant::now());
        while moved.elapsed() < PATIENCE_FOR_FIGURES {
            self.rouse()?;
            let free = self.room()?.free_bytes;
            if free >= wanted {
                return Ok(());
            }
            if free > best {
                (best, moved) = (free, Instant::now());
            }
            self.ledger.check()?;
            std::thread::sleep(Duration::from_millis(200));
        }
        if best >= wanted / 4 * 3 {
            let all = before.free_bytes;
            self.ledger
                .note(format!("of {all} bytes that were free, {best} came back"));
            return Ok(());
        }
        // nilfs2 cleans no more of its log than it is likely to need soon, and more when it is.
        self.fill_again(best + (wanted - best) / 2).map_err(|it| {
            it.during(&format!(
                "{best} bytes free instead of {} after all was deleted",
                before.free_bytes
            ))
        })?;
        self.await_room(best / 2)?;
        self.ledger.note(
            "room of deleted files is told to be free only after it was asked for: it was written \
             to, which proves that it is",
        );
        Ok(())
    }

    /// Waits for the cleaner: what comes next needs room from its first moment on.
    fn await_room(&mut self, wanted: u64) -> Result<(), ConformanceFailure> {
        let began = Instant::now();
        while self.room()?.free_bytes < wanted {
            if began.elapsed() > PATIENCE {
                return Err(ConformanceFailure::no_room(format!(
                    "all was deleted, and {wanted} bytes did not become free"
                )));
            }
            self.rouse()?;
            self.ledger.check()?;
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Writes `bytes` bytes and deletes them: more than is told to be free.
    fn fill_again(&mut self, bytes: u64) -> Result<(), ConformanceFailure> {
        self.taken = 0;
        self.base.push("filled-again");
        let made = fs::create_dir(&self.base);
        self.ledger.must("create", &self.base, made)?;
        self.pour_patiently(bytes)?;
        self.clear()
    }

    /// Unlinks. A file system that copies on write may need room even for that, and finds some when
    /// it syncs, or when the file is cut first.
    fn remove(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        for turn in 0..ROUNDS {
            match fs::remove_file(path) {
                Err(error) if is_full(&error) => {}
                outcome => return self.ledger.must("remove", path, outcome),
            }
            self.ledger
                .note("where it is full, even removing a file may fail for want of room");
            if turn > 0 {
                let _ = self.open(path)?.set_length(0);
            }
            self.sync()?;
        }
        self.ledger.must("remove", path, fs::remove_file(path))
    }

    /// Has all written that was changed, and gives a cleaner something to clean behind.
    fn rouse(&mut self) -> Result<(), ConformanceFailure> {
        rouse(&self.base);
        self.sync()
    }

    fn sync(&mut self) -> Result<(), ConformanceFailure> {
        match sync_file_system(&self.base) {
            // Of data that write took: whether any is lost, comparing tells.
            Err(error) if is_full(&error) => {
                self.ledger.note("syncfs says that it is full");
                Ok(())
            }
            synced => self.ledger.must("sync", &self.base, synced),
        }
    }

    fn room(&mut self) -> Result<FileSystemRoom, ConformanceFailure> {
        let room = FileSystemRoom::of(&self.base);
        self.ledger.must("ask for the room of", &self.base, room)
    }

    fn open(&mut self, path: &Path) -> Result<DataFile, ConformanceFailure> {
        self.ledger.must("open", path, open(path))
    }
}

fn open(path: &Path) -> io::Result<DataFile> {
    let options = DataFileOptions {
        read: true,
        write: true,
        ..DataFileOptions::default()
    };
    DataFile::open(path, options)
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("a record fits into memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    #[test]
    fn no_more_is_taken_than_may_be_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 3);
        let mut parameters = FillParameters::default();
        parameters.settle(Bytes::mib(8)).expect("settles");
        let finished = fill(&parameters, &context).expect("has that room");
        let note = finished
            .notes
            .iter()
            .find(|note| note.contains("not filled"));
        assert!(note.is_some(), "{:?}", finished.notes);
        assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0);
    }
}
