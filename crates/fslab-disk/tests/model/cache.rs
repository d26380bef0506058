//! The write cache of a hard disk: admission, write-back, and requests that wait for it.

use fslab_simdisk_sys::{DiskDone, DiskOp};

use crate::host::{Host, HostRequest, Random, assert_near, flush, read, write, write_through};
use crate::parameters::{Parameters, desktop_disk, tiny_disk};

const MS: u64 = 1_000_000;

/// The tiny disk with a cache of 16 KiB, 32 sectors, and an interface of 1 microsecond a sector.
fn tiny_cache() -> Parameters {
    tiny_disk()
        .with("queue_depth", 8)
        .with("interface_bytes_per_s", 512_000_000)
        .with("buffer_bytes", 16384)
        .with("write_buffer_bytes", 16384)
        .with("write_cache", 1)
        .with("destage_idle_ns", 100 * MS)
}

fn background_writes(host: &Host) -> Vec<(u64, u32, u64)> {
    host.background
        .iter()
        .filter(|done| done.op == DiskOp::MediaWrite)
        .map(|done| (done.sector, done.sectors, done.done_ns))
        .collect()
}

/// The completed request with this tag.
fn done(host: &Host, tag: u64) -> DiskDone {
    let is_it = |done: &&DiskDone| done.tag == Some(tag);
    *host.done.iter().find(is_it).expect("it ended")
}

#[test]
fn a_cached_write_and_a_read_of_it_take_the_command_and_the_interface() {
    let mut host = Host::new(&tiny_cache());
    let done = host.serve(write(5, 4));
    assert!(done.cached);
    assert_eq!(done.done_ns, 100_000 + 4_000);
    assert_eq!(
        (done.parts.command_ns, done.parts.cache_ns),
        (100_000, 4_000)
    );
    assert_eq!(done.parts.sum_ns(), 104_000);
    let again = host.serve(read(6, 3));
    assert!(again.cached);
    assert_eq!(again.done_ns - again.submit_ns, 100_000 + 3_000);
    // A range that is cached only in part is read from the media.
    assert!(!host.serve(read(6, 4)).cached);
}

#[test]
fn an_idle_disk_writes_back_its_cache() {
    let mut host = Host::new(&tiny_cache());
    host.serve(write(5, 2));
    host.serve(write(7, 1));
    host.wait_for_all();
    // The last request ended at 0.104 + 0.1 - 0.002 + 0.001 ms; 100 ms later, at 100.203, the arm
    // waits for sector 5 at 105, and writes both as one in 3 ms.
    assert_eq!(host.done[1].done_ns, 203_000);
    assert_eq!(background_writes(&host), [(5, 3, 108 * MS)]);
    let destaged = host.background[0];
    assert_eq!(destaged.start_ns, 100_203_000);
    assert_eq!(destaged.parts.rotation_ns, 105 * MS - 100_203_000);
    assert_eq!(destaged.parts.transfer_ns, 3 * MS);
    assert_eq!(
        destaged.parts.sum_ns(),
        destaged.done_ns - destaged.start_ns
    );
}

#[test]
fn a_busy_disk_is_not_idle() {
    let mut host = Host::new(&tiny_cache());
    // Also after it was idle.
    for round in 0..2 {
        host.serve(write(5, 1));
        for _ in 0..40 {
            host.wait_until(host.now_ns + 90 * MS);
            host.serve(read(100, 1));
            assert_eq!(background_writes(&host).len(), round);
        }
        host.wait_until(host.now_ns + 120 * MS);
        assert_eq!(background_writes(&host).len(), round + 1);
    }
}

#[test]
fn writes_that_overlap_are_written_once() {
    let mut host = Host::new(&tiny_cache());
    for request in [
        write(10, 4),
        write(12, 4),
        write(20, 2),
        write(18, 2),
        write(0, 2),
        write(11, 1),
    ] {
        host.serve(request);
    }
    host.serve(flush());
    let mut written = background_writes(&host);
    written.sort_unstable();
    let extents: Vec<_> = written
        .iter()
        .map(|&(sector, sectors, _)| (sector, sectors))
        .collect();
    assert_eq!(extents, [(0, 2), (10, 6), (18, 4)]);
}

#[test]
fn a_flush_ends_with_the_last_earlier_write() {
    let mut host = Host::new(&tiny_cache());
    assert_eq!(host.serve(flush()).done_ns, 100_000, "nothing is held");
    host.serve(write(5, 1));
    host.serve(write(45, 1));
    let flushed = host.submit(flush());
    // A write during the flush, next to sectors that the flush waits for, does not delay it.
    host.submit(write(6, 1));
    host.submit(write(100, 1));
    host.wait_until(host.now_ns + 90 * MS);
    let flushed = done(&host, flushed);
    let written = background_writes(&host);
    let addresses: Vec<u64> = written.iter().map(|&(sector, _, _)| sector).collect();
    assert_eq!(addresses, [5, 45]);
    assert_eq!(flushed.done_ns, written[1].2);
    assert_eq!(flushed.parts.sum_ns(), flushed.done_ns - flushed.start_ns);
    // Its media writes began at its submission, at 0.1 (flush) + 2 * 0.101 + 0.1: sector 5 at 5 ms;
    // then from 6 to the third cylinder, over two: 3 ms and 0.5 of settling, 9.5; sector 45 is at
    // 46 + 5 modulo 10, so at 11 ms.
    assert_eq!(written[0].2, 6 * MS);
    assert_eq!(written[1].2, 12 * MS);
    assert_eq!(host.serve(flush()).op, DiskOp::Flush);
    assert_eq!(background_writes(&host).len(), 4);
}

