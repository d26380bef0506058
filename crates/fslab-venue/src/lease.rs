//! Leases: what a trial has mounted, attached and created, written down before it is done.
//!
//! A lease is a small file below the user's state directory. Its first line says what belongs to a
//! trial; it is complete before the file has its name, and never written again. A second line, once
//! there is one, names the trial's process. The owner holds a lock on the file, and so do the
//! trial's process and whatever that started, by inheritance: a lease that can be locked belongs to
//! nobody any more, and what it names may be undone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fslab_model::{Failure, FailureKind};
use fslab_sys::GroupSignal;
use serde::{Deserialize, Serialize};

use crate::remains::kill_remains;
use crate::whereabouts::{ProcessName, Whereabouts};

/// The latest form of a lease that is understood.
const LEASE_FORMAT: u32 = 1;
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

/// The first line of a lease.
#[derive(Serialize, Deserialize)]
struct Deed {
    format: u32,
    owner: ProcessName,
    whereabouts: Whereabouts,
    belongings: Belongings,
}

/// The folder of all leases of this user.
#[derive(Clone, Debug)]
pub struct Leases(PathBuf);

/// A lease that is held.
pub(crate) struct Lease {
    file: File,
    path: PathBuf,
    deed: Deed,
}

/// What `reclaim` undid, or could not.
#[derive(Debug, Default)]
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

    /// Demands that leases can be written, by writing one of nothing.
    pub(crate) fn demand_writable(&self) -> Result<(), Failure> {
        let name = format!("probe-{}", std::process::id());
        self.take(&name, Belongings::default())?.undo().map(drop)
    }

    /// Writes a lease down and locks it.
    pub(crate) fn take(&self, name: &str, belongings: Belongings) -> Result<Lease, Failure> {
        let path = self.0.join(format!("{name}.json"));
        let deed = Deed {
            format: LEASE_FORMAT,
            owner: ProcessName::of(std::process::id()),
            whereabouts: Whereabouts::here(),
            belongings,
        };
        let file = self.write_down(&path, &deed).map_err(|error| {
            let kind = match error.kind() {
                io::ErrorKind::StorageFull => FailureKind::NoSpace,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    FailureKind::Permission
                }
                _ => FailureKind::Device,
            };
            Failure::new(kind, format!("cannot write the lease {}", path.display()))
                .because(&error)
                .hint("fslab notes what it mounts below XDG_STATE_HOME, or ~/.local/state")
        })?;
        Ok(Lease { file, path, deed })
    }

    /// The lease has its name only when it is complete and locked.
    fn write_down(&self, path: &Path, deed: &Deed) -> io::Result<File> {
        fs::create_dir_all(&self.0)?;
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&draft)?;
        file.lock()?;
        let mut line = serde_json::to_vec(deed)?;
        line.push(b'\n');
        let named = file
            .write_all(&line)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&draft, path));
        if let Err(error) = named {
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        Ok(file)
    }

    /// Undoes what dead runs have left. What belongs to a living one stays.
    ///
    /// # Errors
    /// Where the leases cannot be listed; what cannot be undone is in the answer.
    pub fn reclaim(&self) -> io::Result<Reclaimed> {
        let mut reclaimed = Reclaimed::default();
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(reclaimed),
            entries => entries?,
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("draft") => discard_draft(&path),
                Some("json") => match Lease::inherit(&path).and_then(|lease| match lease {
                    Some(lease) => lease.undo(),
                    None => Ok(Vec::new()),
                }) {
                    Ok(undone) => reclaimed.undone.extend(undone),
                    Err(failure) => reclaimed.failures.push(failure),
                },
                _ => {}
            }
        }
        Ok(reclaimed)
    }
}

/// A draft that nobody holds is of a run that was killed before it made anything.
fn discard_draft(path: &Path) {
    let is_dead = File::open(path).is_ok_and(|file| file.try_lock().is_ok());
    if is_dead {
        let _ = fs::remove_file(path);
    }
}

impl Lease {
    pub(crate) fn belongings(&self) -> &Belongings {
        &self.deed.belongings
    }

    /// Lets what `command` starts hold the lease, too.
    pub(crate) fn share_with(&self, command: &mut Command) {
        fslab_sys::let_child_inherit(command, &self.file);
    }

    /// Notes the trial's process, so that an orphan can be found.
    pub(crate) fn set_trial(&mut self, pid: u32) -> io::Result<()> {
        let mut line = serde_json::to_vec(&ProcessName::of(pid))?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }

    /// Takes over the lease of a dead owner; `None` where the owner lives, or the lease is gone.
    fn inherit(path: &Path) -> Result<Option<Self>, Failure> {
        let unreadable = |error: io::Error| {
            let text = format!("cannot read the lease {}", path.display());
            Failure::new(FailureKind::Device, text).because(&error)
        };
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(unreadable)?,
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(unreadable)?;
        let mut lines = text.lines();
        let deed = read_deed(lines.next().unwrap_or_default(), path)?;
        // Half a second line is one that was cut off by a kill: the process then was only starting.
        let trial = lines
            .next()
            .and_then(|line| serde_json::from_str(line).ok());
        let held = Held {
            file: &file,
            path,
            deed: &deed,
        };
        if !held.wait_for_lock(trial.as_ref()).map_err(unreadable)? {
            return Ok(None);
        }
        // Another may have undone it meanwhile.
        if !fslab_sys::is_named(&file, path).map_err(unreadable)? {
            return Ok(None);
        }
        Ok(Some(Self {
            file,
            path: path.to_owned(),
            deed,
        }))
    }

