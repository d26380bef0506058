//! Sequences of operations enumerated by their length, each operation followed by a sync. After
//! Mohan et al., "Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing", OSDI
//! 2018.

use crate::script_steps::parent;
use crate::{ScriptStep, plan_of};

/// The longest sequence.
pub const LENGTH_MAX: u32 = 2;

/// What every sequence starts with: two files with data, one of them in a directory, and an empty
/// directory.
const SET_UP: &[&str] = &[
    "create a",
    "append a 8192",
    "mkdir d",
    "create d/b",
    "append d/b 8192",
    "mkdir e",
    "start",
];

const OPERATIONS: &[&str] = &[
    "create c",
    "create d/c",
    "append a 4096",
    "append d/b 512",
    "write a 0 4096",
    "write a 2048 4096",
    "write-sync a 4096 4096",
    "truncate a 4096",
    "truncate a 16384",
    "rename a c",
    "rename a d/c",
    "rename a d/b",
    "link a c",
    "link a d/c",
    "unlink a",
    "unlink d/b",
    "mkdir g",
    "rmdir e",
];

/// What follows an operation.
#[derive(Clone, Copy, Debug)]
enum SyncKind {
    /// fsync(2) of the file.
    File,
    /// fdatasync(2) of the file.
    Data,
    /// fsync(2) of the directories of its names.
    Directory,
    /// Both: what a careful application does.
    FileAndDirectory,
    /// sync(2).
    All,
}

const SYNCS: [SyncKind; 5] = [
    SyncKind::File,
    SyncKind::Data,
    SyncKind::Directory,
    SyncKind::FileAndDirectory,
    SyncKind::All,
];

/// All sequences of `length` operations: each operation at each place, and each kind of sync after
/// all of them. Sequences that cannot be done are left out.
pub(crate) fn sequences(length: u32) -> Vec<Vec<ScriptStep>> {
    let step = |text: &&str| -> ScriptStep { text.parse().expect("a test reads it") };
    let set_up: Vec<ScriptStep> = SET_UP.iter().map(step).collect();
    let operations: Vec<ScriptStep> = OPERATIONS.iter().map(step).collect();
    let mut found: Vec<Vec<ScriptStep>> = SYNCS.map(|_| set_up.clone()).to_vec();
    let mut kinds: Vec<SyncKind> = SYNCS.to_vec();
    for _ in 0..length {
        let mut next = Vec::new();
        let mut next_kinds = Vec::new();
        for (begun, kind) in found.iter().zip(&kinds) {
            for operation in &operations {
                let Some(syncs) = syncs_after(operation, *kind) else {
                    continue;
                };
                let mut steps = begun.clone();
                steps.push(operation.clone());
                steps.extend(syncs);
                if plan_of(&steps).is_ok() {
                    next.push(steps);
                    next_kinds.push(*kind);
                }
            }
        }
        (found, kinds) = (next, next_kinds);
    }
    found
}

/// The syncs of a kind after an operation; `None` if it has nothing that they could sync.
fn syncs_after(operation: &ScriptStep, kind: SyncKind) -> Option<Vec<ScriptStep>> {
    let (file, names): (Option<&String>, Vec<&String>) = match operation {
        ScriptStep::Write(name, ..)
        | ScriptStep::WriteSync(name, ..)
        | ScriptStep::Append(name, _)
        | ScriptStep::Truncate(name, _) => (Some(name), Vec::new()),
        ScriptStep::Create(name) => (Some(name), vec![name]),
        ScriptStep::Rename(from, to) => (Some(to), vec![from, to]),
        ScriptStep::Link(_, to) => (Some(to), vec![to]),
        ScriptStep::Unlink(name) | ScriptStep::Mkdir(name) | ScriptStep::Rmdir(name) => {
            (None, vec![name])
        }
        _ => return None,
    };
    let mut folders: Vec<String> = names.iter().map(|it| parent(it).to_owned()).collect();
    folders.dedup();
    let of_folders = folders.into_iter().map(ScriptStep::Fsync);
    let steps: Vec<ScriptStep> = match kind {
        SyncKind::File => file.cloned().map(ScriptStep::Fsync).into_iter().collect(),
        SyncKind::Data => file
            .cloned()
            .map(ScriptStep::Fdatasync)
            .into_iter()
            .collect(),
        SyncKind::Directory => of_folders.collect(),
        SyncKind::FileAndDirectory if names.is_empty() => return None,
        SyncKind::FileAndDirectory => {
            let file = ScriptStep::Fsync(file?.clone());
            [file].into_iter().chain(of_folders).collect()
        }
        SyncKind::All => vec![ScriptStep::Sync],
    };
    (!steps.is_empty()).then_some(steps)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn texts(steps: &[ScriptStep]) -> Vec<String> {
        let after = steps.iter().skip(SET_UP.len());
        after.map(ToString::to_string).collect()
    }

    #[test]
    fn every_operation_comes_with_every_sync_that_it_can_have() {
        let found = sequences(1);
        let texts: BTreeSet<Vec<String>> = found.iter().map(|it| texts(it)).collect();
        assert_eq!(texts.len(), found.len(), "each once");
        for steps in [
            &["append a 4096", "fdatasync a"][..],
            &["rename a d/b", "fsync .", "fsync d"],
            &["create c", "fsync c", "fsync ."],
            &["unlink d/b", "fsync d"],
            &["mkdir g", "sync"],
        ] {
            assert!(texts.contains(&steps.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()));
        }
        // Data alone has no name to sync, and a removed file cannot be opened.
        assert!(
            !texts
                .iter()
                .any(|it| it[0] == "append a 4096" && it[1] == "fsync .")
        );
        assert!(
            !texts
                .iter()
                .any(|it| it[0] == "unlink a" && it[1] == "fsync a")
        );
    }

    #[test]
    fn two_operations_are_all_pairs_that_can_be_done() {
        let (one, two) = (sequences(1).len(), sequences(2).len());
        assert!(
            two > one * OPERATIONS.len() / 2 && two < one * OPERATIONS.len(),
            "{one} {two}"
        );
        assert!(sequences(2).iter().all(|steps| plan_of(steps).is_ok()));
    }
}
