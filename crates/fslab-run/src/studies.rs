//! Built-in studies, and studies in the user's files.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fslab_claims::{Claims, NamedText, Original, Published};
use fslab_model::{Failure, FailureKind, Study, WorkloadDefinition, did_you_mean, nearest_name};

use crate::job_files::load_job_file;

/// Size limit of a study, its claims, and its published values.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Size limit of a workload file; built-in ones have about 2 KiB.
const WORKLOAD_BYTES_MAX: u64 = 256 << 10;

/// A built-in study: its name, and the study itself, which is parsed at its first use.
type BuiltIn = (&'static str, LazyLock<Study>);

macro_rules! study {
    ($name:literal) => {
        (
            $name,
            LazyLock::new(|| {
                let text = include_str!(concat!("../../../studies/", $name, "/study.toml"));
                Study::from_toml(text)
                    .unwrap_or_else(|error| panic!("the built-in study {}: {error}", $name))
            }),
        )
    };
}

/// All built-in studies: a new one is a directory below studies/ and a line here.
static BUILT_IN: [BuiltIn; 25] = [
    study!("bonnie-2010"),
    study!("build"),
    study!("conformance"),
    study!("crash-properties"),
    study!("database"),
    study!("defaults"),
    study!("encrypted-laptop"),
    study!("fsync-failure"),
    study!("git"),
    study!("home-usb"),
    study!("io500"),
    study!("ior"),
    study!("iozone-2003"),
    study!("iron"),
    study!("mail"),
    study!("mdtest"),
    study!("nas"),
    study!("nas4"),
    study!("ntfs-ext4"),
    study!("processor"),
    study!("quick"),
    study!("replay"),
    study!("small-files"),
    study!("survival"),
    study!("usb-stick"),
];

/// Claims and published values of a built-in study's original.
macro_rules! originals {
    ($($name:literal),* $(,)?) => {
        [$((
            $name,
            NamedText {
                file: concat!("studies/", $name, "/claims.toml"),
                text: include_str!(concat!("../../../studies/", $name, "/claims.toml")),
            },
            NamedText {
                file: concat!("studies/", $name, "/published.csv"),
                text: include_str!(concat!("../../../studies/", $name, "/published.csv")),
            },
        )),*]
    };
}

/// The originals of built-in studies.
const ORIGINALS: [(&str, NamedText<'static>, NamedText<'static>); 5] = originals![
    "bonnie-2010",
    "home-usb",
    "iozone-2003",
    "ntfs-ext4",
    "small-files",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudySource {
    BuiltIn(&'static str),
    /// A file of the user.
    File {
        /// Its path, as given.
        path: PathBuf,
        text: String,
    },
    /// A program on the command line.
    CommandLine,
    /// A job file of another tool.
    JobFile {
        /// The study that it became.
        toml: String,
        /// What was left out or is expressed otherwise.
        notes: Vec<String>,
    },
}

/// The names of the built-in studies.
pub fn studies() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The built-in studies themselves. A test parses them all.
fn parsed() -> impl Iterator<Item = &'static Study> {
    BUILT_IN.iter().map(|(_, study)| &**study)
}

/// Loads a study: a built-in one by its name, one of its aliases or a unique prefix of
/// either, or a file.
///
/// # Errors
/// Of kind `BadInput`: an ambiguous or unknown name, with the candidates, or an invalid file.
pub fn load_study(name_or_file: &str) -> Result<(Study, StudySource), Failure> {
    load_study_with(name_or_file, &BTreeMap::new())
}

/// The same with values of the variables of a job file.
///
/// # Errors
/// As [`load_study`]; also of what a job file has that a study cannot have.
pub fn load_study_with(
    name_or_file: &str,
    variables: &BTreeMap<String, String>,
) -> Result<(Study, StudySource), Failure> {
    if let Some(study) = built_in(name_or_file)? {
        return Ok((study.clone(), StudySource::BuiltIn(&study.name)));
    }
    if let Some(made) = load_job_file(name_or_file, variables) {
        return made;
    }
    if let Some(name) = variables.keys().next() {
        let text = format!("cannot use the variable {name} for the study {name_or_file}");
        return Err(Failure::new(FailureKind::BadInput, text)
            .hint("variables are for job files of fio and filebench"));
    }
    let text =
        fslab_sys::read_named_text(Path::new(name_or_file), TEXT_BYTES_MAX).map_err(|error| {
            let text = format!("cannot read the study {name_or_file}");
            Failure::new(FailureKind::BadInput, text).because(&error)
        })?;
    let mut study = parse(name_or_file, &text)?;
    load_workloads(&mut study, Path::new(name_or_file))?;
    let path = name_or_file.into();
    Ok((study, StudySource::File { path, text }))
}

/// The built-in study that `given` names; `None` for a file. Names and aliases come before
/// beginnings of them.
fn built_in(given: &str) -> Result<Option<&'static Study>, Failure> {
    if let Some((_, study)) = BUILT_IN.iter().find(|(name, _)| *name == given) {
        return Ok(Some(study));
    }
    let with = |fits: &dyn Fn(&str) -> bool| -> Vec<&'static Study> {
        let fits = |study: &&Study| words_for(study).any(fits);
        parsed().filter(fits).collect()
    };
    if let Some(found) = with(&|word| word == given).first() {
        return Ok(Some(found));
    }
    if is_file(given) {
        return Ok(None);
    }
    match with(&|word| !given.is_empty() && word.starts_with(given)).as_slice() {
        [found] => Ok(Some(found)),
        [] => Err(unknown(given)),
        several => Err(ambiguous(given, several)),
    }
}

