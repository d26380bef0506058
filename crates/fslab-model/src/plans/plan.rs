//! A plan: a study resolved on this machine, with every value.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Adaptive, AnswerSpec, Bytes, CellId, ColdMethod, Condition, CountedMachine, DataToMemory,
    FigureSpec, NetworkMount, PhaseSpec, PlanHash, Rounds, Scale, ScoreSpec, SimulatedDisk,
    StudyQuestion, Subject, SurvivalPlan, TrialId,
};

/// Where trials run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum VenueKind {
    /// A directory of the user; nothing is formatted.
    Dir,
    /// An image file behind a loop device with direct I/O.
    Loop,
    /// A block device that the user named with `--destroy`.
    Block,
    /// A guest kernel in real time, with an image file as its disk.
    Guest,
    /// A guest kernel in virtual time, with a simulated disk.
    Sim,
    /// No device and no clock: for fslab's own tests.
    Fake,
    /// Imported: the output of another tool was read.
    Imported,
}

impl VenueKind {
    /// The venue's name on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// True if the time of its figures is virtual.
    pub fn is_virtual(self) -> bool {
        self == Self::Sim
    }
}

/// Processors of a guest: its kernel in user mode is built for one, and a PC is started with one.
pub const GUEST_PROCESSORS: u32 = 1;

/// A venue with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "venue", rename_all = "kebab-case")]
pub enum VenuePlan {
    /// Each trial uses a new directory below `dir`.
    Dir {
        /// The user's directory, or one for each subject.
        dir: Directories,
    },
    /// Each trial has a new image file in `folder`.
    Loop {
        /// The directory of images in use.
        folder: PathBuf,
    },
    /// Each trial formats `device`, and the others if its subject has several disks.
    Block {
        /// The device, as named after `--destroy`.
        device: PathBuf,
        /// The further devices named there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<PathBuf>,
    },
    /// Each trial is the first process of a guest kernel, with a new image file as its disk.
    Guest {
        /// The directory of images in use.
        folder: PathBuf,
        /// The guest kernel: its name, and after an `@` the key of its build.
        kernel: String,
        /// The digest of the lab (kernel and root image); empty in plans older than labs.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        lab: String,
        /// The guest's memory, its page cache included.
        memory_bytes: Bytes,
        /// Images over the guest's root, the topmost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        layers: Vec<LayerPlan>,
    },
    /// A guest kernel in virtual time. If only the disk takes time, repeats give equal results.
    Sim {
        /// The directory of images.
        folder: PathBuf,
        /// The kernel: its release, and after an `@` the key of its build.
        kernel: String,
        /// The digest of the lab (kernel and root image); empty in plans older than labs.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        lab: String,
        /// The guest's memory, which limits its page cache.
        memory_bytes: Bytes,
        /// Images over the guest's root, the topmost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        layers: Vec<LayerPlan>,
        /// The disk.
        disk: SimulatedDisk,
        /// The machine, if its processor takes time; `None`: it takes none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<CountedMachine>,
    },
    /// No device.
    Fake,
    /// The output of another tool was read; only its content is known.
    Imported {
        /// The tool and, if its output has it, the version: `fio 3.33`.
        tool: String,
    },
}

/// The directories of a run: a text in JSON if it is one, else a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Directories {
    /// One, for the only subject.
    One(PathBuf),
    /// One for each subject, in the order of the subjects.
    Each(Vec<PathBuf>),
}

impl Directories {
    /// Every directory, in the order of the subjects.
    pub fn as_slice(&self) -> &[PathBuf] {
        match self {
            Self::One(dir) => std::slice::from_ref(dir),
            Self::Each(dirs) => dirs,
        }
    }
}

impl From<PathBuf> for Directories {
    fn from(dir: PathBuf) -> Self {
        Self::One(dir)
    }
}

impl From<Vec<PathBuf>> for Directories {
    fn from(mut dirs: Vec<PathBuf>) -> Self {
        match (dirs.len(), dirs.pop()) {
            (1, Some(dir)) => Self::One(dir),
            (_, last) => Self::Each(dirs.into_iter().chain(last).collect()),
        }
    }
}

/// The paths, separated by commas.
impl std::fmt::Display for Directories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, dir) in self.as_slice().iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}{}", dir.display())?;
        }
        Ok(())
    }
}

/// An image over the root of a guest: programs or files that the study brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerPlan {
    /// Its phases: the name of their workload, or `inputs` for files of the user.
    pub name: String,
    /// SHA-256 of the image, 64 hexadecimal digits.
    pub digest: String,
}

