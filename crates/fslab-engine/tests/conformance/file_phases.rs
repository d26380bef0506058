//! Features of metadata jobs for the file phases of published studies: names with a random part,
//! several calls per file timed as one, directories made on demand, a tree per process, links,
//! digests, turnover, and complete removal.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use fslab_engine::{
    Digest, DirectoryTiming, EngineKind, FileKind, FileSizes, MetadataJob, MetadataOperation,
    MetadataSync, NameStyle, Order, Refusal, Sharing, TreeShape, Workers,
};
use fslab_model::{Bytes, FailureKind};

use crate::scene::{count, names, scene};

use MetadataOperation as Operation;

/// The files and directories below `folder`, relative to it.
fn everything_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).expect("reads") {
            let entry = entry.expect("reads");
            if entry.file_type().expect("a type").is_dir() {
                left.push(entry.path());
            }
            let path = entry.path();
            let below = path.strip_prefix(folder).expect("is below");
            found.insert(below.to_string_lossy().into_owned());
        }
    }
    found
}

fn job(operation: MetadataOperation, tree: &TreeShape<'_>) -> MetadataJob {
    MetadataJob::new(operation, *tree)
}

#[test]
fn files_with_random_names_are_found_again_in_every_order() {
    let tree = TreeShape::flat("t", 300, 120);
    for name_style in [NameStyle::NumberRandom, NameStyle::RandomNumber] {
        let scene = scene(EngineKind::Psync);
        let styled = |operation, order| MetadataJob {
            name_style,
            order,
            ..job(operation, &tree)
        };
        scene.done_names(&styled(Operation::Create, Order::Sequential));
        let names = everything_below(scene.folder.path());
        assert_eq!(names.len(), 1 + 3 + 300);
        let lengths: BTreeSet<_> = names
            .iter()
            .filter_map(|name| name.strip_prefix("t/d0000/"))
            .map(str::len)
            .collect();
        assert!(lengths.first() >= Some(&7) && lengths.last() <= Some(&19));
        assert!(lengths.len() > 8, "{lengths:?}");
        for order in [Order::Sequential, Order::Random, Order::Readdir] {
            let found = scene.done_names(&styled(Operation::Stat, order));
            assert_eq!(found.operations, 300, "{name_style:?} {order:?}");
        }
        scene.done_names(&MetadataJob {
            remove_directories: true,
            ..styled(Operation::Unlink, Order::Readdir)
        });
        assert!(everything_below(scene.folder.path()).is_empty());
    }
}

#[test]
fn random_names_go_with_files_alone_and_with_numbers_that_fit() {
    let scene = scene(EngineKind::Psync);
    let tree = TreeShape::flat("t", 10, 0);
    let many = TreeShape::flat("t", 10_000_001, 0);
    for (operation, tree) in [
        (Operation::Rename, &tree),
        (Operation::Link, &tree),
        (Operation::Create, &many),
    ] {
        let styled = MetadataJob {
            name_style: NameStyle::RandomNumber,
            ..job(operation, tree)
        };
        let error = scene.run_names(&styled).expect_err("no such names");
        assert_eq!(error.kind(), FailureKind::BadInput, "{error}");
    }
}

#[test]
fn several_calls_on_each_file_are_one_operation_with_the_directories_in_it() {
    let scene = scene(EngineKind::Psync);
    let tree = TreeShape::flat("t", 50, 20);
    let write = MetadataJob {
        then: vec![Operation::Chown, Operation::Chmod],
        file_size: 1000.into(),
        directories: DirectoryTiming::InTime,
        ..job(Operation::Create, &tree)
    };
    let written = scene.done_names(&write);
    assert_eq!((written.operations, written.bytes), (50, Some(50_000)));
    assert_eq!(count(&written, "compound"), 50);
    assert_eq!(written.latencies.len(), 1, "{:?}", written.latencies);
    let mode = |name: &str| {
        let path = scene.folder.path().join(name);
        fs::metadata(path).expect("is there").mode() & 0o777
    };
    assert_eq!(everything_below(scene.folder.path()).len(), 1 + 3 + 50);
    // chmod(2) alternates between two modes; files are created without group permissions.
    let changed = (0..50).filter(|number| {
        let leaf = number / 20;
        mode(&format!("t/d{leaf:04}/f{number:08}")) == 0o640
    });
    assert!((10..40).contains(&changed.count()));

    let again = scene.run_names(&write).expect_err("directories are there");
    assert!(again.to_string().starts_with("cannot mkdir "), "{again}");
    assert_eq!(again.errno(), Some(17));
    let unfit = MetadataJob {
        then: vec![Operation::Unlink],
        ..write
    };
    let error = scene.run_names(&unfit).expect_err("a step that ends it");
    assert_eq!(error.kind(), FailureKind::BadInput, "{error}");
}