/// The name of a study and its aliases.
fn words_for(study: &Study) -> impl Iterator<Item = &str> {
    let aliases = study.aliases.iter().map(String::as_str);
    std::iter::once(study.name.as_str()).chain(aliases)
}

/// Loads the user's workloads for the phases of `study`: `workloads/NAME.toml` beside `file`.
fn load_workloads(study: &mut Study, file: &Path) -> Result<(), Failure> {
    let folder = file.with_file_name("workloads");
    for phase in &study.phases {
        let name = &phase.workload;
        if !WorkloadDefinition::is_name(name) || study.workloads.contains_key(name) {
            continue;
        }
        let path = folder.join(format!("{name}.toml"));
        let text = match fslab_sys::read_text_file(&path, WORKLOAD_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(Failure::at(FailureKind::BadInput, "read", &path, &error));
            }
        };
        let definition = load_workload(name, &text);
        let definition = definition.map_err(|failure| Failure {
            message: format!("cannot use {}: {}", path.display(), failure.message),
            ..failure
        })?;
        study.workloads.insert(name.clone(), definition);
    }
    Ok(())
}

/// Parses the definition of the user's workload `name`.
fn load_workload(name: &str, text: &str) -> Result<WorkloadDefinition, Failure> {
    let unusable = |text: &str| Failure::new(FailureKind::BadInput, text);
    let definition = WorkloadDefinition::from_toml(text)
        .map_err(|error| Failure::of_toml("it is not a workload", error))?;
    if definition.name != name {
        let text = format!("name = {:?} differs from the file's name", definition.name);
        return Err(unusable(&text));
    }
    if fslab_workload::find(name).is_ok() {
        return Err(unusable("a built-in workload has the same name").hint("give it another name"));
    }
    // An invalid definition is an error of the file, not of a phase.
    fslab_workload::Workload::new(definition.clone())
        .map_err(|error| unusable("its definition").because(&error))?;
    Ok(definition)
}

/// True for a path, false for a name.
fn is_file(name_or_file: &str) -> bool {
    let endings = [".toml", ".fio", ".f"];
    name_or_file.contains('/') || endings.iter().any(|it| name_or_file.ends_with(it))
}

fn unknown(name: &str) -> Failure {
    let failure = Failure::new(FailureKind::BadInput, format!("there is no study '{name}'"));
    let words = parsed().flat_map(words_for);
    let nearest = nearest_name(name, words).map(|nearest| did_you_mean(nearest) + " ");
    let names: Vec<&str> = studies().collect();
    failure.hint(format!(
        "{}the studies are {}; name a file with its directory, for example ./my-study.toml",
        nearest.unwrap_or_default(),
        names.join(", ")
    ))
}

