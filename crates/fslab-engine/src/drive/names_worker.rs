//! State of a thread of a metadata job: its part of the tree, paths, recorder.

use fslab_sys::os::OsStrExt;
use std::ffi::{CStr, CString};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::paths::{Naming, PathWriter};
use super::target::{Task, TreeFile};
use crate::access::Permutation;
use crate::content::FileIdentity;
use crate::error::TREE_MISSING;
use crate::jobs::{
    DirectoryNumber, DirectoryTiming, FileKind, MetadataJob, MetadataOperation, Names, Order,
    Sharing, TreeShape,
};
use crate::recording::{Recorder, Slot};
use crate::{EngineError, RunContext};
use fslab_stats::{Random, mix_bytes};

/// Initial space for the names in a directory and its parents.
const ENTRIES_BYTES: usize = 1 << 20;

/// State of a thread.
pub(crate) struct NamesWorker<'a> {
    pub(crate) job: &'a MetadataJob,
    pub(crate) base: PathBuf,
    pub(crate) seed: u64,
    /// Number of the tree; the files' numbers derive from it.
    tree_identity: u64,
    pub(crate) share: Share,
    /// True if no other thread uses its directories.
    pub(crate) is_alone: bool,
    /// The most files of this thread: those that a job made until its stonewall.
    files_max: u64,
    pub(crate) random: Random,
    paths: PathWriter,
    others: PathWriter,
    /// Paths of directories, always relative to the base.
    folders: PathWriter,
    /// Target of symbolic links to the first file.
    link_text: CString,
    /// Absolute path of the base, for its removal.
    pub(crate) base_name: CString,
    /// Buffer for directory listings.
    pub(crate) entries: Vec<u8>,
    /// The leaf directory of the last created file.
    entered: Option<u64>,
    /// True if an operation is nothing but its calls: see [`MetadataJob::is_single_step`].
    pub(crate) single_step: bool,
    /// True if changed directories are synced; false after the file system refused it.
    pub(crate) syncs_directories: bool,
    pub(crate) recorder: Recorder,
    pub(crate) slots: Slots,
    /// Numbers of the files of a directory, in the order of its listing.
    pub(crate) listed: Vec<u64>,
}

/// Slots for the latencies of a metadata job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) operation: Slot,
    pub(crate) unlink: Slot,
    pub(crate) rmdir: Slot,
    pub(crate) list: Slot,
    pub(crate) remove_directory: Slot,
    pub(crate) fsync: Slot,
    pub(crate) fsync_directory: Slot,
    pub(crate) syncfs: Slot,
}

/// A thread's part of numbered items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    thread: u32,
    threads: u32,
}

impl Share {
    /// The only thread of a tree.
    const ALONE: Self = Self {
        thread: 0,
        threads: 1,
    };

    /// True for the first thread.
    pub(crate) fn is_first(self) -> bool {
        self.thread == 0
    }

    /// The `turn`-th item of this thread, if `count` items are dealt out in turn.
    fn dealt(self, count: u64) -> impl Fn(u64) -> u64 + Copy {
        debug_assert!(count > 0);
        move |turn| turn * u64::from(self.threads) + u64::from(self.thread)
    }

    /// How many of `count` items this thread gets.
    pub(crate) fn dealt_count(self, count: u64) -> u64 {
        (count + u64::from(self.threads - 1 - self.thread)) / u64::from(self.threads)
    }

    /// This thread's contiguous range of `count` items.
    pub(crate) fn range(self, count: u64) -> Range<u64> {
        let border = |thread: u32| {
            (u128::from(count) * u128::from(thread) / u128::from(self.threads)) as u64
        };
        border(self.thread)..border(self.thread + 1)
    }
}

