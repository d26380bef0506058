//! Executes the script: each operation is performed on the disk, if there is one, and applied to
//! the expected tree.
//!
//! Without a disk the same script gives the same tree, so that a later phase computes the expected
//! state from the seed and the parameters alone.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use fslab_sys::{remove_named_attribute, set_named_attribute};

use super::check_context::CheckContext;
use super::failure::ConformanceFailure;
use super::tree::{FileId, Owner, Tree};
use super::writer::{FilePlan, Writer};

/// Executor of one script.
pub(crate) struct Executor<'a> {
    base: PathBuf,
    seed: u64,
    tree: Tree,
    disk: Option<&'a mut CheckContext>,
}

impl<'a> Executor<'a> {
    /// An executor below `base`; with `disk`, operations are performed and counted there.
    pub(crate) fn new(base: PathBuf, seed: u64, disk: Option<&'a mut CheckContext>) -> Self {
        Self {
            base,
            seed,
            tree: Tree::default(),
            disk,
        }
    }

    /// The expected tree.
    pub(crate) fn into_tree(self) -> Tree {
        self.tree
    }

    pub(crate) fn make_directory(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.perform("make the directory", path, |at| fs::create_dir(at))?;
        self.tree.add_directory(path);
        Ok(())
    }

    /// Creates files by their plans, one step of each in turn, so that their growth interleaves.
    pub(crate) fn write(&mut self, plans: Vec<FilePlan>) -> Result<(), ConformanceFailure> {
        let mut writers = Vec::new();
        for plan in plans {
            let at = self.base.join(&plan.path);
            let id = self.tree.add_file(&plan.path, self.seed);
            let mut writer = Writer::new(at, plan.steps);
            if let Some(checker) = self.disk.as_deref_mut() {
                writer.create(checker)?;
            }
            writers.push((id, writer));
        }
        while !writers.is_empty() {
            for (id, writer) in &mut writers {
                writer.step(self.tree.content_mut(*id), self.disk.as_deref_mut())?;
            }
            writers.retain(|(_, writer)| !writer.is_done());
        }
        Ok(())
    }

    /// Creates a file of `length` bytes with one write.
    pub(crate) fn write_file(
        &mut self,
        path: &Path,
        length: u64,
    ) -> Result<FileId, ConformanceFailure> {
        self.write(vec![FilePlan::single_write(path, length)])?;
        Ok(self.tree.file_at(path))
    }

    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), ConformanceFailure> {
        let target = self.base.join(to);
        self.perform("rename", from, |at| fs::rename(at, &target))?;
        self.tree.rename(from, to);
        self.expect_absent(from, to)
    }

    pub(crate) fn unlink(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.perform("unlink", path, |at| fs::remove_file(at))?;
        self.tree.remove(path);
        self.expect_absent(path, Path::new(""))
    }

    pub(crate) fn remove_directory(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.perform("remove the directory", path, |at| fs::remove_dir(at))?;
        self.tree.remove(path);
        self.expect_absent(path, Path::new(""))
    }

    pub(crate) fn link(&mut self, path: &Path, new: &Path) -> Result<(), ConformanceFailure> {
        let target = self.base.join(new);
        self.perform("link", path, |at| fs::hard_link(at, &target))?;
        self.tree.add_link(path, new);
        Ok(())
    }

    pub(crate) fn symlink(&mut self, target: &Path, path: &Path) -> Result<(), ConformanceFailure> {
        self.perform("make the symbolic link", path, |at| {
            fslab_sys::os::symlink(target, at)
        })?;
        self.tree.add_symlink(path, target);
        Ok(())
    }

    pub(crate) fn set_mode(&mut self, path: &Path, mode: u32) -> Result<(), ConformanceFailure> {
        self.perform("change the mode of", path, |at| {
            fslab_sys::os::set_mode(at, mode)
        })?;
        self.tree.metadata_mut(path).mode = Some(mode);
        Ok(())
    }

    pub(crate) fn set_owner(
        &mut self,
        path: &Path,
        owner: Owner,
    ) -> Result<(), ConformanceFailure> {
        self.perform("change the owner of", path, |at| {
            fslab_sys::os::chown(at, Some(owner.user), Some(owner.group))
        })?;
        self.tree.metadata_mut(path).owner = Some(owner);
        Ok(())
    }

    pub(crate) fn set_modified(
        &mut self,
        path: &Path,
        seconds: u64,
    ) -> Result<(), ConformanceFailure> {
        let time = UNIX_EPOCH + Duration::from_secs(seconds);
        self.perform("set the times of", path, |at| {
            let file = fs::File::options().write(true).open(at)?;
            file.set_times(fs::FileTimes::new().set_modified(time).set_accessed(time))
        })?;
        self.tree.metadata_mut(path).modified_s = Some(seconds);
        Ok(())
    }

    pub(crate) fn set_attribute(
        &mut self,
        path: &Path,
        name: &CStr,
        value: &[u8],
    ) -> Result<(), ConformanceFailure> {
        self.perform("set an attribute of", path, |at| {
            set_named_attribute(at, name, value)
        })?;
        let attributes = &mut self.tree.metadata_mut(path).attributes;
        attributes.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    pub(crate) fn remove_attribute(
        &mut self,
        path: &Path,
        name: &CStr,
    ) -> Result<(), ConformanceFailure> {
        self.perform("remove an attribute of", path, |at| {
            remove_named_attribute(at, name)
        })?;
        self.tree.metadata_mut(path).attributes.remove(name);
        Ok(())
    }

    /// Runs `call` if there is a disk.
    fn perform(
        &mut self,
        operation: &str,
        path: &Path,
        call: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), ConformanceFailure> {
        let Some(checker) = self.disk.as_deref_mut() else {
            return Ok(());
        };
        let at = self.base.join(path);
        let done = call(&at);
        checker.must(operation, &at, done)
    }

    /// The name `gone` must not exist, unless it differs from `instead` only in case.
    fn expect_absent(&mut self, gone: &Path, instead: &Path) -> Result<(), ConformanceFailure> {
        let Some(checker) = self.disk.as_deref_mut() else {
            return Ok(());
        };
        let at = self.base.join(gone);
        let same = gone.as_os_str().eq_ignore_ascii_case(instead.as_os_str());
        let absent = match fs::symlink_metadata(&at) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(_) => same,
        };
        checker.demand(absent, &at, || {
            "is still there after it was removed or renamed".into()
        })
    }
}