fn ambiguous(name: &str, candidates: &[&Study]) -> Failure {
    let text = format!("'{name}' matches {} studies", candidates.len());
    let named = |study: &&Study| {
        let begins = |word: &&str| word.starts_with(name);
        let word = words_for(study).find(begins).unwrap_or(study.name.as_str());
        match word == study.name {
            true => word.to_owned(),
            false => format!("{word} ({})", study.name),
        }
    };
    let candidates: Vec<String> = candidates.iter().map(named).collect();
    Failure::new(FailureKind::BadInput, text).hint(format!("name one of {}", candidates.join(", ")))
}

/// The original of a built-in study; `None` if it has none.
pub fn original(name: &str) -> Option<Original> {
    let (_, claims, published) = ORIGINALS.iter().find(|(known, ..)| *known == name)?;
    let original = Original::read(*claims, *published);
    Some(original.expect("every original that is built in reads: a test reads them all"))
}

/// The original of a built-in study, or of a study file: the `claims.toml` and `published.csv`
/// beside it. `None` without either.
///
/// # Errors
/// Of kind `BadInput`: an unknown name, or an unreadable or invalid file.
pub fn load_original(name_or_file: &str) -> Result<Option<Original>, Failure> {
    // The study itself must be valid.
    match load_study(name_or_file)?.1 {
        StudySource::BuiltIn(name) => return Ok(original(name)),
        StudySource::JobFile { .. } | StudySource::CommandLine => return Ok(None),
        StudySource::File { .. } => {}
    }
    let beside = |name: &str| Path::new(name_or_file).with_file_name(name);
    let claims = load_claims(&beside("claims.toml"))?;
    let published = load_published(&beside("published.csv"))?;
    if claims.is_none() && published.is_none() {
        return Ok(None);
    }
    Ok(Some(Original {
        claims: claims.unwrap_or_default(),
        published: published.unwrap_or_default(),
    }))
}

/// The claims in `file`; `None` if it does not exist.
///
/// # Errors
/// Of kind `BadInput`: an unreadable or invalid file.
pub fn load_claims(file: &Path) -> Result<Option<Claims>, Failure> {
    let text = read_if_there(file)?;
    let claims = text.map(|text| Claims::from_toml(&text));
    let unusable = |error| Failure::of_toml(format!("cannot use {}", file.display()), error);
    claims.transpose().map_err(unusable)
}

fn load_published(file: &Path) -> Result<Option<Published>, Failure> {
    let text = read_if_there(file)?;
    let published = text.map(|text| Published::from_csv(&text, &file.to_string_lossy()));
    published
        .transpose()
        .map_err(|error| Failure::at(FailureKind::BadInput, "use", file, &error))
}

fn read_if_there(file: &Path) -> Result<Option<String>, Failure> {
    match fslab_sys::read_text_file(file, TEXT_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::at(FailureKind::BadInput, "read", file, &error)),
    }
}

