//! A block device that the user named for destruction.

use std::path::{Path, PathBuf};

use fslab_model::{Bytes, DeviceSpec, Facts, Failure, FailureKind};
use fslab_sys::DeviceNumber;

use super::place::{Place, Prepared, Start, create_folder, demand_superuser, demand_writable};
use crate::lease::Belongings;

pub(crate) struct Block {
    device: PathBuf,
    folder: PathBuf,
}

impl Block {
    /// The device `device` of at least `size`, mounted below `folder`.
    pub(crate) fn open(device: PathBuf, folder: PathBuf, size: Bytes) -> Result<Self, Failure> {
        demand_superuser("block")?;
        demand_free(&device)?;
        demand_writable(&folder)?;
        let number = number(&device)?;
        let found = number.size_bytes().map_err(|error| {
            let text = format!("cannot ask the size of {}", device.display());
            Failure::new(FailureKind::Device, text).because(&error)
        })?;
        if found < size.0 {
            let text = format!(
                "{} has {}, and {size} are needed",
                device.display(),
                Bytes(found)
            );
            return Err(Failure::new(FailureKind::BadInput, text).hint("take a smaller --size"));
        }
        Ok(Self { device, folder })
    }
}

fn number(device: &Path) -> Result<DeviceNumber, Failure> {
    DeviceNumber::of(device).map_err(|error| {
        Failure::new(
            FailureKind::BadInput,
            format!("cannot use {}", device.display()),
        )
        .because(&error)
        .hint("--destroy takes a block device, such as /dev/sdX")
    })
}

/// Refuses a device that anybody uses.
fn demand_free(device: &Path) -> Result<(), Failure> {
    let user = number(device)?.in_use(device).map_err(|error| {
        let text = format!("cannot find out who uses {}", device.display());
        Failure::new(FailureKind::Device, text).because(&error)
    })?;
    let Some(user) = user else { return Ok(()) };
    let text = format!("refusing to format {}", device.display());
    Err(Failure::new(FailureKind::BadInput, text)
        .because(&user)
        .hint("only a device that nothing uses is formatted; release it first, if it is the one"))
}

impl Place for Block {
    fn belongings(&self, name: &str) -> Belongings {
        let work = self.folder.join(format!("fslab-{name}"));
        Belongings {
            mount_point: Some(work.join("mnt")),
            work_folder: Some(work),
            ..Belongings::default()
        }
    }

    fn prepare(
        &self,
        belongings: &Belongings,
        _go_on: &dyn Fn() -> bool,
    ) -> Result<Prepared, Failure> {
        // Much may have happened since the run began.
        demand_free(&self.device)?;
        let (Some(mount_point), Some(work)) = (&belongings.mount_point, &belongings.work_folder)
        else {
            let text = "the lease of a device lacks a path";
            return Err(Failure::new(FailureKind::BadInput, text));
        };
        create_folder(work)?;
        create_folder(mount_point)?;
        let mut facts = Facts::new();
        if let Ok(Some(signature)) = fslab_fs::signature(&self.device) {
            facts.insert("device.signature_before".into(), signature.title.to_owned());
        }
        Ok(Prepared {
            device: DeviceSpec::Block {
                path: self.device.clone(),
                mount_point: mount_point.clone(),
            },
            facts,
            holder: None,
            start: Start::Here,
        })
    }
}
