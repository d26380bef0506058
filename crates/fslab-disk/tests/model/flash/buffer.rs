//! The buffer of flash disks: writes that complete in it, and requests that wait for it to drain.

use fslab_simdisk_sys::DiskOp;

use super::{CHANNEL_NS, COMMAND_NS, INTERFACE_NS, PROGRAM_NS, cached, per_second, ssd, took_ns};
use crate::host::{Host, assert_near, flush, write, write_through};

#[test]
fn a_cached_write_completes_in_the_buffer_and_is_drained_later() {
    let mut host = Host::new(&cached(ssd()));
    let done = host.serve(write(0, 8));
    assert_eq!(
        (took_ns(&done), done.cached),
        (COMMAND_NS + INTERFACE_NS, true)
    );
    let acknowledged_ns = done.done_ns;
    let done = host.serve(flush());
    assert_eq!(done.done_ns, acknowledged_ns + CHANNEL_NS + PROGRAM_NS);
    let own = host
        .background
        .iter()
        .map(|own| (own.op, own.sector, own.sectors, own.done_ns));
    let expected = (
        DiskOp::MediaWrite,
        0,
        8,
        acknowledged_ns + CHANNEL_NS + PROGRAM_NS,
    );
    assert_eq!(own.collect::<Vec<_>>(), [expected]);
    // The buffer is drained.
    assert_eq!(took_ns(&host.serve(flush())), COMMAND_NS);
    let done = host.serve(write_through(0, 8));
    assert_eq!(
        took_ns(&done),
        COMMAND_NS + INTERFACE_NS + CHANNEL_NS + PROGRAM_NS
    );
    assert!(done.fua && !done.cached);
}

#[test]
fn a_full_buffer_makes_writes_as_slow_as_the_dies() {
    let mut host = Host::new(&cached(ssd()));
    // The buffer holds 256 grains, and drains meanwhile.
    for i in 0..256 {
        assert_eq!(
            took_ns(&host.serve(write(i * 8, 8))),
            COMMAND_NS + INTERFACE_NS
        );
    }
    host.wait_for_all();
    host.keep_busy(32, (0..2000).map(|i| write(i * 8, 8)));
    let ns = host.keep_busy(32, (0..4000).map(|i| write(i * 8, 8)));
    assert_near("IOPS", per_second(4000, ns), 16.0 * 1e9 / 400_000.0, 0.02);
    // The wait for room counts as cache time.
    let last = host.done.last().expect("writes were answered");
    assert!(last.parts.cache_ns > took_ns(last) / 10, "{last:?}");
}

#[test]
fn a_flush_waits_for_all_writes_before_it_and_for_none_after_it() {
    let mut host = Host::new(&cached(ssd()));
    let before: Vec<u64> = (0..200).map(|i| host.submit(write(i * 8, 8))).collect();
    let flush = host.submit(flush());
    for i in 0..50 {
        host.submit(write((1000 + i) * 8, 8));
    }
    host.wait_for_all();
    let flushed_ns = host
        .done
        .iter()
        .find(|done| done.tag == Some(flush))
        .map(|d| d.done_ns);
    let flushed_ns = flushed_ns.expect("the flush was answered");
    let drained = |from: u64, to: u64| {
        let own = host
            .background
            .iter()
            .filter(move |own| (from..to).contains(&(own.sector / 8)));
        own.map(|own| own.done_ns)
    };
    assert_eq!(drained(0, 200).count(), before.len());
    assert_eq!(drained(0, 200).max(), Some(flushed_ns));
    assert!(drained(1000, 1050).max() > Some(flushed_ns));
}

#[test]
fn a_buffer_that_survives_needs_no_flush() {
    let mut host = Host::new(&cached(ssd()).with("power_protected", 1));
    assert_eq!(
        took_ns(&host.serve(write_through(0, 8))),
        COMMAND_NS + INTERFACE_NS
    );
    assert_eq!(took_ns(&host.serve(flush())), COMMAND_NS);
}
