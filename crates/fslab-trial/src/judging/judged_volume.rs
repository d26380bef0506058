//! The file system that is judged.

use fslab_crash::StateTask;
use fslab_fs::Mounting;
use fslab_model::{Bytes, DeviceIdentity, Failure, FailureKind, MemberDisk, Subject};

use crate::command;
use crate::volume::{Volume, VolumeSpec};

/// The file system of the states.
pub(crate) fn volume_of(task: &StateTask) -> Result<Volume, Failure> {
    let subject: Subject = task
        .subject
        .parse()
        .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
    let file_system = fslab_fs::find(subject.fs())?;
    Ok(Volume::new(VolumeSpec {
        file_system,
        subject,
        disks: vec![MemberDisk {
            path: task.device.clone(),
            identity: DeviceIdentity::default(),
        }],
        is_used: false,
        mount_point: task.mount_point.clone(),
        size: Bytes(task.bytes),
        host_forgets: None,
        virtual_time: true,
        admits: None,
    }))
}

/// Runs what must run before a mount. What it says shows in what the mount says.
pub(crate) fn recover(volume: &Volume) -> Result<(), Failure> {
    let device = volume.device().display().to_string();
    let Some(line) = volume.file_system().recovery_command(&device) else {
        return Ok(());
    };
    match command::run("recovery", &line) {
        Err(failure) if failure.kind != FailureKind::Crash => Err(failure),
        _ => Ok(()),
    }
}

/// True if states of the file system can be judged: it is on one device, and nothing else must run.
pub fn ensure_judgeable(subject: &Subject) -> Result<(), Failure> {
    let file_system = fslab_fs::find(subject.fs())?;
    let place = fslab_fs::MountPlace {
        device: "DEVICE",
        others: &[],
        mount_point: "MOUNTPOINT",
        size: None,
    };
    let refused = |why: &str| {
        let text = format!("crash states of {} cannot be judged: {why}", subject.fs());
        Err(Failure::new(FailureKind::Unsupported, text))
    };
    if !subject.layers().is_empty() || subject.spread().is_some() {
        return refused("it lies on layers or on several disks");
    }
    match file_system.mounting(&place, subject)? {
        Some(Mounting::Pool(_)) => refused("it is mounted from a pool"),
        Some(Mounting::Network(_)) => refused("it is served over a network"),
        None => refused("it is on no device"),
        Some(_) if !file_system.capabilities.persistent => refused("it is in memory"),
        Some(_) => Ok(()),
    }
}
