//! Hard disks: seeks, rotation and transfer, against closed forms and cases computed by hand.

use fslab_simdisk_sys::{DiskModel, DiskOp};

use crate::host::{Host, Random, assert_near, read, write};
use crate::parameters::{Parameters, bare_disk, tiny_disk};

const MS: u64 = 1_000_000;

#[test]
fn the_first_sector_of_a_tiny_disk_takes_the_time_computed_by_hand() {
    let mut host = Host::new(&tiny_disk());
    // The command takes 0.1 ms; sector 0 is under the head at every multiple of 10 ms, so the wait
    // is 9.9 ms, and the transfer a tenth of a revolution.
    let done = host.serve(read(0, 1));
    assert_eq!(
        (done.submit_ns, done.start_ns, done.done_ns),
        (0, 0, 11 * MS)
    );
    assert_eq!(done.parts.command_ns, 100_000);
    assert_eq!(done.parts.seek_ns, 0);
    assert_eq!(done.parts.rotation_ns, 9_900_000);
    assert_eq!(done.parts.transfer_ns, MS);
    assert_eq!(done.parts.cache_ns, 0);
    assert!(!done.cached);
}

#[test]
fn tracks_are_skewed_by_their_switches() {
    let mut host = Host::new(&tiny_disk());
    // Sector 10 is the first of the second head, whose track is skewed by the 1 ms of the switch:
    // command until 0.1, switch until 1.1, which is 0.1 too late for the angle of 1 ms: a
    // revolution.
    let done = host.serve(read(10, 1));
    assert_eq!(done.parts.seek_ns, MS);
    assert_eq!(done.parts.rotation_ns, 9_900_000);
    assert_eq!(done.done_ns, 12 * MS);
    // Sector 20 is the first of the second cylinder, skewed by another 2 ms for its switch, so it
    // is at 3 ms. From 12.1 the arm takes 2 ms, until 14.1, and the head changes meanwhile.
    let done = host.serve(read(20, 1));
    assert_eq!(done.parts.seek_ns, 2 * MS);
    assert_eq!(done.parts.rotation_ns, 8_900_000);
    assert_eq!(done.done_ns, 24 * MS);
    // Sector 4 of the cylinder after it, at 3 + 3 + 4 ms: from 24.1 seek until 26.1, at 30 there.
    let done = host.serve(read(44, 2));
    assert_eq!(done.parts.seek_ns, 2 * MS);
    assert_eq!(done.parts.rotation_ns, 3_900_000);
    assert_eq!(done.parts.transfer_ns, 2 * MS);
    assert_eq!(done.done_ns, 32 * MS);
}

#[test]
fn a_long_transfer_takes_revolutions_and_switches_alone() {
    let mut host = Host::new(&tiny_disk());
    // Three cylinders: six revolutions, three head switches and two cylinder switches.
    let done = host.serve(read(0, 60));
    assert_eq!(done.parts.transfer_ns, (6 * 10 + 3 + 2 * 2) * MS);
    assert_eq!(done.done_ns, 10 * MS + done.parts.transfer_ns);
    // From the middle of a track to the middle of another.
    let done = host.serve(read(5, 10));
    assert_eq!(done.parts.transfer_ns, 11 * MS);
}

#[test]
fn the_seek_curve_of_few_cylinders_is_a_line() {
    // 11 cylinders: from 2 ms over one to 11 ms over ten, so another millisecond each.
    let mut host = Host::new(&tiny_disk());
    for distance in 1..=10 {
        host.serve(read(0, 1));
        let done = host.serve(read(20 * distance, 1));
        assert_eq!(done.parts.seek_ns, (1 + distance) * MS, "over {distance}");
    }
}

#[test]
fn a_write_settles_after_a_move_and_only_then() {
    let mut host = Host::new(&tiny_disk());
    let there = host.serve(write(20, 1));
    assert_eq!(there.parts.seek_ns, 2 * MS + 500_000);
    let same_track = host.serve(write(25, 1));
    assert_eq!(same_track.parts.seek_ns, 0);
    let other_head = host.serve(write(30, 1));
    assert_eq!(other_head.parts.seek_ns, MS + 500_000);
    let reading = host.serve(read(20, 1));
    assert_eq!(reading.parts.seek_ns, MS);
}

