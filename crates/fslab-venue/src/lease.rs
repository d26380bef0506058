//! Leases: what a trial mounts, attaches and creates, recorded before it is done.
//!
//! A lease is a small file below the user's state directory. Its first line lists a trial's
//! resources; the file is complete before it gets its name, and the line is never changed. A second
//! line, added later, names the trial's process. The owner holds a lock on the file, and so do the
//! trial's process and its children, by inheritance: a lease that can be locked has no owner, and
//! its resources may be undone.
//!
//! Invariant: a lease is acted on only if no one but this user and root can have written it;
//! [`crate::undo`] limits what it may name.
//!
//! A lease names the machine, boot and PID namespace in which it was written.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fslab_model::{Failure, FailureKind};
use fslab_sys::{ProcessIdentity, TimeLimit, TrustedFolder};
use serde::{Deserialize, Serialize};

use super::leased_resources::LeasedResources;
use crate::orphans::{kill_orphans, kill_trial};
use crate::time_limit::{bounded_by, limit_of};
use crate::undo::{self, Undone};

/// The newest readable format; format 1 had no mark.
const LEASE_FORMAT: u32 = 2;
/// Time for an orphaned trial to clean up before it is killed.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(20);

/// The first line of a lease.
#[derive(Serialize, Deserialize)]
struct LeaseRecord {
    format: u32,
    owner: ProcessIdentity,
    #[serde(rename = "whereabouts")]
    host: HostIdentity,
    #[serde(rename = "belongings")]
    resources: LeasedResources,
}

/// The directory of this user's leases.
#[derive(Clone, Debug)]
pub struct Leases(PathBuf);

/// A lease held by this process.
pub(crate) struct Lease {
    file: File,
    folder: TrustedFolder,
    /// File name without its extension.
    name: String,
    record: LeaseRecord,
}

/// Result of `reclaim`.
#[derive(Debug, Default)]
pub struct Reclaimed {
    /// Paths that were unmounted, detached or removed.
    pub undone: Vec<PathBuf>,
    /// Why resources are left.
    pub failures: Vec<Failure>,
}

impl Leases {
    /// The leases below `state_folder`.
    pub fn below(state_folder: &Path) -> Self {
        Self(state_folder.join("leases"))
    }

    /// Checks that leases can be written, by writing an empty one.
    pub(crate) fn ensure_writable(&self) -> Result<(), Failure> {
        let random = fslab_sys::random_name().map_err(|error| no_random_name(&error))?;
        self.take(&format!("probe-{random}"), LeasedResources::default())?
            .undo()
            .map(drop)
    }

    /// Writes a lease and locks it.
    pub(crate) fn take(&self, name: &str, resources: LeasedResources) -> Result<Lease, Failure> {
        let mark = fslab_sys::random_name().map_err(|error| no_random_name(&error))?;
        let record = LeaseRecord {
            format: LEASE_FORMAT,
            owner: ProcessIdentity::of(std::process::id()),
            host: HostIdentity::here(),
            resources: LeasedResources {
                mark: Some(mark),
                ..resources
            },
        };
        let written = TrustedFolder::open_or_make(&self.0).and_then(|folder| {
            let file = write_lease(&folder, name, &record)?;
            Ok((folder, file))
        });
        let (folder, file) = written.map_err(|error| {
            let kind = match error.kind() {
                io::ErrorKind::StorageFull => FailureKind::NoSpace,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    FailureKind::Permission
                }
                _ => FailureKind::Device,
            };
            let path = self.0.join(file_name(name));
            Failure::at(kind, "write the lease", &path, &error).hint(
                "fslab records below XDG_STATE_HOME, by default ~/.local/state, what it mounts; \
                 the directory must not be writable by other users",
            )
        })?;
        Ok(Lease {
            file,
            folder,
            name: name.to_owned(),
            record,
        })
    }

    /// Undoes the leases of dead runs. Those of running ones are kept.
    pub fn reclaim(&self) -> io::Result<Reclaimed> {
        let mut reclaimed = Reclaimed::default();
        let folder = match TrustedFolder::open(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(reclaimed),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let text = format!("cannot use the leases in {}", self.0.display());
                let failure = Failure::new(FailureKind::Permission, text).because(&error);
                let hint = "to run as another user, set HOME or XDG_STATE_HOME to a directory of \
                            that user";
                reclaimed.failures.push(failure.hint(hint));
                return Ok(reclaimed);
            }
            folder => folder?,
        };
        for name in folder.names()? {
            let name = Path::new(&name);
            let stem = name.file_stem().and_then(|stem| stem.to_str());
            match (name.extension().and_then(|end| end.to_str()), stem) {
                (Some("draft"), _) => discard_draft(&folder, name),
                (Some("json"), Some(stem)) => {
                    match Lease::inherit(&self.0, stem).and_then(|lease| match lease {
                        Some(lease) => lease.undo(),
                        None => Ok(Vec::new()),
                    }) {
                        Ok(undone) => reclaimed.undone.extend(undone),
                        Err(failure) => reclaimed.failures.push(failure),
                    }
                }
                _ => {}
            }
        }
        Ok(reclaimed)
    }
}

