//! `fslab import`: imports results of other tools as a run.

use std::fs;
use std::path::Path;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use fslab_exchange::{Format, Imported, Labels, Source};
use fslab_model::{Failure, FailureKind, RunId, RunRecord, Subject};
use fslab_store::{Store, StoreError, StoreErrorKind};

use crate::commands::diff::phase_activities::PhaseActivities;
use crate::commands::report::show;
use crate::commands::store::args::StoreArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// The file name for standard input.
const STANDARD_INPUT: &str = "-";

/// Formats of files.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Form {
    /// Detect the format
    #[default]
    Auto,
    /// CSV of bonnie++ 1.03, 1.9x or 2.00, or its tables
    Bonnie,
    /// Iozone's output, with or without -R, or in throughput mode
    Iozone,
    /// fio's JSON, JSON+, terse or normal output, or its logs
    Fio,
    /// IOR's text or JSON
    Ior,
    /// mdtest's summary
    Mdtest,
    /// IO500's result.txt or result_summary.txt
    Io500,
    /// dbench's output
    Dbench,
    /// pgbench's output
    Pgbench,
    /// sysbench's output of the test fileio
    Sysbench,
    /// fs_mark's table
    FsMark,
    /// elbencho's result file, CSV or JSON
    Elbencho,
    /// DiskSpd's XML
    Diskspd,
    /// smallfile's JSON
    Smallfile,
    /// Filebench's summary
    Filebench,
    /// The composite.xml of the Phoronix Test Suite
    Phoronix,
    /// Runs from `fslab export --format json`
    Json,
    /// One row per value: subject, phase, repeat, metric, value, unit
    Csv,
}

impl Form {
    fn format(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            Self::Bonnie => Some(Format::Bonnie),
            Self::Iozone => Some(Format::Iozone),
            Self::Fio => Some(Format::Fio),
            Self::Ior => Some(Format::Ior),
            Self::Mdtest => Some(Format::Mdtest),
            Self::Io500 => Some(Format::Io500),
            Self::Dbench => Some(Format::Dbench),
            Self::Pgbench => Some(Format::Pgbench),
            Self::Sysbench => Some(Format::Sysbench),
            Self::FsMark => Some(Format::FsMark),
            Self::Elbencho => Some(Format::Elbencho),
            Self::Diskspd => Some(Format::Diskspd),
            Self::Smallfile => Some(Format::Smallfile),
            Self::Filebench => Some(Format::Filebench),
            Self::Phoronix => Some(Format::Phoronix),
            Self::Json => Some(Format::Json),
            Self::Csv => Some(Format::Csv),
        }
    }
}

/// Arguments of `fslab import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Output files of a tool, `-` for stdin; several files of one tool are repeats
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Format of the files
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Subject that was measured, in all files or in the files named; may be repeated
    #[arg(
        long,
        value_name = "NAME[=FILE,FILE...]",
        value_parser = NonEmptyStringValueParser::new()
    )]
    subject: Vec<String>,
    /// Name for the run; for several runs of fslab, one for each
    #[arg(long, value_name = "NAME", value_parser = parse_run)]
    run: Vec<RunId>,
    /// Print what each phase does and which fslab workload does the same; store nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the run as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// A name for a new run; `last` is refused, since it selects the newest run.
fn parse_run(text: &str) -> Result<RunId, String> {
    match text.parse() {
        Ok(_) if text == "last" => Err("'last' is reserved for the newest run".to_owned()),
        Ok(run) => Ok(run),
        Err(_) => Err("use only lower-case letters, digits and hyphens".to_owned()),
    }
}

/// A file with its subject.
struct InputFile {
    file: String,
    subject: Option<Subject>,
}

