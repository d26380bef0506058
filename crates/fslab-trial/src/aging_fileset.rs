//! The files of a stage: names, lengths, contents, deletion.
//!
//! Everything follows from the seed and the errors of the file system, and nothing from the clock
//! or the machine.

use fslab_sys::os::FileExt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fslab_engine::StopFlag;
use fslab_model::{Failure, FailureKind};
use fslab_stats::Random;

use crate::layout::FileRef;

/// Bytes per write.
const WRITE_BYTES: usize = 1 << 20;
/// Each block of this size has a unique stamp.
const BLOCK_BYTES: usize = 4096;

/// An existing file.
struct Member {
    directory: u32,
    number: u64,
    bytes: u64,
}

/// Why an operation was not completed.
pub(crate) enum Stopped {
    /// No space.
    Full,
    /// Any other error.
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The files of a stage.
pub(crate) struct AgingFileset {
    base: PathBuf,
    directories: u32,
    block_bytes: u64,
    members: Vec<Member>,
    made: u64,
    stamps: u64,
    data: Vec<u8>,
    stop: StopFlag,
    /// Space used by the files, in full blocks.
    pub(crate) held_bytes: u64,
    /// Bytes written since the start.
    pub(crate) written_bytes: u64,
}

/// Where a fileset is.
pub(crate) struct Place {
    pub(crate) base: PathBuf,
    pub(crate) directories: u32,
    pub(crate) block_bytes: u64,
}

impl AgingFileset {
    /// An empty fileset with its directories.
    pub(crate) fn new(place: Place, seed: u64, stop: &StopFlag) -> Result<Self, Stopped> {
        let mut data = vec![0; WRITE_BYTES];
        Random::from_seed(!seed).fill(&mut data);
        let fileset = Self {
            base: place.base,
            directories: place.directories.max(1),
            block_bytes: place.block_bytes.max(512),
            members: Vec::new(),
            made: 0,
            stamps: 0,
            data,
            stop: stop.clone(),
            held_bytes: 0,
            written_bytes: 0,
        };
        must("create", &fileset.base, fs::create_dir_all(&fileset.base))?;
        for directory in 0..fileset.directories {
            let path = fileset.directory(directory);
            must("create", &path, fs::create_dir(&path))?;
        }
        Ok(fileset)
    }

    pub(crate) fn files(&self) -> u64 {
        self.members.len() as u64
    }

    /// All files, in an order that follows from the seed.
    pub(crate) fn file_refs(&self) -> Vec<FileRef> {
        let file_ref = |member: &Member| FileRef {
            path: self.path(member),
            bytes: member.bytes,
        };
        self.members.iter().map(file_ref).collect()
    }

    /// Creates a file of `bytes` in a random directory; without space for all of it, no file.
    pub(crate) fn create(&mut self, random: &mut Random, bytes: u64) -> Result<(), Stopped> {
        let mut member = Member {
            directory: u32::try_from(random.below(self.directories.into())).unwrap_or(0),
            number: self.made,
            bytes: 0,
        };
        self.made += 1;
        let path = self.path(&member);
        let file = must("create", &path, File::create_new(&path))?;
        if let Err(stopped) = self.write(&file, &path, 0, bytes) {
            drop(file);
            if matches!(stopped, Stopped::Full) {
                must("remove", &path, fs::remove_file(&path))?;
            }
            return Err(stopped);
        }
        member.bytes = bytes;
        self.held_bytes += self.room(bytes);
        self.members.push(member);
        Ok(())
    }

    /// Extends a random file by `bytes`; creates one if none may grow to that length. After an
    /// error the part that was written stays.
    pub(crate) fn append(
        &mut self,
        random: &mut Random,
        bytes: u64,
        longest: u64,
    ) -> Result<(), Stopped> {
        let at = self.any(random);
        let at = at.filter(|at| self.members[*at].bytes.saturating_add(bytes) <= longest);
        let Some(at) = at else {
            return self.create(random, bytes);
        };
        let (path, length) = (self.path(&self.members[at]), self.members[at].bytes);
        let file = must("open", &path, File::options().write(true).open(&path))?;
        let written = self.write(&file, &path, length, bytes);
        let now = match &written {
            Ok(()) => length + bytes,
            Err(_) => must("examine", &path, file.metadata())?.len(),
        };
        self.held_bytes += self.room(now).saturating_sub(self.room(length));
        self.members[at].bytes = now;
        written
    }

    /// Deletes a random file; false if there is none.
    pub(crate) fn delete(&mut self, random: &mut Random) -> Result<bool, Stopped> {
        let Some(at) = self.any(random) else {
            return Ok(false);
        };
        let path = self.path(&self.members[at]);
        must("remove", &path, fs::remove_file(&path))?;
        let gone = self.members.swap_remove(at);
        self.held_bytes = self.held_bytes.saturating_sub(self.room(gone.bytes));
        Ok(true)
    }

    /// Space used by a file of `bytes`.
    pub(crate) fn room(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.block_bytes)
    }