#[test]
fn a_write_waits_for_its_data() {
    // 5120 bytes at 100 kB/s take 51.2 ms on the interface, and the media waits for all of them:
    // the command until 0.1, the data until 51.3, sector 0 at 60, and a revolution.
    let slow = tiny_disk().with("interface_bytes_per_s", 100_000);
    let done = Host::new(&slow).serve(write(0, 10));
    assert_eq!(done.parts.rotation_ns, 60 * MS - 100_000);
    assert_eq!(done.parts.transfer_ns, 10 * MS);
    assert_eq!(done.done_ns, 70 * MS);
}

#[test]
fn a_slow_interface_ends_after_the_media() {
    // The media takes 10 ms, during which the interface transfers what it can; the rest of the 51.2
    // ms comes after it.
    let slow = tiny_disk().with("interface_bytes_per_s", 100_000);
    let done = Host::new(&slow).serve(read(0, 10));
    assert_eq!(done.parts.transfer_ns, 10 * MS);
    assert_eq!(done.parts.cache_ns, 41_200_000);
    assert_eq!(done.done_ns, 61_200_000);
}

/// A tiny disk with blocks of 8 sectors and 16 sectors per track: a block is half a revolution.
fn tiny_disk_of_blocks() -> Parameters {
    tiny_disk()
        .with("physical_block_bytes", 4096)
        .with("sectors", 32 * 11)
        .with("outer_bytes_per_s", 32 * 512 * 1000 / 23)
        .with("inner_bytes_per_s", 32 * 512 * 1000 / 23)
}

#[test]
fn a_partial_block_is_read_and_written_a_revolution_later() {
    let mut host = Host::new(&tiny_disk_of_blocks());
    // The block of sectors 0 to 7 passes from 10 to 15 ms, and again from 20 to 25.
    let done = host.serve(write(3, 1));
    assert_eq!(done.parts.seek_ns, 0);
    assert_eq!(done.parts.rotation_ns, 9_900_000 + 5 * MS);
    assert_eq!(done.parts.transfer_ns, 10 * MS);
    assert_eq!(done.done_ns, 25 * MS);
    // A complete block: from 25.1, reached at 30.
    let done = host.serve(write(0, 8));
    assert_eq!(done.parts.rotation_ns, 4_900_000);
    assert_eq!(done.parts.transfer_ns, 5 * MS);
    assert_eq!(done.done_ns, 35 * MS);
    // Blocks 0 and 1 and a part of block 2, which is on the other head at 11 ms of its track: that
    // one is read first, from 41 (1 ms of switch from 35.1) to 46; then back with a switch and the
    // settling of a write, until 47.5; block 0 at 50; two blocks, a switch, and one more.
    let done = host.serve(write(0, 17));
    assert_eq!(done.parts.seek_ns, MS + MS + 500_000);
    assert_eq!(done.done_ns, 50 * MS + 10 * MS + MS + 5 * MS);
    // A read of part of a block reads all of it.
    let done = host.serve(read(1, 2));
    assert_eq!(done.parts.transfer_ns, 5 * MS);
}

/// One zone, so that equally likely sectors are equally likely cylinders.
fn one_zone() -> Parameters {
    bare_disk().with("zones", 1).with("queue_depth", 1)
}

/// Sectors of one cylinder of `one_zone`, from its rate as the model defines it: sectors of a track
/// by the mean time of a track.
fn cylinder_sectors(disk: &Parameters, rate: u64) -> u64 {
    let rev_ns = 60_000_000_000 / disk.number("rpm");
    let heads = disk.number("heads");
    let switches = (heads - 1) * disk.number("head_switch_ns") + disk.number("seek_track_ns");
    let cylinder_ns = heads * rev_ns + switches;
    (rate as f64 * cylinder_ns as f64 / 1e9 / 512.0 / heads as f64).round() as u64 * heads
}

#[test]
fn single_seeks_of_the_data_sheet_are_exact() {
    let disk = one_zone();
    let mut host = Host::new(&disk);
    let cylinder = cylinder_sectors(&disk, 125_000_000);
    host.serve(read(0, 1));
    assert_eq!(
        host.serve(read(cylinder, 1)).parts.seek_ns,
        disk.number("seek_track_ns")
    );
    host.serve(read(0, 1));
    let last = host.model.capacity_sectors() - 1;
    assert_eq!(
        host.serve(read(last, 1)).parts.seek_ns,
        disk.number("seek_full_ns")
    );
    assert_eq!(
        host.serve(read(0, 1)).parts.seek_ns,
        disk.number("seek_full_ns")
    );
}

