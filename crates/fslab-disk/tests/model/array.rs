//! Arrays of hard disks: distribution of requests to members, and its gain or cost.

use fslab_simdisk_sys::{DiskModel, DiskOp};

use crate::host::{Host, HostRequest, Random, assert_near, flush, read, write};
use crate::parameters::{Parameters, bare_disk, desktop_disk, tiny_disk};
use crate::plain_disk::PlainDisk;

const MS: u64 = 1_000_000;

fn array(disk: Parameters, level: &str, members: u64, chunk_sectors: u64) -> Parameters {
    disk.with("array", level)
        .with("members", members)
        .with("chunk_sectors", chunk_sectors)
}

fn random_requests(
    seed: u64,
    count: usize,
    sectors: u64,
    request: fn(u64, u32) -> HostRequest,
) -> Vec<HostRequest> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| request(random.below(sectors / 8) * 8, 8))
        .collect()
}

/// Requests per second at that queue depth.
fn rate(disk: &Parameters, depth: usize, request: fn(u64, u32) -> HostRequest) -> f64 {
    let mut host = Host::new(disk);
    let sectors = host.model.capacity_sectors();
    let count = 4000;
    let ns = host.keep_busy(depth, random_requests(11, count, sectors, request));
    count as f64 / ns as f64 * 1e9
}

/// Bytes per second of sequential requests of 1 MiB at queue depth 4.
fn bandwidth(disk: &Parameters, request: fn(u64, u32) -> HostRequest) -> f64 {
    let mut host = Host::new(disk);
    let count = 400;
    let ns = host.keep_busy(4, (0..count).map(|i| request(i * 2048, 2048)));
    (count << 20) as f64 / ns as f64 * 1e9
}

#[test]
fn capacities_and_queues_are_those_of_the_level() {
    let disk = tiny_disk().with("queue_depth", 3);
    // 220 sectors are 13 chunks of 16 sectors, and 12 sectors.
    for (level, members, sectors) in [
        ("raid0", 4, 4 * 208),
        ("raid1", 2, 220),
        ("raid10", 4, 2 * 208),
        ("raid5", 4, 3 * 208),
    ] {
        let host = Host::new(&array(disk.clone(), level, members, 16));
        assert_eq!(host.model.capacity_sectors(), sectors, "{level}");
        assert_eq!(host.model.queue_depth(), members as u32 * 3, "{level}");
    }
    let deep = array(tiny_disk().with("queue_depth", 1000), "raid0", 8, 16);
    assert_eq!(Host::new(&deep).model.queue_depth(), 1024);
    assert_eq!(
        Host::new(&disk.with("array", "none")).model.queue_depth(),
        3
    );
}

#[test]
fn impossible_arrays_are_refused() {
    let refused = |parameters: Parameters| DiskModel::new(&parameters.text()).expect_err("refused");
    assert_eq!(
        refused(array(tiny_disk(), "raid6", 4, 16)),
        "array=raid6 is none of none, raid0, raid1, raid10, raid5"
    );
    assert_eq!(
        refused(array(tiny_disk(), "raid5", 2, 16)),
        "members=2 is not between 3 and 64"
    );
    assert_eq!(
        refused(array(tiny_disk(), "raid10", 5, 16)),
        "raid10 needs an even number of members"
    );
    assert_eq!(
        refused(array(tiny_disk(), "raid0", 2, 221)),
        "chunk_sectors is larger than a member"
    );
    assert_eq!(
        refused(array(tiny_disk(), "raid0", 2, 16).without("members")),
        "members is missing"
    );
    assert_eq!(
        refused(tiny_disk().with("members", 2)),
        "members is no parameter of this disk"
    );
}

/// The member of a sector and its sector there, found from the time of a read, which equals that of
/// the member's sector.
fn place_of(disk: &Parameters, sector: u64) -> (u32, u64) {
    let mut host = Host::new(disk);
    let done = host.serve(read(sector, 1));
    let alone = |own: u64| Host::new(&tiny_disk()).serve(read(own, 1)).done_ns;
    let own = (0..220)
        .filter(|&own| alone(own) == done.done_ns)
        .collect::<Vec<_>>();
    // Sectors of one angle end at one time; the chunk of 20 is a cylinder, and so the seek and the
    // angle make it one of a cylinder's.
    let own = own
        .iter()
        .copied()
        .find(|own| own % 20 == sector % 20)
        .expect("one fits");
    (done.member, own / 20)
}

#[test]
fn chunks_rotate_over_the_members() {
    let striped = array(tiny_disk(), "raid0", 3, 20);
    let places: Vec<_> = (0..7)
        .map(|chunk| place_of(&striped, chunk * 20 + 7))
        .collect();
    assert_eq!(
        places,
        [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2)]
    );
    // Left-symmetric: the parity of row r is on member 3 - r modulo 4, and data begins after it.
    let parity = array(tiny_disk(), "raid5", 4, 20);
    let places: Vec<_> = (0..13)
        .map(|chunk| place_of(&parity, chunk * 20 + 7))
        .collect();
    assert_eq!(
        places,
        [
            (0, 0),
            (1, 0),
            (2, 0), // parity on 3
            (3, 1),
            (0, 1),
            (1, 1), // parity on 2
            (2, 2),
            (3, 2),
            (0, 2), // parity on 1
            (1, 3),
            (2, 3),
            (3, 3), // parity on 0
            (0, 4),
        ]
    );
}

