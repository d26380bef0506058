//! What a hard disk has: turning platters, an arm, and how it uses its buffer.

use fslab_model::Bytes;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds};

group! {
    /// The platters.
    "media" => Media {
        /// Turns per minute.
        rpm: u32,
        /// Surfaces that hold data.
        heads: u32,
        /// Zones of tracks of one length, from the outer edge to the inner.
        zones: u32,
        /// The sustained rate of sequential access on the outermost tracks, the switches between
        /// tracks included, as data sheets and measurements have it.
        outer: BytesPerSecond,
        /// The same on the innermost tracks; what lies between is linear.
        inner: BytesPerSecond,
    }
}

group! {
    /// The arm.
    "seek" => Seek {
        /// To the next cylinder.
        track: Nanoseconds,
        /// The mean over random pairs of cylinders.
        average: Nanoseconds,
        /// From one edge to the other.
        full: Nanoseconds,
        /// What a write waits longer than a read after a seek.
        write_settle: Nanoseconds,
        /// From one surface to the next of the same cylinder.
        head_switch: Nanoseconds,
    }
}

group! {
    /// How the disk reads ahead.
    "read_ahead" => ReadAhead {
        /// Streams that it follows at a time.
        segments: u32,
        /// What it keeps of each.
        segment: Bytes,
    }
}

group! {
    /// How the disk writes back what is in its buffer.
    "write_back" => WriteBack {
        /// The share of the buffer that may hold what is not written yet.
        share: Bytes,
        /// How long the disk is idle before it begins.
        idle: Nanoseconds,
    }
}

/// A hard disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardDisk {
    /// The platters.
    pub media: Media,
    /// The arm.
    pub seek: Seek,
    /// How it reads ahead.
    pub read_ahead: ReadAhead,
    /// How it writes back.
    pub write_back: WriteBack,
}
