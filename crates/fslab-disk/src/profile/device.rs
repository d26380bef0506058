//! Groups of every disk: device, interface and cache; arrays, and their controller.

use fslab_model::Bytes;
use schemars::JsonSchema;
use toml::Value;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds, Quantity, keyword};

group! {
    /// The block device; for an array, one member.
    "device" => Device {
        capacity: Bytes,
        /// Physical block size: 512 B, or 4 KiB with logical sectors of 512 B. A write of part of a
        /// block takes a read and a write.
        physical_block: Bytes,
        /// Queue depth: requests in flight.
        queue_depth: u32,
        /// Largest request that the kernel sends.
        max_request: Bytes,
        /// Whether the kernel uses an I/O scheduler, as Linux does for all disks but NVMe.
        scheduler: bool,
    }
}

group! {
    /// The host interface.
    "interface" => Interface {
        /// Name, such as `ATA-100`.
        name: String,
        /// Transfer rate.
        rate: BytesPerSecond,
        /// Controller overhead at the start of each request.
        command: Nanoseconds,
    }
}

group! {
    /// The disk's buffer memory.
    "cache" => Cache {
        /// Size of the buffer.
        buffer: Bytes,
        /// Whether a write completes once it is in the buffer. Without a flush, it is lost with the
        /// power.
        write_cache: bool,
        /// Whether FUA writes are supported, which complete on the medium.
        fua: bool,
    }
}

group! {
    /// How the disk's buffer is emptied before a cold phase: by a flush, an idle time, and reads.
    /// Without this group the buffer is left as it is.
    "emptied_by" => EmptiedBy {
        /// Reads of 4 KiB, one at a time, at places spread over the device: as many as replace all
        /// that the buffer keeps of earlier reads.
        reads: u32,
        /// Idle time, in which the disk writes back what a flush leaves in its buffer.
        wait: Nanoseconds,
    }
}

group! {
    /// A RAID array of equal disks; the other groups describe one member.
    "array" => Array {
        /// RAID level.
        layout: RaidLevel,
        /// Number of members.
        members: u32,
        /// Chunk size: bytes on one member before the next.
        chunk: Bytes,
    }
}

group! {
    /// A RAID controller with a battery-backed write cache in front of the disk or the array. A
    /// write ends in its cache, and a flush ends at once.
    "controller" => Controller {
        /// Size of the cache for data not yet written. Reads are answered from it too.
        cache: Bytes,
        /// Transfer rate between the system and the cache.
        rate: BytesPerSecond,
        /// Overhead of the controller at the start of each request.
        command: Nanoseconds,
        /// Interval after which the controller writes back what the cache holds. A cache that is
        /// three quarters full is written back at once.
        flush_interval: Nanoseconds,
        /// Writes of the controller to each member in flight.
        writes: u32,
    }
}

/// RAID levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, strum::IntoStaticStr, strum::Display)]
#[schemars(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum RaidLevel {
    /// Striped.
    Raid0,
    /// Mirrored on all members.
    Raid1,
    /// Striped over mirrored pairs.
    Raid10,
    /// Striped with rotating parity.
    Raid5,
}

impl RaidLevel {
    const KEYWORDS: [(&'static str, Self); 4] = [
        ("raid0", Self::Raid0),
        ("raid1", Self::Raid1),
        ("raid10", Self::Raid10),
        ("raid5", Self::Raid5),
    ];

    /// The keyword in a profile.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Quantity for RaidLevel {
    fn read(value: &Value) -> Result<Self, String> {
        keyword(value, &Self::KEYWORDS)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.as_str().to_owned()))
    }
}

impl Array {
    /// The capacity in members, without redundancy.
    pub fn data_members(&self) -> u64 {
        let members = u64::from(self.members);
        match self.layout {
            RaidLevel::Raid0 => members,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid10 => members / 2,
            RaidLevel::Raid5 => members.saturating_sub(1),
        }
    }
}
