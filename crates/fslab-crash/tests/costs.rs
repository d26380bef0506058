//! What a log costs grows with its requests, whatever its shape, and the states that are chosen do
//! not depend on how they are found.
//!
//! Each moment had a list of the writes that were pending, each state a list of its losses, and
//! each count went over all moments: 20,000 flushes, 83 KB, took 14 s, and 30,000 pending writes
//! past the cache, 164 KB, more than 2 GB.

#[path = "shapes/log_shapes.rs"]
mod shapes;

use std::time::{Duration, Instant};

use fslab_crash::{
    Budget, CrashState, DiskCache, DiskLog, LogLimits, Moments, StateView, States, pieces,
    read_log, read_outline, write_log,
};
use shapes::SHAPES;

/// Requests with which a product takes minutes, and what is near to linear a second.
const MANY: u32 = 60_000;
/// Far more than that takes on a busy machine in a build that is not optimised.
const LIMIT: Duration = Duration::from_secs(40);

fn states_of(log: &DiskLog, cache: DiskCache) -> States {
    let window = log.head.window(None, &log.requests).expect("everything");
    let moments = Moments::of(&log.requests, &[window], &[], cache).expect("one window");
    let budget = Budget {
        states: 200,
        seed: 1,
    };
    States::choose(&log.requests, moments, budget)
}

#[test]
fn states_of_every_shape_are_chosen_in_a_time_that_grows_with_the_requests() {
    for (name, make) in SHAPES {
        let log = make(if *name == "long-writes" { 8000 } else { MANY });
        for cache in [DiskCache::Volatile, DiskCache::Durable] {
            let began = Instant::now();
            let states = states_of(&log, cache);
            let all = states.iter().map(|it| it.1.lost.len());
            let losses = all.sum::<usize>();
            let took = began.elapsed();
            assert!(states.len() <= 200 && !states.is_empty(), "{name}");
            assert!(took < LIMIT, "{name}, {cache:?}, {losses} losses: {took:?}");
        }
    }
}

#[test]
fn every_shape_is_read_with_and_without_its_data() {
    for (name, make) in SHAPES {
        let log = make(1000);
        let mut bytes = Vec::new();
        write_log(&log, &mut bytes).expect("written");
        let found = read_log(&bytes[..], LogLimits::default()).expect(name);
        assert!(found == log, "{name}");
        let outline = read_outline(&bytes[..], LogLimits::default()).expect(name);
        assert!(outline.requests == log.requests, "{name}");
    }
}

/// Each sector had a list of its versions, and was looked up in all discards: images of a log with
/// 30,000 discards of the disk took minutes.
#[test]
fn images_of_every_shape_take_what_is_in_them() {
    for (name, make) in SHAPES {
        let log = make(if *name == "long-writes" { 2000 } else { MANY });
        let began = Instant::now();
        let end_ns = log.requests.last().expect("requests").done_ns;
        let state = CrashState {
            at_ns: end_ns,
            lost: Vec::new(),
        };
        let sectors: u64 = pieces(&log, &state)
            .map(|piece| match piece {
                fslab_crash::Piece::Data { bytes, .. } => bytes.len() as u64 / 512,
                fslab_crash::Piece::Zeros { .. } => 0,
            })
            .sum();
        assert!(sectors <= 8 * u64::from(MANY), "{name}: {sectors} sectors");
        // One that would take too much is refused before anything is made.
        match StateView::new(&log) {
            Ok(mut view) => {
                let mut shown = 0;
                let mut put = |piece: fslab_crash::Piece| -> Result<(), std::fmt::Error> {
                    if let fslab_crash::Piece::Data { bytes, .. } = piece {
                        shown += bytes.len() as u64 / 512;
                    }
                    Ok(())
                };
                view.show(&state, &[], &mut put).expect("memory");
                assert_eq!(shown, sectors, "{name}");
            }
            Err(error) => {
                let text = error.to_string();
                assert!(
                    *name == "huge-discards" && text.contains("33554432"),
                    "{text}"
                );
            }
        }
        assert!(began.elapsed() < LIMIT, "{name}: {:?}", began.elapsed());
    }
}