#[test]
fn seek_times_rise_as_a_square_root_and_then_linearly() {
    let disk = one_zone();
    let mut host = Host::new(&disk);
    let cylinder = cylinder_sectors(&disk, 125_000_000);
    let full = (host.model.capacity_sectors() - 1) / cylinder;
    let mut seek = |distance: u64| {
        host.serve(read(0, 1));
        host.serve(read(distance * cylinder, 1)).parts.seek_ns as f64
    };
    let mut last = 0.0;
    for step in 0..=400 {
        let time = seek(1 + (full - 1) * step / 400);
        assert!(
            time >= last,
            "the seek over {step}/400 of the disk is shorter than one before it"
        );
        last = time;
    }
    // In the square root part, (s(d) - s(1)) / (sqrt(d) - 1) is constant, up to 0.01 % for linear
    // interpolation between nodes of the curve, and one nanosecond for rounding.
    let slope = |distance: u64, time: f64| (time - 1e6) / ((distance as f64).sqrt() - 1.0);
    let knot = full / 3;
    let expected = slope(knot, seek(knot));
    for distance in [2, 3, 10, 63, 64, 65, 100, 1000, 5000, knot / 2, knot - 1] {
        let found = slope(distance, seek(distance));
        assert_near(&format!("slope at {distance}"), found, expected, 1e-4);
    }
    // Beyond it the curve is linear: the middle is the mean.
    let (low, middle, high) = (seek(knot), seek((knot + full) / 2), seek(full));
    assert_near("middle of the line", middle, f64::midpoint(low, high), 1e-4);
}

#[test]
fn random_reads_take_the_mean_seek_of_the_data_sheet_and_half_a_revolution() {
    for (track, average, full) in [
        (1_000_000, 8_500_000, 18_000_000),
        (200_000, 3_400_000, 7_500_000),
    ] {
        let disk = one_zone()
            .with("seek_track_ns", track)
            .with("seek_average_ns", average)
            .with("seek_full_ns", full);
        let mut host = Host::new(&disk);
        let mut random = Random(7);
        let count = 200_000;
        let sectors = host.model.capacity_sectors() - 8;
        let ns = host.keep_busy(1, (0..count).map(|_| read(random.below(sectors), 8)));
        let mean = |part: fn(&fslab_simdisk_sys::DiskDone) -> u64| {
            host.done.iter().map(part).sum::<u64>() as f64 / count as f64
        };
        let rev_ns = 60e9 / 7200.0;
        // The deviation of a mean of 200,000 is about 0.1 %.
        assert_near(
            "mean seek",
            mean(|done| done.parts.seek_ns),
            average as f64,
            0.005,
        );
        assert_near(
            "mean rotation",
            mean(|done| done.parts.rotation_ns),
            rev_ns / 2.0,
            0.005,
        );
        // 1 / (command + seek + half a revolution + transfer); sectors of a track follow from the
        // rate, and a read of 8 sectors may cross a track's end.
        let track_sectors = (cylinder_sectors(&disk, 125_000_000) / 4) as f64;
        let transfer = 8.0 / track_sectors * rev_ns + 7.0 / track_sectors * 850_000.0;
        let service = 150_000.0 + average as f64 + rev_ns / 2.0 + transfer;
        assert_near("time of a read", ns as f64 / count as f64, service, 0.004);
    }
}

