//! Study to plan: every value spelled out and validated before anything is touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::bounds::{self, TooMuchError};
use crate::phases::{self, PhasesError};
use crate::repetition::{self, Repetition, RepetitionError, repetition};
use crate::venue_choice::{Sizes, VenueChoice, choose_venue};
use fslab_disk::DiskError;
use fslab_engine::EngineKind;
use fslab_fs::CatalogueError;
use fslab_model::{
    Brings, Bytes, ColdMethod, FORMAT_VERSION, FailureKind, PhaseSpec, Plan, Scale, Study, Subject,
    SubjectPlan, VenuePlan,
};
use fslab_workload::Workload;

/// The workload that leaves nothing of what the phases before it made.
const CLEAR: &str = "clear";
/// A size in a hint is a whole number of these.
const SIZE_HINT_STEP_BYTES: u64 = 1 << 20;
/// Every device is a whole number of these; it is the page of every architecture that we know.
const SIZE_STEP_BYTES: u64 = 4096;

/// What was asked for, as typed.
#[derive(Clone, Debug)]
pub struct Request {
    /// The study.
    pub study: Study,
    /// Subjects, where they are not the study's own.
    pub subjects: Vec<String>,
    /// Where.
    pub venue: VenueChoice,
    /// Size of each file system, where it is not the study's own.
    pub size: Option<Bytes>,
    /// The profile by which each subject is aged once more, beside the fresh one.
    pub aged: Option<String>,
    /// How much smaller than its original, where it is not the study's own scale.
    pub scale: Option<Scale>,
    /// How often, where it is not as the study says.
    pub repetition: Repetition,
    /// Time limit of a trial in seconds, where it is not the study's own.
    pub trial_limit_s: Option<u32>,
    /// Decides order and data.
    pub seed: u64,
}

/// A plan, and what the user should know about how it came about.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// One line each.
    pub notices: Vec<String>,
    /// Whether the subjects are whatever the catalogue has: what cannot run is wanted as a row of
    /// its own then, and as an error otherwise.
    pub is_whole_catalogue: bool,
}

/// Why a study cannot be planned as asked.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// A subject, its options, or its size.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The phases, or the study's sizes.
    #[error(transparent)]
    Phases(#[from] PhasesError),
    /// The files do not fit.
    #[error(
        "the files of the study '{study}' take {needed}, more than {}{size}",
        left(*taken_percent)
    )]
    TooSmall {
        /// The study.
        study: String,
        /// What its phases leave on the file system at most.
        needed: Bytes,
        /// What there is.
        size: Bytes,
        /// How much of it the fullest subject was filled with before.
        taken_percent: u8,
        /// The size from which on they fit; `None` where they grow with it, and never do.
        enough: Option<Bytes>,
    },
    /// How often it is to be repeated.
    #[error(transparent)]
    Repetition(#[from] RepetitionError),
    /// More than any machine has time for, and more than any figure needs.
    #[error(transparent)]
    TooMuch(#[from] TooMuchError),
    /// A trial that could not even begin.
    #[error("the time limit of a trial is 0 s; there must be at least 1 s")]
    NoTime,
    /// The simulated disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file system that is larger than its disk.
    #[error("the disk '{disk}' has {capacity}, less than the size of {size}")]
    DiskTooSmall {
        /// The profile.
        disk: String,
        /// What it has.
        capacity: Bytes,
        /// What was asked for.
        size: Bytes,
    },
    /// A subject that is to be aged or filled where nothing is formatted.
    #[error("the subject '{subject}' cannot run in the venue 'dir', where nothing is formatted")]
    Stages {
        /// The subject.
        subject: String,
    },
    /// Subjects for which the venue is not made.
    #[error("the subject '{subject}' cannot run in the venue '{venue}'")]
    Venue {
        /// The subject.
        subject: String,
        /// The venue.
        venue: &'static str,
    },
    /// Neither loop devices nor a guest.
    #[error("cannot format and mount file systems: {reason}, and there is no lab for a guest")]
    NoVenue {
        /// Why not in the venue `loop`.
        reason: &'static str,
    },
    /// Subjects that are not what is mounted in the directory.
    #[error("cannot measure {subjects} in {dir}, where {mounted} is mounted", dir = .dir.display())]
    NotMounted {
        /// What was asked for.
        subjects: String,
        /// The directory.
        dir: PathBuf,
        /// The file system there.
        mounted: String,
    },
}

impl ResolveError {
    /// Whether the request or this machine is at fault.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::NoVenue { .. } | Self::NotMounted { .. } => FailureKind::Unsupported,
            _ => FailureKind::BadInput,
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Catalogue(catalogue) => catalogue.hint(),
            Self::TooSmall {
                enough: Some(enough),
                ..
            } => Some(format!("use --size {} or more", enough.to_argument())),
            Self::TooSmall { enough: None, .. } => Some(
                "they grow with the file system: fill it less, or make them smaller, like \
                 --set phase.NAME.file_size=64MiB"
                    .into(),
            ),
            Self::Phases(phases) => phases.hint(),
            Self::Venue { .. } => {
                Some("`fake` runs alone, and without --venue; the others run elsewhere".into())
            }
            Self::Stages { .. } => Some("leave out age= and fill=, or take another venue".into()),
            Self::Disk(disk) => disk.hint(),
            Self::DiskTooSmall { capacity, .. } => Some(format!(
                "use --size {} or less, or a larger --disk",
                capacity.to_argument()
            )),
            Self::Repetition(repetition) => repetition.hint(),
            Self::TooMuch(too_much) => Some(too_much.hint()),
            Self::NoVenue { .. } => Some(
                "`fslab lab build` makes a lab, once, and needs no privileges; --dir DIR measures \
                 what is mounted there"
                    .into(),
            ),
            Self::NotMounted { mounted, .. } => Some(format!(
                "name no subject to measure {mounted}; the venues loop, guest and sim format what \
                 is named"
            )),
            Self::NoTime => None,
        }
    }
}

