//! Layers over the root of a guest: programs and files that a study brings.
//!
//! ```text
//!     /dev/lab1   the first layer, topmost  \
//!     /dev/lab2   the second                 >  one read-only root
//!     /           the lab's root image      /
//! ```
//!
//! Invariant: called by the first process, before it mounts anything but what is said here. No
//! layer is mounted for writing, and there is no upper one: nothing in the guest changes a program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fslab_sys::MountFlags;

/// Where layers are mounted while the root is put together: a folder of every root, on which there
/// is nothing yet.
const STAGE: &str = "/tmp";
/// Where the kernel shows devices.
const DEVICES: &str = "/dev";
/// How layers are mounted.
const READ_ONLY: MountFlags = MountFlags::RDONLY
    .union(MountFlags::NOSUID)
    .union(MountFlags::NODEV);

/// Puts the layers `/dev/lab1`, `/dev/lab2` and so on over the root of this process, the first
/// topmost, and makes the whole its root. With none, nothing is done.
///
/// # Errors
/// Those of mount(2) and chroot(2), with the device or the folder.
pub(super) fn mount_layers() -> io::Result<()> {
    // They are there: the kernel mounts devtmpfs before it starts this process.
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
    // What is mounted on the old root is not seen through the new one.
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

/// The error with what it is about: the console is all that a guest has to say why it cannot go on.
fn about(error: &io::Error, operation: &str, name: &str) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {operation} {name}: {error}"))
}
