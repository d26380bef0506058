//! File contents do not depend on the engine, and are verified when read.

use std::fs;

use fslab_engine::{
    Access, Amount, DataJob, Direction, EngineKind, MetadataJob, MetadataOperation, OpenMode,
    TreeShape,
};
use fslab_model::{Bytes, FailureKind};

use crate::scene::{FILE_BYTES, KEEPING, count, names, scene};

#[test]
fn contents_do_not_depend_on_engine_or_order() {
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
            (Access::Sequential, 65_536),
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
        assert!(names(&error, &scene.folder.path().join("f")), "{engine}");
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
fn a_mix_reads_and_writes_in_the_requested_share() {
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
fn offsets_and_odd_records_are_kept() {
    for engine in KEEPING {
        let scene = scene(*engine);
        let job = DataJob {
            offset: 12_345,
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

/// A file of one record or of several full records was called corrupt on every sound file system:
/// the read that finds its end returns 0 bytes, and these were compared. Longer files were refused.
#[test]
fn files_of_every_size_around_the_buffer_verify_and_a_changed_byte_is_found() {
    let records = [4096_u64, 8192, 65_536];
    for record in records {
        let edges = (0..=3).map(|count| count * record);
        let around = edges.flat_map(|edge| [edge.saturating_sub(1), edge, edge + 1]);
        let sizes: Vec<u64> = around.chain([100, 4095, 4096, 4097]).collect();
        for bytes in sizes {
            verify_files_of(record, bytes);
        }
    }
}

fn verify_files_of(record_bytes: u64, bytes: u64) {
    let scene = scene(EngineKind::Psync);
    let job = |operation| MetadataJob {
        file_size: bytes.into(),
        record: Bytes(record_bytes),
        ..MetadataJob::new(operation, TreeShape::flat("t", 3, 0))
    };
    let created = scene.done_names(&job(MetadataOperation::Create));
    assert_eq!(created.bytes.unwrap_or(0), 3 * bytes);
    let read = MetadataJob {
        verify: true,
        ..job(MetadataOperation::Read)
    };
    let what = format!("{bytes} bytes, records of {record_bytes}");
    let verified = scene.run_names(&read).expect(&what);
    assert_eq!(verified.bytes.unwrap_or(0), 3 * bytes, "{what}");
    let victim = scene.folder.path().join("t/f00000001");
    let sound = fs::read(&victim).expect("reads");
    let refused = |content: &[u8], wrong: &str| {
        fs::write(&victim, content).expect("writes");
        let error = scene.run_names(&read).expect_err(&what);
        assert_eq!(error.kind(), FailureKind::Corrupt, "{what}");
        assert!(names(&error, &victim), "{what}: {error}");
        assert!(error.to_string().contains(wrong), "{what}: {error}");
    };
    let places = [0, bytes / 2, bytes.saturating_sub(1)];
    for place in places.into_iter().filter(|place| *place < bytes) {
        let mut content = sound.clone();
        content[place as usize] ^= 1;
        refused(&content, &format!("at offset {place}: expected"));
    }
    let longer: Vec<u8> = sound.iter().copied().chain([0]).collect();
    refused(
        &longer,
        &format!("{} bytes where there should be {bytes}", bytes + 1),
    );
    if let Some(shorter) = sound.split_last().map(|(_, rest)| rest) {
        refused(
            shorter,
            &format!("{} bytes where there should be {bytes}", bytes - 1),
        );
    }
}
