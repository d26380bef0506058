//! Invented runs: records with known figures.
//!
//! Shared by the tests and by `examples/sample_report.rs`. Seeded: one story gives one record.

use fslab_model::{
    Bytes, CachePolicy, CellId, ColdMethod, CpuUse, DeviceUse, Facts, Failure, FailureKind,
    Headline, LatencyHistogram, MachineFacts, OperationLatency, Parameters, PhaseKind,
    PhaseOutcome, PhaseRecord, PhaseSpec, Plan, RunHeader, RunRecord, Settled, StepRecord, Subject,
    SubjectPlan, TimeSeries, TrialId, TrialOutcome, TrialRecord, VenuePlan,
};
use fslab_stats::SplitMixRandom;

const START_UNIX_S: u64 = 1_795_000_000;

/// A seeded source of values.
pub(crate) struct Chance(SplitMixRandom);

impl Chance {
    /// The source for a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(SplitMixRandom::split_mix(seed))
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.open_unit()
    }

    /// About 1, with a spread of `sigma`.
    fn around_one(&mut self, sigma: f64) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        (sigma * radius * (std::f64::consts::TAU * self.uniform()).cos()).exp()
    }
}

/// A phase of the story.
struct Scene {
    name: &'static str,
    workload: &'static str,
    kind: PhaseKind,
    cache: CachePolicy,
    settle: bool,
    /// Bytes an operation moves; 0 for metadata.
    record: u64,
    operations: u64,
    /// Seconds for the first, second and third subject, before noise.
    seconds: [f64; 3],
    /// Device bytes over application bytes.
    device_share: f64,
}

const fn scene(name: &'static str, workload: &'static str, kind: PhaseKind) -> Scene {
    Scene {
        name,
        workload,
        kind,
        cache: CachePolicy::Keep,
        settle: false,
        record: 0,
        operations: 10_000,
        seconds: [1.0; 3],
        device_share: 1.0,
    }
}

fn scenes() -> Vec<Scene> {
    use PhaseKind::{Metadata, Read, Write};
    vec![
        Scene {
            settle: true,
            record: 1 << 20,
            operations: 256,
            seconds: [0.62, 0.51, 0.70],
            device_share: 1.04,
            ..scene("write", "write", Write)
        },
        Scene {
            record: 1 << 20,
            operations: 256,
            seconds: [0.60, 0.58, 0.91],
            device_share: 0.98,
            ..scene("rewrite", "rewrite", Write)
        },
        Scene {
            cache: CachePolicy::Cold,
            record: 1 << 20,
            operations: 256,
            seconds: [0.21, 0.20, 0.24],
            device_share: 1.01,
            ..scene("read", "read", Read)
        },
        Scene {
            record: 1 << 20,
            operations: 256,
            seconds: [0.036, 0.035, 0.036],
            device_share: 0.0,
            ..scene("reread", "read", Read)
        },
        Scene {
            cache: CachePolicy::Cold,
            record: 4096,
            operations: 8_000,
            seconds: [1.30, 1.24, 1.62],
            device_share: 1.4,
            ..scene("random-read-4k", "random-read", Read)
        },
        Scene {
            record: 4096,
            operations: 8_000,
            seconds: [0.80, 0.85, 2.90],
            device_share: 2.1,
            ..scene("random-write-4k", "random-write", Write)
        },
        Scene {
            seconds: [0.35, 0.52, 0.61],
            ..scene("create", "create", Metadata)
        },
        Scene {
            cache: CachePolicy::Cold,
            seconds: [0.19, 0.18, 0.27],
            ..scene("stat", "stat", Metadata)
        },
        Scene {
            operations: 400,
            record: 4096,
            seconds: [1.1, 0.84, 2.6],
            device_share: 9.0,
            ..scene("append", "append", Write)
        },
    ]
}

/// A run of `subjects` over nine phases.
pub(crate) fn run_of(subjects: &[&str], repeats: u32) -> RunRecord {
    let plan = plan(subjects, repeats);
    let mut chance = Chance::of(42);
    let mut trials: Vec<TrialRecord> = (0..u32::try_from(subjects.len()).expect("few"))
        .flat_map(|cell| (0..repeats).map(move |repeat| (cell, repeat)))
        .map(|(cell, repeat)| trial(&plan, cell, repeat, &mut chance))
        .collect();
    let count = trials.len();
    for (index, trial) in trials.iter_mut().enumerate() {
        let position = index * 7 % count.max(1);
        trial.position = u32::try_from(position).expect("few");
        trial.started_unix_s = START_UNIX_S + 14 * position as u64;
    }
    RunRecord {
        header: RunHeader {
            run: "20261118-110640-k3f9".parse().expect("a run's name"),
            plan_hash: plan.hash(),
            plan,
            fslab: "0.1.0".into(),
            machine: machine(),
            command: ["fslab", "compare", "ext4", "xfs", "btrfs", "--repeats", "3"]
                .map(str::to_owned)
                .into(),
            started_unix_s: START_UNIX_S,
        },
        trials,
    }
}

