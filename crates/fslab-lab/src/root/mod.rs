//! Trees of files for a guest, and their images: which files, and how they lie in an image.

mod elf;
mod erofs;
mod loader_cache;
mod tree;

pub use elf::{Elf, find_library};
pub use erofs::{Image, ImageFile};
pub use loader_cache::loader_cache;
pub use tree::{FileSource, Node, Tree};
