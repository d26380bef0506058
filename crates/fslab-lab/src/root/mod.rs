//! Trees of files for a guest, and their images: which files, and how they lie in an image.

mod erofs;
mod tree;

pub use erofs::{Image, ImageFile};
pub use tree::{FileSource, Node, Tree};
