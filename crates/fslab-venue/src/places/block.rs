//! Block devices that the user has named for destruction.

use std::path::{Path, PathBuf};

use fslab_model::{Bytes, DeviceIdentity, DeviceSpec, Facts, Failure, FailureKind, MemberDisk};
use fslab_sys::DeviceNumber;

use super::place::{
    Place, Prepared, Preparing, Start, create_folder, ensure_folder, ensure_superuser,
    make_marked_folder,
};
use crate::leased_resources::LeasedResources;
use crate::time_limit::within_limit;
use crate::undo::{MOUNT_POINT_NAME, folder_of};

pub(crate) struct Block {
    /// The devices, the first one first.
    disks: Vec<NamedDisk>,
    folder: PathBuf,
}

/// A device with its identity when the run began.
struct NamedDisk {
    /// The path given by the user.
    device: PathBuf,
    identity: DeviceIdentity,
}

impl Block {
    /// The devices `devices` of at least `size` each, mounted below `folder`.
    pub(crate) fn open(devices: &[PathBuf], folder: PathBuf, size: Bytes) -> Result<Self, Failure> {
        ensure_superuser("block")?;
        let disks = devices.iter().map(|device| NamedDisk::open(device, size));
        let disks = disks.collect::<Result<_, Failure>>()?;
        ensure_folder(&folder, 0)?;
        Ok(Self { disks, folder })
    }

    /// The first `count` devices.
    fn first(&self, count: usize) -> Result<&[NamedDisk], Failure> {
        self.disks
            .get(..count)
            .filter(|it| !it.is_empty())
            .ok_or_else(|| {
                let named = self.disks.len();
                let text = format!("the subject has {count} disks, but --destroy names {named}");
                Failure::new(FailureKind::BadInput, text)
                    .hint("name them all, separated by commas: --destroy /dev/sdX,/dev/sdY")
            })
    }
}

impl NamedDisk {
    fn open(device: &Path, size: Bytes) -> Result<Self, Failure> {
        let (identity, found) = within_limit(&format!("examine {}", device.display()), |_| {
            ensure_free(device)?;
            let found = number(device)?.size_bytes().map_err(|error| {
                Failure::at(FailureKind::Device, "ask the size of", device, &error)
            })?;
            Ok((identify(device)?, found))
        })?;
        if found < size.0 {
            let text = format!(
                "{} has {}, but {size} are needed",
                device.display(),
                Bytes(found)
            );
            return Err(Failure::new(FailureKind::BadInput, text).hint("use a smaller --size"));
        }
        Ok(Self {
            device: device.to_owned(),
            identity,
        })
    }

    /// Checks that the path still leads to the device of the run's start.
    fn ensure_same(&self) -> Result<(), Failure> {
        let Some(difference) = self.identity.difference(&identify(&self.device)?) else {
            return Ok(());
        };
        let text = format!(
            "{} is a different device than when the run began",
            self.device.display()
        );
        let mut failure = Failure::new(FailureKind::Device, text)
            .hint("nothing was written to it; start a new run if it is the device to format");
        failure.causes.push(difference);
        Err(failure)
    }

    /// The device without links: one such as those in /dev/disk/by-id may change while the trial
    /// runs.
    fn member(&self) -> Result<MemberDisk, Failure> {
        let path = std::fs::canonicalize(&self.device);
        let path =
            path.map_err(|error| Failure::at(FailureKind::Device, "follow", &self.device, &error))?;
        Ok(MemberDisk {
            path,
            identity: self.identity.clone(),
        })
    }
}

/// Identity of the device at `path`.
pub(super) fn identify(path: &Path) -> Result<DeviceIdentity, Failure> {
    let found = fslab_sys::open_block_device(path).and_then(|it| fslab_sys::device_identity(&it));
    found.map(DeviceIdentity::new).map_err(|error| {
        let text = format!("cannot identify the device {}", path.display());
        Failure::new(FailureKind::Device, text).because(&error)
    })
}

fn number(device: &Path) -> Result<DeviceNumber, Failure> {
    DeviceNumber::of(device).map_err(|error| {
        Failure::at(FailureKind::BadInput, "use", device, &error)
            .hint("name a block device with --destroy, for example /dev/sdX")
    })
}

/// Refuses a device that is in use.
fn ensure_free(device: &Path) -> Result<(), Failure> {
    let user = number(device)?
        .in_use(device)
        .map_err(|error| Failure::at(FailureKind::Device, "find out who uses", device, &error))?;
    let Some(user) = user else { return Ok(()) };
    let text = format!("refusing to format {}", device.display());
    Err(Failure::new(FailureKind::BadInput, text)
        .because(&user)
        .hint("only unused devices are formatted; release the device first if it is the right one"))
}

impl Place for Block {
    fn resources(&self, name: &str, disks: usize) -> LeasedResources {
        let work = folder_of(name, &self.folder);
        let devices = self
            .disks
            .iter()
            .take(disks)
            .map(|disk| disk.device.clone());
        LeasedResources {
            mount_point: Some(work.join(MOUNT_POINT_NAME)),
            devices: devices.collect(),
            work_folder: Some(work),
            ..LeasedResources::default()
        }
    }

    fn prepare(&self, preparing: &Preparing) -> Result<Prepared, Failure> {
        let resources = preparing.resources;
        let (Some(mount_point), Some(work)) = (&resources.mount_point, &resources.work_folder)
        else {
            let text = "the lease of a device lacks a path";
            return Err(Failure::new(FailureKind::BadInput, text));
        };
        let disks = self.first(preparing.disks)?;
        let first = &disks[0];
        let what = format!("prepare {}", first.device.display());
        let (members, facts) = preparing.bounded(&what, |_| {
            // The devices may have changed since the run began.
            for disk in disks {
                disk.ensure_same()?;
                ensure_free(&disk.device)?;
            }
            make_marked_folder(work, resources)?;
            create_folder(mount_point)?;
            let mut facts: Facts = first.identity.facts();
            if let Ok(Some(signature)) = fslab_fs::signature(&first.device) {
                facts.insert("device.signature_before".into(), signature.title.to_owned());
            }
            let members = disks.iter().map(NamedDisk::member);
            Ok((members.collect::<Result<Vec<_>, Failure>>()?, facts))
        })?;
        let mut members = members.into_iter();
        let path = members.next().map_or_else(PathBuf::new, |first| first.path);
        Ok(Prepared {
            device: DeviceSpec::Block {
                path,
                others: members.collect(),
                is_used: true,
                mount_point: mount_point.clone(),
                identity: first.identity.clone(),
                work_folder: Some(work.clone()),
            },
            facts,
            holders: Vec::new(),
            start: Start::Here,
        })
    }

    fn check(&self) -> Result<(), Failure> {
        let mut disks = self.disks.iter();
        disks.try_for_each(|disk| {
            let what = format!("examine {}", disk.device.display());
            within_limit(&what, |_| disk.ensure_same())
        })
    }

    /// That of the first device.
    fn identity(&self) -> DeviceIdentity {
        let first = self.disks.first();
        first.map_or_else(DeviceIdentity::default, |disk| disk.identity.clone())
    }
}
