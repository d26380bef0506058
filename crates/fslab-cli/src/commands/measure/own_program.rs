//! `fslab compare SUBJECT... -- PROGRAM ARGUMENT...`: the user's program as the workload.

use std::path::{Path, PathBuf};

use clap::Args;
use fslab_model::{Failure, Study};
use toml::{Table, Value};

use crate::defaults::canonical_path;

/// A program on the command line.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct OwnProgram {
    /// Program to time in the place of a study, with its arguments: it runs in an empty directory
    /// of each file system, from its start to its end and the sync after it
    #[arg(last = true, value_name = "PROGRAM", conflicts_with = "study")]
    words: Vec<String>,
    /// Shell command that runs there before PROGRAM, not timed, for example 'cp -r /usr/include .'
    #[arg(long, value_name = "COMMAND", requires = "words")]
    prepare: Option<String>,
    /// File that PROGRAM reads, for guests, which see no other file of this machine; may be
    /// repeated
    #[arg(
        long = "input",
        alias = "inputs",
        value_name = "FILE",
        requires = "words"
    )]
    inputs: Vec<PathBuf>,
    /// Caches at the start of PROGRAM: keep, cold or warm
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "keep",
        requires = "words"
    )]
    cache: String,
}

/// The size of file systems, unless --size is given.
const SIZE: &str = "2GiB";

impl OwnProgram {
    /// A study of one phase that runs the program; `None` without one.
    ///
    /// # Errors
    /// A path that does not exist.
    pub(super) fn study(&self) -> Result<Option<Study>, Failure> {
        let Some((program, arguments)) = self.words.split_first() else {
            return Ok(None);
        };
        let program = match program.contains('/') {
            true => absolute(Path::new(program))?,
            false => program.clone(),
        };
        let name = Path::new(&program).file_name().map_or_else(
            || "program".to_owned(),
            |name| plain_name(&name.to_string_lossy()),
        );
        let words = std::iter::once(program).chain(arguments.iter().cloned());
        let mut phase = Table::new();
        phase.insert("name".into(), name.clone().into());
        phase.insert("workload".into(), "command".into());
        phase.insert("settle".into(), true.into());
        phase.insert("cache".into(), self.cache.clone().into());
        phase.insert(
            "argv".into(),
            Value::Array(words.map(Value::from).collect()),
        );
        phase.extend(
            self.prepare
                .clone()
                .map(|text| ("prepare".into(), text.into())),
        );
        if !self.inputs.is_empty() {
            let inputs = self
                .inputs
                .iter()
                .map(|path| absolute(path).map(Value::from));
            let inputs: Vec<Value> = inputs.collect::<Result<_, _>>()?;
            phase.insert("inputs".into(), inputs.into());
        }
        let question = Table::from_iter([(
            "text".into(),
            Value::from(format!("Which file system runs {name} fastest?")),
        )]);
        let answer = Table::from_iter([
            ("measure".into(), Value::from("time")),
            (
                "reason".into(),
                "The time of the program, with the sync after it.".into(),
            ),
        ]);
        let study = Table::from_iter([
            ("format".into(), Value::from(1)),
            ("title".into(), format!("The program {name}").into()),
            ("name".into(), name.into()),
            ("size".into(), SIZE.into()),
            (
                "subjects".into(),
                vec![Value::from("ext4"), "xfs".into(), "btrfs".into()].into(),
            ),
            ("question".into(), question.into()),
            ("answer".into(), answer.into()),
            ("phase".into(), vec![Value::Table(phase)].into()),
        ]);
        let study = Study::from_toml(&study.to_string())
            .map_err(|error| Failure::of_toml("cannot time the program", error))?;
        Ok(Some(study))
    }
}

/// The name of a file as that of a study.
fn plain_name(file: &str) -> String {
    const LENGTH_MAX: usize = 64;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let plain = file.chars().map(|c| if is_plain(c) { c } else { '-' });
    plain.take(LENGTH_MAX).collect()
}

fn absolute(path: &Path) -> Result<String, Failure> {
    if !path.exists() {
        let text = format!("there is no file {}", path.display());
        return Err(
            Failure::bad_input(text).hint("the program and its inputs are files of this machine")
        );
    }
    Ok(canonical_path(path)?.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_study_of_one_phase() {
        let program = OwnProgram {
            words: ["sort", "-R", "a b"].map(str::to_owned).into(),
            prepare: Some("seq 9 > 'a b'".to_owned()),
            inputs: Vec::new(),
            cache: "cold".to_owned(),
        };
        let study = program.study().expect("a study").expect("a program");
        assert_eq!((study.name.as_str(), study.repeats), ("sort", 3));
        let [phase] = study.phases.as_slice() else {
            panic!("one phase: {:?}", study.phases);
        };
        assert!(phase.settle);
        assert_eq!(
            phase.parameters["argv"],
            serde_json::json!(["sort", "-R", "a b"])
        );
        assert_eq!(phase.parameters["prepare"], "seq 9 > 'a b'");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let program = OwnProgram {
            words: vec!["./no-such-program".to_owned()],
            prepare: None,
            inputs: Vec::new(),
            cache: "keep".to_owned(),
        };
        let failure = program.study().expect_err("no file");
        assert!(
            failure.message.contains("./no-such-program"),
            "{}",
            failure.message
        );
    }
}