fn parse(origin: &str, text: &str) -> Result<Study, Failure> {
    Study::from_toml(text)
        .map_err(|error| Failure::of_toml(format!("cannot use the study {origin}"), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_that_is_built_in_reads_and_has_its_own_name() {
        for (name, study) in studies().zip(parsed()) {
            assert_eq!(study.name, name);
        }
    }

    #[test]
    fn a_study_is_found_by_what_a_user_would_type() {
        for (typed, name) in [
            ("usb", "usb-stick"),
            ("stick", "usb-stick"),
            ("postgres", "database"),
            ("postgresql", "database"),
            ("sqlite", "database"),
            ("maildir", "mail"),
            ("compile", "build"),
            ("fileserver", "nas"),
            ("home", "home-usb"),
            ("ioz", "iozone-2003"),
            ("quick", "quick"),
        ] {
            assert_eq!(load_study(typed).expect(typed).0.name, name, "{typed}");
        }
        let original = load_original("ioz").expect("a study").expect("an original");
        assert_eq!(original.claims.study, "iozone-2003");
    }

    #[test]
    fn an_ambiguous_beginning_lists_the_candidates_and_no_alias_is_of_two_studies() {
        let failure = load_study("b").expect_err("bonnie-2010 or build");
        assert!(failure.message.starts_with("'b' matches "), "{failure:?}");
        let hint = failure.hint.expect("a hint");
        assert!(hint.contains("bonnie-2010, build"), "{hint}");
        assert!(load_study("").is_err());
        let mut words: Vec<&str> = parsed().flat_map(words_for).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all, "{words:?}");
    }

    /// Each has a question; those that no speed answers recommend nothing.
    #[test]
    fn every_study_that_is_built_in_says_which_question_it_answers() {
        let unanswered = [
            "conformance",
            "crash-properties",
            "fsync-failure",
            "iron",
            "survival",
        ];
        for study in parsed() {
            let question = study.question.as_ref().expect(&study.name);
            assert!(question.text.ends_with('?'), "{}", question.text);
            assert_eq!(
                question.has_answer(),
                !unanswered.contains(&study.name.as_str())
            );
        }
    }

    #[test]
    fn every_original_that_is_built_in_reads_and_is_of_its_study() {
        let counts: Vec<_> = ORIGINALS
            .iter()
            .map(|(name, claims, published)| {
                let original = Original::read(*claims, *published);
                let original = original.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert_eq!(original.claims.study, *name);
                (original.claims.claims.len(), original.published.rows.len())
            })
            .collect();
        // As many as the files have: none is skipped.
        assert_eq!(counts, [(28, 602), (61, 202), (44, 68), (20, 27), (10, 20)]);
    }

    /// A claim about an unknown phase would always be "not measured".
    #[test]
    fn every_claim_is_about_phases_points_and_subjects_of_its_study() {
        for (name, ..) in ORIGINALS {
            let original = original(name).expect(name);
            let (study, _) = load_study(name).expect(name);
            let phase = |wanted: &str| {
                let fresh = wanted.strip_prefix("aged-").unwrap_or(wanted);
                let found = study.phases.iter().find(|phase| phase.name == fresh);
                found.unwrap_or_else(|| panic!("{name} has no phase {wanted}"))
            };
            for claim in &original.claims.claims {
                // The step before all phases stands in the place of one.
                let phases = claim.holds.kind.phases().into_iter();
                for wanted in phases.filter(|phase| *phase != "mkfs") {
                    let phase = phase(wanted);
                    let sweep = phase.sweep.as_ref().map(|sweep| &study.sweeps[sweep]);
                    let dimensions = claim.holds.condition.keys();
                    for dimension in dimensions.chain(claim.holds.kind.over()) {
                        let swept = sweep.is_some_and(|s| s.dimensions.contains_key(dimension));
                        let fixed = phase.parameters.contains_key(dimension);
                        assert!(swept || fixed, "{name} {}: {dimension}", claim.id);
                    }
                }
                for subject in claim.holds.kind.subjects() {
                    let stand_in = original.claims.stand_in.get(subject);
                    let subject = stand_in.map_or(subject, String::as_str);
                    let is_it = |known: &String| known.split(':').next() == Some(subject);
                    assert!(
                        study.subjects.iter().any(is_it),
                        "{name} {}: {subject}",
                        claim.id
                    );
                }
            }
        }
    }

    #[test]
    fn the_original_of_a_file_stands_beside_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let study = folder.path().join("study.toml");
        std::fs::copy("../../tests/fixtures/small.toml", &study).expect("copied");
        let study = study.to_str().expect("a plain path");
        assert_eq!(load_original(study).expect("none"), None);
        std::fs::write(folder.path().join("claims.toml"), "study = 'mine'").expect("written");
        let original = load_original(study).expect("reads").expect("an original");
        assert_eq!(original.claims.study, "mine");
        assert_eq!(original.published.rows.len(), 0);
        std::fs::write(folder.path().join("published.csv"), "value").expect("written");
        let error = load_original(study).expect_err("columns");
        assert!(
            error.to_string().contains("the columns are value"),
            "{error}"
        );
        assert!(load_original("quick").expect("built in").is_none());
    }

    /// A study in a new directory, with one workload beside it.
    fn study_with_workload(name: &str, text: &str) -> (tempfile::TempDir, Result<Study, Failure>) {
        let folder = tempfile::tempdir().expect("a directory");
        let study = folder.path().join("study.toml");
        let phases = format!("[[phase]]\nname = 'p'\nworkload = '{name}'\nrecord = '8KiB'\n");
        let head = "format = 1\nname = 'x'\ntitle = 'x'\nsize = '1GiB'\nrepeats = 1\n";
        let text_of_study = format!("{head}trial_limit_s = 9\n{phases}");
        std::fs::write(&study, text_of_study).expect("written");
        std::fs::create_dir(folder.path().join("workloads")).expect("made");
        let file = folder.path().join("workloads").join(format!("{name}.toml"));
        std::fs::write(file, text).expect("written");
        let loaded = load_study(study.to_str().expect("a plain path"));
        (folder, loaded.map(|(study, _)| study))
    }

    const MINE: &str = "format = 1\nname = 'mine'\ntitle = 'x'\njob = 'data'\nkind = 'read'\n\
                        headline = 'throughput'\nmay_set = ['record', 'positioned']\n\
                        [defaults]\naccess = 'reverse'\npositioned = false\n";

    #[test]
    fn a_workload_beside_the_study_is_planned_with_its_definition() {
        let study = study_with_workload("mine", MINE).1.expect("loads");
        let scale = study.scale.default;
        let size = Some(fslab_model::Bytes::gib(1));
        let size = crate::phases::size(&study, scale, size).expect("a size");
        let phases = crate::phases::phases(&study, scale, size).expect("is planned");
        let definition = phases[0].definition.as_deref().expect("its definition");
        assert_eq!(definition.job, "data");
        // Values computed from the size are in the plan, also those that a study may not set:
        // without its number of operations a phase would do nothing.
        let json = serde_json::to_string(&phases[0].parameters).expect("JSON");
        let expected = r#"{"file_size":268435456,"record":8192,"operations":32768,"#;
        assert_eq!(json, format!(r#"{expected}"positioned":false}}"#));
        let workload = fslab_workload::Workload::of_phase(&phases[0]).expect("is usable");
        let kind = workload.kind(&phases[0].parameters);
        assert_eq!(kind, fslab_model::PhaseKind::Read);
    }

    #[test]
    fn a_workload_beside_the_study_that_cannot_be_used_is_refused_with_file_and_key() {
        let refused = |name: &str, text: &str, words: &[&str]| {
            let failure = study_with_workload(name, text).1.expect_err(name);
            let shown = format!("{} {:?}", failure.message, failure.causes);
            for word in words.iter().chain(&["workloads/"]) {
                assert!(shown.contains(word), "{shown}");
            }
        };
        let read = MINE.replace("'mine'", "'read'");
        refused(
            "read",
            &read,
            &["read.toml", "a built-in workload has the same name"],
        );
        refused("other", MINE, &["differs from the file's name"]);
        let unknown = format!("recrod = 1\n{MINE}");
        refused("mine", &unknown, &["mine.toml", "recrod"]);
        let unknown = format!("{MINE}recrod = 1\n");
        refused("mine", &unknown, &["'recrod'", "did you mean 'record'?"]);
        let job = MINE.replace("'data'", "'dato'");
        refused(
            "mine",
            &job,
            &[
                "there is no job 'dato'; did you mean 'data'?",
                "clear, command, compile",
            ],
        );
        let wrong = format!("{MINE}threads = 'many'\n");
        refused(
            "mine",
            &wrong,
            &["defaults: threads: 'many' instead of an integer"],
        );
        let long = format!("{MINE}# {}\n", "x".repeat(300 << 10));
        refused("mine", &long, &["cannot read"]);
    }

    #[test]
    fn an_unknown_study_suggests_the_nearest_and_a_missing_file_is_reported() {
        let unknown = load_study("quik").expect_err("unknown");
        let hint = unknown.hint.expect("a hint");
        assert!(
            hint.starts_with("did you mean 'quick'? the studies are bonnie-2010, "),
            "{hint}"
        );
        assert_eq!(
            load_study("./missing.toml").expect_err("missing").errno,
            Some(2)
        );
    }
}
