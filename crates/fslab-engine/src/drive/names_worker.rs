//! What one thread of a metadata job carries: its share of the tree, its paths, its book.

use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::paths::PathWriter;
use crate::access::Permutation;
use crate::content::FileIdentity;
use crate::jobs::{DirectoryNumber, MetadataJob, MetadataOperation, Names, Order, Sharing};
use crate::random::{Random, mix, mix_bytes};
use crate::recording::{Recorder, Slot};
use crate::{EngineError, RunContext};

/// The state of one thread.
pub(crate) struct NamesWorker<'a> {
    pub(crate) job: &'a MetadataJob,
    pub(crate) base: PathBuf,
    pub(crate) seed: u64,
    /// A number for the tree, from which each file's number follows.
    tree_identity: u64,
    pub(crate) share: Share,
    pub(crate) random: Random,
    pub(crate) paths: PathWriter,
    pub(crate) others: PathWriter,
    pub(crate) recorder: Recorder,
    pub(crate) slots: Slots,
    /// Numbers of the files of one directory, in the order in which it lists them.
    pub(crate) listed: Vec<u64>,
}

/// Where the latencies of a metadata job go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) operation: Slot,
    pub(crate) list: Slot,
    pub(crate) fsync: Slot,
    pub(crate) fsync_directory: Slot,
    pub(crate) syncfs: Slot,
}

/// The part of numbered things that one thread visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    thread: u32,
    threads: u32,
}

impl Share {
    /// Whether this is the first thread.
    pub(crate) fn is_first(self) -> bool {
        self.thread == 0
    }

    /// The `turn`-th of `count` things, where they are dealt out one by one.
    fn dealt(self, count: u64) -> impl Fn(u64) -> u64 + Copy {
        debug_assert!(count > 0);
        move |turn| turn * u64::from(self.threads) + u64::from(self.thread)
    }

    /// How many of `count` things are dealt to this thread.
    pub(crate) fn dealt_count(self, count: u64) -> u64 {
        (count + u64::from(self.threads - 1 - self.thread)) / u64::from(self.threads)
    }

    /// This thread's range of `count` things.
    pub(crate) fn range(self, count: u64) -> Range<u64> {
        let border = |thread: u32| {
            (u128::from(count) * u128::from(thread) / u128::from(self.threads)) as u64
        };
        border(self.thread)..border(self.thread + 1)
    }
}

impl<'a> NamesWorker<'a> {
    /// Thread `thread` of `job`.
    pub(crate) fn new(context: &RunContext, job: &'a MetadataJob, thread: u32) -> Self {
        let base = context.root.join(&job.tree.base);
        // These calls have no form that starts at an open directory.
        let absolute = matches!(
            job.operation,
            MetadataOperation::SetXattr | MetadataOperation::GetXattr | MetadataOperation::Truncate
        );
        let mut beginning = Vec::new();
        if absolute {
            beginning.extend_from_slice(base.as_os_str().as_bytes());
            beginning.push(b'/');
        }
        let tree_identity = mix_bytes(context.seed, job.tree.base.as_os_str().as_bytes());
        let mut recorder = Recorder::new(context.series_interval_ns.max(1));
        let slots = Slots {
            operation: recorder.slot(job.operation.as_str()),
            list: recorder.slot("list"),
            fsync: recorder.slot("fsync"),
            fsync_directory: recorder.slot("fsync-directory"),
            syncfs: recorder.slot("syncfs"),
        };
        let listed = if job.order == Order::Readdir {
            let in_one = job.tree.files_of(job.tree.leaf_of(0));
            Vec::with_capacity((in_one.end - in_one.start) as usize)
        } else {
            Vec::new()
        };
        Self {
            job,
            base,
            seed: context.seed,
            tree_identity,
            share: Share {
                thread,
                threads: job.threads,
            },
            random: Random::new(tree_identity, u64::from(thread)),
            paths: PathWriter::new(&beginning),
            others: PathWriter::new(&beginning),
            recorder,
            slots,
            listed,
        }
    }

    /// Whose content file `number` has.
    #[inline]
    pub(crate) fn identity(&self, number: u64) -> FileIdentity {
        FileIdentity {
            file: mix(self.tree_identity, number),
            generation: 0,
        }
    }

