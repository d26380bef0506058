//! Invented sweeps: seven phases of six file systems over file size and record size, with a cliff
//! where the file exceeds the memory; and the phases of two other studies.

use std::collections::BTreeMap;

use fslab_model::{
    Bytes, CpuUse, FigureLayout, FigureSpec, Headline, LatencyHistogram, OperationLatency,
    Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, Point, PointValue, RunRecord,
    Settled, Swept, ValueList, VenuePlan,
};

use crate::fixture::{self, Chance};

/// The subjects of the story; the first is the best at most points.
pub(crate) const SUBJECTS: [&str; 6] = ["ext2", "ext3", "reiserfs-3.6", "ntfs3", "fat32", "ufs1"];
pub(crate) const MEMORY: u64 = 512 << 20;

const PHASES: [(&str, &str, PhaseKind, f64); 7] = [
    ("write", "io", PhaseKind::Write, 38e6),
    ("rewrite", "io", PhaseKind::Write, 36e6),
    ("read", "io", PhaseKind::Read, 41e6),
    ("reread", "io", PhaseKind::Read, 41e6),
    ("random-read", "io", PhaseKind::Read, 4e6),
    ("random-write", "io", PhaseKind::Write, 6e6),
    ("strided-read", "strided-read", PhaseKind::Read, 9e6),
];

/// Rate of data in the page cache.
const CACHED: f64 = 900e6;

/// A run of seven phases over `sizes` file sizes from 64 KiB on and `records` record sizes from 8
/// KiB on; records are never larger than their file.
pub(crate) fn swept(subjects: &[&str], (sizes, records): (u32, u32), repeats: u32) -> RunRecord {
    let mut run = fixture::run_of(subjects, repeats);
    let points: Vec<(u64, u64)> = (0..sizes)
        .flat_map(|size| (0..records).map(move |record| (65_536 << size, 8_192 << record)))
        .filter(|(size, record)| record <= size)
        .collect();
    let specs: Vec<(usize, PhaseSpec)> = points
        .iter()
        .flat_map(|point| (0..PHASES.len()).map(move |phase| (phase, spec(phase, *point))))
        .collect();
    let plan = &mut run.header.plan;
    plan.study = "iozone-2003".into();
    plan.title = "Six file systems, Iozone".into();
    plan.venue = VenuePlan::Guest {
        folder: "/var/tmp/fslab".into(),
        kernel: "6.12.48".into(),
        lab: "0123456789ab".into(),
        memory_bytes: Bytes(MEMORY),
        layers: Vec::new(),
    };
    plan.phases = specs.iter().map(|(_, spec)| spec.clone()).collect();
    plan.figures = figures();
    let mut chance = Chance::of(7);
    for trial in &mut run.trials {
        let subject = trial.trial.cell.0 as usize;
        let record =
            |(phase, spec): &(usize, PhaseSpec)| record(*phase, spec, subject, &mut chance);
        trial.phases = specs.iter().map(record).collect();
    }
    run
}

fn spec(phase: usize, (size, record): (u64, u64)) -> PhaseSpec {
    let (name, workload, ..) = PHASES[phase];
    let mut parameters = Parameters::new();
    parameters.insert("file_size".into(), Bytes(size).to_string().into());
    parameters.insert("record".into(), Bytes(record).to_string().into());
    let point: Point = [("file_size", size), ("record", record)]
        .map(|(name, bytes)| (name.to_owned(), PointValue::Bytes(bytes)))
        .into();
    let full = format!("{name} {}/{}", Bytes(size), Bytes(record));
    PhaseSpec {
        swept: Some(Swept {
            phase: name.to_owned(),
            point,
        }),
        ..PhaseSpec::new(full, workload, parameters)
    }
}

