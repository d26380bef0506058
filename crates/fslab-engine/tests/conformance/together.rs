//! Jobs that run together start together, have separate figures, and fail together.

use std::time::Duration;

use fslab_engine::{
    Access, Amount, DataJob, EngineKind, OpenMode, RecordShare, SyncPolicy, Together, Workers,
    run_data_together,
};
use fslab_model::{Bytes, FailureKind};

use crate::scene::{FILE_BYTES, Scene, count, scene};

fn reader_and_writer(reader: EngineKind, writer: EngineKind, workers: Workers) -> [DataJob; 2] {
    let read = DataJob {
        engine: Some(reader),
        threads: 2,
        workers,
        ..DataJob::read("old", FILE_BYTES, 4096)
    };
    let write = DataJob {
        engine: Some(writer),
        workers,
        sync: SyncPolicy::CLOSING_FSYNC,
        ..DataJob::write("new", FILE_BYTES, 8192)
    };
    [read, write]
}

fn run(scene: &Scene, jobs: &[DataJob]) -> Together {
    run_data_together(&scene.context, jobs).expect("runs")
}

fn old_files(scene: &Scene) {
    scene.done(&DataJob {
        threads: 2,
        ..DataJob::write("old", FILE_BYTES, 65_536)
    });
}

#[test]
fn each_job_has_its_figures_and_all_of_them_add_up() {
    for (reader, writer) in [
        (EngineKind::Psync, EngineKind::Psync),
        (EngineKind::Uring, EngineKind::Stdio),
        (EngineKind::Mmap, EngineKind::Psync),
    ] {
        for workers in [Workers::Threads, Workers::Processes] {
            let scene = scene(EngineKind::Psync);
            old_files(&scene);
            let together = run(&scene, &reader_and_writer(reader, writer, workers));
            let [read, write] = &*together.each else {
                panic!("two jobs")
            };
            assert_eq!(read.bytes, Some(2 * FILE_BYTES), "{reader} {workers:?}");
            assert_eq!(write.bytes, Some(FILE_BYTES), "{writer} {workers:?}");
            assert_eq!((count(read, "write"), count(write, "read")), (0, 0));
            assert_eq!(count(write, "fsync"), 1);
            assert_eq!((read.threads.len(), write.threads.len()), (2, 1));
            let all = &together.all;
            assert_eq!(all.bytes, Some(3 * FILE_BYTES));
            assert_eq!(all.operations, read.operations + write.operations);
            assert_eq!(all.threads[..2], read.threads);
            assert_eq!(all.threads[2..], write.threads);
            assert_eq!(scene.content("new").len() as u64, FILE_BYTES);
        }
    }
}

#[test]
fn jobs_overlap_in_time_and_the_last_one_ends_them() {
    let scene = scene(EngineKind::Psync);
    old_files(&scene);
    let mut jobs = reader_and_writer(EngineKind::Psync, EngineKind::Psync, Workers::Threads);
    let long_ns = Duration::from_millis(40).as_nanos() as u64;
    jobs[0].amount = Amount::TimeNs(long_ns);
    jobs[1].amount = Amount::TimeNs(long_ns / 4);
    let together = run(&scene, &jobs);
    let [read, write] = &*together.each else {
        panic!("two jobs")
    };
    let end_ns = |it: &fslab_engine::Measured| it.start_ns + it.elapsed_ns;
    assert!(write.start_ns < end_ns(read) && read.start_ns < end_ns(write));
    assert!(together.all.elapsed_ns >= long_ns);
    assert_eq!(end_ns(&together.all), end_ns(read).max(end_ns(write)));
    assert_eq!(together.all.start_ns, read.start_ns.min(write.start_ns));
}

#[test]
fn the_failure_of_one_job_ends_the_other() {
    for workers in [Workers::Threads, Workers::Processes] {
        let scene = scene(EngineKind::Psync);
        let mut jobs = reader_and_writer(EngineKind::Psync, EngineKind::Psync, workers);
        jobs[1].amount = Amount::Operations(u64::MAX);
        let error = run_data_together(&scene.context, &jobs).expect_err("nothing to read");
        assert_eq!(error.errno(), Some(2), "{workers:?}: {error}");
    }
}

