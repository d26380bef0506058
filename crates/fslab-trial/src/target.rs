//! The target of a trial, and how its caches are dropped.

use std::path::{Path, PathBuf};

use fslab_model::{
    ColdMethod, DeviceIdentity, DeviceSpec, Facts, Failure, FailureKind, MemberDisk, PhaseSpec,
    Settled, StepRecord, TrialSpec,
};
use fslab_sys::{Ability, KernelLog};
use fslab_workload::Workload;

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
    /// No files: workloads run on the null engine.
    Fake,
}

/// A directory that the trial has not made.
pub(crate) struct UsedDirectory {
    path: PathBuf,
    write_back: WriteBack,
    /// What dropping the caches leaves, on a network file system.
    cold_limit: Option<&'static str>,
    /// True if dropping caches leaves its files where they are: in memory.
    is_in_memory: bool,
}

impl UsedDirectory {
    /// Starts watching the write-back of its file system.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let mut write_back = WriteBack::default();
        write_back.open(path)?;
        Ok(Self {
            path: path.to_owned(),
            write_back,
            cold_limit: fslab_fs::recognise(path)
                .ok()
                .and_then(|mount| fslab_fs::network_mount(&mount))
                .map(|mount| mount.cold_limit()),
            is_in_memory: fslab_sys::is_in_memory(path).unwrap_or(false),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Why no phase on tmpfs and the like is cold.
const IN_MEMORY: &str = "its files are in memory and nowhere else";

/// Result of dropping the caches.
pub(crate) enum CacheDropResult {
    /// They are cold.
    Cold,
    /// Not possible for this phase, which is skipped.
    Impossible(String),
}

/// Steps for the record.
pub(crate) type Steps = Vec<StepRecord>;

impl Target {
    /// The target of a specification. A directory may be on any file system; a volume's must be in
    /// the catalogue.
    pub(crate) fn of(spec: &TrialSpec) -> Result<Self, Failure> {
        Ok(match &spec.device {
            DeviceSpec::Directory { path } => Self::Directory(UsedDirectory::open(path)?),
            DeviceSpec::Block {
                path,
                others,
                is_used,
                mount_point,
                identity,
                work_folder,
            } => Self::Volume(Box::new(Volume::new(VolumeSpec {
                file_system: fslab_fs::find(spec.subject.fs())?,
                subject: spec.subject.clone(),
                disks: all_disks(path, identity, others),
                is_used: *is_used,
                mount_point: mount_point.clone(),
                size: spec.size_bytes,
                host_forgets: spec.host_forgets.clone(),
                virtual_time: spec.virtual_time,
                admits: work_folder
                    .clone()
                    .filter(|_| starts_programs(&spec.phases)),
            }))),
            DeviceSpec::Fake => Self::Fake,
        })
    }

    /// The directory in which workloads run.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Directory(directory) => &directory.path,
            Self::Volume(volume) => volume.mount_point(),
            Self::Fake => Path::new("/nonexistent"),
        }
    }

    /// True if it contains files that this trial has not made.
    pub(crate) fn holds_something(&self) -> bool {
        match self {
            Self::Directory(used) => used.path.read_dir().is_ok_and(|mut it| it.next().is_some()),
            Self::Volume(_) | Self::Fake => false,
        }
    }

    /// The disks of its stack and the devices of its layers; empty of a directory.
    pub(crate) fn devices(&self) -> Vec<PathBuf> {
        match self {
            Self::Volume(volume) => volume.stack_devices(),
            Self::Directory(_) | Self::Fake => Vec::new(),
        }
    }

    /// The device to measure; `None` if there is none.
    pub(crate) fn meter(&self) -> Option<DeviceMeter> {
        match self {
            Self::Directory(directory) => DeviceMeter::below(&directory.path),
            Self::Volume(volume) if is_in_memory(volume) => None,
            Self::Volume(volume) => DeviceMeter::of_devices(volume.disks()),
            Self::Fake => None,
        }
    }

    /// Drops all caches that the phase could use. `files` are the phase's files by absolute path,
    /// if evicting them is sufficient; where a platform evicts nothing, `is_unbuffered` data may be
    /// cold.
    pub(crate) fn make_cold(
        &mut self,
        method: ColdMethod,
        (files, is_unbuffered): (Option<&[PathBuf]>, bool),
        fence: &Fence,
        steps: &mut Steps,
    ) -> Result<CacheDropResult, Failure> {
        let tree = self.root().to_owned();
        match (self, method) {
            (Self::Fake, _) => {}
            (Self::Volume(volume), _) if is_in_memory(volume) => {
                return Ok(CacheDropResult::Impossible(IN_MEMORY.into()));
            }
            (Self::Directory(used), _) if used.is_in_memory => {
                return Ok(CacheDropResult::Impossible(IN_MEMORY.into()));
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
                if let Err(reason) = Ability::Eviction.demand() {
                    let unbuffered = fslab_sys::cold_without_buffering();
                    return Ok(match (is_unbuffered, unbuffered) {
                        (false, _) => CacheDropResult::Impossible(reason),
                        (true, Err(reason)) => CacheDropResult::Impossible(reason.into()),
                        (true, Ok(())) => CacheDropResult::Cold,
                    });
                }
                let Some(files) = files else {
                    let reason = "names and attributes cannot be evicted from memory without root";
                    return Ok(CacheDropResult::Impossible(reason.into()));
                };
                let evicted = fence.within(&tree, |inside| {
                    let files = files.iter().map(|file| inside.path(file));
                    // Files that the phase makes are not in memory yet.
                    let files: Vec<_> = files.filter(|file| file.exists()).collect();
                    fslab_engine::evict(&files).map_err(|error| inside.seen_outside(error.into()))
                })?;
                match evicted {
                    // tmpfs, for example, stores its files in the page cache alone.
                    Err(failure) if failure.kind == FailureKind::Unsupported => {
                        return Ok(CacheDropResult::Impossible(failure.message));
                    }
                    evicted => evicted?,
                }
            }
        }
        Ok(CacheDropResult::Cold)
    }

    /// What dropping the caches leaves, as a note for the reader; `None` if nothing.
    pub(crate) fn cold_limit(&self) -> Option<String> {
        match self {
            Self::Directory(used) => used.cold_limit.map(str::to_owned),
            Self::Volume(_) | Self::Fake => None,
        }
    }

    /// Unmounts, mounts and drops the caches.
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

    /// Writes back dirty data and returns the time in ns; `None` if there is nothing to write back.
    pub(crate) fn sync(&mut self) -> Result<Option<u64>, Failure> {
        match self {
            Self::Volume(volume) => volume.sync().map(Some),
            Self::Directory(UsedDirectory {
                path, write_back, ..
            }) => {
                let elapsed_ns = write_back.sync(path)?;
                write_back.mark_safe();
                Ok(Some(elapsed_ns))
            }
            Self::Fake => Ok(None),
        }
    }

    /// The state of write-back; `None` if nothing is written.
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

    /// A watch over kernel messages about the device in `log`; `None` if there is no device.
    pub(crate) fn kernel_watch(&self, log: KernelLog) -> Option<KernelWatch> {
        let watched: Vec<String> = match self {
            Self::Directory(directory) => {
                vec![fslab_sys::device_below(&directory.path)?.kernel_name()?]
            }
            Self::Volume(volume) => self.meter()?.names().chain(volume.device_names()).collect(),
            Self::Fake => return None,
        };
        Some(KernelWatch::over(&watched, log))
    }

    /// Fails if another file system is mounted on the directory than at first.
    pub(crate) fn ensure_mounted(&self) -> Result<(), Failure> {
        self.write_back()
            .map_or(Ok(()), |write_back| write_back.ensure_mounted(self.root()))
    }

    /// Times sync and unmount, and mounts again; `None` if the trial has mounted nothing, or
    /// unmounting would lose the files.
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

/// The disks of a specification, the first one first.
fn all_disks(path: &Path, identity: &DeviceIdentity, others: &[MemberDisk]) -> Vec<MemberDisk> {
    let first = MemberDisk {
        path: path.to_owned(),
        identity: identity.clone(),
    };
    std::iter::once(first)
        .chain(others.iter().cloned())
        .collect()
}

/// What keeps the data of the target in memory; `None` if that is a disk, or simulated.
pub(crate) fn memory_medium(spec: &TrialSpec) -> Option<String> {
    if spec.virtual_time {
        return None;
    }
    let here = match &spec.device {
        DeviceSpec::Directory { path } | DeviceSpec::Block { path, .. } => {
            fslab_sys::memory_below(path).ok().flatten()
        }
        DeviceSpec::Fake => None,
    };
    here.or_else(|| spec.host_memory_medium.clone())
}

/// What the kernel says about the mount at `path`.
pub(crate) fn recognised(path: &Path) -> Facts {
    let Ok(found) = fslab_fs::recognise(path) else {
        return Facts::new();
    };
    let facts = [
        ("type", found.fs_type),
        ("source", found.source),
        ("options", found.options.join(",")),
    ];
    facts
        .map(|(name, value)| (format!("recognised.{name}"), value))
        .into()
}

/// True if a phase starts programs. Parameters that are refused later count as none.
fn starts_programs(phases: &[PhaseSpec]) -> bool {
    phases.iter().any(|phase| {
        let workload = Workload::of_phase(phase).ok();
        let brings = workload.and_then(|it| it.brings(&phase.parameters).ok());
        brings.is_some_and(|it| !it.programs.is_empty())
    })
}

/// True if its files are lost at unmount.
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