/// File name of the lease `name`.
fn file_name(name: &str) -> String {
    format!("{name}.json")
}

fn no_random_name(error: &io::Error) -> Failure {
    Failure::new(FailureKind::Device, "cannot choose a random name").because(error)
}

/// Writes a lease; it gets its name when it is complete and locked.
fn write_lease(folder: &TrustedFolder, name: &str, record: &LeaseRecord) -> io::Result<File> {
    let draft = format!("{}.draft", fslab_sys::random_name()?);
    let mut file = folder.make_file(&draft)?;
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let named = file
        .lock()
        .and_then(|()| file.write_all(&line))
        .and_then(|()| file.sync_all())
        .and_then(|()| folder.rename(&draft, &file_name(name)));
    if let Err(error) = named {
        let _ = folder.remove(&draft);
        return Err(error);
    }
    Ok(file)
}

/// An unlocked draft is of a run that was killed before it made anything.
fn discard_draft(folder: &TrustedFolder, name: &Path) {
    let Some(name) = name.to_str() else { return };
    let is_dead = folder
        .open_file(name)
        .is_ok_and(|file| file.try_lock().is_ok());
    if is_dead {
        let _ = folder.remove(name);
    }
}

impl Lease {
    pub(crate) fn resources(&self) -> &LeasedResources {
        &self.record.resources
    }

    /// Lets the process of `command` inherit the lock on the lease.
    pub(crate) fn share_with(&self, command: &mut Command) {
        fslab_sys::let_child_inherit(command, &self.file);
    }

    /// The locked file: a process that has it open holds the lease.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Records the trial's process, so that an orphan can be found.
    pub(crate) fn set_trial(&mut self, trial: ProcessIdentity) -> io::Result<()> {
        let mut line = serde_json::to_vec(&trial)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }

    /// Takes over the lease of a dead owner; `None` if the owner lives or the lease is gone.
    fn inherit(leases: &Path, name: &str) -> Result<Option<Self>, Failure> {
        let file_name = file_name(name);
        let path = leases.join(&file_name);
        let unreadable =
            |error: io::Error| Failure::at(FailureKind::Device, "read the lease", &path, &error);
        let folder = TrustedFolder::open(leases).map_err(unreadable)?;
        let mut file = match folder.open_file(&file_name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(unreadable)?,
        };
        let mut text = String::new();
        match file.read_to_string(&mut text) {
            Err(error) if fslab_sys::os::is_locked_elsewhere(&error) => return Ok(None),
            read => drop(read.map_err(unreadable)?),
        }
        let mut lines = text.lines();
        let record = read_record(lines.next().unwrap_or_default(), &path)?;
        // An incomplete second line was cut off by a kill while the process was starting.
        let trial = lines
            .next()
            .and_then(|line| serde_json::from_str(line).ok());
        let held = Held {
            file: &file,
            record: &record,
        };
        if !held.wait_for_lock(trial.as_ref()).map_err(unreadable)? {
            return Ok(None);
        }
        // Another process may have undone it meanwhile.
        if !folder.is_named(&file, &file_name).map_err(unreadable)? {
            return Ok(None);
        }
        Ok(Some(Self {
            file,
            folder,
            name: name.to_owned(),
            record,
        }))
    }

