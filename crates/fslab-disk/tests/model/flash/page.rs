//! Page mapping: placement of data, and the cost of greedy garbage collection.

use fslab_simdisk_sys::DiskOp;

use super::{
    CHANNEL_NS, COMMAND_NS, ERASE_NS, GRAIN, INTERFACE_NS, PROGRAM_NS, READ_NS, background_grains,
    cached, discard, everything, float, fresh, per_second, ssd, took_ns,
};
use crate::host::{Host, Random, assert_near, read, write};
use crate::parameters::Parameters;

#[test]
fn unwritten_pages_are_read_without_the_media() {
    let mut host = Host::new(&fresh(ssd()));
    assert_eq!(
        took_ns(&host.serve(read(800, 8))),
        COMMAND_NS + INTERFACE_NS
    );
    host.serve(write(800, 8));
    let media_ns = COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS;
    assert_eq!(took_ns(&host.serve(read(800, 8))), media_ns);
    host.serve(discard(800, 8));
    assert_eq!(
        took_ns(&host.serve(read(800, 8))),
        COMMAND_NS + INTERFACE_NS
    );
}

#[test]
fn data_are_read_where_they_were_written() {
    // Sequential: 16 grains are on 16 dies, and the interface is busy from the first page on.
    let mut host = Host::new(&fresh(ssd()));
    host.serve(write(0, 128));
    let spread = host.serve(read(0, 128));
    assert_eq!(
        took_ns(&spread),
        COMMAND_NS + READ_NS + CHANNEL_NS + 16 * INTERFACE_NS
    );
    // With 15 others between them, all are on one die.
    let mut host = Host::new(&fresh(ssd()));
    for i in 0..16 {
        host.serve(write(i * 8, 8));
        host.serve(write(8192, 15 * 8));
    }
    let stacked = host.serve(read(0, 128));
    assert_eq!(
        took_ns(&stacked),
        COMMAND_NS + 16 * READ_NS + CHANNEL_NS + INTERFACE_NS
    );
}

/// 4 dies, 256 blocks of 256 pages, and spare blocks.
fn small_ssd(spare_permille: u64) -> Parameters {
    ssd()
        .with("sectors", 65_536 * GRAIN)
        .with("dies_per_channel", 1)
        .with("spare_permille", spare_permille)
}

/// Random overwrites of `times` disk capacities.
fn overwrite(host: &mut Host, random: &mut Random, times: u64) -> u64 {
    let grains = host.model.capacity_sectors() / GRAIN;
    let requests = (0..times * grains).map(|_| write(random.below(grains) * GRAIN, 8));
    host.keep_busy(64, requests)
}

/// Write amplification if blocks are reclaimed in the order of their age, which greedy cleaning
/// approaches in large blocks. The valid share p of a reclaimed block solves p = exp(-a (1 - p)),
/// where a is the ratio of space to data (Desnoyers, SYSTOR 2012).
fn write_amplification(space_to_data: f64) -> f64 {
    let mut valid = 0.5_f64;
    for _ in 0..1000 {
        valid = (-space_to_data * (1.0 - valid)).exp();
    }
    1.0 / (1.0 - valid)
}

#[test]
fn random_overwrites_cost_what_greedy_cleaning_costs_at_this_spare_share() {
    for spare_permille in [120, 250, 500] {
        let (mut host, mut random) = (Host::new(&small_ssd(spare_permille)), Random(3));
        overwrite(&mut host, &mut random, 4);
        host.background.clear();
        let ns = overwrite(&mut host, &mut random, 2);
        let amplification =
            1.0 + float(background_grains(&host, DiskOp::MediaWrite)) / (2.0 * 65_536.0);
        // Two blocks are free and two are half full on average.
        let blocks = 256.0 * (1.0 + float(spare_permille) / 1000.0) - 3.0;
        let expected = write_amplification(blocks / 256.0);
        // The formula is the limit of large blocks; greedy cleaning of blocks of 256 pages is
        // better by some per cent, the more the fuller the disk.
        let share = amplification / expected;
        assert!(
            (0.92..=1.01).contains(&share),
            "{amplification}, {expected} by the formula"
        );
        // Each page written takes a program and its share of an erase, moved ones also a read. Dies
        // are not always busy, since blocks are collected one at a time.
        let moved = amplification - 1.0;
        let die_ns = amplification * float(PROGRAM_NS + ERASE_NS / 64) + moved * float(READ_NS);
        let rate = per_second(2 * 65_536, ns) / (4.0 * 1e9 / die_ns);
        assert!(
            (0.75..=1.0).contains(&rate),
            "{rate} of what the dies can do"
        );
    }
}

