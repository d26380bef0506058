//! Resolves a study to a plan: every value explicit and validated, before anything is changed.

use std::collections::BTreeMap;

use fslab_engine::EngineKind;
use fslab_model::{
    Brings, Bytes, ColdMethod, FORMAT_VERSION, Failure, PhaseSpec, Plan, Study, Subject,
    SubjectPlan, VenueKind, VenuePlan,
};
use fslab_workload::Workload;

use super::footprint::footprint;
use super::request::{Request, asked};
use super::resolve_error::ResolveError;
use crate::original::data_to_memory;
use crate::phases::{self, PhasesError, PlannedSize};
use crate::repetition;
use crate::repetition::repetition;
use crate::venue_choice::{Sizes, choose_venue};
use crate::{bounds, directories, judging, kernels, stacks};

/// Sizes in hints are multiples of this.
const SIZE_HINT_STEP_BYTES: u64 = 1 << 20;
/// Sizes of devices are multiples of this, the page size of all known architectures.
const SIZE_STEP_BYTES: u64 = 4096;
/// With less, Linux writes back page by page.
const DIRTY_LIMIT_MIN: Bytes = Bytes::mib(1);

/// A plan with notices for the user.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub plan: Plan,
    /// Notices, one line each.
    pub notices: Vec<String>,
    /// True if the subjects are all of the catalogue: those that cannot run then get a row;
    /// otherwise they are an error.
    pub is_whole_catalogue: bool,
}

/// Resolves `request` on this machine. Nothing is created or changed.
#[expect(clippy::too_many_lines, reason = "a plan has many fields")]
pub fn resolve(request: &Request) -> Result<Resolved, ResolveError> {
    let study = &request.study;
    let mut notices = Vec::new();
    let scale = request.scale.unwrap_or(study.scale.default);
    let sizes = phases::size(study, scale, request.size)?;
    let size = whole_pages(sizes.size, &mut notices);
    let sizes = PlannedSize { size, ..sizes };
    let memory = phases::memory(study, scale)?;
    let asked = asked(study, &request.subjects);
    let subjects = parse(asked, request.aged.as_deref())?;
    let is_whole_catalogue = asked.iter().any(|word| fslab_fs::selects_all(word));
    let venue = choose_venue(
        request,
        Sizes {
            size,
            memory,
            scale,
        },
        &subjects,
        &mut notices,
    )?;
    notices.extend(another_disk(study, venue.kind()));
    let labs = kernels::labs(&subjects, &request.venue, venue.kind())?;
    let compared = compared(&venue, subjects.len());
    let repeated = repetition(study, &request.repetition, venue.kind(), compared)?;
    notices.extend(repeated.notice);
    let of_study = || repetition::trial_limit_s(study, repeated.rounds);
    let trial_limit_s = request.trial_limit_s.unwrap_or_else(of_study);
    if trial_limit_s == 0 {
        return Err(ResolveError::NoTime);
    }
    let subjects = match &venue {
        VenuePlan::Dir { dir } => {
            bounds::ensure_subjects(dir.as_slice().len())?;
            let named = !request.subjects.is_empty();
            directories::subjects(dir.as_slice(), &subjects, named, &mut notices)
                .map_err(ResolveError::Directory)?
        }
        _ => subjects
            .iter()
            .zip(labs)
            .map(|(subject, lab)| {
                let size = (!is_whole_catalogue).then_some(size);
                planned(subject, &venue, size).map(|plan| SubjectPlan { lab, ..plan })
            })
            .collect::<Result<Vec<_>, _>>()?,
    };
    let subjects = match is_whole_catalogue {
        true => kernels::with_driver(subjects, &venue, &mut notices),
        false => subjects,
    };
    let phases = phases::phases(study, scale, sizes)?;
    notices.extend(compresses_nothing(&subjects, &phases));
    notices.extend(stacks::costs_no_processor(&subjects, &venue));
    let plan = Plan {
        survival: judging::planned(request, &phases, size)?,
        scale,
        data_to_memory: data_to_memory(study, &phases, &venue)?,
        figures: study.figures.clone(),
        adaptive: repeated.adaptive,
        perturb: repeated.perturb,
        rounds: repeated.rounds,
        required_facts: study.required_facts.clone(),
        format: FORMAT_VERSION,
        study: study.name.clone(),
        title: study.title.clone(),
        question: study.question.clone(),
        answer: study.answer.clone(),
        condition: None,
        score: study.score.clone(),
        size_bytes: size,
        cold: cold_method(&venue),
        cold_after_s: cold_after(request.cold_after_s, &venue)?,
        dirty_limit_bytes: dirty_limit(request, phases::dirty_limit(study, scale)?, &venue)?,
        engine: engine(&venue).to_string(),
        subjects,
        phases,
        repeats: repeated.repeats,
        ranks: request.ranks.max(1),
        trial_limit_s,
        seed: request.seed,
        venue,
    };
    bounds::demand(&plan)?;
    ensure_room(&plan, &|size| {
        footprint(&phases::phases(study, scale, sizes.of(size))?)
    })?;
    repetition::ensure_key(plan.adaptive.as_ref(), &plan.phases)?;
    Ok(Resolved {
        plan,
        notices,
        is_whole_catalogue,
    })
}

