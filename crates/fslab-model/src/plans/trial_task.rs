//! A trial without a device: the plan's part, and the part that the venue adds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{
    BufferEmptying, Bytes, ColdMethod, DeviceSpec, FORMAT_VERSION, Perturbation, PhaseSpec,
    RankSpec, Rounds, Subject, TrialId, TrialSpec,
};

/// The plan's part of a trial. The fields are those of [`TrialSpec`].
#[derive(Clone, Debug, PartialEq)]
pub struct TrialTask {
    /// Which trial of its run this is.
    pub trial: TrialId,
    /// The subject.
    pub subject: Subject,
    /// Size of the file system, or of the space to use.
    pub size_bytes: Bytes,
    /// The method of dropping caches.
    pub cold: ColdMethod,
    /// By how many seconds the wall clock is advanced before each cold phase.
    pub cold_after_s: u64,
    /// The most memory of a guest that waits to be written.
    pub dirty_limit_bytes: Option<Bytes>,
    /// The engine that issues I/O.
    pub engine: String,
    /// The phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// The rounds.
    pub rounds: Rounds,
    /// Facts required before any phase runs.
    pub required_facts: BTreeMap<String, String>,
    /// Determines the data written and the order of random access.
    pub seed: u64,
    /// The perturbation of its guest.
    pub perturbation: Perturbation,
    /// Whether phases may start programs that the study names.
    pub allow_commands: bool,
}

/// The venue's part: device and clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The device.
    pub device: DeviceSpec,
    /// The file by writing to which the host drops its cache of the disk.
    pub host_forgets: Option<PathBuf>,
    /// What keeps the image of a guest's disk in the host's memory.
    pub host_memory_medium: Option<String>,
    /// How the buffer of a simulated disk is emptied before a cold phase.
    pub emptied_by: Option<BufferEmptying>,
    /// Frequency of the processor's counter, if it is the clock.
    pub counter_hz: Option<u64>,
    /// Whether the time is virtual.
    pub virtual_time: bool,
    /// Whether each instruction of the processor takes virtual time.
    pub counted: bool,
    /// Whether each system call is made by itself.
    pub single_calls: bool,
    /// This rank of a load of several.
    pub ranks: Option<RankSpec>,
}

impl TrialTask {
    /// The complete specification of the trial.
    pub fn placed(self, placement: Placement) -> TrialSpec {
        TrialSpec {
            format: FORMAT_VERSION,
            trial: self.trial,
            subject: self.subject,
            device: placement.device,
            size_bytes: self.size_bytes,
            cold: self.cold,
            cold_after_s: self.cold_after_s,
            dirty_limit_bytes: self.dirty_limit_bytes,
            engine: self.engine,
            phases: self.phases,
            rounds: self.rounds,
            required_facts: self.required_facts,
            seed: self.seed,
            perturbation: self.perturbation,
            host_forgets: placement.host_forgets,
            host_memory_medium: placement.host_memory_medium,
            emptied_by: placement.emptied_by,
            counter_hz: placement.counter_hz,
            virtual_time: placement.virtual_time,
            counted: placement.counted,
            single_calls: placement.single_calls,
            allow_commands: self.allow_commands,
            ranks: placement.ranks,
        }
    }
}