/// Resolves `request` against this machine. Nothing is created or changed.
///
/// # Errors
/// [`ResolveError`]: all of them are bad input.
pub fn resolve(request: &Request) -> Result<Resolved, ResolveError> {
    let study = &request.study;
    let mut notices = Vec::new();
    let scale = request.scale.unwrap_or(study.scale.default);
    let size = request
        .size
        .map_or_else(|| phases::size(study, scale), Ok)?;
    let memory = phases::memory(study, scale)?;
    let size = whole_pages(size, &mut notices);
    let asked = if request.subjects.is_empty() {
        &study.subjects
    } else {
        &request.subjects
    };
    bounds::ensure_subjects(asked.len())?;
    let mut subjects = fslab_fs::parse_subjects(asked)?;
    if let Some(profile) = &request.aged {
        subjects = with_aged_twins(&subjects, profile)?;
    }
    let is_whole_catalogue = asked.iter().any(|word| word == fslab_fs::ALL_WORD);
    let venue = choose_venue(request, Sizes { size, memory }, &subjects, &mut notices)?;
    let repeated = repetition(study, &request.repetition, venue.kind())?;
    notices.extend(repeated.notice);
    let trial_limit_s = request
        .trial_limit_s
        .unwrap_or_else(|| repetition::trial_limit_s(study, repeated.rounds));
    if trial_limit_s == 0 {
        return Err(ResolveError::NoTime);
    }
    let subjects = match &venue {
        VenuePlan::Dir { dir } => {
            vec![recognised(dir, &subjects, !request.subjects.is_empty())?]
        }
        _ => subjects
            .iter()
            .map(|subject| planned(subject, &venue, (!is_whole_catalogue).then_some(size)))
            .collect::<Result<_, _>>()?,
    };
    let plan = Plan {
        scale,
        figures: study.figures.clone(),
        adaptive: repeated.adaptive,
        perturb: repeated.perturb,
        rounds: repeated.rounds,
        required_facts: study.required_facts.clone(),
        format: FORMAT_VERSION,
        study: study.name.clone(),
        title: study.title.clone(),
        size_bytes: size,
        cold: cold_method(&venue),
        engine: engine(&venue).to_string(),
        subjects,
        phases: phases::phases(study, scale, size)?,
        repeats: repeated.repeats,
        trial_limit_s,
        seed: request.seed,
        venue,
    };
    bounds::demand(&plan)?;
    ensure_room(&plan, &|size| {
        footprint(&phases::phases(study, scale, size)?)
    })?;
    repetition::ensure_key(plan.adaptive.as_ref(), &plan.phases)?;
    Ok(Resolved {
        plan,
        notices,
        is_whole_catalogue,
    })
}

