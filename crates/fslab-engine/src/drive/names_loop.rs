//! The loop that performs single operations on names.

use std::ffi::{CStr, CString};
use std::io;

use fslab_model::FailureKind;

use super::names_worker::NamesWorker;
use super::target::{NamesTarget, Task};
use super::worker_group::WorkerGroup;
use crate::EngineError;
use crate::access::Permutation;
use crate::jobs::{DirectoryNumber, Items, MetadataJob, MetadataOperation, Order, Refusal};
use crate::recording::{Clock, Slot, ThreadOutcome};

/// The loop of one thread.
pub(super) struct NamesLoop<'a, 'w, T, C> {
    pub(super) worker: NamesWorker<'w>,
    pub(super) target: T,
    pub(super) clock: &'a C,
    pub(super) group: &'a WorkerGroup<'a>,
    pub(super) end_ns: u64,
}

/// Runs the worker's part of its job on `target`.
pub(crate) fn run_names_loop<T: NamesTarget, C: Clock>(
    worker: NamesWorker<'_>,
    target: T,
    clock: &C,
    group: &WorkerGroup<'_>,
) -> Result<ThreadOutcome, EngineError> {
    let before = clock.thread_use();
    let start_ns = clock.now_ns();
    let mut running = NamesLoop {
        worker,
        target,
        clock,
        group,
        end_ns: start_ns,
    };
    running.worker.recorder.begin(start_ns);
    let job = running.worker.job;
    match (job.operation.items(), job.order) {
        (Items::Files, Order::Readdir) => running.files_as_listed()?,
        (Items::Files, Order::Sequential | Order::Random) => running.files_by_number()?,
        (Items::Directories | Items::BaseAndDirectories, _) => running.directories()?,
        (Items::Turnover, _) => running.turnover()?,
        (Items::Everything, _) => running.everything()?,
    }
    if job.sync.closing_syncfs {
        running.closing_sync()?;
    }
    let used = clock
        .thread_use()
        .zip(before)
        .map(|(after, before)| after.since(before));
    let NamesLoop { worker, end_ns, .. } = running;
    let recorder = worker.recorder;
    Ok(ThreadOutcome::new(start_ns, end_ns, recorder, used))
}

impl<T: NamesTarget, C: Clock> NamesLoop<'_, '_, T, C> {
    fn files_by_number(&mut self) -> Result<(), EngineError> {
        let (job, slot) = (self.worker.job, self.worker.slots.operation);
        let files = self.worker.files();
        if files.count == 0 {
            return Ok(());
        }
        let order = (self.worker.job.order == Order::Random)
            .then(|| Permutation::new(files.count, &mut self.worker.random));
        let at = |turn| files.number(order.as_ref().map_or(turn, |order| order.at(turn)));
        let mut acts = Acts {
            operation: job.operation,
            slot,
            number: &at,
            until_ns: (job.stonewall_ns).map_or(u64::MAX, |ns| self.end_ns.saturating_add(ns)),
        };
        let done = self.act_on(&acts, 0..files.count)?;
        let interruption = || EngineError::interrupted(&self.worker.base);
        let left = self.group.wear_out(done, interruption)?;
        acts.until_ns = u64::MAX;
        self.act_on(&acts, done..done.saturating_add(left).min(files.count))?;
        if job.remove_directories {
            self.remove_directories(job.tree().levels())?;
        }
        Ok(())
    }

    fn files_as_listed(&mut self) -> Result<(), EngineError> {
        let job = self.worker.job;
        for leaf in self.worker.leaves() {
            self.files_of(leaf, job.operation, self.worker.slots.operation)?;
            if job.remove_directories && leaf.is_some() {
                self.remove_directory(self.worker.leaf_directory(leaf))?;
            }
        }
        if job.remove_directories {
            self.remove_directories(job.tree().levels().saturating_sub(1))?;
        }
        Ok(())
    }

