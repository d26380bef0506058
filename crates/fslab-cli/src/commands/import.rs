//! `fslab import`: the output of other tools as a run in the store.

use std::fs;
use std::io::Read;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use fslab_exchange::{Format, ImportError, Imported, Labels, Source};
use fslab_model::{Failure, FailureKind, RunId, RunRecord, Subject};
use fslab_store::{Store, StoreError, StoreErrorKind};

use super::show;
use super::store_args::StoreArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// What stands for standard input among files.
const STANDARD_INPUT: &str = "-";

/// As what files are read.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Form {
    /// Whatever they turn out to be
    #[default]
    Auto,
    /// The CSV of bonnie++ 1.03, 1.9x or 2.00, with its tables or without
    Bonnie,
    /// Iozone's output, with -R or without, or its throughput mode
    Iozone,
    /// fio's JSON or JSON+
    Fio,
    /// mdtest's summary
    Mdtest,
    /// Runs of `fslab export --format json`
    Json,
    /// A row for each value: subject, phase, repeat, metric, value, unit
    Csv,
}

impl Form {
    fn format(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            Self::Bonnie => Some(Format::Bonnie),
            Self::Iozone => Some(Format::Iozone),
            Self::Fio => Some(Format::Fio),
            Self::Mdtest => Some(Format::Mdtest),
            Self::Json => Some(Format::Json),
            Self::Csv => Some(Format::Csv),
        }
    }
}

/// Arguments of `fslab import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Output of a tool, `-` for stdin; several files of one tool are repeats
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Format of the files
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Subject that was measured, for all files or for some; may be repeated
    #[arg(long, value_name = "NAME[=FILE,FILE...]")]
    subject: Vec<Named>,
    /// Name of the run; for several runs of fslab, one for each
    #[arg(long, value_name = "NAME", value_parser = parse_run)]
    run: Vec<RunId>,
    /// Print the run as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// A subject, and the files that it is of; none for all.
#[derive(Clone, Debug)]
struct Named {
    text: String,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.is_empty() {
            true => Err("a subject has a name".to_owned()),
            false => Ok(Self {
                text: text.to_owned(),
            }),
        }
    }
}

/// A name for a run that is made; `last` would always be read as another one.
fn parse_run(text: &str) -> Result<RunId, String> {
    match text.parse() {
        Ok(_) if text == "last" => Err("'last' is what the newest run is called".to_owned()),
        Ok(run) => Ok(run),
        Err(_) => Err("a name is made of small letters, digits and hyphens".to_owned()),
    }
}

/// A file, and the subject that it is of.
struct Wanted {
    file: String,
    subject: Option<Subject>,
}