fn record(phase: usize, spec: &PhaseSpec, subject: usize, chance: &mut Chance) -> PhaseRecord {
    let (name, _, kind, disk) = PHASES[phase];
    let point = &spec.swept.as_ref().expect("swept").point;
    let (size, record) = (point["file_size"].number(), point["record"].number());
    let share = (MEMORY as f64 / size as f64).min(1.0);
    let pace = 1.0 - 0.09 * subject as f64
        + if subject == 5 {
            0.4 * (1.0 - share)
        } else {
            0.0
        };
    let reach = if name.starts_with("random") || name == "strided-read" {
        (record as f64 / 65_536.0).clamp(0.2, 6.0)
    } else {
        1.0
    };
    let rate = 1.0 / (share / CACHED + (1.0 - share) / (disk * reach * pace));
    let seconds = size as f64 / (rate * pace.max(0.4)) * (1.0 + 0.04 * (chance.uniform() - 0.5));
    let mut phase = PhaseRecord::empty(spec, kind, Headline::Throughput, PhaseOutcome::Done);
    phase.elapsed_ns = Some((seconds * 1e9) as u64);
    phase.operations = Some(size / record);
    phase.bytes = Some(size);
    phase
}

/// A figure of the usual kind.
pub(crate) fn figure(id: &str, layout: FigureLayout, phases: &[&str]) -> FigureSpec {
    FigureSpec {
        id: id.into(),
        title: format!("{id} of the story"),
        layout,
        phases: phases.iter().map(|name| (*name).to_owned()).collect(),
        metric: None,
        over: None,
        condition: BTreeMap::new(),
        cap: None,
        list: None,
    }
}

fn figures() -> Vec<FigureSpec> {
    let at = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    vec![
        FigureSpec {
            over: Some("file_size".into()),
            condition: at("record", "64KiB"),
            ..figure("figure-1", FigureLayout::Curves, &["read", "write"])
        },
        FigureSpec {
            condition: BTreeMap::from([
                ("file_size".to_owned(), "16MiB".to_owned()),
                ("record".to_owned(), "64KiB".to_owned()),
            ]),
            cap: Some("600 MB/s".into()),
            ..figure("figure-3", FigureLayout::Bars, &["write", "read"])
        },
        FigureSpec {
            over: Some("record".into()),
            condition: at("file_size", "16MiB"),
            ..figure("figure-9", FigureLayout::Curves, &["strided-read"])
        },
        figure(
            "table",
            FigureLayout::IozoneTable,
            &["write", "rewrite", "read", "reread"],
        ),
    ]
}

/// Phases that run once, by name, kind and rate of the first subject; a rate of 0 means no time.
pub(crate) fn plain(
    subjects: &[&str],
    repeats: u32,
    phases: &[(&str, PhaseKind, f64)],
) -> RunRecord {
    let mut run = fixture::run_of(subjects, repeats);
    let specs: Vec<PhaseSpec> = phases
        .iter()
        .map(|(name, ..)| PhaseSpec::new(*name, "io", Parameters::new()))
        .collect();
    run.header.plan.phases.clone_from(&specs);
    for trial in &mut run.trials {
        let slower = 1.0 + f64::from(trial.trial.cell.0) + 0.01 * f64::from(trial.trial.repeat);
        let made = specs.iter().zip(phases);
        trial.phases = made
            .map(|(spec, phase)| once(spec, phase, slower))
            .collect();
    }
    run
}

