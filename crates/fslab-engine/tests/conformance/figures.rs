//! Figures are consistent with every engine.

use fslab_engine::{
    Access, Amount, DataJob, Direction, EngineKind, Pace, RunContext, SyncPolicy, run_data,
};

use crate::scene::{ALL, FILE_BYTES, count, scene};

#[test]
fn figures_add_up_for_every_engine() {
    for engine in ALL {
        let scene = scene(*engine);
        let write = DataJob {
            sync: SyncPolicy::CLOSING_FSYNC,
            ..DataJob::write("f", FILE_BYTES, 4096)
        };
        let written = scene.done(&write);
        assert_eq!(count(&written, "fsync"), 1, "{engine}");
        for measured in [written, scene.done(&DataJob::read("f", FILE_BYTES, 4096))] {
            let series = measured.series.as_ref().expect("a series");
            assert_eq!(
                series.operations.iter().sum::<u64>(),
                measured.operations,
                "{engine}"
            );
            assert_eq!(series.bytes.iter().sum::<u64>(), FILE_BYTES, "{engine}");
            assert_eq!(measured.threads.len(), 1, "{engine}");
            assert_eq!(measured.elapsed_ns, measured.last_done_ns, "{engine}");
            assert!(measured.elapsed_ns > 0, "{engine}");
            assert_eq!(
                measured.cpu.is_some(),
                *engine != EngineKind::Null,
                "{engine}"
            );
        }
    }
}

#[test]
fn an_append_and_fsync_loop_records_one_fsync_for_each_write() {
    for engine in ALL {
        let scene = scene(*engine);
        let job = DataJob {
            amount: Amount::Operations(50),
            sync: SyncPolicy::FSYNC_EACH,
            ..DataJob::write("log", 100 * 4096, 4096)
        };
        let measured = scene.done(&job);
        assert_eq!(measured.operations, 50, "{engine}");
        assert_eq!(count(&measured, "write"), 50, "{engine}");
        assert_eq!(count(&measured, "fsync"), 50, "{engine}");
    }
}

#[test]
fn the_null_engine_gives_the_same_figures_for_the_same_seed_and_others_for_another() {
    let job = DataJob {
        access: Access::RandomUniform,
        direction: Direction::Mix { read_percent: 70 },
        threads: 3,
        ..DataJob::write("f", FILE_BYTES, 4096)
    };
    let run = |seed| {
        let context = RunContext::new(EngineKind::Null, "/nonexistent", seed);
        run_data(&context, &job).expect("runs")
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let measured = run(1);
    let reads = count(&measured, "read") * 100 / measured.operations;
    assert!((60..80).contains(&reads), "{reads} % reads");
}

#[test]
fn an_open_loop_keeps_its_rate_and_a_time_limit_its_time() {
    for engine in ALL {
        let scene = scene(*engine);
        scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
        let paced = DataJob {
            pace: Pace::Fixed {
                per_second: 10_000.0,
            },
            amount: Amount::Operations(200),
            ..DataJob::read("f", FILE_BYTES, 4096)
        };
        let median_ns = || {
            let measured = scene.done(&paced);
            // The last of 200 operations is due after 199 intervals of 100 microseconds.
            let elapsed_ns = measured.elapsed_ns;
            assert!(elapsed_ns >= 19_900_000, "{engine}: {elapsed_ns}");
            let latencies = measured.latency("read").expect("reads");
            latencies.percentile_ns(50.0).expect("some")
        };
        // A busy machine delays the reads of some runs; a wrong pace those of all.
        assert!(
            (0..20).any(|_| median_ns() < 1_000_000),
            "{engine}: cached reads wait"
        );
        let timed = DataJob {
            amount: Amount::TimeNs(20_000_000),
            ramp_up_ns: 5_000_000,
            access: Access::Zipf { theta: 0.99 },
            ..DataJob::read("f", FILE_BYTES, 4096)
        };
        let measured = scene.done(&timed);
        assert!(measured.elapsed_ns >= 20_000_000, "{engine}");
        assert!(measured.operations > 0, "{engine}");
        assert_eq!(measured.operations, count(&measured, "read"), "{engine}");
    }
}
