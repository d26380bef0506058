//! ReiserFS in its first public format, 3.5.
//!
//! mkfs.reiserfs still makes it (`--format 3.5`), but Linux from 5.14 on refuses the result, see
//! `root.rs`.
//!
//! ```text
//!     boot area | superblock | bitmap | journal | journal header | root leaf | ... | bitmap | ...
//! ```

mod root;
#[cfg(test)]
mod tests;
mod version35;

pub(crate) use version35::Reiserfs35;