    /// Lists a directory, and performs `operation` on its files in the order of the listing.
    pub(super) fn files_of(
        &mut self,
        leaf: Option<u64>,
        operation: MetadataOperation,
        slot: Slot,
    ) -> Result<(), EngineError> {
        let expected = self.worker.files_in(leaf);
        let names = self.worker.names();
        let mut listed = std::mem::take(&mut self.worker.listed);
        listed.clear();
        let name = self.worker.folder(self.worker.leaf_directory(leaf));
        let start_ns = self.clock.now_ns();
        let done = self.target.list(name, names, expected.clone(), &mut listed);
        let end_ns = self.clock.now_ns();
        if let Err(source) = done {
            let name = name.to_owned();
            return Err(self.worker.failure("list", &name, source));
        }
        self.worker
            .recorder
            .auxiliary(self.worker.slots.list, start_ns, end_ns);
        if listed.len() as u64 != expected.end - expected.start {
            let name = self.worker.folder(self.worker.leaf_directory(leaf));
            let name = name.to_string_lossy().into_owned();
            let path = self.worker.base.join(name);
            let message = format!(
                "{} of the {} files that should be in it",
                listed.len(),
                expected.end - expected.start,
            );
            return Err(EngineError::corrupt(&path, message));
        }
        if !self.worker.is_alone {
            let own = self.worker.files();
            listed.retain(|number| own.has(*number));
        }
        let acts = Acts {
            operation,
            slot,
            number: &|turn| listed[turn as usize],
            until_ns: u64::MAX,
        };
        self.act_on(&acts, 0..listed.len() as u64)?;
        self.worker.listed = listed;
        Ok(())
    }

    /// Removes all directories from `level` up to the base.
    fn remove_directories(&mut self, level: u32) -> Result<(), EngineError> {
        for level in (1..=level).rev() {
            for index in 0..self.worker.job.tree().directories_at(level) {
                self.remove_directory(Some(DirectoryNumber { level, index }))?;
            }
        }
        self.remove_directory(None)
    }

    /// Removes an empty directory.
    pub(super) fn remove_directory(
        &mut self,
        number: Option<DirectoryNumber>,
    ) -> Result<(), EngineError> {
        let name = match number {
            Some(_) => self.worker.folder(number).to_owned(),
            None => self.worker.base_name.clone(),
        };
        let start_ns = self.clock.now_ns();
        let done = self.target.remove_directory(&name);
        self.end_ns = self.clock.now_ns();
        done.map_err(|e| self.worker.failure("rmdir", &name, e))?;
        let slot = self.worker.slots.remove_directory;
        self.worker.recorder.auxiliary(slot, start_ns, self.end_ns);
        Ok(())
    }

    fn directories(&mut self) -> Result<(), EngineError> {
        let operation = self.worker.job.operation;
        let levels = self.worker.job.tree().levels();
        if operation.items() == Items::BaseAndDirectories && self.worker.share.is_first() {
            self.directory(None)?;
        }
        for step in 1..=levels {
            // Children are removed before their parents.
            let level = match operation {
                MetadataOperation::Rmdir => levels + 1 - step,
                _ => step,
            };
            for number in self.worker.directories(level) {
                self.directory(Some(number))?;
            }
        }
        Ok(())
    }

    fn directory(&mut self, number: Option<DirectoryNumber>) -> Result<(), EngineError> {
        self.check_stop()?;
        let (job, file) = (self.worker.job, self.worker.tree_file(0));
        let task = Task {
            operation: job.operation,
            name: self.worker.folder(number),
            other: c"",
            bytes: 0,
            file,
        };
        let start_ns = self.clock.now_ns();
        let done = self.target.perform(&task);
        let end_ns = self.clock.now_ns();
        if let Err(source) = done {
            let name = task.name.to_owned();
            return Err(self.worker.failure(job.operation.as_str(), &name, source));
        }
        let slot = self.worker.slots.operation;
        self.worker.recorder.operation(slot, start_ns, end_ns, 0);
        self.end_ns = end_ns;
        let above = number
            .filter(|number| number.level > 1)
            .map(|number| DirectoryNumber {
                level: number.level - 1,
                index: number.index / job.fan_out.max(1),
            });
        if let Some((start_ns, end_ns)) = self.sync_directory(above)? {
            let slot = self.worker.slots.fsync_directory;
            self.worker.recorder.auxiliary(slot, start_ns, end_ns);
        }
        Ok(())
    }