/// The usual run: ext4, xfs and btrfs, three repeats; one trial failed, one phase was skipped.
pub(crate) fn usual() -> RunRecord {
    let mut run = run_of(&["ext4", "xfs", "btrfs"], 3);
    fail_trial(&mut run, 2, 1);
    skip_phase(
        &mut run,
        2,
        "stat",
        "this file system has no cold metadata here",
    );
    run
}

/// Lets one trial fail in its fifth phase.
pub(crate) fn fail_trial(run: &mut RunRecord, cell: u32, repeat: u32) {
    let trial = trial_mut(run, cell, repeat);
    let mut failure = Failure::new(
        FailureKind::NoSpace,
        "cannot write data-0003 on the subject",
    );
    failure.causes = vec!["write(2): No space left on device".into()];
    failure.errno = Some(28);
    failure.hint = Some("choose a larger --size".into());
    trial.phases.truncate(5);
    if let Some(last) = trial.phases.last_mut() {
        last.outcome = PhaseOutcome::Failed {
            failure: failure.clone(),
        };
    }
    trial.outcome = TrialOutcome::Failed { failure };
    trial.console = "BTRFS info: forced readonly\n<script>alert(1)</script>\n".into();
}

/// Lets every repeat of a cell skip a phase.
pub(crate) fn skip_phase(run: &mut RunRecord, cell: u32, phase: &str, reason: &str) {
    let trials = run
        .trials
        .iter_mut()
        .filter(|t| t.trial.cell == CellId(cell));
    for record in trials.flat_map(|trial| &mut trial.phases) {
        if record.name == phase {
            record.outcome = PhaseOutcome::Skipped {
                reason: reason.into(),
            };
        }
    }
}

/// One trial of a run.
pub(crate) fn trial_mut(run: &mut RunRecord, cell: u32, repeat: u32) -> &mut TrialRecord {
    let id = TrialId {
        cell: CellId(cell),
        repeat,
    };
    let found = run.trials.iter_mut().find(|trial| trial.trial == id);
    found.expect("the story has that trial")
}

