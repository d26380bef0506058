//! What the model of a disk costs for a request, without any kernel around it.

use std::hint::black_box;

use fslab_simdisk_sys::{DiskModel, DiskOp, DiskRequest};
use fslab_sys::ResourceUse;

use super::findings::Requests;
use crate::error::BenchError;
use crate::series::Spread;

/// Requests of a round. The kernel counts a running thread's time at each tick: with so many, that
/// is 10 ns a request.
const REQUESTS: u64 = 400_000;
/// The disk's parts that are used: as much as a study's file system takes.
const SPAN_SECTORS: u64 = 8 << 21;
/// Between two writes, where a disk shall have the time to empty its cache.
const PAUSE_NS: u64 = 20_000_000;

/// Something that a disk is asked for.
#[derive(Clone, Copy, Debug)]
struct Load {
    what: &'static str,
    op: DiskOp,
    sectors: u32,
    is_random: bool,
    depth: u32,
    pause_ns: u64,
}

/// Reads, one at a time.
const RANDOM_READS: Load = Load {
    what: "random reads of 4 KiB",
    op: DiskOp::Read,
    sectors: 8,
    is_random: true,
    depth: 1,
    pause_ns: 0,
};

const LOADS: [Load; 6] = [
    RANDOM_READS,
    Load {
        depth: 32,
        ..RANDOM_READS
    },
    Load {
        what: "sequential reads of 128 KiB",
        sectors: 256,
        is_random: false,
        ..RANDOM_READS
    },
    Load {
        what: "sequential writes of 128 KiB",
        op: DiskOp::Write,
        sectors: 256,
        is_random: false,
        ..RANDOM_READS
    },
    Load {
        what: "random writes of 4 KiB",
        op: DiskOp::Write,
        ..RANDOM_READS
    },
    Load {
        what: "random writes of 4 KiB every 20 ms",
        op: DiskOp::Write,
        pause_ns: PAUSE_NS,
        ..RANDOM_READS
    },
];

/// Measures every load on the disk of these parameters, in `rounds` rounds, each on a new disk.
pub(crate) fn measure(
    disk: &str,
    parameters: &str,
    rounds: u32,
) -> Result<Vec<Requests>, BenchError> {
    let mut found = Vec::new();
    for load in LOADS {
        let mut depth = 0;
        let mut costs = Vec::new();
        for _ in 0..rounds {
            let mut model = DiskModel::new(parameters)
                .map_err(|why| BenchError::Input(format!("no disk like {disk}: {why}")))?;
            depth = load.depth.min(model.queue_depth());
            // Not real time: a machine with something else to do would show as a slow model.
            let before = ResourceUse::of_thread();
            black_box(run(&mut model, load, depth));
            let used = ResourceUse::of_thread().since(before);
            costs.push((used.user_ns + used.system_ns) as f64 / REQUESTS as f64);
        }
        // A disk without a queue has done this load already.
        if depth < load.depth {
            continue;
        }
        let ns = Spread::of(&costs).expect("there is at least one round");
        found.push(Requests {
            disk: disk.to_owned(),
            what: load.what,
            depth,
            ns,
        });
    }
    Ok(found)
}

/// Keeps `depth` requests in the disk until all are answered; gives the virtual time of the last.
fn run(model: &mut DiskModel, load: Load, depth: u32) -> u64 {
    let places = model.capacity_sectors().min(SPAN_SECTORS) / u64::from(load.sectors);
    let mut state = 1;
    let (mut now_ns, mut sent, mut answered) = (0, 0, 0);
    while answered < REQUESTS {
        while sent < REQUESTS && sent - answered < u64::from(depth) && model.has_room() {
            let place = if load.is_random {
                next_number(&mut state) % places
            } else {
                sent % places
            };
            let request = DiskRequest {
                tag: sent,
                sector: place * u64::from(load.sectors),
                sectors: load.sectors,
                op: load.op,
                fua: false,
            };
            model.submit(now_ns, request);
            sent += 1;
        }
        let before = answered;
        while answered == before {
            now_ns = model
                .next_ns()
                .expect("requests are in the disk")
                .max(now_ns);
            answered += take_all(model, now_ns);
        }
        if load.pause_ns > 0 {
            now_ns = idle_until(model, now_ns + load.pause_ns);
        }
    }
    now_ns
}

/// Takes what is done by `now_ns`; gives how many requests were answered.
fn take_all(model: &mut DiskModel, now_ns: u64) -> u64 {
    let mut answered = 0;
    while let Some(done) = model.take(now_ns) {
        answered += u64::from(done.tag.is_some());
    }
    answered
}

/// Lets the disk do what it does by itself, event by event, as a driver does.
fn idle_until(model: &mut DiskModel, end_ns: u64) -> u64 {
    while let Some(next_ns) = model.next_ns().filter(|next_ns| *next_ns < end_ns) {
        take_all(model, next_ns);
    }
    end_ns
}

/// Marsaglia's xorshift with 64 bits: cheap beside what is measured.
fn next_number(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: &str = "\
        kind=hdd\nsectors=58633344\nqueue_depth=4\ninterface_bytes_per_s=100000000\n\
        command_ns=300000\nwrite_cache=1\nbuffer_bytes=2097152\nphysical_block_bytes=512\n\
        rpm=7200\nheads=3\nzones=16\nouter_bytes_per_s=42000000\ninner_bytes_per_s=25600000\n\
        seek_track_ns=2000000\nseek_average_ns=8900000\nseek_full_ns=21000000\n\
        write_settle_ns=2000000\nhead_switch_ns=1400000\nread_segments=12\n\
        read_segment_bytes=131072\nwrite_buffer_bytes=524288\ndestage_idle_ns=20000000\n";

    #[test]
    fn random_reads_take_a_disk_longer_than_reads_in_order() {
        let time = |load: Load| {
            let mut model = DiskModel::new(DISK).expect("a disk");
            run(&mut model, load, 1)
        };
        let in_order = Load {
            is_random: false,
            ..RANDOM_READS
        };
        assert!(time(RANDOM_READS) > 5 * time(in_order));
    }

    #[test]
    fn a_load_that_is_deeper_than_the_queue_is_left_out() {
        let found = measure("disk", DISK, 1).expect("a disk");
        assert!(found.iter().all(|it| it.depth == 1), "{found:?}");
        assert_eq!(found.len(), LOADS.len() - 1);
        assert!(measure("disk", "kind=drum\n", 1).is_err());
    }
}
