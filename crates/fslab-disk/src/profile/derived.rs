//! Figures that follow from a profile's parameters in closed form, without running the model.

use std::fmt;

use fslab_model::{Bytes, Rate, format_ns};
use serde::{Serialize, Serializer};

use super::{Flash, FlashMapping, HardDisk, Medium, Nanoseconds, Profile};

/// Size of a small request.
const SMALL_BYTES: u64 = 4096;

/// A number with its unit. Serialised as the bare number, since the figure's name has the unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DerivedValue {
    /// Nanoseconds.
    Time(f64),
    /// Bytes per second.
    Rate(f64),
    /// Operations per second.
    Frequency(f64),
    /// Bytes.
    Size(Bytes),
    /// A plain number.
    Count(u64),
}

impl fmt::Display for DerivedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(ns) => f.write_str(&format_ns(*ns)),
            Self::Rate(rate) => Rate::Bytes(*rate).fmt(f),
            Self::Frequency(rate) => Rate::Operations(*rate).fmt(f),
            Self::Size(size) => size.fmt(f),
            Self::Count(count) => count.fmt(f),
        }
    }
}

impl Serialize for DerivedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Decimals would be an artefact of the division.
            Self::Time(value) | Self::Rate(value) | Self::Frequency(value) => {
                serializer.serialize_u64(value.round() as u64)
            }
            Self::Size(size) => size.serialize(serializer),
            Self::Count(count) => serializer.serialize_u64(*count),
        }
    }
}

/// A figure that follows from the parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedFigure {
    /// Its name with the unit as its last word, such as `revolution_ns`.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    pub value: DerivedValue,
}

impl Profile {
    /// Capacity of the disk, or of the array, whose members use complete chunks only.
    pub fn capacity(&self) -> Bytes {
        let member = self.device.capacity.0;
        Bytes(match &self.array {
            None => member,
            Some(array) => (member - member % array.chunk.0) * array.data_members(),
        })
    }

    /// One member of an array, or the disk itself.
    pub fn member(&self) -> Self {
        Self {
            array: None,
            controller: None,
            ..self.clone()
        }
    }

    /// Mean time of a random read of 4 KiB, one at a time.
    pub fn mean_access(&self) -> Nanoseconds {
        let command = self.interface.command.0;
        let medium = match &self.medium {
            Medium::HardDisk(disk) => disk.seek.average.0 as f64 + disk.revolution_ns() / 2.0,
            Medium::Flash(flash) => {
                let transfer =
                    flash.page.0.min(SMALL_BYTES) as f64 * 1e9 / flash.channel_rate.0 as f64;
                flash.page_read.0 as f64
                    + transfer
                    + SMALL_BYTES as f64 * 1e9 / self.interface.rate.0 as f64
            }
        };
        Nanoseconds(command + medium.round() as u64)
    }

    /// Bytes per second of a sequential read at the beginning of the disk, limited by the medium
    /// and the interface alone.
    pub fn sequential_read(&self) -> f64 {
        let medium = match &self.medium {
            Medium::HardDisk(disk) => disk.media.outer.0 as f64,
            Medium::Flash(flash) => flash.page_rate(flash.page_read).min(flash.channels_rate()),
        };
        let members = self.array.as_ref().map_or(1, super::Array::data_members);
        medium.min(self.interface.rate.0 as f64) * members as f64
    }

    /// All figures that follow from the parameters in closed form.
    pub fn derived(&self) -> Vec<DerivedFigure> {
        let mut figures = vec![
            figure(
                "capacity_bytes",
                "capacity",
                DerivedValue::Size(self.capacity()),
            ),
            figure(
                "mean_access_ns",
                "random read of 4 KiB, one at a time",
                DerivedValue::Time(self.mean_access().0 as f64),
            ),
            figure(
                "sequential_read_bytes_per_s",
                "highest sequential read rate, at the beginning of the disk",
                DerivedValue::Rate(self.sequential_read()),
            ),
        ];
        match &self.medium {
            Medium::HardDisk(disk) => figures.extend(self.of_hard_disk(disk)),
            Medium::Flash(flash) => figures.extend(of_flash(flash)),
        }
        figures
    }

    fn of_hard_disk(&self, disk: &HardDisk) -> Vec<DerivedFigure> {
        let outer = disk.track_bytes(disk.media.outer.0);
        let inner = disk.track_bytes(disk.media.inner.0);
        let heads = f64::from(disk.media.heads);
        let cylinders = self.device.capacity.0 as f64 / (heads * f64::midpoint(outer, inner));
        vec![
            figure(
                "revolution_ns",
                "revolution of the platters",
                DerivedValue::Time(disk.revolution_ns()),
            ),
            figure(
                "outer_track_sectors",
                "sectors of an outermost track",
                DerivedValue::Count((outer / 512.0) as u64),
            ),
            figure(
                "inner_track_sectors",
                "sectors of an innermost track",
                DerivedValue::Count((inner / 512.0) as u64),
            ),
            figure(
                "cylinders_count",
                "cylinders, estimated",
                DerivedValue::Count(cylinders.round() as u64),
            ),
        ]
    }
}

fn of_flash(flash: &Flash) -> Vec<DerivedFigure> {
    let reads = flash.dies() as f64 * 1e9 / (flash.page_read.0.max(1)) as f64;
    let unit = match flash.mapping {
        FlashMapping::Page => 1,
        FlashMapping::Block => flash.dies(),
    };
    let erased = flash.page.0 * u64::from(flash.pages_per_block) * unit;
    vec![
        figure(
            "dies_count",
            "dies that work in parallel",
            DerivedValue::Count(flash.dies()),
        ),
        figure(
            "erased_bytes",
            "size of an erase unit",
            DerivedValue::Size(Bytes(erased)),
        ),
        figure(
            "page_reads_per_s",
            "page reads of all dies",
            DerivedValue::Frequency(reads),
        ),
        figure(
            "channels_bytes_per_s",
            "bandwidth of all channels",
            DerivedValue::Rate(flash.channels_rate()),
        ),
        figure(
            "program_bytes_per_s",
            "program rate of all dies",
            DerivedValue::Rate(flash.page_rate(flash.page_program)),
        ),
    ]
}

fn figure(name: &'static str, about: &'static str, value: DerivedValue) -> DerivedFigure {
    DerivedFigure { name, about, value }
}

impl HardDisk {
    /// Time of one revolution.
    pub fn revolution_ns(&self) -> f64 {
        60e9 / f64::from(self.media.rpm)
    }

    /// Bytes of a track whose sustained rate is `rate` bytes per second. A cylinder takes a
    /// revolution per head, the head switches, and the seek to the next cylinder.
    pub fn track_bytes(&self, rate: u64) -> f64 {
        let heads = f64::from(self.media.heads);
        let switches = (heads - 1.0) * self.seek.head_switch.0 as f64 + self.seek.track.0 as f64;
        rate as f64 * (self.revolution_ns() + switches / heads) / 1e9
    }
}

impl Flash {
    /// Bytes per second of all dies together, if a page takes `each`.
    pub fn page_rate(&self, each: Nanoseconds) -> f64 {
        self.dies() as f64 * self.page.0 as f64 * 1e9 / each.0.max(1) as f64
    }

    /// Bytes per second of all channels together.
    pub fn channels_rate(&self) -> f64 {
        f64::from(self.channels) * self.channel_rate.0 as f64
    }
}
