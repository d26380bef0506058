//! Undoes the resources of a lease, and nothing else.
//!
//! ```text
//!     PARENT/fslab-NAME          work directory or scratch, with its mark
//!                      /mnt      mount point
//!                      /disk.img image; of further disks disk2.img and so on
//! ```
//! Layers on the loop devices of these images, and on devices that the user named, are closed if
//! they carry the prefix of fslab's names.
//!
//! Invariant: everything that is unmounted, detached or removed is in a directory that fslab made
//! for this lease. The path must have the form above, with the lease's name; the directory must
//! belong to this user, be writable by no other, and carry the lease's mark. Others may search it.
//! Leases of format 1 have no mark: for them, the name is checked and that the directory is private
//! to this user. Symbolic links are not followed, and other file systems mounted in such a
//! directory are left alone.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use fslab_fs::LAYER_PREFIX;
use fslab_model::{Failure, FailureKind, RunId};
use fslab_sys::{DeviceNumber, WorkFolder};
use serde::{Deserialize, Serialize};

use super::leased_resources::LeasedResources;

/// Name of the mount point in the work directory.
pub(crate) const MOUNT_POINT_NAME: &str = "mnt";
/// Name of the image of the first disk.
pub(crate) const IMAGE: &str = "disk.img";

/// Name of the image in the work directory of a disk, counted from 0.
pub(crate) fn image_name(disk: usize) -> String {
    of_disk(IMAGE, disk)
}

/// The file of a disk, counted from 0, by that of the first: `disk.img`, `disk2.img`.
pub(crate) fn of_disk(first: &str, disk: usize) -> String {
    match disk {
        0 => first.to_owned(),
        _ => first.replacen("disk", &format!("disk{}", disk + 1), 1),
    }
}

/// Result of undoing a lease.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Undone {
    /// Paths that existed and are gone.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) failure: Option<Failure>,
}

/// The directory of the lease `name` in `parent`.
pub(crate) fn folder_of(name: &str, parent: &Path) -> PathBuf {
    parent.join(format!("fslab-{name}"))
}

/// True for a lease without resources, such as a probe's.
pub(crate) fn is_nothing(resources: &LeasedResources) -> bool {
    let nothing = LeasedResources {
        mark: resources.mark.clone(),
        ..LeasedResources::default()
    };
    *resources == nothing
}

/// Checks that the lease `name` names only resources that fslab makes for such a lease.
pub(crate) fn ensure_own(name: &str, resources: &LeasedResources) -> Result<(), String> {
    let LeasedResources {
        mount_point,
        image,
        further_images,
        devices,
        scratch,
        work_folder,
        mark,
    } = resources;
    let has_none =
        mount_point.is_none() && image.is_none() && further_images.is_empty() && devices.is_empty();
    let (folder, inner) = match (scratch, work_folder) {
        (None, None) if has_none => return Ok(()),
        (Some(scratch), None) if has_none => (scratch, Vec::new()),
        (None, Some(work)) => {
            let mount_point = mount_point
                .iter()
                .map(|it| (it, MOUNT_POINT_NAME.to_owned()));
            let images = resources.images().zip((0..).map(image_name));
            (work, mount_point.chain(images).collect())
        }
        _ => return Err("it names resources that no trial has".into()),
    };
    if !is_lease_name(name) {
        return Err(format!("'{name}' is not the name of a trial"));
    }
    if mark.as_ref().is_some_and(|mark| !is_mark(mark)) {
        return Err("its mark is malformed".into());
    }
    let not_made = |path: &Path| format!("{} was not made for it", path.display());
    let is_plain = |part: Component| !matches!(part, Component::CurDir | Component::ParentDir);
    // `components` drops dots and doubled slashes: the text must not contain them.
    let rebuilt: PathBuf = folder.components().collect();
    let is_direct = folder.is_absolute()
        && folder.components().all(is_plain)
        && rebuilt.as_os_str() == folder.as_os_str();
    let parent = folder.parent().filter(|_| is_direct);
    if parent.is_none_or(|parent| folder_of(name, parent) != *folder) {
        return Err(not_made(folder));
    }
    for (path, inner) in inner {
        if path.as_os_str() != folder.join(inner).as_os_str() {
            return Err(not_made(path));
        }
    }
    Ok(())
}

/// `RUN-cCELLrREPEAT-PID` for a trial, `shell-PID`, or `states-BOOT-PID`.
fn is_lease_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some((what, pid)) = name.rsplit_once('-') else {
        return false;
    };
    if !is_number(pid) {
        return false;
    }
    let is_trial = |text: &str| {
        let numbers = text.strip_prefix('c').and_then(|text| text.split_once('r'));
        numbers.is_some_and(|(cell, repeat)| is_number(cell) && is_number(repeat))
    };
    what == "shell"
        || what.strip_prefix("states-").is_some_and(is_number)
        || what.rsplit_once('-').is_some_and(|(run, trial)| {
            is_trial(trial) && run.parse::<RunId>().is_ok() && !run.contains('/')
        })
}

