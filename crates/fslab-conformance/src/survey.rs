//! Determines the capabilities of a file system, in a directory that is removed afterwards.
//!
//! Each capability is tried: a refusal means no, success that can be read back means yes, and a
//! wrong result is a failure. Each answer is compared with the catalogue entry.

use fslab_sys::os::MetadataExt;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::Capabilities;
use fslab_sys::{
    DataFile, DataFileOptions, FileSystemRoom, is_superuser, named_attribute, set_named_attribute,
    share_blocks, sync_file_system,
};

use super::abilities::{Abilities, Answer, compare, compare_case};
use super::check_context::{CheckContext, is_refusal};
use super::failure::ConformanceFailure;
use super::space_wait::retry_when_full;

/// Limits of names per file up to this are tried.
const LINKS_TRIED_MAX: u64 = 1_100;
/// Names of one file that are created if the limit is higher.
const LINKS_TRIED: u64 = 100;
/// A larger limit of the file size is not tried: some drivers store a record for each gibibyte of a
/// hole.
const LIMIT_TRIED_MAX: u64 = (1 << 44) + (1 << 20);
/// A smaller hole that takes space is no evidence against sparse files.
const HOLE_BYTES_MIN: u64 = 1 << 20;
/// Beyond the offsets of 32 bits.
const FAR_BYTES: u64 = (1 << 32) + (1 << 22);

/// State of a survey.
pub(crate) struct Survey<'a> {
    pub(super) folder: &'a Path,
    pub(super) promises: Option<&'a Capabilities>,
    pub(super) checker: &'a mut CheckContext,
    counts_links: bool,
    verbatim_links: bool,
}

impl<'a> Survey<'a> {
    /// Determines all capabilities. `folder` must not exist, and is removed afterwards.
    ///
    /// # Errors
    /// If a capability differs from the entry, or an operation neither works nor is refused.
    pub(crate) fn run(
        folder: &'a Path,
        promises: Option<&'a Capabilities>,
        checker: &'a mut CheckContext,
    ) -> Result<Abilities, ConformanceFailure> {
        let mut ask = |checker: &mut CheckContext| {
            let mut survey = Survey {
                folder,
                promises,
                checker,
                counts_links: false,
                verbatim_links: false,
            };
            survey.ask()
        };
        let abilities = retry_when_full(folder, checker, &mut ask)
            .map_err(|problem| problem.during("survey of abilities"))?;
        checker.must("remove", folder, fs::remove_dir_all(folder))?;
        Ok(abilities)
    }

    fn ask(&mut self) -> Result<Abilities, ConformanceFailure> {
        let promised = |of: fn(&Capabilities) -> bool| self.promises.map(of);
        let wanted = [
            promised(|it| it.permissions),
            promised(|it| it.symlinks),
            promised(|it| it.hard_links_max > 1),
            promised(|it| it.extended_attributes),
            promised(|it| it.reflinks),
            promised(|it| it.sparse_files),
        ];
        let (holes, limit) = (self.holes()?, self.promises.map(|it| it.file_bytes_max.0));
        let holes = compare("files with holes", wanted[5], &holes)?;
        self.largest_file(holes)?;
        Ok(Abilities {
            permissions: compare("permissions", wanted[0], &self.permissions()?)?,
            symlinks: compare("symbolic links", wanted[1], &self.symlinks()?)?,
            verbatim_links: self.verbatim_links,
            renames_links: self.renames_links()?,
            hard_links: compare("hard links", wanted[2], &self.hard_links()?)?,
            counts_links: self.counts_links,
            attributes: compare("extended attributes", wanted[3], &self.attributes()?)?,
            reflinks: compare("files that share blocks", wanted[4], &self.reflinks()?)?,
            holes,
            case: compare_case(self.promises, self.case()?)?,
            name_bytes: self.name_bytes()?,
            wide_names: self.keeps(OsStr::new("Grüße-Ελλάς-日本"))?,
            odd_names: self.odd_names()?,
            far_offsets: holes && limit.is_some_and(|limit| limit > FAR_BYTES),
        })
    }

