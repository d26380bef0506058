//! Finds the lab of a run, and its identity in a plan.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use fslab_disk::Machine;
use fslab_fs::{GuestKernel, SearchPath};
use fslab_lab::{Cache, Lab, LabError};
use fslab_model::{Failure, FailureKind, LabPlan, LayerPlan, Plan};
use fslab_venue::{Emulator, GuestSettings, PcSettings};

use super::trusted_file::ensure_trusted;
use crate::defaults;
use crate::terminal::screen;

/// The name of the default lab.
const DEFAULT: &str = "default";
/// The name of the default lab of a machine whose processor takes time.
pub(crate) const DEFAULT_PC: &str = "debian-6.1";
/// The name of the default lab of subjects that are served over a network.
pub(crate) const NETWORK: &str = "network";

/// The lab of a package, from the directory of the program.
const PACKAGED: &str = "../share/fslab/lab.tar";

/// The lab with this name, or the default. A user without a default lab gets that of the package.
pub(crate) fn find(name: Option<&str>) -> Result<Lab, Failure> {
    let (cache, name) = (defaults::cache()?, name.unwrap_or(DEFAULT));
    match cache.find_lab(name) {
        Err(LabError::NotBuilt(_)) if name == DEFAULT => match packaged() {
            Some(file) => take_packaged(&cache, &file),
            None => Ok(cache.find_lab(name)?),
        },
        Err(LabError::NotBuilt(failure)) if name == NETWORK => Err(failure.hint(
            "build it with `fslab lab build --network`: a kernel with network file systems, \
                 and their servers",
        )),
        found => Ok(found?),
    }
}

/// The package's lab, if there is a package.
fn packaged() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let file = program.parent()?.join(PACKAGED);
    std::fs::canonicalize(file).ok()
}

/// Imports the package's lab, which is trusted as the program beside it.
fn take_packaged(cache: &Cache, file: &Path) -> Result<Lab, Failure> {
    ensure_trusted(file)?;
    let name = DEFAULT.parse()?;
    let lab = fslab_lab::import_lab(cache, file, &name).map_err(not_taken)?;
    let (digest, place) = (&lab.digest, cache.folder().display());
    screen::notice(&format!("installed the package's lab {digest} in {place}"));
    Ok(lab)
}

/// The failure to import the package's lab; by default, the user's directory is the cause.
fn not_taken(error: LabError) -> Failure {
    let failure = Failure::from(error);
    match failure.hint {
        Some(_) => failure,
        None => failure.hint(
            "set XDG_CACHE_HOME to a directory that you can write to: the package's lab is \
             unpacked there, by default in ~/.cache",
        ),
    }
}

/// The lab with this name, or the default; an error if guests of this fslab cannot run in it.
pub(crate) fn find_bootable(name: Option<&str>) -> Result<Lab, Failure> {
    bootable(find(name)?)
}

fn bootable(lab: Lab) -> Result<Lab, Failure> {
    if lab.kernel.facts.pc.is_some() {
        // The program of its trials is a part of it.
        return Ok(lab);
    }
    if !lab.kernel.facts.lab_devices {
        return Err(outdated_kernel(&lab, "cannot boot from a root image"));
    }
    let program = fslab_lab::guest_program()?;
    lab.ensure_runs(&program)?;
    Ok(lab)
}

/// The lab with this name for trials in virtual time on `machine`; by default the one for such
/// machines.
pub(crate) fn find_for(machine: Option<&Machine>, name: Option<&str>) -> Result<Lab, Failure> {
    let Some(machine) = machine.and_then(Machine::counted) else {
        return find_with_simdisk(name);
    };
    let name = name.unwrap_or(DEFAULT_PC);
    let lab = find(Some(name)).map_err(|failure| match name {
        DEFAULT_PC => {
            failure.hint("build it with `fslab lab build --kernel debian:6.1`, in a minute")
        }
        _ => failure,
    })?;
    if lab.kernel.facts.pc.is_some() {
        return Ok(lab);
    }
    let text = format!(
        "the lab '{name}' is User-Mode Linux, but the machine {} needs a PC's lab",
        machine.name
    );
    Err(Failure::new(FailureKind::BadInput, text).hint(
        "use --lab debian-6.1 (built by fslab lab build --kernel debian:6.1), or leave out \
         --machine, so that only the disk takes time",
    ))
}

/// The same; an error if it lacks the driver of simulated disks.
fn find_with_simdisk(name: Option<&str>) -> Result<Lab, Failure> {
    let lab = find_bootable(name)?;
    if lab.kernel.facts.pc.is_some() {
        let text = format!(
            "the lab '{}' is a PC's, whose processor takes virtual time; it needs a machine",
            lab.name
        );
        return Err(Failure::new(FailureKind::BadInput, text)
            .hint("name a machine with --machine; list them with fslab machine list"));
    }
    if lab.kernel.facts.simdisk {
        return Ok(lab);
    }
    Err(outdated_kernel(&lab, "cannot simulate disks"))
}

