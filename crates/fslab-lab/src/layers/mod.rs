//! Layers: programs and files of this machine that a study needs in a guest, as images mounted over
//! the lab's root image.
//!
//! ```text
//!     Brings --> search --> contents --> Draft --> Layer, in the cache under its digest
//!                  |
//!                packages: the owner of a file, and the packages it depends on
//! ```
//!
//! Invariant: an image is determined by the contents, paths and execute bits of its files. Times,
//! owners, inode numbers and the order of directory entries do not matter.

mod cache;
mod contents;
mod draft;
mod error;
mod places;
mod search;

pub use cache::{Layer, LayerFacts};
pub use contents::BaseRoot;
pub use draft::{Draft, LayerRequest, drafts};
pub use error::LayerError;

#[cfg(test)]
mod samples {
    use std::env::{current_dir, home_dir};
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::places::{ensure_visible, is_left_out};

    /// A new folder that a guest can see, wherever the checkout is.
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
            .expect("no folder that a guest can see is writable: run the tests below /srv")
    }
}
