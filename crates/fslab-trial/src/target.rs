//! What a trial works on, and how it is made cold.

use std::path::{Path, PathBuf};

use fslab_model::{ColdMethod, DeviceSpec, Failure, FailureKind, Settled, StepRecord, TrialSpec};

use crate::counters::DeviceMeter;
use crate::volume::{Volume, VolumeSpec};

pub(crate) enum Target {
    /// A directory of somebody's: it is used, and nothing else.
    Directory(PathBuf),
    /// A device that this trial formats and mounts.
    Volume(Box<Volume>),
    /// Nothing: workloads run on the null engine.
    Fake,
}

/// What became of the wish for cold caches.
pub(crate) enum Coldness {
    /// They are cold.
    Cold,
    /// They cannot be, for this phase: it is skipped.
    Impossible(String),
}

/// Steps that were taken on the way, for the record.
pub(crate) type Steps = Vec<StepRecord>;

impl Target {
    /// A directory may be on anything that is mounted; only what a trial makes itself must be in
    /// the catalogue.
    pub(crate) fn of(spec: &TrialSpec) -> Result<Self, Failure> {
        Ok(match &spec.device {
            DeviceSpec::Directory { path } => Self::Directory(path.clone()),
            DeviceSpec::Block { path, mount_point } => {
                Self::Volume(Box::new(Volume::new(VolumeSpec {
                    file_system: fslab_fs::find(spec.subject.fs())?,
                    subject: spec.subject.clone(),
                    device: path.clone(),
                    mount_point: mount_point.clone(),
                    size: spec.size_bytes,
                    host_folder: spec.host_folder.clone(),
                })))
            }
            DeviceSpec::Fake => Self::Fake,
        })
    }

    /// The directory below which workloads work.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Directory(path) => path,
            Self::Volume(volume) => volume.mount_point(),
            Self::Fake => Path::new("/nonexistent"),
        }
    }

    /// The device to watch; `None` where there is none.
    pub(crate) fn meter(&self) -> Option<DeviceMeter> {
        match self {
            Self::Directory(path) => DeviceMeter::below(path),
            Self::Volume(volume) if is_in_memory(volume) => None,
            Self::Volume(volume) => DeviceMeter::of_device(volume.device()),
            Self::Fake => None,
        }
    }

    /// Removes everything that the phases may find in memory. `files` are the phase's own files, by
    /// their whole paths, where evicting them is enough.
    pub(crate) fn make_cold(
        &mut self,
        method: ColdMethod,
        files: Option<&[PathBuf]>,
        steps: &mut Steps,
    ) -> Result<Coldness, Failure> {
        match (self, method) {
            (Self::Fake, _) => {}
            (Self::Volume(volume), _) if is_in_memory(volume) => {
                let reason = "its files are in memory and nowhere else";
                return Ok(Coldness::Impossible(reason.into()));
            }
            (target, ColdMethod::Remount) => target.remount(steps)?,
            (target, ColdMethod::Drop) => {
                target.sync()?;
                drop_caches()?;
                if let Self::Volume(volume) = target {
                    volume.let_host_forget()?;
                }
            }
            (_, ColdMethod::Evict) => {
                let Some(files) = files else {
                    let reason = "names and attributes cannot be evicted from memory without root";
                    return Ok(Coldness::Impossible(reason.into()));
                };
                // Of what the phase makes itself, nothing is in memory yet.
                let files = files.iter().filter(|file| file.exists());
                let files: Vec<_> = files.cloned().collect();
                match fslab_engine::evict(&files) {
                    // tmpfs, for one, has nowhere else to keep its pages.
                    Err(error) if error.kind() == FailureKind::Unsupported => {
                        return Ok(Coldness::Impossible(error.to_string()));
                    }
                    evicted => evicted?,
                }
            }
        }
        Ok(Coldness::Cold)
    }

    /// Unmounts and mounts again, and empties the caches: nothing of the mount before is in memory.
    pub(crate) fn remount(&mut self, steps: &mut Steps) -> Result<(), Failure> {
        match self {
            Self::Fake => Ok(()),
            Self::Volume(volume) => {
                volume.sync()?;
                steps.push(volume.unmount()?);
                steps.push(volume.mount()?);
                drop_caches()?;
                volume.let_host_forget()
            }
            Self::Directory(_) => {
                let text = "cannot remount a directory: the plan and the venue disagree";
                Err(Failure::new(FailureKind::BadInput, text))
            }
        }
    }

    /// Writes back what is dirty, and says how long that took.
    pub(crate) fn sync(&self) -> Result<u64, Failure> {
        match self {
            Self::Volume(volume) => volume.sync(),
            Self::Directory(path) => {
                fslab_sys::sync_file_system(path)
                    .map(|()| 0)
                    .map_err(|error| {
                        Failure::new(FailureKind::Io, format!("cannot sync {}", path.display()))
                            .because(&error)
                    })
            }
            Self::Fake => Ok(0),
        }
    }

    /// Times sync and unmount, and mounts again; `None` where nothing of ours is mounted, or where
    /// files would be lost by that.
    pub(crate) fn settle(&mut self, steps: &mut Steps) -> Result<Option<Settled>, Failure> {
        let Self::Volume(volume) = self else {
            return Ok(None);
        };
        if is_in_memory(volume) {
            return Ok(None);
        }
        let sync_ns = volume.sync()?;
        let unmounted = volume.unmount()?;
        let unmount_ns = unmounted.elapsed_ns;
        steps.push(unmounted);
        steps.push(volume.mount()?);
        Ok(Some(Settled {
            sync_ns,
            unmount_ns,
        }))
    }
}

/// Whether its files end with the mount.
fn is_in_memory(volume: &Volume) -> bool {
    !volume.file_system().capabilities.persistent
}

fn drop_caches() -> Result<(), Failure> {
    fslab_sys::drop_caches().map_err(|error| {
        Failure::new(FailureKind::Permission, "cannot drop the kernel's caches")
            .because(&error)
            .hint("writing /proc/sys/vm/drop_caches needs root, outside of most containers")
    })
}