    /// Performs `operation` on file `number` with all steps of the job, and records it in `slot`.
    #[inline]
    pub(super) fn act(
        &mut self,
        operation: MetadataOperation,
        slot: Slot,
        number: u64,
    ) -> Result<(), EngineError> {
        self.check_stop()?;
        if !self.worker.single_step {
            return self.act_in_steps(operation, slot, number);
        }
        let task = self.worker.task(operation, number);
        let start_ns = self.clock.now_ns();
        let done = issue(&mut self.target, &task);
        let end_ns = self.clock.now_ns();
        let bytes = match done {
            Ok(bytes) => bytes,
            Err(source) => {
                let (step, name) = (task.operation.as_str(), failed_name(&task));
                return Err(self.worker.failure(step, &name, source));
            }
        };
        let recorder = &mut self.worker.recorder;
        recorder.operation(slot, start_ns, end_ns, bytes);
        self.end_ns = end_ns;
        Ok(())
    }

    /// As `act`, for a job with further steps.
    fn act_in_steps(
        &mut self,
        operation: MetadataOperation,
        slot: Slot,
        number: u64,
    ) -> Result<(), EngineError> {
        let entered_ns = self.enter(operation, number)?;
        let job = self.worker.job;
        let task = self.worker.task(operation, number);
        let mut done = match operate(&mut self.target, self.clock, job, &task) {
            Ok(done) => done,
            Err((step, source)) => {
                let name = failed_name(&task);
                return Err(self.worker.failure(step, &name, source));
            }
        };
        if job.verify
            && let Err(message) = self.target.verify(&task)
        {
            let name = task.name.to_string_lossy().into_owned();
            return Err(EngineError::corrupt(&self.worker.base.join(name), message));
        }
        if let Some(entered_ns) = entered_ns {
            done.start_ns = entered_ns;
        }
        self.end_ns = done.end_ns;
        let synced = if job.sync.fsync_directory {
            let leaf = job.tree().leaf_of(number);
            self.sync_directory(self.worker.leaf_directory(leaf))?
        } else {
            None
        };
        if let Some(file) = done.open {
            let closed = self.target.close_created(file);
            self.end_ns = self.clock.now_ns();
            if let Err(source) = closed {
                let name = self.worker.task(operation, number).name.to_owned();
                return Err(self.worker.failure("close", &name, source));
            }
        }
        let (recorder, slots) = (&mut self.worker.recorder, self.worker.slots);
        if job.sync.as_one {
            recorder.operation(slot, done.start_ns, self.end_ns, done.bytes);
            return Ok(());
        }
        let from_ns = done.start_ns + done.synced_ns.map_or(0, |(from, to)| to - from);
        recorder.operation(slot, from_ns, done.end_ns, done.bytes);
        for (slot, span) in [
            (slots.fsync, done.synced_ns),
            (slots.fsync_directory, synced),
        ] {
            if let Some((start_ns, end_ns)) = span {
                recorder.auxiliary(slot, start_ns, end_ns);
            }
        }
        Ok(())
    }

    /// Creates the directory of file `number`, if this is the first file created in it. Returns the
    /// time before.
    #[inline]
    fn enter(
        &mut self,
        operation: MetadataOperation,
        number: u64,
    ) -> Result<Option<u64>, EngineError> {
        let Some(name) = self.worker.enter(operation, number) else {
            return Ok(None);
        };
        let start_ns = self.clock.now_ns();
        let done = match operation {
            // The directory may exist.
            MetadataOperation::Replace => self.target.ensure_directory(name),
            _ => self.target.make_directory(name),
        };
        if let Err(source) = done {
            let name = name.to_owned();
            return Err(self.worker.failure("mkdir", &name, source));
        }
        Ok(Some(start_ns))
    }

    /// Syncs a changed directory, if the job asks for it and the file system can. Returns start and
    /// end.
    fn sync_directory(
        &mut self,
        number: Option<DirectoryNumber>,
    ) -> Result<Option<(u64, u64)>, EngineError> {
        if !self.worker.syncs_directories {
            return Ok(None);
        }
        let name = self.worker.folder(number);
        let start_ns = self.clock.now_ns();
        let done = self.target.fsync_directory(name);
        self.end_ns = self.clock.now_ns();
        match done {
            Ok(()) => Ok(Some((start_ns, self.end_ns))),
            Err(source) => {
                let name = name.to_owned();
                self.take_refusal(&name, source)?;
                Ok(None)
            }
        }
    }

