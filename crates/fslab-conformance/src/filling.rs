//! The job `fill`: fills a file system until ENOSPC. Written data must stay, and the space of
//! removed files must become free.
//!
//! What counts as full depends on the file system, and some free space only later, in the
//! background: waits last as long as there is progress.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, RunError, generate_content};
use fslab_model::{Bytes, Size};
use fslab_sys::{
    DataFile, DataFileOptions, FileAdvice, FileSystemRoom, MachineMemory, is_in_memory,
    sync_file_system,
};

use super::audit::compare_file;
use fslab_stats::mix;

use super::check_context::{CheckContext, is_refusal};
use super::content::Content;
use super::failure::ConformanceFailure;
use super::parameters::{FillParameters, TreeParameters};
use super::space_wait::trigger_cleaner;
use super::suite::{synthetic_suite, timed};

/// Bytes per write(2).
const RECORD_BYTES: u64 = 1 << 20;
/// Size of the files that fill the last gaps.
const SMALL_BYTES: u64 = 4_096;
/// Limit of those files: there may be more inodes than space for data.
const SMALL_FILES_MAX: u64 = 64;
/// Rounds of sync and further writing after ENOSPC.
const ROUNDS: u32 = 4;
/// Limit of the bytes read back; the first and last files are always included.
const COMPARED_BYTES_MAX: u64 = 512 << 20;
/// Least free space for the job: with less, only a file or two would fit.
const ROOM_MIN: u64 = 128 << 10;
/// Wait without progress before the job fails.
const NO_PROGRESS_TIMEOUT: Duration = Duration::from_secs(90);
/// Wait for statfs(2) to report more free space.
const STATFS_TIMEOUT: Duration = Duration::from_secs(20);
/// Smaller reservations are not tried.
const RESERVED_BYTES_MIN: u64 = 1 << 20;

/// Why writing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// ENOSPC.
    Full,
    /// The limit was reached.
    Taken,
    /// The time limit was reached.
    TimeUp,
}

/// A written file and its expected content.
struct Filled {
    path: PathBuf,
    content: Content,
}

