//! What no compiler checks, one file for each concern. A check takes the tree and returns findings;
//! its tests prove on a small tree that it can fail.

mod banned;
mod checks;
mod dead_files;
mod finding;
mod headers;
mod layers;
mod links;
mod ownership;
mod public_names;
mod rust_text;
mod sizes;
mod tree;
mod writes;

pub(crate) use checks::run;
pub(crate) use rust_text::RustText;
pub(crate) use tree::{File, Tree};
