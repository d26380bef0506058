//! Every place that opens, creates, renames or links a file, with what keeps it from writing where
//! another user points: a new one is a finding until it stands here.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::tree::{File, Tree};

/// What stands in code that writes by name.
const CALLS: [&str; 17] = [
    "File::create(",
    "File::create_new(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::hard_link(",
    ".create(true)",
    ".create_new(true)",
    ".append(true)",
    ".write(true)",
    "OFlags::CREATE",
    "OFlags::WRONLY",
    "OFlags::RDWR",
    "AtomicFile::create_in(",
    "write_atomically(",
    "OutputFolder::create(",
    "OutputFolder::of(",
];

/// Why a place follows no link of another user.
#[derive(Clone, Copy)]
enum Owner {
    /// The functions of fslab-sys that the others call, and what its platforms need.
    Primitive,
    /// The user typed the path, and its links are the user's, as with `>` in a shell.
    Typed,
    /// The user did not type the name: fslab_sys::OutputFolder, or O_EXCL, which follows no link.
    Derived,
    /// In a directory that fslab made or found to be this user's alone: a trial's, a lab's, the
    /// cache.
    Private,
    /// On the file system that is measured, within the fence of its phases.
    Measured,
    /// /proc, /sys and devices; and in a guest.
    Kernel,
    /// Only tests write it.
    Tests,
}

/// Lines that write, by file.
const PLACES: &[(Owner, &[(&str, usize)])] = &[
    (
        Owner::Primitive,
        &[
            ("crates/fslab-sys/src/linux/atomic_file.rs", 6),
            ("crates/fslab-sys/src/linux/call_array.rs", 1),
            ("crates/fslab-sys/src/linux/confinement.rs", 3),
            ("crates/fslab-sys/src/linux/fifo.rs", 1),
            ("crates/fslab-sys/src/linux/loop_device.rs", 4),
            ("crates/fslab-sys/src/linux/layers_above.rs", 2),
            ("crates/fslab-sys/src/linux/mounting.rs", 1),
            ("crates/fslab-sys/src/linux/rare_calls.rs", 2),
            ("crates/fslab-sys/src/linux/names.rs", 2),
            ("crates/fslab-sys/src/linux/output_folder.rs", 3),
            ("crates/fslab-sys/src/linux/space.rs", 2),
            ("crates/fslab-sys/src/linux/time_limit.rs", 1),
            ("crates/fslab-sys/src/linux/trusted_folder.rs", 3),
            ("crates/fslab-sys/src/linux/work_folder.rs", 1),
            ("crates/fslab-sys/src/portable/atomic_file.rs", 6),
            ("crates/fslab-sys/src/portable/output_folder.rs", 2),
            ("crates/fslab-sys/src/portable/write_back.rs", 1),
            ("crates/fslab-sys/src/windows/files.rs", 5),
            ("crates/fslab-sys/src/windows/names.rs", 6),
        ],
    ),
    (
        Owner::Typed,
        &[
            ("crates/fslab-cli/src/commands/crash/replay.rs", 1),
            ("crates/fslab-cli/src/commands/store/args.rs", 1),
            ("crates/fslab-format/src/volume.rs", 2),
            ("crates/fslab-lab/src/archive.rs", 2),
            ("crates/fslab-store/src/connection.rs", 1),
            ("crates/fslab-trace/src/file.rs", 1),
        ],
    ),
    (
        Owner::Derived,
        &[
            ("crates/fslab-cli/src/terminal/output_file.rs", 4),
            ("crates/fslab-run/src/judging/kept_states.rs", 1),
            ("crates/fslab-store/src/place.rs", 1),
            ("crates/fslab-trial/src/shared_directory.rs", 1),
            ("crates/fslab-venue/src/guest/recording.rs", 1),
        ],
    ),
    (
        Owner::Private,
        &[
            ("crates/fslab-lab/src/additions.rs", 1),
            ("crates/fslab-lab/src/build_dir.rs", 1),
            ("crates/fslab-lab/src/builder.rs", 1),
            ("crates/fslab-lab/src/bundle/reading.rs", 1),
            ("crates/fslab-lab/src/cache.rs", 5),
            ("crates/fslab-lab/src/compilation.rs", 2),
            ("crates/fslab-lab/src/kept_objects.rs", 1),
            ("crates/fslab-lab/src/kernel.rs", 1),
            ("crates/fslab-lab/src/lab.rs", 1),
            ("crates/fslab-lab/src/layers/cache.rs", 5),
            ("crates/fslab-lab/src/members.rs", 1),
            ("crates/fslab-lab/src/padded.rs", 1),
            ("crates/fslab-lab/src/pc/boot_file.rs", 2),
            ("crates/fslab-lab/src/pc/build.rs", 6),
            ("crates/fslab-lab/src/pc/debian_kernel.rs", 2),
            ("crates/fslab-lab/src/pc/driver.rs", 1),
            ("crates/fslab-lab/src/source/apt.rs", 1),
            ("crates/fslab-lab/src/stored.rs", 1),
            ("crates/fslab-programs/src/compile/steps.rs", 1),
            ("crates/fslab-programs/src/web/server.rs", 1),
            ("crates/fslab-venue/src/guest/boot.rs", 4),
            ("crates/fslab-venue/src/guest/pc/snapshot/kept.rs", 1),
            ("crates/fslab-venue/src/guest/pc/table.rs", 1),
            ("crates/fslab-venue/src/guest/pc_files.rs", 1),
            ("crates/fslab-venue/src/guest/pc_start.rs", 1),
            ("crates/fslab-venue/src/judging/plan_file.rs", 1),
            ("crates/fslab-venue/src/guest/share.rs", 3),
            ("crates/fslab-venue/src/judging/boot.rs", 2),
            ("crates/fslab-venue/src/judging/files.rs", 1),
        ],
    ),
    (
        Owner::Measured,
        &[
            ("crates/fslab-conformance/src/executor.rs", 3),
            ("crates/fslab-conformance/src/filling.rs", 2),
            ("crates/fslab-conformance/src/facts/job.rs", 1),
            ("crates/fslab-conformance/src/facts/names.rs", 3),
            ("crates/fslab-conformance/src/facts/sheet.rs", 2),
            ("crates/fslab-conformance/src/facts/space.rs", 2),
            ("crates/fslab-conformance/src/facts/syncs.rs", 5),
            ("crates/fslab-conformance/src/facts/times.rs", 1),
            ("crates/fslab-conformance/src/semantics.rs", 14),
            ("crates/fslab-conformance/src/step_player.rs", 4),
            ("crates/fslab-conformance/src/survey.rs", 7),
            ("crates/fslab-conformance/src/survey_names.rs", 1),
            ("crates/fslab-conformance/src/writer.rs", 2),
            ("crates/fslab-programs/src/applications/database.rs", 1),
            ("crates/fslab-programs/src/applications/flows.rs", 1),
            ("crates/fslab-programs/src/git/steps.rs", 2),
            ("crates/fslab-programs/src/web/publish.rs", 1),
            ("crates/fslab-replay/src/setup.rs", 1),
            ("crates/fslab-trial/src/aging_fileset.rs", 2),
            ("crates/fslab-trial/src/judging/faulty_run.rs", 1),
            ("crates/fslab-trial/src/judging/tree.rs", 1),
        ],
    ),
    (
        Owner::Kernel,
        &[
            ("crates/fslab-trial/src/judging/states.rs", 1),
            ("crates/fslab-trial/src/dirty_limit.rs", 1),
            ("crates/fslab-trial/src/host.rs", 1),
            ("crates/fslab-programs/src/md_array.rs", 1),
            ("crates/fslab-trial/src/network_server.rs", 4),
            ("crates/fslab-trial/src/nfs_server.rs", 4),
            ("crates/fslab-trial/src/start_state.rs", 1),
            ("crates/fslab-venue/src/guest/init.rs", 7),
        ],
    ),
    (Owner::Tests, &[("crates/fslab-cli/src/reference.rs", 1)]),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, PLACES)
}

