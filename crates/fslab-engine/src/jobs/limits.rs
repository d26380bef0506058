//! Limits of jobs.

/// Threads of a job.
pub const THREADS_MAX: u32 = 1024;
/// Threads of a job of all ranks together.
pub(crate) const RANK_THREADS_MAX: u32 = 1 << 20;
/// Bytes of a record, and of a stream's buffer.
pub const RECORD_BYTES_MAX: u64 = 128 << 20;
/// Segments of a file: each thread has all of them open.
pub(crate) const SEGMENTS_MAX: u64 = 512;
/// Files of a job on data: segments of all threads together.
pub(crate) const DATA_FILES_MAX: u64 = 1 << 16;
/// Operations in flight of a thread.
pub(crate) const QUEUE_DEPTH_MAX: u32 = 4096;
/// Files of a tree: a run may store the number of each.
pub const TREE_FILES_MAX: u64 = 1 << 28;
/// Levels of a tree: more than fit into a path.
pub const TREE_LEVELS_MAX: u32 = 64;
