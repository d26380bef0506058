//! Leases: what a trial has mounted, attached and created, written down before it is done.
//!
//! A lease is a small JSON file below the user's state directory. Its owner holds a lock on it, and
//! so do the trial's process and whatever that started, by inheritance: a lease that can be locked
//! belongs to nobody any more, and what it names may be undone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fslab_model::{Failure, FailureKind};
use fslab_sys::GroupSignal;
use serde::{Deserialize, Serialize};

/// How long an orphaned trial has to clean up by itself before it is killed.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(20);

/// What a trial has made. Each path is undone if it is there, in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Belongings {
    /// Unmounted, then removed.
    pub(crate) mount_point: Option<PathBuf>,
    /// Detached from its loop device, then removed.
    pub(crate) image: Option<PathBuf>,
    /// Removed with everything in it: the scratch directory of the `dir` venue.
    pub(crate) scratch: Option<PathBuf>,
    /// Removed if empty.
    pub(crate) work_folder: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct LeaseFile {
    format: u32,
    owner: u32,
    owner_start: Option<u64>,
    trial: Option<u32>,
    belongings: Belongings,
}

/// The folder of all leases of this user.
#[derive(Clone, Debug)]
pub struct Leases(PathBuf);

/// A lease that is held.
pub(crate) struct Lease {
    file: File,
    path: PathBuf,
    content: LeaseFile,
}

/// What `reclaim` undid, or could not.
#[derive(Debug)]
pub struct Reclaimed {
    /// Paths that were unmounted, detached or removed.
    pub undone: Vec<PathBuf>,
    /// Why something is still there.
    pub failures: Vec<Failure>,
}

impl Leases {
    /// The leases below `state_folder`.
    #[must_use]
    pub fn below(state_folder: &Path) -> Self {
        Self(state_folder.join("leases"))
    }

    /// Writes a lease down and locks it.
    pub(crate) fn take(&self, name: &str, belongings: Belongings) -> Result<Lease, Failure> {
        let path = self.0.join(format!("{name}.json"));
        let failed = |error: io::Error| {
            let text = format!("cannot write the lease {}", path.display());
            Failure::new(FailureKind::Device, text)
                .because(&error)
                .hint("fslab keeps a note of what it mounts below XDG_STATE_HOME; is it writable?")
        };
        fs::create_dir_all(&self.0).map_err(failed)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        file.lock().map_err(failed)?;
        fslab_sys::let_children_inherit(&file).map_err(failed)?;
        let content = LeaseFile {
            format: 1,
            owner: std::process::id(),
            owner_start: fslab_sys::process_start_ticks(std::process::id()),
            trial: None,
            belongings,
        };
        let mut lease = Lease {
            file,
            path: path.clone(),
            content,
        };
        lease.write().map_err(failed)?;
        Ok(lease)
    }

    /// Undoes what dead runs have left. What belongs to a living one stays.
    ///
    /// # Errors
    /// Where the leases cannot be listed; what cannot be undone is in the answer.
    pub fn reclaim(&self) -> io::Result<Reclaimed> {
        let mut reclaimed = Reclaimed {
            undone: Vec::new(),
            failures: Vec::new(),
        };
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(reclaimed),
            entries => entries?,
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        });
        paths.sort_unstable();
        for path in paths {
            let Some(lease) = Lease::inherit(&path)? else {
                continue;
            };
            match lease.undo() {
                Ok(undone) => reclaimed.undone.extend(undone),
                Err(failure) => reclaimed.failures.push(failure),
            }
        }
        Ok(reclaimed)
    }
}

impl Lease {
    pub(crate) fn belongings(&self) -> &Belongings {
        &self.content.belongings
    }

    /// Notes the trial's process, so that an orphan can be found.
    pub(crate) fn set_trial(&mut self, pid: u32) -> io::Result<()> {
        self.content.trial = Some(pid);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.content)?;
        // In place: a rename would leave the lock on a file that nobody finds.
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&text)?;
        self.file.sync_data()
    }

    /// Takes over the lease of a dead owner; `None` where the owner lives.
    fn inherit(path: &Path) -> io::Result<Option<Self>> {
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let content: LeaseFile = match serde_json::from_str(&text) {
            Ok(content) => content,
            // Its owner was killed while it wrote its very first words: nothing was made yet.
            Err(_) if file.try_lock().is_ok() => {
                fs::remove_file(path)?;
                return Ok(None);
            }
            Err(_) => return Ok(None),
        };
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Some(Self {
                        file,
                        path: path.to_owned(),
                        content,
                    }));
                }
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if content.owner_lives() => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
            }
            // The owner is dead, and its trial was told so by the kernel: it is cleaning up.
            if began.elapsed() > ORPHAN_PATIENCE {
                let Some(trial) = content.trial else {
                    return Ok(None);
                };
                fslab_sys::signal_group(trial, GroupSignal::Kill)?;
            }
            if began.elapsed() > 2 * ORPHAN_PATIENCE {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Undoes what the lease names and gives it up. What could not be undone stays in the lease,
    /// for the next attempt. Returns the paths that were there.
    pub(crate) fn undo(self) -> Result<Vec<PathBuf>, Failure> {
        let mut undone = Vec::new();
        let belongings = &self.content.belongings;
        if let Some(mount_point) = &belongings.mount_point {
            undo_mount(mount_point, &mut undone)?;
        }
        if let Some(image) = &belongings.image {
            let detached = fslab_sys::detach_loop_of(image).map_err(|error| {
                let text = format!("cannot detach the loop device of {}", image.display());
                Failure::new(FailureKind::Device, text).because(&error)
            })?;
            undone.extend(detached);
            remove(image, fs::remove_file(image), &mut undone)?;
        }
        if let Some(scratch) = &belongings.scratch {
            remove(scratch, fs::remove_dir_all(scratch), &mut undone)?;
        }
        if let Some(folder) = &belongings.work_folder {
            remove(folder, fs::remove_dir(folder), &mut undone)?;
        }
        fs::remove_file(&self.path).map_err(|error| {
            let text = format!("cannot remove the lease {}", self.path.display());
            Failure::new(FailureKind::Device, text).because(&error)
        })?;
        drop(self.file);
        Ok(undone)
    }
}

