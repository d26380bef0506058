//! One suite over every engine: what a job leaves in files, in figures and in errors is the same
//! whoever issues it. The null engine keeps no data, so the tests of data leave it out.

use std::fs;
use std::path::Path;

use fslab_engine::{
    Access, Advice, Amount, DataJob, Direction, EngineError, EngineKind, Measured, MetadataJob,
    MetadataOperation, OpenMode, OpenSync, Pace, Preparation, RunContext, Sharing, StdioTuning,
    StopFlag, SyncCall, SyncEvery, SyncPolicy, TreeShape, UringTuning, Workers, run_data,
    run_metadata,
};
use fslab_model::FailureKind;
use tempfile::TempDir;

/// Engines that keep what is written.
const KEEPING: &[EngineKind] = &[
    EngineKind::Psync,
    EngineKind::Uring,
    EngineKind::Mmap,
    EngineKind::Stdio,
];
/// Every engine.
const ALL: &[EngineKind] = EngineKind::ALL;

const FILE_BYTES: u64 = 1_000_000;

struct Scene {
    folder: TempDir,
    context: RunContext,
}

fn scene(engine: EngineKind) -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let context = RunContext::new(engine, folder.path(), 42);
    Scene { folder, context }
}

impl Scene {
    fn run(&self, job: &DataJob) -> Result<Measured, EngineError> {
        run_data(&self.context, job)
    }

    fn done(&self, job: &DataJob) -> Measured {
        self.run(job).unwrap_or_else(|error| {
            panic!(
                "{}: {error}: {:?}",
                self.context.engine,
                std::error::Error::source(&error)
            )
        })
    }

    fn content(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("the file is there")
    }
}

fn count(measured: &Measured, operation: &str) -> u64 {
    measured
        .latency(operation)
        .map_or(0, fslab_model::LatencyHistogram::count)
}

#[test]
fn what_is_written_is_the_same_whoever_writes_it_in_whatever_order() {
    let expected = {
        let scene = scene(EngineKind::Psync);
        scene.done(&DataJob::write("f", FILE_BYTES, 100_000));
        scene.content("f")
    };
    assert_eq!(expected.len() as u64, FILE_BYTES);
    for engine in KEEPING {
        for (access, record_bytes) in [
            (Access::Sequential, 4096),
            (Access::Reverse, 8192),
            (Access::Strided { stride_records: 7 }, 4096),
            (Access::RandomOnce, 1000),
            (Access::Sequential, 1 << 20),
        ] {
            let scene = scene(*engine);
            let job = DataJob {
                access,
                ..DataJob::write("f", FILE_BYTES, record_bytes)
            };
            let measured = scene.done(&job);
            assert!(scene.content("f") == expected, "{engine} {access:?}");
            let records = FILE_BYTES.div_ceil(record_bytes);
            assert_eq!(measured.operations, records, "{engine} {access:?}");
            assert_eq!(measured.bytes, Some(FILE_BYTES), "{engine} {access:?}");
            assert_eq!(count(&measured, "write"), records, "{engine} {access:?}");
        }
    }
}

#[test]
fn a_verifying_read_accepts_what_was_written_and_names_a_flipped_bit() {
    for engine in KEEPING {
        let scene = scene(*engine);
        scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
        let read = DataJob {
            verify: true,
            ..DataJob::read("f", FILE_BYTES, 4096)
        };
        let measured = scene.done(&read);
        assert_eq!(measured.bytes, Some(FILE_BYTES), "{engine}");
        scene.done(&DataJob {
            access: Access::RandomOnce,
            ..read.clone()
        });

        let mut content = scene.content("f");
        content[777_777] ^= 4;
        fs::write(scene.folder.path().join("f"), content).expect("writes");
        let error = scene.run(&read).expect_err("a bit was flipped");
        assert_eq!(error.kind(), FailureKind::Corrupt, "{engine}");
        assert_eq!(
            error.path(),
            Some(&*scene.folder.path().join("f")),
            "{engine}"
        );
        assert!(
            error.to_string().contains("at offset 777777: expected"),
            "{engine}: {error}"
        );
    }
}