#[test]
fn a_stripe_reads_and_writes_in_order_as_fast_as_all_its_members() {
    let one = bandwidth(&bare_disk(), read);
    for members in [2, 4, 8] {
        let disk = array(bare_disk(), "raid0", members, 128);
        assert_near("reads", bandwidth(&disk, read), one * members as f64, 0.06);
        assert_near(
            "writes",
            bandwidth(&disk, write),
            one * members as f64,
            0.06,
        );
    }
}

#[test]
fn a_stripe_under_load_serves_as_many_as_all_its_members() {
    // With 16 requests per member, no member is idle for long.
    let one = rate(&bare_disk(), 16, read);
    for members in [2, 4] {
        let disk = array(bare_disk(), "raid0", members, 128);
        assert_near(
            "reads",
            rate(&disk, 16 * members as usize, read),
            one * members as f64,
            0.05,
        );
    }
}

#[test]
fn mirrors_share_reads_and_both_write() {
    let (one_read, one_write) = (rate(&bare_disk(), 8, read), rate(&bare_disk(), 8, write));
    let mirror = array(bare_disk(), "raid1", 2, 128);
    // Each serves eight of sixteen, and the choice of the nearer member is an additional gain.
    let reads = rate(&mirror, 16, read) / one_read;
    assert!(
        (1.95..2.3).contains(&reads),
        "two mirrors read {reads:.2} times as fast as one disk"
    );
    // Both write the same sectors in the same order from the same position.
    assert_near("writes", rate(&mirror, 8, write), one_write, 0.02);
    let ten = array(bare_disk(), "raid10", 4, 128);
    let reads = rate(&ten, 32, read) / one_read;
    assert!(
        (3.7..4.6).contains(&reads),
        "four members read {reads:.2} times as fast as one disk"
    );
    let writes = rate(&ten, 16, write) / one_write;
    assert!(
        (1.85..2.1).contains(&writes),
        "two pairs write {writes:.2} times as fast as one disk"
    );
}

#[test]
fn a_mirror_is_chosen_by_its_load_and_then_by_its_arm() {
    let mut host = Host::new(&array(tiny_disk().with("queue_depth", 4), "raid1", 2, 20));
    for sector in [0, 200] {
        host.submit(read(sector, 1));
    }
    host.wait_for_all();
    let member = |host: &Host, sector: u64| {
        host.done
            .iter()
            .rev()
            .find(|done| done.sector == sector)
            .expect("it was read")
            .member
    };
    assert_eq!((member(&host, 0), member(&host, 200)), (0, 1));
    // Both idle: the nearer one.
    assert_eq!(host.serve(read(180, 1)).member, 1);
    assert_eq!(host.serve(read(30, 1)).member, 0);
    // Sequential: always the same one.
    for sector in 31..40 {
        assert_eq!(host.serve(read(sector, 1)).member, 0);
    }
}

fn background_of(host: &Host, op: DiskOp) -> usize {
    host.background.iter().filter(|done| done.op == op).count()
}

#[test]
fn a_small_write_to_parity_reads_twice_and_writes_twice() {
    // Member 0 and the parity on member 2 read their sector 0 from 10 to 11 ms, after the command
    // of 0.1; then their commands until 11.1, and sector 0 again from 20 to 21.
    let disk = array(tiny_disk(), "raid5", 3, 20);
    let done = Host::new(&disk).serve(write(0, 1));
    assert_eq!(done.done_ns, 21 * MS);
    assert_eq!(done.parts.command_ns, 200_000);
    assert_eq!(done.parts.rotation_ns, 9_900_000 + 8_900_000);
    assert_eq!(done.parts.transfer_ns, 2 * MS);
    assert_eq!(done.parts.sum_ns(), 21 * MS);
}

#[test]
fn complete_rows_are_written_with_their_parity_without_reads() {
    // 40 sectors of data: all three write one chunk of 20, a cylinder without the switch to the
    // next. 80 are two rows, which each member writes without a pause.
    let disk = array(tiny_disk(), "raid5", 3, 20);
    assert_eq!(
        Host::new(&disk).serve(write(0, 40)).done_ns,
        10 * MS + 21 * MS
    );
    let done = Host::new(&disk).serve(write(0, 80));
    assert_eq!(done.done_ns, 10 * MS + (21 + 2 + 21) * MS);
}

#[test]
fn a_write_over_two_chunks_of_a_row_takes_all_of_the_parity() {
    // Sectors 19 and 20 are the last of chunk 0 and the first of chunk 1; the parity that covers
    // both is a complete chunk of 21 ms. It is read from 10 to 31; commands until 31.1, and as its
    // begin is on the other head it is reached after a switch of 1 ms, at 40, and is written until
    // 61.
    let disk = array(tiny_disk(), "raid5", 3, 20);
    let done = Host::new(&disk).serve(write(19, 2));
    assert_eq!(done.done_ns, 61 * MS);
    assert_eq!(done.member, 2);
}

