//! Facts about the machine and the tools, kept with every run and trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts of a trial by name: tool versions, the recognised file system, loop settings.
pub type Facts = BTreeMap<String, String>;

/// The machine of a run. `None` means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineFacts {
    /// The host's name.
    pub host: Option<String>,
    /// Operating system, as /etc/os-release names it.
    pub os: Option<String>,
    /// Kernel release and version.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors online.
    pub cpu_count: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Architecture, such as x86_64.
    pub architecture: Option<String>,
    /// Hypervisor, if the machine is a guest.
    pub hypervisor: Option<String>,
}
