//! Flash memory: the disks of its tests; dies, channels and the interface, against closed forms.

mod any;
mod block;
mod buffer;
mod page;

use fslab_simdisk_sys::{DiskDone, DiskOp};

use crate::host::{Host, HostRequest, Random, assert_near, read, write};
use crate::parameters::{Parameters, tiny_disk};

/// Sectors of a grain, the mapping unit of 4 KiB.
const GRAIN: u64 = 8;
const COMMAND_NS: u64 = 10_000;
/// 4 KiB over an interface of 1 GB/s, and over a channel of 400 MB/s.
const INTERFACE_NS: u64 = 4096;
const CHANNEL_NS: u64 = 10_240;
const READ_NS: u64 = 50_000;
const PROGRAM_NS: u64 = 400_000;
const ERASE_NS: u64 = 2_000_000;
/// Copying of one page within a die, by garbage collection and merges.
const COPY_NS: u64 = READ_NS + 2 * CHANNEL_NS + PROGRAM_NS;

fn flash() -> Parameters {
    let platters = [
        "rpm",
        "heads",
        "zones",
        "outer_bytes_per_s",
        "inner_bytes_per_s",
        "head_switch_ns",
        "seek_track_ns",
        "seek_average_ns",
        "seek_full_ns",
        "write_settle_ns",
        "read_segments",
    ];
    let disk = platters
        .iter()
        .fold(tiny_disk(), |disk, name| disk.without(name));
    disk.with("kind", "flash")
        .with("physical_block_bytes", 4096)
        .with("interface_bytes_per_s", 1_000_000_000)
        .with("command_ns", COMMAND_NS)
        .with("page_bytes", 4096)
        .with("pages_per_block", 64)
        .with("page_read_ns", READ_NS)
        .with("page_program_ns", PROGRAM_NS)
        .with("block_erase_ns", ERASE_NS)
        .with("channel_bytes_per_s", 400_000_000)
        .with("discard", 1)
}

/// 16 dies on 4 channels, 2 GiB, full, without a cache.
fn ssd() -> Parameters {
    flash()
        .with("sectors", 1 << 22)
        .with("queue_depth", 256)
        .with("channels", 4)
        .with("dies_per_channel", 4)
        .with("mapping", "page")
        .with("spare_permille", 250)
        .with("precondition_permille", 1000)
}

/// One die, areas of 64 pages, 2 logs, full.
fn stick() -> Parameters {
    flash()
        .with("sectors", 64 * 1000 * GRAIN)
        .with("queue_depth", 1)
        .with("channels", 1)
        .with("dies_per_channel", 1)
        .with("mapping", "block")
        .with("open_blocks", 2)
        .with("spare_permille", 20)
        .with("precondition_permille", 1000)
}

fn fresh(disk: Parameters) -> Parameters {
    disk.with("precondition_permille", 0)
}

fn cached(disk: Parameters) -> Parameters {
    disk.with("write_cache", 1).with("buffer_bytes", 1 << 20)
}

fn discard(sector: u64, sectors: u32) -> HostRequest {
    HostRequest {
        op: DiskOp::Discard,
        ..read(sector, sectors)
    }
}

fn everything(host: &Host) -> u32 {
    u32::try_from(host.model.capacity_sectors()).expect("the disks of the tests are small")
}

fn took_ns(done: &DiskDone) -> u64 {
    done.done_ns - done.submit_ns
}

/// Background reads or writes in grains.
fn background_grains(host: &Host, op: DiskOp) -> u64 {
    let own = host.background.iter().filter(|done| done.op == op);
    own.map(|done| u64::from(done.sectors) / GRAIN).sum()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "times and counts of tests are small"
)]
fn float(number: u64) -> f64 {
    number as f64
}

fn per_second(count: u64, ns: u64) -> f64 {
    float(count) * 1e9 / float(ns)
}

fn random_reads(disk: &Parameters, depth: usize, count: u64) -> f64 {
    let (mut host, mut random) = (Host::new(disk), Random(1));
    let grains = host.model.capacity_sectors() / GRAIN;
    let ns = host.keep_busy(
        depth,
        (0..count).map(|_| read(random.below(grains) * GRAIN, 8)),
    );
    per_second(count, ns)
}

/// Bytes per second of 200 sequential requests of 1 MiB.
fn stream(disk: &Parameters, depth: usize, request: fn(u64, u32) -> HostRequest) -> f64 {
    let mut host = Host::new(disk);
    let ns = host.keep_busy(depth, (0..200).map(|i| request(i * 2048, 2048)));
    per_second(200 << 20, ns)
}

#[test]
fn a_read_alone_is_the_sum_of_its_parts() {
    let (mut host, mut random) = (Host::new(&ssd()), Random(7));
    for _ in 0..100 {
        let done = host.serve(read(random.below(1 << 19) * GRAIN, 8));
        assert_eq!(
            took_ns(&done),
            COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS
        );
        assert_eq!(done.start_ns, done.submit_ns);
        assert_eq!(done.parts.command_ns, COMMAND_NS);
        assert_eq!(done.parts.transfer_ns, READ_NS + CHANNEL_NS);
        assert_eq!(done.parts.cache_ns, INTERFACE_NS);
        assert_eq!((done.parts.seek_ns, done.parts.rotation_ns), (0, 0));
        assert!(!done.cached);
    }
}

