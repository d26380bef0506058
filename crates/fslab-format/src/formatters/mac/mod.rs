//! Common structures of HFS and HFS+: B-trees, bitmaps, dates.

mod bitmap;
mod block_sizes;
mod btree;
mod date;
#[cfg(test)]
mod reader;

pub(super) use bitmap::Bitmap;
pub(super) use block_sizes::BLOCK_SIZES;
pub(super) use btree::{Leaf, Tree, TreeKind, clump_bytes};
pub(super) use date::mac_seconds;
#[cfg(test)]
pub(super) use reader::{CREATED_MAC_S, IDENTIFIER, MacImage};
