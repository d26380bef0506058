//! The specification of one trial: what `fslab trial` reads on standard input.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BufferEmptying, Bytes, CachePolicy, CellId, ColdMethod, DeviceIdentity, FORMAT_VERSION,
    Parameters, Perturbation, Rounds, Subject, Swept, TrialId, WorkloadDefinition,
};

/// A phase with every parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSpec {
    /// The phase's name in its study.
    pub name: String,
    /// The workload.
    pub workload: String,
    /// What the caches hold when it begins.
    pub cache: CachePolicy,
    /// Whether sync and unmount right after it are timed.
    pub settle: bool,
    /// All parameters of the workload.
    pub parameters: Parameters,
    /// The definition of a user's workload, whose file the trial does not have; `None` for a
    /// built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Box<WorkloadDefinition>>,
    /// Its group of phases: after a failure only the rest of its group is skipped. `None`: after a
    /// failure all later phases are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Its point in a sweep; `None` for a phase that runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Swept>,
}

impl PhaseSpec {
    /// The phase's name in its study: points of one sweep share it.
    pub fn study_phase(&self) -> &str {
        self.swept.as_ref().map_or(&self.name, |swept| &swept.phase)
    }

    /// A phase that runs once, without a group, with kept caches.
    pub fn new(
        name: impl Into<String>,
        workload: impl Into<String>,
        parameters: Parameters,
    ) -> Self {
        Self {
            name: name.into(),
            workload: workload.into(),
            cache: CachePolicy::Keep,
            settle: false,
            parameters,
            definition: None,
            group: None,
            swept: None,
        }
    }
}

/// The device of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "device", rename_all = "kebab-case")]
pub enum DeviceSpec {
    /// An existing, empty directory; nothing is formatted or mounted.
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// A block device that the trial may format: made by the venue, or named by the user.
    Block {
        /// The device; of several disks, the first.
        path: PathBuf,
        /// The further disks of a subject on several.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<MemberDisk>,
        /// Whether the disks may hold something, as those do that a user named; others read as
        /// zeros.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_used: bool,
        /// An existing, empty directory to mount it on.
        mount_point: PathBuf,
        /// The device's identity when the run began, checked before it is formatted or mounted.
        /// Empty in a guest, which has only one device.
        #[serde(default, skip_serializing_if = "DeviceIdentity::is_empty")]
        identity: DeviceIdentity,
        /// The directory above the mount point, closed to other users: opened for search if phases
        /// start programs, which may continue as other users. `None` in a guest, which has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work_folder: Option<PathBuf>,
    },
    /// None: for the `fake` file system.
    Fake,
}

/// A further disk of a subject on several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberDisk {
    /// The device.
    pub path: PathBuf,
    /// Its identity when the run began; empty in a guest.
    #[serde(default, skip_serializing_if = "DeviceIdentity::is_empty")]
    pub identity: DeviceIdentity,
}

/// This process among those of a load of several ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankSpec {
    /// Its number, from 0.
    pub rank: u32,
    /// Number of ranks.
    pub count: u32,
    /// The socket through which it reaches the others.
    pub socket: PathBuf,
    /// What its clock shows, less what that of rank 0 shows at the same time.
    pub clock_ahead_ns: i64,
    /// By how much that may be wrong, of all ranks.
    pub clock_error_ns: u64,
}

/// One trial, complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSpec {
    /// Version of this format.
    pub format: u32,
    /// Which trial of its run this is.
    pub trial: TrialId,
    /// The subject.
    pub subject: Subject,
    /// The device.
    pub device: DeviceSpec,
    /// Size of the file system, or of the space to use.
    pub size_bytes: Bytes,
    /// The method of dropping caches.
    pub cold: ColdMethod,
    /// By how many seconds the wall clock is advanced before each cold phase; only in a guest.
    #[serde(default, skip_serializing_if = "super::plan::is_zero")]
    pub cold_after_s: u64,
    /// The most memory of a guest that waits to be written (vm.dirty_bytes; writing back begins at
    /// half of it). `None`: a fifth of the memory, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_limit_bytes: Option<Bytes>,
    /// The engine that issues I/O.
    pub engine: String,
    /// The phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// The rounds.
    #[serde(default, skip_serializing_if = "Rounds::is_one")]
    pub rounds: Rounds,
    /// Facts required before any phase runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_facts: BTreeMap<String, String>,
    /// Determines the data written and the order of random access.
    pub seed: u64,
    /// In virtual time, the perturbation of its guest.
    #[serde(default, skip_serializing_if = "Perturbation::is_none")]
    pub perturbation: Perturbation,
    /// A file by writing to which a trial in a guest makes its host drop its cache of the disk.
    /// `None` if only this kernel caches the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_forgets: Option<PathBuf>,
    /// In a guest in real time, what keeps the image of its disk in the host's memory; `None` if it
    /// is on a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_memory_medium: Option<String>,
    /// How the buffer of a simulated disk is emptied before a cold phase. `None`: it is left as it
    /// is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_by: Option<BufferEmptying>,
    /// Frequency of the processor's counter, if the trial reads its time from that: in a guest
    /// whose clock is a slow system call. `None`: the system's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter_hz: Option<u64>,
    /// Whether the time is virtual: the clock advances only while the disk works, and the host
    /// measures processor time, unless the processor's instructions are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_time: bool,
    /// Whether each instruction of the processor takes virtual time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// Whether each system call is made by itself where a guest's kernel could execute arrays of
    /// them. For tests: the figures are the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_calls: bool,
    /// Whether phases may start programs that the study names, and have them interpret its texts.
    /// Given by the user for this run; never from a study, a plan or a store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_commands: bool,
    /// This rank of a load of several; `None` if the load is this trial's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RankSpec>,
}

impl TrialSpec {
    /// The first trial of a run with the engine psync and seed 1: one round in real time, with the
    /// clock of the system, without a permission.
    pub fn first(subject: Subject, device: DeviceSpec, size: Bytes, cold: ColdMethod) -> Self {
        Self {
            format: FORMAT_VERSION,
            trial: TrialId {
                cell: CellId(0),
                repeat: 0,
            },
            subject,
            device,
            size_bytes: size,
            cold,
            cold_after_s: 0,
            dirty_limit_bytes: None,
            engine: "psync".into(),
            phases: Vec::new(),
            rounds: Rounds::ONE,
            required_facts: BTreeMap::new(),
            seed: 1,
            perturbation: Perturbation::NONE,
            host_forgets: None,
            host_memory_medium: None,
            emptied_by: None,
            counter_hz: None,
            virtual_time: false,
            counted: false,
            single_calls: false,
            allow_commands: false,
            ranks: None,
        }
    }
}
