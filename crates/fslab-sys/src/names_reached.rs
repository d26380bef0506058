//! What a call on names reaches.

use std::ffi::CStr;

/// An entry of a directory listing.
#[derive(Clone, Copy, Debug)]
pub struct NameEntry<'a> {
    pub name: &'a CStr,
    /// True for a directory; `None` if the listing does not have the type.
    pub is_directory: Option<bool>,
}

/// Offset of a transfer; `None` for the file position.
pub type At = Option<u64>;

/// Object of a call: an open file, or a path.
#[derive(Clone, Copy, Debug)]
pub enum Reached<'a> {
    /// An open file.
    File(u32),
    /// A path below the directory.
    Name {
        /// The path.
        name: &'a CStr,
        /// Follow a symbolic link.
        follow: bool,
    },
}