#[test]
fn each_zone_has_its_rate() {
    let disk = bare_disk();
    let mut host = Host::new(&disk);
    let (heads, zones) = (disk.number("heads"), disk.number("zones"));
    let rev_ns = (60_000_000_000 / disk.number("rpm")) as f64;
    let switches = (heads - 1) * disk.number("head_switch_ns") + disk.number("seek_track_ns");
    let sectors = host.model.capacity_sectors();
    // All zones have equally many cylinders, so their sectors are proportional to their rates.
    let rate = |zone: u64| 125_000_000 - (125_000_000 - 60_000_000) * zone / (zones - 1);
    let sizes: Vec<u64> = (0..zones)
        .map(|zone| cylinder_sectors(&disk, rate(zone)))
        .collect();
    let mut begin = 0.0;
    for zone in 0..zones {
        let cylinder = sizes[zone as usize];
        let size = sectors as f64 * cylinder as f64 / sizes.iter().sum::<u64>() as f64;
        // 40 MiB in the zone's middle, in sequential requests of 1 MiB.
        let middle = (begin + size / 2.0) as u64;
        host.serve(read(middle - 2048, 2048));
        let ns = host.keep_busy(4, (0..40).map(|i| read(middle + i * 2048, 2048)));
        let found = 40.0 * 1_048_576.0 / ns as f64 * 1e9;
        let expected = cylinder as f64 * 512.0 / (heads as f64 * rev_ns + switches as f64) * 1e9;
        // The first request waits for a command and a revolution, 9 ms of 330 to 700.
        let wait = host.done[host.done.len() - 40].parts;
        let lost = (wait.command_ns + wait.rotation_ns + wait.seek_ns) as f64;
        let steady = found * ns as f64 / (ns as f64 - lost);
        assert_near(&format!("rate of zone {zone}"), steady, expected, 0.01);
        assert_near(
            &format!("nominal rate of zone {zone}"),
            steady,
            rate(zone) as f64,
            0.01,
        );
        begin += size;
    }
}

#[test]
fn the_capacity_is_exact_and_its_last_sector_is_there() {
    for sectors in [976_773_168, 976_773_169, 1_953_525_168, 39_063_650_304] {
        let mut host = Host::new(&bare_disk().with("sectors", sectors));
        assert_eq!(host.model.capacity_sectors(), sectors);
        assert_eq!(host.serve(read(sectors - 1, 1)).sectors, 1);
    }
}

#[test]
fn a_request_beyond_the_end_is_a_bug_of_the_caller() {
    let result = std::panic::catch_unwind(|| {
        let mut host = Host::new(&tiny_disk());
        host.submit(read(219, 2));
    });
    assert!(result.is_err());
}

#[test]
fn an_error_names_the_parameter() {
    let cases = [
        (
            tiny_disk().with("kind", "tape"),
            "kind=tape is none of hdd, flash",
        ),
        (tiny_disk().without("rpm"), "rpm is missing"),
        (
            tiny_disk().with("rpm", "fast"),
            "rpm=fast is not a whole number between 1000 and 60000",
        ),
        (
            tiny_disk().with("rpm", "999"),
            "rpm=999 is not between 1000 and 60000",
        ),
        (
            tiny_disk().with("rpm", "18446744073709551616"),
            "rpm=18446744073709551616 is not a whole number between 1000 and 60000",
        ),
        (
            tiny_disk().with("rpn", "7200"),
            "rpn is no parameter of this disk",
        ),
        (
            tiny_disk().with("zones", 40),
            "there are too few sectors for so many zones",
        ),
        (
            tiny_disk().with("seek_full_ns", 3_000_000),
            "seek_track_ns, seek_average_ns and seek_full_ns must rise",
        ),
        (
            bare_disk().with("seek_average_ns", 17_500_000),
            "no seek curve through seek_track_ns and seek_full_ns has a mean of seek_average_ns",
        ),
        (
            tiny_disk().with("physical_block_bytes", 4096),
            "sectors do not make whole physical blocks",
        ),
        (
            bare_disk()
                .with("read_segments", 64)
                .with("read_segment_bytes", 1 << 20),
            "buffer_bytes is too small for its segments and write_buffer_bytes",
        ),
    ];
    for (parameters, sentence) in cases {
        let error = DiskModel::new(&parameters.text()).expect_err(sentence);
        assert_eq!(error, sentence);
    }
    let twice = format!("{}rpm=6000\n", tiny_disk().text());
    assert_eq!(
        DiskModel::new(&twice).expect_err("twice"),
        "rpm is given twice"
    );
    let blank = format!("{}hello\n", tiny_disk().text());
    let error = DiskModel::new(&blank).expect_err("no value");
    assert_eq!(error, "\"hello\" is not of the form name=value");
}

#[test]
fn a_discard_takes_the_command_alone() {
    let mut host = Host::new(&tiny_disk());
    let request = crate::host::HostRequest {
        op: DiskOp::Discard,
        ..write(0, 20)
    };
    assert_eq!(host.serve(request).done_ns, 100_000);
}