#[test]
fn no_page_is_moved_on_a_fresh_disk_or_by_sequential_overwrites() {
    let mut host = Host::new(&fresh(small_ssd(250)));
    let mut random = Random(5);
    // 65536 pages, the capacity without spare blocks.
    host.keep_busy(
        64,
        (0..65_536).map(|_| write(random.below(65_536) * GRAIN, 8)),
    );
    host.wait_for_all();
    assert_eq!(host.background, []);
    // After sequential overwrites, collected blocks have no valid pages.
    let mut host = Host::new(&small_ssd(250));
    host.keep_busy(4, (0..3 * 256).map(|i| write(i % 256 * 2048, 2048)));
    host.wait_for_all();
    assert_eq!(host.background, []);
}

#[test]
fn a_discarded_disk_is_as_good_as_new() {
    let (mut host, mut random) = (Host::new(&small_ssd(120)), Random(9));
    let used_ns = overwrite(&mut host, &mut random, 2);
    host.wait_for_all();
    let all = everything(&host);
    assert_eq!(took_ns(&host.serve(discard(0, all))), COMMAND_NS);
    host.background.clear();
    let grains = u64::from(all) / GRAIN;
    let requests = (0..grains).map(|i| write(i * GRAIN, 8));
    let new_ns = host.keep_busy(64, requests);
    host.wait_for_all();
    assert_eq!(host.background, []);
    // A program and a share of an erase for each page, on four dies.
    let expected_ns = grains * (PROGRAM_NS + ERASE_NS / 64) / 4;
    assert_near("time", float(new_ns), float(expected_ns), 0.05);
    assert!(
        used_ns / 2 > 3 * new_ns,
        "{used_ns} for two before, {new_ns} for one after"
    );
}

#[test]
fn a_discard_of_an_empty_terabyte_touches_nothing() {
    let disk = fresh(ssd()).with("sectors", 1_u64 << 31);
    let mut host = Host::new(&disk);
    let begin = std::time::Instant::now();
    for _ in 0..100 {
        let done = host.serve(discard(0, (1 << 31) - 1));
        assert_eq!(took_ns(&done), COMMAND_NS);
    }
    // A loop over 250 million pages would take a second per request.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn a_disk_without_discard_support_keeps_its_data() {
    let mut host = Host::new(&ssd().with("discard", 0));
    assert_eq!(took_ns(&host.serve(discard(0, 1 << 20))), COMMAND_NS);
    let media_ns = COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS;
    assert_eq!(took_ns(&host.serve(read(800, 8))), media_ns);
}

#[test]
fn pages_of_four_grains_are_filled_before_they_are_programmed() {
    let disk = cached(fresh(ssd())).with("page_bytes", 16_384);
    let mut host = Host::new(&disk);
    for grain in [5, 100, 7] {
        host.serve(write(grain * GRAIN, 8));
    }
    host.wait_for_all();
    assert_eq!(background_grains(&host, DiskOp::MediaWrite), 0);
    // Waiting grains are read from the buffer.
    let done = host.serve(read(100 * GRAIN, 8));
    assert_eq!(
        (took_ns(&done), done.cached),
        (COMMAND_NS + INTERFACE_NS, true)
    );
    // Overwriting a waiting grain takes no room; the fourth grain completes the page.
    host.serve(write(7 * GRAIN, 8));
    host.serve(write(9 * GRAIN, 8));
    host.wait_for_all();
    assert_eq!(background_grains(&host, DiskOp::MediaWrite), 4);
    // All grains are one read of a page, of which only the requested part is transferred.
    let done = host.serve(read(9 * GRAIN, 8));
    assert_eq!(
        took_ns(&done),
        COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS
    );
}
