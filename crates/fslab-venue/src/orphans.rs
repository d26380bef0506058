//! Kills processes left by a dead trial. The kernel ends a trial's process with its conductor, but
//! not that process's children: the helpers of a guest kernel wait forever.
//!
//! Invariant: a process is killed only if it holds the trial's lease open, inherited from the
//! trial, and runs as this user. A PID in a file proves nothing.

use fslab_sys::os::MetadataExt;
use std::fs::{self, File};

use fslab_sys::{ProcessIdentity, ProcessStat, Signal};

/// Kills the processes of the group `group`, whose leader is dead, that hold `lease` open. An
/// unrelated group that reuses the number does not.
pub(crate) fn kill_orphans(group: u32, lease: &File) {
    for pid in members_of(group) {
        let is_meant = || group_of(pid) == Some(group) && is_own(pid) && has_open(pid, lease);
        // Fails for processes that have ended meanwhile.
        let _ = fslab_sys::signal_if(pid, Signal::Kill, is_meant);
    }
}

/// Kills an orphaned trial that still lives, and its children.
pub(crate) fn kill_trial(trial: &ProcessIdentity, lease: &File) {
    if trial.is_alive() && group_of(trial.pid) == Some(trial.pid) {
        kill_orphans(trial.pid, lease);
    }
}

fn members_of(group: u32) -> impl Iterator<Item = u32> {
    fslab_sys::processes()
        .filter(move |it| it.pid != std::process::id() && it.group == group)
        .map(|it| it.pid)
}

fn group_of(pid: u32) -> Option<u32> {
    ProcessStat::of(pid).map(|it| it.group)
}

/// True if the process runs as this user.
fn is_own(pid: u32) -> bool {
    let owner = |pid: &str| fs::metadata(format!("/proc/{pid}/status")).map(|it| it.uid());
    matches!((owner(&pid.to_string()), owner("self")), (Ok(its), Ok(ours)) if its == ours)
}

fn has_open(pid: u32, file: &File) -> bool {
    let Ok(wanted) = file.metadata() else {
        return false;
    };
    let entries = fs::read_dir(format!("/proc/{pid}/fd"));
    let mut links = entries.into_iter().flatten().flatten();
    // Only regular files below the state directory are examined: stat(2) on others may hang.
    links.any(|entry| {
        let is_lease = fs::read_link(entry.path())
            .is_ok_and(|target| target.extension().is_some_and(|end| end == "json"));
        let found = is_lease.then(|| fs::metadata(entry.path()).ok()).flatten();
        found.is_some_and(|it| (it.dev(), it.ino()) == (wanted.dev(), wanted.ino()))
    })
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::CommandExt;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn start(lease: &Path) -> Child {
        let held = File::open(lease).expect("the lease");
        let mut command = Command::new("sleep");
        command
            .arg("1000")
            .process_group(0)
            .stdin(Stdio::from(held));
        command.spawn().expect("a process")
    }

    #[test]
    fn processes_that_hold_the_lease_are_killed_and_no_others() {
        let folder = tempfile::tempdir().expect("a directory");
        let (ours, other) = (folder.path().join("a.json"), folder.path().join("b.json"));
        fs::write(&ours, "").expect("written");
        fs::write(&other, "").expect("written");
        let (our_file, other_file) = (File::open(&ours), File::open(&other));
        let (our_file, other_file) = (our_file.expect("open"), other_file.expect("open"));
        let mut helper = start(&ours);
        kill_orphans(helper.id(), &other_file);
        assert!(helper.try_wait().expect("asked").is_none(), "not its lease");
        kill_orphans(helper.id(), &our_file);
        let status = helper.wait().expect("reaped");
        assert!(!status.success());
    }

    /// A hung trial had been killed by the PID in its lease, even if that had been reused.
    #[test]
    fn a_process_named_by_a_lease_is_killed_only_if_it_holds_that_lease() {
        let folder = tempfile::tempdir().expect("a directory");
        let lease = folder.path().join("a.json");
        fs::write(&lease, "").expect("written");
        let file = File::open(&lease).expect("open");
        let mut stranger = Command::new("sleep")
            .arg("1000")
            .process_group(0)
            .spawn()
            .expect("a process");
        kill_trial(&ProcessIdentity::of(stranger.id()), &file);
        assert!(stranger.try_wait().expect("asked").is_none());
        stranger.kill().expect("ours");
        stranger.wait().expect("reaped");
        let mut trial = start(&lease);
        kill_trial(&ProcessIdentity::of(trial.id()), &file);
        assert!(!trial.wait().expect("reaped").success());
    }
}