#[test]
fn a_rewrite_of_another_generation_changes_the_content_and_is_verified_as_such() {
    for engine in KEEPING {
        let scene = scene(*engine);
        let write = DataJob::write("f", FILE_BYTES, 65_536);
        scene.done(&write);
        let first = scene.content("f");
        scene.done(&DataJob {
            open: OpenMode::Existing,
            generation: 1,
            ..write
        });
        assert!(scene.content("f") != first, "{engine}");
        let read = DataJob {
            verify: true,
            ..DataJob::read("f", FILE_BYTES, 65_536)
        };
        let stale = scene.run(&read).expect_err("generation 0 is gone");
        assert_eq!(stale.kind(), FailureKind::Corrupt, "{engine}");
        scene.done(&DataJob {
            generation: 1,
            ..read
        });
    }
}

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
        assert!(
            missing.path().is_some_and(|path| path.ends_with("f")),
            "{engine}"
        );
        scene.done(&DataJob::write("f", FILE_BYTES / 2, 4096));
        let short = scene.run(&read).expect_err("half of it is missing");
        assert_eq!(short.kind(), FailureKind::Io, "{engine}: {short}");
    }
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
fn threads_write_files_of_their_own_or_cover_one_together() {
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
        let measured = scene.done(&paced);
        // The last of 200 operations is due after 199 distances of 100 microseconds.
        assert!(
            measured.elapsed_ns >= 19_900_000,
            "{engine}: {}",
            measured.elapsed_ns
        );
        let median_ns = measured
            .latency("read")
            .and_then(|histogram| histogram.percentile_ns(50.0));
        assert!(
            median_ns.is_some_and(|ns| ns < 1_000_000),
            "{engine}: cached reads were left waiting for {median_ns:?} ns"
        );
        let timed = DataJob {
            amount: Amount::TimeNs(20_000_000),
            ramp_up_ns: 5_000_000,
            access: Access::Zipf { theta: 0.99 },
            ..DataJob::read("f", FILE_BYTES, 4096)
        };
        let measured = scene.done(&timed);
        assert!(measured.elapsed_ns >= 20_000_000, "{engine}");
        assert!(measured.operations > 100, "{engine}");
        assert_eq!(measured.operations, count(&measured, "read"), "{engine}");
    }
}

#[test]
fn every_call_that_makes_data_durable_is_issued_or_refused_by_name() {
    for engine in KEEPING {
        for call in [
            SyncCall::Fsync,
            SyncCall::Fdatasync,
            SyncCall::FileRange,
            SyncCall::Msync,
        ] {
            let scene = scene(*engine);
            let every = SyncEvery {
                operations: 10,
                call,
            };
            let job = DataJob {
                sync: SyncPolicy {
                    every: Some(every),
                    closing: Some(call),
                },
                ..DataJob::write("f", 25 * 4096, 4096)
            };
            match scene.run(&job) {
                Ok(measured) => {
                    assert_eq!(count(&measured, call.as_str()), 3, "{engine} {call:?}");
                    assert_eq!(measured.operations, 25, "{engine} {call:?}");
                }
                Err(error) => {
                    assert_eq!(call, SyncCall::Msync, "{engine}: {error}");
                    assert_eq!(error.kind(), FailureKind::Unsupported, "{engine}");
                    assert_ne!(*engine, EngineKind::Mmap);
                }
            }
        }
    }
}

