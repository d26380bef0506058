//! The commands that bring a file system back after a power loss: what must run before it mounts,
//! and what repairs it when the check finds errors. Each is the sibling of a checker.

use crate::{CommandLine, FileSystem};

/// The arguments with which a checker repairs without asking; `None` if it cannot.
fn repairing(program: &str) -> Option<&'static [&'static str]> {
    Some(match program {
        "e2fsck" => &["-f", "-y"],
        "xfs_repair" => &[],
        // Without -d it leaves the volume marked dirty, for Windows to check, and ntfs3 does not
        // mount it: ntfsfix(8).
        "ntfsfix" => &["-d"],
        "btrfs" => &["check", "--repair", "--force"],
        "jfs_fsck" => &["-f"],
        "fsck.f2fs" => &["-f", "-y"],
        // A tree that needs more is rebuilt only on request: reiserfsck(8).
        "reiserfsck" => &["--fix-fixable", "--yes", "--quiet"],
        "fsck.fat" => &["-a", "-w"],
        "fsck.exfat" => &["-y"],
        _ => return None,
    })
}

/// The arguments with which a checker replays the journal, where the kernel does not do it at
/// mount.
fn replaying(program: &str) -> Option<&'static [&'static str]> {
    match program {
        // jfs_fsck(8), -a: replays the log, and goes on only if the file system is dirty then.
        "jfs_fsck" => Some(&["-a"]),
        _ => None,
    }
}

impl FileSystem {
    /// The command that repairs `device`; `None` if the catalogue has none.
    pub fn repair_command(&self, device: &str) -> Option<CommandLine> {
        self.sibling_of_check(repairing, device)
    }

    /// The command that must run on `device` after a power loss before it mounts; `None` if the
    /// kernel recovers at mount, or nothing does.
    pub fn recovery_command(&self, device: &str) -> Option<CommandLine> {
        self.sibling_of_check(replaying, device)
    }

    fn sibling_of_check(
        &self,
        arguments: fn(&str) -> Option<&'static [&'static str]>,
        device: &str,
    ) -> Option<CommandLine> {
        let tool = self.check.as_ref()?.tool;
        let words = arguments(tool.program)?.iter().copied().chain([device]);
        Some(CommandLine {
            tool,
            arguments: words.map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::find;

    #[test]
    fn a_repair_never_has_the_words_of_a_check() {
        for entry in crate::all() {
            let Some(line) = entry.repair_command("/dev/x") else {
                continue;
            };
            let is_reading = |it: &String| matches!(&**it, "-n" | "--readonly" | "--dry-run");
            assert!(!line.arguments.iter().any(is_reading), "{}", entry.name);
            assert_eq!(line.arguments.last().map(String::as_str), Some("/dev/x"));
        }
    }

    #[test]
    fn only_jfs_needs_a_program_before_it_mounts() {
        let needs = |name: &str| {
            let entry = find(name).expect("known");
            entry.recovery_command("/dev/x").is_some()
        };
        assert!(needs("jfs") && !needs("ext4") && !needs("xfs"));
    }
}