fn machine() -> MachineFacts {
    MachineFacts {
        host: Some("bench-01".into()),
        os: Some("Debian GNU/Linux 13 (trixie)".into()),
        kernel: Some("6.12.48-amd64".into()),
        cpu: Some("AMD EPYC 9454P 48-Core Processor".into()),
        cpu_count: Some(4),
        memory_bytes: Some(8 << 30),
        architecture: Some("x86_64".into()),
        hypervisor: None,
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Names in sentences, as the catalogue has them.
pub(crate) fn title(fs: &str) -> Option<String> {
    let known = [
        ("xfs", "XFS"),
        ("btrfs", "Btrfs"),
        ("f2fs", "F2FS"),
        ("jfs", "JFS"),
        ("ntfs3", "NTFS3"),
        ("fat32", "FAT32"),
        ("nilfs2", "NILFS2"),
    ];
    let found = known.iter().find(|(name, _)| *name == fs);
    found.map(|(_, title)| (*title).to_owned())
}

fn plan(subjects: &[&str], repeats: u32) -> Plan {
    let subjects = subjects.iter().map(|text| {
        let subject: Subject = text.parse().expect("a subject");
        SubjectPlan {
            mkfs: Some(words(&format!("mkfs.{} -q DEVICE", subject.fs()))),
            mount: Some(words(&format!(
                "mount -t {} DEVICE MOUNTPOINT",
                subject.fs()
            ))),
            check: Some(words(&format!("fsck.{} -n DEVICE", subject.fs()))),
            title: title(subject.fs()),
            ..SubjectPlan::existing(subject)
        }
    });
    Plan {
        title: "Quick comparison".into(),
        venue: VenuePlan::Loop {
            folder: "/var/tmp/fslab".into(),
        },
        size_bytes: Bytes::gib(1),
        cold: ColdMethod::Remount,
        cold_after_s: 0,
        dirty_limit_bytes: None,
        engine: "psync".into(),
        subjects: subjects.collect(),
        phases: scenes().iter().map(spec).collect(),
        repeats,
        trial_limit_s: 300,
        seed: 2_874_123_991,
        ..Plan::imported("quick", "none")
    }
}

fn spec(scene: &Scene) -> PhaseSpec {
    let mut parameters = Parameters::new();
    if scene.record > 0 {
        parameters.insert("record".into(), Bytes(scene.record).to_string().into());
        let file = Bytes(scene.record * scene.operations);
        parameters.insert("file".into(), file.to_string().into());
    } else {
        parameters.insert("files".into(), scene.operations.into());
        parameters.insert("files_per_directory".into(), 200.into());
    }
    PhaseSpec {
        name: scene.name.into(),
        workload: scene.workload.into(),
        cache: scene.cache,
        settle: scene.settle,
        parameters,
        definition: None,
        group: None,
        swept: None,
    }
}

fn trial(plan: &Plan, cell: u32, repeat: u32, chance: &mut Chance) -> TrialRecord {
    let planned = &plan.subjects[cell as usize];
    let step = |step: &str, command: &Option<Vec<String>>, ms: f64, exit_code| StepRecord {
        step: step.into(),
        command: command
            .iter()
            .flatten()
            .map(|word| match word.as_str() {
                "DEVICE" => "/dev/loop0".to_owned(),
                "MOUNTPOINT" => "/run/fslab/mnt".to_owned(),
                word => word.to_owned(),
            })
            .collect(),
        elapsed_ns: (ms * 1e6) as u64,
        exit_code,
        output: String::new(),
    };
    let unmount = Some(words("umount /run/fslab/mnt"));
    let pace = 1.0 + f64::from(cell);
    let steps = vec![
        step(
            "mkfs",
            &planned.mkfs,
            31.0 * pace * chance.around_one(0.1),
            Some(0),
        ),
        step(
            "mount",
            &planned.mount,
            7.0 * pace * chance.around_one(0.2),
            None,
        ),
        step("unmount", &unmount, 22.0 * chance.around_one(0.15), None),
        step(
            "check",
            &planned.check,
            90.0 / pace * chance.around_one(0.05),
            Some(0),
        ),
    ];
    let facts = [
        ("e2fsprogs", "1.47.2"),
        ("loop direct I/O", "on"),
        ("file system", planned.subject.fs()),
    ];
    TrialRecord {
        trial: TrialId {
            cell: CellId(cell),
            repeat,
        },
        subject: planned.subject.clone(),
        perturbation: fslab_model::Perturbation::NONE,
        position: 0,
        started_unix_s: START_UNIX_S,
        elapsed_ns: (12.4e9 * chance.around_one(0.05)) as u64,
        outcome: TrialOutcome::Done,
        steps,
        phases: scenes()
            .iter()
            .map(|scene| phase(scene, cell, chance))
            .collect(),
        facts: facts
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into_iter()
            .collect::<Facts>(),
        console: String::new(),
        insight: None,
        kernel_log: Vec::new(),
        survival: None,
    }
}

fn phase(scene: &Scene, cell: u32, chance: &mut Chance) -> PhaseRecord {
    let headline = match scene.kind {
        PhaseKind::Metadata => Headline::OperationRate,
        PhaseKind::Read | PhaseKind::Write | PhaseKind::Mixed => Headline::Throughput,
    };
    let seconds = scene.seconds[cell as usize % 3] * chance.around_one(0.03);
    let bytes = scene.record * scene.operations;
    let mut histogram = LatencyHistogram::new();
    let mean_ns = seconds * 1e9 / scene.operations as f64;
    for _ in 0..scene.operations {
        let stall = if chance.uniform() < 0.004 { 12.0 } else { 1.0 };
        histogram.record((mean_ns * 0.9 * stall * chance.around_one(0.25)) as u64);
    }
    let mut record = PhaseRecord::empty(&spec(scene), scene.kind, headline, PhaseOutcome::Done);
    record.elapsed_ns = Some((seconds * 1e9) as u64);
    record.operations = Some(scene.operations);
    record.bytes = (bytes > 0).then_some(bytes);
    record.latencies = vec![OperationLatency {
        operation: scene.workload.into(),
        histogram,
    }];
    record.series = Some(series(seconds, scene, chance));
    record.cpu = Some(CpuUse {
        user_ns: (seconds * 0.04e9) as u64,
        system_ns: (seconds * 0.31e9 * chance.around_one(0.1)) as u64,
        voluntary_switches: Some(scene.operations / 3),
        involuntary_switches: Some(41),
    });
    let moved = (bytes as f64 * scene.device_share) as u64;
    let writes = scene.kind != PhaseKind::Read;
    record.device = Some(DeviceUse {
        reads: if writes { 12 } else { moved / 131_072 },
        read_bytes: if writes { 49_152 } else { moved },
        writes: if writes { scene.operations } else { 0 },
        write_bytes: if writes { moved.max(3 << 20) } else { 0 },
        flushes: Some(u64::from(writes) * 3),
        busy_ns: (seconds * 0.7e9) as u64,
        ..DeviceUse::default()
    });
    record.settled = scene.settle.then(|| Settled {
        sync_ns: (8e6 * chance.around_one(0.3)) as u64,
        unmount_ns: (26e6 * f64::from(cell + 1) * chance.around_one(0.2)) as u64,
    });
    record
}

fn series(seconds: f64, scene: &Scene, chance: &mut Chance) -> TimeSeries {
    let interval_ns = 20_000_000_u64;
    let count = (seconds * 1e9 / interval_ns as f64).ceil();
    let full = scene.operations as f64 * interval_ns as f64 / (seconds * 1e9);
    let operations: Vec<u64> = (0..count as u64)
        .map(|index| {
            let used = (seconds * 1e9 / interval_ns as f64 - index as f64).min(1.0);
            (full * used * chance.around_one(0.12)).round() as u64
        })
        .collect();
    TimeSeries {
        interval_ns,
        bytes: operations
            .iter()
            .map(|count| count * scene.record)
            .collect(),
        operations,
    }
}
