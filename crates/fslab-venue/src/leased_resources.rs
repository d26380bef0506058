//! What a lease names, to be undone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Resources of a trial. Each existing path is undone, in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeasedResources {
    /// `mnt` in the work directory: unmounted, then removed.
    pub(crate) mount_point: Option<PathBuf>,
    /// `disk.img` in the work directory: its loop device is detached, then it is removed.
    pub(crate) image: Option<PathBuf>,
    /// A marked directory that is removed with its contents.
    pub(crate) scratch: Option<PathBuf>,
    /// A marked directory that is removed when it is empty.
    pub(crate) work_folder: Option<PathBuf>,
    /// Identifies the marked directory. Absent in format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mark: Option<String>,
}
