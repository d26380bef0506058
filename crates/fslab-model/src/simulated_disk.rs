//! A simulated disk in a plan: complete, so that the plan gives the same figures everywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A disk that a guest kernel simulates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedDisk {
    /// The name of its profile.
    pub profile: String,
    /// The disk's properties as the kernel sees them.
    pub queue: DiskQueue,
    /// The parameters of the service-time model: lines of `name=value`.
    pub model: String,
}

/// A disk's properties in the kernel, with the settings of distributions for such a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskQueue {
    /// The largest request.
    pub max_request_bytes: u32,
    /// The unit of writes.
    pub physical_block_bytes: u32,
    /// The unit of discards; 0 without discards.
    pub discard_bytes: u32,
    /// Whether it has a volatile write cache, which has to be flushed.
    pub write_cache: bool,
    /// Whether a single write can bypass that cache (FUA).
    pub fua: bool,
    /// Whether it is a hard disk.
    pub rotational: bool,
    /// Whether an I/O scheduler sorts waiting requests.
    pub scheduler: bool,
}
