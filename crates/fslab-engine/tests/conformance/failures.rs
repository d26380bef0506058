//! Failures are errors of the right kind with every engine.

use std::path::Path;

use fslab_engine::{
    Amount, DataJob, EngineKind, MetadataJob, MetadataOperation, OpenMode, RunContext, StopFlag,
    TreeShape, run_data, run_metadata,
};
use fslab_model::{Failure, FailureKind};

use crate::scene::{ALL, FILE_BYTES, KEEPING, names, scene};

#[test]
fn a_file_that_is_too_short_is_an_error_and_so_is_one_that_is_missing() {
    for engine in KEEPING {
        let scene = scene(*engine);
        let read = DataJob::read("f", FILE_BYTES, 4096);
        let missing = scene.run(&read).expect_err("nothing was written");
        assert_eq!(
            (missing.kind(), missing.errno()),
            (FailureKind::Io, Some(2)),
            "{engine}"
        );
        assert!(names(&missing, &scene.folder.path().join("f")), "{engine}");
        scene.done(&DataJob::write("f", FILE_BYTES / 2, 4096));
        let short = scene.run(&read).expect_err("half of it is missing");
        assert_eq!(short.kind(), FailureKind::Io, "{engine}: {short}");
    }
}

#[test]
fn a_file_that_the_tree_lacks_is_an_error_with_the_parameters_that_must_agree() {
    let scene = scene(EngineKind::Psync);
    let job = |operation, files| MetadataJob::new(operation, TreeShape::flat("t", files, 10));
    let create = job(MetadataOperation::Create, 20);
    run_metadata(&scene.context, &create).expect("made");
    let more = job(MetadataOperation::Stat, 21);
    let failure = Failure::from(run_metadata(&scene.context, &more).expect_err("one is missing"));
    assert_eq!(failure.errno, Some(2));
    let hint = failure.hint.expect("a hint");
    assert!(hint.contains("`files_per_directory`"), "{hint}");
}

#[test]
fn a_full_device_is_an_error_of_that_kind() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full here");
        return;
    }
    for engine in [EngineKind::Psync, EngineKind::Uring, EngineKind::Stdio] {
        let context = RunContext::new(engine, "/dev", 1);
        let job = DataJob {
            open: OpenMode::Existing,
            ..DataJob::write("full", 8192, 4096)
        };
        let error = run_data(&context, &job).expect_err("always full");
        assert_eq!(error.kind(), FailureKind::NoSpace, "{engine}");
        assert_eq!(error.errno(), Some(28), "{engine}");
    }
}

#[test]
fn a_raised_flag_ends_a_job_of_any_engine() {
    for engine in ALL {
        let scene = scene(*engine);
        scene.context.stop.raise();
        let error = scene
            .run(&DataJob::write("f", FILE_BYTES, 4096))
            .expect_err("raised");
        assert_eq!(error.kind(), FailureKind::Interrupted, "{engine}");
    }
    let stop = StopFlag::new();
    let mut context = RunContext::new(EngineKind::Null, "/", 1);
    context.stop = stop.clone();
    let endless = DataJob {
        amount: Amount::Operations(u64::MAX),
        ..DataJob::read("f", 1, 1)
    };
    let running = std::thread::spawn(move || run_data(&context, &endless));
    stop.raise();
    let error = running.join().expect("no panic").expect_err("was stopped");
    assert_eq!(error.kind(), FailureKind::Interrupted);
}

#[test]
fn a_record_that_o_direct_cannot_take_is_bad_input() {
    let scene = scene(EngineKind::Psync);
    scene.done(&DataJob::write("f", FILE_BYTES, 4096));
    let job = DataJob {
        direct: true,
        ..DataJob::read("f", FILE_BYTES, 1000)
    };
    match scene.run(&job) {
        // Some file systems accept any length, or have no O_DIRECT.
        Ok(measured) => assert_eq!(measured.bytes, Some(FILE_BYTES)),
        Err(error) => assert!(
            matches!(
                error.kind(),
                FailureKind::BadInput | FailureKind::Unsupported
            ),
            "{error}"
        ),
    }
}

#[test]
fn an_engine_without_metadata_operations_refuses_them() {
    for engine in [EngineKind::Uring, EngineKind::Mmap, EngineKind::Stdio] {
        let scene = scene(engine);
        let job = MetadataJob::new(MetadataOperation::Create, TreeShape::flat("t", 1, 0));
        let error = run_metadata(&scene.context, &job).expect_err("issues none");
        assert_eq!(error.kind(), FailureKind::Unsupported, "{engine}");
        assert!(error.to_string().contains(engine.as_str()), "{error}");
    }
}
