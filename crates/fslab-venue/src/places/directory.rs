//! A fresh directory below one of the user's, on whatever file system it is.

use std::path::{Path, PathBuf};

use fslab_model::{DeviceIdentity, DeviceSpec, Facts, Failure, FailureKind};

use super::place::{
    Place, Prepared, Preparing, Start, create_folder, ensure_answer, ensure_folder,
    make_marked_folder,
};
use crate::leased_resources::LeasedResources;
use crate::time_limit::within_limit;
use crate::undo::folder_of;

/// The trial's directory, separate from the mark of the scratch directory.
const FILES: &str = "files";

pub(crate) struct Directory {
    parent: PathBuf,
    /// The network mount there when the run began; empty for a local file system.
    mount: DeviceIdentity,
}

impl Directory {
    /// A place below `parent` with room for `bytes`.
    pub(crate) fn open(parent: PathBuf, bytes: u64) -> Result<Self, Failure> {
        ensure_folder(&parent, bytes)?;
        let what = format!("examine {}", parent.display());
        let mount = within_limit(&what, |_| mount_at(&parent))?;
        Ok(Self { parent, mount })
    }

    /// Checks that the network mount is that of the run's start, with the same options.
    fn ensure_same_mount(&self) -> Result<(), Failure> {
        let Some(difference) = self.mount.difference(&mount_at(&self.parent)?) else {
            return Ok(());
        };
        let text = format!(
            "{} is mounted differently than when the run began",
            self.parent.display()
        );
        let mut failure = Failure::new(FailureKind::Device, text)
            .hint("start a new run: the figures would not belong to one mount");
        failure.causes.push(difference);
        Err(failure)
    }
}

/// The network mount at `path`; empty for a local file system.
fn mount_at(path: &Path) -> Result<DeviceIdentity, Failure> {
    let mount = fslab_fs::network_mount(&fslab_fs::recognise(path)?);
    Ok(mount.map_or_else(DeviceIdentity::default, |mount| mount.identity()))
}

impl Place for Directory {
    fn resources(&self, name: &str, _disks: usize) -> LeasedResources {
        LeasedResources {
            scratch: Some(folder_of(name, &self.parent)),
            ..LeasedResources::default()
        }
    }

    fn check(&self) -> Result<(), Failure> {
        ensure_answer(&self.parent)
    }

    fn prepare(&self, preparing: &Preparing) -> Result<Prepared, Failure> {
        let resources = preparing.resources;
        let scratch = resources.scratch.as_ref().ok_or_else(|| {
            Failure::new(FailureKind::BadInput, "the lease of a directory names none")
        })?;
        let path = scratch.join(FILES);
        preparing.bounded("make a directory for the trial", |_| {
            self.ensure_same_mount()?;
            make_marked_folder(scratch, resources)?;
            create_folder(&path)
        })?;
        Ok(Prepared {
            device: DeviceSpec::Directory { path },
            facts: Facts::new(),
            holders: Vec::new(),
            start: Start::Here,
        })
    }
}
