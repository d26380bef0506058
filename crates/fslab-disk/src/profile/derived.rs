//! What follows from a profile's parameters by a closed form, without running the model.

use std::fmt;

use fslab_model::{Bytes, Rate, format_ns};
use serde::{Serialize, Serializer};

use super::{Flash, FlashMapping, HardDisk, Medium, Nanoseconds, Profile};

/// A size, as the usual small request has it.
const SMALL: u64 = 4096;

/// A number with its unit. Serialised as the bare number; the figure's name tells the unit.
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
            // Rounded: the digits behind the point are those of the division alone.
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
    /// What it is.
    pub about: &'static str,
    /// Its value.
    pub value: DerivedValue,
}

impl Profile {
    /// What the whole disk holds. An array's members lose what does not fill a chunk.
    #[must_use]
    pub fn capacity(&self) -> Bytes {
        let member = self.device.capacity.0;
        Bytes(match &self.array {
            None => member,
            Some(array) => (member - member % array.chunk.0) * array.data_members(),
        })
    }

    /// One member of an array by itself; the disk itself where there is none.
    #[must_use]
    pub fn member(&self) -> Self {
        Self {
            array: None,
            ..self.clone()
        }
    }

    /// The mean time of a small read at random, one at a time.
    #[must_use]
    pub fn mean_access(&self) -> Nanoseconds {
        let command = self.interface.command.0;
        let medium = match &self.medium {
            Medium::HardDisk(disk) => disk.seek.average.0 as f64 + disk.revolution_ns() / 2.0,
            Medium::Flash(flash) => {
                let moved = flash.page.0.min(SMALL) as f64 * 1e9 / flash.channel_rate.0 as f64;
                flash.page_read.0 as f64 + moved + SMALL as f64 * 1e9 / self.interface.rate.0 as f64
            }
        };
        Nanoseconds(command + medium.round() as u64)
    }

    /// How fast data is read on and on at the beginning of the disk, where nothing but the medium
    /// and the interface limit it.
    #[must_use]
    pub fn sequential_read(&self) -> f64 {
        let medium = match &self.medium {
            Medium::HardDisk(disk) => disk.media.outer.0 as f64,
            Medium::Flash(flash) => flash.page_rate(flash.page_read).min(flash.channels_rate()),
        };
        let members = self.array.as_ref().map_or(1, super::Array::data_members);
        medium.min(self.interface.rate.0 as f64) * members as f64
    }

    /// Every figure that follows from the parameters by a closed form.
    #[must_use]
    pub fn derived(&self) -> Vec<DerivedFigure> {
        let mut figures = vec![
            figure(
                "capacity_bytes",
                "what it holds",
                DerivedValue::Size(self.capacity()),
            ),
            figure(
                "mean_access_ns",
                "a small read at random, one at a time",
                DerivedValue::Time(self.mean_access().0 as f64),
            ),
            figure(
                "sequential_read_bytes_per_s",
                "the most that is read in a second, at the beginning",
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
                "a turn of the platters",
                DerivedValue::Time(disk.revolution_ns()),
            ),
            figure(
                "outer_track_sectors",
                "sectors on an outermost track",
                DerivedValue::Count((outer / 512.0) as u64),
            ),
            figure(
                "inner_track_sectors",
                "sectors on an innermost track",
                DerivedValue::Count((inner / 512.0) as u64),
            ),
            figure(
                "cylinders_count",
                "about as many cylinders",
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
            "dies that work at a time",
            DerivedValue::Count(flash.dies()),
        ),
        figure(
            "erased_bytes",
            "what is erased at once",
            DerivedValue::Size(Bytes(erased)),
        ),
        figure(
            "page_reads_per_s",
            "pages that all dies read in a second",
            DerivedValue::Frequency(reads),
        ),
        figure(
            "channels_bytes_per_s",
            "what all channels move",
            DerivedValue::Rate(flash.channels_rate()),
        ),
        figure(
            "program_bytes_per_s",
            "what all dies program",
            DerivedValue::Rate(flash.page_rate(flash.page_program)),
        ),
    ]
}

fn figure(name: &'static str, about: &'static str, value: DerivedValue) -> DerivedFigure {
    DerivedFigure { name, about, value }
}

impl HardDisk {
    /// A turn of the platters.
    #[must_use]
    pub fn revolution_ns(&self) -> f64 {
        60e9 / f64::from(self.media.rpm)
    }

    /// Bytes on a track whose sustained rate is `rate`: in the time of a cylinder, which is its
    /// turns, its head switches, and the step to the next, the rate must bring all its tracks.
    #[must_use]
    pub fn track_bytes(&self, rate: u64) -> f64 {
        let heads = f64::from(self.media.heads);
        let switches = (heads - 1.0) * self.seek.head_switch.0 as f64 + self.seek.track.0 as f64;
        rate as f64 * (self.revolution_ns() + switches / heads) / 1e9
    }
}

impl Flash {
    /// Bytes per second of all dies together, where a page takes `each`.
    #[must_use]
    pub fn page_rate(&self, each: Nanoseconds) -> f64 {
        self.dies() as f64 * self.page.0 as f64 * 1e9 / each.0.max(1) as f64
    }

    /// Bytes per second of all channels together.
    #[must_use]
    pub fn channels_rate(&self) -> f64 {
        f64::from(self.channels) * self.channel_rate.0 as f64
    }
}
