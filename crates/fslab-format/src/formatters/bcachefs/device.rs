//! The formatter: the device's geometry, and the places of the superblocks.

use fslab_model::{Bytes, Failure};

use super::geometry::{
    BUCKET_BYTES_MOST, Geometry, LAYOUT_SECTOR, SECTOR_BYTES, SUPERBLOCK_SECTORS,
};
use super::superblock;
use crate::{FormatOptions, Formatter, Volume};

const BLOCK_SIZES: [u32; 4] = [512, 1024, 2048, 4096];
const BLOCK_DEFAULT: u32 = 4096;

/// Below this the kernel has too few buckets for the trees and the journal.
const SIZE_MIN: Bytes = Bytes::mib(32);
/// The kernel counts buckets in 31 bits, of 1 MiB here.
const SIZE_MAX: Bytes = Bytes(((1 << 31) - 65) * BUCKET_BYTES_MOST);
/// The field's length; a final zero is not required.
const LABEL_BYTES_MAX: usize = 32;

pub(crate) struct Bcachefs;

impl Formatter for Bcachefs {
    fn name(&self) -> &'static str {
        "bcachefs"
    }

    fn title(&self) -> &'static str {
        "bcachefs"
    }

    fn block_sizes(&self) -> &'static [u32] {
        &BLOCK_SIZES
    }

    fn label_rule(&self) -> &'static str {
        "1 to 32 bytes, no zero"
    }

    fn accepts_label(&self, label: &str) -> bool {
        (1..=LABEL_BYTES_MAX).contains(&label.len()) && !label.contains('\0')
    }

    fn limits(&self, _block_bytes: Option<u32>) -> (Bytes, Bytes) {
        (SIZE_MIN, SIZE_MAX)
    }

    fn write(&self, volume: &Volume, options: &FormatOptions) -> Result<(), Failure> {
        let block = options.block_bytes.unwrap_or(BLOCK_DEFAULT);
        let geometry = Geometry::new(volume.size().0, block);
        let layout = superblock::layout(&geometry);
        volume.write_at(LAYOUT_SECTOR * SECTOR_BYTES, layout.as_bytes())?;
        for &sector in geometry.superblocks.iter().rev() {
            let place = sector * SECTOR_BYTES;
            volume.zero(place, SUPERBLOCK_SECTORS * SECTOR_BYTES)?;
            let superblock = superblock::superblock(&geometry, sector, options);
            volume.write_at(place, superblock.as_bytes())?;
        }
        Ok(())
    }
}