/// A notice if a subject compresses data that cannot be compressed.
fn compresses_nothing(subjects: &[SubjectPlan], phases: &[PhaseSpec]) -> Option<String> {
    let is_asked = |option: &String| {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let is_off = ["no", "none", "off"].contains(&value);
        [
            "compress",
            "compress-force",
            "compression",
            "compress_algorithm",
        ]
        .contains(&key)
            && !is_off
    };
    let subject = subjects
        .iter()
        .map(|planned| &planned.subject)
        .find(|subject| subject.mount_options().iter().any(is_asked))?;
    let compressible = |phase: &PhaseSpec| {
        let content = phase.parameters.get("content")?;
        content.get("compressible_percent")?.as_u64()
    };
    if phases
        .iter()
        .filter_map(compressible)
        .any(|percent| percent > 0)
    {
        return None;
    }
    let written = |phase: &&PhaseSpec| {
        Workload::of_phase(phase).is_ok_and(|workload| workload.may_set("content"))
    };
    let phase = phases
        .iter()
        .find(written)
        .map_or("NAME", |phase| phase.name.as_str());
    Some(format!(
        "{subject} compresses, but the data written cannot be compressed; half of it can with --set \
         phase.{phase}.content.compressible_percent=50, for each phase that writes"
    ))
}

/// The subjects of these texts, each with its aged variant if a profile is given.
fn parse(asked: &[String], aged: Option<&str>) -> Result<Vec<Subject>, ResolveError> {
    bounds::ensure_subjects(asked.len())?;
    let subjects = fslab_fs::parse_subjects(asked)?;
    match aged {
        Some(profile) => Ok(with_aged_variants(&subjects, profile)?),
        None => Ok(subjects),
    }
}

/// How many subjects are compared: each directory is one, whatever was named.
fn compared(venue: &VenuePlan, subjects: usize) -> usize {
    match venue {
        VenuePlan::Dir { dir } => dir.as_slice().len(),
        _ => subjects,
    }
}

