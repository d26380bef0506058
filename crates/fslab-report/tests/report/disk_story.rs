//! Invented runs on simulated disks: traces of three file systems with different layouts, written
//! and read like the driver's.

use std::sync::LazyLock;

use fslab_disk::trace::{Flags, Op, Reader, Record, Writer, analyse};
use fslab_model::{HostCost, PhaseKind, PhaseRecord, RunRecord, TrialRecord, Window};

use crate::fixture::{self, Chance};

/// An 8 GiB disk.
const CAPACITY: u64 = 1 << 24;
const MIB: u64 = 2048;
/// Sectors per second of the media.
const RATE: u64 = 180_000;

/// The layout of a file system, in sectors.
struct Layout {
    /// Begin and length of the journal; `None` for copy on write.
    journal: Option<(u64, u64)>,
    /// Distance between inode tables, and the size of one.
    tables: (u64, u64),
    /// Begin of the data, and its jump after each stretch of so many sectors.
    data: u64,
    stretch: (u64, u64),
}

const LAYOUTS: [Layout; 3] = [
    // Groups of 128 MiB with their tables together in each sixteenth, the journal in the middle.
    Layout {
        journal: Some((CAPACITY / 2, 64 * MIB)),
        tables: (128 * MIB, 2 * MIB),
        data: 300 * MIB,
        stretch: (120 * MIB, 8 * MIB),
    },
    // Four groups, the log in the third, files spread over all of them.
    Layout {
        journal: Some((CAPACITY / 2 + 16, 10 * MIB)),
        tables: (CAPACITY / 4, 40 * MIB),
        data: 64 * MIB,
        stretch: (32 * MIB, CAPACITY / 4 - 24 * MIB),
    },
    // Copy on write: metadata in two chunks, data in free space.
    Layout {
        journal: None,
        tables: (1_024 * MIB, 256 * MIB),
        data: 2_304 * MIB,
        stretch: (CAPACITY, 0),
    },
];

/// A hard disk that serves one request at a time.
struct Disk {
    now_ns: u64,
    head: u64,
    chance: Chance,
    records: Vec<Record>,
}

impl Disk {
    fn request(&mut self, op: Op, flags: Flags, place: (u64, u64)) {
        self.batch(op, flags, &[place]);
    }

    /// Requests that arrive together and are served in order.
    fn batch(&mut self, op: Op, flags: Flags, places: &[(u64, u64)]) {
        let submit_ns = self.now_ns;
        for (depth, place) in (1..).zip(places) {
            self.serve(op, flags, *place, (submit_ns, depth));
        }
    }

    fn serve(
        &mut self,
        op: Op,
        flags: Flags,
        (sector, sectors): (u64, u64),
        (submit_ns, depth): (u64, u16),
    ) {
        let distance = self.head.abs_diff(sector);
        let seek_ns = match distance {
            0 => 0,
            distance => 1_000_000 + (12e6 * (distance as f64 / CAPACITY as f64).sqrt()) as u64,
        };
        let turn_ns = if distance == 0 { 0.0 } else { 8.3e6 };
        let rotation_ns = (turn_ns * self.chance.uniform()) as u64;
        let transfer_ns = sectors * 1_000_000_000 / RATE;
        let start_ns = self.now_ns;
        self.now_ns += 60_000 + seek_ns + rotation_ns + transfer_ns;
        self.head = sector + sectors;
        self.records.push(Record {
            submit_ns,
            start_ns,
            done_ns: self.now_ns,
            sector,
            sectors: u32::try_from(sectors).expect("small"),
            op,
            depth,
            flags,
            part_ns: [60_000, seek_ns, rotation_ns, transfer_ns, 0],
            ..Record::default()
        });
    }

    /// A commit of so many sectors: to the journal, or in two copies to the next free metadata,
    /// with a block that points there.
    fn commit(&mut self, layout: &Layout, at: &mut u64, sectors: u64) {
        let flags = Flags::METADATA | Flags::SYNC;
        let last = flags | Flags::FUA;
        *at += sectors;
        if let Some((begin, length)) = layout.journal {
            let place = begin + *at % (length - sectors);
            self.request(Op::Write, flags, (place, sectors - 8));
            self.request(Op::Write, last, (place + sectors - 8, 8));
        } else {
            let (apart, size) = layout.tables;
            for copy in [0, 1] {
                let place = copy * apart + 4 * MIB + *at % (size - sectors);
                self.request(Op::Write, flags, (place, sectors));
            }
            self.request(Op::Write, last, (128, 8));
        }
    }

