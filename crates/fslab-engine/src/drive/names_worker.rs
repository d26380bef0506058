//! What one thread of a metadata job carries: its share of the tree, its paths, its book.

use std::ffi::{CStr, CString};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::paths::{Naming, PathWriter};
use super::target::Task;
use crate::access::Permutation;
use crate::content::FileIdentity;
use crate::jobs::{
    DirectoryNumber, DirectoryTiming, FileKind, MetadataJob, MetadataOperation, Names, Order,
    Sharing, TreeShape,
};
use crate::recording::{Recorder, Slot};
use crate::{EngineError, RunContext};
use fslab_stats::{Random, mix, mix_bytes};

/// Room for the names of one directory and those above it, before more has to be made.
const ENTRIES_BYTES: usize = 1 << 20;

/// The state of one thread.
pub(crate) struct NamesWorker<'a> {
    pub(crate) job: &'a MetadataJob,
    pub(crate) base: PathBuf,
    pub(crate) seed: u64,
    /// A number for the tree, from which each file's number follows.
    tree_identity: u64,
    pub(crate) share: Share,
    pub(crate) random: Random,
    paths: PathWriter,
    others: PathWriter,
    /// Directories, which stand relative to the base even where files do not.
    folders: PathWriter,
    /// What symbolic links to the first file hold.
    link_text: CString,
    /// The absolute path of the base, where that is to be removed.
    pub(crate) base_name: CString,
    /// Room for listings of whatever there is.
    pub(crate) entries: Vec<u8>,
    /// The deepest directory that the last file was created in.
    entered: Option<u64>,
    /// Whether a changed directory is made durable; `false` once that was refused.
    pub(crate) syncs_directories: bool,
    pub(crate) recorder: Recorder,
    pub(crate) slots: Slots,
    /// Numbers of the files of one directory, in the order in which it lists them.
    pub(crate) listed: Vec<u64>,
}

/// Where the latencies of a metadata job go.
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

/// The part of numbered things that one thread visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    thread: u32,
    threads: u32,
}