/// Rounds down to what a device can have, as with the decimal `20GB`.
fn whole_pages(size: Bytes, notices: &mut Vec<String>) -> Bytes {
    let whole = Bytes((size.0 / SIZE_STEP_BYTES * SIZE_STEP_BYTES).max(SIZE_STEP_BYTES));
    if whole != size {
        notices.push(format!(
            "the size of {} bytes is rounded to {}, a multiple of {SIZE_STEP_BYTES} bytes",
            size.0, whole.0
        ));
    }
    whole
}

/// What there is of a size, in words, where a subject was filled before.
fn left(taken_percent: u8) -> String {
    match taken_percent {
        0 => "the size of ".to_owned(),
        taken => format!("a subject that is {taken} % full leaves of "),
    }
}

/// Demands that the files of the phases fit, beside what a subject was filled with before;
/// `footprint` is what they take on a file system of another size.
fn ensure_room(
    plan: &Plan,
    footprint: &dyn Fn(Bytes) -> Result<Bytes, ResolveError>,
) -> Result<(), ResolveError> {
    let taken = plan.subjects.iter().map(|it| it.subject.filled_percent());
    let taken = taken.max().unwrap_or(0).min(99);
    let left = f64::from(100 - taken) / 100.0;
    let fits = |needed: Bytes, size: Bytes| needed.0 as f64 <= left * size.0 as f64;
    let size = plan.size_bytes;
    let needed = footprint(size)?;
    if fits(needed, size) {
        return Ok(());
    }
    // Files are of a fixed length, or a share of the size: what they take is a straight line.
    let twice = footprint(Bytes(size.0.saturating_mul(2)))?;
    let share = (twice.0 as f64 - needed.0 as f64) / size.0 as f64;
    let fixed = needed.0 as f64 - share * size.0 as f64;
    let least = (fixed / (left - share)).max(0.0) as u64;
    let enough = least
        .checked_next_multiple_of(SIZE_HINT_STEP_BYTES)
        .and_then(|whole| whole.checked_add(SIZE_HINT_STEP_BYTES))
        .map(Bytes)
        .filter(|_| share < left);
    let enough = match enough {
        Some(enough) if fits(footprint(enough)?, enough) => Some(enough),
        _ => None,
    };
    Err(ResolveError::TooSmall {
        study: plan.study.clone(),
        needed,
        size,
        taken_percent: taken,
        enough,
    })
}

/// Each subject, and behind it the same one aged.
fn with_aged_twins(subjects: &[Subject], profile: &str) -> Result<Vec<Subject>, CatalogueError> {
    let aged: Vec<_> = subjects
        .iter()
        .flat_map(|subject| [subject.to_string(), format!("{subject}:age={profile}")])
        .collect();
    fslab_fs::parse_subjects(&aged)
}

/// The most that the files of these phases take together.
///
/// # Errors
/// Where a phase was not made by [`resolve`].
pub fn footprint(phases: &[PhaseSpec]) -> Result<Bytes, ResolveError> {
    let mut largest: BTreeMap<Option<Vec<PathBuf>>, u64> = BTreeMap::new();
    let mut most = 0;
    for phase in phases {
        if phase.workload == CLEAR {
            most = most.max(together(&largest));
            largest.clear();
            continue;
        }
        let failed = |source| PhasesError::Workload {
            phase: phase.name.clone(),
            source,
        };
        let workload = Workload::of_phase(phase).map_err(failed)?;
        // Phases that work on the same files share their room.
        let files = workload.data_files(&phase.parameters).map_err(failed)?;
        let bytes = workload.footprint(&phase.parameters).map_err(failed)?.0;
        let entry = largest.entry(files).or_default();
        *entry = bytes.max(*entry);
    }
    Ok(Bytes(most.max(together(&largest))))
}

/// What the phases need of this machine and a guest does not have, by the workload that needs it.
///
/// # Errors
/// Where a phase was not made by [`resolve`].
pub fn brings(phases: &[PhaseSpec]) -> Result<BTreeMap<String, Brings>, ResolveError> {
    let mut all: BTreeMap<String, Brings> = BTreeMap::new();
    for phase in phases {
        let failed = |source| PhasesError::Workload {
            phase: phase.name.clone(),
            source,
        };
        let workload = Workload::of_phase(phase).map_err(failed)?;
        let brings = workload.brings(&phase.parameters).map_err(failed)?;
        if !brings.is_empty() {
            all.entry(phase.workload.clone()).or_default().merge(brings);
        }
    }
    Ok(all)
}

