//! What flash memory has: dies behind channels, and a table of what lies where.

use std::fmt;

use fslab_model::Bytes;
use schemars::JsonSchema;
use toml::Value;

use super::group::group;
use super::quantity::{BytesPerSecond, Nanoseconds, Permille, Quantity, word};

group! {
    /// Dies behind channels, and how they are managed.
    "flash" => Flash {
        /// Channels, each with its dies.
        channels: u32,
        /// Dies behind a channel.
        dies_per_channel: u32,
        /// What a die reads or programs at once.
        page: Bytes,
        /// Pages that are erased together.
        pages_per_block: u32,
        /// From the cells to the die's register.
        page_read: Nanoseconds,
        /// From the register to the cells.
        page_program: Nanoseconds,
        /// Of a block.
        block_erase: Nanoseconds,
        /// How fast a channel moves data.
        channel_rate: BytesPerSecond,
        /// What is kept in the table of what lies where.
        mapping: FlashMapping,
        /// Units that can be written to before another must be closed; of block mapping.
        open_blocks: Option<u32>,
        /// What the disk holds beyond its capacity, as a share of that.
        spare: Permille,
        /// Whether it uses discards.
        discard: bool,
        /// The share of the disk that was written before the first request.
        used: Permille,
    }
}

/// What the table of flash memory knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum FlashMapping {
    /// The place of every page: SSDs.
    Page,
    /// The place of every unit of blocks: sticks and cards.
    Block,
}

impl FlashMapping {
    const WORDS: [(&'static str, Self); 2] = [("page", Self::Page), ("block", Self::Block)];

    /// Its word in a file.
    #[must_use]
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
        word(value, &Self::WORDS)
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.as_str().to_owned()))
    }
}

impl Flash {
    /// All dies.
    #[must_use]
    pub fn dies(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.dies_per_channel)
    }
}
