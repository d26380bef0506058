//! What a dead trial has left running. The kernel ends a trial's process with its conductor, but
//! not what that process had started: a guest kernel has helpers, which then wait for ever.

use std::fs;
use std::path::Path;

use fslab_sys::GroupSignal;

/// Kills what is left of the process group `group`, whose first process is dead: those of its
/// processes that hold `lease` open. A group that was given the number since holds no such file.
pub(crate) fn kill_remains(group: u32, lease: &Path) {
    let holds = members_of(group).any(|pid| has_open(pid, lease));
    if holds {
        // It fails where they have ended meanwhile.
        let _ = fslab_sys::signal_group(group, GroupSignal::Kill);
    }
}

fn members_of(group: u32) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(move |pid| group_of(*pid) == Some(group))
}

fn group_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything: state, parent and group stand behind it.
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(2)?.parse().ok()
}

fn has_open(pid: u32, file: &Path) -> bool {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"));
    let links = entries.into_iter().flatten().flatten();
    links
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| target == file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn start(lease: &Path) -> Child {
        let held = fs::File::open(lease).expect("the lease");
        let mut command = Command::new("sleep");
        command
            .arg("1000")
            .process_group(0)
            .stdin(Stdio::from(held));
        command.spawn().expect("a process")
    }

    #[test]
    fn who_holds_the_lease_is_killed_and_nobody_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, other) = (folder.path().join("a.json"), folder.path().join("b.json"));
        fs::write(&ours, "").expect("written");
        fs::write(&other, "").expect("written");
        let mut helper = start(&ours);
        kill_remains(helper.id(), &other);
        assert!(helper.try_wait().expect("asked").is_none(), "not its lease");
        kill_remains(helper.id(), &ours);
        let status = helper.wait().expect("reaped");
        assert!(!status.success());
    }
}
