//! Runs and trials to store: one with everything set, one with nothing measured.

use fslab_model::{
    Adaptive, Bytes, CachePolicy, CellId, ColdMethod, CpuUse, DeviceInsight, DeviceUse, Facts,
    Failure, FailureKind, FaultCount, FaultKind, FigureLayout, FigureSpec, Headline, HostCost,
    LatencyHistogram, MachineFacts, OperationLatency, Parameters, PhaseKind, PhaseOutcome,
    PhaseRecord, PhaseSpec, Picture, PictureLayer, Plan, PointValue, PromiseId, Round, Rounds,
    RunHeader, RunId, RunRecord, ServiceTimes, Settled, StepRecord, Subject, SubjectPlan, Survival,
    SurvivalOutcome, Swept, TimeSeries, Traffic, TrialId, TrialOutcome, TrialRecord, ValueList,
    VenuePlan, Window,
};
use serde_json::json;

/// When the first sample run began.
pub(crate) const STARTED_UNIX_S: u64 = 1_795_000_000;

pub(crate) fn run_id(text: &str) -> RunId {
    text.parse().expect("a run's name")
}

pub(crate) fn trial_id(cell: u32, repeat: u32) -> TrialId {
    TrialId {
        cell: CellId(cell),
        repeat,
    }
}

pub(crate) fn plan() -> Plan {
    let words = |text: &str| Some(text.split(' ').map(str::to_owned).collect());
    Plan {
        scale: "1/20".parse().expect("a scale"),
        adaptive: Some(Adaptive {
            repeats_max: 20,
            target: Adaptive::TARGET,
            key: vec!["write".into()],
            until_decided: false,
            budget_s: None,
        }),
        perturb: true,
        rounds: Rounds {
            mounts: 2,
            iterations: 3,
        },
        data_to_memory: None,
        survival: None,
        required_facts: [("device.read_ahead_kb".into(), "128".into())].into(),
        figures: vec![FigureSpec {
            id: "figure-1".into(),
            title: "Write".into(),
            layout: FigureLayout::Curves,
            phases: vec!["write".into()],
            metric: None,
            over: Some("file_size".into()),
            condition: [("record".into(), "64KiB..".into())].into(),
            cap: Some("450 s".into()),
            list: None,
        }],
        format: 1,
        study: "quick".into(),
        title: "Quick look".into(),
        question: Some(fslab_model::StudyQuestion {
            text: "Which file system for this disk?".into(),
            phases: Some(vec!["write".into()]),
        }),
        answer: None,
        condition: None,
        score: None,
        venue: VenuePlan::Loop {
            folder: "/var/tmp".into(),
        },
        size_bytes: Bytes::gib(1),
        cold: ColdMethod::Remount,
        cold_after_s: 0,
        dirty_limit_bytes: None,
        engine: "psync".into(),
        subjects: ["ext4:mount=data=journal", "xfs"]
            .map(|text| SubjectPlan {
                subject: text.parse().expect("a subject"),
                title: None,
                mkfs: words("mkfs DEVICE"),
                mount: words("mount DEVICE MOUNTPOINT"),
                check: None,
                stack: Vec::new(),
                lab: None,
                network_mount: None,
            })
            .into(),
        phases: vec![write_spec()],
        repeats: 3,
        ranks: 1,
        trial_limit_s: 300,
        // More than SQLite's integers hold.
        seed: u64::MAX - 7,
    }
}

pub(crate) fn write_spec() -> PhaseSpec {
    let parameters = json!({"record": 1_048_576, "fsync": true, "skew": 0.1, "file": "ä\n"});
    PhaseSpec {
        name: "write".into(),
        workload: "seq-write".into(),
        cache: CachePolicy::Cold,
        settle: true,
        parameters: parameters.as_object().expect("an object").clone(),
        definition: None,
        group: Some("data".into()),
        swept: Some(Swept {
            phase: "write".into(),
            point: [("record".into(), PointValue::Bytes(1 << 20))].into(),
        }),
    }
}

