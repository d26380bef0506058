//! The text that the model is made of, and its digest.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{Array, Flash, HardDisk, Medium, Profile};

const SECTOR: u64 = 512;
/// Digits of a digest that are shown and stored.
const DIGEST_DIGITS: usize = 16;

impl Profile {
    /// The model's parameters: lines of `name=value`, always in the same order.
    #[must_use]
    pub fn parameters(&self) -> String {
        let mut text = Lines::default();
        let (device, interface) = (&self.device, &self.interface);
        text.word("kind", self.kind());
        text.number("sectors", device.capacity.0 / SECTOR);
        text.number("queue_depth", device.queue_depth);
        text.number("interface_bytes_per_s", interface.rate.0);
        text.number("command_ns", interface.command.0);
        text.number("write_cache", self.cache.write_cache);
        text.number("buffer_bytes", self.cache.buffer.0);
        text.number("physical_block_bytes", device.physical_block.0);
        text.number("max_request_bytes", device.max_request.0);
        match &self.medium {
            Medium::HardDisk(disk) => hard_disk(&mut text, disk),
            Medium::Flash(disk) => flash(&mut text, disk),
        }
        match &self.array {
            None => text.word("array", "none"),
            Some(array) => members(&mut text, array),
        }
        text.0
    }

    /// The first digits of the SHA-256 of the parameters: two profiles of one digest are one disk,
    /// whatever they are called.
    #[must_use]
    pub fn digest(&self) -> String {
        let digest = Sha256::digest(self.parameters());
        let mut text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        text.truncate(DIGEST_DIGITS);
        text
    }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn number(&mut self, name: &str, number: impl Into<u64>) {
        writeln!(self.0, "{name}={}", number.into()).expect("writes to memory");
    }

    fn word(&mut self, name: &str, word: &str) {
        writeln!(self.0, "{name}={word}").expect("writes to memory");
    }
}

fn hard_disk(text: &mut Lines, disk: &HardDisk) {
    let (media, seek) = (&disk.media, &disk.seek);
    text.number("rpm", media.rpm);
    text.number("heads", media.heads);
    text.number("zones", media.zones);
    text.number("outer_bytes_per_s", media.outer.0);
    text.number("inner_bytes_per_s", media.inner.0);
    text.number("seek_track_ns", seek.track.0);
    text.number("seek_average_ns", seek.average.0);
    text.number("seek_full_ns", seek.full.0);
    text.number("write_settle_ns", seek.write_settle.0);
    text.number("head_switch_ns", seek.head_switch.0);
    text.number("read_segments", disk.read_ahead.segments);
    text.number("read_segment_bytes", disk.read_ahead.segment.0);
    text.number("write_buffer_bytes", disk.write_back.share.0);
    text.number("destage_idle_ns", disk.write_back.idle.0);
}

fn flash(text: &mut Lines, flash: &Flash) {
    text.number("channels", flash.channels);
    text.number("dies_per_channel", flash.dies_per_channel);
    text.number("page_bytes", flash.page.0);
    text.number("pages_per_block", flash.pages_per_block);
    text.number("page_read_ns", flash.page_read.0);
    text.number("page_program_ns", flash.page_program.0);
    text.number("block_erase_ns", flash.block_erase.0);
    text.number("channel_bytes_per_s", flash.channel_rate.0);
    text.word("mapping", flash.mapping.as_str());
    if let Some(blocks) = flash.open_blocks {
        text.number("open_blocks", blocks);
    }
    text.number("spare_permille", flash.spare.0);
    text.number("discard", flash.discard);
    text.number("precondition_permille", flash.used.0);
}

fn members(text: &mut Lines, array: &Array) {
    text.word("array", array.layout.as_str());
    text.number("members", array.members);
    text.number("chunk_sectors", array.chunk.0 / SECTOR);
}
