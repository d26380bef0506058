//! Workers with shared tickets do exactly as many operations as there are tickets.

use fslab_engine::{Access, Amount, DataJob, EngineKind, Sharing, Workers};

use crate::scene::{ALL, FILE_BYTES, count, scene};

#[test]
fn threads_and_processes_share_one_amount_exactly() {
    for engine in ALL {
        for workers in [Workers::Threads, Workers::Processes] {
            let scene = scene(*engine);
            if *engine != EngineKind::Null {
                scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
            }
            let job = DataJob {
                access: Access::RandomUniform,
                amount: Amount::TotalOperations(1_003),
                threads: 4,
                workers,
                sharing: Sharing::Shared,
                ..DataJob::read("f", FILE_BYTES, 4096)
            };
            let measured = scene.done(&job);
            assert_eq!(measured.operations, 1_003, "{engine} {workers:?}");
            assert_eq!(count(&measured, "read"), 1_003, "{engine} {workers:?}");
            let of_threads: u64 = measured.threads.iter().map(|it| it.operations).sum();
            assert_eq!(of_threads, 1_003, "{engine} {workers:?}");
        }
    }
}

#[test]
fn the_null_engine_deals_a_common_amount_evenly_and_the_same_way_twice() {
    let scene = scene(EngineKind::Null);
    let job = DataJob {
        amount: Amount::TotalOperations(11),
        threads: 3,
        ..DataJob::read("f", FILE_BYTES, 4096)
    };
    let measured = scene.done(&job);
    let shares: Vec<_> = measured.threads.iter().map(|it| it.operations).collect();
    assert_eq!(shares, [4, 4, 3]);
    assert_eq!(scene.done(&job), measured);
}

#[test]
fn a_pool_is_untouched_by_a_ramp_up() {
    let scene = scene(EngineKind::Psync);
    scene.done(&DataJob::write("f", FILE_BYTES, 65_536));
    let job = DataJob {
        ramp_up_ns: 5_000_000,
        amount: Amount::TotalOperations(100),
        threads: 2,
        sharing: Sharing::Shared,
        ..DataJob::read("f", FILE_BYTES, 4096)
    };
    assert_eq!(scene.done(&job).operations, 100);
}