impl LayerPlan {
    /// The beginning of the digest, for display.
    pub fn short(&self) -> &str {
        self.digest.get(..12).unwrap_or(&self.digest)
    }
}

impl std::fmt::Display for LayerPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.short())
    }
}

impl VenuePlan {
    /// The lab of the guests of subjects that name no kernel; `None` without a guest.
    pub fn guest_lab(&self) -> Option<LabPlan> {
        match self {
            Self::Guest { kernel, lab, .. } | Self::Sim { kernel, lab, .. } => Some(LabPlan {
                kernel: kernel.clone(),
                digest: lab.clone(),
            }),
            Self::Dir { .. }
            | Self::Loop { .. }
            | Self::Block { .. }
            | Self::Fake
            | Self::Imported { .. } => None,
        }
    }

    /// Memory of a guest; `None` in the other venues, which have this machine's.
    pub fn guest_memory(&self) -> Option<Bytes> {
        match self {
            Self::Guest { memory_bytes, .. } | Self::Sim { memory_bytes, .. } => {
                Some(*memory_bytes)
            }
            Self::Dir { .. }
            | Self::Loop { .. }
            | Self::Block { .. }
            | Self::Fake
            | Self::Imported { .. } => None,
        }
    }

    /// The images over a guest's root, the topmost first.
    pub fn layers(&self) -> &[LayerPlan] {
        match self {
            Self::Guest { layers, .. } | Self::Sim { layers, .. } => layers,
            Self::Dir { .. }
            | Self::Loop { .. }
            | Self::Block { .. }
            | Self::Fake
            | Self::Imported { .. } => &[],
        }
    }

    /// The machine whose processor takes time; `None` if it takes none, or in real time.
    pub fn counted_machine(&self) -> Option<&CountedMachine> {
        match self {
            Self::Sim { machine, .. } => machine.as_ref(),
            Self::Guest { .. }
            | Self::Dir { .. }
            | Self::Loop { .. }
            | Self::Block { .. }
            | Self::Fake
            | Self::Imported { .. } => None,
        }
    }

    /// The devices of the venue block as the user named them, separated by commas; empty of other
    /// venues.
    pub fn block_devices(&self) -> String {
        let Self::Block { device, others } = self else {
            return String::new();
        };
        let devices = std::iter::once(device).chain(others);
        let devices: Vec<String> = devices.map(|it| it.display().to_string()).collect();
        devices.join(",")
    }

    /// Sets the layers, if the venue is a guest.
    pub fn set_layers(&mut self, new: Vec<LayerPlan>) {
        if let Self::Guest { layers, .. } | Self::Sim { layers, .. } = self {
            *layers = new;
        }
    }

    /// The kind of venue.
    pub fn kind(&self) -> VenueKind {
        match self {
            Self::Dir { .. } => VenueKind::Dir,
            Self::Loop { .. } => VenueKind::Loop,
            Self::Block { .. } => VenueKind::Block,
            Self::Guest { .. } => VenueKind::Guest,
            Self::Sim { .. } => VenueKind::Sim,
            Self::Fake => VenueKind::Fake,
            Self::Imported { .. } => VenueKind::Imported,
        }
    }
}

/// The lab of a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabPlan {
    /// The guest kernel: its release, and after an `@` the key of its build.
    pub kernel: String,
    /// The digest of the lab (kernel and root image); empty in plans older than labs.
    pub digest: String,
}

/// A subject with its mkfs, mount and check commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectPlan {
    /// The subject.
    pub subject: Subject,
    /// The file system's name in sentences, as in its entry of the catalogue; `None` if there is
    /// no entry, and in plans of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The mkfs command, with DEVICE for the device; `None` if nothing is formatted.
    pub mkfs: Option<Vec<String>>,
    /// The mount command equivalent to the trial's mount(2) call, with DEVICE and MOUNTPOINT.
    pub mount: Option<Vec<String>>,
    /// The check command, with DEVICE.
    pub check: Option<Vec<String>>,
    /// The commands that make the layers below the file system on its disks; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Vec<String>>,
    /// The lab of its guest, if it names a kernel; `None`: the venue's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<LabPlan>,
    /// The mount of a network file system that it is; `None`: a local one, or one that the guest's
    /// kernel serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_mount: Option<NetworkMount>,
}

