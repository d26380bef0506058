//! An update reads a record, changes one byte, and writes it back.

use fslab_engine::{
    Access, Amount, DataJob, Direction, EngineKind, OpenMode, SyncCall, SyncPolicy,
};
use fslab_model::FailureKind;

use crate::scene::{ALL, FILE_BYTES, KEEPING, count, scene};

const RECORD_BYTES: u64 = 8192;

/// Engines that update and store data.
fn updating() -> impl Iterator<Item = EngineKind> {
    let updates = |engine: &EngineKind| *engine != EngineKind::Uring;
    KEEPING.iter().copied().filter(updates)
}

fn update(record_bytes: u64) -> DataJob {
    DataJob {
        direction: Direction::Update,
        ..DataJob::read("f", FILE_BYTES, record_bytes)
    }
}

/// Number of bytes per record that differ between `before` and `after`.
fn changes(before: &[u8], after: &[u8]) -> Vec<usize> {
    assert_eq!(before.len(), after.len());
    let records = before.chunks(RECORD_BYTES as usize);
    records
        .zip(after.chunks(RECORD_BYTES as usize))
        .map(|(before, after)| before.iter().zip(after).filter(|(a, b)| a != b).count())
        .collect()
}

#[test]
fn an_update_changes_the_same_byte_of_each_record_with_every_engine() {
    let mut expected: Option<Vec<u8>> = None;
    for engine in updating() {
        for access in [Access::Sequential, Access::Reverse, Access::RandomOnce] {
            let scene = scene(engine);
            scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
            let before = scene.content("f");
            let job = DataJob {
                access,
                sync: SyncPolicy::CLOSING_FSYNC,
                ..update(RECORD_BYTES)
            };
            let measured = scene.done(&job);
            let after = scene.content("f");
            let changes = changes(&before, &after);
            assert!(changes.iter().all(|count| *count == 1), "{engine}");
            let records = changes.len() as u64;
            assert_eq!(measured.operations, records, "{engine}");
            assert_eq!(count(&measured, "update"), records, "{engine}");
            assert_eq!(count(&measured, "read") + count(&measured, "write"), 0);
            assert_eq!(measured.bytes, Some(FILE_BYTES), "{engine}: counted once");
            assert_eq!(count(&measured, "fsync"), 1, "{engine}");
            let expected = expected.get_or_insert_with(|| after.clone());
            assert!(*expected == after, "{engine} {access:?}");
        }
    }
}

#[test]
fn a_second_update_changes_the_same_byte_again() {
    let scene = scene(EngineKind::Psync);
    scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
    let first = scene.content("f");
    scene.done(&update(RECORD_BYTES));
    let second = scene.content("f");
    scene.done(&update(RECORD_BYTES));
    let third = scene.content("f");
    for (before, after) in [(&first, &second), (&second, &third), (&first, &third)] {
        assert!(changes(before, after).iter().all(|count| *count == 1));
    }
}

#[test]
fn every_tenth_read_of_each_worker_updates_and_is_made_durable() {
    for engine in updating().chain([EngineKind::Null]) {
        let scene = scene(engine);
        if engine != EngineKind::Null {
            scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
        }
        let job = DataJob {
            direction: Direction::ReadUpdate { every: 10 },
            access: Access::RandomUniform,
            amount: Amount::Operations(25),
            threads: 2,
            sharing: fslab_engine::Sharing::Shared,
            sync: SyncPolicy {
                updated: Some(SyncCall::Fsync),
                ..SyncPolicy::NONE
            },
            ..DataJob::read("f", FILE_BYTES, RECORD_BYTES)
        };
        let measured = scene.done(&job);
        assert_eq!(measured.operations, 50, "{engine}");
        // The first, the eleventh and the twenty-first of each.
        assert_eq!(count(&measured, "update"), 6, "{engine}");
        assert_eq!(count(&measured, "fsync"), 6, "{engine}");
        assert_eq!(count(&measured, "read"), 44, "{engine}");
    }
}

#[test]
fn reading_and_writing_at_the_files_own_position_gives_the_same_bytes() {
    let expected = {
        let scene = scene(EngineKind::Psync);
        scene.done(&DataJob::write("f", FILE_BYTES, RECORD_BYTES));
        scene.done(&update(RECORD_BYTES));
        scene.content("f")
    };
    let scene = scene(EngineKind::Psync);
    let write = DataJob {
        positioned: false,
        access: Access::RandomOnce,
        ..DataJob::write("f", FILE_BYTES, RECORD_BYTES)
    };
    scene.done(&write);
    for access in [Access::Reverse, Access::Strided { stride_records: 5 }] {
        let read = DataJob {
            positioned: false,
            verify: true,
            access,
            ..DataJob::read("f", FILE_BYTES, RECORD_BYTES)
        };
        assert_eq!(scene.done(&read).bytes, Some(FILE_BYTES));
    }
    scene.done(&DataJob {
        positioned: false,
        ..update(RECORD_BYTES)
    });
    assert!(scene.content("f") == expected);
}

#[test]
fn unsupported_jobs_are_refused_before_the_file_is_touched() {
    for engine in ALL {
        let scene = scene(*engine);
        let moving = DataJob {
            positioned: false,
            open: OpenMode::Create,
            ..DataJob::write("f", FILE_BYTES, RECORD_BYTES)
        };
        let has_choice = matches!(engine, EngineKind::Psync | EngineKind::Null);
        match scene.run(&moving) {
            Ok(_) => assert!(has_choice, "{engine}"),
            Err(error) => {
                assert_eq!(error.kind(), FailureKind::Unsupported, "{engine}: {error}");
                assert!(error.to_string().contains(engine.as_str()), "{error}");
                assert!(!has_choice && !scene.folder.path().join("f").exists());
            }
        }
    }
    let scene = scene(EngineKind::Uring);
    let error = scene.run(&update(RECORD_BYTES)).expect_err("no update");
    assert_eq!(error.kind(), FailureKind::Unsupported);
    assert!(error.to_string().contains("psync can"), "{error}");
}

#[test]
fn a_file_that_is_missing_or_too_short_cannot_be_updated() {
    for engine in updating() {
        let scene = scene(engine);
        let missing = scene.run(&update(RECORD_BYTES)).expect_err("is not there");
        assert_eq!(missing.errno(), Some(2), "{engine}");
        if engine != EngineKind::Mmap {
            scene.done(&DataJob::write("f", FILE_BYTES / 2, RECORD_BYTES));
            let short = scene.run(&update(RECORD_BYTES)).expect_err("too short");
            assert!(short.to_string().starts_with("cannot read "), "{engine}");
        }
    }
}
