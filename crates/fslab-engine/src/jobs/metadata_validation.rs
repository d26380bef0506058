//! Validation of metadata jobs.

use super::file_options::STYLED_FILES_MAX;
use super::limits::{RANK_THREADS_MAX, RECORD_BYTES_MAX, THREADS_MAX};
use super::metadata::Items;
use super::{DirectoryTiming, FileKind, MetadataJob, MetadataOperation};
use super::{NameStyle, Names, Order, Sharing, Workers};
use crate::EngineError;

impl MetadataJob {
    /// Checks the job, independent of its engine.
    pub fn validate(&self) -> Result<(), EngineError> {
        self.validate_up_to(THREADS_MAX)
    }

    /// Checks a job with the threads of all ranks.
    pub(crate) fn validate_of_ranks(&self) -> Result<(), EngineError> {
        self.validate_up_to(RANK_THREADS_MAX)
    }

    fn validate_up_to(&self, threads_max: u32) -> Result<(), EngineError> {
        // In order: combinations are not computed for an unbounded tree.
        let fault = (self.tree().fault())
            .or_else(|| self.file_size.fault())
            .or_else(|| self.content.fault())
            .or_else(|| self.fault_in_numbers(threads_max))
            .or_else(|| self.fault_in_combination());
        match fault {
            None => Ok(()),
            Some(fault) => Err(EngineError::bad_input(format!(
                "the job '{}' on {} has {fault}",
                self.operation.as_str(),
                self.directory.display()
            ))),
        }
    }

    fn fault_in_numbers(&self, threads_max: u32) -> Option<String> {
        if self.record.0 == 0 || self.record.0 > RECORD_BYTES_MAX {
            return Some(format!("records of {} bytes", self.record.0));
        }
        (!(1..=threads_max).contains(&self.threads))
            .then(|| format!("{} threads, not 1 to {threads_max}", self.threads))
    }

    fn fault_in_combination(&self) -> Option<String> {
        let operation = self.operation;
        let of_directories = matches!(
            operation.items(),
            Items::Directories | Items::BaseAndDirectories
        );
        if self.order == Order::Readdir
            && (of_directories || operation == MetadataOperation::Create)
        {
            return Some("readdir order, which only operations on existing files have".into());
        }
        if of_directories && self.threads_of_a_tree() > 1 && self.tree().levels() > 1 {
            return Some("several threads on directories within directories".into());
        }
        if self.order == Order::Readdir
            && operation.changes_directory()
            && !self.directories_are_own()
        {
            return Some("readdir order in directories that threads share and change".into());
        }
        if operation == MetadataOperation::Fallocate && self.file_size.longest() == 0 {
            return Some("nothing to reserve: its files have 0 bytes".into());
        }
        self.fault_in_names()
            .or_else(|| self.fault_in_reading())
            .or_else(|| self.fault_in_sync())
            .or_else(|| self.fault_in_steps())
            .or_else(|| self.fault_in_stonewall())
            .or_else(|| self.fault_in_directories())
    }

    fn fault_in_names(&self) -> Option<String> {
        let operation = self.operation;
        if operation == MetadataOperation::Rename
            && matches!(self.names, Names::Links | Names::Symlinks)
        {
            return Some("a rename of links, for which there is no other name".into());
        }
        if self.name_style != NameStyle::Number {
            if self.names != Names::Files || operation.gives_a_name() {
                return Some("names of links or renamed files, which random names lack".into());
            }
            if self.files > STYLED_FILES_MAX {
                return Some(format!("{} files in names of 7 digits", self.files));
            }
        }
        if self.kind != FileKind::File {
            let plain = operation == MetadataOperation::Create && self.order == Order::Sequential;
            if !plain || self.names != Names::Files || self.threads_of_a_tree() > 1 {
                return Some("links without creation in order by one thread".into());
            }
        }
        None
    }

    fn fault_in_reading(&self) -> Option<String> {
        let reads = self.operation.reads_data();
        if self.digest.is_some() && !reads {
            return Some("a digest of files that it does not read".into());
        }
        if !self.verify {
            return None;
        }
        let blocks = self.digest.is_some() || self.record.0.is_multiple_of(4096);
        (!reads || !blocks)
            .then(|| "verification of operations other than reads of full 4 KiB blocks".into())
    }

    fn fault_in_sync(&self) -> Option<String> {
        let (operation, sync) = (self.operation, self.sync);
        if sync.fsync_file && !operation.creates() {
            return Some("an fsync of each created file, but creates none".into());
        }
        if sync.fsync_directory && !operation.changes_directory() {
            return Some("an fsync of each changed directory, but changes none".into());
        }
        (sync.as_one && !sync.fsync_file && !sync.fsync_directory)
            .then(|| "syncs within the operation, but none of them".into())
    }

    fn fault_in_steps(&self) -> Option<String> {
        use MetadataOperation as Operation;
        let first = self.operation.items() == Items::Files && self.operation != Operation::Unlink;
        if !self.then.is_empty() && (!first || self.kind != FileKind::File) {
            return Some(
                "further steps after an operation that leaves no file to take them".into(),
            );
        }
        let unfit = self.then.iter().find(|step| !step.can_follow());
        unfit.map(|step| format!("'{}' as a further step", step.as_str()))
    }

    fn fault_in_stonewall(&self) -> Option<String> {
        if self.stonewall_ns? == 0 {
            return Some("a stonewall at once".into());
        }
        if self.workers == Workers::Processes {
            return Some("a stonewall for processes; threads have one".into());
        }
        let in_turn = self.operation.items() == Items::Files && self.order != Order::Readdir;
        (!in_turn || self.remove_directories)
            .then(|| "a stonewall, and works on more than files by number".into())
    }

    fn fault_in_directories(&self) -> Option<String> {
        use MetadataOperation as Operation;
        let operation = self.operation;
        if self.sharing == Sharing::Interleaved {
            return Some("interleaved records, which files have and names lack".into());
        }
        if self.base_per_worker && self.sharing == Sharing::Shared {
            return Some("a tree for each thread, and files that threads share".into());
        }
        if self.directories == DirectoryTiming::InTime {
            let in_order = match operation {
                Operation::Create => self.order == Order::Sequential,
                Operation::Replace => self.order != Order::Random,
                _ => false,
            };
            if !in_order || self.tree().levels() > 1 || !self.directories_are_own() {
                return Some(
                    "directories made on demand, which needs files created in order in one level \
                     of directories that no threads share"
                        .into(),
                );
            }
        }
        let single = self.threads_of_a_tree() == 1;
        if self.remove_directories && !(operation == Operation::Unlink && single) {
            return Some("directories to remove with their files, but no thread that may".into());
        }
        if operation == Operation::Turnover
            && (self.threads > 1 || self.tree().levels() != 1 || self.kept_directories == 0)
        {
            return Some("a turnover without one level of directories and one thread".into());
        }
        (operation == Operation::RemoveAll && self.threads > 1)
            .then(|| "several threads that remove everything".into())
    }
}