    /// Undoes what the lease names and gives it up. Where something cannot be undone the lease
    /// stays, for the next attempt. Returns the paths that were there.
    pub(crate) fn undo(self) -> Result<Vec<PathBuf>, Failure> {
        let mut undone = Vec::new();
        let belongings = &self.deed.belongings;
        if let Some(mount_point) = &belongings.mount_point {
            undo_mount(mount_point, &mut undone)?;
        }
        if let Some(image) = &belongings.image {
            let real = fs::canonicalize(image).unwrap_or_else(|_| image.clone());
            let detached = fslab_sys::detach_loop_of(&real).map_err(|error| {
                let text = format!("cannot detach the loop device of {}", image.display());
                Failure::new(FailureKind::Device, text)
                    .because(&error)
                    .hint(
                        "something uses the file system that was on it; `fslab clean` tries again",
                    )
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
        remove(&self.path, fs::remove_file(&self.path), &mut Vec::new())?;
        drop(self.file);
        Ok(undone)
    }
}

fn read_deed(line: &str, path: &Path) -> Result<Deed, Failure> {
    let refused = |what: &str| {
        let text = format!("cannot act on the lease {}: {what}", path.display());
        Failure::new(FailureKind::Device, text)
    };
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|_| refused("it is not readable"))?;
    if value["format"]
        .as_u64()
        .is_none_or(|format| format > u64::from(LEASE_FORMAT))
    {
        return Err(refused("a later fslab wrote it").hint("use that one to clean up"));
    }
    let deed: Deed = serde_json::from_value(value).map_err(|_| refused("it is not readable"))?;
    if !deed.whereabouts.is_this_machine() {
        return Err(refused("it is of another machine").hint("clean up there"));
    }
    Ok(deed)
}

/// A lease that somebody else may hold.
struct Held<'a> {
    file: &'a File,
    path: &'a Path,
    deed: &'a Deed,
}

impl Held<'_> {
    /// Waits until the lease belongs to nobody; false where it belongs to somebody who lives.
    fn wait_for_lock(&self, trial: Option<&ProcessName>) -> io::Result<bool> {
        let began = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(true),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {}
            }
            // Process numbers say something only in the system that gave them.
            if !self.deed.whereabouts.is_here() || self.deed.owner.is_alive() {
                return Ok(false);
            }
            // The owner is dead, and its trial was told so by the kernel: it is cleaning up, or is
            // gone already and has left helpers.
            match trial {
                Some(trial) if !trial.is_alive() => kill_remains(trial.pid, self.path),
                Some(trial) if began.elapsed() > ORPHAN_PATIENCE => {
                    fslab_sys::signal_group(trial.pid, GroupSignal::Kill)?;
                }
                _ if began.elapsed() > ORPHAN_PATIENCE => return Ok(false),
                _ => {}
            }
            if began.elapsed() > 2 * ORPHAN_PATIENCE {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn undo_mount(mount_point: &Path, undone: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let text = format!("cannot unmount {}", mount_point.display());
        Failure::new(FailureKind::Unmount, text).because(&error)
    };
    // The table of mounts knows no symbolic links.
    let real = fs::canonicalize(mount_point).unwrap_or_else(|_| mount_point.to_owned());
    let mounted = fslab_sys::mounts().map_err(failed)?;
    for _ in mounted.iter().filter(|mount| mount.mount_point == real) {
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
    fn a_draft_of_a_killed_run_is_removed_and_what_is_not_understood_is_kept_and_told() {
        let folder = tempfile::tempdir().expect("a directory");
        let leases = Leases::below(folder.path());
        fs::create_dir_all(leases.0.join("odd.json")).expect("a folder of that name");
        fs::write(leases.0.join("a.1.draft"), "{\"form").expect("half a lease");
        fs::write(
            leases.0.join("b.json"),
            "{\"format\":99,\"new\":1}
",
        )
        .expect("of tomorrow");
        fs::write(leases.0.join("c.json"), "").expect("empty");
        let reclaimed = leases.reclaim().expect("listed");
        assert!(reclaimed.undone.is_empty());
        assert_eq!(reclaimed.failures.len(), 3, "{:?}", reclaimed.failures);
        assert!(!leases.0.join("a.1.draft").exists());
        assert!(leases.0.join("b.json").exists() && leases.0.join("c.json").exists());
    }

    #[test]
    fn the_lease_of_another_machine_is_left_to_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, belongings) = leased_scratch(folder.path());
        let scratch = belongings.scratch.clone().expect("set above");
        drop(leases.take("t", belongings).expect("a lease"));
        let path = leases.0.join("t.json");
        let text = fs::read_to_string(&path).expect("the lease");
        let mut deed: serde_json::Value = serde_json::from_str(text.trim()).expect("JSON");
        deed["whereabouts"]["machine"] = "elsewhere".into();
        deed["whereabouts"]["boot"] = "another".into();
        fs::write(
            &path,
            format!(
                "{deed}
"
            ),
        )
        .expect("written");
        assert_eq!(leases.reclaim().expect("listed").failures.len(), 1);
        assert!(scratch.exists() && path.exists());
    }

    #[test]
    fn a_lease_that_is_held_by_a_stranger_kills_nobody() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, belongings) = leased_scratch(folder.path());
        let mut lease = leases.take("t", belongings).expect("a lease");
        // A process number that was given to another since: its start is not the one noted.
        let mut line = serde_json::to_value(ProcessName::of(std::process::id())).expect("JSON");
        line["start_ticks"] = 1.into();
        lease
            .file
            .write_all(
                format!(
                    "{line}
"
                )
                .as_bytes(),
            )
            .expect("written");
        assert!(leases.reclaim().expect("listed").undone.is_empty());
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