fn check_with(tree: &Tree, places: &[(Owner, &[(&str, usize)])]) -> Vec<Finding> {
    let places = places.iter().flat_map(|(_, files)| files.iter());
    let mut known: BTreeMap<&str, usize> = places.copied().collect();
    let mut findings = Vec::new();
    for (file, rust) in tree.rust().filter(|(file, _)| is_product(file)) {
        let tests = rust.test_module();
        let is_test =
            |line: usize| tests.is_some_and(|(first, last)| (first..=last).contains(&line));
        let writes = |line: &str| CALLS.iter().any(|call| line.contains(call));
        let lines = rust.code.iter().enumerate();
        let lines: Vec<usize> = lines
            .filter(|(number, line)| !is_test(*number) && writes(line))
            .map(|(number, _)| number + 1)
            .collect();
        let expected = known.remove(file.path.as_str()).unwrap_or(0);
        if lines.len() != expected {
            findings.push(Finding {
                file: file.path.clone(),
                line: lines.last().copied().unwrap_or(1),
                rule: "writes",
                message: format!(
                    "{} lines write by name, and {expected} are known",
                    lines.len()
                ),
                hint: "use fslab_sys::OutputFolder for a name that the user did not type, and \
                       list the place in xtask/src/tidy/writes.rs",
            });
        }
    }
    // Of a small tree of a test no file is missed.
    let has_this = tree
        .files
        .iter()
        .any(|file| file.path.ends_with("tidy/writes.rs"));
    findings.extend(known.into_keys().filter(|_| has_this).map(|path| Finding {
        file: path.to_owned(),
        line: 1,
        rule: "writes",
        message: "no such file writes by name".into(),
        hint: "remove it from the list in xtask/src/tidy/writes.rs",
    }));
    findings
}

/// The sources of what is shipped, without tests and build scripts.
fn is_product(file: &File) -> bool {
    let mut parts = file.path.split('/');
    let is_source = parts.next() == Some("crates") && parts.nth(1) == Some("src");
    is_source && !file.path.contains("/tests/") && !file.path.ends_with("tests.rs")
}

#[cfg(test)]
mod tests {
    use super::super::finding::rules_of;
    use super::*;

    #[test]
    fn a_new_place_that_writes_is_found_and_one_in_a_test_is_not() {
        let path = "crates/fslab-run/src/a.rs";
        let code = "fn f() {\n    std::fs::write(path, text);\n}\n";
        let tree = Tree::of(&[(path, code)]);
        assert_eq!(rules_of(&check_with(&tree, &[])), [("writes", 2)]);
        let known: &[(Owner, &[(&str, usize)])] = &[(Owner::Typed, &[(path, 1)])];
        assert!(check_with(&tree, known).is_empty());
        let twice = format!("{code}{code}");
        let tree = Tree::of(&[(path, &twice)]);
        assert_eq!(rules_of(&check_with(&tree, known)), [("writes", 5)]);
        let test = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert!(check_with(&Tree::of(&[(path, &test)]), &[]).is_empty());
        let comment = "// File::create(path)\nlet text = \"fs::write(\";\n";
        assert!(check_with(&Tree::of(&[(path, comment)]), &[]).is_empty());
    }

    #[test]
    fn every_kind_of_owner_is_in_use() {
        for (owner, files) in PLACES {
            assert!(!files.is_empty(), "{}", *owner as u8);
        }
    }
}
