//! Tests of POSIX semantics that programs rely on: unlinked open files, listings of shrinking
//! directories, refused operations without side effects.
//!
//! All tests work in a directory that is removed afterwards.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fslab_model::CaseRule;
use fslab_sys::FileSystemRoom;

use super::abilities::Abilities;
use super::check_context::{CheckContext, is_refusal};
use super::failure::ConformanceFailure;

/// Files of the directory that is listed while it shrinks.
const LISTED: usize = 300;
/// FAT has a time resolution of two seconds, and rounds.
const TIME_TOLERANCE: Duration = Duration::from_secs(3);
/// An earlier clock was never set, and formats that start in 1980 cannot store it.
const CLOCK_WAS_SET: Duration = Duration::from_secs(20 * 365 * 86_400);
/// Size of the hole before an append; no multiple of a block.
const HOLE_BYTES: u64 = 60_001;
/// How long a file may still be listed after unlink and close: FUSE keeps it under a hidden name.
const HIDDEN_FOR: Duration = Duration::from_secs(3);

/// The tests on one file system.
pub(crate) struct Semantics<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) abilities: &'a Abilities,
    pub(crate) files: u64,
    /// Limit of the size of one file.
    pub(crate) bytes: u64,
    pub(crate) checker: &'a mut CheckContext,
}