fn together(largest: &BTreeMap<Option<Vec<PathBuf>>, u64>) -> u64 {
    largest.values().copied().fold(0, u64::saturating_add)
}

/// The subject of the `dir` venue: the file system that is mounted there. Subjects that the user
/// named must be that one; those of the study need not.
fn recognised(
    dir: &Path,
    subjects: &[Subject],
    are_named: bool,
) -> Result<SubjectPlan, ResolveError> {
    if let Some(subject) = subjects.iter().find(|subject| !subject.stages().is_empty()) {
        return Err(ResolveError::Stages {
            subject: subject.to_string(),
        });
    }
    let found = fslab_fs::recognise(dir)?;
    let others: Vec<_> = subjects
        .iter()
        .filter(|subject| are_named && **subject != Subject::plain(&found.fs_type))
        .map(ToString::to_string)
        .collect();
    if !others.is_empty() {
        return Err(ResolveError::NotMounted {
            subjects: others.join(", "),
            dir: dir.to_owned(),
            mounted: found.fs_type,
        });
    }
    Ok(SubjectPlan {
        subject: Subject::plain(found.fs_type),
        mkfs: None,
        mount: None,
        check: None,
    })
}

/// The subject with its commands; where a `size` is given it must be enough.
fn planned(
    subject: &Subject,
    venue: &VenuePlan,
    size: Option<Bytes>,
) -> Result<SubjectPlan, ResolveError> {
    let file_system = fslab_fs::find(subject.fs())?;
    let plan = file_system.plan(subject)?;
    let is_fake = matches!(venue, VenuePlan::Fake);
    let is_mounted = plan.mount.is_some();
    if is_mounted == is_fake {
        return Err(ResolveError::Venue {
            subject: subject.to_string(),
            venue: venue.kind().as_str(),
        });
    }
    if let Some(size) = size.filter(|_| !is_fake) {
        file_system.validate_size(size)?;
    }
    Ok(plan)
}

fn cold_method(venue: &VenuePlan) -> ColdMethod {
    match venue {
        VenuePlan::Loop { .. }
        | VenuePlan::Block { .. }
        | VenuePlan::Guest { .. }
        | VenuePlan::Sim { .. }
        | VenuePlan::Fake => ColdMethod::Remount,
        VenuePlan::Dir { .. } if fslab_sys::is_superuser() => ColdMethod::Drop,
        VenuePlan::Dir { .. } | VenuePlan::Imported { .. } => ColdMethod::Evict,
    }
}

