//! Builds the record of a run from the figures of its subjects.

use std::collections::BTreeMap;

use fslab_claims::{ClaimOutcome, ClaimVerdict, Claims, Scorecard, evaluate};
use fslab_model::{
    CellId, DeviceInsight, DeviceUse, Failure, FailureKind, Headline, Parameters, PhaseKind,
    PhaseOutcome, PhaseRecord, PhaseSpec, Point, RunRecord, Settled, Subject, Swept, TrialId,
    TrialOutcome, TrialRecord, ValueList, Window,
};
use serde_json::json;

/// One phase of one trial.
pub(crate) struct PhaseBuilder {
    record: PhaseRecord,
}

impl PhaseBuilder {
    /// A phase that took `seconds` for 1,000 operations of 1,000 bytes.
    pub(crate) fn new(name: &str, seconds: f64) -> Self {
        let spec = PhaseSpec::new(name, "write", Parameters::new());
        let mut record = PhaseRecord::empty(
            &spec,
            PhaseKind::Write,
            Headline::Throughput,
            PhaseOutcome::Done,
        );
        record.elapsed_ns = Some((seconds * 1e9).round() as u64);
        record.operations = Some(1_000);
        record.bytes = Some(1_000_000);
        Self { record }
    }

    /// A phase that took no device time.
    pub(crate) fn untimed(name: &str) -> Self {
        let mut phase = Self::new(name, 1e-6);
        phase.record.insight = Some(DeviceInsight::default());
        phase
    }

    /// A phase that read, in which the disk worked for this share of the time and moved this share
    /// of the bytes.
    pub(crate) fn read(name: &str, seconds: f64, [of_time, of_bytes]: [f64; 2]) -> Self {
        let mut phase = Self::new(name, seconds);
        let end_ns = (seconds * 1e9) as u64;
        let mut insight = DeviceInsight {
            window: Window {
                begin_ns: 0,
                end_ns,
            },
            ..DeviceInsight::default()
        };
        insight.depth.busy_ns = (end_ns as f64 * of_time) as u64;
        phase.record.kind = PhaseKind::Read;
        phase.record.insight = Some(insight);
        phase.record.device = Some(DeviceUse {
            read_bytes: (of_bytes * 1e6) as u64,
            ..DeviceUse::default()
        });
        phase
    }

    pub(crate) fn failed(name: &str) -> Self {
        let mut phase = Self::new(name, 1.0);
        let failure = Failure::new(FailureKind::NoSpace, "no space");
        phase.record.outcome = PhaseOutcome::Failed { failure };
        phase
    }

    pub(crate) fn skipped(name: &str, reason: &str) -> Self {
        let mut phase = Self::new(name, 1.0);
        phase.record.outcome = PhaseOutcome::Skipped {
            reason: reason.into(),
        };
        phase
    }

    pub(crate) fn settled(mut self, seconds: f64) -> Self {
        self.record.settled = Some(Settled {
            sync_ns: 0,
            unmount_ns: (seconds * 1e9).round() as u64,
        });
        self
    }

    /// At a point of a sweep.
    pub(crate) fn at(mut self, point: &[(&str, u64)]) -> Self {
        let point: Point = point
            .iter()
            .map(|(name, value)| {
                let value = if *name == "processes" {
                    fslab_model::PointValue::Count(*value)
                } else {
                    fslab_model::PointValue::Bytes(*value)
                };
                ((*name).to_owned(), value)
            })
            .collect();
        let phase = self.record.name.clone();
        let values: Vec<String> = point.values().map(ToString::to_string).collect();
        self.record.name = format!("{phase} {}", values.join(" "));
        self.record.swept = Some(Swept { phase, point });
        self
    }

    pub(crate) fn list(mut self, name: &str, values: &[f64]) -> Self {
        let points = (0_u32..)
            .map(f64::from)
            .zip(values.iter().copied())
            .collect();
        self.record.lists.push(ValueList {
            name: name.into(),
            x: "block".into(),
            y: "blocks".into(),
            points,
        });
        self
    }
}

/// A run to be built.
pub(crate) struct RunBuilder {
    venue: serde_json::Value,
    scale: String,
    memory_bytes: Option<u64>,
    processors: Option<u32>,
    name: &'static str,
    perturb: bool,
    subjects: Vec<(String, Vec<Vec<PhaseBuilder>>)>,
}

impl RunBuilder {
    /// In virtual time, with this memory in MiB.
    pub(crate) fn virtual_time(memory_mib: u64) -> Self {
        let queue = json!({
            "max_request_bytes": 1, "physical_block_bytes": 1, "discard_bytes": 0,
            "write_cache": false, "fua": false, "rotational": true, "scheduler": true,
        });
        Self::in_venue(json!({
            "venue": "sim", "folder": "/", "kernel": "k", "memory_bytes": memory_mib << 20,
            "disk": { "profile": "disk-a", "queue": queue, "model": "" },
        }))
    }

    pub(crate) fn real() -> Self {
        Self::in_venue(json!({ "venue": "loop", "folder": "/" }))
    }

    pub(crate) fn guest() -> Self {
        Self::in_venue(json!({
            "venue": "guest", "folder": "/", "kernel": "k", "memory_bytes": 1 << 30,
        }))
    }

