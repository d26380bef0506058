//! The read segments of a hard disk's buffer, and readahead into them.

use fslab_simdisk_sys::DiskOp;

use crate::host::{Host, Random, assert_near, read, write};
use crate::parameters::{Parameters, desktop_disk, tiny_disk};

const MS: u64 = 1_000_000;

/// The tiny disk with two segments of 30 sectors, and an interface of 1 microsecond a sector.
fn tiny_segments() -> Parameters {
    tiny_disk()
        .with("queue_depth", 4)
        .with("interface_bytes_per_s", 512_000_000)
        .with("buffer_bytes", 2 * 30 * 512)
        .with("read_segments", 2)
        .with("read_segment_bytes", 30 * 512)
}

#[test]
fn a_repeated_read_takes_the_command_and_the_interface() {
    let mut host = Host::new(&tiny_segments());
    host.serve(read(0, 5));
    host.wait_for_all();
    let done = host.serve(read(2, 3));
    assert!(done.cached);
    assert_eq!(done.done_ns - done.submit_ns, 100_000 + 3_000);
    assert_eq!(
        (done.parts.command_ns, done.parts.cache_ns),
        (100_000, 3_000)
    );
    assert_eq!(done.parts.sum_ns(), done.done_ns - done.start_ns);
}

#[test]
fn an_idle_disk_reads_ahead_until_the_segment_is_full() {
    let mut host = Host::new(&tiny_segments());
    let first = host.serve(read(0, 5));
    host.wait_for_all();
    // The segment's 30 sectors include the five of the read, so 5 to 29 are read ahead, over a head
    // switch and a cylinder switch, from the end of the read.
    assert_eq!(host.background.len(), 1);
    let ahead = host.background[0];
    assert_eq!(
        (ahead.op, ahead.sector, ahead.sectors),
        (DiskOp::MediaRead, 5, 25)
    );
    assert_eq!(ahead.start_ns, first.done_ns);
    assert_eq!(ahead.done_ns, first.done_ns + (25 + 1 + 2) * MS);
    assert_eq!(ahead.parts.transfer_ns, 28 * MS);
    assert!(host.serve(read(29, 1)).cached);
    assert!(host.serve(read(0, 5)).cached);
}

#[test]
fn a_read_of_sectors_being_read_ahead_waits_for_these_alone() {
    let mut host = Host::new(&tiny_segments());
    let first = host.serve(read(0, 2));
    assert_eq!(first.done_ns, 12 * MS);
    // Sectors 4 to 6 have passed at 17 ms; the interface is faster than the media, so that only the
    // last bytes remain to be transferred.
    let second = host.serve(read(4, 3));
    assert!(second.cached);
    assert_eq!(second.done_ns, 17 * MS);
    assert_eq!(second.parts.cache_ns, 17 * MS - 12 * MS - 100_000);
    // Sectors already read ahead are available immediately.
    let third = host.serve(read(2, 4));
    assert_eq!(third.done_ns, 17 * MS + 100_000 + 4_000);
}

#[test]
fn another_request_interrupts_readahead() {
    let mut host = Host::new(&tiny_segments());
    host.serve(read(0, 2));
    // Readahead from 12 ms on; at 13.6 the command of a read of cylinder 5 ends. Sector 2 has
    // passed.
    host.wait_until(13_500_000);
    let done = host.serve(read(100, 1));
    assert_eq!(
        (host.background[0].sector, host.background[0].sectors),
        (2, 1)
    );
    assert_eq!(host.background[0].done_ns, 13_600_000);
    // A seek over five: 6 ms, until 19.6; the sector is at 5 modulo 10.
    assert_eq!(done.parts.seek_ns, 6 * MS);
    assert_eq!(done.done_ns, 26 * MS);
    // The segment keeps what was read.
    assert!(host.serve(read(1, 2)).cached);
    assert!(!host.serve(read(3, 1)).cached);
}

#[test]
fn a_request_that_waits_for_reading_ahead_keeps_the_arm_from_another() {
    let mut host = Host::new(&tiny_segments());
    host.serve(read(0, 2));
    host.submit(read(5, 3));
    host.submit(read(100, 1));
    // This one would take longer, so it is queued; it is the nearest and is served first.
    host.submit(read(8, 2));
    host.wait_for_all();
    let ends: Vec<(u64, u64)> = host
        .done
        .iter()
        .map(|done| (done.sector, done.done_ns / MS))
        .collect();
    assert_eq!(ends, [(0, 12), (5, 18), (8, 20), (100, 36)]);
    assert!(host.done[1].cached && !host.done[2].cached);
}

#[test]
fn a_read_may_begin_in_the_segment() {
    let mut host = Host::new(&tiny_segments().with("read_segment_bytes", 5 * 512));
    host.serve(read(0, 2));
    host.wait_for_all();
    assert_eq!(
        (host.background[0].sector, host.background[0].sectors),
        (2, 3)
    );
    // Sectors 0 to 4 are in the segment; 5 to 9 come from the media.
    let done = host.serve(read(4, 6));
    assert!(!done.cached);
    assert_eq!(done.parts.transfer_ns, 5 * MS);
}

