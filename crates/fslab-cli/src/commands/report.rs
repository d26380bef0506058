//! `fslab report`: an HTML file of one or more runs, and their figures, charts and tables as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use fslab_claims::Original;
use fslab_compare::{MergeError, merge, relabel};
use fslab_model::{Failure, FailureKind, RunRecord, Subject};
use fslab_report::{Chapter, Reservations};

use super::output_file::put_file;
use super::store_args::{StoreArgs, load};
use super::{answer, figure_files, part_files};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Runs: names or unique prefixes, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    runs: Vec<String>,
    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Also write each figure of the study as SVG, PNG, CSV and text
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Also write every chart of the report as SVG and PNG on white, with an index
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    /// Also write every table of the report as Markdown and CSV, with an index
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Rename the only subject of a run, where the file system was not recognised
    #[arg(long, value_name = "RUN=SUBJECT")]
    label: Vec<Label>,
    /// Compare subjects across machines; the report lists the differences between them
    #[arg(long)]
    across_machines: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// A run as given on the command line, and the new name of its subject.
#[derive(Clone, Debug)]
struct Label {
    run: String,
    subject: Subject,
}

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (run, subject) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is not RUN=SUBJECT, like last=ntfs"))?;
        let subject = subject.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            run: run.to_owned(),
            subject,
        })
    }
}

impl ReportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let (records, differences) = self.records()?;
        prepare_folder(&self.out)?;
        let names: Vec<_> = self.named(&records);
        let path = write_as(&names, &records, &differences, &self.out)?;
        let mut lines = format!("{}\n", path.display());
        if let Some(folder) = &self.figures {
            prepare_folder(folder)?;
            for (record, folder) in records.iter().zip(figure_folders(folder, &records)) {
                prepare_folder(&folder)?;
                let original = original_of(record);
                for file in figure_files::write(record, original.as_ref(), &folder)? {
                    lines.push_str(&format!("{}\n", file.display()));
                }
            }
        }
        for index in self.parts(&records, &differences)? {
            lines.push_str(&format!("{}\n", index.display()));
        }
        screen::print(&lines)?;
        Ok(Exit::Done)
    }

    /// Writes the charts and tables of --charts and --tables, and returns their indices.
    fn parts(
        &self,
        records: &[RunRecord],
        differences: &[String],
    ) -> Result<Vec<PathBuf>, CommandError> {
        let additions: Vec<Additions> = records.iter().map(Additions::of).collect();
        let chapters = chapters(records, &additions, differences);
        let mut indices = Vec::new();
        if let Some(folder) = &self.charts {
            prepare_folder(folder)?;
            indices.push(part_files::charts(&chapters, folder)?);
        }
        if let Some(folder) = &self.tables {
            prepare_folder(folder)?;
            indices.push(part_files::tables(&chapters, folder)?);
        }
        Ok(indices)
    }

    /// The runs, relabelled and merged as requested, and the differences between merged ones.
    fn records(&self) -> Result<(Vec<RunRecord>, Vec<String>), CommandError> {
        let store = self.store.open_read_only()?;
        let mut records: Vec<RunRecord> = Vec::new();
        let mut used = vec![false; self.label.len()];
        for run in &self.runs {
            let mut record = load(&store, run)?;
            let name = record.header.run.to_string();
            for (label, used) in self.label.iter().zip(&mut used) {
                if label.run == *run || label.run == name {
                    relabel(&mut record, &label.subject).map_err(|error| refused(&error))?;
                    *used = true;
                }
            }
            let is_same = |other: &RunRecord| other.header.run == record.header.run;
            if !records.iter().any(is_same) {
                records.push(record);
            }
        }
        let unused = self.label.iter().zip(&used).find(|(_, used)| !**used);
        if let Some((label, _)) = unused {
            let text = format!("'{}' of --label is not one of the runs", label.run);
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure.hint("name the run as in the list of runs").into());
        }
        if !self.across_machines {
            return Ok((records, Vec::new()));
        }
        let merged = merge(&records).map_err(|error| refused(&error))?;
        Ok((vec![merged.run], merged.differences))
    }

    /// The run names for the report's file name.
    fn named(&self, records: &[RunRecord]) -> Vec<String> {
        let names = records.iter().map(|record| record.header.run.to_string());
        let names: Vec<String> = names.collect();
        match self.across_machines {
            true => names
                .into_iter()
                .map(|name| format!("{name}+across-machines"))
                .collect(),
            false => names,
        }
    }
}

fn refused(error: &MergeError) -> CommandError {
    let hint = match error {
        MergeError::TooFew => "name at least two runs",
        MergeError::Question { .. } => "run the same study at the same scale on each machine",
        MergeError::DuplicateSubject { .. } => "rename one with --label RUN=SUBJECT",
        MergeError::Several { .. } => "label runs of one subject each",
    };
    Failure::new(FailureKind::BadInput, error.to_string())
        .hint(hint)
        .into()
}

/// The original that a run's study repeats, if it is built in.
fn original_of(record: &RunRecord) -> Option<Original> {
    fslab_run::original(&record.header.plan.study)
}

/// What a report adds to a run.
struct Additions {
    original: Option<Original>,
    reservations: Reservations,
}

impl Additions {
    fn of(record: &RunRecord) -> Self {
        Self {
            original: original_of(record),
            reservations: answer::reservations(record),
        }
    }
}

/// A chapter of the report for each run.
fn chapters<'a>(
    records: &'a [RunRecord],
    additions: &'a [Additions],
    differences: &'a [String],
) -> Vec<Chapter<'a>> {
    let chapter = |(record, additions): (&'a RunRecord, &'a Additions)| {
        Chapter::of(record)
            .with_original(additions.original.as_ref())
            .with_reservations(&additions.reservations)
            .with_differences(differences)
    };
    records.iter().zip(additions).map(chapter).collect()
}

/// The folder for each run's figures: `folder` itself for a single run, else a subfolder.
fn figure_folders(folder: &Path, records: &[RunRecord]) -> Vec<PathBuf> {
    match records {
        [_] => vec![folder.to_owned()],
        several => several
            .iter()
            .map(|record| folder.join(record.header.run.as_str()))
            .collect(),
    }
}

/// Creates the folder of a report, and checks early that it is writable.
pub(crate) fn prepare_folder(folder: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(folder)
        .and_then(|()| fslab_sys::try_create_in(folder))
        .map_err(|error| {
            let what = format!("cannot write a report to the folder {}", folder.display());
            let mut error = CommandError::io(what, &error);
            error.failure.hint = Some("name another folder with --out".into());
            error
        })
}

/// Writes the report and returns its path.
pub(crate) fn write(records: &[RunRecord], folder: &Path) -> Result<PathBuf, CommandError> {
    let names = records.iter().map(|record| record.header.run.to_string());
    write_as(&names.collect::<Vec<_>>(), records, &[], folder)
}

/// Writes the report atomically, with a file name of `names`.
fn write_as(
    names: &[String],
    records: &[RunRecord],
    differences: &[String],
    folder: &Path,
) -> Result<PathBuf, CommandError> {
    let path = folder.join(format!("fslab-{}.html", names.join("+")));
    let additions: Vec<Additions> = records.iter().map(Additions::of).collect();
    let page = fslab_report::html_of(&chapters(records, &additions, differences))?;
    put_file(page.as_bytes(), &path)?;
    Ok(path)
}
