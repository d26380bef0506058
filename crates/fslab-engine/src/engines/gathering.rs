//! Puts the calls of operations on names into an array of system calls: those that
//! [`super::names`] makes one by one.

use std::cell::Cell;

use fslab_sys::{CallBatch, CallFile, NameDirectory};

use crate::content::SharedPool;
use crate::drive::Task;
use crate::jobs::MetadataOperation;

/// Blocks of a file whose data is written or read in an array.
const BLOCKS_MAX: u64 = 16;
const BLOCK_BYTES: u64 = 4096;
/// Calls beside those on data and stamps: open and close.
const CALLS_BESIDE: u64 = 2;
/// Modes that chmod(2) alternates between, so that each call makes a change.
const MODES: [u32; 2] = [0o600, 0o640];

/// True if [`Gathering::put`] has the calls of `operation`.
pub(super) fn can_gather(operation: MetadataOperation) -> bool {
    use MetadataOperation as Operation;
    matches!(
        operation,
        Operation::Create
            | Operation::Read
            | Operation::Stat
            | Operation::Open
            | Operation::Rename
            | Operation::Link
            | Operation::Symlink
            | Operation::Chmod
            | Operation::Utimens
            | Operation::Unlink
    )
}

/// What the calls refer to.
pub(super) struct Gathering<'b> {
    pub(super) directory: &'b NameDirectory,
    pub(super) follows_links: bool,
    pub(super) record_bytes: usize,
    pub(super) pool: Option<SharedPool<'b>>,
    pub(super) buffer: &'b [Cell<u8>],
}

impl<'b> Gathering<'b> {
    /// Puts the calls of `task` into `batch`; false if there is no room.
    pub(super) fn put(&self, batch: &mut CallBatch<'b>, task: &Task<'_>) -> bool {
        use MetadataOperation as Operation;
        let (directory, name) = (self.directory, task.name);
        if task.bytes > BLOCKS_MAX * BLOCK_BYTES {
            return false;
        }
        // A record has a call and at most a stamp for each block; a read finds the end.
        let records = task.bytes / self.record_bytes.max(1) as u64 + 1;
        let calls = CALLS_BESIDE + records + task.bytes.div_ceil(BLOCK_BYTES) + records;
        let names = [name, task.other].map(|it| it.count_bytes() + 1);
        if !batch.begin(calls as usize, names.iter().sum()) {
            return false;
        }
        let mut moved = 0;
        match task.operation {
            Operation::Create => {
                self.create(batch, task);
                moved = task.bytes;
            }
            Operation::Read => {
                self.read(batch, task);
                moved = task.bytes;
            }
            Operation::Stat => batch.stat(directory, name, self.follows_links),
            Operation::Open => {
                let file = batch.open_file(directory, name);
                batch.close(file);
            }
            Operation::Rename => batch.rename(directory, name, task.other),
            Operation::Link => batch.link(directory, name, task.other),
            Operation::Symlink => batch.symlink(directory, name, task.other),
            Operation::Chmod => batch.change_mode(directory, name, mode_of(task)),
            Operation::Utimens => batch.touch(directory, name),
            Operation::Unlink => batch.unlink(directory, name),
            _ => return false,
        }
        batch.end(moved);
        true
    }

    fn create(&self, batch: &mut CallBatch<'b>, task: &Task<'_>) {
        let opened = batch.create_file(self.directory, task.name);
        let mut offset = 0;
        while let Some(pool) = self.pool.filter(|_| offset < task.bytes) {
            let length = (task.bytes - offset).min(self.record_bytes as u64);
            let data = pool.slice(batch, task.file.identity(), offset, length as usize);
            batch.pwrite(CallFile::Opened(opened), data, offset);
            offset += length;
        }
        batch.close(opened);
    }

    /// The calls that read a file of the task's length to its end.
    fn read(&self, batch: &mut CallBatch<'b>, task: &Task<'_>) {
        let opened = batch.open_file(self.directory, task.name);
        let mut offset = 0;
        loop {
            let expected = (task.bytes - offset).min(self.buffer.len() as u64);
            let file = CallFile::Opened(opened);
            batch.pread(file, self.buffer, offset, expected as usize);
            offset += expected;
            if expected < self.buffer.len() as u64 {
                break;
            }
        }
        batch.close(opened);
    }
}

/// The mode that chmod(2) gives to the task's file.
pub(super) fn mode_of(task: &Task<'_>) -> u32 {
    MODES[usize::from(task.file.identity().file & 1 == 1)]
}