#[test]
fn the_least_recently_used_segment_is_replaced() {
    let small = tiny_segments().with("read_segment_bytes", 512);
    let mut host = Host::new(&small);
    let mut cached = |sector: u64| {
        let done = host.serve(read(sector, 1));
        host.wait_for_all();
        done.cached
    };
    // A segment of one sector keeps the last one read: the one read ahead.
    assert!(!cached(10));
    assert!(!cached(50));
    assert!(cached(11));
    assert!(!cached(90));
    assert!(cached(12));
    assert!(!cached(51));
}

#[test]
fn sequential_reads_at_depth_1_reach_the_rate_of_the_media() {
    // 64 MiB at the outer edge, 125 MB/s, in requests of 4 KiB and of 128 KiB, one at a time, while
    // the disk reads ahead. With 4 KiB a command and its data, 150 + 14 microseconds, must be
    // faster than the media, so the controller is faster there.
    for (sectors, command_ns) in [(8, 10_000), (256, 150_000)] {
        let mut host = Host::new(&desktop_disk().with("command_ns", command_ns));
        let count = (64 << 20) / 512 / u64::from(sectors);
        let ns = host.keep_busy(1, (0..count).map(|i| read(i * u64::from(sectors), sectors)));
        let rate = f64::from(64 << 20) / ns as f64 * 1e9;
        assert_near(&format!("rate in pieces of {sectors}"), rate, 125e6, 0.02);
    }
}

#[test]
fn reads_in_order_over_a_slow_interface_go_at_its_rate() {
    // 30 MB/s: readahead stops at a full segment and resumes when half of it is used.
    let mut host = Host::new(&desktop_disk().with("interface_bytes_per_s", 30_000_000));
    let count = 512;
    let ns = host.keep_busy(1, (0..count).map(|i| read(i * 256, 256)));
    // Each takes its command and its transfer over the interface.
    let expected = 150_000.0 + 256.0 * 512.0 / 30e6 * 1e9;
    assert_near("time of a read", ns as f64 / count as f64, expected, 0.02);
}

#[test]
fn a_host_that_is_slower_than_the_media_never_waits_for_it() {
    // 4 KiB per command of 150 microseconds are 25 MB/s: readahead fills a segment, stops, and has
    // the next half long before the first is used.
    let mut host = Host::new(&desktop_disk());
    let ns = host.keep_busy(1, (0..20_000).map(|i| read(i * 8, 8)));
    let first = host.done[0].done_ns;
    let each = 150_000 + 4096 * 10 / 3;
    assert_near(
        "time of a read",
        (ns - first) as f64 / 19_999.0,
        each as f64,
        0.001,
    );
    assert!(
        host.background
            .iter()
            .filter(|done| done.parts.rotation_ns > 0)
            .count()
            > 100
    );
}

#[test]
fn without_readahead_sequential_reads_at_depth_1_lose_a_revolution_each() {
    let mut host = Host::new(&desktop_disk().with("read_segments", 0));
    let ns = host.keep_busy(1, (0..200).map(|i| read(i * 8, 8)));
    let rev_ns = 60e9 / 7200.0;
    // A revolution each, since the next sector passes during the command.
    assert_near("time of a read", ns as f64 / 200.0, rev_ns, 0.01);
}

#[test]
fn readahead_is_reported_without_gaps() {
    let mut host = Host::new(&desktop_disk());
    host.keep_busy(1, (0..64).map(|i| read(i * 256, 256)));
    host.wait_for_all();
    let mut next = 256;
    for done in &host.background {
        assert_eq!(done.op, DiskOp::MediaRead);
        assert_eq!(done.sector, next);
        next += u64::from(done.sectors);
    }
    assert_eq!(
        next,
        64 * 256 + 1024,
        "a segment of 512 KiB beyond the last read"
    );
}

#[test]
fn reading_ahead_stops_between_blocks() {
    let disk = desktop_disk().with("physical_block_bytes", 4096);
    let mut host = Host::new(&disk);
    let mut random = Random(4);
    let sectors = disk.number("sectors") - 1;
    host.keep_busy(1, (0..1000).map(|_| read(random.below(sectors), 1)));
    assert!(host.background.len() > 900);
    assert!(
        host.background
            .iter()
            .all(|done| done.sector % 8 == 0 && done.sectors % 8 == 0)
    );
}

#[test]
fn a_write_leaves_reading_ahead_alone_until_it_needs_the_arm() {
    let mut host = Host::new(&desktop_disk());
    host.serve(read(0, 8));
    host.serve(write(500_000_000, 8));
    assert!(host.done[1].cached);
    host.wait_for_all();
    let sectors: u32 = host
        .background
        .iter()
        .filter(|done| done.op == DiskOp::MediaRead)
        .map(|done| done.sectors)
        .sum();
    assert_eq!(sectors, 1024 - 8);
}
