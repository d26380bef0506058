//! One file per layer of a stack, or per family of them.

mod device_mapper;
mod integrity;
mod linear;
mod luks;
mod lvm;
mod md;
mod thin;

pub(crate) use integrity::INTEGRITY;
pub(crate) use linear::LINEAR;
pub(crate) use luks::LUKS;
pub(crate) use lvm::LVM;
pub(crate) use md::{RAID0, RAID1, RAID5, RAID6, RAID10};
pub(crate) use thin::THIN;
