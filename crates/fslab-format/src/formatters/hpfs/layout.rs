//! The layout of an empty HPFS volume, in sectors of 512 bytes. No I/O.
//!
//! The format fixes only the places of the first 20 sectors; the others follow OS/2. Structures of
//! four sectors begin at a multiple of four, because readers read them at once.

use std::ops::Range;

use fslab_model::Bytes;

/// The only sector size.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Sectors that one bitmap describes.
pub(super) const BAND_SECTORS: u32 = 0x4000;

/// Sectors of a bitmap, a directory block and each of the lists.
pub(super) const BLOCK_SECTORS: u32 = 4;

/// Spare sectors for ones that fail on a write.
pub(super) const HOTFIX_SPARES: u32 = 100;

/// Spare directory blocks for a split of a directory on a full volume.
pub(super) const SPARE_DNODES: u32 = 20;

/// The user id table is reserved and unused by all systems.
const USER_ID_SECTORS: u32 = 8;

/// Boot area, super block, spare block and two reserved sectors.
const FIXED_SECTORS: u32 = 20;

/// Addresses of bitmaps in one block of four sectors.
const BITMAPS_A_BLOCK: u32 = 512;

/// The directory band takes this part of the volume, at most one band.
const DIRECTORY_BAND_PART: u32 = 100;
const DIRECTORY_BAND_MIN: u32 = 16;

/// The smallest volume; the structures take an eighth of it.
const SECTORS_MIN: u64 = 2048;

/// The kernel refuses 2^31 sectors.
const SECTORS_MAX: u64 = (1 << 31) - 1;

/// OS/2's limit is 64 GiB.
const OS2_SECTORS_MAX: u32 = 1 << 27;

/// The layout of one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Sectors on the volume.
    pub(super) sectors: u32,
    /// The first sector of the directory band; everything from here to the end of
    /// [`Layout::centre`] is contiguous.
    directory_band: u32,
}

impl Layout {
    /// The layout of a volume with a valid size.
    pub(super) fn new(size: Bytes) -> Self {
        let sectors = u32::try_from(size.0 / SECTOR_BYTES)
            .expect("the limits keep the count of sectors below 2^31");
        let mut layout = Self {
            sectors,
            directory_band: 0,
        };
        // Bitmaps are adjacent before an even band, so the longest free run begins there.
        let middle = (layout.bands() + 2) / 4 * 2;
        layout.directory_band = (1..=middle / 2)
            .rev()
            .map(|pair| pair * 2 * BAND_SECTORS + BLOCK_SECTORS)
            .find(|start| layout.has_room(*start))
            .unwrap_or_else(|| layout.front_end().next_multiple_of(BLOCK_SECTORS));
        layout
    }

    /// The number of bands, of which the last may be shorter.
    pub(super) fn bands(&self) -> u32 {
        self.sectors.div_ceil(BAND_SECTORS)
    }

    /// The sectors of this band that are on the volume.
    pub(super) fn band(&self, band: u32) -> Range<u32> {
        let start = band * BAND_SECTORS;
        start..self.sectors.min(start + BAND_SECTORS)
    }

    /// The bitmap of this band.
    pub(super) fn bitmap(&self, band: u32) -> u32 {
        let sectors = self.band(band);
        let is_even = band.is_multiple_of(2);
        match band {
            _ if self.gathers_bitmaps() && !self.ends_with(band) => {
                self.gathered_bitmaps().start + band * BLOCK_SECTORS
            }
            0 if self.has_first_bitmap_in_front() => self.first_bitmap(),
            // The last band may be too short for its own bitmap. Then the bitmap goes to the end of
            // the band before if that one is odd.
            _ if sectors.len() < BLOCK_SECTORS as usize && is_even => {
                sectors.start - 2 * BLOCK_SECTORS
            }
            _ if is_even && !self.ends_with(band) => sectors.start,
            _ => sectors.end / BLOCK_SECTORS * BLOCK_SECTORS - BLOCK_SECTORS,
        }
    }

    /// True if the volume ends with this band and the band is complete. The kernel looks up the
    /// sector after a file before it extends the file; after the last sector of such a volume there
    /// is no bitmap, and it makes the volume read-only. So the bitmap takes that sector, which is
    /// never a file's then.
    fn ends_with(&self, band: u32) -> bool {
        self.sectors == (band + 1) * BAND_SECTORS
    }

    fn has_first_bitmap_in_front(&self) -> bool {
        !self.ends_with(0) && !self.gathers_bitmaps()
    }

    /// True if the bitmaps are contiguous. One in each band of a large volume takes minutes to
    /// write, and twice the space in an image. Volumes that OS/2 can read have OS/2's layout.
    fn gathers_bitmaps(&self) -> bool {
        self.sectors > OS2_SECTORS_MAX
    }