impl Slots {
    fn new(recorder: &mut Recorder, job: &MetadataJob) -> Self {
        // Only a turnover has two operations: create and unlink.
        let operation = match job.operation {
            MetadataOperation::Turnover => MetadataOperation::Create.as_str(),
            _ => job.latency_name(),
        };
        Self {
            operation: recorder.slot(operation),
            unlink: recorder.slot("unlink"),
            rmdir: recorder.slot("rmdir"),
            list: recorder.slot("list"),
            remove_directory: recorder.slot("remove-directory"),
            fsync: recorder.slot("fsync"),
            fsync_directory: recorder.slot("fsync-directory"),
            syncfs: recorder.slot("syncfs"),
        }
    }
}

/// Target of symbolic links to the first file of `tree`, valid in all leaf directories.
fn link_text(tree: &TreeShape, naming: Naming) -> CString {
    let mut text = b"../".repeat(tree.levels() as usize);
    text.extend_from_slice(
        PathWriter::new(b"", naming)
            .file(tree, 0, Names::Files)
            .to_bytes(),
    );
    CString::new(text).expect("names of trees hold no zero byte")
}

/// The absolute path: a directory cannot be removed through a path relative to itself.
fn absolute_name(base: &Path) -> CString {
    // If the working directory is unknown, removing the base fails later.
    let path = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// The last component of `path`.
fn last_part(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let start = bytes
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    CStr::from_bytes_with_nul(&bytes[start..]).expect("the end of a C string is one")
}

impl<'a> NamesWorker<'a> {
    /// Thread `thread` of `job`.
    pub(crate) fn new(context: &RunContext, job: &'a MetadataJob, thread: u32) -> Self {
        let (below_root, share) = if job.base_per_worker {
            let own = job.directory.join(format!("p{thread}"));
            (own, Share::ALONE)
        } else {
            let threads = job.threads;
            (job.directory.clone(), Share { thread, threads })
        };
        let base = context.root.join(&below_root);
        // These calls have no variant relative to an open directory.
        let absolute = job.absolute_paths
            || matches!(
                job.operation,
                MetadataOperation::SetXattr
                    | MetadataOperation::GetXattr
                    | MetadataOperation::Truncate
            );
        let mut beginning = Vec::new();
        if absolute {
            beginning.extend_from_slice(absolute_name(&base).to_bytes());
            beginning.push(b'/');
        }
        let naming = Naming {
            style: job.name_style,
            seed: context.seed,
        };
        let tree_identity = mix_bytes(context.seed, below_root.as_os_str().as_bytes());
        let everything = job.operation == MetadataOperation::RemoveAll;
        let mut recorder = Recorder::new(context.series_interval_ns.max(1));
        let slots = Slots::new(&mut recorder, job);
        let listed = if job.order == Order::Readdir {
            let in_one = job.tree().files_of(job.tree().leaf_of(0));
            Vec::with_capacity((in_one.end - in_one.start) as usize)
        } else {
            Vec::new()
        };
        Self {
            job,
            seed: context.seed,
            tree_identity,
            share,
            is_alone: job.directories_are_own(),
            // Another number of threads was refused before.
            files_max: (context.made.of(&job.directory, job.threads).ok().flatten())
                .unwrap_or(u64::MAX),
            random: Random::new(tree_identity, u64::from(thread)),
            paths: PathWriter::new(&beginning, naming),
            others: PathWriter::new(&beginning, naming),
            folders: PathWriter::new(b"", naming),
            link_text: link_text(&job.tree(), naming),
            base_name: absolute_name(&base),
            base,
            entries: Vec::with_capacity(if everything { ENTRIES_BYTES } else { 0 }),
            entered: None,
            single_step: job.is_single_step(),
            syncs_directories: job.sync.fsync_directory,
            recorder,
            slots,
            listed,
        }
    }

    /// The task of `operation` on file `number`.
    #[inline(always)]
    pub(crate) fn task(&mut self, operation: MetadataOperation, number: u64) -> Task<'_> {
        if self.job.kind != FileKind::File && number > 0 {
            return self.link_task(number);
        }
        let bytes = self.job.file_size.of(self.seed, number);
        let file = self.tree_file(number);
        let names = self.names();
        let other = if operation.gives_a_name() {
            let other_names = self.other_names();
            self.others.file(&self.job.tree(), number, other_names)
        } else {
            c""
        };
        let mut name = self.paths.file(&self.job.tree(), number, names);
        if operation == MetadataOperation::Symlink {
            name = last_part(name);
        }
        Task {
            operation,
            name,
            other,
            bytes,
            file,
        }
    }

    /// The task that makes file `number` as a link to the first file.
    #[cold]
    fn link_task(&mut self, number: u64) -> Task<'_> {
        let file = self.tree_file(number);
        let (operation, name) = if self.job.kind == FileKind::Link {
            let first = self.paths.file(&self.job.tree(), 0, Names::Files);
            (MetadataOperation::Link, first)
        } else {
            (MetadataOperation::Symlink, self.link_text.as_c_str())
        };
        Task {
            operation,
            name,
            other: self.others.file(&self.job.tree(), number, Names::Files),
            bytes: 0,
            file,
        }
    }

    /// Path of a directory.
    pub(crate) fn folder(&mut self, number: Option<DirectoryNumber>) -> &CStr {
        self.folders.directory(&self.job.tree(), number)
    }

    /// Path of the directory of file `number`, if the job makes directories on demand and this is
    /// the first file in it.
    #[inline]
    pub(crate) fn enter(&mut self, operation: MetadataOperation, number: u64) -> Option<&CStr> {
        let in_time = self.job.directories == DirectoryTiming::InTime
            || self.job.operation == MetadataOperation::Turnover;
        if !in_time || !operation.creates() {
            return None;
        }
        let leaf = self.job.tree().leaf_of(number);
        if leaf == self.entered {
            return None;
        }
        self.entered = leaf;
        Some(self.folder(self.leaf_directory(leaf)))
    }

    /// The leaf directory `leaf`; `None` for the base.
    pub(crate) fn leaf_directory(&self, leaf: Option<u64>) -> Option<DirectoryNumber> {
        let level = self.job.tree().levels();
        leaf.map(|index| DirectoryNumber { level, index })
    }

    /// File `number` of the tree.
    #[inline]
    pub(crate) fn tree_file(&self, number: u64) -> TreeFile {
        TreeFile {
            tree: self.tree_identity,
            number,
            generation: self.job.generation,
        }
    }

    /// The naming of the tree's files.
    pub(crate) fn naming(&self) -> Naming {
        self.paths.naming()
    }

    /// Contents of this thread's files: identity and length in bytes.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (FileIdentity, u64)> {
        let files = self.files();
        (0..files.count).map(move |turn| {
            let number = files.number(turn);
            let bytes = self.job.file_size.of(self.seed, number);
            (self.tree_file(number).identity(), bytes)
        })
    }

    /// The kind of names that the operation uses.
    pub(crate) fn names(&self) -> Names {
        if self.job.operation == MetadataOperation::Readlink {
            Names::Symlinks
        } else {
            self.job.names
        }
    }

    /// The kind of names that the operation creates.
    pub(crate) fn other_names(&self) -> Names {
        match self.job.operation {
            MetadataOperation::Link => Names::Links,
            MetadataOperation::Symlink => Names::Symlinks,
            MetadataOperation::Rename if self.job.names == Names::Renamed => Names::Files,
            _ => Names::Renamed,
        }
    }

    /// The numbers of this thread's files.
    pub(crate) fn files(&self) -> Files {
        let tree = &self.job.tree();
        let range = match self.job.sharing {
            Sharing::Shared | Sharing::Interleaved => {
                let count = self.share.dealt_count(tree.files);
                let step = u64::from(self.share.threads);
                return Files {
                    first: self.share.thread.into(),
                    count: count.min(self.files_max),
                    step,
                };
            }
            Sharing::Own if tree.leaves() >= u64::from(self.share.threads) => {
                let leaves = self.share.range(tree.leaves());
                let border = |leaf: u64| (leaf * tree.files_per_directory).min(tree.files);
                border(leaves.start)..border(leaves.end)
            }
            Sharing::Own => self.share.range(tree.files),
        };
        Files {
            first: range.start,
            count: (range.end - range.start).min(self.files_max),
            step: 1,
        }
    }

    /// The numbers of the files in a directory, of all threads.
    pub(crate) fn files_in(&self, leaf: Option<u64>) -> Range<u64> {
        let all = self.job.tree().files_of(leaf);
        let made = self.files_max.saturating_mul(self.share.threads.into());
        all.start..all.end.min(made).max(all.start)
    }

    /// The leaf directories whose files this thread uses; `None` is the base.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = Option<u64>> + use<> {
        let leaves = self.job.tree().leaves();
        let base = (leaves == 0).then_some(None);
        let own = match self.is_alone {
            true => self.share.range(leaves),
            false => 0..leaves,
        };
        base.into_iter().chain(own.map(Some))
    }

    /// The directories at `level` of this thread, in the job's order.
    pub(crate) fn directories(
        &mut self,
        level: u32,
    ) -> impl Iterator<Item = DirectoryNumber> + use<> {
        let count = self.job.tree().directories_at(level);
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

    /// The error of a failed operation on `name`.
    #[cold]
    pub(crate) fn failure(
        &self,
        operation: &'static str,
        name: &CStr,
        source: io::Error,
    ) -> EngineError {
        let path = self
            .base
            .join(Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())));
        EngineError::io(operation, &path, source).hint_if_missing(TREE_MISSING)
    }
}

