//! What was found: phases, file systems of two sizes, the quick study, requests.

use fslab_model::{HostCost, PhaseOutcome, PhaseRecord, RunRecord, TrialOutcome};

use super::footprint::Footprint;
use crate::machine::Fact;
use crate::series::Spread;

/// From this size of an operation on, a phase moves data rather than waits.
const STREAM_OPERATION_BYTES: u64 = 256 << 10;
/// Accesses to the media for an operation, from which on a phase waits for its disk.
const WAITING_ACCESSES: f64 = 0.5;

/// What decides how long a phase takes, and so what can be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// It moves much data in order.
    Streams,
    /// The disk is accessed at least at every second operation.
    Waits,
    /// Most operations are answered by a cache: there is hardly any virtual time to simulate.
    Cached,
    /// The disk did nothing: virtual time stood still.
    Idle,
}

/// A phase of one file system on one disk.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    /// The profile.
    pub(crate) disk: String,
    /// The file system.
    pub(crate) subject: String,
    pub(crate) name: String,
    /// Its figures in every round, or why there are none.
    pub(crate) figures: Result<PhaseFigures, String>,
}

/// What all rounds have in common, and what each cost.
#[derive(Clone, Debug)]
pub(crate) struct PhaseFigures {
    /// Virtual time, of the first round.
    pub(crate) virtual_ns: u64,
    /// Whether every round took exactly that.
    pub(crate) is_exact: bool,
    pub(crate) operations: u64,
    /// Bytes of file data.
    pub(crate) bytes: u64,
    /// Accesses to the media.
    pub(crate) accesses: u64,
    /// Virtual time in which the disk had something to do.
    pub(crate) busy_ns: u64,
    /// What each round cost.
    pub(crate) costs: Vec<HostCost>,
}

/// The same files on a small and on a large file system.
#[derive(Clone, Debug)]
pub(crate) struct Sized {
    /// The file system.
    pub(crate) subject: String,
    /// The small and the large one, or what went wrong.
    pub(crate) pair: Result<[SizeFigures; 2], String>,
}

/// What a trial on a file system of some size took.
#[derive(Clone, Debug)]
pub(crate) struct SizeFigures {
    /// Its size, as on the command line.
    pub(crate) size: &'static str,
    /// Real time of the trial, of every round.
    pub(crate) real_ns: Vec<f64>,
    /// What was written to the simulated disk, mkfs and all.
    pub(crate) written_bytes: u64,
    /// What its files took on the disk below, the most of all rounds.
    pub(crate) footprint: Footprint,
}

/// The quick study of every file system.
#[derive(Clone, Debug)]
pub(crate) struct Everything {
    /// The profile.
    pub(crate) disk: String,
    /// Real time of the command.
    pub(crate) real_ns: u64,
    /// Every trial: the file system, its real time, and why it failed if it did.
    pub(crate) trials: Vec<(String, u64, Option<String>)>,
}

/// Requests of one kind to one disk.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// The profile.
    pub(crate) disk: String,
    /// What was asked for.
    pub(crate) what: &'static str,
    /// Requests in the disk at once.
    pub(crate) depth: u32,
    /// Processor time for a request, in nanoseconds: its submission, its answer, and what the disk
    /// does by itself meanwhile.
    pub(crate) ns: Spread,
}

/// Everything that was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Facts about the machine and the programs.
    pub(crate) facts: Vec<Fact>,
    pub(crate) rounds: u32,
    pub(crate) phases: Vec<Phase>,
    pub(crate) sizes: Vec<Sized>,
    /// The quick study.
    pub(crate) everything: Option<Everything>,
    /// The model.
    pub(crate) requests: Vec<Requests>,
}

impl PhaseFigures {
    fn of(record: &PhaseRecord) -> Result<Self, String> {
        match &record.outcome {
            PhaseOutcome::Done => {}
            PhaseOutcome::Skipped { reason } => return Err(format!("skipped: {reason}")),
            PhaseOutcome::Failed { failure } => return Err(failure.message.clone()),
        }
        let missing = || "its record has no virtual time".to_owned();
        let insight = record.insight.as_ref().ok_or_else(missing)?;
        Ok(Self {
            virtual_ns: record.window.ok_or_else(missing)?.length_ns(),
            is_exact: true,
            operations: record.operations.ok_or_else(missing)?,
            bytes: record.bytes.unwrap_or(0),
            accesses: insight.seeks.accesses,
            busy_ns: insight.depth.busy_ns,
            costs: vec![record.host.ok_or_else(missing)?],
        })
    }