#[test]
fn random_reads_rise_with_the_depth_up_to_the_bottleneck() {
    let rows = [
        // 4 dies of 50 us.
        (ssd().with("dies_per_channel", 1), 4.0 * 20_000.0, 4.0),
        // One channel of 10.24 us.
        (
            ssd().with("channels", 1).with("dies_per_channel", 16),
            1e9 / 10_240.0,
            1.0,
        ),
        // An interface of 40.96 us.
        (
            ssd().with("interface_bytes_per_s", 100_000_000),
            1e9 / 40_960.0,
            1.0,
        ),
    ];
    for (disk, limit, servers) in rows {
        let mut before = 0.0;
        for depth in [1_u32, 4, 16, 64, 256] {
            let rate = random_reads(&disk, depth as usize, 20_000);
            assert!(
                rate >= before * 0.999,
                "{rate} at depth {depth}, {before} before"
            );
            assert!(
                rate <= limit * 1.001,
                "{rate} at depth {depth} is above {limit}"
            );
            // A closed network of equal servers with exponential times; fixed times are not slower.
            let least = f64::from(depth) / (f64::from(depth) + servers - 1.0);
            // Other stages hold some of the requests, too.
            if depth == 256 {
                assert!(
                    rate >= limit * least * 0.98,
                    "{rate} at depth {depth}, limit {limit}"
                );
            }
            before = rate;
        }
    }
}

#[test]
fn streams_run_at_the_rate_of_the_slowest_stage() {
    let slow_interface = ssd().with("interface_bytes_per_s", 50_000_000);
    let slow_channels = ssd().with("channel_bytes_per_s", 10_000_000);
    // Dies: 16 pages of 4 KiB in 50 us or 400 us.
    let fast = ssd()
        .with("interface_bytes_per_s", 10_000_000_000_u64)
        .with("channel_bytes_per_s", 2_000_000_000);
    assert_near(
        "dies read",
        stream(&fast, 8, read),
        16.0 * 4096.0 / 50e-6,
        0.02,
    );
    assert_near(
        "dies write",
        stream(&fresh(fast), 8, write),
        16.0 * 4096.0 / 400e-6,
        0.02,
    );
    assert_near(
        "channels read",
        stream(&slow_channels, 8, read),
        4.0 * 10e6,
        0.02,
    );
    assert_near(
        "channels write",
        stream(&fresh(slow_channels), 8, write),
        4.0 * 10e6,
        0.02,
    );
    assert_near(
        "interface reads",
        stream(&slow_interface, 8, read),
        50e6,
        0.02,
    );
    assert_near(
        "interface writes",
        stream(&fresh(slow_interface), 8, write),
        50e6,
        0.02,
    );
}

#[test]
fn a_write_without_a_cache_ends_on_the_media() {
    let mut host = Host::new(&ssd());
    let done = host.serve(write(80, 8));
    assert_eq!(
        took_ns(&done),
        COMMAND_NS + INTERFACE_NS + CHANNEL_NS + PROGRAM_NS
    );
    assert_eq!(done.parts.transfer_ns, CHANNEL_NS + PROGRAM_NS);
    assert_eq!(done.parts.cache_ns, INTERFACE_NS);
    assert!(!done.cached);
}

#[test]
fn reads_overtake_waiting_programs_a_limited_number_of_times() {
    let one_die = ssd().with("channels", 1).with("dies_per_channel", 1);
    let mut host = Host::new(&one_die);
    for i in 0..20 {
        host.submit(write(i * 8, 8));
    }
    host.wait_until(1_000_000);
    // At most one program is in progress.
    let done = host.serve(read(1 << 20, 8));
    let alone_ns = COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS;
    assert!(
        took_ns(&done) < alone_ns + PROGRAM_NS + CHANNEL_NS,
        "{done:?}"
    );
    // Despite a stream of reads, the write ends after 8 of them at the latest.
    let mut host = Host::new(&one_die);
    let reads = (0..50).map(|i| read((100 + i) * 8, 8));
    host.keep_busy(20, std::iter::once(write(0, 8)).chain(reads));
    let passed = host.done.iter().position(|done| done.op == DiskOp::Write);
    assert!(
        passed.is_some_and(|passed| (1..=20).contains(&passed)),
        "{passed:?}"
    );
}

#[test]
fn a_write_of_a_part_of_a_grain_reads_the_rest_of_it_first() {
    let sector_ns = 512;
    let plain_ns = COMMAND_NS + sector_ns + CHANNEL_NS + PROGRAM_NS;
    let full = Host::new(&ssd()).serve(write(3, 1));
    assert_eq!(took_ns(&full), plain_ns + READ_NS + CHANNEL_NS);
    // An unwritten grain has no rest to read.
    let empty = Host::new(&fresh(ssd())).serve(write(3, 1));
    assert_eq!(took_ns(&empty), plain_ns);
    // Two partial and two complete grains, from sector 4 to 28: the rests are read one by one.
    let mut host = Host::new(&ssd());
    host.serve(write(4, 24));
    assert_eq!(background_grains(&host, DiskOp::MediaWrite), 0);
    let done = host.serve(read(0, 32));
    // The four are on four dies, each on a separate channel.
    assert_eq!(
        took_ns(&done),
        COMMAND_NS + READ_NS + CHANNEL_NS + 4 * INTERFACE_NS
    );
}
