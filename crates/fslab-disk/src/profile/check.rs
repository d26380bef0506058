//! Validates a profile. The rules here are about values that are not parameters of the model;
//! ranges and relations of parameters are checked by the model, which the guest's driver has too.

use fslab_model::{Bytes, TomlError};

use super::{
    Array, DataSheet, EmptiedBy, Flash, FlashMapping, HardDisk, Medium, Nanoseconds, Profile,
    RaidLevel,
};

const SECTOR: u64 = 512;
/// The deepest queue of a data sheet: the model's limit.
const DEPTH_MAX: u32 = 65_536;
/// The longest time in nanoseconds, and the highest rate per second, of a data sheet.
const SHEET_MAX: u64 = 1_000_000_000_000;
/// The smallest span in which random access is measured.
const SPAN_MIN: Bytes = Bytes::mib(1);

/// The most reads, and the longest idle time, before a cold phase.
const EMPTYING_READS_MAX: u32 = 100_000;
const EMPTYING_WAIT_MAX: Nanoseconds = Nanoseconds(3_600_000_000_000);

/// The error for a value that no disk can have.
pub(super) fn impossible(key: &str, reason: impl Into<String>) -> TomlError {
    TomlError::new(key.split('.'), format!("impossible: {}", reason.into()))
}

/// An error at `key` unless `holds`.
fn ensure(holds: bool, key: &str, reason: impl Into<String>) -> Result<(), TomlError> {
    if holds {
        Ok(())
    } else {
        Err(impossible(key, reason))
    }
}

fn is_sectors(size: Bytes) -> bool {
    size.0 > 0 && size.0.is_multiple_of(SECTOR)
}

impl Profile {
    pub(super) fn check(&self) -> Result<(), TomlError> {
        self.check_name()?;
        self.check_device()?;
        match &self.medium {
            Medium::HardDisk(disk) => {
                check_platters(disk)?;
                check_buffer(disk, self.cache.buffer, self.device.physical_block)?;
            }
            Medium::Flash(flash) => check_flash(flash)?,
        }
        if let Some(array) = &self.array {
            check_array(array)?;
        }
        if let Some(by) = &self.emptied_by {
            check_emptying(by)?;
        }
        check_sheet(&self.data_sheet, self.device.capacity)?;
        self.check_by_model()
    }

    fn check_name(&self) -> Result<(), TomlError> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.+".contains(c);
        ensure(
            self.name.len() <= 64 && self.name.chars().all(allowed),
            "name",
            "a name has 1 to 64 lower-case letters, digits or - . +",
        )?;
        ensure(
            (1956..=2100).contains(&self.year),
            "year",
            "it is from 1956 to 2100",
        )
    }

    /// Sizes in bytes: the model counts sectors, so it cannot detect a fraction of one.
    fn check_device(&self) -> Result<(), TomlError> {
        let device = &self.device;
        let block = device.physical_block;
        ensure(
            matches!(block.0, 512 | 4096),
            "device.physical_block",
            "it must be 512 B or 4 KiB",
        )?;
        ensure(
            device.capacity.0 > 0 && device.capacity.0.is_multiple_of(block.0),
            "device.capacity",
            "it is not a multiple of the physical block",
        )?;
        ensure(
            is_sectors(device.max_request),
            "device.max_request",
            "it must be a multiple of 512 B",
        )
    }
}

fn check_platters(disk: &HardDisk) -> Result<(), TomlError> {
    let (media, seek) = (&disk.media, &disk.seek);
    ensure(
        media.inner <= media.outer,
        "media.inner",
        "it must not be above media.outer",
    )?;
    ensure(
        u128::from(media.inner.0) * 60 >= u128::from(SECTOR) * u128::from(media.rpm),
        "media.inner",
        "a track would be shorter than one sector",
    )?;
    ensure(
        seek.track <= seek.average && seek.average <= seek.full,
        "seek.average",
        "it must lie between seek.track and seek.full",
    )
}

fn check_buffer(disk: &HardDisk, buffer: Bytes, block: Bytes) -> Result<(), TomlError> {
    let (ahead, back) = (&disk.read_ahead, &disk.write_back);
    let wanted = u64::from(ahead.segments)
        .saturating_mul(ahead.segment.0)
        .saturating_add(back.share.0);
    ensure(
        wanted <= buffer.0,
        "write_back.share",
        "with all segments of read_ahead it exceeds cache.buffer",
    )?;
    ensure(
        ahead.segment.0.is_multiple_of(block.0),
        "read_ahead.segment",
        "it is not a multiple of the physical block",
    )
}

fn check_flash(flash: &Flash) -> Result<(), TomlError> {
    ensure(
        flash.open_blocks.is_some() == (flash.mapping == FlashMapping::Block),
        "flash.open_blocks",
        "it is required with mapping = \"block\", and only then allowed",
    )
}

fn check_array(array: &Array) -> Result<(), TomlError> {
    ensure(
        array.layout != RaidLevel::Raid10 || array.members.is_multiple_of(2),
        "array.members",
        "it must be even",
    )?;
    ensure(
        is_sectors(array.chunk) && array.chunk.0.is_multiple_of(4096),
        "array.chunk",
        "it must be a multiple of 4 KiB",
    )
}

fn check_emptying(by: &EmptiedBy) -> Result<(), TomlError> {
    ensure(
        by.reads <= EMPTYING_READS_MAX,
        "emptied_by.reads",
        format!("it must be at most {EMPTYING_READS_MAX}"),
    )?;
    ensure(
        by.wait.0 <= EMPTYING_WAIT_MAX.0,
        "emptied_by.wait",
        format!("it must be at most {EMPTYING_WAIT_MAX}"),
    )
}

/// The data sheet, which has no parameters of the model.
fn check_sheet(sheet: &DataSheet, capacity: Bytes) -> Result<(), TomlError> {
    let deep = sheet.random_read_deep.is_some() || sheet.random_write_deep.is_some();
    ensure(
        sheet.depth.is_some() == deep,
        "data_sheet.depth",
        "it is required with random_read_deep or random_write_deep, and only then allowed",
    )?;
    ensure(
        sheet
            .depth
            .is_none_or(|depth| (1..=DEPTH_MAX).contains(&depth)),
        "data_sheet.depth",
        format!("it must be from 1 to {DEPTH_MAX}"),
    )?;
    ensure(
        sheet
            .span
            .is_none_or(|span| SPAN_MIN <= span && span <= capacity),
        "data_sheet.span",
        format!("it must be from {SPAN_MIN} to device.capacity"),
    )?;
    let numbers = [
        ("data_sheet.random_read", sheet.random_read.map(|it| it.0)),
        ("data_sheet.random_write", sheet.random_write.map(|it| it.0)),
        (
            "data_sheet.random_read_deep",
            sheet.random_read_deep.map(|it| it.0),
        ),
        (
            "data_sheet.random_write_deep",
            sheet.random_write_deep.map(|it| it.0),
        ),
        ("data_sheet.sequential_read", Some(sheet.sequential_read.0)),
        (
            "data_sheet.sequential_read_end",
            sheet.sequential_read_end.map(|it| it.0),
        ),
        (
            "data_sheet.sequential_write",
            sheet.sequential_write.map(|it| it.0),
        ),
    ];
    numbers.into_iter().try_for_each(|(key, number)| {
        let is_possible = number.is_none_or(|number| (1..=SHEET_MAX).contains(&number));
        ensure(
            is_possible,
            key,
            "it must be above 0, and within what disks can reach",
        )
    })
}
