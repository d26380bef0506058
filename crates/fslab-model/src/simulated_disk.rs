//! A simulated disk as a plan has it: complete, so that the plan gives the same figures wherever it
//! is carried out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A disk that a guest kernel simulates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedDisk {
    /// The name of its profile.
    pub profile: String,
    /// What the kernel is told of the disk.
    pub queue: DiskQueue,
    /// The parameters of the service-time model: lines of `name=value`.
    pub model: String,
}

/// What a disk tells a kernel about itself, and what distributions set for such a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskQueue {
    /// The largest request that it takes.
    pub max_request_bytes: u32,
    /// What it writes in one piece.
    pub physical_block_bytes: u32,
    /// What it discards in one piece; 0 where it knows no discards.
    pub discard_bytes: u32,
    /// Whether it has a volatile write cache, which has to be flushed.
    pub write_cache: bool,
    /// Whether a single write can pass that cache by.
    pub fua: bool,
    /// Whether it turns.
    pub rotational: bool,
    /// Whether an I/O scheduler sorts what waits.
    pub scheduler: bool,
}
