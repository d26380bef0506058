//! What a lease names, to be undone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Resources of a trial. Each existing path is undone, in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeasedResources {
    /// `mnt` in the work directory: unmounted, then removed.
    pub(crate) mount_point: Option<PathBuf>,
    /// `disk.img` in the work directory: the layers on its loop device are closed, the device is
    /// detached, then it is removed.
    pub(crate) image: Option<PathBuf>,
    /// `disk2.img` and so on, for a subject on several disks: as `image`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) further_images: Vec<PathBuf>,
    /// Devices that the user named: the layers on them are closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) devices: Vec<PathBuf>,
    /// A marked directory that is removed with its contents.
    pub(crate) scratch: Option<PathBuf>,
    /// A marked directory that is removed when it is empty.
    pub(crate) work_folder: Option<PathBuf>,
    /// Identifies the marked directory. Absent in format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mark: Option<String>,
}

impl LeasedResources {
    /// The images, the first one first.
    pub(crate) fn images(&self) -> impl Iterator<Item = &PathBuf> {
        self.image.iter().chain(&self.further_images)
    }
}