    /// Undoes the lease's resources and removes the lease. If a resource cannot be undone, the
    /// lease is kept for the next attempt. Returns the paths that existed.
    pub(crate) fn undo(self) -> Result<Vec<PathBuf>, Failure> {
        let path = self.folder.path().join(file_name(&self.name));
        let resources = &self.record.resources;
        undo::ensure_own(&self.name, resources).map_err(|what| {
            let text = format!("cannot use the lease {}: {what}", path.display());
            Failure::new(FailureKind::Device, text)
                .hint("check what it names, then remove the lease yourself")
        })?;
        let Undone { paths, failure } = if undo::is_nothing(resources) {
            Undone::default()
        } else {
            self.undo_within_limit()?
        };
        if let Some(failure) = failure {
            return Err(failure);
        }
        match self.folder.remove(&file_name(&self.name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::at(FailureKind::Device, "remove", &path, &error))
            }
            _ => Ok(paths),
        }
    }

    /// Undoes the resources in a process that may be left behind; it holds the lease while it
    /// hangs.
    fn undo_within_limit(&self) -> Result<Undone, Failure> {
        let resources = &self.record.resources;
        let activity = undo::activity_of(resources);
        let limit = TimeLimit {
            activity: &*activity,
            ..limit_of(&self.file, &|| true)
        };
        let what = format!("undo what the lease {} names", self.name);
        bounded_by(&limit, &what, |alive| Ok(undo::undo(resources, alive)))
    }
}

fn read_record(line: &str, path: &Path) -> Result<LeaseRecord, Failure> {
    let refused = |what: &str| {
        let text = format!("cannot use the lease {}: {what}", path.display());
        Failure::new(FailureKind::Device, text)
    };
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|_| refused("it is not readable"))?;
    if value["format"]
        .as_u64()
        .is_none_or(|format| format > u64::from(LEASE_FORMAT))
    {
        return Err(refused("a later fslab wrote it").hint("clean up with that version"));
    }
    let record: LeaseRecord =
        serde_json::from_value(value).map_err(|_| refused("it is not readable"))?;
    if !record.host.is_this_machine() {
        return Err(refused("another machine wrote it").hint("clean up there"));
    }
    Ok(record)
}

/// A lease that another process may hold.
struct Held<'a> {
    file: &'a File,
    record: &'a LeaseRecord,
}

