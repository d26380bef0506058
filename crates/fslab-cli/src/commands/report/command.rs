//! `fslab report`: an HTML file of one or more runs, and their figures, charts and tables as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use fslab_claims::Original;
use fslab_compare::{Scaling, merge, merge_gathered, relabel};
use fslab_exchange::{Gathered, PhaseMap};
use fslab_model::{Failure, FailureKind, RunRecord, Subject};
use fslab_report::{Cells, Chapter, Reservations};

use super::answer_args::AnswerArgs;
use super::{answer, figure_files, part_files};
use crate::commands::store::args::{StoreArgs, load};
use crate::commands::store::csv_args::CsvArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::output_file::OutputDirectory;
use crate::terminal::screen;

/// Arguments of `fslab report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Runs: names or unique prefixes, `last`, or `last~1` for the one before. Runs that share
    /// phases are compared in one table
    #[arg(default_value = "last")]
    runs: Vec<String>,
    /// Directory for the report
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Also write each figure of the study, and a chart of each table of its original compared with
    /// the run, as SVG, PNG, PDF, CSV, LaTeX and text
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Also write every chart of the report as SVG, PNG and PDF on a white background, with an
    /// index
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    /// Also write every table of the report as Markdown, CSV and LaTeX, with an index
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Rename the only subject of a run, if its file system was not recognised
    #[arg(long, value_name = "RUN=SUBJECT")]
    label: Vec<Label>,
    /// Compare subjects across machines; the report lists the differences between them
    #[arg(long)]
    across_machines: bool,
    /// Compare a phase of another tool's output with a phase of fslab's, even if they measure
    /// different things; FIRST=OTHER for two runs of one kind; may be repeated
    #[arg(long, value_name = "THEIRS=OURS", conflicts_with = "across_machines")]
    map: Vec<PhaseMap>,
    #[command(flatten)]
    csv: CsvArgs,
    #[command(flatten)]
    answer: AnswerArgs,
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
            .ok_or_else(|| format!("'{text}' is not RUN=SUBJECT, for example last=ntfs"))?;
        let subject = subject.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            run: run.to_owned(),
            subject,
        })
    }
}

/// A run as a chapter, with what is said beside it.
struct Loaded {
    run: RunRecord,
    /// Differences between its subjects.
    differences: Vec<String>,
    /// The original that its study repeats, if it is built in.
    original: Option<Original>,
    /// How rates grow with the number of ranks, if its runs differ in it.
    scaling: Option<Scaling>,
    /// What speaks against its file systems.
    reservations: Reservations,
}

impl Loaded {
    fn of(run: RunRecord) -> Self {
        Self {
            differences: Vec::new(),
            scaling: None,
            original: fslab_run::original(&run.header.plan.study),
            reservations: answer::reservations(&run),
            run,
        }
    }

    fn chapter(&self) -> Chapter<'_> {
        Chapter::of(&self.run)
            .with_original(self.original.as_ref())
            .with_scaling(self.scaling.as_ref())
            .with_reservations(&self.reservations)
            .with_differences(&self.differences)
    }
}

