//! Figures of the complete disk, by its maker or by a measurement.

use fslab_model::Bytes;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds, OperationsPerSecond};

group! {
    /// Figures of the disk, by its maker or by a measurement. They are no parameters: `fslab disk
    /// test` compares them with the model's.
    "data_sheet" => DataSheet {
        /// Size of the part of the disk in which random access was measured. Default: all of it.
        span: Option<Bytes>,
        /// Mean time of a random read of 4 KiB, one at a time.
        random_read: Option<Nanoseconds>,
        /// Mean time of a random write of 4 KiB, one at a time.
        random_write: Option<Nanoseconds>,
        /// Queue depth of the two figures below.
        depth: Option<u32>,
        /// Random reads of 4 KiB at this queue depth.
        random_read_deep: Option<OperationsPerSecond>,
        /// Random writes of 4 KiB at this queue depth.
        random_write_deep: Option<OperationsPerSecond>,
        /// Sequential read at the beginning of the disk.
        sequential_read: BytesPerSecond,
        /// Sequential read at the end of the disk.
        sequential_read_end: Option<BytesPerSecond>,
        /// Sequential write at the beginning of the disk.
        sequential_write: Option<BytesPerSecond>,
    }
}
