//! Selects the venue of a plan from the user's choice and the machine's abilities.

use std::path::Path;

use fslab_disk::Machine;
use fslab_model::{Bytes, Scale, Study, Subject, VenuePlan};

use super::request::{GuestChoice, Hardware, VenueChoice};
use crate::{Request, ResolveError};

/// Default memory of a guest: a small machine.
const GUEST_MEMORY: Bytes = Bytes::gib(1);
/// Default disk profile: that of the oldest study.
const DISK: &str = "hdd-7200-ata100-2002";

/// The study's sizes that a venue needs.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) size: Bytes,
    /// A guest's memory by the study.
    pub(crate) memory: Option<Bytes>,
    pub(crate) scale: Scale,
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
        VenueChoice::Sim(guest, hardware) => {
            return sim_venue(guest, hardware, (&request.study, sizes), notices);
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
        "venue guest instead of loop, because {reason}: the file systems are the guest kernel's, \
         and the disk is a file behind this machine's page cache"
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
    hardware: &Hardware,
    (study, sizes): (&Study, Sizes),
    notices: &mut Vec<String>,
) -> Result<VenuePlan, ResolveError> {
    let machine = hardware.machine.as_ref();
    let disk = hardware.disk.as_deref();
    let disk = disk.or(machine.map(|it| it.disk.profile.as_str()));
    let profile = fslab_disk::registry::find(disk.or(study.disk.as_deref()).unwrap_or(DISK));
    let mut profile = profile.map_err(ResolveError::Disk)?;
    if study.scale.controller_cache {
        notices.extend(profile.scale_controller_cache(sizes.scale).map(|(full, scaled)| {
            format!(
                "the write cache of the controller is {scaled} instead of {full}, by the scale {}",
                sizes.scale
            )
        }));
    }
    let of_machine = machine.map(|it| it.memory.size);
    let sizes = Sizes {
        memory: of_machine.or(sizes.memory),
        ..sizes
    };
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
        machine: machine.and_then(Machine::counted),
    })
}

fn guest_memory(guest: &GuestChoice, sizes: Sizes) -> Bytes {
    guest.memory.or(sizes.memory).unwrap_or(GUEST_MEMORY)
}