    /// What decides how long it takes.
    pub(crate) fn kind(&self) -> Kind {
        let operations = self.operations.max(1);
        if self.busy_ns == 0 {
            Kind::Idle
        } else if self.bytes / operations >= STREAM_OPERATION_BYTES {
            Kind::Streams
        } else if self.accesses_each() >= WAITING_ACCESSES {
            Kind::Waits
        } else {
            Kind::Cached
        }
    }

    /// Accesses to the media for an operation.
    pub(crate) fn accesses_each(&self) -> f64 {
        self.accesses as f64 / self.operations.max(1) as f64
    }

    /// Simulated seconds per real second.
    pub(crate) fn speed(&self) -> Option<Spread> {
        self.spread(|cost| self.virtual_ns as f64 / cost.real_ns as f64)
    }

    /// Simulated seconds per second of one processor.
    pub(crate) fn speed_of_processor(&self) -> Option<Spread> {
        self.spread(|cost| self.virtual_ns as f64 / cost.cpu_ns as f64)
    }

    /// Megabytes of file data per real second.
    pub(crate) fn data_rate(&self) -> Option<Spread> {
        self.spread(|cost| self.bytes as f64 * 1e3 / cost.real_ns as f64)
    }

    /// Real microseconds for an operation.
    pub(crate) fn operation_us(&self) -> Option<Spread> {
        self.spread(|cost| cost.real_ns as f64 / 1e3 / self.operations as f64)
    }

    fn spread(&self, figure: impl Fn(&HostCost) -> f64) -> Option<Spread> {
        let values: Vec<_> = self.costs.iter().map(figure).collect();
        Spread::of(&values)
    }
}

impl Findings {
    /// Takes the phases of a run, of the first round or of a later one.
    pub(crate) fn add_phases(&mut self, disk: &str, run: &RunRecord) {
        for trial in &run.trials {
            let subject = trial.subject.to_string();
            for record in &trial.phases {
                self.add_phase(disk, &subject, record);
            }
            if let (TrialOutcome::Failed { failure }, true) =
                (&trial.outcome, trial.phases.is_empty())
            {
                self.phases.push(Phase {
                    disk: disk.to_owned(),
                    subject,
                    name: "none".to_owned(),
                    figures: Err(failure.message.clone()),
                });
            }
        }
    }

    fn add_phase(&mut self, disk: &str, subject: &str, record: &PhaseRecord) {
        let figures = PhaseFigures::of(record);
        let key = (disk, subject, record.name.as_str());
        let known = self
            .phases
            .iter_mut()
            .find(|it| (it.disk.as_str(), it.subject.as_str(), it.name.as_str()) == key);
        match (known, figures) {
            (Some(known), Ok(figures)) => {
                if let Ok(known) = &mut known.figures {
                    known.is_exact &= figures.virtual_ns == known.virtual_ns;
                    known.costs.extend(figures.costs);
                }
            }
            (Some(known), Err(why)) => known.figures = Err(why),
            (None, figures) => self.phases.push(Phase {
                disk: disk.to_owned(),
                subject: subject.to_owned(),
                name: record.name.clone(),
                figures,
            }),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A phase of a virtual second and a thousand operations, which cost 5 ms in each round.
    pub(crate) fn figures(bytes: u64, accesses: u64, busy_ns: u64) -> PhaseFigures {
        let cost = HostCost {
            cpu_ns: 4_000_000,
            real_ns: 5_000_000,
        };
        PhaseFigures {
            virtual_ns: 1_000_000_000,
            is_exact: true,
            operations: 1_000,
            bytes,
            accesses,
            busy_ns,
            costs: vec![cost; 3],
        }
    }

    #[test]
    fn the_trace_tells_what_a_phase_waits_for() {
        assert_eq!(figures(1_000 << 20, 8_000, 1).kind(), Kind::Streams);
        assert_eq!(figures(4_096_000, 1_000, 1).kind(), Kind::Waits);
        assert_eq!(figures(4_096_000, 499, 1).kind(), Kind::Cached);
        assert_eq!(figures(4_096_000, 0, 0).kind(), Kind::Idle);
    }

    #[test]
    fn speeds_are_ratios_of_times_and_have_the_spread_of_all_rounds() {
        let mut figures = figures(1_000_000_000, 1_000, 1);
        figures.costs[2].real_ns = 10_000_000;
        let speed = figures.speed().expect("three rounds");
        assert_eq!((speed.min, speed.median, speed.count), (100.0, 200.0, 3));
        let of_processor = figures.speed_of_processor().expect("three rounds");
        assert!((of_processor.median - 250.0).abs() < 1e-9);
        assert!((figures.data_rate().expect("data").max - 200_000.0).abs() < 1e-6);
        assert!((figures.operation_us().expect("operations").min - 5.0).abs() < 1e-9);
    }
}