    fn gathered_bitmaps(&self) -> Range<u32> {
        let start = self.centre().end.next_multiple_of(BLOCK_SECTORS);
        let bands = match self.gathers_bitmaps() {
            true => self.bands() - u32::from(self.ends_with(self.bands() - 1)),
            false => 0,
        };
        start..start + bands * BLOCK_SECTORS
    }

    fn first_bitmap(&self) -> u32 {
        self.bitmap_list() + self.bitmap_list_sectors()
    }

    pub(super) fn bitmap_list(&self) -> u32 {
        FIXED_SECTORS
    }

    pub(super) fn bitmap_list_sectors(&self) -> u32 {
        self.bands().div_ceil(BITMAPS_A_BLOCK) * BLOCK_SECTORS
    }

    /// The list of bad sectors.
    pub(super) fn bad_list(&self) -> u32 {
        self.first_bitmap() + u32::from(self.has_first_bitmap_in_front()) * BLOCK_SECTORS
    }

    /// The list of replaced bad sectors, with their replacements.
    pub(super) fn hotfix_list(&self) -> u32 {
        self.bad_list() + BLOCK_SECTORS
    }

    /// The first of the sectors that replace bad ones.
    pub(super) fn hotfix_spares(&self) -> u32 {
        self.hotfix_list() + BLOCK_SECTORS
    }

    /// The directory of code pages.
    pub(super) fn code_page_directory(&self) -> u32 {
        self.hotfix_spares() + HOTFIX_SPARES
    }

    /// The tables of code pages.
    pub(super) fn code_page_data(&self) -> u32 {
        self.code_page_directory() + 1
    }

    fn front_end(&self) -> u32 {
        self.code_page_data() + 1
    }

    /// The sectors reserved for directory blocks.
    pub(super) fn directory_band(&self) -> Range<u32> {
        let part = self.sectors / DIRECTORY_BAND_PART;
        let sectors = part
            .next_multiple_of(BLOCK_SECTORS)
            .clamp(DIRECTORY_BAND_MIN, BAND_SECTORS);
        self.directory_band..self.directory_band + sectors
    }

    /// The spare directory block with this index.
    pub(super) fn spare_dnode(&self, index: u32) -> u32 {
        self.directory_band().end + index * BLOCK_SECTORS
    }

    /// The bitmap of the directory band.
    pub(super) fn directory_bitmap(&self) -> u32 {
        self.spare_dnode(SPARE_DNODES)
    }

    /// The directory block of the root directory.
    pub(super) fn root_dnode(&self) -> u32 {
        self.directory_bitmap() + BLOCK_SECTORS
    }

    /// The user id table.
    pub(super) fn user_ids(&self) -> u32 {
        self.root_dnode() + BLOCK_SECTORS
    }

    /// The fnode of the root directory.
    pub(super) fn root_fnode(&self) -> u32 {
        self.user_ids() + USER_ID_SECTORS
    }

    /// The directory band and the structures after it.
    pub(super) fn centre(&self) -> Range<u32> {
        self.directory_band..self.root_fnode() + 1
    }

    /// The sectors in use in this band of the empty volume. Ranges may exceed it.
    pub(super) fn used(&self, band: u32) -> impl Iterator<Item = Range<u32>> {
        // The bitmap of a short last band may be in this one.
        let bitmaps = [
            Some(band),
            Some(band + 1).filter(|next| *next < self.bands()),
        ];
        let bitmaps = bitmaps.into_iter().flatten().map(|band| self.bitmap(band));
        [0..self.front_end(), self.centre(), self.gathered_bitmaps()]
            .into_iter()
            .chain(bitmaps.map(|start| start..start + BLOCK_SECTORS))
    }

    /// True if the centre may begin at `start`: on the volume, without a bitmap inside.
    fn has_room(&self, start: u32) -> bool {
        let moved = Self {
            directory_band: start,
            ..*self
        };
        let centre = moved.centre();
        let last = centre.end.div_ceil(BAND_SECTORS).min(self.bands() - 1);
        centre.end <= self.sectors
            && (start / BAND_SECTORS..=last)
                .map(|band| moved.bitmap(band))
                .all(|bitmap| centre.end <= bitmap || bitmap + BLOCK_SECTORS <= start)
    }
}

/// The smallest and the largest volume.
pub(super) fn limits() -> (Bytes, Bytes) {
    (
        Bytes(SECTORS_MIN * SECTOR_BYTES),
        Bytes(SECTORS_MAX * SECTOR_BYTES),
    )
}
