//! Operations on names by system calls relative to an open directory, for the engine psync.

use std::cell::Cell;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::Path;
use std::{fs, io};

use fslab_sys::{CallArray, DataFile, NameDirectory, PageBuffer, StoppedOperation};

use super::calls::write_all;
use super::digests::Digests;
use super::gathering::{Gathering, can_gather, mode_of};
use crate::content::DataPool;
use crate::drive::{
    NamesTarget, NamesWorker, Naming, PutTask, Stonewall, Task, WorkerConfig, run_names_loop,
    run_workers,
};
use crate::error::TREE_MISSING;
use crate::jobs::{DirectoryNumber, DirectoryTiming, MetadataOperation, Names};
use crate::ranks::shifted;
use crate::recording::{MonotonicClock, combine};
use crate::{EngineError, Measured, MetadataJob, RunContext};

/// Buffer of getdents64(2), the size used by the C library.
const LISTING_BYTES: usize = 32 << 10;
/// Capacity for a directory's path, so that storing one never allocates.
const PATH_BYTES: usize = 4096;
/// Value of the extended attribute.
const ATTRIBUTE_VALUE: [u8; 32] = [0x61; 32];

/// Runs `job` with one system call at a time.
pub(super) fn run_metadata(
    context: &RunContext,
    job: &MetadataJob,
    threads: Range<u32>,
    stonewall: Option<&Stonewall<'_>>,
) -> Result<Measured, EngineError> {
    let makers = match job.base_per_worker {
        true => threads.clone(),
        // One tree, which thread 0 makes.
        false => threads.start.min(1)..threads.end.min(1),
    };
    let make_all = || {
        let mut makers = makers
            .clone()
            .map(|thread| NamesWorker::new(context, job, thread));
        makers.try_for_each(|mut worker| make_directories(&mut worker))
    };
    match &context.ranks {
        Some(ranks) => ranks.agree_in_engine("directories", make_all())?,
        None => make_all()?,
    }
    let prepare = |number| {
        let worker = NamesWorker::new(
            context,
            job,
            shifted(&threads, number, job.rank_shift, job.threads),
        );
        let folder = NamesFolder::open(context, &worker)?;
        Ok((worker, folder))
    };
    let (outcomes, used) = run_workers(
        WorkerConfig::for_metadata(context, job, &threads, stonewall),
        prepare,
        |(worker, folder), group| run_names_loop(worker, folder, &MonotonicClock, group),
    )?;
    Ok(combine(outcomes, used, job.moves_data()))
}

/// Makes the base of `worker`, and for creating jobs the directories of their files, unless making
/// those is part of the job.
fn make_directories(worker: &mut NamesWorker<'_>) -> Result<(), EngineError> {
    let job = worker.job;
    let makes = matches!(
        job.operation,
        MetadataOperation::Create | MetadataOperation::Mkdir | MetadataOperation::Turnover
    );
    if !makes {
        return Ok(());
    }
    let base = worker.base.clone();
    let failed = |path: &Path, e| EngineError::io("make directory", path, e);
    fs::create_dir_all(&base).map_err(|e| failed(&base, e))?;
    if job.operation != MetadataOperation::Create || job.directories == DirectoryTiming::InTime {
        return Ok(());
    }
    let directory = NameDirectory::open(&base).map_err(|e| EngineError::io("open", &base, e))?;
    for level in 1..=job.tree().levels() {
        for index in 0..job.tree().directories_at(level) {
            let name = worker.folder(Some(DirectoryNumber { level, index }));
            make_if_missing(&directory, name)
                .map_err(|e| failed(&base.join(name.to_string_lossy().as_ref()), e))?;
        }
    }
    Ok(())
}

