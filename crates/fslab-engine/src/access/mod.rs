//! Orders in which the records of a file are accessed.

mod cursor;
mod pattern;
mod permutation;
mod split;
mod zipf;
mod zones;

pub(crate) use cursor::{Cursor, Extent, Region};
pub use pattern::Access;
pub(crate) use permutation::Permutation;
pub(crate) use split::SplitCursor;
