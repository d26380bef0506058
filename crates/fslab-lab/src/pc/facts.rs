//! What the stored description of a PC's kernel has beside that of other kernels.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of a PC's lab besides kernel and root image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PcFacts {
    /// The kernel as it was requested, such as `debian:6.1`.
    pub requested: String,
    /// SHA-256 of the initramfs.
    pub initramfs_sha256: String,
    /// SHA-256 of the program of the trials.
    pub program_sha256: String,
    /// Bytes of the program; its file is padded to a power of two.
    pub program_bytes: u64,
    /// SHA-256 of fslab-guest, of which the program was made.
    pub fslab_sha256: String,
    /// Its version.
    pub fslab: String,
    /// Whether fslab's module replaces the kernel's driver of the local APIC's timer, which then
    /// need not be calibrated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timer: bool,
    /// Whether its guests start from a snapshot of the machine with the kernel running.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub snapshot: bool,
    /// File systems by the names of their drivers that the guest can load, or that are built in.
    pub file_systems: BTreeSet<String>,
    /// Versions of the distribution's packages.
    pub packages: BTreeMap<String, String>,
}