fn outdated_kernel(lab: &Lab, lacks: &str) -> Failure {
    let name = &lab.name;
    let text =
        format!("the guest kernel of the lab '{name}' was built by an earlier fslab and {lacks}");
    Failure::new(FailureKind::Unsupported, text)
        .hint("rebuild it with fslab lab build; add --source and --name for your own kernel tree")
}

/// A lab in a plan: the release and the key of its kernel, and its digest.
pub(crate) fn planned(lab: &Lab) -> LabPlan {
    let facts = &lab.kernel.facts;
    LabPlan {
        kernel: format!("{}@{}", facts.release, facts.key),
        digest: lab.digest.to_string(),
    }
}

/// The settings of the plan's guests: one for all subjects, or one for each if the subjects name
/// kernels; none in a venue without guests. Labs are found by digest, so that a run is resumed in
/// those in which it was begun.
pub(crate) fn settings_of(plan: &Plan, jobs: NonZeroUsize) -> Result<Vec<GuestSettings>, Failure> {
    if plan.venue.guest_lab().is_none() {
        return Ok(Vec::new());
    }
    let layers = images(plan)?;
    let mut known: BTreeMap<String, GuestSettings> = BTreeMap::new();
    for LabPlan { digest, .. } in plan.labs() {
        if digest.is_empty() {
            let text = "the run was begun with a guest without a root image";
            return Err(Failure::new(FailureKind::Unsupported, text)
                .hint("start a new run; earlier results would not be comparable with new ones"));
        }
        let lab = bootable(defaults::cache()?.find_lab(&digest)?)?;
        let settings = GuestSettings {
            layers: layers.clone(),
            ..settings(&lab, jobs)?
        };
        known.insert(digest, settings);
    }
    if known.len() <= 1 {
        return Ok(known.into_values().collect());
    }
    let labs = plan.subjects.iter().filter_map(|it| plan.lab_of(it));
    Ok(labs
        .filter_map(|lab| known.get(&lab.digest).cloned())
        .collect())
}

/// The venue's settings for a lab.
pub(crate) fn settings(lab: &Lab, jobs: NonZeroUsize) -> Result<GuestSettings, Failure> {
    ensure_trusted(&lab.kernel.binary)?;
    ensure_trusted(&lab.root_image)?;
    // A damaged kernel or image would give other figures, or failures of file systems.
    lab.verify().map_err(Failure::from)?;
    Ok(GuestSettings {
        kernel: lab.kernel.binary.clone(),
        root: lab.root_image.clone(),
        lab: lab.digest.to_string(),
        layers: Vec::new(),
        at_a_time: jobs,
        pc: pc_settings(lab)?,
    })
}

/// The further parts of a PC's lab; `None` for User-Mode Linux.
fn pc_settings(lab: &Lab) -> Result<Option<PcSettings>, Failure> {
    let Some(facts) = &lab.kernel.facts.pc else {
        return Ok(None);
    };
    let (initramfs, program) = (lab.kernel.initramfs(), lab.kernel.program());
    ensure_trusted(&initramfs)?;
    ensure_trusted(&program)?;
    let emulator = Emulator::find(&SearchPath::from_environment())
        .map_err(|error| Failure::of_error(FailureKind::MissingTool, &error).hint(error.hint()))?;
    Ok(Some(PcSettings {
        emulator,
        initramfs,
        has_timer: facts.timer,
        snapshots: facts.snapshot.then(|| lab.snapshots()),
        on_damaged_snapshot: |path| {
            screen::warn(&format!(
                "the snapshot {} is damaged; removing it and taking a new one",
                path.display()
            ));
        },
        program,
        program_bytes: facts.program_bytes,
    }))
}

/// The kernel of the lab with this name, or of the default, for the catalogue's probe.
pub(crate) fn kernel_named(name: Option<&str>) -> Result<Option<GuestKernel>, Failure> {
    Ok(guest_kernel(&find(name)?))
}

/// The lab as the catalogue's probe needs it; `None` if its kernel's configuration cannot be read.
pub(crate) fn guest_kernel(lab: &Lab) -> Option<GuestKernel> {
    let config = std::fs::read_to_string(lab.kernel.config()).ok()?;
    let release = lab.kernel.facts.release.clone();
    let programs = lab.root.program_names().map(str::to_owned).collect();
    let guest = GuestKernel::new(lab.name.clone(), release, &config, programs);
    Some(match &lab.kernel.facts.pc {
        Some(pc) => guest.with_modules(&config, pc.file_systems.clone()),
        None => guest,
    })
}

/// The images of the layers that `plan` names, the topmost first.
pub(crate) fn images(plan: &Plan) -> Result<Vec<PathBuf>, Failure> {
    let cache = defaults::cache()?;
    let image = |layer: &LayerPlan| {
        let image = cache.layer(&layer.name, &layer.digest)?.image;
        // A guest's root runs programs in it.
        ensure_trusted(&image)?;
        Ok(image)
    };
    plan.venue.layers().iter().map(image).collect()
}
