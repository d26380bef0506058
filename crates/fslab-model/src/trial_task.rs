//! A trial before it has a device: what the plan says of it, and what the venue adds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{
    Bytes, ColdMethod, DeviceSpec, FORMAT_VERSION, Perturbation, PhaseSpec, Rounds, Subject,
    TrialId, TrialSpec,
};

/// What the plan says of a trial. The fields are those of [`TrialSpec`].
#[derive(Clone, Debug, PartialEq)]
pub struct TrialTask {
    /// Which trial of its run this is.
    pub trial: TrialId,
    /// What is measured.
    pub subject: Subject,
    /// Size of the file system, or of the space to be used.
    pub size_bytes: Bytes,
    /// What "cold" means.
    pub cold: ColdMethod,
    /// The engine that issues I/O.
    pub engine: String,
    /// The phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// How often they run.
    pub rounds: Rounds,
    /// Facts without which no phase is to run.
    pub required_facts: BTreeMap<String, String>,
    /// Decides the data written and the order of random access.
    pub seed: u64,
    /// How its guest differs from that of another repeat.
    pub perturbation: Perturbation,
    /// Whether phases may start programs that the study names.
    pub allow_commands: bool,
}

/// What the venue adds: where the trial runs, and by which clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// What is measured on.
    pub device: DeviceSpec,
    /// The file by whose writing the host drops its cache of the disk.
    pub host_forgets: Option<PathBuf>,
    /// Ticks a second of the processor's counter, where it is the clock.
    pub counter_hz: Option<u64>,
    /// Whether the clock moves only while the disk works.
    pub virtual_time: bool,
}

impl TrialTask {
    /// The complete specification of the trial.
    #[must_use]
    pub fn placed(self, placement: Placement) -> TrialSpec {
        TrialSpec {
            format: FORMAT_VERSION,
            trial: self.trial,
            subject: self.subject,
            device: placement.device,
            size_bytes: self.size_bytes,
            cold: self.cold,
            engine: self.engine,
            phases: self.phases,
            rounds: self.rounds,
            required_facts: self.required_facts,
            seed: self.seed,
            perturbation: self.perturbation,
            host_forgets: placement.host_forgets,
            counter_hz: placement.counter_hz,
            virtual_time: placement.virtual_time,
            allow_commands: self.allow_commands,
        }
    }
}