    fn in_venue(venue: serde_json::Value) -> Self {
        Self {
            venue,
            scale: "1".into(),
            memory_bytes: Some(8 << 30),
            processors: None,
            name: "run-1",
            perturb: false,
            subjects: Vec::new(),
        }
    }

    /// The import of another tool's output, which names no machine.
    pub(crate) fn imported() -> Self {
        Self {
            memory_bytes: None,
            ..Self::in_venue(json!({ "venue": "imported", "tool": "Iozone 3.153" }))
        }
    }

    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub(crate) fn machine_memory(mut self, mib: u64) -> Self {
        self.memory_bytes = Some(mib << 20);
        self
    }

    pub(crate) fn processors(mut self, count: u32) -> Self {
        self.processors = Some(count);
        self
    }

    pub(crate) fn on_disk(mut self, disk: &str) -> Self {
        self.venue["disk"]["profile"] = json!(disk);
        self
    }

    /// With repeats that are perturbed.
    pub(crate) fn perturbed(mut self) -> Self {
        self.perturb = true;
        self
    }

    pub(crate) fn scale(mut self, scale: &str) -> Self {
        self.scale = scale.into();
        self
    }

    /// A subject with the phases of each of its repeats.
    pub(crate) fn subject(mut self, name: &str, repeats: Vec<Vec<PhaseBuilder>>) -> Self {
        self.subjects.push((name.into(), repeats));
        self
    }

    /// A subject with the seconds of its phases, one value per repeat.
    pub(crate) fn times(self, name: &str, phases: &[(&str, &[f64])]) -> Self {
        let repeats = phases.first().map_or(0, |(_, times)| times.len());
        let phases = |repeat: usize| {
            let phase = |(name, times): &(&str, &[f64])| PhaseBuilder::new(name, times[repeat]);
            phases.iter().map(phase).collect()
        };
        self.subject(name, (0..repeats).map(phases).collect())
    }

    pub(crate) fn build(self) -> RunRecord {
        let repeats = self
            .subjects
            .iter()
            .map(|(_, repeats)| repeats.len())
            .max()
            .unwrap_or(1);
        let mut phases: BTreeMap<String, PhaseSpec> = BTreeMap::new();
        let mut trials = Vec::new();
        let mut subjects = Vec::new();
        for (cell, (name, repeats)) in (0_u32..).zip(self.subjects) {
            let subject: Subject = name.parse().expect("a subject");
            subjects.push(json!({
                "subject": subject, "mkfs": null, "mount": null, "check": null,
            }));
            for (repeat, builders) in (0_u32..).zip(repeats) {
                let records: Vec<PhaseRecord> =
                    builders.into_iter().map(|phase| phase.record).collect();
                for record in &records {
                    let mut spec = PhaseSpec::new(&record.name, "write", Parameters::new());
                    spec.swept = record.swept.clone();
                    phases.insert(record.name.clone(), spec);
                }
                let failure = records.iter().find_map(|record| match &record.outcome {
                    PhaseOutcome::Failed { failure } => Some(failure.clone()),
                    _ => None,
                });
                trials.push(TrialRecord {
                    trial: TrialId {
                        cell: CellId(cell),
                        repeat,
                    },
                    subject: subject.clone(),
                    perturbation: fslab_model::Perturbation::NONE,
                    position: 0,
                    started_unix_s: 0,
                    elapsed_ns: 0,
                    outcome: failure.map_or(TrialOutcome::Done, |failure| TrialOutcome::Failed {
                        failure,
                    }),
                    steps: Vec::new(),
                    phases: records,
                    facts: BTreeMap::new(),
                    console: String::new(),
                    insight: None,
                    kernel_log: Vec::new(),
                    survival: None,
                });
            }
        }
        let plan = json!({
            "format": 1, "study": "s", "title": "t", "venue": self.venue, "size_bytes": 1 << 30,
            "cold": "remount", "engine": "psync", "subjects": subjects,
            "phases": phases.values().collect::<Vec<_>>(), "repeats": repeats,
            "trial_limit_s": 60, "seed": 1, "scale": self.scale, "perturb": self.perturb,
        });
        let run = json!({
            "run": self.name, "plan": plan, "plan_hash": "0", "fslab": "0", "command": [],
            "machine": { "memory_bytes": self.memory_bytes, "cpu_count": self.processors },
            "started_unix_s": 0,
            "trials": trials,
        });
        serde_json::from_value(run).expect("a run")
    }
}

/// A claims file with one claim, preceded by `head`.
pub(crate) fn claim(head: &str, holds: &str) -> Claims {
    let text = format!(
        "study = 's'\n{head}\n[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n\
         [claim.holds]\n{holds}\n"
    );
    Claims::from_toml(&text).unwrap_or_else(|error| panic!("{holds}: {error:?}"))
}

/// The verdict of one claim for `run`.
pub(crate) fn verdict(run: &RunRecord, holds: &str) -> ClaimVerdict {
    let card: Scorecard = evaluate(&claim("", holds), run, &[]);
    card.verdicts.into_iter().next().expect("one claim")
}

pub(crate) fn outcome(run: &RunRecord, holds: &str) -> ClaimOutcome {
    verdict(run, holds).outcome
}