impl ImportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let (inputs, subject) = self.inputs()?;
        let sources: Vec<Source> = inputs.into_iter().map(read).collect::<Result<_, _>>()?;
        let now_unix_s = fslab_sys::unix_seconds();
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
        if self.dry_run {
            notes.iter().for_each(|note| screen::warn(note));
            return self.print_phases(&runs);
        }
        let mut store = self.store.open()?;
        let generated = Some(&labels.run).filter(|_| self.run.is_empty());
        store_all(&mut store, &mut runs, generated)?;
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

    /// Prints what each phase of the runs does.
    fn print_phases(&self, runs: &[RunRecord]) -> CommandResult {
        let listed: Vec<PhaseActivities> = runs.iter().map(PhaseActivities::of).collect();
        if self.json {
            screen::print(&screen::json(&listed)?)?;
        } else {
            for run in &listed {
                screen::print(&table::render(&run.table()))?;
            }
        }
        Ok(Exit::Done)
    }

    /// The files with their subjects, and the subject of those without one.
    fn inputs(&self) -> Result<(Vec<InputFile>, Option<Subject>), CommandError> {
        let mut inputs: Vec<InputFile> = Vec::new();
        for file in &self.files {
            add(&mut inputs, file, None)?;
        }
        let mut all = None;
        for option in &self.subject {
            let (subject, files) = self.split(option)?;
            let subject: Subject = subject.parse().map_err(|error| {
                CommandError::bad_input(format!("cannot use --subject {option}: {error}"))
            })?;
            if files.is_empty()
                && let Some(first) = all.replace(subject.clone())
            {
                let text = format!(
                    "cannot use --subject {option}: --subject {first} already applies to all files"
                );
                let failure = Failure::new(FailureKind::BadInput, text);
                return Err(failure
                    .hint("name the file of each subject: --subject NAME=FILE")
                    .into());
            }
            for file in files {
                add(&mut inputs, file, Some(subject.clone()))?;
            }
        }
        if inputs.is_empty() {
            let failure = Failure::new(FailureKind::BadInput, "there are no files to import");
            return Err(failure.hint("name files, or - for standard input").into());
        }
        if inputs
            .iter()
            .filter(|input| input.file == STANDARD_INPUT)
            .count()
            > 1
        {
            return Err(CommandError::bad_input(
                "standard input can be read only once",
            ));
        }
        Ok((inputs, all))
    }

    /// Splits `ext4=a.json,b.json` into subject and files. If the names are not files, all of the
    /// text is the subject, whose options may have equals signs.
    fn split<'a>(&self, text: &'a str) -> Result<(&'a str, Vec<&'a str>), CommandError> {
        let is_file = |name: &&str| {
            let is_named = self.files.iter().any(|file| file == name);
            is_named || *name == STANDARD_INPUT || fs::metadata(name).is_ok_and(|it| !it.is_dir())
        };
        // File names may have equals signs, too: the first that is followed by files counts.
        let separators = text.match_indices('=').map(|(at, _)| at);
        let splits = separators.map(|at| (&text[..at], &text[at + 1..]));
        let splits: Vec<(&str, Vec<&str>)> = splits
            .map(|(subject, files)| (subject, files.split(',').collect()))
            .collect();
        if let Some(found) = splits.iter().find(|(_, files)| files.iter().all(&is_file)) {
            return Ok(found.clone());
        }
        // Before the options of a subject there is no equals sign, so it must precede a file.
        let precedes_files = |(subject, files): &&(&str, Vec<&str>)| {
            !subject.contains(':') || files.iter().any(&is_file)
        };
        let names = splits.iter().find(precedes_files).map(|(_, files)| files);
        match names.and_then(|files| files.iter().find(|name| !is_file(name))) {
            Some(missing) => {
                let text = format!("cannot use --subject {text}: there is no file '{missing}'");
                let failure = Failure::new(FailureKind::BadInput, text);
                let hint =
                    "use --subject NAME=FILE,FILE for these files, or --subject NAME for all";
                Err(failure.hint(hint).into())
            }
            None => Ok((text, Vec::new())),
        }
    }

    /// Gives the runs the names of --run.
    fn rename(&self, runs: &mut [RunRecord]) -> Result<(), CommandError> {
        if self.run.is_empty() {
            return Ok(());
        }
        if self.run.len() != runs.len() {
            let names = screen::counted(self.run.len(), "name");
            let runs = screen::counted(runs.len(), "run");
            let text = format!("cannot use --run: {names} given for {runs}");
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure
                .hint("give one name per run; all files of another tool form one run")
                .into());
        }
        for (run, name) in runs.iter_mut().zip(&self.run) {
            run.header.run = name.clone();
        }
        Ok(())
    }
}

/// Adds a file, or sets the subject of one that was added.
fn add(
    inputs: &mut Vec<InputFile>,
    file: &str,
    subject: Option<Subject>,
) -> Result<(), CommandError> {
    let known = inputs.iter_mut().find(|input| input.file == file);
    match (known, subject) {
        (Some(known), Some(subject)) if known.subject.is_none() => known.subject = Some(subject),
        (Some(_), _) => {
            let text = format!("{file} is named twice");
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure
                .hint("name each file once: it is one repeat of one subject")
                .into());
        }
        (None, subject) => inputs.push(InputFile {
            file: file.to_owned(),
            subject,
        }),
    }
    Ok(())
}

fn read(input: InputFile) -> Result<Source, CommandError> {
    let InputFile { file, subject } = input;
    if file != STANDARD_INPUT {
        return read_file(&file, subject);
    }
    let read = fslab_sys::read_at_most(std::io::stdin().lock(), BYTES_MAX);
    source("standard input", read, subject)
}

/// Reads a tool's output from a file.
pub(crate) fn read_file(file: &str, subject: Option<Subject>) -> Result<Source, CommandError> {
    source(
        file,
        fslab_sys::read_named_file(Path::new(file), BYTES_MAX),
        subject,
    )
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

/// Most bytes of a file.
const BYTES_MAX: u64 = 1 << 30;
/// Generated names that are tried: two imports in one second may generate the same.
const NAMES_TRIED: usize = 8;

/// Stores all runs or none. If a run has the generated name, and the store has a run of that name,
/// another name is generated.
fn store_all(
    store: &mut Store,
    runs: &mut [RunRecord],
    generated: Option<&RunId>,
) -> Result<(), CommandError> {
    let mut generated = generated.cloned();
    for _ in 1..NAMES_TRIED {
        let error = match store.add_runs(runs) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let taken = match error.kind() {
            StoreErrorKind::RunExists(run) if generated.as_ref() == Some(run) => run.clone(),
            _ => return Err(refused(error)),
        };
        let fresh = fslab_run::fresh_run_id(fslab_sys::unix_seconds());
        for run in runs.iter_mut().filter(|run| run.header.run == taken) {
            run.header.run = fresh.clone();
        }
        generated = Some(fresh);
    }
    store.add_runs(runs).map_err(refused)
}

fn refused(error: StoreError) -> CommandError {
    let exists = matches!(error.kind(), StoreErrorKind::RunExists(_));
    let mut error = CommandError::from(error);
    if exists {
        let hint = "use another name: --run NAME".to_owned();
        error.failure.hint.get_or_insert(hint);
    }
    error
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

    /// A mistyped file name became a part of the subject's name.
    #[test]
    fn a_missing_file_of_a_subject_is_an_error() {
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
    fn names_that_select_other_runs_are_refused() {
        for name in ["last", "last~1", "a/b", "A", ""] {
            assert!(line(&["a.json", "--run", name]).is_err(), "{name}");
        }
        let import = line(&["a.json", "--run", "last-year"]).expect("a name");
        assert_eq!(import.run[0].as_str(), "last-year");
    }
}