impl ImportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let (wanted, subject) = self.wanted()?;
        let sources: Vec<Source> = wanted.into_iter().map(read).collect::<Result<_, _>>()?;
        let now_unix_s = fslab_run::unix_seconds();
        let labels = Labels {
            run: fslab_run::fresh_run_id(now_unix_s),
            subject,
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            now_unix_s,
        };
        let Imported { mut runs, notes } =
            fslab_exchange::import(&sources, self.format.format(), &labels)?;
        self.rename(&mut runs)?;
        let mut store = self.store.open()?;
        let made_up = Some(&labels.run).filter(|_| self.run.is_empty());
        store_all(&mut store, &mut runs, made_up)?;
        notes.iter().for_each(|note| screen::warn(note));
        for run in &runs {
            if self.json {
                screen::print(&fslab_report::json(run)?)?;
            } else {
                show::print_summary(run)?;
            }
        }
        Ok(Exit::Done)
    }

    /// The files with their subjects, and the subject of all that have none.
    fn wanted(&self) -> Result<(Vec<Wanted>, Option<Subject>), CommandError> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for file in &self.files {
            add(&mut wanted, file, None)?;
        }
        let mut all = None;
        for named in &self.subject {
            let (subject, files) = self.split(&named.text)?;
            let subject: Subject = subject.parse().map_err(|error| {
                CommandError::bad_input(format!("cannot take --subject {}: {error}", named.text))
            })?;
            if files.is_empty() && all.replace(subject.clone()).is_some() {
                let text = "two subjects are each said to be that of all files";
                let failure = Failure::new(FailureKind::BadInput, text);
                return Err(failure
                    .hint("--subject NAME=FILE says of which it is")
                    .into());
            }
            for file in files {
                add(&mut wanted, file, Some(subject.clone()))?;
            }
        }
        if wanted.is_empty() {
            let failure = Failure::new(FailureKind::BadInput, "no file to import is named");
            return Err(failure.hint("name files, or - for standard input").into());
        }
        if wanted
            .iter()
            .filter(|wanted| wanted.file == STANDARD_INPUT)
            .count()
            > 1
        {
            return Err(CommandError::bad_input("standard input can be read once"));
        }
        Ok((wanted, all))
    }

    /// `ext4=a.json,b.json` as subject and files, where these are files; else all of it is the
    /// subject, whose options have equals signs of their own.
    fn split<'a>(&self, text: &'a str) -> Result<(&'a str, Vec<&'a str>), CommandError> {
        let is_file = |name: &&str| {
            let is_named = self.files.iter().any(|file| file == name);
            is_named || *name == STANDARD_INPUT || fs::metadata(name).is_ok_and(|it| !it.is_dir())
        };
        // A file's name may have an equals sign, too: the first that leaves files behind it counts.
        let places = text.match_indices('=').map(|(place, _)| place);
        let splits = places.map(|place| (&text[..place], &text[place + 1..]));
        let splits: Vec<(&str, Vec<&str>)> = splits
            .map(|(subject, files)| (subject, files.split(',').collect()))
            .collect();
        if let Some(found) = splits.iter().find(|(_, files)| files.iter().all(&is_file)) {
            return Ok(found.clone());
        }
        // No subject has an equals sign before its options, so that a file is what was meant.
        let meant = |(subject, files): &&(&str, Vec<&str>)| {
            !subject.contains(':') || files.iter().any(&is_file)
        };
        let names = splits.iter().find(meant).map(|(_, files)| files);
        match names.and_then(|files| files.iter().find(|name| !is_file(name))) {
            Some(missing) => {
                let text = format!("cannot take --subject {text}: there is no file '{missing}'");
                let failure = Failure::new(FailureKind::BadInput, text);
                let hint = "--subject NAME=FILE,FILE is of these files, --subject NAME of all";
                Err(failure.hint(hint).into())
            }
            None => Ok((text, Vec::new())),
        }
    }

    /// Gives the runs the names that were asked for.
    fn rename(&self, runs: &mut [RunRecord]) -> Result<(), CommandError> {
        if self.run.is_empty() {
            return Ok(());
        }
        if self.run.len() != runs.len() {
            let names = screen::counted(self.run.len(), "name");
            let text = format!("{names} for {}", screen::counted(runs.len(), "run"));
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure
                .hint("files of another tool are one run together")
                .into());
        }
        for (run, name) in runs.iter_mut().zip(&self.run) {
            run.header.run = name.clone();
        }
        Ok(())
    }
}

/// Adds a file, or names the subject of one that is there.
fn add(wanted: &mut Vec<Wanted>, file: &str, subject: Option<Subject>) -> Result<(), CommandError> {
    let known = wanted.iter_mut().find(|wanted| wanted.file == file);
    match (known, subject) {
        (Some(known), Some(subject)) if known.subject.is_none() => known.subject = Some(subject),
        (Some(_), _) => {
            let text = format!("{file} is named twice");
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure.hint("a file is one repeat, of one subject").into());
        }
        (None, subject) => wanted.push(Wanted {
            file: file.to_owned(),
            subject,
        }),
    }
    Ok(())
}

fn read(wanted: Wanted) -> Result<Source, CommandError> {
    let Wanted { file, subject } = wanted;
    if file != STANDARD_INPUT {
        return read_file(&file, subject);
    }
    let mut content = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut content);
    source("standard input", read.map(|_| content), subject)
}

