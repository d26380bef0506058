//! In what order the records of a file are visited.

mod cursor;
mod pattern;
mod permutation;
mod zipf;

pub(crate) use cursor::{Cursor, Extent, Region};
pub use pattern::Access;
pub(crate) use permutation::Permutation;
