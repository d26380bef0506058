//! UFS1 and UFS2: the fast file system of 4.4BSD and FreeBSD, little-endian, as FreeBSD's newfs
//! lays it out.
//!
//! Left out of what newfs does by default: the directory `.snap` (as with its option -n), and the
//! check hashes of FreeBSD 12 and later, which a Linux kernel does not keep up to date; FreeBSD's
//! fsck adds them on demand.
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
