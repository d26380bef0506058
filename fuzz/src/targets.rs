//! The targets: each reads an input as the command would, and goes on with what it read as far as
//! nothing is touched.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fslab_claims::{Claims, FurtherRun, Original, Published, evaluate, then_and_now};
use fslab_crash::{
    Budget, CrashState, DiskCache, DiskLog, Examination, FlushDrop, LogLimits, Piece, RequestKind,
    StateChoice, StateOutcome, StatePart, StateView, pieces, read_log, read_outline, write_log,
};
use fslab_disk::Profile;
use fslab_engine::EngineKind;
use fslab_exchange::{
    Format, Labels, Source, csv_wide, fio_json, import, ior_json, mdtest_text, parquet,
};
use fslab_jobfile::{JobFileKind, JobFileReader};
use fslab_lab::{Cache, KernelName as LabName};
use fslab_model::{
    Bytes, Parameters, PhaseSpec, Plan, RunId, RunRecord, Study, TrialSpec, VenuePlan,
};
use fslab_report::Cells;
use fslab_run::{GuestChoice, Request, VenueChoice, footprint, resolve};
use fslab_trace::{Schedule, Trace};
use fslab_workload::Workload;

/// A run for the claims of a target to be judged by.
static RUN: LazyLock<RunRecord> = LazyLock::new(|| {
    let text = include_str!("../../tests/fixtures/stores/v4.json");
    serde_json::from_str(text).expect("a fixture of this version")
});

/// The claims of a study, for published values that have none.
static CLAIMS: LazyLock<Claims> = LazyLock::new(|| {
    let text = include_str!("../../studies/bonnie-2010/claims.toml");
    Claims::from_toml(text).expect("is built in")
});

/// The name of what is imported.
const IMPORTED: &str = "imported";

fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

/// A study is planned, in one of the kinds of venue: that of its length.
pub(crate) fn study(input: &[u8]) {
    if let Some(study) = text(input).and_then(|text| Study::from_toml(text).ok()) {
        planned(input, study);
    }
}

/// The study of a job file of fio is planned.
pub(crate) fn job_fio(input: &[u8]) {
    job(JobFileKind::Fio, input);
}

/// The study of a personality of filebench is planned.
pub(crate) fn job_filebench(input: &[u8]) {
    job(JobFileKind::Filebench, input);
}

fn job(kind: JobFileKind, input: &[u8]) {
    let Some(text) = text(input) else { return };
    let variables = BTreeMap::from([("SIZE".to_owned(), "1m".to_owned())]);
    let reader = JobFileReader {
        kind,
        file: "job",
        variables: &variables,
        include: &|_| Ok("thread".to_owned()),
    };
    match reader.read(text) {
        Ok(made) => planned(input, made.study),
        Err(error) => drop(
            error
                .problems
                .iter()
                .map(ToString::to_string)
                .collect::<String>(),
        ),
    }
}