    /// The kind of name that the job's operation works on.
    pub(crate) fn names(&self) -> Names {
        if self.job.operation == MetadataOperation::Readlink {
            Names::Symlinks
        } else {
            self.job.names
        }
    }

    /// The kind of name that it gives.
    pub(crate) fn other_names(&self) -> Names {
        match self.job.operation {
            MetadataOperation::Link => Names::Links,
            MetadataOperation::Symlink => Names::Symlinks,
            MetadataOperation::Rename if self.job.names == Names::Renamed => Names::Files,
            _ => Names::Renamed,
        }
    }

    /// The files of this thread: how many, and the number of the first, and the step to the next.
    pub(crate) fn files(&self) -> Files {
        let tree = &self.job.tree;
        let range = match self.job.sharing {
            Sharing::Shared => {
                let count = self.share.dealt_count(tree.files);
                let step = u64::from(self.share.threads);
                return Files {
                    first: self.share.thread.into(),
                    count,
                    step,
                };
            }
            Sharing::Own if self.job.directories_are_own() => {
                let leaves = self.share.range(tree.leaves());
                let border = |leaf: u64| (leaf * tree.files_per_directory).min(tree.files);
                border(leaves.start)..border(leaves.end)
            }
            Sharing::Own => self.share.range(tree.files),
        };
        Files {
            first: range.start,
            count: range.end - range.start,
            step: 1,
        }
    }

    /// The deepest directories of this thread; `None` is the base.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = Option<u64>> + use<> {
        let leaves = self.job.tree.leaves();
        let base = (leaves == 0).then_some(None);
        base.into_iter().chain(self.share.range(leaves).map(Some))
    }

    /// The directories at `level` of this thread, in the job's order.
    pub(crate) fn directories(
        &mut self,
        level: u32,
    ) -> impl Iterator<Item = DirectoryNumber> + use<> {
        let count = self.job.tree.directories_at(level);
        let order = (self.job.order == Order::Random)
            .then(|| Permutation::new(count, &mut Random::new(self.tree_identity, level.into())));
        let dealt = self.share.dealt(count);
        (0..self.share.dealt_count(count)).map(move |turn| {
            let index = order
                .as_ref()
                .map_or(dealt(turn), |order| order.at(dealt(turn)));
            DirectoryNumber { level, index }
        })
    }

    /// An operation on `name` failed.
    #[cold]
    pub(crate) fn failure(
        &self,
        operation: &'static str,
        name: &std::ffi::CStr,
        source: io::Error,
    ) -> EngineError {
        let path = self
            .base
            .join(Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())));
        EngineError::io(operation, &path, source)
    }
}

/// The numbers of the files of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    first: u64,
    pub(crate) count: u64,
    step: u64,
}

impl Files {
    /// The number of the `turn`-th.
    #[inline]
    pub(crate) fn number(self, turn: u64) -> u64 {
        self.first + turn * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineKind;
    use crate::jobs::TreeShape;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_file_and_each_directory_belongs_to_exactly_one_thread(
            files in 1_u64..500, per_directory in 0_u64..40, threads in 1_u32..9, shared: bool,
        ) {
            let context = RunContext::new(EngineKind::Null, "/", 1);
            let sharing = if shared { Sharing::Shared } else { Sharing::Own };
            let tree = TreeShape::flat("t", files, per_directory);
            let job = MetadataJob {
                threads,
                sharing,
                ..MetadataJob::new(MetadataOperation::Stat, tree)
            };
            let mut numbers = Vec::new();
            let mut directories = Vec::new();
            for thread in 0..threads {
                let mut worker = NamesWorker::new(&context, &job, thread);
                let share = worker.files();
                numbers.extend((0..share.count).map(|turn| share.number(turn)));
                if job.tree.levels() > 0 {
                    directories.extend(worker.directories(1).map(|directory| directory.index));
                }
            }
            numbers.sort_unstable();
            prop_assert!(numbers.iter().copied().eq(0..files));
            directories.sort_unstable();
            prop_assert!(directories.iter().copied().eq(0..job.tree.directories()));
        }
    }
}