impl LeaseFile {
    fn owner_lives(&self) -> bool {
        self.owner_start.is_some() && fslab_sys::process_start_ticks(self.owner) == self.owner_start
    }
}

fn undo_mount(mount_point: &Path, undone: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let text = format!("cannot unmount {}", mount_point.display());
        Failure::new(FailureKind::Unmount, text).because(&error)
    };
    let mounted = fslab_sys::mounts().map_err(failed)?;
    for _ in mounted
        .iter()
        .filter(|mount| mount.mount_point == mount_point)
    {
        fslab_sys::unmount_lazily(mount_point).map_err(failed)?;
        undone.push(mount_point.to_owned());
    }
    remove(mount_point, fs::remove_dir(mount_point), undone)
}

/// A path that is not there is no failure: it was not made yet, or is undone already.
fn remove(path: &Path, result: io::Result<()>, undone: &mut Vec<PathBuf>) -> Result<(), Failure> {
    match result {
        Ok(()) => {
            if undone.last().is_none_or(|last| last != path) {
                undone.push(path.to_owned());
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::new(
            FailureKind::Device,
            format!("cannot remove {}", path.display()),
        )
        .because(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leased_scratch(folder: &Path) -> (Leases, Belongings) {
        let scratch = folder.join("scratch");
        fs::create_dir(&scratch).expect("scratch");
        fs::write(scratch.join("file"), "x").expect("file");
        let leases = Leases::below(&folder.join("state"));
        (
            leases,
            Belongings {
                scratch: Some(scratch),
                ..Belongings::default()
            },
        )
    }

    #[test]
    fn what_is_leased_is_undone_and_the_lease_is_gone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, belongings) = leased_scratch(folder.path());
        let scratch = belongings.scratch.clone().expect("set above");
        let lease = leases.take("t", belongings).expect("a lease");
        let undone = lease.undo().expect("undone");
        assert_eq!(undone, std::slice::from_ref(&scratch));
        assert!(!scratch.exists());
        assert_eq!(fs::read_dir(&leases.0).expect("the folder").count(), 0);
    }

    #[test]
    fn the_lease_of_a_living_owner_is_left_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, belongings) = leased_scratch(folder.path());
        let scratch = belongings.scratch.clone().expect("set above");
        let _held = leases.take("t", belongings).expect("a lease");
        assert!(leases.reclaim().expect("listed").undone.is_empty());
        assert!(scratch.exists());
    }

    #[test]
    fn the_lease_of_a_dead_owner_is_undone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, belongings) = leased_scratch(folder.path());
        let scratch = belongings.scratch.clone().expect("set above");
        drop(leases.take("t", belongings).expect("a lease"));
        let reclaimed = leases.reclaim().expect("listed");
        assert_eq!(reclaimed.undone, [scratch]);
        assert!(reclaimed.failures.is_empty());
        assert!(leases.reclaim().expect("listed").undone.is_empty());
    }

    #[test]
    fn a_lease_cut_off_in_its_first_write_is_removed() {
        let folder = tempfile::tempdir().expect("a directory");
        let leases = Leases::below(folder.path());
        fs::create_dir_all(&leases.0).expect("the folder");
        fs::write(leases.0.join("t.json"), "{\"form").expect("half a lease");
        assert!(leases.reclaim().expect("listed").undone.is_empty());
        assert!(!leases.0.join("t.json").exists());
    }

    #[test]
    fn a_folder_that_is_not_empty_is_not_removed_and_said_so() {
        let folder = tempfile::tempdir().expect("a directory");
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("work");
        fs::write(work.join("precious"), "x").expect("a file of somebody's");
        let leases = Leases::below(folder.path());
        let belongings = Belongings {
            work_folder: Some(work.clone()),
            ..Belongings::default()
        };
        drop(leases.take("t", belongings).expect("a lease"));
        assert_eq!(leases.reclaim().expect("listed").failures.len(), 1);
        assert!(work.join("precious").exists());
    }
}
