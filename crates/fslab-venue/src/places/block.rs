//! A block device that the user has named for destruction.

use std::path::{Path, PathBuf};

use fslab_model::{Bytes, DeviceIdentity, DeviceSpec, Facts, Failure, FailureKind};
use fslab_sys::DeviceNumber;

use super::place::{
    Place, Prepared, Preparing, Start, create_folder, ensure_folder, ensure_superuser,
    make_marked_folder,
};
use crate::leased_resources::LeasedResources;
use crate::time_limit::within_limit;
use crate::undo::{MOUNT_POINT_NAME, folder_of};

pub(crate) struct Block {
    /// The path given by the user.
    device: PathBuf,
    /// The identity of the device when the run began.
    identity: DeviceIdentity,
    folder: PathBuf,
}

impl Block {
    /// The device `device` of at least `size`, mounted below `folder`.
    pub(crate) fn open(device: PathBuf, folder: PathBuf, size: Bytes) -> Result<Self, Failure> {
        ensure_superuser("block")?;
        let (identity, found) = within_limit(&format!("examine {}", device.display()), |_| {
            ensure_free(&device)?;
            let found = number(&device)?.size_bytes().map_err(|error| {
                Failure::at(FailureKind::Device, "ask the size of", &device, &error)
            })?;
            Ok((identify(&device)?, found))
        })?;
        ensure_folder(&folder, 0)?;
        if found < size.0 {
            let text = format!(
                "{} has {}, but {size} are needed",
                device.display(),
                Bytes(found)
            );
            return Err(Failure::new(FailureKind::BadInput, text).hint("use a smaller --size"));
        }
        Ok(Self {
            device,
            identity,
            folder,
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
    fn resources(&self, name: &str) -> LeasedResources {
        let work = folder_of(name, &self.folder);
        LeasedResources {
            mount_point: Some(work.join(MOUNT_POINT_NAME)),
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
        let what = format!("prepare {}", self.device.display());
        let (path, facts) = preparing.bounded(&what, |_| {
            // The device may have changed since the run began.
            self.ensure_same()?;
            ensure_free(&self.device)?;
            make_marked_folder(work, resources)?;
            create_folder(mount_point)?;
            let mut facts: Facts = self.identity.facts();
            if let Ok(Some(signature)) = fslab_fs::signature(&self.device) {
                facts.insert("device.signature_before".into(), signature.title.to_owned());
            }
            // A link such as those in /dev/disk/by-id may change while the trial runs.
            let path = std::fs::canonicalize(&self.device).map_err(|error| {
                Failure::at(FailureKind::Device, "follow", &self.device, &error)
            })?;
            Ok((path, facts))
        })?;
        Ok(Prepared {
            device: DeviceSpec::Block {
                path,
                mount_point: mount_point.clone(),
                identity: self.identity.clone(),
                work_folder: Some(work.clone()),
            },
            facts,
            holder: None,
            start: Start::Here,
        })
    }

    fn check(&self) -> Result<(), Failure> {
        let what = format!("examine {}", self.device.display());
        within_limit(&what, |_| self.ensure_same())
    }

    fn identity(&self) -> DeviceIdentity {
        self.identity.clone()
    }
}
