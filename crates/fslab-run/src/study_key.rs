//! Which key of a study an error of resolution is about, and where it stands in the user's file.

use fslab_model::{Failure, PhaseEntry, Study, TomlError};
use fslab_workload::WorkloadError;

use super::request::Request;
use super::resolve_error::ResolveError;
use crate::phases::PhasesError;
use crate::repetition::RepetitionError;
use crate::studies::StudySource;

/// The failure of a study that cannot be planned. If it is about a value of a file of the user, it
/// names the file and the value's line, column and key; `settings` are those of `--set`, whose
/// values stand in no file.
pub fn resolve_failure(
    error: ResolveError,
    request: &Request,
    source: &StudySource,
    settings: &[String],
) -> Failure {
    let key = key_of(&error, request).filter(|key| !is_set(key, settings));
    let failure = Failure::from(error);
    let (Some(key), StudySource::File { path, text }) = (key, source) else {
        return failure;
    };
    let located = TomlError::new(key, failure.message.clone()).located(text);
    if located.position.is_none() {
        return failure;
    }
    let mut causes = vec![located.to_string()];
    causes.extend(failure.causes);
    Failure {
        message: format!("cannot use the study {}", path.display()),
        causes,
        ..failure
    }
}

/// Whether a setting replaces the key, or something in it.
fn is_set(key: &[String], settings: &[String]) -> bool {
    let key = key.join(".");
    let paths = settings.iter().filter_map(|it| it.split_once('='));
    paths.map(|(path, _)| path.trim()).any(|path| {
        let rest = path.strip_prefix(&key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn key_of(error: &ResolveError, request: &Request) -> Option<Vec<String>> {
    match error {
        ResolveError::Phases(error) => of_phases(error, &request.study),
        ResolveError::Repetition(error) => of_repetition(error, request),
        ResolveError::NoTime if request.trial_limit_s.is_none() => Some(key(&["trial_limit_s"])),
        ResolveError::Catalogue(_) if request.subjects.is_empty() => Some(key(&["subjects"])),
        _ => None,
    }
}

fn key(parts: &[&str]) -> Vec<String> {
    parts.iter().map(ToString::to_string).collect()
}

fn of_phases(error: &PhasesError, study: &Study) -> Option<Vec<String>> {
    let entry = |name: &str| study.phases.iter().find(|entry| entry.name == name);
    match error {
        PhasesError::Workload { phase, source } => {
            let entry = entry(phase)?;
            let parameter = match source {
                WorkloadError::Unknown { .. } => Some("workload".to_owned()),
                source => named_parameter(entry, source),
            };
            Some(
                key(&["phase", phase])
                    .into_iter()
                    .chain(parameter)
                    .collect(),
            )
        }
        PhasesError::Sweep { sweep, .. } => Some(key(&["sweep", sweep])),
        PhasesError::UnknownSweep { phase, .. } => Some(key(&["phase", phase, "sweep"])),
        PhasesError::UnknownDimension { phase, value, .. } => {
            let mut parameters = entry(phase)?.parameters.iter();
            let found = parameters.find(|(_, given)| given.as_str() == Some(value));
            let parameter = found.map(|(name, _)| name.clone());
            Some(
                key(&["phase", phase])
                    .into_iter()
                    .chain(parameter)
                    .collect(),
            )
        }
        PhasesError::Size { what, .. } => Some(key(&[what])),
        PhasesError::TooMany { phase } => Some(key(&["phase", phase])),
        PhasesError::AllOff(_) => None,
    }
}

/// The parameter of the phase that the error names, or else the one whose value it quotes.
fn named_parameter(entry: &PhaseEntry, error: &WorkloadError) -> Option<String> {
    let mut text = error.to_string();
    let source = std::error::Error::source(error).map(ToString::to_string);
    text.extend(source);
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    // The first in the text is the one that it is about.
    let mut words = text.split(|c| !is_letter(c));
    let named = words.find(|word| entry.parameters.contains_key(*word));
    let is_quoted = |value: &serde_json::Value| {
        let value = value.as_str();
        value.is_some_and(|value| text.contains(&format!("'{value}'")))
    };
    let mut parameters = entry.parameters.iter();
    let quoted = parameters.find(|(_, value)| is_quoted(value));
    let quoted = quoted.map(|(name, _)| name.as_str());
    named.or(quoted).map(str::to_owned)
}

/// The key of the study, unless the command line has its own value.
fn of_repetition(error: &RepetitionError, request: &Request) -> Option<Vec<String>> {
    let asked = &request.repetition;
    match error {
        RepetitionError::NoRepeat | RepetitionError::TooManyRepeats(_) => {
            asked.repeats.is_none().then(|| key(&["repeats"]))
        }
        RepetitionError::Reversed { .. } => asked.repeats.is_none().then(|| key(&["repeats_max"])),
        RepetitionError::Rounds { what, .. } => {
            let is_asked = match *what {
                "mounts" => asked.mounts.is_some(),
                _ => asked.iterations.is_some(),
            };
            (!is_asked).then(|| key(&["rounds", what]))
        }
        RepetitionError::NothingMounted { .. } => {
            asked.mounts.is_none().then(|| key(&["rounds", "mounts"]))
        }
        RepetitionError::NoTarget { .. } => asked.target.is_none().then(|| key(&["target"])),
        RepetitionError::UnknownKey { .. } => asked.key.is_empty().then(|| key(&["key"])),
        RepetitionError::NothingToEnd { .. }
        | RepetitionError::Exact
        | RepetitionError::BudgetInVirtualTime
        | RepetitionError::RealTime { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::VenuePlan;

    use super::*;
    use crate::VenueChoice;

    const HEAD: &str = "format = 1\nname = 's'\ntitle = 't'\nsize = '64MiB'\n";

    /// The failure of a study in a file, with its causes in one line.
    fn refused(text: &str, settings: &[&str], subjects: &[&str]) -> String {
        let text = format!("{HEAD}{text}");
        let study = Study::from_toml(&text).expect("a study");
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let study = crate::override_study(&study, &settings).expect("a study");
        let folder = "/var/tmp".into();
        let venue = VenueChoice::Named(VenuePlan::Loop { folder });
        let request = Request::new(study, subjects, venue, 1);
        let error = crate::resolve(&request).expect_err("cannot be planned");
        let path = "./mine.toml".into();
        let source = StudySource::File { path, text };
        let failure = resolve_failure(error, &request, &source, &settings);
        let causes = failure.causes.join(": ");
        format!("{}: {causes}", failure.message)
    }

    const WRITE: &str = "[[phase]]\nname = 'write'\nworkload = 'write'\n";

    #[test]
    fn a_refused_value_of_a_phase_is_named_with_line_column_and_key() {
        let text = refused(
            &format!("subjects = ['ext4']\nrepeats = 1\n\n{WRITE}record = 'x'\n"),
            &[],
            &[],
        );
        let wanted = "cannot use the study ./mine.toml: line 11, column 1: phase.write.record: ";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.contains("cannot plan the phase 'write'"), "{text}");
    }

    #[test]
    fn a_workload_sweep_or_subject_that_does_not_exist_is_named_with_its_key() {
        let unknown = "repeats = 1\n[[phase]]\nname = 'write'\nworkload = 'wirte'\n";
        let text = refused(unknown, &[], &["ext4"]);
        assert!(
            text.contains("line 8, column 1: phase.write.workload"),
            "{text}"
        );
        let sweep = format!("repeats = 1\n{WRITE}sweep = 'sizes'\n");
        let text = refused(&sweep, &[], &["ext4"]);
        assert!(
            text.contains("line 9, column 1: phase.write.sweep"),
            "{text}"
        );
        let subject = format!("subjects = ['ext5']\nrepeats = 1\n{WRITE}");
        let text = refused(&subject, &[], &[]);
        assert!(text.contains("line 5, column 1: subjects: "), "{text}");
        let repeats = format!("subjects = ['ext4']\nrepeats = 0\n{WRITE}");
        let text = refused(&repeats, &[], &[]);
        assert!(text.contains("line 6, column 1: repeats: "), "{text}");
    }

    #[test]
    fn what_the_command_line_gives_has_no_place_in_the_file() {
        let study = format!("subjects = ['ext4']\nrepeats = 1\n{WRITE}record = '64KiB'\n");
        let text = refused(&study, &["phase.write.record=x"], &[]);
        assert!(text.starts_with("cannot plan the phase 'write'"), "{text}");
        let text = refused(&study, &[], &["ext5"]);
        assert!(!text.contains("line"), "{text}");
    }
}
