//! A RAID controller's write cache: admission, write-back, and its gain.

use fslab_simdisk_sys::{DiskModel, DiskOp};

use crate::host::{Host, HostRequest, Random, assert_near, flush, read, write, write_through};
use crate::parameters::{Parameters, bare_disk, desktop_disk, tiny_disk};

const MS: u64 = 1_000_000;

/// The disk behind a cache of 2048 sectors, with a bus of 1 microsecond a sector.
fn behind(disk: Parameters) -> Parameters {
    disk.with("controller_bytes", 1 << 20)
        .with("controller_bytes_per_s", 512_000_000)
        .with("controller_command_ns", 10_000)
        .with("controller_interval_ns", 1_000 * MS)
        .with("controller_writes", 4)
}

fn raid10(disk: Parameters) -> Parameters {
    disk.with("array", "raid10")
        .with("members", 4)
        .with("chunk_sectors", 128)
}

fn written(host: &Host) -> Vec<(u64, u32)> {
    let writes = host.background.iter();
    writes
        .filter(|done| done.op == DiskOp::MediaWrite && done.member == 255)
        .map(|done| (done.sector, done.sectors))
        .collect()
}

#[test]
fn a_write_and_a_read_of_it_take_the_command_and_the_bus() {
    let mut host = Host::new(&behind(tiny_disk()));
    let done = host.serve(write(5, 4));
    assert!(done.cached);
    assert_eq!(done.done_ns, 10_000 + 4_000);
    assert_eq!(
        (done.parts.command_ns, done.parts.cache_ns),
        (10_000, 4_000)
    );
    let again = host.serve(read(6, 3));
    assert!(again.cached);
    assert_eq!(again.done_ns - again.submit_ns, 10_000 + 3_000);
    assert!(
        !host.serve(read(6, 4)).cached,
        "only a part is in the cache"
    );
}

#[test]
fn a_flush_and_a_write_through_do_not_wait_for_the_disks() {
    let mut host = Host::new(&behind(raid10(desktop_disk())));
    for at in 0..20 {
        host.serve(write(at * 100_000, 8));
    }
    let done = host.serve(flush());
    assert_eq!(done.done_ns - done.submit_ns, 10_000);
    let done = host.serve(write_through(7, 4));
    assert_eq!(done.done_ns - done.submit_ns, 10_000 + 4_000);
    assert!(host.background.is_empty());
}

#[test]
fn a_read_of_what_is_not_in_the_cache_takes_the_disk_and_the_command() {
    let mut bare = Host::new(&raid10(desktop_disk()));
    let mut host = Host::new(&behind(raid10(desktop_disk())));
    let expected = bare.serve(read(1_000_000, 64));
    // A revolution later the disk is at the same place; the command delays it.
    let done = host.serve(read(1_000_000, 64));
    let parts = done.parts;
    assert_eq!(parts.seek_ns, expected.parts.seek_ns);
    assert_eq!(parts.command_ns, expected.parts.command_ns + 10_000);
    assert_eq!(parts.sum_ns(), done.done_ns - done.start_ns);
}

#[test]
fn the_cache_is_written_back_at_the_end_of_the_interval_in_the_order_of_addresses() {
    let mut host = Host::new(&behind(tiny_disk()));
    for (sector, sectors) in [(40, 2), (5, 2), (100, 1), (7, 3), (41, 3), (5, 1)] {
        host.serve(write(sector, sectors));
    }
    host.wait_until(1_000 * MS);
    assert!(host.background.is_empty());
    host.wait_for_all();
    assert_eq!(written(&host), [(5, 5), (40, 4), (100, 1)]);
    // The interval began with the first write, which was in the cache after 12 microseconds.
    assert!(host.background[0].start_ns >= 1_000 * MS + 12_000);
    // What is on the disk is not in the cache.
    assert!(!host.serve(read(40, 4)).cached);
}

