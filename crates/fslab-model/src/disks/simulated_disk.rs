//! A simulated disk in a plan: complete, so that the plan gives the same figures everywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Between the name of a disk profile and the number of a disk drawn within its uncertainty:
/// `hdd-7200-sata-2010+draw3`.
pub const DISK_DRAW: &str = "+draw";

/// A disk that a guest kernel simulates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedDisk {
    /// The name of its profile.
    pub profile: String,
    /// The disk's properties as the kernel sees them.
    pub queue: DiskQueue,
    /// The parameters of the service-time model: lines of `name=value`.
    pub model: String,
    /// How its buffer is emptied before a cold phase; `None` if it is left as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_by: Option<BufferEmptying>,
}

/// How the buffer of a disk is emptied before a cold phase: by a flush, an idle time, and reads of
/// the device, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferEmptying {
    /// Reads of 4 KiB, one at a time, at places spread over the device.
    pub reads: u32,
    /// The idle time, in which the disk writes back what a flush leaves in its buffer.
    pub wait_ns: u64,
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