fn is_mark(mark: &str) -> bool {
    mark.len() >= 32 && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A counter that changes while the device mounted for the lease does I/O.
pub(crate) fn activity_of(resources: &LeasedResources) -> Box<dyn Fn() -> u64> {
    let device = resources.mount_point.as_ref().and_then(|mount_point| {
        let mounts = fslab_sys::mounts().ok()?;
        let mounted = mounts.iter().find(|it| it.mount_point == *mount_point)?;
        DeviceNumber::of(Path::new(&mounted.source)).ok()
    });
    Box::new(move || {
        let counters = device.and_then(|device| device.counters().ok());
        counters.map_or(0, |it| it.reads.wrapping_add(it.writes))
    })
}

/// Undoes the resources in the order of the fields; calls `alive` to report progress. The caller
/// has checked them with [`ensure_own`].
pub(crate) fn undo(resources: &LeasedResources, alive: &dyn Fn()) -> Undone {
    let mut undoing = Undoing {
        resources,
        alive,
        paths: Vec::new(),
    };
    let failure = undoing.run().err();
    Undone {
        paths: undoing.paths,
        failure,
    }
}

struct Undoing<'a> {
    resources: &'a LeasedResources,
    alive: &'a dyn Fn(),
    paths: Vec<PathBuf>,
}