#[test]
fn replaced_files_are_new_ones_with_new_contents_in_existing_directories() {
    let scene = scene(EngineKind::Psync);
    let tree = TreeShape::flat("t", 45, 20);
    let sized = |operation| MetadataJob {
        file_size: 5000.into(),
        record: Bytes(8192),
        ..job(operation, &tree)
    };
    scene.done_names(&sized(Operation::Create));
    let victim = scene.folder.path().join("t/d0001/f00000030");
    let held = fs::File::open(&victim).expect("opens");
    let (old, before) = (
        held.metadata().expect("stat"),
        fs::read(&victim).expect("reads"),
    );
    for order in [Order::Readdir, Order::Sequential] {
        let replaced = scene.done_names(&MetadataJob {
            then: vec![Operation::Chown, Operation::Chmod],
            directories: DirectoryTiming::InTime,
            generation: 1,
            order,
            ..sized(Operation::Replace)
        });
        assert_eq!(replaced.operations, 45, "{order:?}");
        assert_eq!(replaced.bytes, Some(45 * 5000), "{order:?}");
        let lists = if order == Order::Readdir { 3 } else { 0 };
        assert_eq!(count(&replaced, "list"), lists, "{order:?}");
    }
    let new = fs::metadata(&victim).expect("is there");
    assert_ne!(
        old.ino(),
        new.ino(),
        "the old one is still open, its number is taken"
    );
    assert!(before != fs::read(&victim).expect("reads"));
    assert_eq!(everything_below(scene.folder.path()).len(), 1 + 3 + 45);
    let verify = |generation| MetadataJob {
        verify: true,
        generation,
        ..sized(Operation::Read)
    };
    scene.done_names(&verify(1));
    let error = scene
        .run_names(&verify(0))
        .expect_err("not the old content");
    assert_eq!(error.kind(), FailureKind::Corrupt, "{error}");
}

#[test]
fn every_process_has_a_separate_tree_in_every_order() {
    for workers in [Workers::Threads, Workers::Processes] {
        let scene = scene(EngineKind::Psync);
        let tree = TreeShape::flat("t", 30, 20);
        let own = |operation, order| MetadataJob {
            base_per_worker: true,
            threads: 3,
            workers,
            order,
            file_size: FileSizes::Uniform { min: 1, max: 5000 },
            record: Bytes(8192),
            ..job(operation, &tree)
        };
        let created = scene.done_names(&own(Operation::Create, Order::Sequential));
        assert_eq!((created.operations, created.threads.len()), (90, 3));
        let base = scene.folder.path().join("t");
        for process in ["p0", "p1", "p2"] {
            assert_eq!(everything_below(&base.join(process)).len(), 2 + 30);
        }
        let content = |process| fs::read(base.join(process).join("d0001/f00000025"));
        let (first, second) = (content("p0").expect("reads"), content("p1").expect("reads"));
        assert_eq!(first.len(), second.len(), "sizes follow from numbers");
        assert!(first != second, "contents do not");
        let verified = scene.done_names(&MetadataJob {
            verify: true,
            ..own(Operation::Read, Order::Readdir)
        });
        assert_eq!((verified.operations, verified.bytes), (90, created.bytes));
        let removed = scene.done_names(&MetadataJob {
            remove_directories: true,
            ..own(Operation::Unlink, Order::Random)
        });
        assert_eq!(count(&removed, "remove-directory"), 3 * 3);
        assert!(everything_below(&base).is_empty());
    }
    let shared = MetadataJob {
        base_per_worker: true,
        sharing: Sharing::Shared,
        ..job(Operation::Create, &TreeShape::flat("t", 30, 20))
    };
    let error = scene(EngineKind::Psync).run_names(&shared);
    assert_eq!(error.expect_err("both").kind(), FailureKind::BadInput);
}

