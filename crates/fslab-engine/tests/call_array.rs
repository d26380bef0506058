//! Jobs leave the same files and count the same with system calls one by one and in arrays.
//!
//! A single test, in a separate process: the array is the process's.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fslab_engine::{
    Access, Amount, DataJob, Direction, EngineError, EngineKind, FileSizes, Measured, MetadataJob,
    MetadataOperation, Names, OpenMode, Order, RunContext, SyncCall, SyncEvery, SyncPolicy,
    TreeShape, run_data, run_metadata,
};
use fslab_model::Bytes;

/// A job.
enum Load {
    Data(DataJob),
    Names(MetadataJob),
}

fn data_loads() -> Vec<(&'static str, Load)> {
    let size = 1 << 20;
    let whole = DataJob::write("file", size, 64 << 10);
    let random = DataJob {
        access: Access::RandomUniform,
        amount: Amount::Operations(1000),
        open: OpenMode::Existing,
        generation: 1,
        ..DataJob::write("file", size, 4096)
    };
    let synced = DataJob {
        sync: SyncPolicy {
            every: Some(SyncEvery {
                operations: 70,
                call: SyncCall::Fdatasync,
            }),
            ..SyncPolicy::CLOSING_FSYNC
        },
        record: Bytes(5000),
        generation: 2,
        ..random.clone()
    };
    let mixed = DataJob {
        direction: Direction::Mix { read_percent: 40 },
        ramp_up_ns: 1_000_000,
        generation: 3,
        ..random.clone()
    };
    let updated = DataJob {
        direction: Direction::ReadUpdate { every: 9 },
        access: Access::Sequential,
        amount: Amount::WholeFile,
        generation: 3,
        ..random.clone()
    };
    // What the ramp-up of "mixed" writes depends on how far it comes.
    let again = DataJob {
        generation: 4,
        open: OpenMode::Existing,
        ..whole.clone()
    };
    vec![
        ("write", Load::Data(whole)),
        ("random", Load::Data(random)),
        ("synced", Load::Data(synced)),
        ("mixed", Load::Data(mixed)),
        ("again", Load::Data(again)),
        ("updated", Load::Data(updated)),
    ]
}

fn loads() -> Vec<(&'static str, Load)> {
    let tree = TreeShape::flat("tree", 700, 100);
    let names = |operation| MetadataJob {
        file_size: FileSizes::from(9000),
        record: Bytes(4096),
        ..MetadataJob::new(operation, tree)
    };
    use MetadataOperation as Operation;
    let mut loads = data_loads();
    let operations = [
        ("create", Operation::Create),
        ("stat", Operation::Stat),
        ("open", Operation::Open),
        ("read", Operation::Read),
        ("chmod", Operation::Chmod),
        ("utimens", Operation::Utimens),
        ("link", Operation::Link),
        ("symlink", Operation::Symlink),
        ("rename", Operation::Rename),
    ];
    loads.extend(operations.map(|(name, operation)| (name, Load::Names(names(operation)))));
    let listed = MetadataJob {
        order: Order::Readdir,
        names: Names::Renamed,
        ..names(Operation::Read)
    };
    loads.push(("read in the order of the listing", Load::Names(listed)));
    let shuffled = MetadataJob {
        order: Order::Random,
        names: Names::Renamed,
        ..names(Operation::Unlink)
    };
    loads.push(("unlink", Load::Names(shuffled)));
    loads
}

fn run(load: &Load, root: &Path) -> Result<Measured, EngineError> {
    let context = RunContext::new(EngineKind::Psync, root, 7);
    match load {
        Load::Data(job) => run_data(&context, job),
        Load::Names(job) => run_metadata(&context, job),
    }
}

/// What a job counts.
fn counts(measured: &Measured) -> (u64, Option<u64>, Vec<(String, u64)>) {
    let latencies = measured.latencies.iter();
    let latencies = latencies.map(|it| (it.operation.clone(), it.histogram.count()));
    (measured.operations, measured.bytes, latencies.collect())
}

