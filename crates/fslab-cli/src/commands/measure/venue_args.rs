//! Options of the venue, and their requirements on this machine.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fslab_disk::Machine;
use fslab_fs::{GuestKernel, Host};
use fslab_lab::{BundleVenue, Lab, TakenBundle};
use fslab_model::{Bytes, Failure, FailureKind, LabPlan, Plan, VenueKind, VenuePlan};
use fslab_run::{GuestChoice, Hardware, NamedKernels, VenueChoice};
use fslab_sys::Ability;

use crate::commands::measure::guest_lab;
use crate::commands::measure::plan_args::parse_size;
use crate::commands::platform;
use crate::defaults::{self, absolute_path, canonical_path};
use crate::exit::CommandError;

/// Options of the venue.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Venue")]
pub(crate) struct VenueArgs {
    /// Where trials run. Default: implied by --disk or --machine (sim), --memory or --lab (guest),
    /// --dir (dir), --destroy (block), --images (loop); sim for a bundle; otherwise loop as root,
    /// guest as another user
    #[arg(long, value_enum)]
    venue: Option<VenueName>,
    /// Directory for disk images (venues loop, guest and sim) [default: /var/tmp]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Directory to measure (venue dir); each trial uses a new subdirectory. Repeat it to compare
    /// directories [default: .]
    #[arg(long, value_name = "DIR")]
    dir: Vec<PathBuf>,
    /// Memory of the guest, for example 512MiB [default: the machine's, else the study's, else
    /// 1GiB]
    #[arg(long, value_parser = parse_size, allow_hyphen_values = true)]
    memory: Option<Bytes>,
    /// Lab (guest kernel and root image), by name or digest, for subjects without @LAB. Default:
    /// `default`; `debian-6.1` with --machine; `network` for network subjects, for example
    /// nfs:ext4
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    /// Disk profile for the venue sim: a name of `fslab disk list`, or a file [default: the
    /// machine's, else the study's, else hdd-7200-ata100-2002]
    #[arg(long, value_name = "PROFILE")]
    disk: Option<String>,
    /// Machine for the venue sim: processor, memory and disk; a name of `fslab machine list`, or a
    /// file [default: the study's memory and disk, and a processor that takes no time]
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Device for the venue block, or the devices of subjects on several disks, separated by
    /// commas: EVERYTHING ON THEM IS DESTROYED
    #[arg(long, value_name = "DEVICE,...")]
    destroy: Option<DeviceList>,
}

/// Options that belong to venues, by their names; the first is the one that the option implies.
pub(crate) const OPTION_VENUES: [(&str, &[VenueName]); 7] = [
    ("disk", &[VenueName::Sim]),
    ("machine", &[VenueName::Sim]),
    ("memory", GUESTS),
    ("lab", GUESTS),
    (
        "images",
        &[VenueName::Loop, VenueName::Guest, VenueName::Sim],
    ),
    ("dir", &[VenueName::Dir]),
    ("destroy", &[VenueName::Block]),
];
const GUESTS: &[VenueName] = &[VenueName::Guest, VenueName::Sim];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum VenueName {
    /// An image file behind a loop device with direct I/O (root)
    Loop,
    /// A block device, named with --destroy (root)
    Block,
    /// A guest kernel with an image file as its disk; needs a lab, no privileges
    Guest,
    /// A guest kernel in virtual time with a simulated disk; reproducible within a lab
    Sim,
    /// A directory of a mounted file system; nothing is formatted
    Dir,
}

impl VenueName {
    /// What it needs of the platform, if not every one has it.
    fn demands(self) -> Option<Ability> {
        match self {
            Self::Loop | Self::Block => Some(Ability::Volumes),
            Self::Guest | Self::Sim => Some(Ability::Guests),
            Self::Dir => None,
        }
    }
}