#[test]
fn links_are_created_to_the_first_file_and_lead_to_it_from_any_directory() {
    for (kind, links) in [(FileKind::Link, 40), (FileKind::Symlink, 1)] {
        let scene = scene(EngineKind::Psync);
        let tree = TreeShape::flat("t", 40, 15);
        let styled = |operation| MetadataJob {
            name_style: NameStyle::NumberRandom,
            ..job(operation, &tree)
        };
        let made = scene.done_names(&MetadataJob {
            kind,
            file_size: 100.into(),
            sync: MetadataSync {
                fsync_file: true,
                fsync_directory: true,
                ..MetadataSync::default()
            },
            ..styled(Operation::Create)
        });
        assert_eq!((made.operations, made.bytes), (40, Some(100)));
        assert_eq!(
            (count(&made, "fsync"), count(&made, "fsync-directory")),
            (1, 40)
        );
        let mut inodes = BTreeSet::new();
        for name in everything_below(scene.folder.path()) {
            let status = fs::metadata(scene.folder.path().join(&name)).expect("leads somewhere");
            if status.is_file() {
                assert_eq!((status.nlink(), status.len()), (links, 100), "{name}");
                inodes.insert(status.ino());
            }
        }
        assert_eq!(inodes.len(), 1, "{kind:?}");
        let found = scene.done_names(&MetadataJob {
            order: Order::Readdir,
            ..styled(Operation::Stat)
        });
        assert_eq!(found.operations, 40);
        scene.done_names(&MetadataJob {
            remove_directories: true,
            ..styled(Operation::Unlink)
        });
        assert!(everything_below(scene.folder.path()).is_empty());
    }
}

#[test]
fn syncs_are_part_of_the_operation_on_request() {
    let scene = scene(EngineKind::Psync);
    let tree = TreeShape::flat("t", 12, 5);
    let sync = MetadataSync {
        fsync_file: true,
        fsync_directory: true,
        as_one: true,
        ..MetadataSync::default()
    };
    let measured = scene.done_names(&MetadataJob {
        sync,
        ..job(Operation::Create, &tree)
    });
    assert_eq!(count(&measured, "create"), 12);
    assert_eq!(measured.latencies.len(), 1, "{:?}", measured.latencies);
    let none = MetadataJob {
        sync: MetadataSync {
            as_one: true,
            ..MetadataSync::default()
        },
        ..job(Operation::Create, &tree)
    };
    let error = scene.run_names(&none).expect_err("there are no syncs");
    assert_eq!(error.kind(), FailureKind::BadInput, "{error}");
}

#[test]
fn a_directory_that_can_be_synchronised_leaves_no_note() {
    let scene = scene(EngineKind::Psync);
    let sync = MetadataSync {
        fsync_directory: true,
        directory_refused: Refusal::Note,
        ..MetadataSync::default()
    };
    let measured = scene.done_names(&MetadataJob {
        sync,
        ..job(Operation::Create, &TreeShape::flat("t", 12, 5))
    });
    assert_eq!(measured.notes, Vec::<String>::new());
    assert_eq!(count(&measured, "fsync-directory"), 12);
}