/// The numbers of one thread's files: an arithmetic progression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    first: u64,
    pub(crate) count: u64,
    step: u64,
}

impl Files {
    /// The `turn`-th number.
    #[inline]
    pub(crate) fn number(self, turn: u64) -> u64 {
        self.first + turn * self.step
    }

    /// True if `number` is one of them.
    pub(crate) fn has(self, number: u64) -> bool {
        let turn = number.checked_sub(self.first);
        turn.is_some_and(|turn| turn.is_multiple_of(self.step) && turn / self.step < self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineKind;
    use crate::jobs::TreeShape;
    use proptest::prelude::*;

    #[test]
    fn absolute_paths_begin_at_the_root_of_the_system() {
        let context = RunContext::new(EngineKind::Psync, "/somewhere", 1);
        for absolute_paths in [true, false] {
            let job = MetadataJob {
                absolute_paths,
                ..MetadataJob::new(MetadataOperation::Stat, TreeShape::flat("t", 1, 0))
            };
            let mut worker = NamesWorker::new(&context, &job, 0);
            let task = worker.task(MetadataOperation::Stat, 0);
            let name = task.name.to_str().expect("a plain path");
            assert_eq!(Path::new(name).is_absolute(), absolute_paths, "{name}");
        }
    }

    #[test]
    fn the_base_has_an_absolute_path_even_if_the_root_is_relative() {
        let context = RunContext::new(EngineKind::Psync, "somewhere", 1);
        let job = MetadataJob::new(MetadataOperation::Unlink, TreeShape::flat("t", 1, 0));
        let worker = NamesWorker::new(&context, &job, 0);
        let name = worker.base_name.to_str().expect("a plain path");
        let name = Path::new(name);
        assert!(
            name.is_absolute() && name.ends_with("somewhere/t"),
            "{}",
            name.display()
        );
    }

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
                if job.tree().levels() > 0 {
                    directories.extend(worker.directories(1).map(|directory| directory.index));
                }
            }
            numbers.sort_unstable();
            prop_assert!(numbers.iter().copied().eq(0..files));
            directories.sort_unstable();
            prop_assert!(directories.iter().copied().eq(0..job.tree().directories()));
        }
    }
}
