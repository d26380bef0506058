//! The guests that judge a log: one lab and one disk for all of them.

use std::path::PathBuf;

use fslab_crash::DiskLog;
use fslab_model::{Bytes, Failure, FailureKind, SimulatedDisk};
use fslab_venue::{GuestSettings, Leases, STATE_LIMIT, StateJudgeSettings};

/// What all guests that judge a log have.
#[derive(Clone, Debug)]
pub struct JudgeGuests {
    /// The lab, and the number of parallel guests.
    pub guest: GuestSettings,
    /// Memory of each guest.
    pub memory: Bytes,
    /// Parent of the guests' directories.
    pub folder: PathBuf,
    /// The directory of leases.
    pub leases: Leases,
}

impl JudgeGuests {
    /// The settings of each guest.
    ///
    /// # Errors
    /// A [`Failure`] if the log names a disk that is not built in.
    pub fn settings(&self, log: &DiskLog) -> Result<Vec<StateJudgeSettings>, Failure> {
        let first = StateJudgeSettings {
            guest: self.guest.clone(),
            memory: self.memory,
            disk: disk_of(log)?,
            subject: log.head.subject.clone(),
            folder: self.folder.clone(),
            leases: self.leases.clone(),
            limit: STATE_LIMIT,
            slot: 0,
        };
        let each = (0..self.guest.at_a_time.get()).map(|slot| StateJudgeSettings {
            slot,
            ..first.clone()
        });
        Ok(each.collect())
    }
}

/// The recorded disk: its profile, with the cache that the log says.
fn disk_of(log: &DiskLog) -> Result<SimulatedDisk, Failure> {
    let name = &log.head.disk;
    // A log is untrusted: it names no file of this machine.
    if fslab_disk::registry::file_of(name).is_some() {
        let text = format!("the log names the disk '{name}', which is not a built-in disk profile");
        return Err(Failure::new(FailureKind::BadInput, text));
    }
    let profile = fslab_disk::registry::find(name)
        .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
    Ok(profile.simulated())
}