    fn symlinks(&mut self) -> Result<Answer, ConformanceFailure> {
        let path = self.folder.join("symlink");
        let target = Path::new("some/target");
        let made = fslab_sys::os::symlink(target, &path);
        let answer = self.checker.may("make a symbolic link", &path, made)?;
        if answer.is_ok() {
            let read = self.checker.must("read", &path, fs::read_link(&path))?;
            self.checker.demand(read == target, &path, || {
                format!("leads to {}, not to {}", read.display(), target.display())
            })?;
            self.remove(&path)?;
            self.verbatim_links = self.keeps_text(&path)?;
        }
        Ok(answer)
    }

    /// True if a target with `..` is kept: affs translates the root and the parent, not always
    /// correctly.
    fn keeps_text(&mut self, path: &Path) -> Result<bool, ConformanceFailure> {
        let target = Path::new("../other");
        let made = fslab_sys::os::symlink(target, path);
        self.checker.must("make a symbolic link", path, made)?;
        let read = self.checker.must("read", path, fs::read_link(path))?;
        self.remove(path)?;
        if read != target {
            self.checker.note(format!(
                "a symbolic link to ../other leads to {}: only plain ones are made",
                read.display()
            ));
        }
        Ok(read == target)
    }

    fn hard_links(&mut self) -> Result<Answer, ConformanceFailure> {
        let path = self.make("name-0", b"one file")?;
        let name = |number: u64| self.folder.join(format!("name-{number}"));
        let second = name(1);
        let made = fs::hard_link(&path, &second);
        let answer = self.checker.may("make a hard link", &second, made)?;
        if answer.is_ok() {
            let most = self.promises.map_or(LINKS_TRIED, |it| it.hard_links_max);
            let tried = if most > LINKS_TRIED_MAX {
                LINKS_TRIED
            } else {
                most
            };
            for number in 2..tried {
                let next = name(number);
                self.checker
                    .must("make a hard link", &next, fs::hard_link(&path, &next))?;
            }
            let meta = self.checker.must("stat", &path, fs::metadata(&path))?;
            self.checker.demand(meta.nlink() > 1, &path, || {
                format!("counts {} names, but has {tried}", meta.nlink())
            })?;
            self.counts_links = meta.nlink() == tried.max(2);
            if !self.counts_links {
                self.checker.note("names of a file are not counted");
            }
            if self.promises.is_some() && tried == most {
                let over = name(tried);
                if fs::hard_link(&path, &over).is_ok() {
                    return Err(ConformanceFailure::against_entry(format!(
                        "the entry understates: it says that a file has at most {most} names, and \
                         one more was made"
                    )));
                }
            }
            self.checker
                .must("write", &second, fs::write(&second, b"through the other"))?;
            let found = self.checker.must("read", &path, fs::read(&path))?;
            self.checker
                .demand(found == b"through the other", &path, || {
                    "does not hold what was written by its other name".into()
                })?;
        }
        self.empty()?;
        Ok(answer)
    }

    /// True if a rename of one of two names leaves the other: affs renames the wrong one.
    fn renames_links(&mut self) -> Result<bool, ConformanceFailure> {
        let first = self.make("first", b"of two names")?;
        let below = self.folder.join("below");
        let (second, third) = (below.join("second"), below.join("third"));
        self.checker
            .must("create", &below, fs::create_dir(&below))?;
        let mut right = false;
        if fs::hard_link(&first, &second).is_ok() {
            let renamed = fs::rename(&second, &third);
            let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
            right = renamed.is_ok() && !is_there(&second) && is_there(&third) && is_there(&first);
            if !right {
                self.checker.note(format!(
                    "a rename of a hard link goes wrong ({}): not exercised",
                    renamed.map_or_else(|error| error.to_string(), |()| "wrong name".into())
                ));
            }
        }
        self.checker
            .must("remove", &below, fs::remove_dir_all(&below))?;
        self.empty()?;
        Ok(right)
    }

