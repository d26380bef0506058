//! What the maker or a measurement says of the disk as a whole.

use fslab_model::Bytes;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds, OperationsPerSecond};

group! {
    /// What the maker or a measurement says of the disk. No parameter: the model must reach it by
    /// itself, and `fslab disk test` says how near it comes.
    "data_sheet" => DataSheet {
        /// The part of the disk in which random access was measured; all of it where left out.
        span: Option<Bytes>,
        /// Mean time of a read of 4 KiB at random, one at a time.
        random_read: Option<Nanoseconds>,
        /// The same of a write.
        random_write: Option<Nanoseconds>,
        /// How many requests are under way in the two figures below.
        depth: Option<u32>,
        /// Reads of 4 KiB at random, that many at a time.
        random_read_deep: Option<OperationsPerSecond>,
        /// The same of writes.
        random_write_deep: Option<OperationsPerSecond>,
        /// Reading on and on, at the beginning of the disk.
        sequential_read: BytesPerSecond,
        /// The same at its end.
        sequential_read_end: Option<BytesPerSecond>,
        /// Writing on and on, at the beginning.
        sequential_write: Option<BytesPerSecond>,
    }
}