#[test]
fn flags_and_preparations_work_or_are_refused_and_nothing_is_dropped_silently() {
    let plain = DataJob::write("f", 16 * 4096, 4096);
    let jobs = [
        (
            "direct",
            DataJob {
                direct: true,
                ..plain.clone()
            },
        ),
        (
            "sync",
            DataJob {
                open_sync: OpenSync::Full,
                ..plain.clone()
            },
        ),
        (
            "dsync",
            DataJob {
                open_sync: OpenSync::Data,
                ..plain.clone()
            },
        ),
        (
            "truncate",
            DataJob {
                preparation: Preparation::Truncate,
                ..plain.clone()
            },
        ),
        (
            "allocate",
            DataJob {
                preparation: Preparation::Allocate,
                ..plain.clone()
            },
        ),
        (
            "advice",
            DataJob {
                advice: Some(Advice::Random),
                ..plain.clone()
            },
        ),
    ];
    for engine in KEEPING {
        for (flag, job) in &jobs {
            let scene = scene(*engine);
            match scene.run(job) {
                Ok(_) => {
                    let read = DataJob {
                        verify: true,
                        ..DataJob::read("f", 16 * 4096, 4096)
                    };
                    scene.done(&read);
                }
                Err(error) => {
                    let never = match *flag {
                        "direct" => matches!(engine, EngineKind::Mmap | EngineKind::Stdio),
                        "sync" | "dsync" => *engine == EngineKind::Mmap,
                        _ => false,
                    };
                    assert_eq!(
                        error.kind(),
                        FailureKind::Unsupported,
                        "{engine} {flag}: {error}"
                    );
                    if !never {
                        eprintln!("skipped: this file system refuses {flag}: {error}");
                    }
                }
            }
        }
    }
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
        // Some file systems take any length, or have no O_DIRECT at all.
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
fn rings_of_any_depth_and_setting_read_and_write_the_same() {
    let tuning = UringTuning::default();
    let single = UringTuning {
        queue_depth: 1,
        batch: 1,
        ..tuning
    };
    let deep = UringTuning {
        queue_depth: 128,
        batch: 1,
        ..tuning
    };
    let plain = UringTuning {
        registered_buffers: false,
        registered_file: false,
        ..tuning
    };
    let polled = UringTuning {
        submission_poll_ms: Some(10),
        ..tuning
    };
    for uring in [tuning, single, deep, plain, polled] {
        let scene = scene(EngineKind::Uring);
        let write = DataJob {
            uring,
            access: Access::RandomOnce,
            ..DataJob::write("f", FILE_BYTES, 4096)
        };
        scene.done(&write);
        let read = DataJob {
            uring,
            verify: true,
            ..DataJob::read("f", FILE_BYTES, 8192)
        };
        assert_eq!(scene.done(&read).bytes, Some(FILE_BYTES), "{uring:?}");
    }
    for uring in [
        UringTuning {
            queue_depth: 0,
            ..tuning
        },
        UringTuning {
            queue_depth: 8,
            batch: 9,
            ..tuning
        },
        UringTuning {
            queue_depth: 10_000,
            ..tuning
        },
    ] {
        let scene = scene(EngineKind::Uring);
        let error = scene.run(&DataJob {
            uring,
            ..DataJob::write("f", FILE_BYTES, 4096)
        });
        assert_eq!(
            error.expect_err("makes no sense").kind(),
            FailureKind::BadInput,
            "{uring:?}"
        );
    }
}

#[test]
fn streams_work_by_character_and_with_any_buffer() {
    for (buffer_bytes, by_character) in [(0, false), (512, true), (1 << 20, false)] {
        let scene = scene(EngineKind::Stdio);
        let stdio = StdioTuning {
            buffer_bytes,
            by_character,
        };
        let write = DataJob {
            stdio,
            ..DataJob::write("f", 100_000, 8192)
        };
        assert_eq!(scene.done(&write).bytes, Some(100_000));
        let read = DataJob {
            stdio,
            verify: true,
            ..DataJob::read("f", 100_000, 8192)
        };
        scene.done(&read);
    }
}

#[test]
fn a_mix_reads_and_writes_in_the_share_asked_for() {
    for engine in KEEPING {
        let scene = scene(*engine);
        scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
        let mix = DataJob {
            direction: Direction::Mix { read_percent: 30 },
            access: Access::RandomUniform,
            amount: Amount::Operations(2_000),
            open: OpenMode::Existing,
            generation: 1,
            ..DataJob::write("f", FILE_BYTES, 4096)
        };
        let measured = scene.done(&mix);
        let reads = count(&measured, "read");
        assert_eq!(reads + count(&measured, "write"), 2_000, "{engine}");
        assert!((500..700).contains(&reads), "{engine}: {reads}");
        let read = DataJob {
            verify: true,
            generation: 1,
            older_generations: true,
            ..DataJob::read("f", FILE_BYTES, 4096)
        };
        scene.done(&read);
    }
}

#[test]
fn an_engine_without_metadata_operations_says_so() {
    for engine in [EngineKind::Uring, EngineKind::Mmap, EngineKind::Stdio] {
        let scene = scene(engine);
        let job = MetadataJob::new(MetadataOperation::Create, TreeShape::flat("t", 1, 0));
        let error = run_metadata(&scene.context, &job).expect_err("issues none");
        assert_eq!(error.kind(), FailureKind::Unsupported, "{engine}");
        assert!(error.to_string().contains(engine.as_str()), "{error}");
    }
}

#[test]
fn offsets_and_odd_records_are_kept() {
    for engine in KEEPING {
        let scene = scene(*engine);
        let job = DataJob {
            offset_bytes: 12_345,
            access: Access::Reverse,
            ..DataJob::write("f", 10_000, 777)
        };
        assert_eq!(scene.done(&job).bytes, Some(10_000), "{engine}");
        let content = scene.content("f");
        assert_eq!(content.len(), 22_345, "{engine}");
        assert!(content[..12_345].iter().all(|byte| *byte == 0), "{engine}");
        scene.done(&DataJob {
            open: OpenMode::Existing,
            direction: Direction::Read,
            ..job
        });
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
fn the_failure_of_a_process_comes_home_with_its_kind_and_cause() {
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
fn a_process_that_dies_on_a_mapping_is_an_error_and_not_our_death() {
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
