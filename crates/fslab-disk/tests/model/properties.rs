//! Properties of every hard disk under every load: each request completes once, times are in order,
//! and the times at which completions are taken change nothing.

use std::collections::HashSet;

use fslab_simdisk_sys::{DiskDone, DiskModel, DiskOp, DiskRequest};
use proptest::prelude::*;

use crate::parameters::{Parameters, bare_disk, desktop_disk, tiny_disk};

/// As a step's wait: until the disk's next event.
const AT_NEXT_EVENT: u64 = u64::MAX;

/// A request at a time after the previous one.
#[derive(Clone, Debug)]
struct Step {
    wait_ns: u64,
    op: DiskOp,
    /// Position on the disk, in units of 2^-32.
    at: u32,
    sectors: u32,
    fua: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let op = prop_oneof![
        5 => Just(DiskOp::Read),
        6 => Just(DiskOp::Write),
        1 => Just(DiskOp::Flush),
        1 => Just(DiskOp::Discard),
    ];
    // Few positions, so that requests overlap; and pauses from none to those of an idle disk.
    let place = prop_oneof![0..40_u32, 2_000_000_000..2_000_000_040_u32, any::<u32>()];
    let wait = prop_oneof![
        Just(AT_NEXT_EVENT),
        Just(0),
        0..300_000_u64,
        0..30_000_000_u64,
        0..400_000_000_u64
    ];
    let step = (wait, op, place, 1..70_u32, prop::bool::weighted(0.1)).prop_map(
        |(wait_ns, op, at, sectors, fua)| Step {
            wait_ns,
            op,
            at,
            sectors,
            fua,
        },
    );
    prop::collection::vec(step, 1..150)
}

fn disks() -> impl Strategy<Value = Parameters> {
    let tiny_cache = tiny_disk()
        .with("queue_depth", 8)
        .with("buffer_bytes", 65536)
        .with("write_buffer_bytes", 16384)
        .with("write_cache", 1)
        .with("destage_idle_ns", 20_000_000)
        .with("read_segments", 3)
        .with("read_segment_bytes", 8192);
    let blocks = desktop_disk()
        .with("physical_block_bytes", 4096)
        .with("interface_bytes_per_s", 20_000_000)
        .with("write_buffer_bytes", 32768);
    let array = |level: &str, members: u64| {
        tiny_cache
            .clone()
            .with("queue_depth", 2)
            .with("array", level)
            .with("members", members)
            .with("chunk_sectors", 8)
    };
    let controller = |disk: Parameters| {
        disk.with("controller_bytes", 1 << 20)
            .with("controller_bytes_per_s", 100_000_000)
            .with("controller_command_ns", 20_000)
            .with("controller_interval_ns", 5_000_000)
            .with("controller_writes", 2)
    };
    prop_oneof![
        Just(controller(tiny_disk())),
        Just(controller(desktop_disk())),
        Just(controller(array("raid10", 4))),
        Just(controller(array("raid5", 4))),
        Just(tiny_disk()),
        Just(bare_disk()),
        Just(desktop_disk()),
        Just(blocks.clone()),
        Just(tiny_cache.clone()),
        Just(array("raid0", 3)),
        Just(array("raid1", 2)),
        Just(array("raid10", 4)),
        Just(array("raid5", 4)),
    ]
}

/// Takes all completions up to `now_ns`.
fn take_all(model: &mut DiskModel, now_ns: u64, done: &mut Vec<DiskDone>) {
    while let Some(answer) = model.take(now_ns) {
        assert!(answer.done_ns <= now_ns);
        done.push(answer);
    }
}

/// Advances until there is room, or past all events if `to_end`; returns the time reached.
fn run_on(model: &mut DiskModel, from_ns: u64, to_end: bool, done: &mut Vec<DiskDone>) -> u64 {
    let mut now_ns = from_ns;
    while to_end || !model.has_room() {
        let Some(next_ns) = model.next_ns() else {
            break;
        };
        now_ns = now_ns.max(next_ns);
        take_all(model, now_ns, done);
    }
    now_ns
}

/// The first sector and the number of sectors of a step, limited to the disk; a flush has none.
fn address(step: &Step, capacity: u64) -> (u64, u32) {
    if step.op == DiskOp::Flush {
        return (0, 0);
    }
    let sectors = u64::from(step.sectors).min(capacity);
    (
        (u64::from(step.at) * (capacity - sectors + 1)) >> 32,
        sectors as u32,
    )
}

/// The time of a step: after its wait, or later when the disk has room. Completions are taken at
/// each event until then.
fn time_of(model: &mut DiskModel, now_ns: u64, wait_ns: u64, done: &mut Vec<DiskDone>) -> u64 {
    let at_ns = match wait_ns {
        AT_NEXT_EVENT => model
            .next_ns()
            .map_or(now_ns, |next_ns| next_ns.max(now_ns)),
        wait_ns => now_ns + wait_ns,
    };
    while let Some(next_ns) = model.next_ns().filter(|&next_ns| next_ns <= at_ns) {
        take_all(model, next_ns.max(now_ns), done);
        // Taking early changes nothing.
        assert!(model.take(next_ns.max(now_ns)).is_none());
    }
    run_on(model, at_ns, false, done)
}