/// The output of a tool in a file.
pub(super) fn read_file(file: &str, subject: Option<Subject>) -> Result<Source, CommandError> {
    source(file, fs::read(file), subject)
}

fn source(
    name: &str,
    content: std::io::Result<Vec<u8>>,
    subject: Option<Subject>,
) -> Result<Source, CommandError> {
    let content =
        content.map_err(|error| CommandError::io(format!("cannot read {name}"), &error))?;
    Ok(Source {
        name: name.to_owned(),
        content,
        subject,
    })
}

/// Names that are tried for a run that was given none: two imports of one second may come to the
/// same.
const NAMES_TRIED: usize = 8;

/// Stores all runs, or none of them. Where one of them has a name that was made up, and another
/// run took it meanwhile, it gets another.
fn store_all(
    store: &mut Store,
    runs: &mut [RunRecord],
    made_up: Option<&RunId>,
) -> Result<(), CommandError> {
    let mut made_up = made_up.cloned();
    for _ in 1..NAMES_TRIED {
        let error = match store.add_runs(runs) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let taken = match error.kind() {
            StoreErrorKind::RunExists { run } if made_up.as_ref() == Some(run) => run.clone(),
            _ => return Err(refused(error)),
        };
        let fresh = fslab_run::fresh_run_id(fslab_run::unix_seconds());
        for run in runs.iter_mut().filter(|run| run.header.run == taken) {
            run.header.run = fresh.clone();
        }
        made_up = Some(fresh);
    }
    store.add_runs(runs).map_err(refused)
}

fn refused(error: StoreError) -> CommandError {
    let exists = matches!(error.kind(), StoreErrorKind::RunExists { .. });
    let mut error = CommandError::from(error);
    if exists {
        let hint = "--run NAME gives it another name".to_owned();
        error.failure.hint.get_or_insert(hint);
    }
    error
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        let mut failure = Failure::new(FailureKind::BadInput, error.to_string());
        failure.hint = error.hint();
        failure.because(&error.fault).into()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        import: ImportArgs,
    }

    fn line(words: &[&str]) -> Result<ImportArgs, String> {
        let words = ["import"].iter().chain(words);
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        Ok(line.import)
    }

    /// A mistyped file was taken for a part of the subject's name, and the run had that subject.
    #[test]
    fn a_file_of_a_subject_that_is_not_there_is_no_part_of_its_name() {
        let split = |text: &str| {
            let import = line(&["a.json"]).expect("a file");
            let (subject, files) = import.split(text).map_err(|error| error.failure.message)?;
            Ok::<_, String>((subject.to_owned(), files.len()))
        };
        let missing = |file: &str| format!("there is no file '{file}'");
        for (text, file) in [
            ("ext4=b.json", "b.json"),
            ("ext4=a.json,b.json", "b.json"),
            ("ext4:noatime=a.json,b.json", "b.json"),
            ("ext4=", ""),
        ] {
            let error = split(text).expect_err("a file is missing");
            assert!(error.ends_with(&missing(file)), "{error}");
        }
        for (text, subject, files) in [
            ("ext4=a.json", "ext4", 1),
            ("ext4:data=journal=a.json", "ext4:data=journal", 1),
            ("ext4:data=journal", "ext4:data=journal", 0),
            ("xfs:mkfs=-m reflink=0", "xfs:mkfs=-m reflink=0", 0),
        ] {
            assert_eq!(split(text), Ok((subject.to_owned(), files)));
        }
    }

    #[test]
    fn a_run_is_given_no_name_by_which_it_would_not_be_found() {
        for name in ["last", "last~1", "a/b", "A", ""] {
            assert!(line(&["a.json", "--run", name]).is_err(), "{name}");
        }
        let import = line(&["a.json", "--run", "last-year"]).expect("a name");
        assert_eq!(import.run[0].as_str(), "last-year");
    }
}
