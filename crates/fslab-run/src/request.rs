//! What is asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fslab_disk::Machine;
use fslab_model::{Bytes, LabPlan, Scale, Study, VenuePlan};

use crate::repetition::Repetition;

/// A request as typed.
#[derive(Clone, Debug)]
pub struct Request {
    pub study: Study,
    /// Subjects; empty for the study's.
    pub subjects: Vec<String>,
    /// Where trials run.
    pub venue: VenueChoice,
    /// Size of each file system; `None` for the study's.
    pub size: Option<Bytes>,
    /// Ageing profile: each subject also runs aged by it.
    pub aged: Option<String>,
    /// Scale; `None` for the study's.
    pub scale: Option<Scale>,
    /// Overrides of the study's repetition.
    pub repetition: Repetition,
    /// Time limit of a trial in seconds; `None` for the study's.
    pub trial_limit_s: Option<u32>,
    /// By how many seconds a guest's wall clock is advanced before each cold phase.
    pub cold_after_s: u64,
    /// The most memory of a guest that waits to be written; `None` for the study's.
    pub dirty_limit: Option<Bytes>,
    /// The most states after a power loss that are judged of each subject; `None`: none.
    pub survival: Option<usize>,
    /// Seed of order and data.
    pub seed: u64,
    /// Number of processes that run each phase together.
    pub ranks: u32,
}

impl Request {
    /// A request with `seed` for `subjects` at `venue` that leaves everything else to the study.
    pub fn new(study: Study, subjects: &[&str], venue: VenueChoice, seed: u64) -> Self {
        Self {
            study,
            subjects: subjects.iter().map(ToString::to_string).collect(),
            venue,
            size: None,
            aged: None,
            scale: None,
            repetition: Repetition::default(),
            trial_limit_s: None,
            cold_after_s: 0,
            dirty_limit: None,
            survival: None,
            seed,
            ranks: 1,
        }
    }
}

/// The subjects named, or the study's.
pub(crate) fn asked<'a>(study: &'a Study, named: &'a [String]) -> &'a [String] {
    match named.is_empty() {
        true => &study.subjects,
        false => named,
    }
}

/// The user's choice of a venue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VenueChoice {
    /// `loop` if possible, else `guest`, with a notice.
    Auto {
        /// Directory of images.
        folder: PathBuf,
        /// The guest kernel, if one is built.
        guest: Option<GuestChoice>,
    },
    /// A guest kernel in real time.
    Guest(GuestChoice),
    /// A guest kernel in virtual time on simulated hardware.
    Sim(GuestChoice, Hardware),
    /// A fixed venue.
    Named(VenuePlan),
}

/// Simulated hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// A disk profile: a name or file; `None` for the machine's or the study's.
    pub disk: Option<String>,
    /// The machine; `None` for the study's memory and disk, and a processor that takes no time.
    pub machine: Option<Machine>,
}

/// A guest kernel, those that subjects name instead of it, and the directory of their disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestChoice {
    /// Directory of images.
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
