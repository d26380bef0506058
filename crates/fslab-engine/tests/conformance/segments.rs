//! A segmented file has the same contents as a single one.

use std::fs;

use fslab_engine::{
    Access, Amount, DataJob, Direction, EngineKind, OpenMode, Sharing, SyncCall, SyncPolicy,
};
use fslab_model::{Bytes, FailureKind};

use crate::scene::{FILE_BYTES, KEEPING, Scene, count, names, scene};

const SEGMENT_BYTES: u64 = 40 * 8192;

fn cutting() -> impl Iterator<Item = EngineKind> {
    let cuts = |engine: &EngineKind| *engine != EngineKind::Uring;
    KEEPING.iter().copied().filter(cuts)
}

fn segmented(job: DataJob) -> DataJob {
    DataJob {
        segment: Some(Bytes(SEGMENT_BYTES)),
        ..job
    }
}

fn joined(scene: &Scene) -> Vec<u8> {
    (0..4)
        .flat_map(|n| scene.content(&format!("f.{n:03}")))
        .collect()
}

#[test]
fn segments_together_equal_the_single_file() {
    let expected = {
        let scene = scene(EngineKind::Psync);
        scene.done(&DataJob::write("f", FILE_BYTES, 8192));
        scene.content("f")
    };
    for engine in cutting() {
        for access in [Access::Sequential, Access::RandomOnce, Access::Reverse] {
            let scene = scene(engine);
            let write = DataJob {
                access,
                sync: SyncPolicy::CLOSING_FSYNC,
                ..segmented(DataJob::write("f", FILE_BYTES, 8192))
            };
            let measured = scene.done(&write);
            assert_eq!(measured.bytes, Some(FILE_BYTES), "{engine}");
            assert_eq!(count(&measured, "fsync"), 1, "{engine}: one closing sync");
            assert!(joined(&scene) == expected, "{engine} {access:?}");
            let entries = fs::read_dir(scene.folder.path()).expect("lists").count();
            assert_eq!(entries, 4, "{engine}: nothing but segments");
            assert_eq!(
                scene.content("f.003").len() as u64,
                FILE_BYTES % SEGMENT_BYTES
            );
            let read = DataJob {
                verify: true,
                access,
                ..segmented(DataJob::read("f", FILE_BYTES, 8192))
            };
            scene.done(&read);
        }
    }
}

#[test]
fn a_flipped_bit_is_found_in_the_segment_that_has_it() {
    let scene = scene(EngineKind::Psync);
    scene.done(&segmented(DataJob::write("f", FILE_BYTES, 8192)));
    let path = scene.folder.path().join("f.002");
    let mut content = fs::read(&path).expect("is there");
    content[5_000] ^= 1;
    fs::write(&path, content).expect("writes");
    let read = DataJob {
        verify: true,
        ..segmented(DataJob::read("f", FILE_BYTES, 8192))
    };
    let error = scene.run(&read).expect_err("a bit was flipped");
    assert_eq!(error.kind(), FailureKind::Corrupt);
    assert!(names(&error, &path), "{error}");
}

#[test]
fn a_segment_that_is_missing_or_short_is_named() {
    for engine in cutting() {
        let scene = scene(engine);
        let read = segmented(DataJob::read("f", FILE_BYTES, 8192));
        scene.done(&segmented(DataJob::write("f", FILE_BYTES, 8192)));
        let path = scene.folder.path().join("f.001");
        let file = fs::File::options().write(true).open(&path).expect("opens");
        file.set_len(100).expect("cuts");
        let short = scene.run(&read).expect_err("is too short");
        assert!(names(&short, &path), "{engine}: {short}");
        fs::remove_file(&path).expect("removes");
        let missing = scene.run(&read).expect_err("is not there");
        assert!(names(&missing, &path), "{engine}: {missing}");
        assert_eq!(missing.errno(), Some(2), "{engine}");
    }
}

#[test]
fn workers_update_shared_segments_and_sync_those_that_they_wrote() {
    for engine in cutting() {
        let scene = scene(engine);
        scene.done(&segmented(DataJob::write("f", FILE_BYTES, 8192)));
        let before = joined(&scene);
        let job = DataJob {
            direction: Direction::ReadUpdate { every: 4 },
            access: Access::RandomUniform,
            amount: Amount::TotalOperations(200),
            threads: 3,
            sharing: Sharing::Shared,
            sync: SyncPolicy {
                updated: Some(SyncCall::Fsync),
                ..SyncPolicy::NONE
            },
            ..segmented(DataJob::read("f", FILE_BYTES, 8192))
        };
        let measured = scene.done(&job);
        let updates = count(&measured, "update");
        assert!((50..=52).contains(&updates), "{engine}: {updates}");
        assert_eq!(count(&measured, "fsync"), updates, "{engine}");
        let after = joined(&scene);
        let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        assert!(
            changed > 0 && changed as u64 <= updates,
            "{engine}: {changed}"
        );
    }
}

#[test]
fn uring_refuses_segments_and_names_an_engine_that_has_them() {
    let scene = scene(EngineKind::Uring);
    let job = DataJob {
        open: OpenMode::Create,
        ..segmented(DataJob::write("f", FILE_BYTES, 8192))
    };
    let error = scene.run(&job).expect_err("no segments");
    assert_eq!(error.kind(), FailureKind::Unsupported);
    assert!(error.to_string().contains("psync"), "{error}");
}
