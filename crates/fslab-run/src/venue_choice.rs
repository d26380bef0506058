//! Selects the venue of a plan from the user's choice and the machine's abilities.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fslab_model::{Bytes, LabPlan, Study, Subject, VenuePlan};

use crate::{Request, ResolveError};

/// Default memory of a guest: a small machine.
const GUEST_MEMORY: Bytes = Bytes::gib(1);
/// Default disk profile: that of the oldest study.
const DISK: &str = "hdd-7200-ata100-2002";

/// The user's choice of a venue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VenueChoice {
    /// `loop` if possible, else `guest`, with a notice.
    Auto {
        /// Folder of images.
        folder: PathBuf,
        /// The guest kernel, if one is built.
        guest: Option<GuestChoice>,
    },
    /// A guest kernel in real time.
    Guest(GuestChoice),
    /// A guest kernel in virtual time with a disk profile: a name or file; `None` for the study's.
    Sim(GuestChoice, Option<String>),
    /// A fixed venue.
    Named(VenuePlan),
}

/// A guest kernel, those that subjects name instead of it, and the folder of their disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestChoice {
    /// Folder of images.
    pub folder: PathBuf,
    /// The kernel: its name, then `@` and its key.
    pub kernel: String,
    /// Digest of the lab.
    pub lab: String,
    /// The labs of the kernels that subjects name, by name.
    pub named: BTreeMap<String, LabPlan>,
    /// The guest's memory; `None` for the study's.
    pub memory: Option<Bytes>,
}

/// The study's sizes that a venue needs.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) size: Bytes,
    /// A guest's memory by the study.
    pub(crate) memory: Option<Bytes>,
}

/// Selects the venue, with a notice if it is not the default.
pub(crate) fn choose_venue(
    request: &Request,
    sizes: Sizes,
    subjects: &[Subject],
    notices: &mut Vec<String>,
) -> Result<VenuePlan, ResolveError> {
    let (folder, guest) = match &request.venue {
        VenueChoice::Named(plan) => return Ok(plan.clone()),
        VenueChoice::Guest(guest) => return Ok(guest_venue(guest, sizes)),
        VenueChoice::Sim(guest, disk) => {
            return sim_venue(guest, disk.as_deref(), &request.study, sizes);
        }
        VenueChoice::Auto { folder, guest } => (folder, guest),
    };
    if !subjects.is_empty() && subjects.iter().all(|subject| subject.fs() == "fake") {
        return Ok(VenuePlan::Fake);
    }
    let reason = if !fslab_sys::is_superuser() {
        "formatting and mounting need root"
    } else if !Path::new("/dev/loop-control").exists() {
        "this machine has no loop devices"
    } else {
        return Ok(VenuePlan::Loop {
            folder: folder.clone(),
        });
    };
    let guest = guest.as_ref().ok_or(ResolveError::NoVenue { reason })?;
    notices.push(format!(
        "venue guest instead of loop, because {reason}: file systems are those of the guest \
         kernel, and its disk is a file behind this machine's page cache"
    ));
    Ok(guest_venue(guest, sizes))
}

fn guest_venue(guest: &GuestChoice, sizes: Sizes) -> VenuePlan {
    VenuePlan::Guest {
        folder: guest.folder.clone(),
        kernel: guest.kernel.clone(),
        lab: guest.lab.clone(),
        memory_bytes: guest_memory(guest, sizes),
        layers: Vec::new(),
    }
}

fn sim_venue(
    guest: &GuestChoice,
    disk: Option<&str>,
    study: &Study,
    sizes: Sizes,
) -> Result<VenuePlan, ResolveError> {
    let profile = fslab_disk::registry::find(disk.or(study.disk.as_deref()).unwrap_or(DISK))?;
    let capacity = profile.capacity();
    if sizes.size > capacity {
        return Err(ResolveError::DiskTooSmall {
            disk: profile.name.clone(),
            capacity,
            size: sizes.size,
        });
    }
    Ok(VenuePlan::Sim {
        folder: guest.folder.clone(),
        kernel: guest.kernel.clone(),
        lab: guest.lab.clone(),
        memory_bytes: guest_memory(guest, sizes),
        layers: Vec::new(),
        disk: profile.simulated(),
    })
}

fn guest_memory(guest: &GuestChoice, sizes: Sizes) -> Bytes {
    guest.memory.or(sizes.memory).unwrap_or(GUEST_MEMORY)
}
