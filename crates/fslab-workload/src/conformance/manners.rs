//! What programs rely on without thinking of it: open files that were unlinked, listings of
//! directories that shrink, refusals that leave everything as it was.
//!
//! All of it happens in a folder that is gone afterwards.

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
/// FAT counts in two seconds, and rounds.
const TIME_TOLERANCE: Duration = Duration::from_secs(3);
/// Before this, a clock was never set, and formats that begin in 1980 cannot hold it.
const CLOCK_WAS_SET: Duration = Duration::from_secs(20 * 365 * 86_400);
/// A hole before an append, where there is room for one; no multiple of a block.
const HOLE_BYTES: u64 = 60_001;
/// How long a file that was closed after its unlink may still be listed: FUSE hides it under
/// another name until then.
const HIDDEN_FOR: Duration = Duration::from_secs(3);

/// The manners of one file system.
pub(crate) struct Manners<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) abilities: &'a Abilities,
    pub(crate) files: u64,
    /// The most that one file may take.
    pub(crate) bytes: u64,
    pub(crate) ledger: &'a mut CheckContext,
}

impl Manners<'_> {
    /// Tries everything. The folder must not exist, and is gone afterwards.
    pub(crate) fn run(&mut self) -> Result<(), ConformanceFailure> {
        let folder = self.folder;
        self.ledger.must("create", folder, fs::create_dir(folder))?;
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
        self.ledger
            .must("remove the directory", folder, fs::remove_dir(folder))
    }

    /// The file system has no more free than it has, and its blocks have a size.
    fn room(&mut self) -> Result<(), ConformanceFailure> {
        let room = FileSystemRoom::of(self.folder);
        let room = self.ledger.must("ask for the room of", self.folder, room)?;
        let sane = room.block_bytes > 0
            && room.total_bytes > 0
            && room.free_bytes <= room.total_bytes
            && room.available_bytes <= room.free_bytes;
        self.ledger
            .demand(sane, self.folder, || format!("is said to have {room:?}"))
    }

    /// A file that was written now says so.
    fn times(&mut self) -> Result<(), ConformanceFailure> {
        let before = SystemTime::now();
        let path = self.make("now", b"x")?;
        let meta = self.ledger.must("stat", &path, fs::metadata(&path))?;
        let after = SystemTime::now();
        let modified = self.ledger.must("stat", &path, meta.modified())?;
        let was_set = before
            .duration_since(UNIX_EPOCH)
            .is_ok_and(|since| since > CLOCK_WAS_SET);
        if was_set {
            let right = before - TIME_TOLERANCE <= modified && modified <= after + TIME_TOLERANCE;
            self.ledger.demand(right, &path, || {
                format!("was modified at {modified:?}, but was written at {before:?}")
            })?;
        } else {
            self.ledger
                .note("the clock was never set: the times of new files are not looked at");
        }
        self.remove(&path)
    }

    /// What must not work does not, and changes nothing.
    fn refusals(&mut self) -> Result<(), ConformanceFailure> {
        let file = self.make("file", b"content")?;
        let directory = self.folder.join("directory");
        self.ledger
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
            self.ledger.demand(outcome.is_err(), self.folder, || {
                format!("{what}, and may not")
            })?;
        }
        for (path, expected) in [(&file, &b"content"[..]), (&inside, b"inside")] {
            let found = self.ledger.must("read", path, fs::read(path))?;
            self.ledger.demand(found == expected, path, || {
                "changed although nothing was to be done".into()
            })?;
        }
        self.remove(&inside)?;
        self.remove(&file)?;
        self.remove_directory(&directory)
    }

    /// A file without a name is whole until it is closed.
    fn unlinked(&mut self) -> Result<(), ConformanceFailure> {
        let bytes = self.bytes.min(100_003);
        let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        let path = self.make("unlinked", &data)?;
        let opened = File::options().read(true).write(true).open(&path);
        let mut file = self.ledger.must("open", &path, opened)?;
        self.remove(&path)?;
        let gone = fs::symlink_metadata(&path).is_err();
        self.ledger.demand(gone, &path, || {
            "still has its name after unlink while it is open".into()
        })?;
        let twin = self.make("unlinked", b"another file of that name")?;
        let meta = self.ledger.must("stat the open", &path, file.metadata())?;
        // What was cut must not be written to any more: there the hfs driver never comes back.
        if self.is_kept(meta.len() == data.len() as u64, &path)? {
            let more = file
                .seek(SeekFrom::End(0))
                .and_then(|_| file.write_all(&data))
                .and_then(|()| file.sync_all());
            self.ledger
                .must("go on writing to the unlinked", &path, more)?;
            let mut found = Vec::new();
            let read = file
                .seek(SeekFrom::Start(0))
                .and_then(|_| file.read_to_end(&mut found));
            self.ledger.must("read the unlinked", &path, read)?;
            let whole = found.len() == 2 * data.len()
                && found[..data.len()] == data
                && found[data.len()..] == data;
            self.is_kept(whole, &path)?;
        }
        drop(file);
        self.expect(&twin, b"another file of that name")?;
        self.remove(&twin)?;
        self.expect_empty_soon()
    }

    /// What FUSE hides until it is closed goes a little later.
    fn expect_empty_soon(&mut self) -> Result<(), ConformanceFailure> {
        let began = Instant::now();
        while !self.names()?.is_empty() && began.elapsed() < HIDDEN_FOR {
            std::thread::sleep(Duration::from_millis(50));
        }
        let left = self.names()?;
        self.ledger.demand(left.is_empty(), self.folder, || {
            format!("still lists {left:?} after an unlinked file was closed")
        })
    }

    /// An open file must keep its data when it loses its name; only where names and files are one,
    /// as without hard links, this is a remark.
    fn is_kept(&mut self, kept: bool, path: &Path) -> Result<bool, ConformanceFailure> {
        if !kept && !self.abilities.hard_links {
            self.ledger
                .note("an open file loses its data with its name: what unlink removes is gone");
            return Ok(false);
        }
        self.ledger.demand(kept, path, || {
            "lost its data with its name, while it was open".into()
        })?;
        Ok(true)
    }

    /// A file over which another was renamed is whole until it is closed.
    fn replaced(&mut self) -> Result<(), ConformanceFailure> {
        let old = self.make("old", b"the old one")?;
        let new = self.make("new", b"the new one")?;
        let mut file = self.ledger.must("open", &old, File::open(&old))?;
        self.ledger.must("rename", &new, fs::rename(&new, &old))?;
        let mut found = Vec::new();
        let read = file.read_to_end(&mut found);
        self.ledger.must("read the replaced", &old, read)?;
        self.is_kept(found == b"the old one", &old)?;
        drop(file);
        self.expect(&old, b"the new one")?;
        // To its own name: nothing happens.
        self.ledger.must("rename", &old, fs::rename(&old, &old))?;
        self.expect(&old, b"the new one")?;
        self.remove(&old)?;
        self.expect_empty_soon()
    }

    /// A file that truncate lengthened has zeros there, and an append puts its data behind them.
    ///
    /// The disk has held other data first. Where holes take room, the driver must write the zeros:
    /// that of exfat in Linux 6.12 looks at the position before O_APPEND has moved it, and writes
    /// none, so that the file shows what the disk held before. There this is a remark.
    fn appended_behind_a_hole(&mut self) -> Result<(), ConformanceFailure> {
        let hole = self.bytes.min(HOLE_BYTES);
        let noise = vec![0xdb; usize::try_from(2 * hole).expect("a few blocks")];
        let noise = self.make("noise", &noise)?;
        let synced = File::open(&noise).and_then(|file| file.sync_all());
        self.ledger.must("fsync", &noise, synced)?;
        self.remove(&noise)?;
        let path = self.folder.join("lengthened");
        let made = File::create_new(&path).and_then(|file| file.set_len(hole));
        if let Err(said) = self.ledger.may("lengthen", &path, made)? {
            self.ledger.note(said);
            return self.remove(&path);
        }
        let appended = File::options()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(b"end"));
        self.ledger.must("append to", &path, appended)?;
        let found = self.ledger.must("read", &path, fs::read(&path))?;
        self.ledger.demand(
            found.len() as u64 == hole + 3 && found.ends_with(b"end"),
            &path,
            || format!("has {} bytes after an append, or another end", found.len()),
        )?;
        let junk = found[..found.len() - 3]
            .iter()
            .filter(|byte| **byte != 0)
            .count();
        if junk > 0 && !self.abilities.holes {
            self.ledger.note(format!(
                "a driver's fault: O_APPEND behind a length that truncate gave left {junk} bytes \
                 of what the disk held before"
            ));
        } else {
            self.ledger.demand(junk == 0, &path, || {
                format!("has {junk} bytes that nobody wrote where truncate made it longer")
            })?;
        }
        self.remove(&path)
    }

    /// A directory over an empty one, and not over a full one.
    fn directories(&mut self) -> Result<(), ConformanceFailure> {
        for name in ["a", "b", "c"] {
            let path = self.folder.join(name);
            self.ledger.must("create", &path, fs::create_dir(&path))?;
        }
        let at = |name: &str| self.folder.join(name);
        let (a, b, c) = (at("a"), at("b"), at("c"));
        self.make("a/inside", b"a")?;
        self.make("c/inside", b"c")?;
        let over_full = fs::rename(&a, &c);
        self.ledger.demand(over_full.is_err(), &c, || {
            "was replaced by another directory although it was not empty".into()
        })?;
        self.expect(&c.join("inside"), b"c")?;
        let over_empty = fs::rename(&a, &b);
        let left = match over_empty {
            Ok(()) => b,
            Err(error) if is_refusal(&error) || error.kind() == io::ErrorKind::AlreadyExists => {
                self.ledger.note(format!(
                    "a directory cannot be renamed over an empty one: {error}"
                ));
                self.remove_directory(&b)?;
                a
            }
            Err(error) => return Err(ConformanceFailure::io("rename", &a, error)),
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
        self.ledger
            .must("rename", &lower, fs::rename(&lower, &upper))?;
        let names = self.names()?;
        let kept = names.contains(&OsString::from("SOME-NAME"));
        self.ledger.demand(names.len() == 1, self.folder, || {
            format!("lists {names:?} after a rename that changed the case of a name")
        })?;
        if !kept && self.abilities.case != CaseRule::Folding {
            self.ledger
                .note("a rename cannot change the case of a name: it does nothing");
        }
        self.expect(&upper, b"of one file")?;
        self.remove(&upper)
    }

    /// Names are removed as they are listed, as by `rm -r`; each is listed once, none is left out.
    fn shrinking(&mut self) -> Result<(), ConformanceFailure> {
        let directory = self.folder.join("shrinking");
        self.ledger
            .must("create", &directory, fs::create_dir(&directory))?;
        let count = LISTED.min(usize::try_from(self.files).unwrap_or(LISTED));
        let mut left = BTreeSet::new();
        for number in 0..count {
            let name = format!("entry-{number:04}-with-some-length");
            let path = directory.join(&name);
            self.ledger.must("create", &path, File::create_new(&path))?;
            left.insert(OsString::from(name));
        }
        let entries = self
            .ledger
            .must("list", &directory, fs::read_dir(&directory))?;
        for entry in entries {
            let name = self.ledger.must("list", &directory, entry)?.file_name();
            let known = left.remove(&name);
            self.ledger.demand(known, &directory, || {
                format!("lists {name:?}, which was removed or never made")
            })?;
            self.remove(&directory.join(&name))?;
        }
        if !left.is_empty() {
            self.ledger.note(format!(
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
        let answer = self.ledger.may("fsync", self.folder, synced)?;
        if let Err(said) = answer {
            self.ledger.note(format!("directories: {said}"));
        }
        Ok(())
    }

    fn make(&mut self, name: &str, data: &[u8]) -> Result<PathBuf, ConformanceFailure> {
        let path = self.folder.join(name);
        self.ledger.must("write", &path, fs::write(&path, data))?;
        Ok(path)
    }

    fn expect(&mut self, path: &Path, data: &[u8]) -> Result<(), ConformanceFailure> {
        let found = self.ledger.must("read", path, fs::read(path))?;
        self.ledger.demand(found == data, path, || {
            format!("holds {:?}", String::from_utf8_lossy(&found))
        })
    }

    fn remove(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.ledger.must("remove", path, fs::remove_file(path))
    }

    fn remove_directory(&mut self, path: &Path) -> Result<(), ConformanceFailure> {
        self.ledger
            .must("remove the directory", path, fs::remove_dir(path))
    }

    fn names(&mut self) -> Result<BTreeSet<OsString>, ConformanceFailure> {
        let listed = fs::read_dir(self.folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        self.ledger.must("list", self.folder, listed)
    }
}