#[test]
fn a_flush_is_not_delayed_by_later_writes_to_adjacent_sectors() {
    let mut host = Host::new(&tiny_cache());
    for (sector, sectors) in [(45, 1), (100, 4), (160, 4)] {
        host.serve(write(sector, sectors));
    }
    let flushed = host.submit(flush());
    // The media write of sector 45 has begun; these are adjacent to the other two.
    for sector in [104, 158] {
        host.submit(write(sector, 2));
    }
    host.wait_until(host.now_ns + 90 * MS);
    let flushed = done(&host, flushed);
    let written = background_writes(&host);
    let mut extents: Vec<_> = written.iter().map(|write| (write.0, write.1)).collect();
    extents.sort_unstable();
    assert_eq!(extents, [(45, 1), (100, 4), (160, 4)]);
    assert_eq!(flushed.done_ns, written[2].2);
    host.serve(flush());
    assert_eq!(background_writes(&host).len(), 5);
}

#[test]
fn a_write_through_is_on_the_media_and_replaces_cached_sectors() {
    let mut host = Host::new(&tiny_cache());
    host.serve(write(4, 6));
    let done = host.serve(write_through(6, 2));
    assert!(done.fua && !done.cached);
    assert_eq!(done.parts.transfer_ns, 2 * MS);
    assert!(background_writes(&host).is_empty());
    host.serve(flush());
    // The sectors around it remain to be written.
    let extents: Vec<_> = background_writes(&host)
        .iter()
        .map(|write| (write.0, write.1))
        .collect();
    assert_eq!(extents.iter().map(|extent| extent.1).sum::<u32>(), 4);
    assert!(extents.contains(&(4, 2)) && extents.contains(&(8, 2)));
}

#[test]
fn a_full_cache_makes_writes_wait() {
    let mut host = Host::new(&tiny_cache());
    // 32 sectors fit; at 24 the disk begins to write.
    for i in 0..3 {
        assert_eq!(host.serve(write(i * 60, 8)).parts.cache_ns, 8_000);
    }
    let fourth = host.serve(write(180, 8));
    let fifth = host.serve(write(220 - 8, 8));
    assert_eq!(fourth.parts.cache_ns, 8_000);
    assert!(fifth.cached);
    // The first media write, begun at the third request, makes room for 8.
    let (_, sectors, first_ns) = background_writes(&host)[0];
    assert_eq!(sectors, 8);
    assert_eq!(fifth.done_ns, first_ns + 8_000);
    assert_eq!(
        fifth.parts.cache_ns,
        fifth.done_ns - fifth.start_ns - 100_000
    );
}

#[test]
fn a_request_larger_than_the_cache_bypasses_it() {
    let mut host = Host::new(&tiny_cache());
    host.serve(write(0, 2));
    let done = host.serve(write(0, 33));
    assert!(!done.cached);
    assert_eq!(done.parts.transfer_ns, (33 + 1 + 2 + 1) * MS);
    host.serve(flush());
    assert!(
        background_writes(&host).is_empty(),
        "what was held is on the media with it"
    );
}

/// The mean time between completions.
fn pace_ns(done: &[DiskDone]) -> f64 {
    let (first, last) = (done[0].done_ns, done[done.len() - 1].done_ns);
    (last - first) as f64 / (done.len() - 1) as f64
}

#[test]
fn random_writes_run_at_the_interface_until_the_cache_is_full_and_then_at_the_media() {
    let disk = desktop_disk();
    let mut host = Host::new(&disk);
    let mut random = Random(5);
    let sectors = disk.number("sectors") / 8;
    host.keep_busy(1, (0..6000).map(|_| write(random.below(sectors) * 8, 8)));
    assert!(host.done.iter().all(|done| done.cached));
    // 4 MiB hold 1024 writes; the first three quarters do not wait.
    let burst = pace_ns(&host.done[..768]);
    assert_near(
        "time of a write into the cache",
        burst,
        150_000.0 + 4096.0 / 0.3,
        0.001,
    );
    let waited = host
        .done
        .iter()
        .position(|done| done.parts.cache_ns > MS)
        .expect("it gets full");
    assert!(
        (1024..1060).contains(&waited),
        "the first one to wait is {waited}"
    );
    // From there on, each media write admits one write.
    let steady = pace_ns(&host.done[2000..]);
    let from = host.done[2000].done_ns;
    let written: Vec<_> = host
        .background
        .iter()
        .filter(|done| done.done_ns >= from)
        .copied()
        .collect();
    assert_near(
        "time of a write of a full cache",
        steady,
        pace_ns(&written),
        0.005,
    );
    // Faster than the same writes without a cache, since the nearest of 1000 is written next.
    let mut bare = Host::new(&disk.clone().with("write_cache", 0));
    let ns = bare.keep_busy(1, (0..1000).map(|_| write(random.below(sectors) * 8, 8)));
    let gain = ns as f64 / 1000.0 / steady;
    assert!(
        (2.0..6.0).contains(&gain),
        "a cache makes random writes {gain:.2} times as fast"
    );
}