    /// Writes or reads inodes.
    fn tables(&mut self, layout: &Layout, op: Op, count: u64) {
        let (apart, size) = layout.tables;
        let tables = CAPACITY / apart;
        let places: Vec<(u64, u64)> = (0..count)
            .map(|number| {
                let inside = (self.chance.uniform() * (size / 8) as f64) as u64 * 8;
                (number * tables / count * apart + 4 * MIB + inside, 8)
            })
            .collect();
        for some in places.chunks(16) {
            self.batch(op, Flags::METADATA, some);
        }
    }
}

/// The place of a file's sector `offset`.
fn place(layout: &Layout, offset: u64) -> u64 {
    let (stretch, jump) = layout.stretch;
    (layout.data + offset + offset / stretch * jump) % (CAPACITY - 2 * MIB)
}

fn play(disk: &mut Disk, layout: &Layout, phase: &PhaseRecord) {
    let operations = phase.operations.unwrap_or(0);
    let size = phase.bytes.unwrap_or(0) / 512 / operations.max(1);
    let random = phase.workload.starts_with("random");
    let (mut journal, mut dirty) = (0, Vec::new());
    for number in 0..operations {
        let offset = if random {
            (disk.chance.uniform() * (operations * size / 8) as f64) as u64 * 8
        } else {
            number * size
        };
        let at = (place(layout, offset), size);
        match (phase.kind, phase.workload.as_str()) {
            (PhaseKind::Read, _) => disk.request(Op::Read, Flags(0), at),
            (PhaseKind::Metadata, "stat") if number % 64 == 0 => {
                disk.tables(layout, Op::Read, 1 + number / 64 % 4);
            }
            (PhaseKind::Metadata, "stat") => {}
            (PhaseKind::Metadata, _) => {
                if number % 100 == 0 {
                    disk.commit(layout, &mut journal, 512);
                }
                if number % 2_000 == 1_999 {
                    disk.tables(layout, Op::Write, 96);
                }
            }
            (PhaseKind::Write | PhaseKind::Mixed, workload) => {
                dirty.push(at);
                if workload == "append" || dirty.len() == 16 {
                    disk.batch(Op::Write, Flags(0), &std::mem::take(&mut dirty));
                    disk.commit(layout, &mut journal, 64);
                }
            }
        }
    }
    disk.request(Op::Flush, Flags::PREFLUSH, (disk.head, 0));
}

fn simulate(trial: &mut TrialRecord) {
    let layout = &LAYOUTS[trial.trial.cell.0 as usize % LAYOUTS.len()];
    let mut disk = Disk {
        now_ns: 900_000_000,
        head: 0,
        chance: Chance::of(u64::from(trial.trial.cell.0)),
        records: Vec::new(),
    };
    disk.tables(layout, Op::Write, 256);
    let mut windows = Vec::new();
    for phase in &mut trial.phases {
        let begin_ns = disk.now_ns;
        if phase.name != "reread" {
            play(&mut disk, layout, phase);
        } else {
            disk.now_ns += 40_000_000;
        }
        let window = Window {
            begin_ns,
            end_ns: disk.now_ns,
        };
        windows.push(window);
        let length_ns = window.length_ns();
        if let Some(series) = &mut phase.series {
            let before = phase.elapsed_ns.unwrap_or(1).max(1);
            series.interval_ns = series.interval_ns * length_ns / before;
        }
        phase.elapsed_ns = Some(length_ns);
        phase.window = Some(window);
        phase.host = Some(HostCost {
            cpu_ns: 31_000_000 + 4_000_000 * u64::from(trial.trial.repeat),
            real_ns: 52_000_000,
        });
        // Later write-back belongs to no phase.
        disk.tables(layout, Op::Write, 32);
    }
    let mut trace = Writer::new(Vec::new()).expect("memory");
    for record in &disk.records {
        trace.add(record).expect("memory");
    }
    let trace = trace.finish().expect("memory");
    let reader = Reader::new(&trace[..]).expect("a trace");
    let found = analyse(reader, &windows, CAPACITY).expect("a trace");
    trial.insight = found.whole;
    for (phase, insight) in trial.phases.iter_mut().zip(found.windows) {
        phase.insight = Some(insight);
    }
}

/// The usual subjects on a simulated hard disk, with two equal repeats. Computed once.
pub(crate) fn simulated() -> RunRecord {
    static RUN: LazyLock<RunRecord> = LazyLock::new(|| {
        let mut run = fixture::run_of(&["ext4", "xfs", "btrfs"], 2);
        run.trials.iter_mut().for_each(simulate);
        run
    });
    RUN.clone()
}
