//! Fills a store with runs such as `fslab compare` leaves them: plans that are resolved, subjects
//! that compete, latencies of hundreds of buckets, time series, now and then a failure.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_model::{
    CpuUse, DeviceUse, Facts, Failure, FailureKind, Headline, LatencyHistogram, MachineFacts,
    OperationLatency, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, Plan, RunHeader, RunId,
    RunRecord, Settled, StepRecord, TimeSeries, TrialId, TrialOutcome, TrialRecord, VenuePlan,
};
use fslab_run::{Repetition, Request, VenueChoice, load_study, resolve};
use fslab_stats::SplitMixRandom;
use fslab_store::{Store, StoreError};

use crate::error::BenchError;

/// Subjects of every run, which has [`REPEATS`] trials of each.
const SUBJECTS: [&str; 10] = [
    "ext4",
    "xfs",
    "btrfs",
    "f2fs",
    "ext2",
    "ext3",
    "jfs",
    "nilfs2",
    "ext4:mount=data=journal",
    "xfs:mount=noatime",
];
const REPEATS: u32 = 10;
pub(crate) const TRIALS_A_RUN: u32 = SUBJECTS.len() as u32 * REPEATS;
/// Phases of a trial: the first of the quick study.
const PHASES: usize = 3;
/// One trial in so many fails.
const FAILS_EACH: u64 = 50;
/// When the first run began; the others follow by the minute.
const BEGAN_UNIX_S: u64 = 1_700_000_000;
/// Progress is printed once in so many runs.
const PROGRESS_EACH: u32 = 1_000;

/// What every run shares.
pub(crate) struct Model {
    plan: Plan,
    machine: MachineFacts,
    /// Histograms with a bulk and a tail, which all differ.
    latencies: Vec<LatencyHistogram>,
}

impl Model {
    pub(crate) fn new() -> Result<Self, BenchError> {
        let failed = |error: &dyn std::error::Error| BenchError::Input(error.to_string());
        let (study, _) = load_study("quick").map_err(|error| failed(&error))?;
        let request = Request {
            dirty_limit: None,
            study,
            subjects: SUBJECTS.map(str::to_owned).into(),
            venue: VenueChoice::Named(VenuePlan::Loop {
                folder: "/var/tmp".into(),
            }),
            size: None,
            aged: None,
            scale: None,
            repetition: Repetition {
                repeats: Some(fslab_run::Repeats {
                    least: REPEATS,
                    most: None,
                }),
                ..Repetition::default()
            },
            trial_limit_s: None,
            cold_after_s: 0,
            survival: None,
            seed: 1,
            ranks: 1,
        };
        let mut plan = resolve(&request).map_err(|error| failed(&error))?.plan;
        plan.phases.truncate(PHASES);
        let mut chance = SplitMixRandom::split_mix(7);
        let latencies = (0..64).map(|_| latencies(&mut chance)).collect();
        let machine = fslab_run::machine_facts();
        Ok(Self {
            plan,
            machine,
            latencies,
        })
    }

    /// The header of the run of that number. Every tenth is of another study.
    pub(crate) fn header(&self, number: u32) -> RunHeader {
        let mut plan = self.plan.clone();
        if number % 10 == 9 {
            plan.study = "other".into();
        }
        plan.seed = u64::from(number);
        RunHeader {
            run: run_id(number),
            plan_hash: plan.hash(),
            plan,
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            machine: self.machine.clone(),
            command: ["fslab", "compare"].map(str::to_owned).into(),
            started_unix_s: BEGAN_UNIX_S + 60 * u64::from(number),
        }
    }

    /// The trials of that run.
    pub(crate) fn trials(&self, number: u32) -> Vec<TrialRecord> {
        let mut chance = SplitMixRandom::split_mix(u64::from(number));
        let cells = self.plan.trials().into_iter();
        cells.map(|trial| self.trial(trial, &mut chance)).collect()
    }

