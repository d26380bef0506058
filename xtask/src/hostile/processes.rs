//! The processes of a run, by /proc.

use std::fs;
use std::process::Command;

/// Sends a signal by kill(1); a process that has ended is no error.
pub(super) fn signal(processes: &[u32], signal: &str) -> Result<(), String> {
    let ids = processes.iter().map(u32::to_string);
    let mut kill = Command::new("kill");
    kill.arg(format!("-{signal}")).args(ids);
    let ended = kill.output();
    ended
        .map(drop)
        .map_err(|error| format!("cannot start kill: {error}"))
}

/// `process` and all below it.
pub(super) fn tree(process: u32) -> Vec<u32> {
    let parents = parents();
    let mut tree = vec![process];
    let mut next = 0;
    while let Some(parent) = tree.get(next).copied() {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        let new: Vec<u32> = children.map(|(id, _)| *id).collect();
        tree.extend(new);
        next += 1;
    }
    tree
}

/// Each process with its parent.
fn parents() -> Vec<(u32, u32)> {
    let parent = |id: u32| -> Option<(u32, u32)> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name, in parentheses, may have blanks and parentheses itself.
        let (_, rest) = text.rsplit_once(')')?;
        Some((id, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    ids().into_iter().filter_map(parent).collect()
}

/// Processes whose command line has `text`, zombies excluded.
pub(super) fn with_words(text: &str) -> Vec<u32> {
    let has = |id: &u32| {
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(text)
    };
    ids().into_iter().filter(has).collect()
}

fn ids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let id = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_child_is_in_the_tree_of_this_process_until_it_is_killed() {
        let own = std::process::id();
        let mut child = Command::new("sleep")
            .arg("612.5")
            .spawn()
            .expect("sleep starts");
        assert!(tree(own).contains(&child.id()));
        // spawn() may return before the kernel has the new command line.
        let deadline = Instant::now() + Duration::from_secs(60);
        while !with_words("612.5").contains(&child.id()) {
            assert!(Instant::now() < deadline, "no command line of the child");
            thread::sleep(Duration::from_millis(1));
        }
        signal(&[child.id()], "KILL").expect("kill starts");
        assert!(!child.wait().expect("reaped").success());
        assert!(!with_words("612.5").contains(&child.id()));
    }
}