#[test]
fn what_is_written_on_the_way_to_the_disk_is_written_again() {
    let mut host = Host::new(&behind(tiny_disk()));
    host.serve(write(50, 2));
    host.wait_until(1_000 * MS + 50_000);
    assert!(host.background.is_empty());
    // On its way, it is still read from the cache.
    assert!(host.serve(read(50, 2)).cached);
    assert!(host.serve(write(50, 1)).cached);
    host.wait_for_all();
    assert_eq!(written(&host), [(50, 2), (50, 1)]);
}

#[test]
fn pieces_end_with_the_rows_of_the_array() {
    // Two chunks of 128 sectors make a row.
    let mut host = Host::new(&behind(raid10(bare_disk())));
    host.serve(write(200, 500));
    host.wait_for_all();
    assert_eq!(written(&host), [(200, 56), (256, 256), (512, 188)]);
}

#[test]
fn a_full_cache_makes_writes_wait_for_the_disks() {
    let disk = raid10(bare_disk());
    let mut host = Host::new(&behind(disk.clone()));
    let mut random = Random(3);
    let blocks = host.model.capacity_sectors() / 8;
    host.keep_busy(1, (0..4000).map(|_| write(random.below(blocks) * 8, 8)));
    // 256 writes of 8 sectors fill it; at 192 it begins to be written.
    assert!(
        host.done[..256]
            .iter()
            .all(|done| done.parts.cache_ns == 8_000)
    );
    assert!(host.done.iter().all(|done| done.cached));
    let pace = |from: usize, to: usize| {
        (host.done[to].done_ns - host.done[from].done_ns) as f64 / (to - from) as f64
    };
    assert_near(
        "time of a write into the cache",
        pace(0, 190),
        18_000.0,
        0.001,
    );
    // Then as fast as the array with the writes that the controller has in flight, or faster,
    // since it gives them in the order of the addresses.
    let mut bare = Host::new(&disk);
    let ns = bare.keep_busy(16, (0..4000).map(|_| write(random.below(blocks) * 8, 8)));
    let gain = ns as f64 / 4000.0 / pace(1000, 3999);
    assert!((1.0..4.0).contains(&gain), "{gain:.2} times as fast");
}

#[test]
fn writes_in_order_go_at_the_rate_of_the_array() {
    // Two pairs at 125 MB/s each.
    let mut host = Host::new(&behind(raid10(bare_disk())));
    host.keep_busy(4, (0..800).map(|i| write(i * 256, 256)));
    let (first, last) = (host.done[200].done_ns, host.done[799].done_ns);
    let rate = 599.0 * 131_072.0 / (last - first) as f64 * 1e9;
    assert_near("rate to the array", rate, 250e6, 0.04);
}

#[test]
fn a_write_larger_than_the_cache_passes_it_by() {
    let mut host = Host::new(&behind(raid10(bare_disk())));
    host.serve(write(0, 100));
    assert!(!host.serve(write(0, 2049)).cached);
    host.wait_for_all();
    assert_eq!(written(&host), []);
}

#[test]
fn what_is_discarded_is_not_written() {
    let mut host = Host::new(&behind(tiny_disk()));
    host.serve(write(0, 30));
    let discard = HostRequest {
        op: DiskOp::Discard,
        ..write(10, 10)
    };
    host.serve(discard);
    host.wait_for_all();
    assert_eq!(written(&host), [(0, 10), (20, 10)]);
}

#[test]
fn a_controller_that_no_one_builds_is_refused() {
    let complete = behind(tiny_disk());
    for (name, value) in [
        ("controller_bytes", 4096),
        ("controller_bytes_per_s", 0),
        ("controller_interval_ns", 0),
        ("controller_writes", 0),
        ("controller_writes", 65),
    ] {
        let fault = DiskModel::new(&complete.clone().with(name, value).text());
        let fault = fault.expect_err("refused");
        assert!(fault.starts_with(name), "{fault}");
    }
    let fault = DiskModel::new(&complete.without("controller_writes").text());
    assert_eq!(fault.expect_err("refused"), "controller_writes is missing");
}
