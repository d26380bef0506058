//! What the layers of the device mapper share.

use crate::{Tool, VersionSource};

pub(super) const DMSETUP: Tool = Tool {
    program: "dmsetup",
    package: "dmsetup",
    version: VersionSource::Package,
};

/// The device of a mapping.
pub(super) fn mapped(name: &str) -> String {
    format!("/dev/mapper/{name}")
}