impl Semantics<'_> {
    /// Runs all tests. The directory must not exist, and is removed afterwards.
    pub(crate) fn run(&mut self) -> Result<(), ConformanceFailure> {
        let folder = self.folder;
        self.checker
            .must("create", folder, fs::create_dir(folder))?;
        self.room().map_err(|it| it.during("room"))?;
        self.times().map_err(|it| it.during("times"))?;
        self.refusals().map_err(|it| it.during("refusals"))?;
        self.unlinked()
            .map_err(|it| it.during("unlinked open file"))?;
        self.replaced()
            .map_err(|it| it.during("replaced open file"))?;
        self.appended_behind_a_hole()
            .map_err(|it| it.during("append behind a hole"))?;
        self.directories()
            .map_err(|it| it.during("rename of directories"))?;
        self.case_only().map_err(|it| it.during("change of case"))?;
        self.shrinking()
            .map_err(|it| it.during("listing while names are removed"))?;
        self.sync_directory()
            .map_err(|it| it.during("fsync of a directory"))?;
        self.checker
            .must("remove the directory", folder, fs::remove_dir(folder))
    }

    /// statfs(2) returns consistent figures.
    fn room(&mut self) -> Result<(), ConformanceFailure> {
        let room = FileSystemRoom::of(self.folder);
        let room = self
            .checker
            .must("ask for the room of", self.folder, room)?;
        let sane = room.block_bytes > 0
            && room.total_bytes > 0
            && room.free_bytes <= room.total_bytes
            && room.available_bytes <= room.free_bytes;
        self.checker
            .demand(sane, self.folder, || format!("is said to have {room:?}"))
    }

    /// A new file has the current time.
    fn times(&mut self) -> Result<(), ConformanceFailure> {
        let before = SystemTime::now();
        let path = self.make("now", b"x")?;
        let meta = self.checker.must("stat", &path, fs::metadata(&path))?;
        let after = SystemTime::now();
        let modified = self.checker.must("stat", &path, meta.modified())?;
        let was_set = before
            .duration_since(UNIX_EPOCH)
            .is_ok_and(|since| since > CLOCK_WAS_SET);
        if was_set {
            let right = before - TIME_TOLERANCE <= modified && modified <= after + TIME_TOLERANCE;
            self.checker.demand(right, &path, || {
                format!("was modified at {modified:?}, but was written at {before:?}")
            })?;
        } else {
            self.checker
                .note("the clock was never set: times of new files are not checked");
        }
        self.remove(&path)
    }

    /// Invalid operations fail and change nothing.
    fn refusals(&mut self) -> Result<(), ConformanceFailure> {
        let file = self.make("file", b"content")?;
        let directory = self.folder.join("directory");
        self.checker
            .must("create", &directory, fs::create_dir(&directory))?;
        let inside = self.make("directory/inside", b"inside")?;
        let missing = self.folder.join("missing");
        let below_file = file.join("below");
        let into_itself = directory.join("itself");
        let wrong: [(&str, io::Result<()>); 9] = [
            ("made a directory over a file", fs::create_dir(&file)),
            ("made a directory twice", fs::create_dir(&directory)),
            ("made a file twice", File::create_new(&file).map(drop)),
            ("opened a missing file", File::open(&missing).map(drop)),
            (
                "made a file below a file",
                File::create(&below_file).map(drop),
            ),
            ("removed a full directory", fs::remove_dir(&directory)),
            ("unlinked a directory", fs::remove_file(&directory)),
            ("renamed a missing file", fs::rename(&missing, &into_itself)),
            (
                "moved a directory into itself",
                fs::rename(&directory, &into_itself),
            ),
        ];
        for (what, outcome) in wrong {
            self.checker.demand(outcome.is_err(), self.folder, || {
                format!("{what}, and may not")
            })?;
        }
        for (path, expected) in [(&file, &b"content"[..]), (&inside, b"inside")] {
            let found = self.checker.must("read", path, fs::read(path))?;
            self.checker.demand(found == expected, path, || {
                "was changed by a refused operation".into()
            })?;
        }
        self.remove(&inside)?;
        self.remove(&file)?;
        self.remove_directory(&directory)
    }

    /// An unlinked file keeps its data until it is closed.
    fn unlinked(&mut self) -> Result<(), ConformanceFailure> {
        let bytes = self.bytes.min(100_003);
        let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        let path = self.make("unlinked", &data)?;
        let opened = File::options().read(true).write(true).open(&path);
        let mut file = self.checker.must("open", &path, opened)?;
        self.remove(&path)?;
        let gone = fs::symlink_metadata(&path).is_err();
        self.checker.demand(gone, &path, || {
            "still has its name after unlink while it is open".into()
        })?;
        let twin = self.make("unlinked", b"another file of that name")?;
        let meta = self.checker.must("stat the open", &path, file.metadata())?;
        // A truncated file is not written to: the hfs driver would hang.
        if self.is_kept(meta.len() == data.len() as u64, &path)? {
            let more = file
                .seek(SeekFrom::End(0))
                .and_then(|_| file.write_all(&data))
                .and_then(|()| file.sync_all());
            self.checker
                .must("go on writing to the unlinked", &path, more)?;
            let mut found = Vec::new();
            let read = file
                .seek(SeekFrom::Start(0))
                .and_then(|_| file.read_to_end(&mut found));
            self.checker.must("read the unlinked", &path, read)?;
            let is_complete = found.len() == 2 * data.len()
                && found[..data.len()] == data
                && found[data.len()..] == data;
            self.is_kept(is_complete, &path)?;
        }
        drop(file);
        self.expect(&twin, b"another file of that name")?;
        self.remove(&twin)?;
        self.expect_empty_soon()
    }

    /// Waits until the directory is empty: FUSE removes hidden files shortly after close.
    fn expect_empty_soon(&mut self) -> Result<(), ConformanceFailure> {
        let began = Instant::now();
        while !self.names()?.is_empty() && began.elapsed() < HIDDEN_FOR {
            std::thread::sleep(Duration::from_millis(50));
        }
        let left = self.names()?;
        self.checker.demand(left.is_empty(), self.folder, || {
            format!("still lists {left:?} after an unlinked file was closed")
        })
    }

    /// An open file must keep its data when it loses its name. Without hard links, where a name is
    /// the file, a loss is only a note.
    fn is_kept(&mut self, kept: bool, path: &Path) -> Result<bool, ConformanceFailure> {
        if !kept && !self.abilities.hard_links {
            self.checker
                .note("an open file loses its data when it is unlinked or replaced");
            return Ok(false);
        }
        self.checker.demand(kept, path, || {
            "lost its data with its name, while it was open".into()
        })?;
        Ok(true)
    }

    /// A file replaced by a rename keeps its data until it is closed.
    fn replaced(&mut self) -> Result<(), ConformanceFailure> {
        let old = self.make("old", b"the old one")?;
        let new = self.make("new", b"the new one")?;
        let mut file = self.checker.must("open", &old, File::open(&old))?;
        self.checker.must("rename", &new, fs::rename(&new, &old))?;
        let mut found = Vec::new();
        let read = file.read_to_end(&mut found);
        self.checker.must("read the replaced", &old, read)?;
        self.is_kept(found == b"the old one", &old)?;
        drop(file);
        self.expect(&old, b"the new one")?;
        // A rename to the same name does nothing.
        self.checker.must("rename", &old, fs::rename(&old, &old))?;
        self.expect(&old, b"the new one")?;
        self.remove(&old)?;
        self.expect_empty_soon()
    }

    /// A file lengthened by truncate reads as zeros there, and an append follows them.
    ///
    /// Other data is written to the disk first. Without sparse files the driver must write the
    /// zeros: exfat of Linux 6.12 uses the position before O_APPEND moves it, and writes none, so
    /// that old data of the disk shows. That is only a note.
    fn appended_behind_a_hole(&mut self) -> Result<(), ConformanceFailure> {
        let hole = self.bytes.min(HOLE_BYTES);
        let noise = vec![0xdb; usize::try_from(2 * hole).expect("a few blocks")];
        let noise = self.make("noise", &noise)?;
        let synced = File::open(&noise).and_then(|file| file.sync_all());
        self.checker.must("fsync", &noise, synced)?;
        self.remove(&noise)?;
        let path = self.folder.join("lengthened");
        let made = File::create_new(&path).and_then(|file| file.set_len(hole));
        if let Err(said) = self.checker.may("lengthen", &path, made)? {
            self.checker.note(said);
            return self.remove(&path);
        }
        let appended = File::options()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(b"end"));
        self.checker.must("append to", &path, appended)?;
        let found = self.checker.must("read", &path, fs::read(&path))?;
        self.checker.demand(
            found.len() as u64 == hole + 3 && found.ends_with(b"end"),
            &path,
            || format!("has {} bytes after an append, or another end", found.len()),
        )?;
        let junk = found[..found.len() - 3]
            .iter()
            .filter(|byte| **byte != 0)
            .count();
        if junk > 0 && !self.abilities.holes {
            self.checker.note(format!(
                "a driver's fault: O_APPEND after a lengthening truncate exposed {junk} bytes of \
                old data of the disk"
            ));
        } else {
            self.checker.demand(junk == 0, &path, || {
                format!("has {junk} nonzero bytes where truncate lengthened it")
            })?;
        }
        self.remove(&path)
    }

    /// A directory can be renamed over an empty one, not over one with entries.
    fn directories(&mut self) -> Result<(), ConformanceFailure> {
        for name in ["a", "b", "c"] {
            let path = self.folder.join(name);
            self.checker.must("create", &path, fs::create_dir(&path))?;
        }
        let at = |name: &str| self.folder.join(name);
        let (a, b, c) = (at("a"), at("b"), at("c"));
        self.make("a/inside", b"a")?;
        self.make("c/inside", b"c")?;
        let over_full = fs::rename(&a, &c);
        self.checker.demand(over_full.is_err(), &c, || {
            "was replaced by another directory although it was not empty".into()
        })?;
        self.expect(&c.join("inside"), b"c")?;
        let over_empty = fs::rename(&a, &b);
        let left = match over_empty {
            Ok(()) => b,
            Err(error) if is_refusal(&error) || error.kind() == io::ErrorKind::AlreadyExists => {
                self.checker.note(format!(
                    "a directory cannot be renamed over an empty one: {error}"
                ));
                self.remove_directory(&b)?;
                a
            }
            Err(error) => return Err(ConformanceFailure::io("rename", &a, &error)),
        };
        self.expect(&left.join("inside"), b"a")?;
        for directory in [left, c] {
            self.remove(&directory.join("inside"))?;
            self.remove_directory(&directory)?;
        }
        Ok(())
    }

    /// A rename that changes only the case of a name leaves one file.
    fn case_only(&mut self) -> Result<(), ConformanceFailure> {
        let lower = self.make("some-name", b"of one file")?;
        let upper = self.folder.join("SOME-NAME");
        self.checker
            .must("rename", &lower, fs::rename(&lower, &upper))?;
        let names = self.names()?;
        let kept = names.contains(&OsString::from("SOME-NAME"));
        self.checker.demand(names.len() == 1, self.folder, || {
            format!("lists {names:?} after a rename that changed the case of a name")
        })?;
        if !kept && self.abilities.case != CaseRule::Folding {
            self.checker
                .note("a rename cannot change the case of a name: it does nothing");
        }
        self.expect(&upper, b"of one file")?;
        self.remove(&upper)
    }

    /// Names are removed while they are listed, as by `rm -r`; each must be listed once.
    fn shrinking(&mut self) -> Result<(), ConformanceFailure> {
        let directory = self.folder.join("shrinking");
        self.checker
            .must("create", &directory, fs::create_dir(&directory))?;
        let count = LISTED.min(usize::try_from(self.files).unwrap_or(LISTED));
        let mut left = BTreeSet::new();
        for number in 0..count {
            let name = format!("entry-{number:04}-with-some-length");
            let path = directory.join(&name);
            self.checker
                .must("create", &path, File::create_new(&path))?;
            left.insert(OsString::from(name));
        }
        let entries = self
            .checker
            .must("list", &directory, fs::read_dir(&directory))?;
        for entry in entries {
            let name = self.checker.must("list", &directory, entry)?.file_name();
            let known = left.remove(&name);
            self.checker.demand(known, &directory, || {
                format!("lists {name:?}, which was removed or never made")
            })?;
            self.remove(&directory.join(&name))?;
        }
        if !left.is_empty() {
            self.checker.note(format!(
                "a listing of {count} names left out {} while others were removed",
                left.len()
            ));
        }
        for name in left {
            self.remove(&directory.join(name))?;
        }
        self.remove_directory(&directory)
    }

    fn sync_directory(&mut self) -> Result<(), ConformanceFailure> {
        let synced = File::open(self.folder).and_then(|directory| directory.sync_all());
        let answer = self.checker.may("fsync", self.folder, synced)?;
        if let Err(said) = answer {
            self.checker.note(format!("directories: {said}"));
        }
        Ok(())
    }

    fn make(&mut self, name: &str, data: &[u8]) -> Result<PathBuf, ConformanceFailure> {
        let path = self.folder.join(name);
        self.checker.must("write", &path, fs::write(&path, data))?;
        Ok(path)
    }

    fn expect(&mut self, path: &Path, data: &[u8]) -> Result<(), ConformanceFailure> {
        let found = self.checker.must("read", path, fs::read(path))?;
        self.checker.demand(found == data, path, || {
            format!("holds {:?}", String::from_utf8_lossy(&found))
        })
    }

    fn remove(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.checker.must("remove", path, fs::remove_file(path))
    }

    fn remove_directory(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.checker
            .must("remove the directory", path, fs::remove_dir(path))
    }

    fn names(&mut self) -> Result<BTreeSet<OsString>, ConformanceFailure> {
        let listed = fs::read_dir(self.folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        self.checker.must("list", self.folder, listed)
    }
}
