//! Recognises the file system at a directory.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_sys::Mount;
use serde::{Deserialize, Serialize};

use fslab_model::{Failure, FailureKind};

use crate::host::unreadable;

/// The mount at a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognised {
    /// The driver's name for it, such as `ext4`, `fuseblk` or `overlay`.
    pub fs_type: String,
    /// A device, or the driver's other name of its source.
    pub source: String,
    /// The mount point of the directory.
    pub mount_point: PathBuf,
    /// The part of the file system that is mounted: a directory or a subvolume.
    pub root: PathBuf,
    /// `major:minor` of the device of its files.
    pub device_number: String,
    /// Options of the mount and of the file system.
    pub options: Vec<String>,
}

/// The mount at the existing `path`; symbolic links are resolved first.
pub fn recognise(path: &Path) -> Result<Recognised, Failure> {
    let real = fs::canonicalize(path).map_err(unreadable(path))?;
    let mounts = fslab_sys::mounts().map_err(unreadable(Path::new("/proc/self/mountinfo")))?;
    recognise_in(&mounts, &real).ok_or_else(|| {
        let text = format!("cannot find what is mounted at {}", path.display());
        Failure::new(FailureKind::Device, text)
    })
}

/// The mount in `mounts` at the absolute `path`; `None` if no mount covers it.
///
/// Walks down from the root as the kernel does, and at each step takes the mount that hides the
/// others; the longest mount point alone may be of a mount hidden by a later one.
pub fn recognise_in(mounts: &[Mount], path: &Path) -> Option<Recognised> {
    let is_listed = |id| mounts.iter().any(|mount| mount.id == id);
    let mut current = mounts.iter().find(|mount| {
        path.starts_with(&mount.mount_point)
            && (mount.parent == mount.id || !is_listed(mount.parent))
    })?;
    // Each step goes one level down a tree; the number of mounts bounds a table that is no tree.
    for _ in 0..mounts.len() {
        let Some(next) = first_below(mounts, current, path) else {
            break;
        };
        current = next;
    }
    Some(Recognised {
        fs_type: current.fs_type.clone(),
        source: current.source.clone(),
        mount_point: current.mount_point.clone(),
        root: current.root.clone(),
        device_number: current.device_number.clone(),
        options: current.options.clone(),
    })
}

/// The first mount on `above` along `path`; of several at one place, the last mounted.
fn first_below<'a>(mounts: &'a [Mount], above: &Mount, path: &Path) -> Option<&'a Mount> {
    let depth = |mount: &&Mount| mount.mount_point.components().count();
    mounts
        .iter()
        .rev()
        .filter(|mount| mount.parent == above.id && mount.id != above.id)
        .filter(|mount| path.starts_with(&mount.mount_point))
        .min_by_key(depth)
}

#[cfg(test)]
mod tests {
    use fslab_sys::parse_mount_table;
    use proptest::prelude::*;

    use super::*;

    const TABLE: &[u8] = b"\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
23 22 0:21 / /proc rw,nosuid shared:5 master:2 - proc proc rw
24 22 0:22 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw,size=1024k
25 22 0:39 /@home /home rw,relatime shared:9 - btrfs /dev/sdb2 rw,space_cache=v2,subvol=/@home
26 25 8:1 / /home/my\\040disk rw - xfs /dev/sda1 rw,noquota
27 22 0:45 / /merged rw - overlay overlay rw,lowerdir=/a,upperdir=/b
28 22 8:2 / /media/usb rw - fuseblk /dev/sda2 rw,user_id=0
";

    fn at(place: &str) -> Recognised {
        recognise_in(&parse_mount_table(TABLE), Path::new(place)).expect("covered")
    }

    #[test]
    fn the_nearest_mount_above_a_directory_is_found() {
        assert_eq!(at("/").fs_type, "ext4");
        assert_eq!(at("/homer").source, "/dev/vda1");
        assert_eq!(at("/tmp/a/b").fs_type, "tmpfs");
        assert_eq!(at("/merged/x").fs_type, "overlay");
        assert_eq!(at("/media/usb").fs_type, "fuseblk");
    }

    #[test]
    fn a_subvolume_is_recognised_with_its_options() {
        let home = at("/home/me");
        assert_eq!(home.root, Path::new("/@home"));
        assert_eq!(home.device_number, "0:39");
        assert_eq!(
            home.options,
            ["rw", "relatime", "space_cache=v2", "subvol=/@home"]
        );
    }

    #[test]
    fn octal_escapes_are_undone() {
        let disk = at("/home/my disk/f");
        assert_eq!(disk.mount_point, Path::new("/home/my disk"));
        assert_eq!(disk.source, "/dev/sda1");
    }

    #[test]
    fn a_later_mount_over_the_same_place_or_above_it_hides_the_earlier() {
        let mut table = TABLE.to_vec();
        table.extend_from_slice(b"30 24 0:50 / /tmp rw - ramfs top rw\n");
        table.extend_from_slice(b"31 25 0:51 / /home rw - tmpfs over-home rw\n");
        let mounts = parse_mount_table(&table);
        let source = |place: &str| {
            let found = recognise_in(&mounts, Path::new(place));
            found.map(|found| found.source)
        };
        assert_eq!(source("/tmp/x").as_deref(), Some("top"));
        assert_eq!(source("/home/my disk/f").as_deref(), Some("over-home"));
    }

    #[test]
    fn the_machine_s_own_root_is_recognised() {
        let root = recognise(Path::new("/")).expect("/ is mounted");
        assert_eq!(root.mount_point, Path::new("/"));
        assert!(recognise(Path::new("/no/such/place")).is_err());
    }

    proptest! {
        #[test]
        fn what_is_found_is_always_mounted_above_the_path(
            parents in prop::collection::vec((0_u64..12, "(/[ab]){0,3}"), 0..12),
            place in "(/[ab]){1,4}",
        ) {
            let mut table = "0 99 0:1 / / rw - root r rw\n".to_owned();
            for (at, (parent, point)) in parents.iter().enumerate() {
                let id = at + 1;
                table.push_str(&format!("{id} {parent} 0:{id} / /{point} rw - t s rw\n"));
            }
            let found = recognise_in(&parse_mount_table(table.as_bytes()), Path::new(&place));
            prop_assert!(Path::new(&place).starts_with(found.expect("the root").mount_point));
        }
    }
}
