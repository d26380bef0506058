//! Block mapping: log blocks, and the three kinds of merge.

use fslab_simdisk_sys::DiskOp;

use super::{
    CHANNEL_NS, COMMAND_NS, COPY_NS, ERASE_NS, GRAIN, INTERFACE_NS, PROGRAM_NS, READ_NS,
    background_grains, discard, everything, float, fresh, stick, took_ns,
};
use crate::host::{Host, Random, assert_near, read, write};

/// A write of a page to an area that has a log with room.
const APPEND_NS: u64 = COMMAND_NS + INTERFACE_NS + CHANNEL_NS + PROGRAM_NS;

/// The first sector of a page of an area of the stick.
fn at(area: u64, page: u64) -> u64 {
    (area * 64 + page) * GRAIN
}

#[test]
fn random_writes_to_a_full_stick_take_a_merge_each() {
    let mut host = Host::new(&stick());
    for area in 0..2 {
        assert_eq!(took_ns(&host.serve(write(at(area, 17), 8))), APPEND_NS);
    }
    // All 64 pages are copied, and the log and the old area are erased.
    let merge_ns = 64 * COPY_NS + 2 * ERASE_NS;
    for area in 2..20 {
        let done = host.serve(write(at(area, 17), 8));
        assert_eq!(took_ns(&done), APPEND_NS + merge_ns);
        assert_eq!(done.parts.cache_ns, INTERFACE_NS + merge_ns);
        assert_eq!(done.parts.transfer_ns, CHANNEL_NS + PROGRAM_NS);
    }
    let merged = |op| host.background.iter().filter(move |own| own.op == op);
    for op in [DiskOp::MediaRead, DiskOp::MediaWrite] {
        // Logs are closed in least recently written order.
        let areas: Vec<u64> = merged(op).map(|own| own.sector / at(1, 0)).collect();
        assert_eq!(areas, (0..18).collect::<Vec<_>>());
        assert!(merged(op).all(|own| own.sectors == 64 * 8));
        assert!(merged(op).all(|own| own.done_ns - own.start_ns == merge_ns));
    }
}

#[test]
fn dies_merge_in_parallel() {
    let disk = stick().with("channels", 4).with("pages_per_block", 16);
    let mut host = Host::new(&disk);
    for area in 0..2 {
        host.serve(write(at(area, 17), 8));
    }
    let done = host.serve(write(at(2, 17), 8));
    assert_eq!(took_ns(&done), APPEND_NS + 16 * COPY_NS + 2 * ERASE_NS);
}

#[test]
fn the_first_pages_of_an_area_are_completed_by_a_partial_merge() {
    let mut host = Host::new(&stick());
    host.serve(write(at(0, 0), 40 * 8));
    host.serve(write(at(1, 0), 8));
    // The log of area 0 becomes the area after 24 pages are copied; the old area is erased.
    let done = host.serve(write(at(2, 0), 8));
    assert_eq!(took_ns(&done), APPEND_NS + 24 * COPY_NS + ERASE_NS);
    assert_eq!(background_grains(&host, DiskOp::MediaWrite), 24);
}

#[test]
fn requests_that_share_pages_are_in_order() {
    let mut host = Host::new(&stick());
    let mut areas_in_requests_of = |first_area: u64, sectors: u32| {
        let (mut sector, begin_ns) = (at(first_area, 0), host.now_ns);
        while sector < at(first_area + 3, 0) {
            host.serve(write(sector, sectors));
            sector += u64::from(sectors);
        }
        host.now_ns - begin_ns
    };
    let whole_ns = areas_in_requests_of(0, 16);
    // Of three pages, one is read and programmed once more.
    let shared_ns = areas_in_requests_of(8, 12);
    assert!(
        whole_ns < shared_ns && shared_ns < 2 * whole_ns,
        "{whole_ns} {shared_ns}"
    );
    assert_eq!(background_grains(&host, DiskOp::MediaRead), 0);
    // The same page from its begin is a page out of order.
    host.serve(write(at(20, 0), 4));
    host.serve(write(at(20, 0), 4));
    host.serve(write(at(21, 0), 8));
    host.serve(write(at(22, 0), 8));
    assert_eq!(background_grains(&host, DiskOp::MediaWrite), 64);
}

#[test]
fn random_writes_within_the_open_areas_are_cheap_until_a_log_is_full() {
    let (mut host, mut random) = (Host::new(&stick()), Random(2));
    host.serve(write(at(0, 17), 8));
    host.serve(write(at(1, 17), 8));
    for i in 0..126 {
        let done = host.serve(write(at(i % 2, random.below(64)), 8));
        assert_eq!(took_ns(&done), APPEND_NS);
    }
    // 64 pages in each: the next one is merged.
    let done = host.serve(write(at(0, 3), 8));
    assert_eq!(took_ns(&done), APPEND_NS + 64 * COPY_NS + 2 * ERASE_NS);
}

#[test]
fn a_stick_overwritten_in_order_copies_nothing() {
    let mut host = Host::new(&stick().with("interface_bytes_per_s", 100_000_000));
    let ns = host.keep_busy(1, (0..100 * 64 / 16).map(|i| write(i * 16 * 8, 16 * 8)));
    host.wait_for_all();
    assert_eq!(host.background, []);
    // A program starts once a request's first page has crossed the interface; the erase of the old
    // area overlaps the next request.
    let request_ns = COMMAND_NS + 40_960 + CHANNEL_NS + 16 * PROGRAM_NS;
    let expected_ns = 100 * (4 * request_ns + ERASE_NS);
    assert_near("time", float(ns), float(expected_ns), 0.02);
}

#[test]
fn on_a_fresh_stick_only_pages_that_were_written_are_copied() {
    let mut host = Host::new(&fresh(stick()));
    host.serve(write(at(0, 17), 8));
    host.serve(write(at(1, 0), 8));
    // One page out of order: a copy, and the log is erased.
    let done = host.serve(write(at(2, 17), 8));
    assert_eq!(took_ns(&done), APPEND_NS + COPY_NS + ERASE_NS);
    // One page in order: the log becomes the area.
    assert_eq!(took_ns(&host.serve(write(at(3, 17), 8))), APPEND_NS);
    assert_eq!(background_grains(&host, DiskOp::MediaWrite), 1);
}

#[test]
fn a_discarded_stick_takes_an_erase_where_it_took_a_merge() {
    let mut host = Host::new(&stick());
    for area in 0..5 {
        host.serve(write(at(area, 17), 8));
    }
    host.wait_for_all();
    let all = everything(&host);
    assert_eq!(took_ns(&host.serve(discard(0, all))), COMMAND_NS);
    host.background.clear();
    for area in 10..12 {
        // The page crosses the channel while the area is erased.
        let done = host.serve(write(at(area, 0), 8));
        assert_eq!(
            took_ns(&done),
            COMMAND_NS + INTERFACE_NS + ERASE_NS + PROGRAM_NS
        );
    }
    host.serve(write(at(12, 0), 8));
    assert_eq!(host.background, []);
}

#[test]
fn a_read_does_not_wait_for_a_merge() {
    let mut host = Host::new(&stick().with("queue_depth", 2));
    for area in 0..2 {
        host.serve(write(at(area, 17), 8));
    }
    host.submit(write(at(2, 17), 8));
    host.wait_until(host.now_ns + 1_000_000);
    let done = host.serve(read(at(900, 5), 8));
    let alone_ns = COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS;
    assert!(took_ns(&done) <= alone_ns + COPY_NS, "{done:?}");
    assert_eq!(host.done.len(), 3);
}