    fn permissions(&mut self) -> Result<Answer, ConformanceFailure> {
        let path = self.make("permissions", b"x")?;
        let mut answer = Ok(());
        for mode in [0o640, 0o751, 0o444, 0o600] {
            let wish = fslab_sys::os::set_mode(&path, mode);
            answer = self.checker.may("change permissions", &path, wish)?;
            if answer.is_ok() {
                let meta = self.checker.must("stat", &path, fs::metadata(&path))?;
                let found = meta.mode() & 0o7777;
                if found != mode {
                    answer = Err(format!("the mode {mode:o} became {found:o}"));
                }
            }
            if answer.is_err() {
                break;
            }
        }
        if answer.is_ok() && is_superuser() {
            let wish = fslab_sys::os::chown(&path, Some(1_234), Some(4_321));
            answer = self.checker.may("change the owner", &path, wish)?;
            let meta = self.checker.must("stat", &path, fs::metadata(&path))?;
            if answer.is_ok() && (meta.uid(), meta.gid()) != (1_234, 4_321) {
                let found = (meta.uid(), meta.gid());
                answer = Err(format!("owner and group 1234:4321 became {found:?}"));
            }
        }
        self.empty()?;
        Ok(answer)
    }

    fn attributes(&mut self) -> Result<Answer, ConformanceFailure> {
        let path = self.make("attributes", b"x")?;
        let name = c"user.fslab.survey";
        let made = set_named_attribute(&path, name, b"value");
        let answer = self.checker.may("set an attribute", &path, made)?;
        if answer.is_ok() {
            let found =
                self.checker
                    .must("read an attribute of", &path, named_attribute(&path, name))?;
            self.checker
                .demand(found.as_deref() == Some(b"value"), &path, || {
                    format!("has {found:?} as an attribute that was set to \"value\"")
                })?;
        }
        self.empty()?;
        Ok(answer)
    }

    fn reflinks(&mut self) -> Result<Answer, ConformanceFailure> {
        let bytes = (self.room()?.available_bytes / 32).clamp(4_096, 256 << 10);
        let data = vec![0xa5; usize::try_from(bytes).expect("at most 256 KiB")];
        let from_path = self.make("shared", &data)?;
        let to_path = self.folder.join("sharing");
        let from = self.open(&from_path)?;
        self.checker.must("sync", &from_path, from.fsync())?;
        let to = self.open(&to_path)?;
        let shared = share_blocks(&from, &to);
        let answer = self.checker.may("share blocks", &to_path, shared)?;
        if answer.is_ok() {
            self.checker
                .must("write", &to_path, to.write_at(b"changed", 100).map(drop))?;
            let mut expected = data.clone();
            expected[100..107].copy_from_slice(b"changed");
            for (path, expected) in [(&from_path, &data), (&to_path, &expected)] {
                let found = self.checker.must("read", path, fs::read(path))?;
                self.checker.demand(&found == expected, path, || {
                    "does not hold its own data after it shared blocks with another".into()
                })?;
            }
        }
        drop((from, to));
        self.empty()?;
        Ok(answer)
    }

    fn holes(&mut self) -> Result<Answer, ConformanceFailure> {
        let before = self.room()?;
        // More than a record of zfs or a cluster of FAT, and small enough to fit.
        let hole = before
            .block_bytes
            .saturating_mul(32)
            .clamp(1 << 20, 8 << 20);
        let hole = hole.min(before.available_bytes / 8) | 1;
        let path = self.folder.join("hole");
        let file = self.open(&path)?;
        let written = file.write_at(b"end", hole).map(drop);
        self.checker.must("write past the end of", &path, written)?;
        self.checker.must("sync", &path, file.fsync())?;
        drop(file);
        let after = self.room()?;
        let meta = self.checker.must("stat", &path, fs::metadata(&path))?;
        // affs reports no blocks of a file. Others are preferred to statfs(2), which other writers
        // change.
        let taken = match meta.blocks() {
            0 => before.free_bytes.saturating_sub(after.free_bytes),
            blocks => blocks.saturating_mul(512),
        };
        let found = self.checker.must("read", &path, fs::read(&path))?;
        let zeros = found.len() as u64 == hole + 3
            && found.ends_with(b"end")
            && found[..found.len() - 3].iter().all(|byte| *byte == 0);
        self.checker.demand(zeros, &path, || {
            format!("is not {hole} zeros and a word, as it was made by one write past its end")
        })?;
        self.empty()?;
        // On a small file system the hole may be smaller than the unit of allocation.
        let too_small = hole < HOLE_BYTES_MIN && self.promises.is_some_and(|it| it.sparse_files);
        if taken < hole / 2 || too_small {
            return Ok(Ok(()));
        }
        Ok(Err(format!("a hole of {hole} bytes took {taken}")))
    }