pub(crate) fn header(run: &str) -> RunHeader {
    let plan = plan();
    RunHeader {
        run: run_id(run),
        plan_hash: plan.hash(),
        plan,
        fslab: "0.1.0".into(),
        machine: MachineFacts {
            host: Some("bench".into()),
            kernel: Some("6.18.1".into()),
            cpu_count: Some(2),
            memory_bytes: Some(8 << 30),
            ..MachineFacts::default()
        },
        command: ["fslab", "compare", "ext4:data=journal", "xfs"]
            .map(str::to_owned)
            .into(),
        started_unix_s: STARTED_UNIX_S,
    }
}

pub(crate) fn histogram(latencies_ns: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    histogram
}

/// A phase with every measurement.
pub(crate) fn full_phase() -> PhaseRecord {
    let mut phase = PhaseRecord::empty(
        &write_spec(),
        PhaseKind::Write,
        Headline::Throughput,
        PhaseOutcome::Done,
    );
    phase.elapsed_ns = Some(2_000_000_000);
    phase.operations = Some(256);
    phase.figures = [("inline_threshold_bytes".into(), 160.0)].into();
    phase.lists = vec![ValueList {
        name: "readahead-window".into(),
        x: "block".into(),
        y: "blocks".into(),
        points: vec![(0.0, 4.0), (4.0, 8.0)],
    }];
    phase.bytes = Some(256 << 20);
    phase.latencies = [("write", [900, 1_000, 5_000_000]), ("fsync", [7, 8, 9])]
        .map(|(operation, latencies_ns)| OperationLatency {
            operation: operation.into(),
            histogram: histogram(&latencies_ns),
        })
        .into();
    phase.series = Some(TimeSeries {
        interval_ns: 1_000_000_000,
        operations: vec![100, 156],
        bytes: vec![100 << 20, 156 << 20],
    });
    phase.cpu = Some(CpuUse {
        user_ns: 1,
        system_ns: 2,
        voluntary_switches: Some(3),
        involuntary_switches: Some(0),
    });
    phase.device = Some(DeviceUse {
        reads: 1,
        read_bytes: 4_096,
        writes: 300,
        write_bytes: 300 << 20,
        discards: Some(0),
        discard_bytes: Some(0),
        flushes: None,
        busy_ns: 1_900_000_000,
    });
    phase.settled = Some(Settled {
        sync_ns: 400_000_000,
        unmount_ns: 100_000_000,
    });
    phase.notes = vec!["the first file was larger".into()];
    let (measured, settling) = (
        [5_000_000_000, 7_000_000_000],
        [7_000_000_000, 7_500_000_000],
    );
    phase.window = Some(window(measured));
    phase.insight = Some(insight(window(measured)));
    phase.settle_window = Some(window(settling));
    phase.settle_insight = Some(insight(window(settling)));
    phase.round = Some(Round {
        mount: 1,
        iteration: 2,
    });
    phase.host = Some(HostCost {
        cpu_ns: 31_000_000,
        real_ns: 40_000_000,
    });
    phase
}

fn window([begin_ns, end_ns]: [u64; 2]) -> Window {
    Window { begin_ns, end_ns }
}

/// The insight of a disk with writes.
pub(crate) fn insight(window: Window) -> DeviceInsight {
    let mut insight = DeviceInsight {
        window,
        capacity_sectors: 1 << 21,
        picture: Picture::new(2, window.length_ns().div_ceil(2)),
        ..DeviceInsight::default()
    };
    let sectors = [0, 8_u64].repeat(insight.picture.rows);
    insight.picture.set(PictureLayer::Written, &sectors);
    insight.writes.all = Traffic {
        requests: 96,
        bytes: 96 * 4_096,
    };
    insight.writes.sizes.add(8, 96);
    insight.writes.time.seek_ns = 9_000;
    insight.writes.service = Some(ServiceTimes {
        p50_ns: 90,
        p95_ns: 91,
        p99_ns: 92,
        p999_ns: 93,
        max_ns: 94,
    });
    insight.background_writes = insight.writes.all;
    insight.background_write_time.rotation_ns = 8_000;
    insight.background_read_time.transfer_ns = 7_000;
    insight.seeks.accesses = 96;
    insight.depth.max = 3;
    insight.depth.busy_ns = 1_000;
    insight.depth.times_ns.add(2, 1_000);
    insight
}