#[test]
fn writes_in_order_go_at_the_rate_of_the_media() {
    // 125 MB/s at the outer edge and the interface at 300 MB/s: 64 MiB through 4 MiB of cache.
    let mut host = Host::new(&desktop_disk());
    let ns = host.keep_busy(1, (0..512).map(|i| write(i * 256, 256)));
    let flushed = host.serve(flush());
    assert!(ns < flushed.done_ns);
    // Since three quarters of the cache were full and the disk began to write.
    let seconds = (flushed.done_ns - host.background[0].start_ns) as f64 / 1e9;
    assert_near(
        "rate to the media",
        512.0 * 256.0 * 512.0 / seconds,
        125e6,
        0.02,
    );
    // The head never leaves the track sequence: one rotational delay, then none.
    let turns = host
        .background
        .iter()
        .filter(|done| done.parts.rotation_ns > 0)
        .count();
    assert_eq!(turns, 1);
}

#[test]
fn reads_and_a_full_cache_take_turns() {
    let disk = desktop_disk();
    let mut host = Host::new(&disk);
    let mut random = Random(9);
    let sectors = disk.number("sectors") / 8;
    host.keep_busy(8, (0..2000).map(|_| write(random.below(sectors) * 8, 8)));
    let requests = (0..4000).map(|i| {
        let sector = random.below(sectors) * 8;
        if i % 2 == 0 {
            read(sector, 8)
        } else {
            write(sector, 8)
        }
    });
    host.keep_busy(8, requests);
    let longest = |op: DiskOp| {
        let of_op = host.done.iter().skip(2000).filter(|done| done.op == op);
        of_op
            .map(|done| done.done_ns - done.submit_ns)
            .max()
            .expect("some")
    };
    // Eight in the queue, with two accesses of up to 35 ms each.
    assert!(
        longest(DiskOp::Read) < 600 * MS,
        "{}",
        longest(DiskOp::Read)
    );
    assert!(
        longest(DiskOp::Write) < 600 * MS,
        "{}",
        longest(DiskOp::Write)
    );
}

#[test]
fn a_disk_without_a_cache_has_nothing_to_flush() {
    let mut host = Host::new(&tiny_disk());
    let done = host.serve(write(0, 1));
    assert!(!done.cached);
    let flushed = host.serve(flush());
    assert_eq!(flushed.done_ns - flushed.submit_ns, 100_000);
}

#[test]
fn flushes_that_come_together_end_together() {
    let mut host = Host::new(&tiny_cache());
    host.serve(write(50, 4));
    for _ in 0..3 {
        host.submit(flush());
    }
    host.wait_for_all();
    let ends: Vec<u64> = host
        .done
        .iter()
        .filter(|done| done.op == DiskOp::Flush)
        .map(|done| done.done_ns)
        .collect();
    assert_eq!(ends, [background_writes(&host)[0].2; 3]);
}

#[test]
fn a_block_whose_parts_are_all_cached_is_written_without_a_read() {
    // Eight sectors of one block, one by one: no read before the write.
    let disk = desktop_disk().with("physical_block_bytes", 4096);
    let mut host = Host::new(&disk);
    for i in 0..8 {
        host.serve(write(80_000 + i, 1));
    }
    host.serve(write(160_000, 1));
    host.serve(flush());
    let rev_ns = 60_000_000_000 / 7200;
    let of = |sector: u64| {
        *host
            .background
            .iter()
            .find(|done| done.sector == sector)
            .expect("it was written")
    };
    assert!(of(80_000).parts.rotation_ns < rev_ns);
    assert_eq!(of(80_000).sectors, 8);
    // The other one waits for almost a revolution between reading and writing.
    let part = of(160_000).parts;
    assert!(part.rotation_ns + part.transfer_ns / 2 >= rev_ns);
}

#[test]
fn a_cached_write_completes_before_its_media_write() {
    let mut host = Host::new(&tiny_cache());
    let request = HostRequest {
        sector: 30,
        ..write(0, 5)
    };
    let done = host.serve(request);
    host.wait_for_all();
    let (sector, sectors, written_ns) = background_writes(&host)[0];
    assert_eq!((sector, sectors), (30, 5));
    assert!(written_ns > done.done_ns);
    assert_eq!(host.background[0].tag, None);
}