fn planned(input: &[u8], study: Study) {
    let guest = GuestChoice {
        folder: "/var/tmp".into(),
        kernel: "linux@0".into(),
        lab: "0123456789ab".into(),
        named: BTreeMap::new(),
        memory: None,
    };
    let venue = match input.len() % 3 {
        0 => VenueChoice::Named(VenuePlan::Loop {
            folder: "/var/tmp".into(),
        }),
        1 => VenueChoice::Named(VenuePlan::Fake),
        _ => VenueChoice::Sim(guest, fslab_run::Hardware::default()),
    };
    match resolve(&Request::new(study, &[], venue, 1)) {
        Ok(resolved) => {
            let text = serde_json::to_string(&resolved.plan).expect("a plan is JSON");
            serde_json::from_str::<Plan>(&text).expect("reads back");
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Claims are judged by a run of another study.
pub(crate) fn claims(input: &[u8]) {
    let Some(read) = text(input).map(Claims::from_toml) else {
        return;
    };
    match read {
        Ok(claims) => {
            let further = FurtherRun {
                run: &RUN,
                platform: Some("windows"),
            };
            drop(evaluate(&claims, &RUN, &[further]));
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Published values are set beside a run.
pub(crate) fn published(input: &[u8]) {
    let Some(read) = text(input).map(|text| Published::from_csv(text, "published.csv")) else {
        return;
    };
    match read {
        Ok(published) => {
            let original = Original {
                claims: CLAIMS.clone(),
                published,
            };
            drop(then_and_now(&original, &RUN));
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A profile is written back, and its figures are derived.
pub(crate) fn profile(input: &[u8]) {
    let Some(Ok(profile)) = text(input).map(Profile::from_toml) else {
        return;
    };
    let written = Profile::from_toml(&profile.to_toml()).expect("reads back");
    assert_eq!(written.digest(), profile.digest(), "reads back as itself");
    drop((profile.derived(), profile.parameters(), profile.simulated()));
}

/// A lab is taken into an empty cache: what is refused leaves nothing there, and what is taken is
/// complete.
pub(crate) fn import_lab(input: &[u8]) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let file = place.path().join("lab.tar");
    std::fs::write(&file, input).expect("is written");
    let cache = Cache::below(&place.path().join("cache"));
    match fslab_lab::import_lab(&cache, &file, &LabName::default()) {
        Ok(lab) => lab.verify().expect("is complete"),
        Err(error) => {
            drop(error.to_string());
            let shelf = cache.labs().expect("is listed");
            assert!(shelf.labs.is_empty() && shelf.unreadable.is_empty());
        }
    }
}

/// A bundle joins a cache completely or not at all; nothing appears beside the cache.
pub(crate) fn bundle(input: &[u8]) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let file = place.path().join("mine.bundle");
    std::fs::write(&file, input).expect("is written");
    let cache = Cache::below(&place.path().join("cache"));
    match fslab_lab::take_bundle(&cache, &file) {
        Ok(taken) => {
            let manifest = fslab_lab::read_manifest(&file).expect("was read before");
            let found = fslab_lab::find_bundle(&cache, &manifest);
            assert_eq!(found.as_ref(), Some(&taken), "is in the cache");
            assert!(taken.study().starts_with(cache.folder()));
        }
        Err(error) => {
            drop(error.to_string());
            let shelf = cache.labs().expect("is listed");
            assert!(shelf.labs.is_empty() && shelf.unreadable.is_empty());
        }
    }
    let beside = std::fs::read_dir(place.path()).expect("is listed").count();
    assert_eq!(beside, 2, "the bundle and the cache");
}

/// Memory of the machine on which a log is read.
const MEMORY_BYTES: u64 = 1 << 30;
/// States of a log that are made, and judged as those of a kernel that ended.
const STATES: usize = 30;
/// Sectors of writes and pieces of an image beyond which none is made.
const IMAGE_MAX: usize = 1 << 18;

/// The log of a disk is written back; its requests are listed, its states are enumerated, named,
/// made and judged, with flushes and without.
pub(crate) fn disk_log(input: &[u8]) {
    let limits = LogLimits::of_file(input.len() as u64, MEMORY_BYTES);
    let outline = read_outline(input, limits);
    let log = match read_log(input, limits) {
        Ok(log) => log,
        Err(error) => return drop(error.to_string()),
    };
    let outline = outline.expect("what has its data has an outline");
    assert!(outline.head == log.head && outline.requests == log.requests);
    let mut written = Vec::new();
    write_log(&log, &mut written).expect("was read");
    let again = read_log(&written[..], LogLimits::default()).expect("reads back");
    assert!(again == log, "reads back as itself");
    let phases = log.head.phases.iter().map(|it| Some(it.name.clone()));
    let first = phases.take(1).chain([None]);
    for (number, phase) in first.enumerate() {
        let dropped = [None, Some(FlushDrop::All), Some(FlushDrop::One(1))];
        let choice = StateChoice {
            phase,
            cache: [None, Some(DiskCache::Volatile), Some(DiskCache::Durable)][input.len() % 3],
            budget: Budget {
                states: 200,
                seed: 1,
            },
            dropped: dropped[(input.len() + number) % 3],
        };
        match Examination::new(&log, &choice) {
            Ok(examination) => examined(&examination, &log),
            Err(error) => drop(error),
        }
    }
}

fn examined(examination: &Examination<'_>, recorded: &DiskLog) {
    let judge = examination.judge().expect("was checked before");
    for (kind, state) in examination.states().iter().take(STATES) {
        let name = examination.name(&state);
        let named: CrashState = name.parse().expect("a name is a state");
        named.ensure_of(recorded).expect("of the log");
        drop(named);
        let died = StateOutcome::Died(StatePart::Mount, "panic".into());
        let judged = judge.judge(kind, &state, name, &died);
        assert!(judged.is_failing() && !judged.what_is_wrong().is_empty());
    }
    let log = examination.log();
    let writes = log
        .requests
        .iter()
        .filter(|it| it.kind == RequestKind::Write);
    let sectors: usize = writes.map(|it| it.sectors as usize).sum();
    let Some(mut view) = StateView::new(log).ok().filter(|_| sectors <= IMAGE_MAX) else {
        return;
    };
    for (_, state) in examination.states().iter().take(3) {
        let mut taken = pieces(log, &state).take(IMAGE_MAX);
        assert!(taken.all(|piece| piece_sectors(piece) > 0));
        let mut put = |piece: Piece| -> Result<(), std::fmt::Error> {
            assert!(piece_sectors(piece) > 0);
            Ok(())
        };
        let shown = view.show(&state, &[(0, 8), (7, u64::MAX)], &mut put);
        shown.expect("nothing is refused");
    }
}

fn piece_sectors(piece: Piece) -> u64 {
    match piece {
        Piece::Data { bytes, .. } => bytes.len() as u64 / 512,
        Piece::Zeros { sectors, .. } => sectors,
    }
}

/// A trace is put in order, and planned as a phase.
pub(crate) fn trace(input: &[u8]) {
    let Ok(trace) = Trace::parse(input, Path::new("a.trace")) else {
        return;
    };
    drop(Schedule::of(&trace));
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(input).expect("is written");
    let path = file.path().to_string_lossy().into_owned();
    let given: Parameters = [("trace".to_owned(), path.into())].into_iter().collect();
    let replay = fslab_workload::find("replay").expect("is known");
    if let Ok(resolved) = replay.resolve(&given, Bytes::gib(1)) {
        describe(&PhaseSpec::new("replay", "replay", resolved));
    }
}

/// Each line is a subject; its commands are made.
pub(crate) fn subject(input: &[u8]) {
    for line in text(input).into_iter().flat_map(str::lines) {
        let Ok(subject) = fslab_fs::parse_subject(line) else {
            continue;
        };
        let again = fslab_fs::parse_subject(&subject.to_string());
        assert_eq!(again.ok().as_ref(), Some(&subject), "reads back");
        let entry = fslab_fs::find(subject.fs()).expect("was found before");
        let plan = entry.plan(&subject).expect("was planned before");
        for word in plan.mkfs.iter().flatten() {
            assert!(!word.contains('/'), "{word} in the mkfs of {subject}");
        }
    }
}

/// A specification is read, and its phases are looked at; nothing is run.
pub(crate) fn trial(input: &[u8]) {
    let Ok(spec) = serde_json::from_slice::<TrialSpec>(input) else {
        return;
    };
    drop(spec.engine.parse::<EngineKind>());
    if let Ok(entry) = fslab_fs::find(spec.subject.fs()) {
        drop(entry.validate(&spec.subject));
        drop(entry.validate_size(spec.size_bytes));
    }
    drop(footprint(&spec.phases));
    spec.phases.iter().for_each(describe);
    let text = serde_json::to_string(&spec).expect("is JSON");
    serde_json::from_str::<TrialSpec>(&text).expect("reads back");
}

/// What is asked of a phase before it runs.
fn describe(phase: &PhaseSpec) {
    let Ok(workload) = Workload::of_phase(phase) else {
        return;
    };
    let parameters = &phase.parameters;
    let _ = workload.kind(parameters);
    drop(workload.footprint(parameters));
    drop(workload.data_files(parameters, 1));
    drop(workload.needs(parameters));
    drop(workload.resolve(parameters, Bytes::gib(1)));
}

pub(crate) fn import_bonnie(input: &[u8]) {
    imported(input, Some(Format::Bonnie));
}

pub(crate) fn import_iozone(input: &[u8]) {
    imported(input, Some(Format::Iozone));
}

pub(crate) fn import_fio(input: &[u8]) {
    imported(input, Some(Format::Fio));
}

pub(crate) fn import_mdtest(input: &[u8]) {
    imported(input, Some(Format::Mdtest));
}

pub(crate) fn import_ior(input: &[u8]) {
    imported(input, Some(Format::Ior));
}

pub(crate) fn import_io500(input: &[u8]) {
    imported(input, Some(Format::Io500));
}

pub(crate) fn import_dbench(input: &[u8]) {
    imported(input, Some(Format::Dbench));
}

pub(crate) fn import_pgbench(input: &[u8]) {
    imported(input, Some(Format::Pgbench));
}

pub(crate) fn import_sysbench(input: &[u8]) {
    imported(input, Some(Format::Sysbench));
}

pub(crate) fn import_fs_mark(input: &[u8]) {
    imported(input, Some(Format::FsMark));
}

pub(crate) fn import_elbencho(input: &[u8]) {
    imported(input, Some(Format::Elbencho));
}

pub(crate) fn import_diskspd(input: &[u8]) {
    imported(input, Some(Format::Diskspd));
}

pub(crate) fn import_smallfile(input: &[u8]) {
    imported(input, Some(Format::Smallfile));
}

pub(crate) fn import_filebench(input: &[u8]) {
    imported(input, Some(Format::Filebench));
}

pub(crate) fn import_phoronix(input: &[u8]) {
    imported(input, Some(Format::Phoronix));
}

pub(crate) fn import_json(input: &[u8]) {
    imported(input, Some(Format::Json));
}

pub(crate) fn import_csv(input: &[u8]) {
    imported(input, Some(Format::Csv));
}

pub(crate) fn import_any(input: &[u8]) {
    imported(input, None);
}

/// What is read is written again in every other form.
fn imported(input: &[u8], format: Option<Format>) {
    let source = Source {
        name: PathBuf::from("input").display().to_string(),
        content: input.to_vec(),
        subject: None,
    };
    let labels = Labels {
        run: IMPORTED.parse::<RunId>().expect("a name"),
        subject: Some(fslab_model::Subject::plain("ext4")),
        fslab: "0".into(),
        command: vec!["import".into()],
        now_unix_s: 0,
    };
    let imported = match import(&[source], format, &labels) {
        Ok(imported) => imported,
        Err(error) => {
            drop((error.to_string(), error.hint.clone()));
            return;
        }
    };
    for run in &imported.runs {
        drop((csv_wide(run, Cells::Guarded), fio_json(run), parquet(run)));
        drop((ior_json(run), mdtest_text(run)));
        let text = serde_json::to_string(run).expect("a run is JSON");
        serde_json::from_str::<RunRecord>(&text).expect("reads back");
    }
}