    #[cold]
    fn take_refusal(&mut self, name: &CStr, source: io::Error) -> Result<(), EngineError> {
        let accepted = self.worker.job.sync.directory_refused == Refusal::Note;
        if !accepted || !is_refusal(&source) {
            return Err(self.worker.failure("fsync", name, source));
        }
        self.worker.syncs_directories = false;
        self.worker.recorder.note(format!(
            "directories were not synchronised: the file system refuses fsync(2) of one ({source})"
        ));
        Ok(())
    }

    fn closing_sync(&mut self) -> Result<(), EngineError> {
        let start_ns = self.clock.now_ns();
        let done = self.target.sync_file_system();
        self.end_ns = self.clock.now_ns();
        done.map_err(|e| EngineError::io("syncfs", &self.worker.base, e))?;
        self.worker
            .recorder
            .auxiliary(self.worker.slots.syncfs, start_ns, self.end_ns);
        Ok(())
    }

    #[inline]
    pub(super) fn check_stop(&self) -> Result<(), EngineError> {
        if self.group.must_stop() {
            let error = EngineError::interrupted(&self.worker.base);
            debug_assert_eq!(error.kind(), FailureKind::Interrupted);
            return Err(error);
        }
        Ok(())
    }
}

/// True if `error` means that the file system does not support the operation.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
    )
}

/// The name of a task that failed; of a symbolic link's, `name` is only its target.
#[cold]
pub(super) fn failed_name(task: &Task<'_>) -> CString {
    let symlink = task.operation == MetadataOperation::Symlink;
    if symlink { task.other } else { task.name }.to_owned()
}

/// Times and bytes of an operation, and the fsync of a created file during it.
struct Done<F> {
    start_ns: u64,
    end_ns: u64,
    bytes: u64,
    synced_ns: Option<(u64, u64)>,
    /// The created file, if its directory is to be synced before it is closed.
    open: Option<F>,
}

/// Issues the calls of `task`; returns the bytes that it moved.
#[inline]
fn issue<T: NamesTarget>(target: &mut T, task: &Task<'_>) -> io::Result<u64> {
    use MetadataOperation as Operation;
    match task.operation {
        Operation::Create | Operation::Replace => {
            let file = make(target, task)?;
            target.close_created(file)?;
            Ok(task.bytes)
        }
        operation => {
            let count = target.perform(task)?;
            Ok(if operation.reads_data() { count } else { 0 })
        }
    }
}

/// Makes the file of `task`, which stays open.
#[inline]
fn make<T: NamesTarget>(target: &mut T, task: &Task<'_>) -> io::Result<T::Created> {
    match task.operation {
        MetadataOperation::Create => target.create(task),
        _ => target.replace(task),
    }
}

/// Performs `task` with its further steps; an error has the name of the failed step.
fn operate<T: NamesTarget, C: Clock>(
    target: &mut T,
    clock: &C,
    job: &MetadataJob,
    task: &Task<'_>,
) -> Result<Done<T::Created>, (&'static str, io::Error)> {
    let failed = |source| (task.operation.as_str(), source);
    let start_ns = clock.now_ns();
    let (mut synced_ns, mut open) = (None, None);
    let syncs_file = job.sync.fsync_file || job.sync.as_one;
    let mut bytes = if syncs_file && task.operation.creates() {
        let mut file = make(target, task).map_err(failed)?;
        if job.sync.fsync_file {
            let from_ns = clock.now_ns();
            target
                .fsync_created(&mut file)
                .map_err(|source| ("fsync", source))?;
            synced_ns = Some((from_ns, clock.now_ns()));
        }
        if job.sync.as_one {
            open = Some(file);
        } else {
            target.close_created(file).map_err(failed)?;
        }
        task.bytes
    } else {
        issue(target, task).map_err(failed)?
    };
    for step in &job.then {
        let task = Task {
            operation: *step,
            ..*task
        };
        bytes += issue(target, &task).map_err(|source| (step.as_str(), source))?;
    }
    Ok(Done {
        start_ns,
        end_ns: clock.now_ns(),
        bytes,
        synced_ns,
        open,
    })
}

/// Operations on files.
pub(super) struct Acts<'n> {
    pub(super) operation: MetadataOperation,
    pub(super) slot: Slot,
    /// The number of the file of a turn.
    pub(super) number: &'n dyn Fn(u64) -> u64,
    /// No operation begins at this time or later.
    pub(super) until_ns: u64,
}