/// Fills, compares, deletes half, fills again, deletes all.
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
        .map_err(|error| ConformanceFailure::io("ask for the room of", &context.root, &error))?
        .available_bytes;
    if free < ROOM_MIN {
        let reason = format!("{} are free: it is full as it is", Bytes(free));
        return Err(RunError::Impossible(reason));
    }
    Ok(timed(context, |checker| {
        Filling {
            base,
            seed: mix(context.seed, 4_000),
            parameters,
            context,
            checker,
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
    checker: &'a mut CheckContext,
    files: Vec<Filled>,
    reserved: Vec<PathBuf>,
    /// Files created so far, for their names.
    made: u64,
    /// Bytes of all existing files.
    taken: u64,
}

impl Filling<'_> {
    fn run(&mut self) -> Result<(), ConformanceFailure> {
        let made = fs::create_dir(&self.base);
        self.checker.must("create", &self.base, made)?;
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
            self.expect_space_freed(before)
        } else {
            Ok(())
        }
    }

    /// Removes all files and the directory; `base` becomes its parent.
    fn clear(&mut self) -> Result<(), ConformanceFailure> {
        while let Some(file) = self.files.pop() {
            self.remove(&file.path)?;
        }
        while let Some(path) = self.reserved.pop() {
            self.remove(&path)?;
        }
        let removed = fs::remove_dir(&self.base);
        self.checker
            .must("remove the directory", &self.base, removed)?;
        self.base.pop();
        Ok(())
    }

    /// Writes until ENOSPC; false if a limit ended it before.
    fn fill_up(&mut self) -> Result<bool, ConformanceFailure> {
        let most = self.limit_bytes()?;
        let seconds = u64::from(self.parameters.seconds);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let size = self.parameters.file_size.0;
        let mut end = self.write_files(most, size, Some(deadline))?;
        if end == End::TimeUp {
            if !self.reserve(most)? {
                self.checker.note(format!(
                    "not filled: {} were written in {seconds} s, and room is not reserved ahead",
                    Bytes(self.taken)
                ));
                return Ok(false);
            }
            end = self.write_files(most, size, None)?;
        }
        // Space reserved for delayed allocation may be released by a sync.
        for _ in 0..ROUNDS {
            let before = self.taken;
            if end == End::Full {
                self.sync()?;
                end = self.write_files(most, size, None)?;
            }
            if self.taken - before < RECORD_BYTES {
                break;
            }
        }
        if end == End::Full {
            let little = self.taken.saturating_add(SMALL_FILES_MAX * SMALL_BYTES);
            self.write_files(little.min(most), SMALL_BYTES, None)?;
        } else {
            self.checker.note(format!(
                "not filled: {} were taken, and no more may be",
                Bytes(self.taken)
            ));
        }
        self.sync()?;
        Ok(end == End::Full)
    }

    /// The most bytes that may be written. On tmpfs and the like half of the available memory: the
    /// kernel would kill a process before it returned ENOSPC.
    fn limit_bytes(&mut self) -> Result<u64, ConformanceFailure> {
        let most = self.parameters.most.bytes();
        let in_memory = is_in_memory(&self.base);
        let in_memory = self
            .checker
            .must("ask for the kind of", &self.base, in_memory)?;
        let memory = self.context.outside(MachineMemory::now);
        let available = memory.and_then(|it| it.available_bytes);
        let available = available.filter(|bytes| in_memory && bytes / 2 < most);
        let Some(available) = available else {
            return Ok(most);
        };
        self.checker.note(format!(
            "its files are in memory, of which {} are available: half of that is taken",
            Bytes(available)
        ));
        Ok(available / 2)
    }

    /// Writes files of `file_bytes` until `most` is taken, ENOSPC, or the deadline.
    fn write_files(
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

    /// Writes one file of up to `length` bytes; true on ENOSPC.
    fn write_file(&mut self, length: u64) -> Result<bool, ConformanceFailure> {
        let path = self.base.join(format!("fill-{:06}", self.made));
        self.made += 1;
        match File::create_new(&path) {
            Err(error) if is_full(&error) => return Ok(true),
            created => self.checker.must("create", &path, created.map(drop))?,
        }
        let file = self.open(&path)?;
        let mut content = Content::new(mix(self.seed, self.made));
        let key = content.write(0..length);
        let (mut done, mut ended) = (0, false);
        let mut data = vec![0; index(RECORD_BYTES.min(length))];
        while done < length && !ended {
            let part = index((length - done).min(RECORD_BYTES));
            generate_content(key, done, &mut data[..part]);
            self.checker.check()?;
            match file.write_at(&data[..part], done) {
                Ok(0) => ended = true,
                Ok(written) => done += written as u64,
                Err(error) if is_full(&error) => ended = true,
                // The limit of a file's size: continue with the next file.
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge && done > 0 => break,
                Err(error) => return Err(ConformanceFailure::io("write", &path, &error)),
            }
        }
        content.truncate(done);
        let synced = file.fsync();
        drop(file);
        self.checker.bytes += done;
        if synced.as_ref().is_err_and(is_full) {
            self.checker
                .note("ENOSPC is reported by fsync, after write accepted the data");
            self.remove(&path)?;
            return Ok(true);
        }
        self.checker.must("fsync", &path, synced)?;
        self.taken += done;
        self.files.push(Filled { path, content });
        Ok(ended)
    }

    /// Reserves the rest of `most` by fallocate(2) in ever smaller files; false if not supported.
    fn reserve(&mut self, most: u64) -> Result<bool, ConformanceFailure> {
        let mut size = most - self.taken;
        while size >= RESERVED_BYTES_MIN && self.taken < most {
            let path = self
                .base
                .join(format!("reserved-{:03}", self.reserved.len()));
            match File::create_new(&path) {
                Err(error) if is_full(&error) => break,
                created => self.checker.must("create", &path, created.map(drop))?,
            }
            self.reserved.push(path.clone());
            let wanted = size.min(most - self.taken);
            let allocated = self.open(&path)?.allocate(wanted);
            self.checker.check()?;
            match allocated {
                Ok(()) => self.taken += wanted,
                Err(error) if is_full(&error) || error.kind() == io::ErrorKind::FileTooLarge => {
                    self.reserved.pop();
                    self.remove(&path)?;
                    size /= 2;
                }
                Err(error) if is_refusal(&error) => return Ok(false),
                Err(error) => {
                    return Err(ConformanceFailure::io("reserve room for", &path, &error));
                }
            }
        }
        let reserved = self.reserved.len();
        self.checker.note(format!(
            "{} were taken; the last of it is room that was reserved by {reserved} files",
            Bytes(self.taken)
        ));
        Ok(true)
    }

    /// Compares all files, or a sample with the first and the last ones.
    fn compare(&mut self) -> Result<(), ConformanceFailure> {
        let total: u64 = self.files.iter().map(|file| file.content.length()).sum();
        let step = index(total.div_ceil(COMPARED_BYTES_MAX).max(1));
        let last = self.files.len().saturating_sub(3);
        for number in (0..self.files.len()).filter(|it| it % step == 0 || *it >= last) {
            let file = &self.files[number];
            let opened = self.checker.must("open", &file.path, open(&file.path))?;
            // Best effort: without it the comparison reads from the page cache.
            let _ = opened.advise(FileAdvice::DontNeed);
            drop(opened);
            compare_file(&file.path, &file.content, self.checker)?;
        }
        Ok(())
    }

    /// Deletes every second file and writes half of their bytes again.
    fn free_half(&mut self) -> Result<(), ConformanceFailure> {
        let mut freed = 0;
        for number in (0..self.files.len()).rev().step_by(2) {
            let file = self.files.remove(number);
            freed += file.content.length();
            self.remove(&file.path)?;
        }
        self.sync()?;
        self.taken -= freed;
        self.write_with_retries(self.taken + freed / 2)
    }

    /// Writes until `wanted` bytes are taken; waits on ENOSPC as long as there is progress.
    fn write_with_retries(&mut self, wanted: u64) -> Result<(), ConformanceFailure> {
        let began = self.taken;
        let mut moved = Instant::now();
        let mut pause = Duration::from_millis(50);
        while self.taken < wanted {
            let before = self.taken;
            let end = self.write_files(wanted, self.parameters.file_size.0, None)?;
            if end == End::Taken {
                break;
            }
            if self.taken > before {
                moved = Instant::now();
            } else if moved.elapsed() > NO_PROGRESS_TIMEOUT {
                return Err(ConformanceFailure::no_room(format!(
                    "of {} bytes that should fit, {} could be written",
                    wanted - began,
                    self.taken - began
                )));
            }
            self.trigger_cleaner()?;
            self.checker.check()?;
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(2));
        }
        Ok(())
    }

    /// Expects the free space of `before`, less an allowance for the file system's metadata.
    fn expect_space_freed(&mut self, before: FileSystemRoom) -> Result<(), ConformanceFailure> {
        let kept = before.total_bytes / 16 + (128 << 10);
        let wanted = before.free_bytes.saturating_sub(kept);
        let (mut best, mut moved) = (0, Instant::now());
        while moved.elapsed() < STATFS_TIMEOUT {
            self.trigger_cleaner()?;
            let free = self.room()?.free_bytes;
            if free >= wanted {
                return Ok(());
            }
            if free > best {
                (best, moved) = (free, Instant::now());
            }
            self.checker.check()?;
            std::thread::sleep(Duration::from_millis(200));
        }
        if best >= wanted / 4 * 3 {
            let all = before.free_bytes;
            self.checker
                .note(format!("of {all} bytes that were free, {best} came back"));
            return Ok(());
        }
        // nilfs2 cleans only as much of its log as it expects to need soon, and more on demand.
        self.fill_again(best + (wanted - best) / 2).map_err(|it| {
            it.during(&format!(
                "{best} bytes free instead of {} after all was deleted",
                before.free_bytes
            ))
        })?;
        self.wait_for_space(best / 2)?;
        self.checker
            .note("the space of deleted files was not reported as free, but could be written");
        Ok(())
    }

    /// Waits for the cleaner, so that the next phase has free space from its start.
    fn wait_for_space(&mut self, wanted: u64) -> Result<(), ConformanceFailure> {
        let began = Instant::now();
        while self.room()?.free_bytes < wanted {
            if began.elapsed() > NO_PROGRESS_TIMEOUT {
                return Err(ConformanceFailure::no_room(format!(
                    "all was deleted, and {wanted} bytes did not become free"
                )));
            }
            self.trigger_cleaner()?;
            self.checker.check()?;
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Writes and deletes `bytes` bytes, more than statfs(2) reports as free.
    fn fill_again(&mut self, bytes: u64) -> Result<(), ConformanceFailure> {
        self.taken = 0;
        self.base.push("filled-again");
        let made = fs::create_dir(&self.base);
        self.checker.must("create", &self.base, made)?;
        self.write_with_retries(bytes)?;
        self.clear()
    }

    /// Unlinks a file. A copy-on-write file system may need space for that, which a sync or a
    /// truncation of the file provides.
    fn remove(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        for turn in 0..ROUNDS {
            match fs::remove_file(path) {
                Err(error) if is_full(&error) => {}
                outcome => return self.checker.must("remove", path, outcome),
            }
            self.checker
                .note("when full, even removing a file may fail with ENOSPC");
            if turn > 0 {
                let _ = self.open(path)?.set_length(0);
            }
            self.sync()?;
        }
        self.checker.must("remove", path, fs::remove_file(path))
    }

    /// Triggers a cleaner and syncs.
    fn trigger_cleaner(&mut self) -> Result<(), ConformanceFailure> {
        trigger_cleaner(&self.base);
        self.sync()
    }

    fn sync(&mut self) -> Result<(), ConformanceFailure> {
        match sync_file_system(&self.base) {
            // The comparison will show whether accepted data was lost.
            Err(error) if is_full(&error) => {
                self.checker.note("syncfs reports ENOSPC");
                Ok(())
            }
            synced => self.checker.must("sync", &self.base, synced),
        }
    }

    fn room(&mut self) -> Result<FileSystemRoom, ConformanceFailure> {
        let room = FileSystemRoom::of(&self.base);
        self.checker.must("ask for the room of", &self.base, room)
    }

    fn open(&mut self, path: &Path) -> Result<DataFile, ConformanceFailure> {
        self.checker.must("open", path, open(path))
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
    use fslab_job::Job;

    use super::*;

    #[test]
    fn the_limit_is_kept_and_all_files_are_removed() {
        let folder = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, folder.path(), 3);
        let mut parameters = FillParameters::default();
        parameters.resolve(Bytes::mib(8)).expect("resolves");
        let finished = fill(&parameters, &context).expect("has that room");
        let note = finished
            .notes
            .iter()
            .find(|note| note.contains("not filled"));
        assert!(note.is_some(), "{:?}", finished.notes);
        assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0);
    }
}
