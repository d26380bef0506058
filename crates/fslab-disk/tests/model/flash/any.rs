//! Properties of any flash disk under any requests.

use std::collections::BTreeSet;

use fslab_simdisk_sys::{DiskDone, DiskModel, DiskOp, DiskRequest};
use proptest::prelude::*;

use super::{COMMAND_NS, READ_NS, flash, took_ns};
use crate::host::{Host, HostRequest, Random, flush, read};
use crate::parameters::Parameters;

/// A disk with random parameters, small enough that blocks fill and are collected.
fn any_disk(random: &mut Random) -> Parameters {
    let page = 4096 << random.below(3);
    let (channels, dies, pages) = (
        1 + random.below(3),
        1 + random.below(3),
        1 + random.below(16),
    );
    let area_sectors = page / 512 * channels * dies * pages;
    flash()
        .with(
            "sectors",
            area_sectors * (2 + random.below(20)) + random.below(9),
        )
        .with("queue_depth", 1024)
        .with("write_cache", random.below(2))
        .with("buffer_bytes", page * (2 + random.below(30)))
        .with("channels", channels)
        .with("dies_per_channel", dies)
        .with("page_bytes", page)
        .with("pages_per_block", pages)
        .with(
            "mapping",
            if random.below(2) == 0 {
                "page"
            } else {
                "block"
            },
        )
        .with("open_blocks", 1 + random.below(4))
        .with("spare_permille", random.below(300))
        .with("precondition_permille", random.below(3) * 500)
}

/// Requests with their submission times.
fn any_requests(random: &mut Random, capacity: u64, count: u64) -> Vec<(u64, DiskRequest)> {
    let mut now_ns = 0;
    let mut request = |tag| {
        now_ns += if random.below(4) == 0 {
            random.below(3_000_000)
        } else {
            random.below(3000)
        };
        let op = match random.below(20) {
            0 => DiskOp::Flush,
            1 => DiskOp::Discard,
            2..8 => DiskOp::Read,
            _ => DiskOp::Write,
        };
        let longest = if random.below(10) == 0 { 300 } else { 16 }.min(capacity);
        let sectors = if op == DiskOp::Flush {
            0
        } else {
            1 + random.below(longest)
        };
        let sector = if op == DiskOp::Flush {
            0
        } else {
            random.below(capacity - sectors + 1)
        };
        let sectors = u32::try_from(sectors).expect("at most 300");
        let fua = op == DiskOp::Write && random.below(8) == 0;
        (
            now_ns,
            DiskRequest {
                tag,
                sector,
                sectors,
                op,
                fua,
            },
        )
    };
    (0..count).map(&mut request).collect()
}

/// All completions, taken at each event if `is_eager`, else only at the end.
fn answers(disk: &Parameters, requests: &[(u64, DiskRequest)], is_eager: bool) -> Vec<DiskDone> {
    let mut model = DiskModel::new(&disk.text()).expect("the parameters are right");
    let (mut done, mut last_ns) = (Vec::new(), 0);
    let mut pass = |model: &mut DiskModel, until_ns: u64| {
        while let Some(next_ns) = model.next_ns().filter(|&next_ns| next_ns <= until_ns) {
            if next_ns > last_ns {
                assert_eq!(model.take(next_ns - 1), None, "before {next_ns}");
            }
            done.extend(std::iter::from_fn(|| model.take(next_ns)));
            last_ns = next_ns;
        }
        last_ns = last_ns.max(until_ns);
    };
    for &(now_ns, request) in requests {
        if is_eager {
            pass(&mut model, now_ns);
        }
        model.submit(now_ns, request);
    }
    if is_eager {
        pass(&mut model, u64::MAX - 1);
    }
    done.extend(std::iter::from_fn(|| model.take(u64::MAX - 1)));
    done
}

/// The grains that have data after the requests.
fn written(disk: &Parameters, requests: &[(u64, DiskRequest)]) -> BTreeSet<u64> {
    let page = disk.text().contains("mapping=page");
    let grain = if page {
        8
    } else {
        disk.number("page_bytes") / 512
    };
    let capacity = disk.number("sectors");
    let grains = capacity.div_ceil(grain);
    let mut used = grains * disk.number("precondition_permille") / 1000;
    if !page {
        // Block mapping counts complete areas.
        let area = disk.number("pages_per_block")
            * disk.number("channels")
            * disk.number("dies_per_channel");
        used = (used.div_ceil(area) * area).min(grains);
    }
    let mut written: BTreeSet<u64> = (0..used).collect();
    for (_, request) in requests {
        let end = request.sector + u64::from(request.sectors);
        let whole = if end == capacity { grains } else { end / grain };
        match request.op {
            DiskOp::Write => written.extend(request.sector / grain..end.div_ceil(grain)),
            DiskOp::Discard => {
                written.retain(|at| !(request.sector.div_ceil(grain)..whole).contains(at));
            }
            _ => {}
        }
    }
    written.into_iter().map(|at| at * grain).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_request_completes_once_in_order_whenever_completions_are_taken(seed: u64) {
        let mut random = Random(seed);
        let disk = any_disk(&mut random);
        let requests = any_requests(&mut random, disk.number("sectors"), 1000);
        let eager = answers(&disk, &requests, true);
        prop_assert_eq!(&eager, &answers(&disk, &requests, false));
        prop_assert!(eager.is_sorted_by_key(|done| done.done_ns));
        let mut tags: Vec<u64> = eager.iter().filter_map(|done| done.tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..1000).collect::<Vec<_>>());
        for done in &eager {
            prop_assert!(done.start_ns >= done.submit_ns && done.done_ns >= done.start_ns);
            prop_assert!(done.parts.sum_ns() <= done.done_ns - done.start_ns, "{:?}", done);
            if let Some(tag) = done.tag {
                let (now_ns, request) = requests[usize::try_from(tag).expect("a thousand")];
                prop_assert_eq!(done.submit_ns, now_ns);
                prop_assert_eq!((done.sector, done.sectors), (request.sector, request.sectors));
                prop_assert_eq!((done.op, done.fua), (request.op, request.fua));
            }
        }
    }

    #[test]
    fn the_media_hold_pages_written_and_not_discarded(seed: u64) {
        let mut random = Random(seed);
        let disk = any_disk(&mut random);
        let requests = any_requests(&mut random, disk.number("sectors"), 1000);
        let mut host = Host::new(&disk);
        for &(now_ns, DiskRequest { sector, sectors, op, fua, .. }) in &requests {
            host.wait_until(now_ns.max(host.now_ns));
            host.submit(HostRequest { op, sector, sectors, fua });
        }
        host.submit(flush());
        host.wait_for_all();
        let mut found = BTreeSet::new();
        let step = if disk.text().contains("mapping=page") { 8 } else {
            usize::try_from(disk.number("page_bytes") / 512).expect("small")
        };
        for sector in (0..disk.number("sectors")).step_by(step) {
            let done = host.serve(read(sector, 1));
            // A page takes a read, unless garbage collection has it in memory; an unmapped one only
            // the transfer of a sector over the interface.
            if done.cached || took_ns(&done) != COMMAND_NS + 512 {
                prop_assert!(done.cached || took_ns(&done) > COMMAND_NS + READ_NS);
                found.insert(sector);
            }
        }
        prop_assert_eq!(found, written(&disk, &requests));
    }
}