impl SubjectPlan {
    /// A subject that exists: no command makes, mounts or checks it.
    pub fn existing(subject: Subject) -> Self {
        Self {
            subject,
            title: None,
            mkfs: None,
            mount: None,
            check: None,
            stack: Vec::new(),
            lab: None,
            network_mount: None,
        }
    }
}

/// True of a number that plans leave out.
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A study resolved on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// The study's name.
    pub study: String,
    /// The study's title.
    pub title: String,
    /// The study's question; it does not affect the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<StudyQuestion>,
    /// What the answer counts; it does not affect the measurement. `None`: the geometric mean of
    /// the headline figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSpec>,
    /// Its place in an experiment over conditions; it does not affect the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The study's score; it does not affect the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreSpec>,
    /// Where trials run.
    pub venue: VenuePlan,
    /// Size of each file system; in the `dir` venue, the space that the files share.
    pub size_bytes: Bytes,
    /// The method of dropping caches.
    pub cold: ColdMethod,
    /// By how many seconds a guest's wall clock is advanced before each cold phase, for which
    /// relatime updates times of access.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cold_after_s: u64,
    /// The most memory of a guest that waits to be written (vm.dirty_bytes; writing back begins at
    /// half of it). `None`: a fifth of the memory, as in Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_limit_bytes: Option<Bytes>,
    /// The engine that issues I/O.
    pub engine: String,
    /// The subjects, in the order given.
    pub subjects: Vec<SubjectPlan>,
    /// The phases, with every parameter of their workloads.
    pub phases: Vec<PhaseSpec>,
    /// Repeats of each cell; with `adaptive`, the minimum.
    pub repeats: u32,
    /// The rule for further repeats of a cell; `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Adaptive>,
    /// Whether repeats in virtual time differ only by a [`crate::Perturbation`] of their guest.
    /// Otherwise they differ in their data and in the order of random access.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub perturb: bool,
    /// How often the phases run in each repeat.
    #[serde(default, skip_serializing_if = "Rounds::is_one")]
    pub rounds: Rounds,
    /// Number of processes that run each phase together, on one machine or several. Sizes and
    /// counts are those of each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub ranks: u32,
    /// Time limit of one trial, in seconds.
    pub trial_limit_s: u32,
    /// Determines order and data.
    pub seed: u64,
    /// Its scale relative to the study's original.
    #[serde(default, skip_serializing_if = "Scale::is_full")]
    pub scale: Scale,
    /// Facts of the machine that the study requires.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_facts: BTreeMap<String, String>,
    /// The data of its largest phase and the memory, beside the original's; `None` for studies
    /// that repeat none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_to_memory: Option<DataToMemory>,
    /// Figures and tables that the study defines; they do not affect the measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureSpec>,
    /// What is judged of each subject besides its figures; `None`: nothing. It does not affect the
    /// measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalPlan>,
}

fn one() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_one(value: &u32) -> bool {
    *value == 1
}

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell<'a> {
    /// Its number.
    pub id: CellId,
    /// Its subject.
    pub subject: &'a SubjectPlan,
}

impl Plan {
    /// SHA-256 over the plan without seed, number of repeats, time limit, figures, question,
    /// answer, condition, score, the comparison with the original and the states after a power
    /// loss, which do not change what is measured.
    ///
    /// In virtual time the directory of images is left out, too: no figure depends on it, and users
    /// on different machines have the same plan. Object keys are sorted, so that the hash does not
    /// depend on the order of declaration.
    pub fn hash(&self) -> PlanHash {
        let mut value = serde_json::to_value(self).expect("a plan serialises");
        if let Some(map) = value.as_object_mut() {
            map.remove("seed");
            map.remove("repeats");
            map.remove("adaptive");
            map.remove("trial_limit_s");
            map.remove("figures");
            map.remove("question");
            map.remove("answer");
            map.remove("condition");
            map.remove("score");
            map.remove("data_to_memory");
            map.remove("survival");
            let subjects = map.get_mut("subjects").and_then(|it| it.as_array_mut());
            for subject in subjects.into_iter().flatten() {
                subject
                    .as_object_mut()
                    .map(|subject| subject.remove("title"));
            }
            let venue = map.get_mut("venue").and_then(|venue| venue.as_object_mut());
            if let Some(venue) = venue.filter(|_| self.venue.kind().is_virtual()) {
                venue.remove("folder");
            }
        }
        value.sort_all_objects();
        let digits = crate::sha256(value.to_string());
        digits.parse().expect("a digest is 64 hexadecimal digits")
    }

