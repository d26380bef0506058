//! HPFS, the High Performance File System of OS/2.
//!
//! ```text
//!     0        boot sector and space for a loader
//!     16, 17   super block, spare block, with the addresses of all others
//!     20       list of bitmaps; first bitmap; bad sectors; hot fixes, spares; code page
//!     ...      bands of 8 MiB, each with a bitmap at its start (even ones) or end (odd ones)
//!     middle   directory band, spare directory blocks, its bitmap, root directory, user ids
//! ```

mod code_page;
mod formatter;
mod layout;
mod sectors;
#[cfg(test)]
mod tests;

pub(crate) use formatter::Hpfs;
