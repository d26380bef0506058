//! Disk profiles by name, and their sizes in text.

use fslab_disk::{Profile, registry};
use fslab_model::{Bytes, Rate};

use crate::exit::CommandError;

/// The profile of that name or file.
pub(crate) fn find(name: &str) -> Result<Profile, CommandError> {
    Ok(registry::find(name)?)
}

/// A disk's size in decimal units, as sold.
pub(crate) fn size(bytes: Bytes) -> String {
    let rate = Rate::Bytes(bytes.0 as f64).to_string();
    rate.trim_end_matches("/s").to_owned()
}
