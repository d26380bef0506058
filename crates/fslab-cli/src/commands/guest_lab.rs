//! The lab that a run is to use, and how a plan names it.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::Path;

use fslab_fs::GuestKernel;
use fslab_lab::{BaseRoot, Kernel, Lab};
use fslab_model::{Failure, FailureKind, Plan, VenuePlan};
use fslab_sys::TrustedFolder;
use fslab_venue::GuestSettings;

use super::layers;
use crate::defaults;

/// The lab that is meant where none is named.
const DEFAULT: &str = "default";

/// By this name even a binary that was replaced meanwhile starts itself.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The lab with this name, or the default.
pub(crate) fn find(name: Option<&str>) -> Result<Lab, Failure> {
    Ok(defaults::cache()?.find_lab(name.unwrap_or(DEFAULT))?)
}

/// The lab with this name, or the default, in which this fslab must run.
pub(crate) fn find_bootable(name: Option<&str>) -> Result<Lab, Failure> {
    bootable(find(name)?)
}

fn bootable(lab: Lab) -> Result<Lab, Failure> {
    if !lab.kernel.facts.lab_devices {
        return Err(of_an_earlier_fslab(&lab, "cannot boot from a root image"));
    }
    lab.ensure_runs(Path::new(OWN_PROGRAM))?;
    Ok(lab)
}

/// The same, which must have the driver of simulated disks, too.
pub(crate) fn find_with_simdisk(name: Option<&str>) -> Result<Lab, Failure> {
    let lab = find_bootable(name)?;
    if lab.kernel.facts.simdisk {
        return Ok(lab);
    }
    Err(of_an_earlier_fslab(&lab, "simulates no disks"))
}

fn of_an_earlier_fslab(lab: &Lab, lacks: &str) -> Failure {
    let name = &lab.name;
    let text = format!("the guest kernel of the lab '{name}' is of an earlier fslab and {lacks}");
    Failure::new(FailureKind::Unsupported, text)
        .hint("fslab lab build makes it anew; of a tree of yours, with --source and --name")
}

/// What names a kernel in a plan: its release for the reader, its key for good.
pub(crate) fn identity(kernel: &Kernel) -> String {
    format!("{}@{}", kernel.facts.release, kernel.facts.key)
}

/// What the venue boots: the lab that the plan names, and that very one. A plan is resumed in the
/// lab that it was begun with.
pub(crate) fn settings_of(
    plan: &Plan,
    jobs: NonZeroUsize,
) -> Result<Option<GuestSettings>, Failure> {
    let Some(digest) = plan.venue.lab() else {
        return Ok(None);
    };
    if digest.is_empty() {
        let text = "the run was begun with a guest that had no root image of its own";
        return Err(Failure::new(FailureKind::Unsupported, text).hint(
            "begin a new run: what was measured before would not compare with what follows",
        ));
    }
    let lab = bootable(defaults::cache()?.find_lab(digest)?)?;
    Ok(Some(GuestSettings {
        layers: layers::images(plan)?,
        ..settings(&lab, jobs)?
    }))
}

/// The lab as the venue wants it.
pub(crate) fn settings(lab: &Lab, jobs: NonZeroUsize) -> Result<GuestSettings, Failure> {
    ensure_trusted(&lab.kernel.binary)?;
    ensure_trusted(&lab.root_image)?;
    Ok(GuestSettings {
        kernel: lab.kernel.binary.clone(),
        root: lab.root_image.clone(),
        lab: lab.digest.to_string(),
        layers: Vec::new(),
        at_a_time: jobs,
    })
}

/// What the root of the lab has that a plan names: layers over it do not bring it once more.
pub(crate) fn base_of(venue: &VenuePlan) -> Result<BaseRoot, Failure> {
    let lab = find(venue.lab())?;
    let files = lab.root.files.into_iter();
    Ok(BaseRoot {
        files: files.map(|file| (file.path, file.sha256)).collect(),
    })
}

/// A kernel is a program, and is run, with the programs of its root: no other user may have put
/// either there.
pub(crate) fn ensure_trusted(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let opened = TrustedFolder::open(folder).and_then(|folder| folder.open_file_to_read(&name));
    match opened {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = format!("refusing to run the guest of {}", file.display());
            Err(Failure::new(FailureKind::Permission, text)
                .because(&error)
                .hint("as another user, set HOME or XDG_CACHE_HOME to a folder of that user's"))
        }
        // What else is wrong with it shows when it is run.
        _ => Ok(()),
    }
}

/// What the catalogue needs to know of a lab; `None` where the configuration of its kernel is not
/// to be read.
pub(crate) fn for_probe(lab: &Lab) -> Option<GuestKernel> {
    let config = std::fs::read_to_string(lab.kernel.config()).ok()?;
    let release = lab.kernel.facts.release.clone();
    let programs = lab.root.program_names().map(str::to_owned).collect();
    Some(GuestKernel::new(
        lab.name.clone(),
        release,
        &config,
        programs,
    ))
}
