//! What a trial works on, and how it is made cold.

use std::path::{Path, PathBuf};

use fslab_model::{ColdMethod, DeviceSpec, Failure, FailureKind, Settled, StepRecord, TrialSpec};
use fslab_sys::KernelLog;

use crate::confined::Fence;
use crate::counters::DeviceMeter;
use crate::kernel_watch::KernelWatch;
use crate::volume::{Volume, VolumeSpec};
use crate::write_back::WriteBack;

pub(crate) enum Target {
    /// An existing directory: used, neither formatted nor mounted.
    Directory(UsedDirectory),
    /// A device that this trial formats and mounts.
    Volume(Box<Volume>),
    /// Nothing: workloads run on the null engine.
    Fake,
}

/// A directory that is not the trial's.
pub(crate) struct UsedDirectory {
    path: PathBuf,
    write_back: WriteBack,
}

impl UsedDirectory {
    /// Watches the write-back of its file system from now on.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let mut write_back = WriteBack::default();
        write_back.open(path)?;
        Ok(Self {
            path: path.to_owned(),
            write_back,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// What became of the wish for cold caches.
pub(crate) enum CacheDropResult {
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
            DeviceSpec::Directory { path } => Self::Directory(UsedDirectory::open(path)?),
            DeviceSpec::Block {
                path,
                mount_point,
                identity,
            } => Self::Volume(Box::new(Volume::new(VolumeSpec {
                file_system: fslab_fs::find(spec.subject.fs())?,
                subject: spec.subject.clone(),
                device: path.clone(),
                identity: identity.clone(),
                mount_point: mount_point.clone(),
                size: spec.size_bytes,
                host_forgets: spec.host_forgets.clone(),
                virtual_time: spec.virtual_time,
            }))),
            DeviceSpec::Fake => Self::Fake,
        })
    }

    /// The directory below which workloads work.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Directory(directory) => &directory.path,
            Self::Volume(volume) => volume.mount_point(),
            Self::Fake => Path::new("/nonexistent"),
        }
    }

    /// Whether there is something in it that this trial has not made.
    pub(crate) fn holds_something(&self) -> bool {
        match self {
            Self::Directory(used) => used.path.read_dir().is_ok_and(|mut it| it.next().is_some()),
            Self::Volume(_) | Self::Fake => false,
        }
    }

    /// The device to watch; `None` where there is none.
    pub(crate) fn meter(&self) -> Option<DeviceMeter> {
        match self {
            Self::Directory(directory) => DeviceMeter::below(&directory.path),
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
        fence: &Fence,
        steps: &mut Steps,
    ) -> Result<CacheDropResult, Failure> {
        let tree = self.root().to_owned();
        match (self, method) {
            (Self::Fake, _) => {}
            (Self::Volume(volume), _) if is_in_memory(volume) => {
                let reason = "its files are in memory and nowhere else";
                return Ok(CacheDropResult::Impossible(reason.into()));
            }
            (target, ColdMethod::Remount) => target.remount(steps)?,
            (target, ColdMethod::Drop) => {
                target.sync()?;
                drop_caches()?;
                if let Self::Volume(volume) = target {
                    volume.drop_host_cache()?;
                }
            }
            (_, ColdMethod::Evict) => {
                let Some(files) = files else {
                    let reason = "names and attributes cannot be evicted from memory without root";
                    return Ok(CacheDropResult::Impossible(reason.into()));
                };
                let evicted = fence.within(&tree, |inside| {
                    let files = files.iter().map(|file| inside.path(file));
                    // Of what the phase makes itself, nothing is in memory yet.
                    let files: Vec<_> = files.filter(|file| file.exists()).collect();
                    fslab_engine::evict(&files).map_err(|error| inside.seen_outside(error.into()))
                })?;
                match evicted {
                    // tmpfs, for one, has nowhere else to keep its pages.
                    Err(failure) if failure.kind == FailureKind::Unsupported => {
                        return Ok(CacheDropResult::Impossible(failure.message));
                    }
                    evicted => evicted?,
                }
            }
        }
        Ok(CacheDropResult::Cold)
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
                volume.drop_host_cache()
            }
            Self::Directory(_) => {
                let text = "cannot remount a directory: the plan and the venue disagree";
                Err(Failure::new(FailureKind::BadInput, text))
            }
        }
    }

    /// Writes back what is dirty, and says how long that took; `None` where there is nothing to
    /// write back.
    pub(crate) fn sync(&mut self) -> Result<Option<u64>, Failure> {
        match self {
            Self::Volume(volume) => volume.sync().map(Some),
            Self::Directory(UsedDirectory { path, write_back }) => {
                let elapsed_ns = write_back.sync(path)?;
                write_back.is_safe();
                Ok(Some(elapsed_ns))
            }
            Self::Fake => Ok(None),
        }
    }

    /// Whether its writes reach the device; `None` where nothing is written.
    pub(crate) fn write_back(&self) -> Option<&WriteBack> {
        match self {
            Self::Volume(volume) => Some(volume.write_back()),
            Self::Directory(directory) => Some(&directory.write_back),
            Self::Fake => None,
        }
    }

    /// As [`Self::write_back`].
    pub(crate) fn write_back_mut(&mut self) -> Option<&mut WriteBack> {
        match self {
            Self::Volume(volume) => Some(volume.write_back_mut()),
            Self::Directory(directory) => Some(&mut directory.write_back),
            Self::Fake => None,
        }
    }

    /// A watch over what the kernel says of the device in `log`; `None` where there is none.
    pub(crate) fn kernel_watch(&self, log: KernelLog) -> Option<KernelWatch> {
        let below = match self {
            Self::Directory(directory) => {
                fslab_sys::device_below(&directory.path)?.kernel_name()?
            }
            Self::Volume(_) | Self::Fake => self.meter()?.name()?,
        };
        Some(KernelWatch::over(&below, log))
    }

    /// Fails where the directory shows another file system than it did at first.
    pub(crate) fn ensure_mounted(&self) -> Result<(), Failure> {
        self.write_back()
            .map_or(Ok(()), |write_back| write_back.ensure_mounted(self.root()))
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
