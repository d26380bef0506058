//! One file per file system. What several of them share stands beside them: `ext_family`.

mod btrfs;
mod ext2;
mod ext3;
mod ext4;
mod ext_family;
mod fake;
mod xfs;

pub(crate) use btrfs::BTRFS;
pub(crate) use ext2::EXT2;
pub(crate) use ext3::EXT3;
pub(crate) use ext4::EXT4;
pub(crate) use fake::FAKE;
pub(crate) use xfs::XFS;