/// A phase with only its outcome.
pub(crate) fn empty_phase(outcome: PhaseOutcome) -> PhaseRecord {
    let spec = PhaseSpec::new("stat", "stat", Parameters::new());
    PhaseRecord::empty(&spec, PhaseKind::Metadata, Headline::OperationRate, outcome)
}

pub(crate) fn failure() -> Failure {
    Failure {
        kind: FailureKind::NoSpace,
        message: "cannot write file 17".into(),
        causes: vec!["write(2): ENOSPC".into()],
        errno: Some(28),
        hint: Some("choose a larger --size".into()),
    }
}

pub(crate) fn done_trial(cell: u32, repeat: u32) -> TrialRecord {
    TrialRecord {
        trial: trial_id(cell, repeat),
        subject: plan().subjects[cell as usize % 2].subject.clone(),
        perturbation: fslab_model::Perturbation::of(7, repeat),
        position: 2 * repeat + cell,
        started_unix_s: STARTED_UNIX_S + u64::from(repeat),
        elapsed_ns: 3_000_000_000,
        outcome: TrialOutcome::Done,
        steps: vec![
            step("mkfs", Some(0), "Creating filesystem\n"),
            step("mount", None, ""),
            step("unmount", None, ""),
        ],
        phases: vec![
            full_phase(),
            empty_phase(PhaseOutcome::Done),
            empty_phase(PhaseOutcome::Skipped {
                reason: "metadata cannot be made cold here".into(),
            }),
        ],
        facts: Facts::from([
            ("mkfs.ext4".into(), "1.47.2".into()),
            ("fs".into(), "ext4".into()),
        ]),
        console: "a warning\n".into(),
        insight: Some(insight(window([1_000_000_000, 8_000_000_000]))),
        kernel_log: Vec::new(),
        survival: Some(survival()),
    }
}

fn step(name: &str, exit_code: Option<i32>, output: &str) -> StepRecord {
    StepRecord {
        step: name.into(),
        command: vec![name.into(), "/dev/loop 0".into()],
        elapsed_ns: 12_345,
        exit_code,
        output: output.into(),
    }
}

/// A trial that failed before its first event.
pub(crate) fn failed_trial(cell: u32, repeat: u32) -> TrialRecord {
    TrialRecord {
        trial: trial_id(cell, repeat),
        subject: Subject::plain("xfs"),
        perturbation: fslab_model::Perturbation::NONE,
        position: 0,
        started_unix_s: 0,
        elapsed_ns: 0,
        outcome: TrialOutcome::Failed { failure: failure() },
        steps: Vec::new(),
        phases: vec![empty_phase(PhaseOutcome::Failed { failure: failure() })],
        facts: Facts::new(),
        console: String::new(),
        insight: None,
        kernel_log: Vec::new(),
        survival: None,
    }
}

/// A run with every kind of trial, in the order of cell and repeat.
pub(crate) fn run(name: &str) -> RunRecord {
    RunRecord {
        header: header(name),
        trials: vec![
            done_trial(0, 0),
            done_trial(0, 1),
            failed_trial(1, 0),
            done_trial(1, 2),
        ],
    }
}

/// What is left after a power loss.
fn survival() -> SurvivalOutcome {
    let count = FaultCount {
        states: 3,
        files: 1,
        bytes: 4096,
    };
    let survival = Box::new(Survival {
        states: 300,
        broken_states: 3,
        broken: [(FaultKind::Lost, count)].into(),
        promises: [(PromiseId::Fsync, 3)].into(),
        recovery_median_ns: Some(25_000_000),
        ..Survival::default()
    });
    SurvivalOutcome::Judged { survival }
}