    /// The cells, in the order of the subjects.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        (0..)
            .map(CellId)
            .zip(&self.subjects)
            .map(|(id, subject)| Cell { id, subject })
    }

    /// The cell's subject; `None` if the plan has no such cell.
    pub fn subject(&self, cell: CellId) -> Option<&SubjectPlan> {
        self.subjects.get(cell.0 as usize)
    }

    /// The lab of a subject's guest: the one that it names, or the venue's. `None` without a guest.
    pub fn lab_of(&self, subject: &SubjectPlan) -> Option<LabPlan> {
        let venue = self.venue.guest_lab()?;
        Some(subject.lab.clone().unwrap_or(venue))
    }

    /// The labs of all subjects' guests, each once, in the order of the subjects; empty without a
    /// guest.
    pub fn labs(&self) -> Vec<LabPlan> {
        let mut labs = Vec::new();
        for lab in self.subjects.iter().filter_map(|it| self.lab_of(it)) {
            if !labs.contains(&lab) {
                labs.push(lab);
            }
        }
        labs
    }

    /// All trials of the plan, by repeat, then in the order of the subjects.
    pub fn trials(&self) -> Vec<TrialId> {
        (0..self.repeats)
            .flat_map(|repeat| {
                self.cells().map(move |cell| TrialId {
                    cell: cell.id,
                    repeat,
                })
            })
            .collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A guest in virtual time, with a disk that has no write cache.
    pub(crate) fn sim(folder: &str, memory_bytes: Bytes) -> VenuePlan {
        VenuePlan::Sim {
            folder: folder.into(),
            kernel: "6.12@0".into(),
            lab: String::new(),
            memory_bytes,
            layers: Vec::new(),
            disk: SimulatedDisk {
                profile: "p".into(),
                queue: crate::DiskQueue {
                    max_request_bytes: 4096,
                    physical_block_bytes: 512,
                    discard_bytes: 0,
                    write_cache: false,
                    fua: false,
                    rotational: true,
                    scheduler: true,
                },
                model: String::new(),
                emptied_by: None,
            },
            machine: None,
        }
    }

    pub(crate) fn plan() -> Plan {
        Plan {
            title: "Quick".into(),
            venue: VenuePlan::Loop {
                folder: "/var/tmp".into(),
            },
            size_bytes: Bytes::gib(1),
            cold: ColdMethod::Remount,
            engine: "psync".into(),
            subjects: ["ext4", "xfs"]
                .map(|fs| SubjectPlan::existing(Subject::plain(fs)))
                .into(),
            repeats: 3,
            trial_limit_s: 300,
            seed: 7,
            ..Plan::imported("quick", "none")
        }
    }

    #[test]
    fn the_hash_ignores_seed_repeats_and_time_limit_and_nothing_else() {
        let base = plan().hash();
        assert_eq!(
            base,
            Plan {
                seed: 8,
                repeats: 9,
                trial_limit_s: 1,
                ..plan()
            }
            .hash()
        );
        assert_ne!(
            base,
            Plan {
                size_bytes: Bytes::gib(2),
                ..plan()
            }
            .hash()
        );
        assert_ne!(
            base,
            Plan {
                cold: ColdMethod::Drop,
                ..plan()
            }
            .hash()
        );
        // The words of a study do not change what it measures.
        let question = StudyQuestion {
            text: "Which one?".into(),
            phases: None,
        };
        assert_eq!(
            base,
            Plan {
                question: Some(question),
                ..plan()
            }
            .hash()
        );
        // A run is not resumed with repeats of another kind.
        assert_ne!(
            base,
            Plan {
                perturb: true,
                ..plan()
            }
            .hash()
        );
    }

    /// The same records had two plans on two machines, or in two directories of one machine.
    #[test]
    fn the_folder_of_images_is_in_the_hash_where_time_is_real_and_nowhere_else() {
        let hash = |venue| Plan { venue, ..plan() }.hash();
        let in_loop = |folder: &str| VenuePlan::Loop {
            folder: folder.into(),
        };
        assert_ne!(hash(in_loop("/a")), hash(in_loop("/b")));
        let one = hash(sim("/a", Bytes::gib(1)));
        assert_eq!(one, hash(sim("/b", Bytes::gib(1))));
        assert_ne!(one, hash(sim("/a", Bytes::gib(2))));
    }

    #[test]
    fn one_directory_is_a_text_and_several_are_a_list() {
        let dir = |text: &str| {
            let json = format!(r#"{{"venue":"dir","dir":{text}}}"#);
            let venue: VenuePlan = serde_json::from_str(&json).expect("reads");
            assert_eq!(serde_json::to_string(&venue).expect("serialises"), json);
            let VenuePlan::Dir { dir } = venue else {
                panic!("another venue: {venue:?}")
            };
            dir
        };
        assert_eq!(dir(r#""/a""#), Directories::from(vec!["/a".into()]));
        let two = dir(r#"["/a","/b"]"#);
        assert_eq!(two, Directories::from(vec!["/a".into(), "/b".into()]));
        assert_eq!(two.to_string(), "/a, /b");
        assert_eq!(two.as_slice().len(), 2);
    }

    #[test]
    fn a_plan_older_than_labs_reads_as_one_without_and_keeps_its_hash() {
        let guest = |lab: &str| {
            let text = format!(
                r#"{{"venue":"guest","folder":"/f","kernel":"k@a"{lab},"memory_bytes":1048576}}"#
            );
            serde_json::from_str::<VenuePlan>(&text).expect("reads")
        };
        let digest = |venue: &VenuePlan| venue.guest_lab().map(|lab| lab.digest);
        let old = guest("");
        assert_eq!(digest(&old).as_deref(), Some(""));
        assert_eq!(digest(&VenuePlan::Fake), None);
        let text = serde_json::to_string(&old).expect("serialises");
        assert!(!text.contains("lab"), "{text}");
        let new = guest(r#","lab":"0123456789ab""#);
        assert_eq!(digest(&new).as_deref(), Some("0123456789ab"));
        let hash = |venue| Plan { venue, ..plan() }.hash();
        assert_ne!(hash(old), hash(new));
    }

    #[test]
    fn the_kernel_of_a_subject_is_its_own_or_the_venues_and_stands_in_the_hash() {
        let lab = |name: &str| LabPlan {
            kernel: format!("6.12@{name}"),
            digest: format!("digest of {name}"),
        };
        let plan = |of_xfs: Option<LabPlan>| {
            let mut plan = plan();
            plan.venue = VenuePlan::Guest {
                folder: "/f".into(),
                kernel: lab("a").kernel,
                lab: lab("a").digest,
                memory_bytes: Bytes::gib(1),
                layers: Vec::new(),
            };
            plan.subjects[1].lab = of_xfs;
            plan
        };
        let (alike, mine) = (plan(None), plan(Some(lab("b"))));
        assert_eq!(alike.labs(), [lab("a")]);
        assert_eq!(mine.labs(), [lab("a"), lab("b")]);
        assert_eq!(mine.lab_of(&mine.subjects[0]), Some(lab("a")));
        assert_eq!(mine.lab_of(&mine.subjects[1]), Some(lab("b")));
        assert_ne!(alike.hash(), mine.hash());
        assert_ne!(mine.hash(), plan(Some(lab("c"))).hash());
        let text = serde_json::to_string(&alike).expect("serialises");
        assert!(!text.contains(r#""lab":null"#), "{text}");
        let elsewhere = Plan {
            venue: VenuePlan::Fake,
            ..mine
        };
        assert_eq!(elsewhere.labs(), []);
    }

    #[test]
    fn a_plan_older_than_layers_reads_as_one_without_and_keeps_its_hash() {
        let guest = |layers: &str| {
            let text = format!(
                r#"{{"venue":"guest","folder":"/f","kernel":"k@a","memory_bytes":1048576{layers}}}"#
            );
            serde_json::from_str::<VenuePlan>(&text).expect("reads")
        };
        let old = guest("");
        assert!(old.layers().is_empty());
        let text = serde_json::to_string(&old).expect("serialises");
        assert!(!text.contains("layers"), "{text}");
        let new = guest(r#","layers":[{"name":"compile","digest":"00"}]"#);
        assert_eq!(new.layers()[0].to_string(), "compile 00");
        let hash = |venue| Plan { venue, ..plan() }.hash();
        assert_ne!(hash(old), hash(new));
    }

    #[test]
    fn a_plan_reads_back_from_its_json() {
        let json = serde_json::to_string(&plan()).expect("serialises");
        assert_eq!(serde_json::from_str::<Plan>(&json).expect("reads"), plan());
    }

    #[test]
    fn trials_are_every_repeat_of_every_cell() {
        let names: Vec<_> = plan().trials().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["c0r0", "c1r0", "c0r1", "c1r1", "c0r2", "c1r2"]);
    }
}
