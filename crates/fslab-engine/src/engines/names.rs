//! Operations on names by system calls relative to an open directory, as psync issues them.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::Path;

use fslab_sys::{DataFile, NameDirectory, PageBuffer};

use super::psync::write_all;
use crate::content::DataPool;
use crate::drive::{
    NamesTarget, NamesWorker, PathWriter, Staff, Task, file_number, run_names_loop, run_workers,
};
use crate::jobs::{DirectoryNumber, MetadataOperation, Names};
use crate::recording::{MonotonicClock, combine};
use crate::{EngineError, Measured, MetadataJob, RunContext};

/// What one call of getdents64(2) may fill: what the C library uses too.
const LISTING_BYTES: usize = 32 << 10;
/// Value of the extended attribute that is set.
const ATTRIBUTE_VALUE: [u8; 32] = [0x61; 32];
/// Modes that chmod(2) alternates between, so that each call changes something.
const MODES: [u32; 2] = [0o600, 0o640];

/// Runs `job` with one system call after the other.
pub(super) fn run_metadata(
    context: &RunContext,
    job: &MetadataJob,
) -> Result<Measured, EngineError> {
    let base = context.root.join(&job.tree.base);
    make_directories(context, job, &base)?;
    let prepare = |thread| {
        let worker = NamesWorker::new(context, job, thread);
        Ok((worker, NamesFolder::open(context, job, &base)?))
    };
    let (outcomes, used) = run_workers(
        Staff::for_metadata(context, job),
        prepare,
        |(worker, folder), crew| run_names_loop(worker, folder, &MonotonicClock, crew),
    )?;
    let moves_data = job.operation.writes_data() || job.operation.reads_data();
    Ok(combine(
        outcomes,
        used,
        moves_data && job.file_bytes.longest() > 0,
    ))
}

/// Makes the base, and for a job that creates files also the directories that they stand in.
fn make_directories(
    context: &RunContext,
    job: &MetadataJob,
    base: &Path,
) -> Result<(), EngineError> {
    let makes = matches!(
        job.operation,
        MetadataOperation::Create | MetadataOperation::Mkdir
    );
    if !makes {
        return Ok(());
    }
    fs::create_dir_all(base).map_err(|e| EngineError::io("make directory", base, e))?;
    if job.operation == MetadataOperation::Mkdir {
        return Ok(());
    }
    let mut folder = NamesFolder::open(context, job, base)?;
    let mut paths = PathWriter::new(b"");
    for level in 1..=job.tree.levels() {
        for index in 0..job.tree.directories_at(level) {
            let name = paths.directory(&job.tree, Some(DirectoryNumber { level, index }));
            folder.ensure_directory(name).map_err(|e| {
                let path = base.join(name.to_string_lossy().as_ref());
                EngineError::io("make directory", &path, e)
            })?;
        }
    }
    Ok(())
}

/// An open directory, and what is needed to fill and read the files below it.
struct NamesFolder {
    directory: NameDirectory,
    record_bytes: usize,
    truncated_bytes: u64,
    /// `None` where nothing is written or verified.
    pool: Option<DataPool>,
    buffer: PageBuffer,
    /// Bytes of the buffer that the last file filled.
    filled: usize,
    listing: Box<[MaybeUninit<u8>]>,
}

impl NamesFolder {
    fn open(context: &RunContext, job: &MetadataJob, base: &Path) -> Result<Self, EngineError> {
        let longest = job.file_bytes.longest();
        let record_bytes = job
            .record_bytes
            .min(longest.next_multiple_of(4096).max(4096)) as usize;
        let (reads, writes) = (job.operation.reads_data(), job.operation.writes_data());
        let needs_pool = longest > 0 && (writes || job.verify);
        Ok(Self {
            directory: NameDirectory::open(base).map_err(|e| EngineError::io("open", base, e))?,
            record_bytes,
            truncated_bytes: job.truncated_bytes,
            pool: needs_pool.then(|| DataPool::new(context.seed, job.content, record_bytes)),
            buffer: PageBuffer::zeroed(if reads { record_bytes } else { 0 }),
            filled: 0,
            listing: Box::new_uninit_slice(LISTING_BYTES),
        })
    }

    /// Reads a file to its end, as a program does that does not know its length.
    fn read_file(&mut self, name: &CStr) -> io::Result<u64> {
        let file = self.directory.open_file(name, false)?;
        let mut total = 0_u64;
        loop {
            self.filled = match file.read_at(&mut self.buffer, total) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            total += self.filled as u64;
            // A regular file gives less than was asked for at its end only.
            if self.filled < self.buffer.len() {
                file.close()?;
                return Ok(total);
            }
        }
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

    fn ensure_directory(&mut self, name: &CStr) -> io::Result<()> {
        match self.directory.make_directory(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    #[inline]
    fn create(&mut self, task: &Task<'_>) -> io::Result<DataFile> {
        let file = self.directory.create_file(task.name)?;
        let mut offset = 0;
        while let Some(pool) = self.pool.as_mut().filter(|_| offset < task.bytes) {
            let length = (task.bytes - offset).min(self.record_bytes as u64);
            let data = pool.slice(task.identity, offset, length as usize);
            write_all(&file, data, offset)?;
            offset += length;
        }
        Ok(file)
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
            Operation::Create => {
                let file = self.create(task)?;
                file.close().map(|()| task.bytes)
            }
            Operation::Read => self.read_file(name),
            Operation::List => self.list_directory(name),
            Operation::Stat => directory.stat(name),
            Operation::Mkdir => directory.make_directory(name).map(|()| 0),
            Operation::Open => directory.open_file(name, false)?.close().map(|()| 0),
            Operation::Rename => directory.rename(name, task.other).map(|()| 0),
            Operation::Link => directory.link(name, task.other).map(|()| 0),
            Operation::Symlink => directory.symlink(last_part(name), task.other).map(|()| 0),
            Operation::Readlink => directory.read_link(name).map(|length| length as u64),
            Operation::Chmod => {
                let mode = MODES[usize::from(task.identity.file & 1 == 1)];
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
                // fallocate(2) of nothing is an error; a file of 0 bytes has nothing to reserve.
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
        }
    }

    fn verify(&self, task: &Task<'_>) -> Result<(), String> {
        if self.filled as u64 != task.bytes {
            return Err(format!(
                "{} bytes where there should be {}",
                self.filled, task.bytes
            ));
        }
        match &self.pool {
            Some(pool) => pool.verify(task.identity, false, 0, &self.buffer[..self.filled]),
            None => Ok(()),
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
            into.extend(file_number(entry.name, names));
            Ok(())
        })
    }

    fn fsync_directory(&mut self, name: &CStr) -> io::Result<()> {
        self.directory.open_directory(name)?.fsync()
    }

    fn sync_file_system(&mut self) -> io::Result<()> {
        self.directory.sync_file_system()
    }
}

/// What stands after the last slash of `path`.
fn last_part(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let start = bytes
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    CStr::from_bytes_with_nul(&bytes[start..]).expect("the end of a C string is one")
}