fn engine(venue: &VenuePlan) -> EngineKind {
    match venue {
        VenuePlan::Fake => EngineKind::Null,
        _ => EngineKind::Psync,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(subjects: &[&str]) -> Request {
        Request {
            study: crate::load_study("quick").expect("built in").0,
            subjects: subjects.iter().map(ToString::to_string).collect(),
            venue: VenueChoice::Named(VenuePlan::Loop {
                folder: "/var/tmp".into(),
            }),
            size: None,
            aged: None,
            scale: None,
            repetition: Repetition::default(),
            trial_limit_s: None,
            seed: 1,
        }
    }

    #[test]
    fn the_quick_study_resolves_with_every_value_spelled_out() {
        let plan = resolve(&request(&["ext4", "xfs"])).expect("resolves").plan;
        assert_eq!(plan.subjects.len(), 2);
        assert_eq!(plan.phases[0].parameters["file_size"], 256 << 20);
        assert_eq!(plan.cold, ColdMethod::Remount);
        assert!(plan.subjects[0].mkfs.is_some());
    }

    #[test]
    fn a_study_without_named_subjects_takes_its_own() {
        assert_eq!(
            resolve(&request(&[]))
                .expect("resolves")
                .plan
                .subjects
                .len(),
            3
        );
    }

    #[test]
    fn a_size_that_is_too_small_for_the_file_system_or_the_study_is_refused() {
        let small = Request {
            size: Some(Bytes::mib(16)),
            ..request(&["xfs"])
        };
        assert!(matches!(resolve(&small), Err(ResolveError::Catalogue(_))));
        let small = Request {
            size: Some(Bytes::mib(32)),
            ..request(&["ext2"])
        };
        assert!(matches!(
            resolve(&small),
            Err(ResolveError::TooSmall { .. })
        ));
    }

    #[test]
    fn files_that_do_not_fit_beside_what_fills_a_subject_tell_what_would() {
        let filled = |subject: &str, size| {
            resolve(&Request {
                size,
                ..request(&["ext4", subject])
            })
        };
        let enough = |subject: &str| match filled(subject, None) {
            Err(ResolveError::TooSmall { enough, .. }) => enough,
            other => panic!("{subject}: {other:?}"),
        };
        let size = enough("ext4:fill=70%").expect("a quarter of more fits in three tenths");
        assert!(filled("ext4:fill=70%", Some(size)).is_ok());
        let less = Bytes(size.0 - 64 * SIZE_HINT_STEP_BYTES);
        assert!(filled("ext4:fill=70%", Some(less)).is_err(), "{size}");
        // A quarter of the size does not fit in a fifth of it, whatever the size.
        assert_eq!(enough("ext4:age=churn,full=80%"), None);
    }

    #[test]
    fn an_unknown_subject_names_the_nearest() {
        let error = resolve(&request(&["brtfs"])).expect_err("unknown");
        let ResolveError::Catalogue(error) = error else {
            panic!("{error}")
        };
        assert!(error.hint().is_some_and(|hint| hint.contains("btrfs")));
    }

    #[test]
    fn only_fake_subjects_choose_the_fake_venue_and_are_refused_elsewhere() {
        let auto = VenueChoice::Auto {
            folder: "/var/tmp".into(),
            guest: None,
        };
        let fake = Request {
            venue: auto,
            ..request(&["fake"])
        };
        let plan = resolve(&fake).expect("resolves").plan;
        assert_eq!(
            (plan.venue, plan.engine.as_str()),
            (VenuePlan::Fake, "null")
        );
        assert!(matches!(
            resolve(&request(&["fake"])),
            Err(ResolveError::Venue { .. })
        ));
    }

    #[test]
    fn in_a_directory_the_file_system_is_the_one_that_is_mounted_there() {
        let folder = tempfile::tempdir().expect("a directory");
        let dir = VenuePlan::Dir {
            dir: folder.path().into(),
        };
        let asked = |subjects: &[&str]| Request {
            venue: VenueChoice::Named(dir.clone()),
            ..request(subjects)
        };
        let resolved = resolve(&asked(&[])).expect("resolves");
        assert_eq!(resolved.plan.subjects.len(), 1);
        assert_eq!(resolved.plan.subjects[0].mkfs, None);
        let mounted = resolved.plan.subjects[0].subject.to_string();
        assert!(resolve(&asked(&[&mounted])).is_ok());
        let error = resolve(&asked(&["xfs:noatime"])).expect_err("another one");
        assert_eq!(error.kind(), FailureKind::Unsupported);
        assert!(error.to_string().contains("xfs:mount=noatime"), "{error}");
    }

    #[test]
    fn repeats_that_make_no_sense_and_keys_that_are_no_phase_are_refused() {
        let repeated = |text: &str, key: &[&str]| {
            let repetition = Repetition {
                repeats: Some(text.parse().expect("repeats")),
                key: key.iter().map(ToString::to_string).collect(),
                ..Repetition::default()
            };
            resolve(&Request {
                repetition,
                ..request(&[])
            })
        };
        let none = repeated("0", &[]);
        assert!(matches!(none, Err(ResolveError::Repetition(_))));
        let Err(ResolveError::Repetition(error)) = repeated("3..20", &["wirte"]) else {
            panic!("must be refused")
        };
        assert_eq!(error.hint().as_deref(), Some("did you mean 'write'?"));
        let plan = repeated("3..20", &["write"]).expect("resolves").plan;
        assert_eq!(plan.adaptive.map(|adaptive| adaptive.repeats_max), Some(20));
    }

    #[test]
    fn a_limit_of_zero_is_refused_and_an_uneven_size_is_rounded_down() {
        let hasty = Request {
            trial_limit_s: Some(0),
            ..request(&[])
        };
        assert!(matches!(resolve(&hasty), Err(ResolveError::NoTime)));
        let uneven = Request {
            size: Some(Bytes((1 << 30) + 1)),
            ..request(&[])
        };
        let resolved = resolve(&uneven).expect("a plan");
        assert_eq!(resolved.plan.size_bytes, Bytes::gib(1));
        assert!(
            resolved
                .notices
                .iter()
                .any(|notice| notice.contains("is rounded to 1073741824")),
            "{:?}",
            resolved.notices
        );
    }
}
