//! Flags, syncs and settings work or are refused by name.

use fslab_engine::{
    Access, Advice, DataJob, EngineKind, OpenSync, Preparation, StdioTuning, SyncCall, SyncEvery,
    SyncPolicy, UringTuning,
};
use fslab_model::FailureKind;

use crate::scene::{FILE_BYTES, KEEPING, count, scene};

#[test]
fn every_call_that_makes_data_durable_is_issued_or_refused_by_name() {
    for engine in KEEPING {
        for call in [
            SyncCall::Fsync,
            SyncCall::Fdatasync,
            SyncCall::FileRange,
            SyncCall::Msync,
            SyncCall::Barrier,
            SyncCall::Drive,
        ] {
            let scene = scene(*engine);
            let every = SyncEvery {
                operations: 10,
                call,
            };
            let job = DataJob {
                sync: SyncPolicy {
                    every: Some(every),
                    updated: None,
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
                    assert_eq!(error.kind(), FailureKind::Unsupported, "{engine}");
                    match call {
                        SyncCall::Msync => assert_ne!(*engine, EngineKind::Mmap),
                        SyncCall::Barrier | SyncCall::Drive => {
                            assert!(error.to_string().contains("needs macOS"), "{error}");
                        }
                        _ => panic!("{engine} {call:?}: {error}"),
                    }
                }
            }
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
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
                        eprintln!("not checked: this file system refuses {flag}: {error}");
                    }
                }
            }
        }
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
fn buffers_beyond_the_limit_of_locked_memory_are_refused_with_a_hint() {
    let scene = scene(EngineKind::Uring);
    let uring = UringTuning {
        queue_depth: 64,
        batch: 1,
        ..UringTuning::default()
    };
    let job = DataJob {
        uring,
        ..DataJob::write("f", 4 << 20, 4 << 20)
    };
    match scene.run(&job) {
        // A process with CAP_IPC_LOCK has no limit.
        Ok(measured) => assert_eq!(measured.bytes, Some(4 << 20)),
        Err(error) => {
            assert_eq!(error.kind(), FailureKind::Permission, "{error}");
            let hint = fslab_model::Failure::from(error).hint.expect("advice");
            assert!(hint.contains("ulimit -l"), "{hint}");
        }
    }
}