    fn trial(&self, trial: TrialId, chance: &mut SplitMixRandom) -> TrialRecord {
        let subject = &self.plan.subjects[trial.cell.0 as usize];
        let failure = Failure::new(FailureKind::Check, "the check found errors");
        let failed = chance.next_u64().is_multiple_of(FAILS_EACH);
        let step = |name: &str, command: &Option<Vec<String>>| StepRecord {
            step: name.to_owned(),
            command: command.clone().unwrap_or_default(),
            elapsed_ns: 40_000_000 + u64::from(trial.repeat),
            exit_code: command.is_some().then_some(0),
            output: "Creating filesystem with 262144 4k blocks and 65536 inodes\n".to_owned(),
        };
        TrialRecord {
            trial,
            subject: subject.subject.clone(),
            perturbation: fslab_model::Perturbation::NONE,
            position: trial.repeat * SUBJECTS.len() as u32 + trial.cell.0,
            started_unix_s: BEGAN_UNIX_S,
            elapsed_ns: 2_000_000_000,
            outcome: if failed {
                TrialOutcome::Failed { failure }
            } else {
                TrialOutcome::Done
            },
            steps: vec![
                step("mkfs", &subject.mkfs),
                step("mount", &subject.mount),
                step("unmount", &None),
                step("check", &subject.check),
            ],
            phases: self.phases(trial, chance),
            facts: Facts::from([
                ("fslab".into(), env!("CARGO_PKG_VERSION").into()),
                ("kernel".into(), "6.18.1".into()),
                ("clock".into(), "CLOCK_MONOTONIC".into()),
                ("device".into(), "loop0".into()),
            ]),
            console: String::new(),
            insight: None,
            kernel_log: Vec::new(),
            survival: None,
        }
    }

    fn phases(&self, trial: TrialId, chance: &mut SplitMixRandom) -> Vec<PhaseRecord> {
        let speed = 1.0 + f64::from(trial.cell.0) / 10.0;
        let phase = |spec: &PhaseSpec| self.phase(spec, speed, chance);
        self.plan.phases.iter().map(phase).collect()
    }

    fn phase(&self, spec: &PhaseSpec, speed: f64, chance: &mut SplitMixRandom) -> PhaseRecord {
        let is_write = spec.workload != "read";
        let kind = if is_write {
            PhaseKind::Write
        } else {
            PhaseKind::Read
        };
        let mut record = PhaseRecord::empty(spec, kind, Headline::Throughput, PhaseOutcome::Done);
        let noise = 1.0 + (chance.next_u64() % 1_000) as f64 / 20_000.0;
        let elapsed_ns = (1.2e9 * speed * noise) as u64;
        record.elapsed_ns = Some(elapsed_ns);
        record.operations = Some(256);
        record.bytes = Some(256 << 20);
        let picked = (chance.next_u64() % self.latencies.len() as u64) as usize;
        record.latencies = vec![OperationLatency {
            operation: if is_write { "write" } else { "read" }.to_owned(),
            histogram: self.latencies[picked].clone(),
        }];
        record.series = Some(TimeSeries {
            interval_ns: 100_000_000,
            operations: vec![21; 12],
            bytes: vec![21 << 20; 12],
        });
        record.cpu = Some(CpuUse {
            user_ns: 1_000_000,
            system_ns: elapsed_ns / 10,
            voluntary_switches: Some(260),
            involuntary_switches: Some(3),
        });
        record.device = Some(DeviceUse {
            reads: 5,
            read_bytes: 1 << 16,
            writes: 300,
            write_bytes: 260 << 20,
            discards: Some(0),
            discard_bytes: Some(0),
            flushes: Some(2),
            busy_ns: elapsed_ns,
        });
        record.settled = spec.settle.then_some(Settled {
            sync_ns: 3_000_000,
            unmount_ns: 9_000_000,
        });
        record.harness_share = Some(0.001);
        record
    }
}

/// 256 operations: a bulk within a tenth, and a tail up to fifty times as long.
///
/// Encoded and decoded: that takes a thousandth of the memory of a histogram that records.
fn latencies(chance: &mut SplitMixRandom) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    for operation in 0..256_u64 {
        let tail = if operation % 16 == 0 {
            chance.next_u64() % 50 + 1
        } else {
            1
        };
        histogram.record((4_000_000 + chance.next_u64() % 400_000) * tail);
    }
    let read = LatencyHistogram::from_bytes(&histogram.to_bytes());
    read.unwrap_or(histogram)
}

/// The name of the run of that number.
pub(crate) fn run_id(number: u32) -> RunId {
    let name = format!("20231114-run{number:06}");
    name.parse().expect("digits and letters are a run's name")
}

/// Makes the store at `path` with so many runs.
pub(crate) fn fill(path: &Path, runs: u32, stop: &Arc<AtomicBool>) -> Result<(), BenchError> {
    let model = Model::new()?;
    let mut store = Store::open(path).map_err(|error| failed(&error))?;
    for number in 0..runs {
        if stop.load(Ordering::Relaxed) {
            return Err(BenchError::Interrupted);
        }
        let run = RunRecord {
            header: model.header(number),
            trials: model.trials(number),
        };
        let stored = store.add_runs(&[run]);
        stored.map_err(|error| failed(&error))?;
        if (number + 1) % PROGRESS_EACH == 0 {
            eprintln!("bench: {} of {runs} runs are stored", number + 1);
        }
    }
    Ok(())
}

/// A store's error as ours.
pub(crate) fn failed(error: &StoreError) -> BenchError {
    BenchError::Input(error.to_string())
}