#[test]
fn jobs_that_cannot_run_together_are_refused() {
    let scene = scene(EngineKind::Psync);
    let refusal = |jobs: &[DataJob]| {
        let error = run_data_together(&scene.context, jobs).expect_err("makes no sense");
        assert_eq!(error.kind(), FailureKind::BadInput);
        error.to_string()
    };
    assert!(refusal(&[]).contains("no job"));
    let null = reader_and_writer(EngineKind::Null, EngineKind::Psync, Workers::Threads);
    assert!(refusal(&null).contains("null engine"));
    let mut mixed = reader_and_writer(EngineKind::Psync, EngineKind::Psync, Workers::Threads);
    mixed[1].workers = Workers::Processes;
    assert!(refusal(&mixed).contains("all have threads or all have processes"));
    assert!(!scene.folder.path().join("new").exists());
}

#[test]
fn jobs_of_the_null_engine_give_the_same_figures_twice() {
    let scene = scene(EngineKind::Null);
    let jobs = reader_and_writer(EngineKind::Null, EngineKind::Null, Workers::Processes);
    assert_eq!(run(&scene, &jobs), run(&scene, &jobs));
    assert!(run(&scene, &jobs).all.cpu.is_none());
}

#[test]
fn a_job_can_start_later_and_end_before_it_has_done_its_amount() {
    let scene = scene(EngineKind::Psync);
    let delay_ns = Duration::from_millis(30).as_nanos() as u64;
    let job = |file: &str, start_delay_ns| DataJob {
        start_delay_ns,
        time_limit_ns: Some(delay_ns),
        amount: Amount::Operations(u64::MAX),
        ..DataJob::write(file, FILE_BYTES, 4096)
    };
    let together = run(&scene, &[job("early", 0), job("late", delay_ns)]);
    let [early, late] = &*together.each else {
        panic!("two jobs")
    };
    assert!(late.start_ns >= early.start_ns + delay_ns * 9 / 10);
    for measured in [early, late] {
        assert!(measured.operations > 0 && measured.elapsed_ns >= delay_ns);
        assert!(
            measured.elapsed_ns < 100 * delay_ns,
            "{}",
            measured.elapsed_ns
        );
    }
}

/// Two jobs read one file in one order: each read met the other's.
#[test]
fn jobs_on_one_file_have_offsets_of_their_own_stream() {
    let scene = scene(EngineKind::Psync);
    let job = |stream| DataJob {
        stream,
        open: OpenMode::Create,
        access: Access::RandomUniform,
        amount: Amount::Operations(1),
        ..DataJob::write("shared", 1 << 20, 4096)
    };
    let written = |stream| {
        scene.done(&DataJob {
            open: OpenMode::Replace,
            ..job(stream)
        });
        scene.content("shared").len()
    };
    let lengths: Vec<_> = (0..8).map(written).collect();
    assert!(lengths.iter().any(|it| *it != lengths[0]), "{lengths:?}");
    assert_eq!(written(3), lengths[3], "the same stream, the same offset");
}

#[test]
fn records_of_several_lengths_move_about_the_bytes_of_the_file() {
    for engine in [EngineKind::Psync, EngineKind::Uring] {
        let scene = scene(engine);
        let share = |bytes, percent| RecordShare {
            bytes: Bytes(bytes),
            percent,
        };
        let measured = scene.done(&DataJob {
            record_split: vec![share(512, 50), share(4096, 50)],
            access: Access::RandomUniform,
            ..DataJob::write("f", 4 << 20, 4096)
        });
        let bytes = measured.bytes.expect("bytes") as f64;
        let ratio = bytes / f64::from(4 << 20);
        assert!((0.9..1.1).contains(&ratio), "{engine}: {ratio}");
        assert_eq!(measured.operations, (4_u64 << 20).div_ceil(2304));
    }
}
