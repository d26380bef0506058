//! Places: where a trial's file system is made.

mod all;
mod block;
mod directory;
mod fake;
mod guest;
mod image;
mod place;

pub(crate) use all::Places;
pub(crate) use block::Block;
pub(crate) use directory::Directory;
pub(crate) use fake::Fake;
pub(crate) use guest::GuestDisk;
pub(crate) use image::Image;
pub(crate) use place::{Place, Prepared, Preparing, Start, make_marked_folder};