/// A notice if the study is about a disk, and an image on another one is measured.
fn another_disk(study: &Study, venue: VenueKind) -> Option<String> {
    let disk = study.disk.as_deref()?;
    let is_image = matches!(venue, VenueKind::Loop | VenueKind::Guest);
    is_image.then(|| {
        format!(
            "the study is about the disk {disk}, and the venue {} measures an image on a disk of this \
             machine; --venue sim simulates {disk}, --destroy DEVICE measures a device",
            venue.as_str()
        )
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

/// Checks that the files of the phases fit in addition to those of stages; `footprint` gives their
/// space on a file system of another size.
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
    // Files have a fixed size or a share of the file system: their sum is linear in its size.
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

/// Each subject, followed by its aged variant.
fn with_aged_variants(subjects: &[Subject], profile: &str) -> Result<Vec<Subject>, Failure> {
    let aged: Vec<_> = subjects
        .iter()
        .flat_map(|subject| [subject.to_string(), format!("{subject}:age={profile}")])
        .collect();
    fslab_fs::parse_subjects(&aged)
}

/// Files and programs of this machine that the phases need in a guest, by workload.
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

/// The subject with its commands; checks the `size` if given.
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
    stacks::ensure_disks(subject, venue)?;
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

/// By how many seconds the wall clock is advanced before each cold phase.
///
/// # Errors
/// Bad input where the clock is this machine's.
fn cold_after(asked_s: u64, venue: &VenuePlan) -> Result<u64, Failure> {
    let is_guest = matches!(venue, VenuePlan::Guest { .. } | VenuePlan::Sim { .. });
    if asked_s > 0 && !is_guest {
        let venue = venue.kind().as_str();
        return Err(Failure::bad_input(format!(
            "the venue {venue} has the clock of this machine, which fslab does not set"
        ))
        .hint("--cold-after takes --venue guest or sim"));
    }
    Ok(asked_s)
}

/// The most memory that waits to be written, of the request or else `of_study`, which holds in
/// guests only.
///
/// # Errors
/// Bad input where the memory is this machine's.
fn dirty_limit(
    request: &Request,
    of_study: Option<Bytes>,
    venue: &VenuePlan,
) -> Result<Option<Bytes>, Failure> {
    match (venue, request.dirty_limit) {
        (VenuePlan::Guest { .. } | VenuePlan::Sim { .. }, asked) => match asked.or(of_study) {
            Some(limit) if limit < DIRTY_LIMIT_MIN => Err(Failure::bad_input(format!(
                "the limit of memory that waits to be written is {limit}, less than \
                 {DIRTY_LIMIT_MIN}"
            ))
            .hint("--dirty-limit takes a size, for example 64MiB")),
            limit => Ok(limit),
        },
        (_, None) => Ok(None),
        (_, Some(_)) => {
            let venue = venue.kind().as_str();
            let text = format!(
                "the venue {venue} has the page cache of this machine, whose limits fslab does \
                 not set"
            );
            let hint = "--dirty-limit takes --venue guest or sim";
            Err(Failure::bad_input(text).hint(hint))
        }
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
    use crate::{Repetition, VenueChoice};
    use fslab_model::FailureKind;

    fn request(subjects: &[&str]) -> Request {
        let study = crate::load_study("quick").expect("built in").0;
        let folder = "/var/tmp".into();
        let venue = VenueChoice::Named(VenuePlan::Loop { folder });
        Request::new(study, subjects, venue, 1)
    }

    #[test]
    fn what_waits_to_be_written_is_limited_in_guests_only_and_follows_the_memory() {
        let sim = VenuePlan::Guest {
            folder: "/var/tmp".into(),
            kernel: "k".into(),
            lab: String::new(),
            memory_bytes: Bytes::gib(1),
            layers: Vec::new(),
        };
        let with = |venue: &VenuePlan, asked: Option<Bytes>, of_study: Option<Bytes>| {
            let mut request = request(&["ext4"]);
            request.dirty_limit = asked;
            dirty_limit(&request, of_study, venue)
        };
        let (small, large) = (Some(Bytes::mib(64)), Some(Bytes::mib(256)));
        assert_eq!(with(&sim, small, large).expect("a limit"), small);
        assert_eq!(with(&sim, None, large).expect("a limit"), large);
        assert_eq!(with(&sim, None, None).expect("no limit"), None);
        let error = with(&sim, Some(Bytes(4096)), None).expect_err("too little");
        assert!(error.message.contains("less than 1 MiB"), "{error}");
        let folder = "/var/tmp".into();
        let loops = VenuePlan::Loop { folder };
        assert_eq!(with(&loops, None, large).expect("none"), None);
        let error = with(&loops, small, None).expect_err("of this machine");
        assert!(error.message.contains("the page cache of this machine"));
        let mut study = crate::load_study("small-files").expect("built in").0;
        study.dirty_limit = Some("64MiB".to_owned());
        let at = |scale: &str| phases::dirty_limit(&study, scale.parse().expect("a scale"));
        assert_eq!(at("1").expect("a size"), small);
        assert_eq!(at("1/16").expect("a size"), Some(Bytes::mib(4)));
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
    fn if_files_do_not_fit_beside_those_of_stages_the_hint_has_a_sufficient_size() {
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
        // A quarter of the size never fits in a fifth of it.
        assert_eq!(enough("ext4:age=churn,full=80%"), None);
    }

    #[test]
    fn an_unknown_subject_names_the_nearest() {
        let error = resolve(&request(&["brtfs"])).expect_err("unknown");
        let ResolveError::Catalogue(error) = error else {
            panic!("{error}")
        };
        assert!(error.hint.is_some_and(|hint| hint.contains("btrfs")));
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
            dir: folder.path().to_owned().into(),
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
    fn invalid_repeats_and_unknown_key_phases_are_refused() {
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
