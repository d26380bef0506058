//! Settings of single engines, and hints to the kernel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{QUEUE_DEPTH_MAX, RECORD_BYTES_MAX};

/// posix_fadvise(2) of the complete file, after opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_RANDOM.
    Random,
    /// POSIX_FADV_WILLNEED.
    WillNeed,
    /// POSIX_FADV_DONTNEED.
    DontNeed,
    /// POSIX_FADV_NOREUSE.
    NoReuse,
}

/// Settings of the io_uring engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UringTuning {
    /// Limit of operations in flight per thread.
    #[schemars(range(min = 1, max = QUEUE_DEPTH_MAX))]
    pub queue_depth: u32,
    /// Completions awaited, and operations submitted, per system call: at most the
    /// queue depth.
    #[schemars(range(min = 1, max = QUEUE_DEPTH_MAX))]
    pub batch: u32,
    /// Use buffers registered with the ring.
    pub registered_buffers: bool,
    /// Use the file registered with the ring.
    pub registered_file: bool,
    /// A kernel thread takes submissions and sleeps after this many idle milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_poll_ms: Option<u32>,
    /// Poll the device for completions; needs O_DIRECT and a device with poll queues.
    pub completion_poll: bool,
}

impl Default for UringTuning {
    fn default() -> Self {
        Self {
            queue_depth: 32,
            batch: 16,
            registered_buffers: fslab_sys::QUEUE_REGISTERS,
            registered_file: fslab_sys::QUEUE_REGISTERS,
            submission_poll_ms: None,
            completion_poll: false,
        }
    }
}

/// Settings of the stdio engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StdioTuning {
    /// Size of the stream's buffer; 0 for an unbuffered stream.
    #[schemars(range(max = RECORD_BYTES_MAX))]
    pub buffer_bytes: usize,
    /// One call of putc or getc per byte, as in the per-character phases of bonnie.
    pub by_character: bool,
}

impl Default for StdioTuning {
    fn default() -> Self {
        Self {
            buffer_bytes: 4096,
            by_character: false,
        }
    }
}
