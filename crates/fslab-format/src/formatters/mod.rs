//! One file or directory per file system.

mod affs;
mod bcachefs;
mod hfs;
mod hfsplus;
mod hpfs;
#[cfg(test)]
mod image;
mod mac;
mod reiserfs;
mod ufs;

pub(crate) use affs::Affs;
pub(crate) use bcachefs::Bcachefs;
pub(crate) use hfs::Hfs;
pub(crate) use hfsplus::{HFS_PLUS, HFSX};
pub(crate) use hpfs::Hpfs;
pub(crate) use reiserfs::Reiserfs35;
pub(crate) use ufs::{UFS1, UFS2};
