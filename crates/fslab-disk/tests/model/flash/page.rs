//! Page mapping: where data lie, and what greedy cleaning costs.

use fslab_simdisk_sys::DiskOp;

use super::{
    CHANNEL_NS, COMMAND_NS, ERASE_NS, GRAIN, INTERFACE_NS, PROGRAM_NS, READ_NS, cached, discard,
    everything, float, fresh, own_grains, per_second, ssd, took_ns,
};
use crate::host::{Host, Random, assert_near, read, write};
use crate::parameters::Parameters;

#[test]
fn what_was_never_written_is_read_without_the_media() {
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
    // In order, 16 grains lie on 16 dies, and the interface is busy from the first page on.
    let mut host = Host::new(&fresh(ssd()));
    host.serve(write(0, 128));
    let spread = host.serve(read(0, 128));
    assert_eq!(
        took_ns(&spread),
        COMMAND_NS + READ_NS + CHANNEL_NS + 16 * INTERFACE_NS
    );
    // With 15 others between each two of them, all lie on one die.
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

/// 4 dies, 256 blocks of 256 pages, and a share more.
fn small_ssd(spare_permille: u64) -> Parameters {
    ssd()
        .with("sectors", 65_536 * GRAIN)
        .with("dies_per_channel", 1)
        .with("spare_permille", spare_permille)
}

/// Random overwrites of the whole disk, so many times over.
fn overwrite(host: &mut Host, random: &mut Random, times: u64) -> u64 {
    let grains = host.model.capacity_sectors() / GRAIN;
    let asks = (0..times * grains).map(|_| write(random.below(grains) * GRAIN, 8));
    host.keep_busy(64, asks)
}

/// How many pages are written for each of the host's, when blocks are reclaimed in the order of
/// their age, which greedy cleaning comes close to in large blocks: the share p of a block that is
/// valid then is that of pages which were not overwritten while all others were,
/// p = exp(-a (1 - p)), where a is the ratio of space to data (Desnoyers, SYSTOR 2012).
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
        host.own.clear();
        let ns = overwrite(&mut host, &mut random, 2);
        let amplification = 1.0 + float(own_grains(&host, DiskOp::MediaWrite)) / (2.0 * 65_536.0);
        // Two blocks are free and two are half full, on an average.
        let blocks = 256.0 * (1.0 + float(spare_permille) / 1000.0) - 3.0;
        let expected = write_amplification(blocks / 256.0);
        // The formula is the limit of large blocks; greedy cleaning of blocks of 256 pages is
        // better by some per cent, the more the fuller the disk.
        let share = amplification / expected;
        assert!(
            (0.92..=1.01).contains(&share),
            "{amplification}, {expected} by the formula"
        );
        // Each page written takes a program and its share of an erase; moved ones a read, too. The
        // dies are not always busy, since blocks are collected one after the other.
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
fn nothing_is_moved_on_a_fresh_disk_nor_where_whole_blocks_are_overwritten() {
    let mut host = Host::new(&fresh(small_ssd(250)));
    let mut random = Random(5);
    // 65536 pages, which is what fits without the spare blocks.
    host.keep_busy(
        64,
        (0..65_536).map(|_| write(random.below(65_536) * GRAIN, 8)),
    );
    host.wait_for_all();
    assert_eq!(host.own, []);
    // In order, old blocks are empty by the time they are collected.
    let mut host = Host::new(&small_ssd(250));
    host.keep_busy(4, (0..3 * 256).map(|i| write(i % 256 * 2048, 2048)));
    host.wait_for_all();
    assert_eq!(host.own, []);
}

#[test]
fn a_discarded_disk_is_as_good_as_new() {
    let (mut host, mut random) = (Host::new(&small_ssd(120)), Random(9));
    let used_ns = overwrite(&mut host, &mut random, 2);
    host.wait_for_all();
    let all = everything(&host);
    assert_eq!(took_ns(&host.serve(discard(0, all))), COMMAND_NS);
    host.own.clear();
    let grains = u64::from(all) / GRAIN;
    let asks = (0..grains).map(|i| write(i * GRAIN, 8));
    let new_ns = host.keep_busy(64, asks);
    host.wait_for_all();
    assert_eq!(host.own, []);
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
    // A loop over a quarter of a thousand million pages would take a second each.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn a_disk_that_heeds_no_discards_keeps_what_it_has() {
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
    assert_eq!(own_grains(&host, DiskOp::MediaWrite), 0);
    // What waits is read from the buffer.
    let done = host.serve(read(100 * GRAIN, 8));
    assert_eq!(
        (took_ns(&done), done.cached),
        (COMMAND_NS + INTERFACE_NS, true)
    );
    // The same grain again takes no room, the fourth one completes the page.
    host.serve(write(7 * GRAIN, 8));
    host.serve(write(9 * GRAIN, 8));
    host.wait_for_all();
    assert_eq!(own_grains(&host, DiskOp::MediaWrite), 4);
    // All of them are one read of a page, with as much of it as is wanted.
    let done = host.serve(read(9 * GRAIN, 8));
    assert_eq!(
        took_ns(&done),
        COMMAND_NS + READ_NS + CHANNEL_NS + INTERFACE_NS
    );
}
