//! Layers: programs and files of this machine that a study brings into a guest, as images that are
//! mounted over the lab's root.
//!
//! ```text
//!     Brings --> search --> contents --> Draft --> Layer, in the cache under its digest
//!                  |
//!                packages: whose file it is, and what else that needs
//! ```
//!
//! Invariant: an image follows from the contents, names and rights of execution of the files in it.
//! Times, owners, inode numbers and the order of folders have no part in it.

mod contents;
mod draft;
mod error;
mod packages;
mod places;
mod search;
mod shelf;

pub use contents::BaseRoot;
pub use draft::{Draft, LayerRequest, drafts};
pub use error::LayerError;
pub use shelf::{Layer, LayerFacts};
