//! Trees of guest files, and their images.

mod assembly;
mod elf;
mod erofs;
mod facts;
mod list;
mod loader_cache;
mod tree;

pub(crate) use assembly::Assembly;
pub use elf::{Elf, find_library};
pub use erofs::{Image, ImageFile};
pub use facts::{MissingProgram, RootFacts, RootProgram};
pub(crate) use list::list_version;
pub use list::{PACKAGES, PROGRAM, PROGRAM_BYTES, WRITABLE, listed_programs};
pub use loader_cache::loader_cache;
pub use tree::{FileSource, Node, Tree};
