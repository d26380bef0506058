//! Which faults are built into one kernel: those of different file systems, each of which is looked
//! for in its own alone. A fault of the block layer or of system calls has a kernel for itself.

use std::collections::BTreeSet;

use super::catalogue::Mutant;

/// File systems whose code another one uses: the directory, and that of the other.
const USED_BY: [(&str, &str); 1] = [("jbd2", "ext4")];

/// A fault with the file systems whose code it changes; `None` if it changes other code.
struct Placed<'a> {
    mutant: &'a Mutant,
    areas: Option<BTreeSet<String>>,
}

impl Placed<'_> {
    fn can_share_with(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (&self.areas, &other.areas) else {
            return false;
        };
        let (subjects, other) = (&self.mutant.subjects, &other.mutant.subjects);
        own.is_disjoint(others) && !subjects.iter().any(|it| other.contains(it))
    }
}

/// The faults of each kernel, given with their patches.
pub(crate) fn rounds<'a>(mutants: &[(&'a Mutant, String)]) -> Vec<Vec<&'a Mutant>> {
    let mut rounds: Vec<Vec<Placed>> = Vec::new();
    for (mutant, patch) in mutants {
        let placed = Placed {
            mutant,
            areas: areas(patch),
        };
        let mut open = rounds.iter_mut();
        match open.find(|round| round.iter().all(|it| it.can_share_with(&placed))) {
            Some(round) => round.push(placed),
            None => rounds.push(vec![placed]),
        }
    }
    let mutants = rounds.into_iter();
    mutants
        .map(|round| round.into_iter().map(|it| it.mutant).collect())
        .collect()
}

fn areas(patch: &str) -> Option<BTreeSet<String>> {
    let files = patch.lines().filter_map(|line| line.strip_prefix("+++ b/"));
    let folder = |file: &str| {
        let (folder, _) = file.strip_prefix("fs/")?.split_once('/')?;
        let used_by = USED_BY.iter().find(|(used, _)| *used == folder);
        Some(used_by.map_or(folder, |(_, by)| by).to_owned())
    };
    files.map(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(name: &str, subject: &str) -> Mutant {
        let text = format!(
            "name = '{name}'\nsubjects = ['{subject}']\nfault = 'It.'\nstudy = 'survival'\n\
             breaks = ['fsync']"
        );
        toml::from_str(&text).expect("a fault")
    }

    #[test]
    fn faults_share_a_kernel_if_none_is_in_code_that_the_other_runs() {
        let of = |name: &str, subject: &str, file: &str| {
            (
                mutant(name, subject),
                format!("--- a/{file}\n+++ b/{file}\n"),
            )
        };
        let all = [
            of("a", "xfs", "fs/xfs/xfs_log.c"),
            of("b", "ext3", "fs/jbd2/commit.c"),
            of("c", "ext4", "fs/ext4/fsync.c"),
            of("d", "xfs", "fs/xfs/xfs_aops.c"),
            of("e", "f2fs", "fs/sync.c"),
        ];
        let given: Vec<_> = all.iter().map(|(it, patch)| (it, patch.clone())).collect();
        let names = rounds(&given);
        let names: Vec<Vec<&str>> = names
            .iter()
            .map(|round| round.iter().map(|it| it.name.as_str()).collect())
            .collect();
        assert_eq!(names, [&["a", "b"][..], &["c", "d"], &["e"]]);
    }
}