fn make_if_missing(directory: &NameDirectory, name: &CStr) -> io::Result<()> {
    match directory.make_directory(name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// The file that was read last, and its piece in the buffer.
#[derive(Default)]
struct Reading {
    /// True if pieces are compared with what was written.
    is_verified: bool,
    /// Bytes of the file.
    total: u64,
    /// Where the piece begins in the file.
    offset: u64,
    /// Bytes of the piece.
    filled: usize,
    /// What is wrong with an earlier piece.
    mismatch: Option<String>,
}

/// An open directory, with the resources to write and read its files.
struct NamesFolder {
    directory: NameDirectory,
    record_bytes: usize,
    truncated_bytes: u64,
    /// `None` if nothing is written or verified.
    pool: Option<DataPool>,
    buffer: PageBuffer,
    reading: Reading,
    listing: Box<[MaybeUninit<u8>]>,
    naming: Naming,
    /// True if stat(2) follows symbolic links.
    follows_links: bool,
    /// The directory synced last: changes come in groups, and opening it for each would cost two
    /// more calls.
    synced: Option<NameDirectory>,
    synced_name: Vec<u8>,
    /// `None` if the job computes none.
    digests: Option<Digests>,
}

impl NamesFolder {
    fn open(context: &RunContext, worker: &NamesWorker<'_>) -> Result<Self, EngineError> {
        let (job, base) = (worker.job, &worker.base);
        let longest = job.file_size.longest();
        let record_bytes = job.record.0.min(longest.next_multiple_of(4096).max(4096)) as usize;
        let needs_pool = longest > 0 && (job.operation.creates() || job.verify);
        let mut pool = needs_pool.then(|| DataPool::new(context.seed, job.content, record_bytes));
        let digests = job.digest.map(|_| {
            // Expected digests are computed before the measurement.
            let pool = pool.as_mut().filter(|_| job.verify);
            Digests::new(pool.map(|pool| (worker.contents(), pool)))
        });
        Ok(Self {
            directory: NameDirectory::open(base)
                .map_err(|e| EngineError::io("open", base, e).hint_if_missing(TREE_MISSING))?,
            record_bytes,
            truncated_bytes: job.truncated.0,
            pool,
            buffer: PageBuffer::zeroed(if job.reads_data() { record_bytes } else { 0 }),
            reading: Reading {
                is_verified: job.verify && job.digest.is_none(),
                ..Reading::default()
            },
            listing: Box::new_uninit_slice(LISTING_BYTES),
            naming: worker.naming(),
            follows_links: job.names != Names::Symlinks,
            synced: None,
            synced_name: Vec::with_capacity(PATH_BYTES),
            digests,
        })
    }

    /// Reads a file to its end, as a program that does not know its length.
    #[inline]
    fn read_file(&mut self, task: &Task<'_>) -> io::Result<u64> {
        let file = self.directory.open_file(task.name, false)?;
        self.read_on(task, file, 0)
    }

    /// Reads `file` from `total`, what was read before, to its end.
    fn read_on(&mut self, task: &Task<'_>, file: DataFile, mut total: u64) -> io::Result<u64> {
        self.reading.mismatch = None;
        loop {
            let filled = match file.read_at(&mut self.buffer, total) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // The last read of a file of full records returns nothing, and leaves the buffer.
            if filled > 0 {
                (self.reading.offset, self.reading.filled) = (total, filled);
            }
            total += filled as u64;
            if let Some(digests) = &mut self.digests {
                digests.update(&self.buffer[..filled]);
            }
            // A regular file returns less than requested only at its end.
            if filled < self.buffer.len() {
                self.reading.total = total;
                if let Some(digests) = &mut self.digests {
                    digests.finish();
                }
                file.close()?;
                return Ok(total);
            }
            // The next read would overwrite it. The last piece is compared after the time was
            // taken.
            if self.reading.is_verified && total < task.bytes && self.reading.mismatch.is_none() {
                self.reading.mismatch = self.compare_piece(task).err();
            }
        }
    }

    /// Compares what the buffer has with the data of the task's file.
    fn compare_piece(&self, task: &Task<'_>) -> Result<(), String> {
        let Reading { offset, filled, .. } = self.reading;
        match &self.pool {
            Some(pool) => pool.verify(task.file.identity(), false, offset, &self.buffer[..filled]),
            None => Ok(()),
        }
    }

    /// Writes the data of the task's file from `offset`, which need not begin a record, to its end.
    #[inline]
    fn write_on(&mut self, task: &Task<'_>, file: &DataFile, mut offset: u64) -> io::Result<()> {
        let record_bytes = self.record_bytes as u64;
        while let Some(pool) = self.pool.as_mut().filter(|_| offset < task.bytes) {
            let within = offset % record_bytes;
            let start = offset - within;
            let length = (task.bytes - start).min(record_bytes);
            let data = pool.slice(task.file.identity(), start, length as usize);
            write_all(file, &data[within as usize..], offset)?;
            offset = start + length;
        }
        Ok(())
    }

    fn list_directory(&mut self, name: &CStr) -> io::Result<u64> {
        let directory = self.directory.open_directory(name)?;
        let mut entries = 0;
        directory.list(&mut self.listing, &mut |_| {
            entries += 1;
            Ok(())
        })?;
        Ok(entries)
    }
}

impl NamesTarget for NamesFolder {
    type Created = DataFile;

    fn make_directory(&mut self, name: &CStr) -> io::Result<()> {
        self.directory.make_directory(name)
    }

    fn remove_directory(&mut self, name: &CStr) -> io::Result<()> {
        self.directory.remove_directory(name)
    }

    fn unlink(&mut self, name: &CStr) -> io::Result<()> {
        self.directory.unlink(name)
    }

    fn ensure_directory(&mut self, name: &CStr) -> io::Result<()> {
        make_if_missing(&self.directory, name)
    }

    #[inline]
    fn create(&mut self, task: &Task<'_>) -> io::Result<DataFile> {
        let file = self.directory.create_file(task.name)?;
        self.write_on(task, &file, 0)?;
        Ok(file)
    }

    fn replace(&mut self, task: &Task<'_>) -> io::Result<DataFile> {
        let old = self.directory.open_file(task.name, false)?;
        self.directory.unlink(task.name)?;
        old.close()?;
        self.create(task)
    }

    fn fsync_created(&mut self, file: &mut DataFile) -> io::Result<()> {
        file.fsync()
    }

    #[inline]
    fn close_created(&mut self, file: DataFile) -> io::Result<()> {
        file.close()
    }

    #[inline]
    fn perform(&mut self, task: &Task<'_>) -> io::Result<u64> {
        use MetadataOperation as Operation;
        let (directory, name) = (&self.directory, task.name);
        match task.operation {
            Operation::Read => self.read_file(task),
            Operation::List => self.list_directory(name),
            Operation::Stat => directory.stat(name, self.follows_links),
            Operation::Mkdir => directory.make_directory(name).map(|()| 0),
            Operation::Open => directory.open_file(name, false)?.close().map(|()| 0),
            Operation::Rename => directory.rename(name, task.other).map(|()| 0),
            Operation::Link => directory.link(name, task.other).map(|()| 0),
            Operation::Symlink => directory.symlink(name, task.other).map(|()| 0),
            Operation::Readlink => directory.read_link(name).map(|length| length as u64),
            Operation::Chmod => {
                let mode = mode_of(task);
                directory.change_mode(name, mode).map(|()| 0)
            }
            Operation::Chown => directory.change_owner(name).map(|()| 0),
            Operation::Utimens => directory.touch(name).map(|()| 0),
            Operation::SetXattr => fslab_sys::set_attribute(name, &ATTRIBUTE_VALUE).map(|()| 0),
            Operation::GetXattr => {
                let mut value = [0; ATTRIBUTE_VALUE.len()];
                fslab_sys::get_attribute(name, &mut value).map(|length| length as u64)
            }
            Operation::Truncate => fslab_sys::truncate_path(name, self.truncated_bytes).map(|()| 0),
            Operation::Fallocate => {
                let file = directory.open_file(name, true)?;
                // fallocate(2) of length 0 is an error, and an empty file needs no space.
                if task.bytes > 0 {
                    file.allocate(task.bytes)?;
                }
                file.close().map(|()| 0)
            }
            Operation::FsyncFile => {
                let file = directory.open_file(name, false)?;
                file.fsync()?;
                file.close().map(|()| 0)
            }
            Operation::FsyncDirectory => directory.open_directory(name)?.fsync().map(|()| 0),
            Operation::Unlink => directory.unlink(name).map(|()| 0),
            Operation::Rmdir => directory.remove_directory(name).map(|()| 0),
            Operation::Create | Operation::Replace | Operation::Turnover | Operation::RemoveAll => {
                unreachable!("the loop takes these apart")
            }
        }
    }

    fn gathers(&self, operation: MetadataOperation) -> bool {
        let needs_data = operation == MetadataOperation::Read && self.digests.is_some();
        can_gather(operation) && !needs_data
    }

    fn perform_together(
        &mut self,
        calls: &mut CallArray,
        until_ns: u64,
        tasks: &mut dyn FnMut(PutTask<'_>),
    ) -> io::Result<()> {
        let mut batch = calls.batch();
        let gathering = Gathering {
            directory: &self.directory,
            follows_links: self.follows_links,
            record_bytes: self.record_bytes,
            pool: self.pool.as_mut().map(DataPool::shared),
            buffer: Cell::from_mut(&mut *self.buffer).as_slice_of_cells(),
        };
        tasks(&mut |task| gathering.put(&mut batch, task));
        if batch.operations() < 2 {
            return Ok(());
        }
        batch.run(until_ns)
    }

    fn complete(&mut self, task: &Task<'_>, stopped: StoppedOperation) -> io::Result<u64> {
        let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        let Some(file) = stopped.file else {
            return stopped.result;
        };
        match (task.operation, stopped.result) {
            (_, Err(error)) if !interrupted(&error) => Err(error),
            (MetadataOperation::Create, Ok(0)) => Err(io::ErrorKind::WriteZero.into()),
            (MetadataOperation::Create, _) => {
                self.write_on(task, &file, stopped.moved)?;
                file.close().map(|()| task.bytes)
            }
            // What the last call has read is less than the buffer only at the end of the file.
            (_, Ok(filled)) if filled < self.buffer.len() as u64 => {
                file.close().map(|()| stopped.moved)
            }
            (_, _) => self.read_on(task, file, stopped.moved),
        }
    }

    fn verify(&self, task: &Task<'_>) -> Result<(), String> {
        if let Some(digests) = &self.digests {
            return digests.verify(task.file.identity());
        }
        let Reading { total, .. } = self.reading;
        if total != task.bytes {
            return Err(format!(
                "{total} bytes where there should be {}",
                task.bytes
            ));
        }
        match &self.reading.mismatch {
            Some(mismatch) => Err(mismatch.clone()),
            None if total == 0 => Ok(()),
            None => self.compare_piece(task),
        }
    }

    fn list(
        &mut self,
        name: &CStr,
        names: Names,
        _files: Range<u64>,
        into: &mut Vec<u64>,
    ) -> io::Result<()> {
        let directory = self.directory.open_directory(name)?;
        directory.list(&mut self.listing, &mut |entry| {
            into.extend(self.naming.number(entry.name, names));
            Ok(())
        })
    }

    fn entries(&mut self, name: &CStr, into: &mut Vec<u8>) -> io::Result<()> {
        let directory = self.directory.open_directory_within(name)?;
        directory.list(&mut self.listing, &mut |entry| {
            let is_directory = match entry.is_directory {
                Some(known) => known,
                None => directory.is_directory(entry.name)?,
            };
            into.push(u8::from(is_directory));
            into.extend_from_slice(entry.name.to_bytes_with_nul());
            Ok(())
        })
    }

    fn fsync_directory(&mut self, name: &CStr) -> io::Result<()> {
        if name == c"." {
            return self.directory.fsync();
        }
        if let Some(synced) = &self.synced
            && self.synced_name == name.to_bytes()
        {
            return synced.fsync();
        }
        self.synced_name.clear();
        self.synced_name.extend_from_slice(name.to_bytes());
        let directory = self.directory.open_directory(name)?;
        self.synced.insert(directory).fsync()
    }

    fn sync_file_system(&mut self) -> io::Result<()> {
        self.directory.sync_file_system()
    }
}
