//! What is possible: relations between values that no single key can tell.

use fslab_model::Bytes;

use super::{Array, Flash, HardDisk, Layout, Mapping, Medium, Profile, ProfileFault};

const SECTOR: u64 = 512;
/// The deepest queue of a model.
const QUEUE_DEPTH_MAX: u32 = 1024;

/// `Ok` where `holds`, else what is impossible and why.
fn demand(holds: bool, key: &str, reason: impl Into<String>) -> Result<(), ProfileFault> {
    if holds {
        Ok(())
    } else {
        Err(ProfileFault::impossible(key, reason))
    }
}

fn is_sectors(size: Bytes) -> bool {
    size.0 > 0 && size.0.is_multiple_of(SECTOR)
}

impl Profile {
    pub(super) fn check(&self) -> Result<(), ProfileFault> {
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
        let sheet = &self.data_sheet;
        let deep = sheet.random_read_deep.is_some() || sheet.random_write_deep.is_some();
        demand(
            sheet.depth.is_some() == deep,
            "data_sheet.depth",
            "it belongs to random_read_deep or random_write_deep, and these to it",
        )
    }

    fn check_name(&self) -> Result<(), ProfileFault> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.+".contains(c);
        demand(
            self.name.len() <= 64 && self.name.chars().all(allowed),
            "name",
            "a name has 1 to 64 small letters, digits or - . +",
        )?;
        demand(
            (1956..=2100).contains(&self.year),
            "year",
            "there are disks since 1956",
        )
    }

    fn check_device(&self) -> Result<(), ProfileFault> {
        let device = &self.device;
        let block = device.physical_block;
        demand(
            matches!(block.0, 512 | 4096),
            "device.physical_block",
            "it is 512 B or 4 KiB",
        )?;
        demand(
            device.capacity.0 > 0 && device.capacity.0.is_multiple_of(block.0),
            "device.capacity",
            "it is no multiple of the physical block",
        )?;
        demand(
            (1..=QUEUE_DEPTH_MAX).contains(&device.queue_depth),
            "device.queue_depth",
            format!("it is from 1 to {QUEUE_DEPTH_MAX}"),
        )?;
        demand(
            is_sectors(device.max_request) && device.max_request.0 <= 1 << 30,
            "device.max_request",
            "it is a multiple of 512 B, up to 1 GiB",
        )?;
        demand(
            self.interface.rate.0 > 0,
            "interface.rate",
            "nothing would ever cross it",
        )
    }
}

fn check_platters(disk: &HardDisk) -> Result<(), ProfileFault> {
    let (media, seek) = (&disk.media, &disk.seek);
    demand(
        (300..=60_000).contains(&media.rpm),
        "media.rpm",
        "it is from 300 to 60000",
    )?;
    demand(media.heads >= 1, "media.heads", "a disk has one at least")?;
    demand(media.zones >= 1, "media.zones", "a disk has one at least")?;
    demand(
        0 < media.inner.0 && media.inner <= media.outer,
        "media.inner",
        "it is above 0 and not above media.outer",
    )?;
    // At least a sector passes below a head in a turn.
    demand(
        media.inner.0 * 60 >= SECTOR * u64::from(media.rpm),
        "media.inner",
        "not one sector would fit on a track",
    )?;
    demand(
        seek.track <= seek.average && seek.average <= seek.full,
        "seek.average",
        "it lies between seek.track and seek.full",
    )
}

fn check_buffer(disk: &HardDisk, buffer: Bytes, block: Bytes) -> Result<(), ProfileFault> {
    let (ahead, back) = (&disk.read_ahead, &disk.write_back);
    let wanted = u64::from(ahead.segments)
        .saturating_mul(ahead.segment.0)
        .saturating_add(back.share.0);
    demand(
        wanted <= buffer.0,
        "write_back.share",
        "together with all segments of read_ahead it is more than cache.buffer",
    )?;
    demand(
        ahead.segment.0.is_multiple_of(block.0),
        "read_ahead.segment",
        "it is no multiple of the physical block",
    )
}

fn check_flash(flash: &Flash) -> Result<(), ProfileFault> {
    demand(flash.dies() >= 1, "flash.channels", "there is no die")?;
    demand(
        is_sectors(flash.page) && flash.page.0.is_power_of_two(),
        "flash.page",
        "it is a power of two, 512 B or more",
    )?;
    demand(
        flash.pages_per_block >= 1,
        "flash.pages_per_block",
        "a block has one at least",
    )?;
    demand(
        flash.channel_rate.0 > 0,
        "flash.channel_rate",
        "nothing would ever cross it",
    )?;
    demand(
        flash.used.0 <= 1000,
        "flash.used",
        "it is a share of the disk, up to 100 %",
    )?;
    demand(
        flash.open_blocks.is_some() == (flash.mapping == Mapping::Block),
        "flash.open_blocks",
        "it belongs to mapping = \"block\", and that to it",
    )
}

fn check_array(array: &Array) -> Result<(), ProfileFault> {
    let (least, even) = match array.layout {
        Layout::Raid0 | Layout::Raid1 => (2, false),
        Layout::Raid10 => (2, true),
        Layout::Raid5 => (3, false),
    };
    demand(
        array.members >= least && (!even || array.members.is_multiple_of(2)),
        "array.members",
        match array.layout {
            Layout::Raid0 | Layout::Raid1 => "it takes two at least",
            Layout::Raid10 => "it takes pairs",
            Layout::Raid5 => "it takes three at least",
        },
    )?;
    demand(array.members <= 64, "array.members", "a model has up to 64")?;
    demand(
        is_sectors(array.chunk) && array.chunk.0.is_multiple_of(4096),
        "array.chunk",
        "it is a multiple of 4 KiB",
    )
}
