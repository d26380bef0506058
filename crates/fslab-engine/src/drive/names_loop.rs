//! The loop that performs one operation on one name after the other.

use fslab_model::FailureKind;

use super::names_worker::NamesWorker;
use super::target::{NamesTarget, Task};
use super::threads::Crew;
use crate::EngineError;
use crate::access::Permutation;
use crate::jobs::{DirectoryNumber, MetadataOperation, Order, Subjects};
use crate::recording::{Clock, ThreadOutcome};

/// One thread's loop with all that it works on.
struct NamesLoop<'a, 'w, T, C> {
    worker: NamesWorker<'w>,
    target: T,
    clock: &'a C,
    crew: &'a Crew<'a>,
    end_ns: u64,
}

/// Runs the worker's share of its job on `target`.
pub(crate) fn run_names_loop<T: NamesTarget, C: Clock>(
    worker: NamesWorker<'_>,
    target: T,
    clock: &C,
    crew: &Crew<'_>,
) -> Result<ThreadOutcome, EngineError> {
    let before = clock.thread_use();
    let start_ns = clock.now_ns();
    let mut running = NamesLoop {
        worker,
        target,
        clock,
        crew,
        end_ns: start_ns,
    };
    running.worker.recorder.begin(start_ns);
    let job = running.worker.job;
    match (job.operation.subjects(), job.order) {
        (Subjects::Files, Order::Readdir) => running.files_as_listed()?,
        (Subjects::Files, Order::Sequential | Order::Random) => running.files_by_number()?,
        (Subjects::Directories | Subjects::BaseAndDirectories, _) => running.directories()?,
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
        let files = self.worker.files();
        if files.count == 0 {
            return Ok(());
        }
        let order = (self.worker.job.order == Order::Random)
            .then(|| Permutation::new(files.count, &mut self.worker.random));
        for turn in 0..files.count {
            let turn = order.as_ref().map_or(turn, |order| order.at(turn));
            self.file(files.number(turn))?;
        }
        Ok(())
    }

    fn files_as_listed(&mut self) -> Result<(), EngineError> {
        let tree = &self.worker.job.tree;
        let names = self.worker.names();
        for leaf in self.worker.leaves() {
            let expected = tree.files_of(leaf);
            let number = leaf.map(|index| DirectoryNumber {
                level: tree.levels(),
                index,
            });
            let mut listed = std::mem::take(&mut self.worker.listed);
            listed.clear();
            let worker = &mut self.worker;
            // A listing is always relative to the base, even where the operation is not.
            let mut paths = super::PathWriter::new(b"");
            let name = paths.directory(tree, number);
            let start_ns = self.clock.now_ns();
            let done = self.target.list(name, names, expected.clone(), &mut listed);
            let end_ns = self.clock.now_ns();
            done.map_err(|e| worker.failure("list", name, e))?;
            worker
                .recorder
                .companion(worker.slots.list, start_ns, end_ns);
            if listed.len() as u64 != expected.end - expected.start {
                let path = worker.base.join(name.to_string_lossy().as_ref());
                let message = format!(
                    "{} of the {} files that should be in it",
                    listed.len(),
                    expected.end - expected.start,
                );
                return Err(EngineError::corrupt(&path, message));
            }
            for number in &listed {
                self.file(*number)?;
            }
            self.worker.listed = listed;
        }
        Ok(())
    }

    fn directories(&mut self) -> Result<(), EngineError> {
        let operation = self.worker.job.operation;
        let levels = self.worker.job.tree.levels();
        if operation.subjects() == Subjects::BaseAndDirectories && self.worker.share.is_first() {
            self.directory(None)?;
        }
        for step in 1..=levels {
            // What is inside goes before what it is in.
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
        let worker = &mut self.worker;
        let (job, identity) = (worker.job, worker.identity(0));
        let name = worker.paths.directory(&job.tree, number);
        let task = Task {
            operation: job.operation,
            name,
            other: c"",
            bytes: 0,
            identity,
        };
        let start_ns = self.clock.now_ns();
        let done = self.target.perform(&task);
        let end_ns = self.clock.now_ns();
        if let Err(source) = done {
            let name = name.to_owned();
            return Err(self.worker.failure(job.operation.as_str(), &name, source));
        }
        worker
            .recorder
            .operation(worker.slots.operation, start_ns, end_ns, 0);
        self.end_ns = end_ns;
        if job.sync.fsync_directory {
            let above = number
                .filter(|number| number.level > 1)
                .map(|number| DirectoryNumber {
                    level: number.level - 1,
                    index: number.index / job.tree.fan_out.max(1),
                });
            self.fsync_directory(above)?;
        }
        Ok(())
    }

    #[inline]
    fn file(&mut self, number: u64) -> Result<(), EngineError> {
        self.check_stop()?;
        let worker = &mut self.worker;
        let (job, names, other_names) = (worker.job, worker.names(), worker.other_names());
        let identity = worker.identity(number);
        let task = Task {
            operation: job.operation,
            name: worker.paths.file(&job.tree, number, names),
            other: if job.operation.gives_a_name() {
                worker.others.file(&job.tree, number, other_names)
            } else {
                c""
            },
            bytes: job.file_bytes.of(worker.seed, number),
            identity,
        };
        let slots = worker.slots;
        let result = if job.operation == MetadataOperation::Create {
            let fsync = job
                .sync
                .fsync_file
                .then_some((&mut worker.recorder, slots.fsync));
            create(&mut self.target, self.clock, &task, fsync)
        } else {
            perform(&mut self.target, self.clock, &task)
        };
        let done = match result {
            Ok(done) => done,
            Err(source) => {
                let name = task.name.to_owned();
                return Err(self.worker.failure(job.operation.as_str(), &name, source));
            }
        };
        if job.verify
            && let Err(message) = self.target.verify(&task)
        {
            let path = worker.base.join(task.name.to_string_lossy().as_ref());
            return Err(EngineError::corrupt(&path, message));
        }
        worker
            .recorder
            .operation(slots.operation, done.start_ns, done.end_ns, done.bytes);
        self.end_ns = done.end_ns;
        if job.sync.fsync_directory {
            let level = job.tree.levels();
            let leaf = job.tree.leaf_of(number);
            self.fsync_directory(leaf.map(|index| DirectoryNumber { level, index }))?;
        }
        Ok(())
    }

    fn fsync_directory(&mut self, number: Option<DirectoryNumber>) -> Result<(), EngineError> {
        let mut paths = super::PathWriter::new(b"");
        let name = paths.directory(&self.worker.job.tree, number);
        let start_ns = self.clock.now_ns();
        let done = self.target.fsync_directory(name);
        self.end_ns = self.clock.now_ns();
        done.map_err(|e| self.worker.failure("fsync", name, e))?;
        let slot = self.worker.slots.fsync_directory;
        self.worker.recorder.companion(slot, start_ns, self.end_ns);
        Ok(())
    }

    fn closing_sync(&mut self) -> Result<(), EngineError> {
        let start_ns = self.clock.now_ns();
        let done = self.target.sync_file_system();
        self.end_ns = self.clock.now_ns();
        done.map_err(|e| EngineError::io("syncfs", &self.worker.base, e))?;
        self.worker
            .recorder
            .companion(self.worker.slots.syncfs, start_ns, self.end_ns);
        Ok(())
    }

    #[inline]
    fn check_stop(&self) -> Result<(), EngineError> {
        if self.crew.must_stop() {
            let error = EngineError::interrupted(&self.worker.base);
            debug_assert_eq!(error.kind(), FailureKind::Interrupted);
            return Err(error);
        }
        Ok(())
    }
}

/// When an operation began and ended, and how many bytes it moved.
struct Done {
    start_ns: u64,
    end_ns: u64,
    bytes: u64,
}

#[inline]
fn perform<T: NamesTarget, C: Clock>(
    target: &mut T,
    clock: &C,
    task: &Task<'_>,
) -> std::io::Result<Done> {
    let start_ns = clock.now_ns();
    let met = target.perform(task)?;
    let end_ns = clock.now_ns();
    let bytes = if task.operation.reads_data() { met } else { 0 };
    Ok(Done {
        start_ns,
        end_ns,
        bytes,
    })
}

/// Creates a file. The time of its fsync, if there is one, is noted by itself, and is not part of
/// that of the creation.
#[inline]
fn create<T: NamesTarget, C: Clock>(
    target: &mut T,
    clock: &C,
    task: &Task<'_>,
    fsync: Option<(&mut crate::recording::Recorder, crate::recording::Slot)>,
) -> std::io::Result<Done> {
    let mut start_ns = clock.now_ns();
    let mut file = target.create(task)?;
    if let Some((recorder, slot)) = fsync {
        let from_ns = clock.now_ns();
        target.fsync_created(&mut file)?;
        let to_ns = clock.now_ns();
        recorder.companion(slot, from_ns, to_ns);
        start_ns += to_ns - from_ns;
    }
    target.close_created(file)?;
    Ok(Done {
        start_ns,
        end_ns: clock.now_ns(),
        bytes: task.bytes,
    })
}