/// Every name below `folder`, with mode, links and contents.
fn files(folder: &Path, into: &mut BTreeMap<String, (u32, u64, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("listed") {
        let path = entry.expect("listed").path();
        let about = path.symlink_metadata().expect("is there");
        let contents = match about.file_type() {
            kind if kind.is_dir() => {
                files(&path, into);
                Vec::new()
            }
            kind if kind.is_file() => std::fs::read(&path).expect("read"),
            _ => {
                let target = std::fs::read_link(&path).expect("read");
                target.into_os_string().into_encoded_bytes()
            }
        };
        let links = if about.is_dir() { 0 } else { about.nlink() };
        into.insert(
            path.to_string_lossy().into_owned(),
            (about.mode(), links, contents),
        );
    }
}

#[test]
fn figures_and_files_do_not_depend_on_arrays_of_calls() {
    let (single, together) = (tempfile::tempdir(), tempfile::tempdir());
    let (single, together) = (single.expect("a directory"), together.expect("a directory"));
    let one_by_one: Vec<_> = loads()
        .iter()
        .map(|(name, load)| counts(&run(load, single.path()).expect(name)))
        .collect();
    assert_eq!(fslab_sys::call_arrays_made(), 0);
    fslab_sys::use_call_array_without_driver();
    for ((name, load), expected) in loads().iter().zip(one_by_one) {
        let before = fslab_sys::call_arrays_made();
        let measured = run(load, together.path()).expect(name);
        if *name != "mixed" {
            assert_eq!(counts(&measured), expected, "{name}");
        }
        assert_eq!(measured.operations, expected.0, "{name}");
        let arrays = fslab_sys::call_arrays_made() - before;
        assert!(
            (1..=measured.operations / 2 + 2).contains(&arrays),
            "{name}: {arrays} arrays"
        );
    }
    assert_same(single.path(), together.path());
    an_error_is_that_of_the_call(together.path());
}

fn assert_same(single: &Path, together: &Path) {
    let listed = |folder: &Path| {
        let mut all = BTreeMap::new();
        files(folder, &mut all);
        let below = |path: String| path[folder.as_os_str().len()..].to_owned();
        all.into_iter()
            .map(|(path, it)| (below(path), it))
            .collect::<BTreeMap<_, _>>()
    };
    let (single, together) = (listed(single), listed(together));
    assert!(single.keys().eq(together.keys()));
    for (path, expected) in &single {
        assert!(together[path] == *expected, "{path} differs");
    }
}

/// The names exist, are missing, or have no end of the file: the message has file and cause.
fn an_error_is_that_of_the_call(root: &Path) {
    let tree = TreeShape::flat("other", 50, 0);
    let job = |operation| MetadataJob {
        file_size: FileSizes::from(100),
        ..MetadataJob::new(operation, tree)
    };
    let failed = |operation| {
        let error = run(&Load::Names(job(operation)), root).expect_err("fails");
        format!("{error}: {:?}", std::error::Error::source(&error))
    };
    std::fs::create_dir(root.join("other")).expect("made");
    std::fs::write(root.join("other/f00000031"), "").expect("written");
    let text = failed(MetadataOperation::Create);
    assert!(
        text.contains("f00000031") && (text.contains("EEXIST") || text.contains("exists")),
        "{text}"
    );
    assert!(root.join("other/f00000030").exists() && !root.join("other/f00000032").exists());
    // Longer and shorter than expected, the files are read to their end.
    std::fs::write(root.join("other/f00000003"), [0; 9000]).expect("written");
    std::fs::write(root.join("other/f00000004"), [0; 9]).expect("written");
    let tree = TreeShape::flat("other", 31, 0);
    let reading = MetadataJob {
        directory: tree.base.to_owned(),
        files: tree.files,
        ..job(MetadataOperation::Read)
    };
    let measured = run(&Load::Names(reading), root).expect("reads");
    assert_eq!(
        (measured.operations, measured.bytes),
        (31, Some(29 * 100 + 9009))
    );
    let text = failed(MetadataOperation::Unlink);
    assert!(text.contains("f00000032"), "{text}");
    let beyond = DataJob {
        file_size: (1 << 20).into(),
        ..DataJob::read("other/short", 1 << 20, 4096)
    };
    std::fs::write(root.join("other/short"), [0; 10_000]).expect("written");
    let error = run(&Load::Data(beyond), root).expect_err("the file ends");
    assert!(error.to_string().contains("short"), "{error}");
}
