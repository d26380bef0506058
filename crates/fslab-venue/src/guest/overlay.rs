//! Mounts a study's layers over a guest's root.
//!
//! ```text
//!     /dev/lab1   the first layer, topmost  \
//!     /dev/lab2   the second                 >  one read-only root
//!     /           the lab's root image      /
//! ```
//!
//! Invariant: called by init before all other mounts. All layers are read-only and there is no
//! upper layer: nothing in the guest can change a program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fslab_sys::MountFlags;

/// Directory for the mounts while the new root is assembled; it exists in every root and is empty.
const STAGE: &str = "/tmp";
/// Mount point of devtmpfs.
const DEVICES: &str = "/dev";
/// Mount flags of layers.
const READ_ONLY: MountFlags = MountFlags::RDONLY
    .union(MountFlags::NOSUID)
    .union(MountFlags::NODEV);

/// Mounts the layers `/dev/lab1`, `/dev/lab2` and so on over the root, the first topmost, and makes
/// the result the root of this process. Without layers it does nothing.
pub(super) fn mount_layers() -> io::Result<()> {
    // The kernel has mounted devtmpfs before it started this process.
    let devices: Vec<_> = (1..)
        .map(|number| Path::new(DEVICES).join(format!("lab{number}")))
        .take_while(|device| device.exists())
        .collect();
    if devices.is_empty() {
        return Ok(());
    }
    put_over_root(&devices)
}

fn put_over_root(devices: &[PathBuf]) -> io::Result<()> {
    mount("tmpfs", STAGE, "tmpfs", MountFlags::empty(), "mode=0755")?;
    let mut lower = String::new();
    for (number, device) in devices.iter().enumerate() {
        let place = format!("{STAGE}/layer{number}");
        fs::create_dir(&place)?;
        mount(device, &place, "erofs", READ_ONLY, "")?;
        lower.push_str(&place);
        lower.push(':');
    }
    let root = format!("{STAGE}/root");
    fs::create_dir(&root)?;
    let layers = format!("lowerdir={lower}/");
    let flags = MountFlags::RDONLY;
    mount("overlay", &root, "overlay", flags, &layers)?;
    // Mounts below the old root are not visible in the new one.
    let target = format!("{root}{DEVICES}");
    let moved = fslab_sys::move_mount(Path::new(DEVICES), Path::new(&target));
    moved.map_err(|error| about(&error, "move", DEVICES))?;
    let switched = fslab_sys::switch_root(Path::new(&root));
    switched.map_err(|error| about(&error, "make the root of", &root))
}

fn mount(
    source: impl AsRef<Path>,
    target: &str,
    fs_type: &str,
    flags: MountFlags,
    data: &str,
) -> io::Result<()> {
    let source = source.as_ref();
    let mounted = fslab_sys::mount(source, Path::new(target), fs_type, flags, data);
    mounted.map_err(|error| about(&error, "mount", &source.display().to_string()))
}

/// Adds the operation to an error: the console shows only this text.
fn about(error: &io::Error, operation: &str, name: &str) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {operation} {name}: {error}"))
}
