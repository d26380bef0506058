//! Which venue a plan gets, from what the user chose and what this machine allows.

use std::path::{Path, PathBuf};

use fslab_model::{Bytes, Study, Subject, VenuePlan};

use crate::{Request, ResolveError};

/// Memory of a guest where neither the user nor the study names it: a small machine of today.
const GUEST_MEMORY: Bytes = Bytes::gib(1);
/// The simulated disk where neither the user nor the study names one: that of the oldest study.
const DISK: &str = "hdd-7200-ata100-2002";

/// Where the user wants trials to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VenueChoice {
    /// `loop` where it can be had, else `guest`, with a notice.
    Auto {
        /// Where images are kept.
        folder: PathBuf,
        /// The guest kernel, where one is built.
        guest: Option<GuestChoice>,
    },
    /// A guest kernel.
    Guest(GuestChoice),
    /// A guest kernel in virtual time, with the disk of that profile: a name or a file; `None`: the
    /// study's.
    Sim(GuestChoice, Option<String>),
    /// As named.
    Named(VenuePlan),
}

/// A guest kernel and where its disks are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestChoice {
    /// Where images are kept.
    pub folder: PathBuf,
    /// The kernel: its name, and behind an `@` the key of what it was built from.
    pub kernel: String,
    /// The digest of the lab that the kernel is part of.
    pub lab: String,
    /// The guest's memory, where it is not the study's own.
    pub memory: Option<Bytes>,
}

/// What of the study's sizes a venue needs.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) size: Bytes,
    /// That of a guest, as the study has it.
    pub(crate) memory: Option<Bytes>,
}

/// The venue, with a notice where it is not the one that one would expect.
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