impl Held<'_> {
    /// Waits until no process holds the lease; false if its owner lives.
    fn wait_for_lock(&self, trial: Option<&ProcessIdentity>) -> io::Result<bool> {
        let began = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(true),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {}
            }
            // PIDs are valid only in the system that assigned them.
            if !self.record.host.is_here() || self.record.owner.is_alive() {
                return Ok(false);
            }
            // The owner is dead, and the kernel has signalled its trial, which cleans up or has
            // ended and left helpers.
            match trial {
                Some(trial) if !trial.is_alive() => kill_orphans(trial.pid, self.file),
                Some(trial) if began.elapsed() > ORPHAN_TIMEOUT => kill_trial(trial, self.file),
                _ if began.elapsed() > ORPHAN_TIMEOUT => return Ok(false),
                _ => {}
            }
            if began.elapsed() > 2 * ORPHAN_TIMEOUT {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Identity of the system that assigned a PID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostIdentity {
    /// /etc/machine-id, or the host name if there is none.
    machine: Option<String>,
    /// Changes with every boot.
    boot: Option<String>,
    /// Containers on one kernel have separate PIDs.
    pid_namespace: Option<String>,
}

impl HostIdentity {
    pub(crate) fn here() -> Self {
        let line = |path: &str| {
            let text = std::fs::read_to_string(path).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok();
        Self {
            machine: line("/etc/machine-id").or_else(|| line("/proc/sys/kernel/hostname")),
            boot: line("/proc/sys/kernel/random/boot_id"),
            pid_namespace: namespace.map(|link| link.to_string_lossy().into_owned()),
        }
    }

    /// True if mounts and files made there exist here: the same boot, or the same machine before a
    /// reboot.
    pub(crate) fn is_this_machine(&self) -> bool {
        let here = Self::here();
        self.boot == here.boot || self.machine == here.machine
    }

    /// True if PIDs mean the same processes there and here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Self::here();
        self.boot == here.boot && self.pid_namespace == here.pid_namespace
    }
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::PermissionsExt;
    use std::fs;

    use fslab_sys::WorkFolder;

    use super::*;

    const NAME: &str = "20261121-143205-k3f9-c0r0-1";

    /// The leases in `folder`, with one of a scratch directory that is made as by a trial.
    fn leased_scratch(folder: &Path) -> (Leases, Lease, PathBuf) {
        let scratch = undo::folder_of(NAME, folder);
        let leases = Leases::below(&folder.join("state"));
        let resources = LeasedResources {
            scratch: Some(scratch.clone()),
            ..LeasedResources::default()
        };
        let lease = leases.take(NAME, resources).expect("a lease");
        let mark = lease.resources().mark.as_deref().expect("each has one");
        WorkFolder::make(&scratch, mark).expect("scratch");
        fs::write(scratch.join("file"), "x").expect("file");
        (leases, lease, scratch)
    }

    /// The file of the only lease, and its first line as JSON.
    fn written(leases: &Leases) -> (PathBuf, serde_json::Value) {
        let path = leases.0.join(file_name(NAME));
        let text = fs::read_to_string(&path).expect("the lease");
        let line = text.lines().next().expect("a line");
        (path, serde_json::from_str(line).expect("JSON"))
    }

    /// Asserts that nothing is done and the reason is reported.
    fn expect_refused(leases: &Leases, why: &str) {
        let reclaimed = leases.reclaim().expect("listed");
        assert_eq!(reclaimed.undone, Vec::<PathBuf>::new());
        let said: Vec<_> = reclaimed.failures.iter().map(Failure::to_string).collect();
        assert!(
            said.iter().any(|it| it.contains(why)),
            "no '{why}' in {said:?}"
        );
    }

    #[test]
    fn leased_resources_are_undone_and_the_lease_is_removed() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, lease, scratch) = leased_scratch(folder.path());
        let undone = lease.undo().expect("undone");
        assert_eq!(undone, std::slice::from_ref(&scratch));
        assert!(!scratch.exists());
        assert_eq!(fs::read_dir(&leases.0).expect("the directory").count(), 0);
    }

    #[test]
    fn the_lease_of_a_living_owner_is_left_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, _held, scratch) = leased_scratch(folder.path());
        assert!(leases.reclaim().expect("listed").undone.is_empty());
        assert!(scratch.exists());
    }

    #[test]
    fn the_lease_of_a_dead_owner_is_undone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, lease, scratch) = leased_scratch(folder.path());
        drop(lease);
        let reclaimed = leases.reclaim().expect("listed");
        assert_eq!(reclaimed.undone, [scratch]);
        assert!(reclaimed.failures.is_empty());
        assert!(leases.reclaim().expect("listed").undone.is_empty());
    }

    #[test]
    fn a_draft_of_a_killed_run_is_removed_and_an_unreadable_lease_is_kept_and_reported() {
        let folder = tempfile::tempdir().expect("a directory");
        let leases = Leases::below(folder.path());
        fs::create_dir_all(leases.0.join("odd.json")).expect("a directory of that name");
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
    fn the_lease_of_another_machine_is_left_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, lease, scratch) = leased_scratch(folder.path());
        drop(lease);
        let (path, mut record) = written(&leases);
        record["whereabouts"]["machine"] = "elsewhere".into();
        record["whereabouts"]["boot"] = "another".into();
        fs::write(
            &path,
            format!(
                "{record}
"
            ),
        )
        .expect("written");
        assert_eq!(leases.reclaim().expect("listed").failures.len(), 1);
        assert!(scratch.exists() && path.exists());
    }

    #[test]
    fn a_lease_held_by_an_unrelated_process_kills_none() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, mut lease, _) = leased_scratch(folder.path());
        // The PID was reused: the process start time is not the recorded one.
        let mut line = serde_json::to_value(ProcessIdentity::of(std::process::id())).expect("JSON");
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
    fn a_folder_that_is_not_empty_is_not_removed_and_reported() {
        let folder = tempfile::tempdir().expect("a directory");
        let work = undo::folder_of(NAME, folder.path());
        let leases = Leases::below(folder.path());
        let resources = LeasedResources {
            work_folder: Some(work.clone()),
            ..LeasedResources::default()
        };
        let lease = leases.take(NAME, resources).expect("a lease");
        let mark = lease.resources().mark.as_deref().expect("each has one");
        WorkFolder::make(&work, mark).expect("work");
        fs::write(work.join("precious"), "x").expect("a file of somebody's");
        drop(lease);
        assert_eq!(leases.reclaim().expect("listed").failures.len(), 1);
        assert!(work.join("precious").exists());
    }

    /// Root had removed any directory that a lease named, no matter who had written the lease.
    #[test]
    fn a_lease_of_a_folder_that_no_trial_made_removes_nothing() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, lease, scratch) = leased_scratch(folder.path());
        drop(lease);
        let precious = folder.path().join("precious");
        fs::create_dir(&precious).expect("a directory");
        fs::write(precious.join("file"), "x").expect("a file");
        let (path, record) = written(&leases);
        let forge = |name: &str, value: serde_json::Value| {
            let mut forged = record.clone();
            forged["belongings"] = serde_json::json!({ "mark": record["belongings"]["mark"] });
            forged["belongings"][name] = value;
            fs::write(&path, format!("{forged}\n")).expect("written");
        };
        for name in ["scratch", "work_folder", "mount_point", "image"] {
            forge(name, precious.to_str().into());
            expect_refused(&leases, "cannot use the lease");
            forge(name, precious.join("file").to_str().into());
            expect_refused(&leases, "cannot use the lease");
        }
        assert!(precious.join("file").exists() && scratch.join("file").exists());
        // A directory of the right name without the mark of this lease.
        let other = folder.path().join("other");
        fs::create_dir(&other).expect("a directory");
        let named = undo::folder_of(NAME, &other);
        fs::create_dir(&named).expect("a directory");
        fs::write(named.join("file"), "x").expect("a file");
        forge("scratch", named.to_str().into());
        expect_refused(&leases, "refusing to touch");
        // A symbolic link of the right name to another directory.
        fs::remove_dir_all(&named).expect("removed");
        fslab_sys::os::symlink(&scratch, &named).expect("a link");
        expect_refused(&leases, "cannot open the directory");
        assert!(precious.join("file").exists() && scratch.join("file").exists());
    }

    #[test]
    fn leases_that_others_may_have_written_are_not_acted_on() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, lease, scratch) = leased_scratch(folder.path());
        drop(lease);
        let (path, _) = written(&leases);
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
        };
        set(&path, 0o666);
        expect_refused(&leases, "every user may write to it");
        set(&path, 0o600);
        set(&leases.0, 0o777);
        expect_refused(&leases, "every user may write to it");
        set(&leases.0, 0o700);
        set(&folder.path().join("state"), 0o777);
        expect_refused(&leases, "every user may write to it");
        let refused = leases.ensure_writable().expect_err("not to be trusted");
        assert_eq!(refused.kind, FailureKind::Permission);
        set(&folder.path().join("state"), 0o755);
        let twin = path.with_extension("twin");
        fs::hard_link(&path, &twin).expect("a link");
        expect_refused(&leases, "2 hard links");
        fs::rename(&path, folder.path().join("elsewhere")).expect("moved");
        fs::remove_file(&twin).expect("removed");
        fslab_sys::os::symlink(folder.path().join("elsewhere"), &path).expect("a link");
        expect_refused(&leases, "symbolic link");
        assert!(scratch.join("file").exists());
    }

    #[test]
    fn a_lease_of_the_first_format_is_acted_on_where_its_names_are_those_of_a_trial() {
        let folder = tempfile::tempdir().expect("a directory");
        let (leases, lease, scratch) = leased_scratch(folder.path());
        drop(lease);
        fs::remove_file(scratch.join(".fslab-mark")).expect("it had none");
        let (path, mut record) = written(&leases);
        record["format"] = 1.into();
        record["belongings"] = serde_json::json!({ "scratch": scratch });
        fs::write(&path, format!("{record}\n")).expect("written");
        fs::set_permissions(&scratch, fs::Permissions::from_mode(0o755)).expect("changed");
        expect_refused(&leases, "refusing to touch");
        fs::set_permissions(&scratch, fs::Permissions::from_mode(0o700)).expect("changed");
        let reclaimed = leases.reclaim().expect("listed");
        assert_eq!(reclaimed.undone, [scratch], "{:?}", reclaimed.failures);
    }

    /// After a lazy unmount during a trial, the trial writes into the directory below, which then
    /// could not be removed.
    #[test]
    fn files_below_a_mount_point_are_removed_with_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let work = undo::folder_of(NAME, folder.path());
        let resources = LeasedResources {
            mount_point: Some(work.join("mnt")),
            image: Some(work.join("disk.img")),
            work_folder: Some(work.clone()),
            ..LeasedResources::default()
        };
        let lease = Leases::below(folder.path());
        let lease = lease.take(NAME, resources).expect("a lease");
        let mark = lease.resources().mark.as_deref().expect("each has one");
        WorkFolder::make(&work, mark).expect("work");
        fs::create_dir_all(work.join("mnt/a/b")).expect("folders");
        fs::write(work.join("mnt/a/file"), "x").expect("a file");
        fs::write(work.join("disk.img"), "x").expect("an image");
        lease.undo().expect("undone");
        assert!(!work.exists());
    }

    #[test]
    fn a_rebooted_machine_is_the_same_and_its_processes_are_not() {
        let before = HostIdentity {
            boot: Some("another".into()),
            ..HostIdentity::here()
        };
        assert!(before.is_this_machine() && !before.is_here());
        assert!(HostIdentity::here().is_here());
    }
}
