//! The model's parameters as text, their digest, and their check by the model.

use fslab_model::{TomlError, sha256};
use fslab_simdisk_sys::DiskModel;

use super::{Array, Controller, Flash, HardDisk, Medium, Profile};

const SECTOR: u64 = 512;
/// Hexadecimal digits of a digest.
const DIGEST_DIGITS: usize = 16;

impl Profile {
    /// The model's parameters: lines of `name=value`, always in the same order.
    pub fn parameters(&self) -> String {
        let lines = self.lines().0.into_iter();
        lines
            .map(|line| format!("{}={}\n", line.name, line.value))
            .collect()
    }

    /// Checks the parameters with the model; an error names the profile's key. The guest's driver
    /// has the same model and accepts what passes here.
    pub(super) fn check_by_model(&self) -> Result<(), TomlError> {
        let Err(sentence) = DiskModel::new(&self.parameters()) else {
            return Ok(());
        };
        let first = sentence.split(['=', ' ']).next().unwrap_or_default();
        let line = self.lines().0.into_iter().find(|line| line.name == first);
        let key = line.map_or("the disk", |line| line.key);
        Err(super::check::impossible(key, sentence))
    }

    fn lines(&self) -> Lines {
        let mut text = Lines::default();
        let (device, interface) = (&self.device, &self.interface);
        text.word("kind", "kind", self.kind());
        text.number("sectors", "device.capacity", device.capacity.0 / SECTOR);
        text.number("queue_depth", "device.queue_depth", device.queue_depth);
        let rate = interface.rate.0;
        text.number("interface_bytes_per_s", "interface.rate", rate);
        text.number("command_ns", "interface.command", interface.command.0);
        text.number("write_cache", "cache.write_cache", self.cache.write_cache);
        text.number("buffer_bytes", "cache.buffer", self.cache.buffer.0);
        let block = device.physical_block.0;
        text.number("physical_block_bytes", "device.physical_block", block);
        let request = device.max_request.0;
        text.number("max_request_bytes", "device.max_request", request);
        match &self.medium {
            Medium::HardDisk(disk) => hard_disk(&mut text, disk),
            Medium::Flash(disk) => flash(&mut text, disk),
        }
        match &self.array {
            None => text.word("array", "array", "none"),
            Some(array) => members(&mut text, array),
        }
        if let Some(before) = &self.controller {
            controller(&mut text, before);
        }
        text
    }

    /// The first digits of the SHA-256 of the parameters: profiles of equal digest simulate the
    /// same disk.
    pub fn digest(&self) -> String {
        let mut text = sha256(self.parameters());
        text.truncate(DIGEST_DIGITS);
        text
    }
}

/// A parameter of the model.
struct Line {
    name: &'static str,
    /// The key of the profile.
    key: &'static str,
    value: String,
}

#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    fn number(&mut self, name: &'static str, key: &'static str, number: impl Into<u64>) {
        let value = number.into().to_string();
        self.0.push(Line { name, key, value });
    }

    fn word(&mut self, name: &'static str, key: &'static str, word: &str) {
        let value = word.to_owned();
        self.0.push(Line { name, key, value });
    }
}

fn hard_disk(text: &mut Lines, disk: &HardDisk) {
    let (media, seek) = (&disk.media, &disk.seek);
    let (ahead, back) = (&disk.read_ahead, &disk.write_back);
    text.number("rpm", "media.rpm", media.rpm);
    text.number("heads", "media.heads", media.heads);
    text.number("zones", "media.zones", media.zones);
    text.number("outer_bytes_per_s", "media.outer", media.outer.0);
    text.number("inner_bytes_per_s", "media.inner", media.inner.0);
    text.number("seek_track_ns", "seek.track", seek.track.0);
    text.number("seek_average_ns", "seek.average", seek.average.0);
    text.number("seek_full_ns", "seek.full", seek.full.0);
    text.number("write_settle_ns", "seek.write_settle", seek.write_settle.0);
    text.number("head_switch_ns", "seek.head_switch", seek.head_switch.0);
    text.number("read_segments", "read_ahead.segments", ahead.segments);
    text.number("read_segment_bytes", "read_ahead.segment", ahead.segment.0);
    text.number("write_buffer_bytes", "write_back.share", back.share.0);
    text.number("destage_idle_ns", "write_back.idle", back.idle.0);
}

fn flash(text: &mut Lines, flash: &Flash) {
    text.number("channels", "flash.channels", flash.channels);
    let dies = flash.dies_per_channel;
    text.number("dies_per_channel", "flash.dies_per_channel", dies);
    text.number("page_bytes", "flash.page", flash.page.0);
    let pages = flash.pages_per_block;
    text.number("pages_per_block", "flash.pages_per_block", pages);
    text.number("page_read_ns", "flash.page_read", flash.page_read.0);
    text.number(
        "page_program_ns",
        "flash.page_program",
        flash.page_program.0,
    );
    text.number("block_erase_ns", "flash.block_erase", flash.block_erase.0);
    let rate = flash.channel_rate.0;
    text.number("channel_bytes_per_s", "flash.channel_rate", rate);
    text.word("mapping", "flash.mapping", flash.mapping.as_str());
    if let Some(blocks) = flash.open_blocks {
        text.number("open_blocks", "flash.open_blocks", blocks);
    }
    text.number("spare_permille", "flash.spare", flash.spare.0);
    text.number("discard", "flash.discard", flash.discard);
    text.number("precondition_permille", "flash.used", flash.used.0);
}

fn members(text: &mut Lines, array: &Array) {
    text.word("array", "array.layout", array.layout.as_str());
    text.number("members", "array.members", array.members);
    text.number("chunk_sectors", "array.chunk", array.chunk.0 / SECTOR);
}

fn controller(text: &mut Lines, controller: &Controller) {
    text.number("controller_bytes", "controller.cache", controller.cache.0);
    let rate = controller.rate.0;
    text.number("controller_bytes_per_s", "controller.rate", rate);
    let command = controller.command.0;
    text.number("controller_command_ns", "controller.command", command);
    let interval = controller.flush_interval.0;
    text.number(
        "controller_interval_ns",
        "controller.flush_interval",
        interval,
    );
    text.number("controller_writes", "controller.writes", controller.writes);
}
