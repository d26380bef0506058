//! Metadata jobs on real trees, and with the null engine.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fslab_engine::{
    EngineKind, FileSizes, MetadataJob, MetadataOperation, MetadataSync, Names, Order, RunContext,
    Sharing, TreeShape, run_metadata,
};
use fslab_model::{Bytes, FailureKind};

use crate::scene::{count, names, scene};

fn tree() -> TreeShape<'static> {
    TreeShape::flat("t", 110, 20)
}

/// The files below `folder`, relative to it.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).expect("reads") {
            let path = entry.expect("reads").path();
            if path.is_dir() {
                left.push(path);
            } else {
                let below = path.strip_prefix(folder).expect("is below");
                found.insert(below.to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn a_tree_is_created_visited_in_any_order_and_removed() {
    use MetadataOperation as Operation;
    for tree in [
        tree(),
        TreeShape::flat("t", 30, 0),
        TreeShape::full("t", 3, 2, 4).expect("countable"),
    ] {
        let scene = scene(EngineKind::Psync);
        let files = tree.files;
        let job = |operation, order| MetadataJob {
            order,
            ..MetadataJob::new(operation, tree)
        };
        let made = scene.done_names(&job(Operation::Mkdir, Order::Random));
        assert_eq!(made.operations, tree.directories());
        let created = scene.done_names(&job(Operation::Create, Order::Random));
        assert_eq!((created.operations, created.bytes), (files, None));
        assert_eq!(files_below(scene.folder.path()).len() as u64, files);
        for operation in [
            Operation::Open,
            Operation::Stat,
            Operation::Read,
            Operation::Chmod,
            Operation::Chown,
            Operation::Utimens,
            Operation::FsyncFile,
        ] {
            for order in [Order::Sequential, Order::Random, Order::Readdir] {
                let measured = scene.done_names(&job(operation, order));
                assert_eq!(measured.operations, files, "{operation:?} {order:?}");
                assert_eq!(count(&measured, operation.as_str()), files, "{operation:?}");
                let listings = if order == Order::Readdir {
                    tree.directories().max(1)
                } else {
                    0
                };
                assert!(count(&measured, "list") <= listings, "{operation:?}");
            }
        }
        for operation in [Operation::List, Operation::FsyncDirectory] {
            let measured = scene.done_names(&job(operation, Order::Sequential));
            assert_eq!(measured.operations, tree.directories() + 1, "{operation:?}");
        }
        assert_eq!(
            scene
                .done_names(&job(Operation::Unlink, Order::Readdir))
                .operations,
            files
        );
        assert!(files_below(scene.folder.path()).is_empty());
        let removed = scene.done_names(&job(Operation::Rmdir, Order::Random));
        assert_eq!(removed.operations, tree.directories());
        let base = fs::read_dir(scene.folder.path().join("t")).expect("the base stays");
        assert_eq!(base.count(), 0);
    }
}

#[test]
fn files_have_the_requested_sizes_and_contents() {
    let scene = scene(EngineKind::Psync);
    let sizes = FileSizes::Uniform {
        min: 0,
        max: 50_000,
    };
    let create = MetadataJob {
        file_size: sizes.clone(),
        ..MetadataJob::new(MetadataOperation::Create, tree())
    };
    let created = scene.done_names(&create);
    let on_disk: u64 = files_below(scene.folder.path())
        .iter()
        .map(|name| {
            fs::metadata(scene.folder.path().join(name))
                .expect("is there")
                .len()
        })
        .sum();
    assert_eq!(created.bytes, Some(on_disk));
    let read = MetadataJob {
        file_size: sizes,
        verify: true,
        order: Order::Random,
        ..MetadataJob::new(MetadataOperation::Read, tree())
    };
    assert_eq!(scene.done_names(&read).bytes, Some(on_disk));

    let victim = scene.folder.path().join("t/d0003/f00000066");
    let mut content = fs::read(&victim).expect("is there");
    content[100] ^= 1;
    fs::write(&victim, &content).expect("writes");
    let error = scene.run_names(&read).expect_err("a bit was flipped");
    assert_eq!(error.kind(), FailureKind::Corrupt);
    assert!(names(&error, &victim), "{error}");
    assert!(
        error.to_string().contains("at offset 100: expected"),
        "{error}"
    );
    content.pop();
    content[100] ^= 1;
    fs::write(&victim, &content).expect("writes");
    let error = scene.run_names(&read).expect_err("a byte is missing");
    assert_eq!(error.kind(), FailureKind::Corrupt);
}

#[test]
fn links_and_renamed_files_are_found_by_their_names() {
    use MetadataOperation as Operation;
    let scene = scene(EngineKind::Psync);
    let job = |operation| MetadataJob::new(operation, tree());
    scene.done_names(&MetadataJob {
        file_size: 10.into(),
        ..job(Operation::Create)
    });
    for operation in [
        Operation::Link,
        Operation::Symlink,
        Operation::Readlink,
        Operation::Rename,
    ] {
        assert_eq!(
            scene.done_names(&job(operation)).operations,
            110,
            "{operation:?}"
        );
    }
    let names = files_below(scene.folder.path());
    assert_eq!(names.len(), 3 * 110);
    for name in [
        "t/d0001/r00000020",
        "t/d0001/l00000020",
        "t/d0001/s00000020",
    ] {
        assert!(names.contains(name), "{name}");
    }
    let text = fs::read_link(scene.folder.path().join("t/d0001/s00000020")).expect("a link");
    assert_eq!(text, Path::new("f00000020"));
    scene.done_names(&MetadataJob {
        names: Names::Renamed,
        ..job(Operation::Rename)
    });
    for names in [Names::Links, Names::Symlinks, Names::Files] {
        for order in [Order::Readdir, Order::Random] {
            scene.done_names(&MetadataJob {
                names,
                order,
                ..job(Operation::Stat)
            });
        }
        scene.done_names(&MetadataJob {
            names,
            ..job(Operation::Unlink)
        });
    }
    assert!(files_below(scene.folder.path()).is_empty());
}

#[test]
fn attributes_lengths_and_reservations_are_set_or_refused_by_name() {
    use MetadataOperation as Operation;
    let scene = scene(EngineKind::Psync);
    let job = |operation| MetadataJob {
        file_size: 8192.into(),
        ..MetadataJob::new(operation, tree())
    };
    scene.done_names(&job(Operation::Create));
    let truncate = MetadataJob {
        truncated: Bytes(100),
        ..job(Operation::Truncate)
    };
    scene.done_names(&truncate);
    let file = scene.folder.path().join("t/d0000/f00000005");
    assert_eq!(fs::metadata(&file).expect("is there").len(), 100);
    for operation in [
        Operation::Fallocate,
        Operation::SetXattr,
        Operation::GetXattr,
    ] {
        match scene.run_names(&job(operation)) {
            Ok(measured) => assert_eq!(measured.operations, 110, "{operation:?}"),
            Err(error) => {
                assert_eq!(
                    error.kind(),
                    FailureKind::Unsupported,
                    "{operation:?}: {error}"
                );
                eprintln!(
                    "not checked: this file system refuses {}",
                    operation.as_str()
                );
            }
        }
    }
}

#[test]
fn durable_creation_records_its_syncs_separately() {
    let scene = scene(EngineKind::Psync);
    let sync = MetadataSync {
        fsync_file: true,
        fsync_directory: true,
        closing_syncfs: true,
        ..MetadataSync::default()
    };
    let job = MetadataJob {
        sync,
        file_size: 100.into(),
        ..MetadataJob::new(MetadataOperation::Create, TreeShape::flat("t", 12, 5))
    };
    let measured = scene.done_names(&job);
    assert_eq!(measured.operations, 12);
    for (operation, times) in [
        ("create", 12),
        ("fsync", 12),
        ("fsync-directory", 12),
        ("syncfs", 1),
    ] {
        assert_eq!(count(&measured, operation), times, "{operation}");
    }
}

#[test]
fn threads_share_out_the_files_of_a_tree() {
    for sharing in [Sharing::Own, Sharing::Shared] {
        let scene = scene(EngineKind::Psync);
        let job = |operation| MetadataJob {
            threads: 4,
            sharing,
            order: Order::Random,
            ..MetadataJob::new(operation, tree())
        };
        let created = scene.done_names(&job(MetadataOperation::Create));
        assert_eq!((created.operations, created.threads.len()), (110, 4));
        assert_eq!(files_below(scene.folder.path()).len(), 110);
        assert_eq!(
            scene.done_names(&job(MetadataOperation::Unlink)).operations,
            110
        );
        assert!(files_below(scene.folder.path()).is_empty());
    }
}

#[test]
fn a_missing_file_or_one_too_many_is_an_error_that_names_it() {
    let scene = scene(EngineKind::Psync);
    let stat = MetadataJob::new(MetadataOperation::Stat, tree());
    let nothing = scene.run_names(&stat).expect_err("there is no tree");
    assert_eq!(
        (nothing.kind(), nothing.errno()),
        (FailureKind::Io, Some(2))
    );
    scene.done_names(&MetadataJob::new(MetadataOperation::Create, tree()));
    let again = scene.run_names(&MetadataJob::new(MetadataOperation::Create, tree()));
    assert_eq!(again.expect_err("they exist").errno(), Some(17));
    let file = scene.folder.path().join("t/d0005/f00000109");
    fs::remove_file(&file).expect("is there");
    let error = scene.run_names(&stat).expect_err("one is missing");
    let expected = format!("cannot stat {}", file.display());
    assert_eq!(error.to_string(), expected);
    let listed = MetadataJob {
        order: Order::Readdir,
        ..stat
    };
    let error = scene.run_names(&listed).expect_err("one is missing");
    assert_eq!(error.kind(), FailureKind::Corrupt);
    assert!(
        error.to_string().contains("has 9 of the 10 files"),
        "{error}"
    );
}

#[test]
fn the_null_engine_does_every_operation_in_every_order_the_same_way_twice() {
    for operation in MetadataOperation::ALL {
        for order in [Order::Sequential, Order::Random, Order::Readdir] {
            let context = RunContext::new(EngineKind::Null, "/nonexistent", 7);
            let job = MetadataJob {
                order,
                file_size: 5_000.into(),
                ..MetadataJob::new(*operation, tree())
            };
            match (run_metadata(&context, &job), run_metadata(&context, &job)) {
                (Ok(once), Ok(again)) => {
                    assert_eq!(once, again);
                    assert!(once.operations >= 6 && once.elapsed_ns > 0, "{operation:?}");
                }
                (Err(error), Err(_)) => {
                    assert_eq!(error.kind(), FailureKind::BadInput);
                    assert_eq!(order, Order::Readdir);
                }
                _ => panic!("{operation:?} {order:?} differs"),
            }
        }
    }
}

#[test]
fn a_raised_flag_ends_a_metadata_job() {
    let scene = scene(EngineKind::Psync);
    scene.context.stop.raise();
    let job = MetadataJob::new(MetadataOperation::Create, tree());
    let error = scene.run_names(&job).expect_err("raised");
    assert_eq!(error.kind(), FailureKind::Interrupted);
}
