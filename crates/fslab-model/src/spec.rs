//! The specification of one trial: what `fslab trial` reads on standard input.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Bytes, CachePolicy, ColdMethod, DeviceIdentity, Parameters, Perturbation, Rounds, Subject,
    Swept, TrialId, WorkloadDefinition,
};

/// A phase with every parameter spelled out.
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
    /// The definition of a workload of the user's, whose file the trial does not have; `None` for
    /// a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Box<WorkloadDefinition>>,
    /// The group of phases that it belongs to: after a failure the rest of its group is skipped,
    /// and nothing else. `None`: after a failure everything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Where it stands in a sweep; `None` for a phase that runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Swept>,
}

impl PhaseSpec {
    /// A phase that runs once, on its own, with the caches as they are.
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

/// What the trial works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "device", rename_all = "kebab-case")]
pub enum DeviceSpec {
    /// An existing, empty directory; nothing is formatted or mounted.
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// A block device that the trial may format: the venue made it, or the user named it.
    Block {
        /// The device.
        path: PathBuf,
        /// An existing, empty directory to mount it on.
        mount_point: PathBuf,
        /// What the device was when the run began: before it is formatted or mounted, it must be
        /// that still. Empty in a guest, which has no other.
        #[serde(default, skip_serializing_if = "DeviceIdentity::is_empty")]
        identity: DeviceIdentity,
    },
    /// Nothing: for the `fake` file system.
    Fake,
}

/// One trial, complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSpec {
    /// Version of this format.
    pub format: u32,
    /// Which trial of its run this is.
    pub trial: TrialId,
    /// What is measured.
    pub subject: Subject,
    /// What it is measured on.
    pub device: DeviceSpec,
    /// Size of the file system, or of the space to be used.
    pub size_bytes: Bytes,
    /// What "cold" means.
    pub cold: ColdMethod,
    /// The engine that issues I/O.
    pub engine: String,
    /// The phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// How often they run.
    #[serde(default, skip_serializing_if = "Rounds::is_one")]
    pub rounds: Rounds,
    /// Facts without which no phase is to run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_facts: BTreeMap<String, String>,
    /// Decides the data written and the order of random access.
    pub seed: u64,
    /// In what its guest differs from that of another repeat, in virtual time.
    #[serde(default, skip_serializing_if = "Perturbation::is_none")]
    pub perturbation: Perturbation,
    /// The file by whose writing a trial in a guest lets its host forget what that keeps of the
    /// disk in memory. `None` where only this kernel caches the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_forgets: Option<PathBuf>,
    /// Ticks a second of the processor's counter, where the trial is to read its time from that:
    /// in a guest whose clock is a slow system call. `None`: the system's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter_hz: Option<u64>,
    /// Where the clock moves only while the disk works: then what a phase cost the processor is the
    /// host's to say. `false`: in real time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_time: bool,
    /// Whether phases may start programs that the study names, and have them interpret its texts.
    /// It is what the user said of this run, and never comes from a study, a plan or a store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_commands: bool,
}
