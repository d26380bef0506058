//! bcachefs, in the metadata version of Linux 6.12.
//!
//! A formatter writes superblocks and nothing else: the trees, the journal, the root directory and
//! `lost+found` are made by the kernel at the first mount, because the superblock does not say that
//! the file system is initialised.
//!
//! ```text
//!     sector 7: where the superblocks are | superblock | copy | ... | copy near the end
//! ```

mod device;
mod superblock;
#[cfg(test)]
mod tests;

pub(crate) use device::Bcachefs;