impl VenueArgs {
    /// Sets the option of a factor of an experiment; false if there is none of that name.
    pub(super) fn set(&mut self, factor: &str, level: &str) -> Result<bool, String> {
        let text = || Some(level.to_owned());
        match factor {
            "disk" => self.disk = text(),
            "lab" | "kernel" => self.lab = text(),
            "machine" => self.machine = text(),
            "memory" => {
                let size = parse_size(level);
                self.memory = Some(size.map_err(|error| error.to_string())?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The disk profile of --disk.
    pub(super) fn disk(&self) -> Option<&str> {
        self.disk.as_deref()
    }

    /// The same with the venue sim, unless an option names another.
    pub(crate) fn or_sim(&self) -> Self {
        let mut args = self.clone();
        args.venue = args.venue.or(Some(VenueName::Sim));
        args
    }

    /// The same with venue, lab, disk and memory of a bundle, unless options name others. Its
    /// layers are made for its lab, so that no other can be named.
    pub(crate) fn of_bundle(&self, bundle: &TakenBundle) -> Result<Self, Failure> {
        if self.lab.is_some() {
            let text = "a bundle always uses its own lab";
            return Err(Failure::new(FailureKind::BadInput, text).hint("leave out --lab"));
        }
        let (mut args, manifest) = (self.clone(), &bundle.manifest);
        let venue = *args.venue.get_or_insert(match manifest.venue {
            BundleVenue::Guest => VenueName::Guest,
            BundleVenue::Sim => VenueName::Sim,
        });
        if GUESTS.contains(&venue) {
            args.lab = Some(manifest.lab.to_string());
            args.memory = args.memory.or(manifest.memory_bytes.map(Bytes));
        }
        if venue == VenueName::Sim {
            let of_file = bundle
                .disk()
                .map(|path| path.to_string_lossy().into_owned());
            args.disk = args.disk.or(of_file).or_else(|| manifest.disk.clone());
        }
        Ok(args)
    }

    /// The venue by these options; subjects that name `kernels`, or that a kernel serves, choose
    /// the venue guest.
    pub(crate) fn choice(&self, kernels: &NamedKernels) -> Result<VenueChoice, CommandError> {
        let is_of_guest = kernels.has_network || !kernels.names.is_empty();
        let by_subjects = is_of_guest.then_some(VenueName::Guest);
        let Some(venue) = self.named()?.or(by_subjects) else {
            return Ok(VenueChoice::Auto {
                folder: self.image_folder()?,
                guest: guest_lab::find_bootable(None)
                    .ok()
                    .map(|lab| self.guest(&lab, BTreeMap::new()))
                    .transpose()?,
            });
        };
        if let Some(ability) = venue.demands() {
            platform::demand(ability)?;
        }
        Ok(VenueChoice::Named(match venue {
            VenueName::Guest => {
                let guest = self.guests(kernels, guest_lab::find_bootable)?;
                return Ok(VenueChoice::Guest(guest));
            }
            VenueName::Sim => {
                let hardware = Hardware {
                    disk: self.disk.clone(),
                    machine: self.machine()?,
                };
                let guest = self.guests(kernels, |name| {
                    guest_lab::find_for(hardware.machine.as_ref(), name)
                })?;
                return Ok(VenueChoice::Sim(guest, hardware));
            }
            VenueName::Loop => VenuePlan::Loop {
                folder: self.image_folder()?,
            },
            VenueName::Dir => VenuePlan::Dir {
                dir: self.trial_folders()?.into(),
            },
            VenueName::Block => {
                let mut devices = self.devices()?.into_iter();
                VenuePlan::Block {
                    device: devices.next().unwrap_or_default(),
                    others: devices.collect(),
                }
            }
        }))
    }

    /// The lab of --lab and those of `kernels`, all by `find`. The default lab is not needed if
    /// every subject names one.
    fn guests(
        &self,
        kernels: &NamedKernels,
        find: impl Fn(Option<&str>) -> Result<Lab, Failure>,
    ) -> Result<GuestChoice, Failure> {
        let mut named = BTreeMap::new();
        for name in &kernels.names {
            named.insert(
                name.clone(),
                guest_lab::planned(&find(Some(name.as_str()))?),
            );
        }
        let of_others = match &self.lab {
            Some(lab) if kernels.is_every => {
                let text = format!("--lab {lab} has no effect: every subject names its lab with @");
                return Err(Failure::new(FailureKind::BadInput, text)
                    .hint("leave out --lab, or @LAB of a subject"));
            }
            None if kernels.is_every => kernels.names.first().map(String::as_str),
            _ => self.lab_name(kernels.needs_network)?,
        };
        self.guest(&find(of_others)?, named)
    }

    fn machine(&self) -> Result<Option<Machine>, Failure> {
        let found = self.machine.as_deref().map(fslab_disk::machine::find);
        found.transpose()
    }

    /// The lab of subjects that name none; `needs_network` if one of them is served over a network.
    fn lab_name(&self, needs_network: bool) -> Result<Option<&str>, Failure> {
        let of_machine = self.machine()?.and_then(|machine| machine.counted());
        let by_default = match of_machine {
            Some(_) => Some(guest_lab::DEFAULT_PC),
            None => needs_network.then_some(guest_lab::NETWORK),
        };
        Ok(self.lab.as_deref().or(by_default))
    }

    fn guest(&self, lab: &Lab, named: BTreeMap<String, LabPlan>) -> Result<GuestChoice, Failure> {
        let LabPlan { kernel, digest } = guest_lab::planned(lab);
        Ok(GuestChoice {
            folder: self.image_folder()?,
            kernel,
            lab: digest,
            named,
            memory: self.memory,
        })
    }

    /// The venue of --venue, or that of another option; an option of another venue is refused.
    fn named(&self) -> Result<Option<VenueName>, CommandError> {
        let is_given = |option: &str| match option {
            "disk" => self.disk.is_some(),
            "machine" => self.machine.is_some(),
            "memory" => self.memory.is_some(),
            "lab" => self.lab.is_some(),
            "images" => self.images.is_some(),
            "dir" => !self.dir.is_empty(),
            "destroy" => self.destroy.is_some(),
            other => unreachable!("--{other} belongs to no venue"),
        };
        let mut given = OPTION_VENUES
            .into_iter()
            .filter(|(option, _)| is_given(option));
        let first = given.clone().next().map(|(_, venues)| venues[0]);
        let Some(venue) = self.venue.or(first) else {
            return Ok(None);
        };
        let Some((option, venues)) = given.find(|(_, venues)| !venues.contains(&venue)) else {
            return Ok(Some(venue));
        };
        let venues: Vec<_> = venues
            .iter()
            .map(|venue| format!("'{}'", venue.as_str()))
            .collect();
        let text = format!(
            "--{option} needs the venue {}, but the venue is '{}'",
            venues.join(" or "),
            venue.as_str()
        );
        let failure = Failure::new(FailureKind::BadInput, text).hint(format!(
            "leave out --{option}, or the option of the other venue"
        ));
        Err(failure.into())
    }

    /// Refuses the plan, before anything is changed, if this machine cannot run every subject.
    pub(crate) fn ensure_requirements(&self, plan: &Plan) -> Result<(), CommandError> {
        let kind = plan.venue.kind();
        // A guest has the same drivers in virtual time.
        let probed = match kind {
            VenueKind::Sim => VenueKind::Guest,
            VenueKind::Loop | VenueKind::Block | VenueKind::Guest => kind,
            VenueKind::Dir | VenueKind::Fake | VenueKind::Imported => return Ok(()),
        };
        let mut host = Host::gather()?;
        let mut guests: BTreeMap<Option<&str>, Option<GuestKernel>> = BTreeMap::new();
        let text = format!(
            "this machine cannot run every subject in the venue '{}'",
            kind.as_str()
        );
        let mut failure = Failure::new(FailureKind::MissingTool, text);
        let mut hints = BTreeSet::new();
        let needs_network = plan
            .subjects
            .iter()
            .map(|it| &it.subject)
            .any(|it| it.network().is_some() && it.kernel().is_none());
        for subject in &plan.subjects {
            let file_system = fslab_fs::find(subject.subject.fs())?;
            if probed == VenueKind::Guest {
                let lab = subject.subject.kernel().or(self.lab_name(needs_network)?);
                let guest = match guests.entry(lab) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(guest_lab::kernel_named(lab)?),
                };
                host.guest.clone_from(guest);
            }
            let venues = fslab_fs::probe(file_system, &host).venues.into_iter();
            let of_venue = venues.filter(|venue| venue.venue == probed);
            let of_network = host
                .guest
                .iter()
                .flat_map(|guest| fslab_fs::network_obstacles(&subject.subject, guest));
            let is_guest = probed == VenueKind::Guest;
            let of_layers = fslab_fs::layer_obstacles(&subject.subject, &host, is_guest);
            let obstacles = of_venue.flat_map(|it| it.obstacles).chain(of_network);
            for obstacle in obstacles.chain(of_layers) {
                failure
                    .causes
                    .push(format!("{}: {obstacle}", subject.subject));
                hints.extend(obstacle.hint().map(str::to_owned));
            }
        }
        if failure.causes.is_empty() {
            return Ok(());
        }
        failure.hint = Some(hints.into_iter().collect::<Vec<_>>().join("; "));
        Err(failure.into())
    }

    fn image_folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.images.as_deref();
        canonical_path(folder.unwrap_or(Path::new(defaults::IMAGE_FOLDER)))
    }

    fn trial_folders(&self) -> Result<Vec<PathBuf>, Failure> {
        match self.dir.as_slice() {
            [] => Ok(vec![canonical_path(Path::new("."))?]),
            dirs => dirs.iter().map(|dir| canonical_path(dir)).collect(),
        }
    }

    fn devices(&self) -> Result<Vec<PathBuf>, Failure> {
        let Some(DeviceList(devices)) = &self.destroy else {
            let text = "the venue 'block' needs a device";
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("name it with --destroy /dev/...; everything on it will be lost"));
        };
        let devices = devices.iter().map(|device| absolute_path(device));
        let devices: Vec<PathBuf> = devices.collect::<Result<_, _>>()?;
        for (at, device) in devices.iter().enumerate() {
            if devices[..at].contains(device) {
                let text = format!("--destroy names {} twice", device.display());
                return Err(Failure::new(FailureKind::BadInput, text).hint("name each disk once"));
            }
        }
        Ok(devices)
    }
}

/// Devices separated by commas.
#[derive(Clone, Debug)]
struct DeviceList(Vec<PathBuf>);

impl From<OsString> for DeviceList {
    fn from(text: OsString) -> Self {
        let parts = text.as_encoded_bytes().split(|byte| *byte == b',');
        // A path that is no Unicode is one device.
        let is_text = std::str::from_utf8(text.as_encoded_bytes()).is_ok();
        let named = |part: &[u8]| PathBuf::from(String::from_utf8_lossy(part).into_owned());
        match is_text {
            true => Self(parts.filter(|part| !part.is_empty()).map(named).collect()),
            false => Self(vec![PathBuf::from(text)]),
        }
    }
}

impl VenueName {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}
