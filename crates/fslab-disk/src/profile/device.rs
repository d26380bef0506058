//! What every disk has: its size, its interface, its buffer; and disks that work as one.

use std::fmt;

use fslab_model::Bytes;
use schemars::JsonSchema;
use toml::Value;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds, Quantity, word};

group! {
    /// The disk as its user sees it; one member, where there is an array.
    "device" => Device {
        /// What it holds.
        capacity: Bytes,
        /// What it writes at once: 512 B, or 4 KiB behind sectors of 512 B. A write of a part of it
        /// is a read and a write.
        physical_block: Bytes,
        /// How many requests it takes at once.
        queue_depth: u32,
        /// The largest request that the system sends to it.
        max_request: Bytes,
        /// Whether the system sorts what waits for the disk, as Linux does for all but NVMe.
        scheduler: bool,
    }
}

group! {
    /// The way to the disk.
    "interface" => Interface {
        /// Its name, such as `ATA-100`.
        name: String,
        /// How fast data crosses it.
        rate: BytesPerSecond,
        /// What each request costs in the controller before anything else happens.
        command: Nanoseconds,
    }
}

group! {
    /// The disk's own memory.
    "cache" => Cache {
        /// Its size.
        buffer: Bytes,
        /// Whether a write is answered once it is in the buffer; what is there is lost with the
        /// power, unless a flush came before.
        write_cache: bool,
        /// Whether a single write can be made to pass the buffer by.
        fua: bool,
    }
}

group! {
    /// Several equal disks that work as one; all else describes one of them.
    "array" => Array {
        /// How data is spread.
        layout: RaidLevel,
        /// How many there are.
        members: u32,
        /// What goes to one member before the next one's turn.
        chunk: Bytes,
    }
}

/// How data is spread over the members of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum RaidLevel {
    /// Striped.
    Raid0,
    /// On every member.
    Raid1,
    /// Striped over pairs of equal content.
    Raid10,
    /// Striped with rotating parity.
    Raid5,
}

impl RaidLevel {
    const WORDS: [(&'static str, Self); 4] = [
        ("raid0", Self::Raid0),
        ("raid1", Self::Raid1),
        ("raid10", Self::Raid10),
        ("raid5", Self::Raid5),
    ];

    /// Its word in a file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
            Self::Raid5 => "raid5",
        }
    }
}

impl fmt::Display for RaidLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Quantity for RaidLevel {
    fn read(value: &Value) -> Result<Self, String> {
        word(value, &Self::WORDS)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.as_str().to_owned()))
    }
}

impl Array {
    /// How many members' worth of data the array holds.
    #[must_use]
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
