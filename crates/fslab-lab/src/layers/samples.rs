//! Directories for the tests of layers.

use std::env::{current_dir, home_dir};
use std::path::PathBuf;

use tempfile::TempDir;

use super::places::{ensure_visible, is_left_out};

/// A new directory that a guest can see, wherever the checkout is.
///
/// # Panics
/// If the user can write to none of the places.
pub(super) fn visible_folder() -> TempDir {
    let places = [current_dir().ok(), home_dir(), Some(PathBuf::from("/srv"))];
    places
        .into_iter()
        .flatten()
        .filter(|place| ensure_visible(place).is_ok() && !is_left_out(place))
        .find_map(|place| tempfile::tempdir_in(place).ok())
        .expect("no directory that a guest can see is writable: run the tests below /srv")
}