/// Submits the steps; returns the completions and the submission times. With `given` times, these
/// are used, and completions are taken only when the disk has no room.
fn run(disk: &Parameters, steps: &[Step], given: Option<&[u64]>) -> (Vec<DiskDone>, Vec<u64>) {
    let mut model = DiskModel::new(&disk.text()).expect("the parameters are right");
    let (mut now_ns, mut done, mut times) = (0, Vec::new(), Vec::new());
    for (tag, step) in steps.iter().enumerate() {
        now_ns = match given {
            None => time_of(&mut model, now_ns, step.wait_ns, &mut done),
            Some(given) => given[tag],
        };
        if !model.has_room() {
            take_all(&mut model, now_ns, &mut done);
        }
        times.push(now_ns);
        let (sector, sectors) = address(step, model.capacity_sectors());
        let (tag, fua) = (tag as u64, step.fua && step.op == DiskOp::Write);
        model.submit(
            now_ns,
            DiskRequest {
                tag,
                sector,
                sectors,
                op: step.op,
                fua,
            },
        );
    }
    run_on(&mut model, now_ns, true, &mut done);
    (done, times)
}

fn check_answers(steps: &[Step], done: &[DiskDone]) {
    let tags: Vec<u64> = done.iter().filter_map(|done| done.tag).collect();
    let each: HashSet<u64> = tags.iter().copied().collect();
    assert_eq!(tags.len(), steps.len(), "every request is answered");
    assert_eq!(each.len(), steps.len(), "and none of them twice");
    for pair in done.windows(2) {
        assert!(
            pair[0].done_ns <= pair[1].done_ns,
            "answers come in the order of their ends"
        );
    }
    for done in done {
        assert!(
            done.submit_ns <= done.start_ns && done.start_ns <= done.done_ns,
            "{done:?}"
        );
        assert!(
            done.parts.sum_ns() <= done.done_ns - done.start_ns,
            "{done:?}"
        );
        if let Some(tag) = done.tag {
            assert_eq!(done.op, steps[tag as usize].op);
        } else {
            assert!(
                matches!(done.op, DiskOp::MediaRead | DiskOp::MediaWrite),
                "{done:?}"
            );
            assert!(done.sectors > 0, "{done:?}");
        }
    }
}

/// For a single disk: a write that completed before a flush was submitted is on the media when the
/// flush ends, written through or destaged.
fn check_flushes(done: &[DiskDone]) {
    let at = |done: &DiskDone| done.sector..done.sector + u64::from(done.sectors);
    for flush in done.iter().filter(|done| done.op == DiskOp::Flush) {
        for write in done.iter().filter(|write| {
            write.op == DiskOp::Write && write.cached && write.done_ns <= flush.submit_ns
        }) {
            for sector in at(write) {
                let on_media = done.iter().any(|media| {
                    let is_media = media.op == DiskOp::MediaWrite
                        || (media.op == DiskOp::Write && !media.cached);
                    is_media
                        && at(media).contains(&sector)
                        && media.done_ns > write.done_ns
                        && media.done_ns <= flush.done_ns
                });
                assert!(
                    on_media,
                    "sector {sector} of {write:?} is not on the media at {flush:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_request_completes_once_and_in_order(disk in disks(), steps in steps()) {
        let (done, times) = run(&disk, &steps, None);
        check_answers(&steps, &done);
        for done in done.iter().filter(|done| done.tag.is_some()) {
            let tag = done.tag.unwrap_or_default() as usize;
            prop_assert_eq!(done.submit_ns, times[tag]);
        }
    }

    #[test]
    fn completions_do_not_depend_on_when_they_are_taken(
        disk in disks(),
        steps in steps(),
    ) {
        let (often, times) = run(&disk, &steps, None);
        let (again, _) = run(&disk, &steps, None);
        let (late, _) = run(&disk, &steps, Some(&times));
        prop_assert_eq!(&often, &again);
        prop_assert_eq!(&often, &late);
    }

    #[test]
    fn completed_writes_are_on_the_media_after_a_flush(steps in steps()) {
        for disk in [desktop_disk().with("write_buffer_bytes", 32768), desktop_disk()] {
            let (done, _) = run(&disk, &steps, None);
            check_flushes(&done);
        }
    }

    #[test]
    fn an_idle_disk_empties_its_cache(steps in steps()) {
        let (done, _) = run(&desktop_disk(), &steps, None);
        let mut all = steps.clone();
        let (wait_ns, op) = (60_000_000_000, DiskOp::Flush);
        all.push(Step { wait_ns, op, at: 0, sectors: 1, fua: false });
        let (flushed, _) = run(&desktop_disk(), &all, None);
        // The flush had nothing to write.
        let tag = Some(steps.len() as u64);
        let last = flushed.iter().find(|done| done.tag == tag).expect("it ended");
        prop_assert_eq!(last.done_ns - last.submit_ns, 150_000);
        prop_assert_eq!(done.len() + 1, flushed.len());
    }
}
