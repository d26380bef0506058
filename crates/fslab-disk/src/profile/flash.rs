//! The group of flash memory: dies on channels, and the flash translation layer.

use std::fmt;

use fslab_model::Bytes;
use schemars::JsonSchema;
use toml::Value;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds, Permille, Quantity, keyword};

group! {
    /// Flash memory: dies on channels, and the flash translation layer.
    "flash" => Flash {
        /// Number of channels.
        channels: u32,
        /// Dies on each channel.
        dies_per_channel: u32,
        /// Page size: what a die reads or programs in one operation.
        page: Bytes,
        /// Pages of an erase block.
        pages_per_block: u32,
        /// Time to read a page into the die's register.
        page_read: Nanoseconds,
        /// Time to program a page from the register.
        page_program: Nanoseconds,
        /// Time to erase a block.
        block_erase: Nanoseconds,
        /// Transfer rate of a channel.
        channel_rate: BytesPerSecond,
        /// Granularity of the mapping table.
        mapping: FlashMapping,
        /// Mapping units open for writing at the same time; with block mapping only.
        open_blocks: Option<u32>,
        /// Overprovisioning: spare flash, as a share of the capacity.
        spare: Permille,
        /// Whether discards are supported.
        discard: bool,
        /// Share of the disk that is written before the first request.
        used: Permille,
    }
}

/// Granularity of the mapping table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum FlashMapping {
    /// Pages: SSDs.
    Page,
    /// Units of one block per die: sticks and cards.
    Block,
}

impl FlashMapping {
    const KEYWORDS: [(&'static str, Self); 2] = [("page", Self::Page), ("block", Self::Block)];

    /// The keyword in a profile.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for FlashMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Quantity for FlashMapping {
    fn read(value: &Value) -> Result<Self, String> {
        keyword(value, &Self::KEYWORDS)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.as_str().to_owned()))
    }
}

impl Flash {
    /// The number of dies.
    pub fn dies(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.dies_per_channel)
    }
}
