//! bcachefs, in the metadata version of Linux 6.12.
//!
//! A formatter writes only superblocks: the kernel makes the trees, the journal, the root directory
//! and `lost+found` at the first mount, because the superblock is not marked as initialised.
//!
//! ```text
//!     sector 7: where the superblocks are | superblock | copy | ... | copy near the end
//! ```

mod device;
mod geometry;
mod superblock;
#[cfg(test)]
mod tests;

pub(crate) use device::Bcachefs;