impl Share {
    /// That of the only thread of a tree.
    const ALONE: Self = Self {
        thread: 0,
        threads: 1,
    };

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

impl Slots {
    fn new(recorder: &mut Recorder, job: &MetadataJob) -> Self {
        // Only what creates is more than one operation: a turnover also unlinks.
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

/// What symbolic links to the first file of `tree` hold, whichever directory they stand in.
fn link_text(tree: &TreeShape, naming: Naming) -> CString {
    let mut text = b"../".repeat(tree.levels() as usize);
    text.extend_from_slice(
        PathWriter::new(b"", naming)
            .file(tree, 0, Names::Files)
            .to_bytes(),
    );
    CString::new(text).expect("names of trees hold no zero byte")
}

/// The path from the root of all, since nothing is its own way to itself.
fn absolute_name(base: &Path) -> CString {
    // Where even the working directory is unknown, removing the base fails by its name.
    let path = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
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

impl<'a> NamesWorker<'a> {
    /// Thread `thread` of `job`.
    pub(crate) fn new(context: &RunContext, job: &'a MetadataJob, thread: u32) -> Self {
        let (below_root, share) = if job.base_per_worker {
            let own = job.tree.base.join(format!("p{thread}"));
            (own, Share::ALONE)
        } else {
            let threads = job.threads;
            (job.tree.base.clone(), Share { thread, threads })
        };
        let base = context.root.join(&below_root);
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
        let naming = Naming {
            style: job.name_style,
            seed: context.seed,
        };
        let tree_identity = mix_bytes(context.seed, below_root.as_os_str().as_bytes());
        let everything = job.operation == MetadataOperation::RemoveAll;
        let mut recorder = Recorder::new(context.series_interval_ns.max(1));
        let slots = Slots::new(&mut recorder, job);
        let listed = if job.order == Order::Readdir {
            let in_one = job.tree.files_of(job.tree.leaf_of(0));
            Vec::with_capacity((in_one.end - in_one.start) as usize)
        } else {
            Vec::new()
        };
        Self {
            job,
            seed: context.seed,
            tree_identity,
            share,
            random: Random::new(tree_identity, u64::from(thread)),
            paths: PathWriter::new(&beginning, naming),
            others: PathWriter::new(&beginning, naming),
            folders: PathWriter::new(b"", naming),
            link_text: link_text(&job.tree, naming),
            base_name: absolute_name(&base),
            base,
            entries: Vec::with_capacity(if everything { ENTRIES_BYTES } else { 0 }),
            entered: None,
            syncs_directories: job.sync.fsync_directory,
            recorder,
            slots,
            listed,
        }
    }

    /// What `operation` needs to know of file `number`.
    #[inline]
    pub(crate) fn task(&mut self, operation: MetadataOperation, number: u64) -> Task<'_> {
        use MetadataOperation as Operation;
        let tree = &self.job.tree;
        let mut task = Task {
            operation,
            bytes: self.job.file_bytes.of(self.seed, number),
            identity: self.identity(number),
            name: c"",
            other: c"",
        };
        if self.job.kind != FileKind::File && number > 0 {
            task.bytes = 0;
            task.other = self.others.file(tree, number, Names::Files);
            if self.job.kind == FileKind::Link {
                task.operation = Operation::Link;
                task.name = self.paths.file(tree, 0, Names::Files);
            } else {
                task.operation = Operation::Symlink;
                task.name = &self.link_text;
            }
            return task;
        }
        let (names, other_names) = (self.names(), self.other_names());
        if operation.gives_a_name() {
            task.other = self.others.file(tree, number, other_names);
        }
        task.name = self.paths.file(tree, number, names);
        if operation == Operation::Symlink {
            task.name = last_part(task.name);
        }
        task
    }

    /// The name of a directory.
    pub(crate) fn folder(&mut self, number: Option<DirectoryNumber>) -> &CStr {
        self.folders.directory(&self.job.tree, number)
    }

    /// The name of the directory that holds file `number`, where a job that creates files in
    /// directories made in time comes to it for the first time.
    #[inline]
    pub(crate) fn enter(&mut self, operation: MetadataOperation, number: u64) -> Option<&CStr> {
        let in_time = self.job.directories == DirectoryTiming::InTime
            || self.job.operation == MetadataOperation::Turnover;
        let leaf = self.job.tree.leaf_of(number);
        if !in_time || !operation.creates() || leaf == self.entered {
            return None;
        }
        self.entered = leaf;
        Some(self.folder(self.leaf_directory(leaf)))
    }

    /// The deepest directory `leaf`; `None` for the base.
    pub(crate) fn leaf_directory(&self, leaf: Option<u64>) -> Option<DirectoryNumber> {
        let level = self.job.tree.levels();
        leaf.map(|index| DirectoryNumber { level, index })
    }

    /// Whose content file `number` has.
    #[inline]
    pub(crate) fn identity(&self, number: u64) -> FileIdentity {
        FileIdentity {
            file: mix(self.tree_identity, number),
            generation: self.job.generation,
        }
    }

    /// How the files of the tree are named.
    pub(crate) fn naming(&self) -> Naming {
        self.paths.naming()
    }

    /// What each file of this thread holds: whose content, and how many bytes of it.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (FileIdentity, u64)> {
        let files = self.files();
        (0..files.count).map(move |turn| {
            let number = files.number(turn);
            let bytes = self.job.file_bytes.of(self.seed, number);
            (self.identity(number), bytes)
        })
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
            Sharing::Own if tree.leaves() >= u64::from(self.share.threads) => {
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
        name: &CStr,
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

    #[test]
    fn the_base_has_an_absolute_name_even_where_the_root_has_none() {
        let context = RunContext::new(EngineKind::Psync, "somewhere", 1);
        let job = MetadataJob::new(MetadataOperation::Unlink, TreeShape::flat("t", 1, 0));
        let worker = NamesWorker::new(&context, &job, 0);
        let name = worker.base_name.to_str().expect("a plain path");
        assert!(
            name.starts_with('/') && name.ends_with("/somewhere/t"),
            "{name}"
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
