//! Threads and processes share the work of a job, and fail together.

use std::fs;

use fslab_engine::{Access, Amount, DataJob, EngineKind, Sharing, Workers};
use fslab_model::FailureKind;

use crate::scene::{ALL, FILE_BYTES, KEEPING, count, scene};

#[test]
fn threads_write_separate_files_or_cover_one_together() {
    for engine in KEEPING {
        let scene = scene(*engine);
        let own = DataJob {
            threads: 3,
            ..DataJob::write("own", FILE_BYTES, 10_000)
        };
        let measured = scene.done(&own);
        assert_eq!(measured.bytes, Some(3 * FILE_BYTES), "{engine}");
        assert_eq!(measured.threads.len(), 3, "{engine}");
        assert!(measured.first_done_ns <= measured.last_done_ns, "{engine}");
        for name in ["own", "own.1", "own.2"] {
            assert_eq!(scene.content(name).len() as u64, FILE_BYTES, "{engine}");
        }
        assert!(scene.content("own") != scene.content("own.1"), "{engine}");
        let read = DataJob {
            threads: 3,
            verify: true,
            ..DataJob::read("own", FILE_BYTES, 8192)
        };
        scene.done(&read);

        let shared = DataJob {
            threads: 3,
            sharing: Sharing::Shared,
            access: Access::RandomOnce,
            ..DataJob::write("shared", FILE_BYTES, 10_000)
        };
        let measured = scene.done(&shared);
        assert_eq!(measured.bytes, Some(FILE_BYTES), "{engine}");
        let read = DataJob {
            verify: true,
            ..DataJob::read("shared", FILE_BYTES, 4096)
        };
        scene.done(&read);
    }
}

#[test]
fn processes_do_what_threads_do() {
    for engine in ALL {
        let scene = scene(*engine);
        let write = DataJob {
            threads: 3,
            workers: Workers::Processes,
            sharing: Sharing::Shared,
            ..DataJob::write("f", FILE_BYTES, 10_000)
        };
        let measured = scene.done(&write);
        assert_eq!(measured.bytes, Some(FILE_BYTES), "{engine}");
        assert_eq!(measured.threads.len(), 3, "{engine}");
        assert_eq!(measured.operations, count(&measured, "write"), "{engine}");
        assert_eq!(
            measured.cpu.is_some(),
            *engine != EngineKind::Null,
            "{engine}"
        );
        if *engine != EngineKind::Null {
            let read = DataJob {
                verify: true,
                ..DataJob::read("f", FILE_BYTES, 4096)
            };
            scene.done(&read);
        }
    }
}

#[test]
fn the_failure_of_a_process_is_reported_with_its_kind_and_cause() {
    let scene = scene(EngineKind::Psync);
    let read = DataJob {
        threads: 2,
        workers: Workers::Processes,
        ..DataJob::read("missing", FILE_BYTES, 4096)
    };
    let error = scene.run(&read).expect_err("there is no such file");
    assert_eq!((error.kind(), error.errno()), (FailureKind::Io, Some(2)));
    assert!(error.to_string().contains("cannot open"), "{error}");
}

#[test]
fn a_process_that_dies_on_a_mapping_is_an_error() {
    let scene = scene(EngineKind::Mmap);
    scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
    let path = scene.folder.path().join("f");
    let cutting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let file = fs::File::options().write(true).open(path).expect("opens");
        file.set_len(0).expect("truncates");
    });
    let endless = DataJob {
        workers: Workers::Processes,
        amount: Amount::Operations(u64::MAX),
        ..DataJob::read("f", FILE_BYTES, 4096)
    };
    let error = scene.run(&endless).expect_err("its file was cut");
    let cause = std::error::Error::source(&error).expect("a cause");
    assert!(cause.to_string().contains("SIGBUS"), "{cause}");
    cutting.join().expect("no panic");
}

#[test]
fn a_raised_flag_ends_the_processes_of_a_job() {
    let scene = scene(EngineKind::Psync);
    scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
    let stop = scene.context.stop.clone();
    let raising = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        stop.raise();
    });
    let endless = DataJob {
        threads: 2,
        workers: Workers::Processes,
        sharing: Sharing::Shared,
        amount: Amount::Operations(u64::MAX),
        ..DataJob::read("f", FILE_BYTES, 4096)
    };
    let error = scene.run(&endless).expect_err("was stopped");
    assert_eq!(error.kind(), FailureKind::Interrupted, "{error}");
    raising.join().expect("no panic");
}