#[test]
fn small_writes_to_parity_agree_with_a_second_simulation() {
    let disk = bare_disk().with("zones", 1).with("write_settle_ns", 0);
    let parity = array(disk.clone(), "raid5", 4, 128);
    let mut host = Host::new(&parity);
    let mut random = Random(2);
    let count = 4000;
    let chunks = host.model.capacity_sectors() / 128;
    let chunks: Vec<u64> = (0..count).map(|_| random.below(chunks)).collect();
    let ns = host.keep_busy(1, chunks.iter().map(|chunk| write(chunk * 128, 8)));
    let expected = PlainDisk::new(&disk).time_of_parity_writes(4, 128, &chunks);
    // Up to rounding to nanoseconds, and 7 of 1900 that cross a track's end.
    assert_near("time of a write", ns as f64 / count as f64, expected, 0.005);
    // The slower of two reads, and a revolution: over 1.5 times a plain write.
    let plain = 1e9 / rate(&disk, 1, write);
    assert!(
        (1.4..2.0).contains(&(expected / plain)),
        "{expected} against {plain}"
    );
}

#[test]
fn writes_to_one_row_are_serialised() {
    let disk = array(tiny_disk().with("queue_depth", 8), "raid5", 3, 20);
    let mut host = Host::new(&disk);
    // Chunk 0 and chunk 1 share the parity of row 0. The first: reads 10 to 11, writes 20 to 21.
    // The second begins then: command until 21.1, reads 30 to 31, command, writes 40 to 41.
    host.submit(write(0, 1));
    host.submit(write(20, 1));
    // Row 1 is free: chunk 3 is on member 0, its parity on member 1.
    host.submit(write(60, 1));
    host.wait_for_all();
    let end = |sector: u64| {
        host.done
            .iter()
            .find(|done| done.sector == sector)
            .expect("it ended")
            .done_ns
    };
    assert_eq!(end(0), 21 * MS);
    assert!(end(60) < end(20), "row 1 waits for nothing");
    assert!(end(20) > 40 * MS);
}

#[test]
fn a_flush_goes_to_all_members_and_ends_with_the_last() {
    let mut host = Host::new(&array(desktop_disk(), "raid0", 3, 128));
    for chunk in 0..3 {
        host.serve(write(chunk * 128, 8));
    }
    let done = host.serve(flush());
    assert_eq!(background_of(&host, DiskOp::MediaWrite), 3);
    let mut members: Vec<u32> = host.background.iter().map(|done| done.member).collect();
    members.sort_unstable();
    assert_eq!(members, [0, 1, 2]);
    let last = host
        .background
        .iter()
        .map(|done| done.done_ns)
        .max()
        .expect("three");
    assert_eq!(done.done_ns, last);
}

#[test]
fn a_member_with_a_full_queue_lets_its_requests_wait() {
    // All requests are for member 0, which takes two; the array takes six.
    let disk = array(tiny_disk().with("queue_depth", 2), "raid0", 3, 20);
    let mut host = Host::new(&disk);
    for i in 0..6 {
        host.submit(read(i % 3 * 60, 1));
    }
    assert!(!host.model.has_room());
    host.wait_for_all();
    assert_eq!(host.done.len(), 6);
    assert!(host.done.iter().all(|done| done.member == 0));
    assert!(host.done.iter().all(|done| done.submit_ns == 0));
    assert!(host.done.iter().any(|done| done.start_ns > 0));
}

#[test]
fn a_large_request_is_one_part_for_each_member() {
    // 12 chunks over 3 members are 4 cylinders each, read without a pause: 8 revolutions, 4 head
    // switches and 3 cylinder switches.
    let disk = array(tiny_disk(), "raid0", 3, 20);
    let done = Host::new(&disk).serve(read(0, 220));
    assert_eq!(done.done_ns, 10 * MS + (8 * 10 + 4 + 3 * 2) * MS);
    // Raid 5 reads over its parity: chunks 0 to 11 of 4 members are rows 0 to 3.
    let disk = array(tiny_disk(), "raid5", 4, 20);
    let done = Host::new(&disk).serve(read(0, 240));
    assert_eq!(done.done_ns, 10 * MS + (8 * 10 + 4 + 3 * 2) * MS);
}

#[test]
fn a_discard_of_an_array_ends() {
    for level in ["raid0", "raid1", "raid10", "raid5"] {
        let mut host = Host::new(&array(tiny_disk(), level, 4, 16));
        for (sector, sectors) in [(0, 1), (0, 200), (15, 150), (7, 3)] {
            let request = HostRequest {
                op: DiskOp::Discard,
                ..write(sector, sectors)
            };
            let done = host.serve(request);
            assert_eq!(done.op, DiskOp::Discard);
        }
    }
}
