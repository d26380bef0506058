//! UFS1 and UFS2: the fast file system of 4.4BSD and FreeBSD, little-endian, with the layout of
//! FreeBSD's newfs.
//!
//! Of newfs's defaults two are left out: the directory `.snap` (as with its option -n), and the
//! check hashes of FreeBSD 12 and later, which Linux does not update; FreeBSD's fsck adds them on
//! request.
//!
//! ```text
//!     boot area | superblock | group 0 | group 1 | ... | group n
//!                                 |
//!                copy of the superblock | group's maps | inodes | data
//! ```

mod group;
mod layout;
mod root;
mod superblock;
#[cfg(test)]
mod tests;
mod variant;

pub(crate) use variant::{UFS1, UFS2};
