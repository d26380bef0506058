//! Job files of other tools in the place of a study's file.

use std::collections::BTreeMap;
use std::path::Path;

use fslab_jobfile::{JobFileError, JobFileKind, JobFileReader, VARIABLE_PREFIX};
use fslab_model::{Failure, FailureKind, Study};

use crate::studies::StudySource;

/// Size limit of a job file, and of each file that it includes.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// What begins with `env.` among the settings of `--set`, and the other settings.
///
/// # Errors
/// Of kind `BadInput`: a variable without a value.
pub fn split_variables(
    settings: &[String],
) -> Result<(BTreeMap<String, String>, Vec<String>), Failure> {
    let mut variables = BTreeMap::new();
    let mut others = Vec::new();
    for setting in settings {
        let Some(variable) = setting.strip_prefix(VARIABLE_PREFIX) else {
            others.push(setting.clone());
            continue;
        };
        let Some((name, value)) = variable.split_once('=') else {
            let text = format!("cannot use --set {setting}: it has no =");
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("use env.NAME=VALUE, for example --set env.SIZE=1g"));
        };
        variables.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok((variables, others))
}

/// The study of a job file, if `path` is one by its ending.
pub(crate) fn load_job_file(
    path: &str,
    variables: &BTreeMap<String, String>,
) -> Option<Result<(Study, StudySource), Failure>> {
    let file = Path::new(path).file_name()?.to_str()?;
    let kind = JobFileKind::of(file)?;
    Some(read(path, file, kind, variables))
}

fn read(
    path: &str,
    file: &str,
    kind: JobFileKind,
    variables: &BTreeMap<String, String>,
) -> Result<(Study, StudySource), Failure> {
    let tool = kind.tool();
    let text = fslab_sys::read_named_text(Path::new(path), TEXT_BYTES_MAX).map_err(|error| {
        let text = format!("cannot read the {tool} job file {path}");
        Failure::new(FailureKind::BadInput, text).because(&error)
    })?;
    let include = |name: &str| {
        let path = Path::new(path).with_file_name(name);
        fslab_sys::read_text_file(&path, TEXT_BYTES_MAX).map_err(|error| error.to_string())
    };
    let reader = JobFileReader {
        kind,
        file,
        variables,
        include: &include,
    };
    let made = reader
        .read(&text)
        .map_err(|error| failure(path, tool, &error))?;
    let source = StudySource::JobFile {
        toml: made.toml,
        notes: made.notes,
    };
    Ok((made.study, source))
}

fn failure(path: &str, tool: &str, error: &JobFileError) -> Failure {
    let text = format!("cannot use the {tool} job file {path}: {error}");
    Failure {
        causes: error.problems.iter().map(ToString::to_string).collect(),
        ..Failure::new(FailureKind::BadInput, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_study_with;

    fn study_of(name: &str, text: &str, set: &[&str]) -> Result<(Study, StudySource), Failure> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::write(folder.path().join("common.inc"), "bs=16k\n").expect("written");
        let settings: Vec<_> = set.iter().map(ToString::to_string).collect();
        let (variables, _) = split_variables(&settings)?;
        load_study_with(path.to_str().expect("a plain path"), &variables)
    }

    #[test]
    fn a_job_file_is_a_study_that_can_be_planned() {
        let text = "[a]\nrw=randread\nsize=${SIZE}\ninclude common.inc\nloops=2\n";
        let (study, source) = study_of("job.fio", text, &["env.SIZE=8m"]).expect("a study");
        let phases = crate::phases::phases(
            &study,
            "1/2".parse().expect("a scale"),
            crate::phases::PlannedSize::full(fslab_model::Bytes::gib(1)),
        );
        let phases = phases.expect("is planned");
        assert_eq!(phases[0].parameters["file_size"], 4 << 20);
        assert_eq!(phases[0].parameters["record"], 16 << 10);
        let StudySource::JobFile { toml, .. } = source else {
            panic!("it is a job file");
        };
        assert_eq!(Study::from_toml(&toml), Ok(study));
    }

    #[test]
    fn everything_in_a_job_file_that_cannot_be_used_is_named_at_once() {
        let text = "[a]\nrw=trim\nsize=${SIZE}\nexec_prerun=rm -r x\nrecrod=1\n";
        let failure = study_of("job.fio", text, &[]).expect_err("refused");
        let ending = "job.fio: 4 things in it cannot be used";
        assert!(failure.message.ends_with(ending), "{failure:?}");
        let lines: Vec<_> = failure.causes.iter().map(|it| &it[..12]).collect();
        assert_eq!(
            lines,
            [
                "line 2: [a] ",
                "line 3: [a] ",
                "line 4: [a] ",
                "line 5: [a] "
            ]
        );
        assert!(failure.causes[2].contains("a job file starts no program"));
        let missing = split_variables(&["env.SIZE".to_owned()]).expect_err("no value");
        assert!(missing.message.contains("it has no ="), "{missing}");
    }

    #[test]
    fn scale_reaches_the_jobs_of_a_phase() {
        let text = "[global]\nsize=64m\nrw=write\ntime_based\nruntime=60\n[a]\n[b]\nbs=64k\n";
        let (study, _) = study_of("job.fio", text, &[]).expect("a study");
        let phases = crate::phases::phases(
            &study,
            "1/4".parse().expect("a scale"),
            crate::phases::PlannedSize::full(fslab_model::Bytes::gib(1)),
        );
        let phases = phases.expect("is planned");
        let job = &phases[0].parameters["jobs"][1];
        assert_eq!(job["file_size"], 16 << 20);
        assert_eq!(job["record"], 64 << 10);
        assert_eq!(job["threads"], 1);
        assert_eq!(job["amount"]["time-ns"], 15_000_000_000_u64);
    }
}
