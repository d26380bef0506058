//! Kinds of blocks: what a block of a file system is for, from its image.
//!
//! ```text
//!     DiskImage --Layout (ext, XFS, Btrfs, F2FS, JFS, none)--> BlockUnit of a sector
//! ```
//!
//! Each layout is read as the documents of its format describe it. Of a file system without one,
//! data is recognised, and every other block is `Other`.

mod btrfs;
mod ext;
mod f2fs;
mod image;
mod jfs;
mod kind;
mod layout;
mod ranges;
mod xfs;

pub use image::DiskImage;
pub(crate) use image::SECTOR_BYTES;
pub use kind::{BlockKind, BlockUnit};
pub use layout::{BlockMap, units_of};