    fn any(&self, random: &mut Random) -> Option<usize> {
        let at = usize::try_from(random.below(self.members.len() as u64)).ok()?;
        (at < self.members.len()).then_some(at)
    }

    fn write(&mut self, file: &File, path: &Path, from: u64, bytes: u64) -> Result<(), Stopped> {
        let mut done = 0;
        while done < bytes {
            self.go_on()?;
            let length =
                usize::try_from(bytes - done).map_or(WRITE_BYTES, |it| it.min(WRITE_BYTES));
            for block in self.data[..length].chunks_mut(BLOCK_BYTES) {
                self.stamps += 1;
                let stamp = self.stamps.to_le_bytes();
                let end = block.len().min(stamp.len());
                block[..end].copy_from_slice(&stamp[..end]);
            }
            let written = file.write_at(&self.data[..length], from + done);
            let written = must("write", path, written)? as u64;
            if written == 0 {
                return Err(Stopped::Full);
            }
            self.written_bytes += written;
            done += written;
        }
        Ok(())
    }

    /// An error once the trial is to stop.
    pub(crate) fn go_on(&self) -> Result<(), Failure> {
        if self.stop.is_raised() {
            let text = "interrupted while files were made before the phases";
            return Err(Failure::new(FailureKind::Interrupted, text));
        }
        Ok(())
    }

    fn directory(&self, number: u32) -> PathBuf {
        self.base.join(format!("d{number:04}"))
    }

    fn path(&self, member: &Member) -> PathBuf {
        let directory = self.directory(member.directory);
        directory.join(format!("f{:07}", member.number))
    }
}

/// Separates a full disk from other errors.
fn must<T>(operation: &str, path: &Path, outcome: io::Result<T>) -> Result<T, Stopped> {
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Stopped::Full,
        _ => Stopped::Failed(Failure::at(FailureKind::Io, operation, path, &error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fileset(base: &Path) -> AgingFileset {
        let place = Place {
            base: base.join("aged"),
            directories: 3,
            block_bytes: 4096,
        };
        match AgingFileset::new(place, 1, &StopFlag::new()) {
            Ok(fileset) => fileset,
            Err(_) => panic!("a directory has room for three"),
        }
    }

    /// Paths and contents below `base`.
    fn tree(base: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        for directory in fs::read_dir(base.join("aged")).expect("lists").flatten() {
            for file in fs::read_dir(directory.path()).expect("lists").flatten() {
                let path = file.path();
                let content = fs::read(&path).expect("reads");
                found.push((path.strip_prefix(base).expect("below").into(), content));
            }
        }
        found.sort_unstable();
        found
    }

    fn play(base: &Path, seed: u64) -> u64 {
        let (mut fileset, mut random) = (fileset(base), Random::from_seed(seed));
        for turn in 0..60 {
            let bytes = random.length(100, 20_000);
            let done = match turn % 4 {
                0 | 1 => fileset.create(&mut random, bytes),
                2 => fileset.append(&mut random, bytes, u64::MAX),
                _ => fileset.delete(&mut random).map(drop),
            };
            assert!(done.is_ok());
        }
        fileset.held_bytes
    }

    #[test]
    fn the_same_seed_makes_the_same_files_and_another_does_not() {
        let folders = [(); 3].map(|()| tempfile::tempdir().expect("a directory"));
        let held = play(folders[0].path(), 7);
        play(folders[1].path(), 7);
        play(folders[2].path(), 8);
        let trees = folders.each_ref().map(|folder| tree(folder.path()));
        assert!(trees[0] == trees[1]);
        assert!(trees[0] != trees[2]);
        let room = |file: &(PathBuf, Vec<u8>)| (file.1.len() as u64).next_multiple_of(4096);
        assert_eq!(held, trees[0].iter().map(room).sum::<u64>());
    }

    #[test]
    fn no_block_of_the_files_repeats() {
        let folder = tempfile::tempdir().expect("a directory");
        play(folder.path(), 7);
        let files = tree(folder.path());
        let blocks = || files.iter().flat_map(|file| file.1.chunks_exact(4096));
        let distinct: std::collections::HashSet<&[u8]> = blocks().collect();
        assert_eq!(distinct.len(), blocks().count());
    }

    #[test]
    fn lengths_stay_within_their_bounds_and_small_ones_are_as_many_as_large_ones() {
        let mut random = Random::from_seed(3);
        let lengths: Vec<u64> = (0..10_000)
            .map(|_| random.length(1 << 10, 1 << 20))
            .collect();
        let bounds = 1 << 10..=1 << 20;
        assert!(lengths.iter().all(|length| bounds.contains(length)));
        let small = lengths.iter().filter(|length| **length < 1 << 15).count();
        assert!((4_700..5_300).contains(&small), "{small}");
    }

    #[test]
    fn a_stop_request_is_obeyed_before_the_next_write() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut fileset = fileset(folder.path());
        fileset.stop.raise();
        let stopped = fileset.create(&mut Random::from_seed(1), 10);
        let Err(Stopped::Failed(failure)) = stopped else {
            panic!("must stop")
        };
        assert_eq!(failure.kind, FailureKind::Interrupted);
    }
}
