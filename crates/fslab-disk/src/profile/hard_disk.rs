//! The groups of a hard disk: platters, arm, readahead and write-back.

use fslab_model::Bytes;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds};

group! {
    /// The platters.
    "media" => Media {
        /// Revolutions per minute.
        rpm: u32,
        /// Number of surfaces with data.
        heads: u32,
        /// Number of zones, whose tracks have equal length.
        zones: u32,
        /// Sustained rate of sequential access on the outermost tracks, track switches included, as
        /// in data sheets and measurements.
        outer: BytesPerSecond,
        /// Sustained rate on the innermost tracks; rates between are linear.
        inner: BytesPerSecond,
    }
}

group! {
    /// The arm.
    "seek" => Seek {
        /// Seek time to the next cylinder.
        track: Nanoseconds,
        /// Mean seek time over random pairs of cylinders.
        average: Nanoseconds,
        /// Full-stroke seek time.
        full: Nanoseconds,
        /// Additional settle time of a write after a seek.
        write_settle: Nanoseconds,
        /// Time of a head switch within a cylinder.
        head_switch: Nanoseconds,
    }
}

group! {
    /// Readahead into the buffer.
    "read_ahead" => ReadAhead {
        /// Number of segments: streams that are read ahead at the same time.
        segments: u32,
        /// Size of a segment.
        segment: Bytes,
    }
}

group! {
    /// Write-back from the buffer.
    "write_back" => WriteBack {
        /// Size of the part of the buffer for data not yet written.
        share: Bytes,
        /// Idle time before the disk writes back.
        idle: Nanoseconds,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardDisk {
    /// The platters.
    pub media: Media,
    /// The arm.
    pub seek: Seek,
    /// Readahead.
    pub read_ahead: ReadAhead,
    pub write_back: WriteBack,
}