fn once(spec: &PhaseSpec, (_, kind, rate): &(&str, PhaseKind, f64), slower: f64) -> PhaseRecord {
    let headline = match kind {
        PhaseKind::Metadata => Headline::OperationRate,
        PhaseKind::Read | PhaseKind::Write | PhaseKind::Mixed => Headline::Throughput,
    };
    let mut phase = PhaseRecord::empty(spec, *kind, headline, PhaseOutcome::Done);
    let amount: u64 = match kind {
        PhaseKind::Metadata => 10_240,
        PhaseKind::Read | PhaseKind::Write | PhaseKind::Mixed => 40 << 20,
    };
    phase.operations = Some(if headline == Headline::Throughput {
        amount / 8192
    } else {
        amount
    });
    phase.bytes = (headline == Headline::Throughput).then_some(amount);
    phase.elapsed_ns = Some(match rate {
        0.0 => 0,
        rate => (amount as f64 / rate * slower * 1e9) as u64,
    });
    phase.cpu = phase.elapsed_ns.map(|ns| CpuUse {
        user_ns: ns / 20,
        system_ns: ns / 10,
        ..CpuUse::default()
    });
    let mut histogram = LatencyHistogram::new();
    histogram.record(4_126_000);
    phase.latencies = vec![OperationLatency {
        operation: "write".into(),
        histogram,
    }];
    phase.settled = Some(Settled {
        sync_ns: 4_000_000_000,
        unmount_ns: 500_000_000,
    });
    phase.lists = vec![ValueList {
        name: "readahead-window".into(),
        x: "block read (4 KiB)".into(),
        y: "blocks that came in".into(),
        points: [
            (0.0, 4.0),
            (4.0, 8.0),
            (12.0, 16.0),
            (28.0, 32.0),
            (60.0, 32.0),
        ]
        .into(),
    }];
    phase
}

/// The phases of bonnie++ except those by character.
pub(crate) fn bonnie() -> RunRecord {
    use PhaseKind::{Metadata, Mixed, Read, Write};
    let mut run = plain(
        &["ext4", "xfs", "jfs", "affs"],
        1,
        &[
            ("block-write", Write, 88e6),
            ("rewrite", Write, 40e6),
            ("block-read", Read, 95e6),
            ("seeks", Metadata, 210.0),
            ("create-seq", Metadata, 140.0),
            ("read-seq", Metadata, 0.0),
            ("delete-seq", Metadata, 900.0),
            ("create-rand", Metadata, 120.0),
            ("read-rand", Metadata, 30_000.0),
            ("delete-rand", Mixed, 800e3),
        ],
    );
    let phases = run
        .header
        .plan
        .phases
        .iter()
        .map(|phase| phase.name.clone());
    let names: Vec<String> = phases.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    run.header.plan.study = "bonnie-2010".into();
    run.header.plan.figures = vec![
        figure("table", FigureLayout::BonnieTable, &names),
        figure("bars", FigureLayout::Bars, &["block-write"]),
    ];
    fixture::skip_phase(&mut run, 3, "create-seq", "this directory holds no more");
    run
}

/// The phases of home-usb: nine repeats, of which the third subject has three.
pub(crate) fn home_usb() -> RunRecord {
    use PhaseKind::{Metadata, Read, Write};
    let mut run = plain(
        &["ext4", "btrfs", "nilfs2"],
        9,
        &[
            ("write-files", Write, 1e6),
            ("hash", Read, 2e6),
            ("fifo", Write, 0.9e6),
            ("clear", Metadata, 30_000.0),
        ],
    );
    for repeat in 0..6 {
        fixture::fail_trial(&mut run, 2, repeat);
        let trial = fixture::trial_mut(&mut run, 2, repeat);
        trial.phases.truncate(3);
        if let Some(last) = trial.phases.last_mut() {
            last.outcome = match &trial.outcome {
                fslab_model::TrialOutcome::Failed { failure } => PhaseOutcome::Failed {
                    failure: failure.clone(),
                },
                fslab_model::TrialOutcome::Done => PhaseOutcome::Done,
            };
        }
    }
    run.header.plan.study = "home-usb".into();
    run.header.plan.figures = vec![
        figure(
            "tables",
            FigureLayout::LoserTable,
            &["write-files", "hash", "fifo", "clear"],
        ),
        FigureSpec {
            list: Some("readahead-window".into()),
            ..figure("window", FigureLayout::Lists, &["hash"])
        },
    ];
    run
}
