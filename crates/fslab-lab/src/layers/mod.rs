//! Layers: programs and files of this machine that a study needs in a guest, as images mounted over
//! the lab's root image.
//!
//! ```text
//!     Brings --> search --> contents --> Draft --> Layer, in the cache under its digest
//!                  |
//!                packages: the owner of a file, and the packages it depends on
//! ```
//!
//! Invariant: an image is determined by the contents, paths and execute bits of its files. Times,
//! owners, inode numbers and the order of directory entries do not matter.

mod cache;
mod contents;
mod draft;
mod places;
#[cfg(test)]
mod samples;
mod search;

pub use cache::{Layer, LayerFacts};
pub use contents::BaseRoot;
pub use draft::{Draft, LayerRequest, drafts};