impl Undoing<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let resources = self.resources;
        let named = resources
            .scratch
            .as_ref()
            .or(resources.work_folder.as_ref());
        let Some(path) = named else { return Ok(()) };
        let cannot_open =
            |error: io::Error| Failure::at(FailureKind::Device, "open the directory", path, &error);
        let folder = match WorkFolder::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            folder => Some(folder.map_err(cannot_open)?),
        };
        let Some(folder) = folder else {
            // The user removed the directory: loop devices may still hold its images.
            self.close_layers(path)?;
            return self.detach(path);
        };
        self.ensure_mark(&folder).map_err(|error| {
            let text = format!("refusing to touch {}", path.display());
            Failure::new(FailureKind::Device, text)
                .because(&error)
                .hint("fslab did not create it; check it, then remove it and its lease yourself")
        })?;
        self.unmount(&folder)?;
        self.close_layers(folder.path())?;
        self.detach(folder.path())?;
        self.remove(folder, path)
    }

    fn ensure_mark(&self, folder: &WorkFolder) -> io::Result<()> {
        let is_known = match &self.resources.mark {
            Some(mark) => folder.is_marked(mark)?,
            None => folder.is_private()?,
        };
        if is_known {
            return Ok(());
        }
        Err(io::Error::other("it does not carry the mark of its lease"))
    }

    fn unmount(&mut self, folder: &WorkFolder) -> Result<(), Failure> {
        let cannot =
            |below: &Path| format!("cannot unmount {}", folder.path().join(below).display());
        let failed = |error: io::Error| {
            let text = cannot(Path::new(MOUNT_POINT_NAME));
            Failure::new(FailureKind::Unmount, text).because(&error)
        };
        let own = |below: &PathBuf| {
            self.resources.mount_point.is_some() && below == Path::new(MOUNT_POINT_NAME)
        };
        let (own, foreign): (Vec<_>, Vec<_>) =
            folder.mounts().map_err(failed)?.into_iter().partition(own);
        if let Some(below) = foreign.first() {
            let text = format!("{}: no trial has mounted it", cannot(below));
            return Err(
                Failure::new(FailureKind::Unmount, text).hint("unmount it, then run `fslab clean`")
            );
        }
        for below in own {
            folder.unmount(MOUNT_POINT_NAME).map_err(failed)?;
            self.paths.push(folder.path().join(below));
        }
        Ok(())
    }

    /// The images in `folder`, which may no longer exist, as the kernel names them.
    fn images(&self, folder: &Path) -> Vec<PathBuf> {
        let real = folder.parent().and_then(|it| fs::canonicalize(it).ok());
        let folder = match (real, folder.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => folder.to_owned(),
        };
        let count = self.resources.images().count();
        (0..count)
            .map(|disk| folder.join(image_name(disk)))
            .collect()
    }

    /// Closes what a stack left on the loop devices of the images in `folder`, and on the devices
    /// that the user named.
    fn close_layers(&mut self, folder: &Path) -> Result<(), Failure> {
        let mut devices = self.resources.devices.clone();
        for image in self.images(folder) {
            let attached = fslab_sys::loop_devices_of(&image);
            devices.extend(attached.map_err(|error| {
                Failure::at(
                    FailureKind::Device,
                    "find the loop device of",
                    &image,
                    &error,
                )
            })?);
        }
        for device in devices {
            // A device that is gone has nothing on it.
            let Ok(number) = DeviceNumber::of(&device) else {
                continue;
            };
            let closed = fslab_sys::close_layers_above(number, LAYER_PREFIX);
            let closed = closed.map_err(|error| {
                Failure::at(FailureKind::Device, "close the layers on", &device, &error)
                    .hint("close what is not fslab's, then run `fslab clean`")
            })?;
            self.paths.extend(closed.into_iter().map(PathBuf::from));
        }
        Ok(())
    }

    /// Detaches the loop devices of the images in `folder`.
    fn detach(&mut self, folder: &Path) -> Result<(), Failure> {
        for image in self.images(folder) {
            let detached = fslab_sys::detach_loop_of(&image).map_err(|error| {
                let what = "detach the loop device of";
                Failure::at(FailureKind::Device, what, &image, &error).hint(
                    "the file system that was on it is still in use; try again with `fslab clean`",
                )
            })?;
            self.paths.extend(detached);
        }
        Ok(())
    }

    fn remove(&mut self, folder: WorkFolder, path: &Path) -> Result<(), Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::at(FailureKind::Device, "remove", path, &error)
        };
        if let Some(mount_point) = &self.resources.mount_point {
            // After a lazy unmount by the user, the trial writes into the directory below.
            let removed = folder.remove_tree(MOUNT_POINT_NAME, self.alive);
            self.note(mount_point, removed.map_err(|it| failed(mount_point, it))?);
        }
        for (disk, image) in self.resources.images().enumerate() {
            let removed = folder.remove_file(&image_name(disk));
            self.note(image, removed.map_err(|it| failed(image, it))?);
        }
        let removed = if self.resources.scratch.is_some() {
            folder.remove_all(self.alive)
        } else {
            folder.remove_empty()
        };
        removed.map_err(|error| failed(path, error))?;
        self.note(path, true);
        Ok(())
    }

    fn note(&mut self, path: &Path, was_there: bool) {
        if was_there && self.paths.last().is_none_or(|last| last != path) {
            self.paths.push(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "20261121-143205-k3f9-c0r1-77";

    fn work(name: &str) -> LeasedResources {
        let folder = Path::new("/var/tmp").join(format!("fslab-{name}"));
        LeasedResources {
            mount_point: Some(folder.join("mnt")),
            image: Some(folder.join("disk.img")),
            work_folder: Some(folder),
            ..LeasedResources::default()
        }
    }

    #[test]
    fn a_lease_may_name_resources_of_a_trial() {
        assert_eq!(ensure_own(NAME, &work(NAME)), Ok(()));
        assert_eq!(ensure_own("shell-9", &work("shell-9")), Ok(()));
        let on_disks = LeasedResources {
            further_images: vec![Path::new("/var/tmp").join(format!("fslab-{NAME}/disk2.img"))],
            devices: vec!["/dev/sda".into()],
            ..work(NAME)
        };
        assert_eq!(ensure_own(NAME, &on_disks), Ok(()));
        assert_eq!(ensure_own("probe", &LeasedResources::default()), Ok(()));
    }

    /// A lease had been able to name any directory, which root removed.
    #[test]
    fn a_lease_may_not_name_other_resources() {
        let scratch = |path: &str| LeasedResources {
            scratch: Some(path.into()),
            ..LeasedResources::default()
        };
        let inner = |mount_point: &str, image: &str| LeasedResources {
            mount_point: Some(mount_point.into()),
            image: Some(image.into()),
            ..work(NAME)
        };
        let own = format!("/var/tmp/fslab-{NAME}");
        let forged = [
            scratch("/any/folder"),
            scratch("/"),
            scratch(&format!("fslab-{NAME}")),
            scratch(&format!("/tmp/../fslab-{NAME}")),
            scratch(&format!("/tmp/./fslab-{NAME}")),
            scratch(&format!("/tmp/fslab-{NAME}/")),
            scratch(&format!("/tmp/fslab-{NAME}/..")),
            scratch("/tmp/fslab-20261121-143205-k3f9-c0r1-78"),
            inner("/home", &format!("{own}/disk.img")),
            inner(&format!("{own}/mnt/../../x"), &format!("{own}/disk.img")),
            inner(&format!("{own}/mnt"), "/home/somebody/disk.img"),
            LeasedResources {
                mount_point: Some("/home".into()),
                ..LeasedResources::default()
            },
            LeasedResources {
                scratch: Some(own.clone().into()),
                ..work(NAME)
            },
            LeasedResources {
                mark: Some(String::new()),
                ..work(NAME)
            },
            LeasedResources {
                further_images: vec!["/home/somebody/disk2.img".into()],
                ..work(NAME)
            },
            LeasedResources {
                devices: vec!["/dev/sda".into()],
                ..LeasedResources::default()
            },
            LeasedResources {
                devices: vec!["/dev/sda".into()],
                ..scratch(&own)
            },
        ];
        for resources in forged {
            assert!(ensure_own(NAME, &resources).is_err(), "{resources:?}");
        }
        for name in [
            "x",
            "fslab",
            "a/b-c0r0-1",
            "run-c0-1",
            "run-c0r0-",
            "..-c0r0-1x",
        ] {
            assert!(ensure_own(name, &work(name)).is_err(), "{name}");
        }
    }
}