impl ReportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut records = self.records()?;
        for record in &mut records {
            self.answer.apply_to_run(record)?;
        }
        let names: Vec<String> = self.named(&records);
        let loaded = self.loaded(records)?;
        prepare_folder(&self.out)?;
        let path = write_as(&names, &loaded, &self.out)?;
        let mut lines = format!("{}\n", path.display());
        let cells = self.csv.cells();
        if let Some(folder) = &self.figures {
            prepare_folder(folder)?;
            for file in write_figures(&loaded, &OutputDirectory::create(folder)?, cells)? {
                lines.push_str(&format!("{}\n", file.display()));
            }
        }
        for index in self.parts(&loaded)? {
            lines.push_str(&format!("{}\n", index.display()));
        }
        screen::print(&lines)?;
        Ok(Exit::Done)
    }

    /// Writes the charts and tables of --charts and --tables, and returns their indices.
    fn parts(&self, loaded: &[Loaded]) -> Result<Vec<PathBuf>, CommandError> {
        let chapters = chapters(loaded);
        let mut indices = Vec::new();
        if let Some(folder) = &self.charts {
            prepare_folder(folder)?;
            indices.push(part_files::charts(&chapters, folder)?);
        }
        if let Some(folder) = &self.tables {
            prepare_folder(folder)?;
            indices.push(part_files::tables(&chapters, folder, self.csv.cells())?);
        }
        Ok(indices)
    }

    /// The runs, relabelled as requested, each once.
    fn records(&self) -> Result<Vec<RunRecord>, CommandError> {
        let store = self.store.open_read_only()?;
        let mut records: Vec<RunRecord> = Vec::new();
        let mut used = vec![false; self.label.len()];
        for run in &self.runs {
            let mut record = load(&store, run)?;
            let name = record.header.run.to_string();
            for (label, used) in self.label.iter().zip(&mut used) {
                if label.run == *run || label.run == name {
                    relabel(&mut record, &label.subject)?;
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
            return Err(failure.hint("name the run as in RUNS").into());
        }
        Ok(records)
    }

    /// The chapters: one of all runs if they share phases, otherwise one for each.
    fn loaded(&self, records: Vec<RunRecord>) -> Result<Vec<Loaded>, CommandError> {
        if self.across_machines {
            let merged = merge(&records)?;
            return Ok(vec![Loaded {
                differences: merged.differences,
                ..Loaded::of(merged.run)
            }]);
        }
        let gathered = match records.len() {
            0 | 1 => None,
            _ => fslab_exchange::gather(&records, &self.map)?,
        };
        match gathered {
            Some(gathered) => Ok(in_one_table(records, gathered)),
            None if self.map.is_empty() => Ok(records.into_iter().map(Loaded::of).collect()),
            None => {
                let text = "cannot use --map: there are no two runs that can be compared";
                let failure = Failure::new(FailureKind::BadInput, text);
                Err(failure.hint("name an import and a run in real time").into())
            }
        }
    }

    /// The run names for the report's file name.
    fn named(&self, records: &[RunRecord]) -> Vec<String> {
        let names = records.iter().map(|record| record.header.run.to_string());
        match self.across_machines {
            true => vec![format!("{}+across-machines", records[0].header.run)],
            false => names.collect(),
        }
    }
}

/// One chapter of all runs, and those whose claims it cannot judge: claims name subjects, which
/// have other names in it.
fn in_one_table(records: Vec<RunRecord>, gathered: Vec<Gathered>) -> Vec<Loaded> {
    let reference = gathered.iter().find(|it| it.meetings.is_none());
    let reference = reference.map(|it| it.run.header.run.to_string());
    let mut sentences = Vec::new();
    for Gathered { run, meetings } in &gathered {
        let (base, new) = (
            reference.as_deref().unwrap_or_default(),
            run.header.run.as_str(),
        );
        let said = meetings.iter().flat_map(|it| it.sentences(base, new));
        sentences.extend(said);
    }
    let runs: Vec<RunRecord> = gathered.into_iter().map(|it| it.run).collect();
    let mut merged = merge_gathered(&runs);
    merged.differences.extend(sentences);
    let mut chapter = Loaded {
        differences: merged.differences,
        scaling: Scaling::of(&records),
        ..Loaded::of(merged.run)
    };
    let mut chapters = Vec::new();
    if merged.is_renamed {
        chapter.original = None;
        let own = records.into_iter().map(Loaded::of);
        chapters.extend(own.filter(|it| it.original.is_some()));
    }
    chapters.insert(0, chapter);
    chapters
}

fn chapters(loaded: &[Loaded]) -> Vec<Chapter<'_>> {
    loaded.iter().map(Loaded::chapter).collect()
}

/// Writes each chapter's figures: to `folder` itself for a single one, else to a subdirectory.
fn write_figures(
    loaded: &[Loaded],
    folder: &OutputDirectory,
    cells: Cells,
) -> Result<Vec<PathBuf>, CommandError> {
    if let [it] = loaded {
        return figure_files::write(&it.run, it.original.as_ref(), folder, cells);
    }
    let mut files = Vec::new();
    for it in loaded {
        let own = folder.folder(it.run.header.run.as_str())?;
        let written = figure_files::write(&it.run, it.original.as_ref(), &own, cells)?;
        files.extend(written);
    }
    Ok(files)
}

/// Creates the directory of a report, and checks early that it is writable.
pub(crate) fn prepare_folder(folder: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(folder)
        .and_then(|()| fslab_sys::try_create_in(folder))
        .map_err(|error| not_writable(folder, &error))
}

/// Checks that the directory of a report is writable, or could be created.
pub(crate) fn ensure_folder(folder: &Path) -> Result<(), CommandError> {
    let there = folder.ancestors().find(|it| it.exists());
    let there = there.unwrap_or(Path::new("."));
    fslab_sys::try_create_in(there).map_err(|error| not_writable(folder, &error))
}

fn not_writable(folder: &Path, error: &std::io::Error) -> CommandError {
    let what = format!(
        "cannot write a report to the directory {}",
        folder.display()
    );
    let mut error = CommandError::io(what, error);
    error.failure.hint = Some("name another directory with --out".into());
    error
}

/// Writes the report and returns its path.
pub(crate) fn write(records: &[RunRecord], folder: &Path) -> Result<PathBuf, CommandError> {
    let names = records.iter().map(|record| record.header.run.to_string());
    let loaded: Vec<Loaded> = records.iter().cloned().map(Loaded::of).collect();
    write_as(&names.collect::<Vec<_>>(), &loaded, folder)
}

/// Writes the report atomically, with a file name of `names`.
fn write_as(names: &[String], loaded: &[Loaded], folder: &Path) -> Result<PathBuf, CommandError> {
    let page = fslab_report::html_of(&chapters(loaded))?;
    let name = format!("fslab-{}.html", names.join("+"));
    OutputDirectory::create(folder)?.write(&name, page.as_bytes())
}
