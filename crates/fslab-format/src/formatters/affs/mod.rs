//! AFFS, the Amiga's Fast File System, with international names (the type `DOS\3`).
//!
//! ```text
//!     0, 1    boot block: type, address of the root; no code and no checksum, so nothing boots it
//!     ...     data
//!     middle  root block, bitmap blocks, extension blocks with the addresses of more bitmaps
//!     ...     data
//! ```

mod blocks;
mod formatter;
mod layout;
#[cfg(test)]
mod tests;

pub(crate) use formatter::Affs;