    /// Free space after a sync.
    fn room(&mut self) -> Result<FileSystemRoom, ConformanceFailure> {
        let synced = sync_file_system(self.folder);
        self.checker.must("sync", self.folder, synced)?;
        let room = FileSystemRoom::of(self.folder);
        self.checker.must("ask for the room of", self.folder, room)
    }

    /// The entry's largest file is possible (tried if sparse), and no larger one.
    fn largest_file(&mut self, holes: bool) -> Result<(), ConformanceFailure> {
        let Some(limit) = self.promises.map(|promises| promises.file_bytes_max.0) else {
            return Ok(());
        };
        if limit > LIMIT_TRIED_MAX {
            return Ok(());
        }
        let room = self.room()?;
        let path = self.folder.join("largest");
        let file = self.open(&path)?;
        // The entry's limit is for blocks of 4 KiB; a small volume may have smaller ones.
        if holes && room.block_bytes == 4096 && self.is_affordable(&file, limit, room)? {
            let reached = self
                .checker
                .may("write", &path, file.write_at(b"z", limit - 1))?;
            if let Err(said) = reached {
                return Err(ConformanceFailure::against_entry(format!(
                    "the entry says that a file has up to {limit} bytes, but {said}"
                )));
            }
        }
        self.checker.check()?;
        match file.set_length(limit + 1) {
            Ok(()) => {
                return Err(ConformanceFailure::against_entry(format!(
                    "the entry understates: it says that a file has at most {limit} bytes, and one \
                     has {}",
                    limit + 1
                )));
            }
            Err(error) if is_refusal(&error) => {}
            // A driver may check the space before the length.
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {}
            Err(error) => return Err(ConformanceFailure::io("lengthen", &path, &error)),
        }
        drop(file);
        self.empty()
    }

    /// True if a hole of `limit` bytes takes little space, judged by one of 1 GiB: reiserfs, for
    /// example, stores a pointer for every block of a hole.
    fn is_affordable(
        &mut self,
        file: &DataFile,
        limit: u64,
        before: FileSystemRoom,
    ) -> Result<bool, ConformanceFailure> {
        const PROBE: u64 = 1 << 30;
        let path = self.folder.join("largest");
        if limit <= PROBE {
            return Ok(true);
        }
        let written = match file.write_at(b"z", PROBE - 1) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => return Ok(false),
            written => written.map(drop),
        };
        self.checker.must("write", &path, written)?;
        let after = self.room()?;
        let taken = before.free_bytes.saturating_sub(after.free_bytes);
        Ok(taken.saturating_mul(limit / PROBE) < after.free_bytes || taken < 1 << 18)
    }

    fn open(&mut self, path: &Path) -> Result<DataFile, ConformanceFailure> {
        let options = DataFileOptions {
            read: true,
            write: true,
            create: true,
            ..DataFileOptions::default()
        };
        self.checker
            .must("open", path, DataFile::open(path, options))
    }

    pub(super) fn make(&mut self, name: &str, data: &[u8]) -> Result<PathBuf, ConformanceFailure> {
        let path = self.folder.join(name);
        self.checker.must("write", &path, fs::write(&path, data))?;
        Ok(path)
    }

    fn remove(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.checker.must("remove", path, fs::remove_file(path))
    }

    pub(super) fn names(&mut self) -> Result<BTreeSet<OsString>, ConformanceFailure> {
        let listed = fs::read_dir(self.folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        self.checker.must("list", self.folder, listed)
    }

    /// Removes all files by their listed names.
    pub(super) fn empty(&mut self) -> Result<(), ConformanceFailure> {
        for name in self.names()? {
            self.remove(&self.folder.join(name))?;
        }
        let left = self.names()?;
        self.checker.demand(left.is_empty(), self.folder, || {
            format!("still lists {left:?}, which were removed")
        })
    }
}
