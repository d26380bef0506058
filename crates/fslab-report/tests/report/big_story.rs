//! A very large run: 25 subjects, 40 phases, 10 repeats, with latencies, series and counters.

use fslab_model::{PhaseRecord, PhaseSpec, RunRecord};

use crate::fixture::{Chance, run_of};

const SUBJECTS: [&str; 25] = [
    "ext4",
    "xfs",
    "btrfs",
    "f2fs",
    "ext2",
    "ext3",
    "jfs",
    "nilfs2",
    "reiserfs",
    "ntfs3",
    "exfat",
    "vfat",
    "udf",
    "hfs",
    "hfs+",
    "minix",
    "ufs2",
    "hpfs",
    "zfs",
    "affs",
    "ext4:mount=data=journal",
    "ext4:noatime",
    "xfs:mkfs=-m reflink=0",
    "btrfs:mount=compress=zstd:3",
    "f2fs:mount=mode=lfs",
];
const PHASES: usize = 40;
const REPEATS: u32 = 10;

/// The run: the phases of the usual story several times, each time with other rates and another
/// subject's latencies.
pub(crate) fn big() -> RunRecord {
    of(SUBJECTS.len(), PHASES, REPEATS)
}

/// A run of the first `subjects`, with as many phases and repeats.
pub(crate) fn of(subjects: usize, phases: usize, repeats: u32) -> RunRecord {
    let mut run = run_of(&SUBJECTS[..subjects], repeats);
    let first = run.header.plan.phases.clone();
    let name = |index: usize| match index / first.len() {
        0 => first[index % first.len()].name.clone(),
        turn => format!("{}-{}", first[index % first.len()].name, turn + 1),
    };
    let phase = |index: usize| PhaseSpec {
        name: name(index),
        ..first[index % first.len()].clone()
    };
    run.header.plan.phases = (0..phases).map(phase).collect();
    let all: Vec<Vec<PhaseRecord>> = run.trials.iter().map(|t| t.phases.clone()).collect();
    let mut chance = Chance::of(7);
    for (place, trial) in run.trials.iter_mut().enumerate() {
        let own = &all[place];
        let record = |index: usize| {
            let (turn, kind) = (index / own.len(), index % own.len());
            let other = &all[(place + turn * 31) % all.len()][kind];
            let pace = 1.0 + (place as u32 / repeats) as f64 * 0.03 * turn as f64;
            let elapsed = other.elapsed_ns.map(|ns| (ns as f64 * pace) as u64);
            PhaseRecord {
                name: name(index),
                elapsed_ns: elapsed.map(|ns| ns + (chance.uniform() * 1e6) as u64),
                ..other.clone()
            }
        };
        trial.phases = (0..phases).map(record).collect();
    }
    run.header.plan_hash = run.header.plan.hash();
    run
}