#[test]
fn a_digest_reveals_changed_data_in_files_of_any_length() {
    let scene = scene(EngineKind::Psync);
    let tree = TreeShape::flat("t", 7, 0);
    let sizes = FileSizes::Series(vec![100_000, 4096, 0, 65_536]);
    let sized = |operation| MetadataJob {
        file_size: sizes.clone(),
        record: Bytes(8192),
        ..job(operation, &tree)
    };
    let created = scene.done_names(&sized(Operation::Create));
    assert_eq!(created.bytes, Some(2 * 104_096 + 65_536));
    let hash = MetadataJob {
        digest: Some(Digest::Sha512),
        verify: true,
        ..sized(Operation::Read)
    };
    let hashed = scene.done_names(&hash);
    assert_eq!((hashed.operations, hashed.bytes), (7, created.bytes));
    let victim = scene.folder.path().join("t/f00000004");
    let mut content = fs::read(&victim).expect("is there");
    content[99_999] ^= 1;
    fs::write(&victim, &content).expect("writes");
    let error = scene.run_names(&hash).expect_err("a bit was flipped");
    assert_eq!(error.kind(), FailureKind::Corrupt);
    assert!(names(&error, &victim), "{error}");
    assert!(error.to_string().contains("another SHA-512"), "{error}");
    scene.done_names(&MetadataJob {
        verify: false,
        ..hash.clone()
    });
    let unread = MetadataJob {
        digest: Some(Digest::Sha512),
        ..sized(Operation::Stat)
    };
    let error = scene.run_names(&unread).expect_err("reads nothing");
    assert_eq!(error.kind(), FailureKind::BadInput, "{error}");
}

#[test]
fn a_turnover_keeps_so_many_directories_and_removes_the_oldest_first() {
    for order in [Order::Readdir, Order::Sequential, Order::Random] {
        let scene = scene(EngineKind::Psync);
        let tree = TreeShape::flat("t", 7 * 3, 3);
        let measured = scene.done_names(&MetadataJob {
            file_size: FileSizes::Series(vec![3000, 2000, 1000]),
            kept_directories: 4,
            order,
            ..job(Operation::Turnover, &tree)
        });
        assert_eq!(measured.operations, 7 * 3 + 3 * 3, "{order:?}");
        assert_eq!(measured.bytes, Some(7 * 6000), "{order:?}");
        assert_eq!(count(&measured, "create"), 21, "{order:?}");
        assert_eq!(count(&measured, "unlink"), 9, "{order:?}");
        assert_eq!(count(&measured, "remove-directory"), 3, "{order:?}");
        let left = everything_below(&scene.folder.path().join("t"));
        let directories: Vec<_> = left.iter().filter(|name| !name.contains('/')).collect();
        assert_eq!(directories, ["d0003", "d0004", "d0005", "d0006"]);
        assert_eq!(left.len(), 4 + 4 * 3);
    }
}

#[test]
fn a_failed_turnover_reports_its_round() {
    let scene = scene(EngineKind::Psync);
    let tree = TreeShape::flat("t", 6 * 3, 3);
    fs::create_dir_all(scene.folder.path().join("t/d0005")).expect("makes");
    let error = scene
        .run_names(&job(Operation::Turnover, &tree))
        .expect_err("the last directory is there");
    assert_eq!(error.errno(), Some(17));
    assert!(error.to_string().ends_with("in round 2 of 2"), "{error}");
}

#[test]
fn everything_is_removed_except_lost_and_found_and_targets_of_links() {
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("kept"), "x").expect("writes");
    let scene = scene(EngineKind::Psync);
    let root = scene.folder.path();
    for directory in ["a/b/c", "lost+found/x", "a/lost+found", "empty"] {
        fs::create_dir_all(root.join(directory)).expect("makes");
    }
    for file in [
        "one",
        "a/two",
        "a/b/three",
        "a/b/c/four",
        "lost+found/x/five",
    ] {
        fs::write(root.join(file), "x").expect("writes");
    }
    symlink(outside.path(), root.join("a/leads-out")).expect("a link");
    let job = job(Operation::RemoveAll, &TreeShape::flat(".", 1, 0));
    let measured = scene.done_names(&job);
    assert_eq!(count(&measured, "unlink"), 4 + 1, "files, and the link");
    assert_eq!(count(&measured, "rmdir"), 5, "a, b, c, a/lost+found, empty");
    assert_eq!(measured.operations, 10);
    let left: Vec<_> = everything_below(root).into_iter().collect();
    assert_eq!(left, ["lost+found", "lost+found/x", "lost+found/x/five"]);
    assert!(outside.path().join("kept").exists());
}
