//! `fslab report`: one HTML file of one or more runs.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use fslab_model::RunRecord;

use super::store_args::{StoreArgs, load};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Runs by name, unique beginning, or `last`
    #[arg(default_value = "last")]
    runs: Vec<String>,
    /// Where the report is written
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

impl ReportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let store = self.store.open_read_only()?;
        let mut records: Vec<RunRecord> = Vec::new();
        for run in &self.runs {
            let record = load(&store, run)?;
            let is_same = |other: &RunRecord| other.header.run == record.header.run;
            if !records.iter().any(is_same) {
                records.push(record);
            }
        }
        prepare_folder(&self.out)?;
        let path = write(&records, &self.out)?;
        screen::print(&format!("{}\n", path.display()))?;
        Ok(Exit::Done)
    }
}

/// Makes the folder of a report, and finds out early whether it can be written to.
pub(crate) fn prepare_folder(folder: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(folder)
        .and_then(|()| probe(folder))
        .map_err(|error| {
            let what = format!("cannot write a report to the folder {}", folder.display());
            let mut error = CommandError::io(what, &error);
            error.failure.hint = Some("name another folder with --out".into());
            error
        })
}

/// Makes a file that was not there, and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let names = (0..u32::MAX).map(|number| format!(".fslab-{}-{number}", std::process::id()));
    for path in names.map(|name| folder.join(name)) {
        match fs::File::create_new(&path) {
            // Somebody else's, perhaps of the same number in another namespace: not ours to touch.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(_) => return fs::remove_file(&path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Writes the report and returns its path. Half a report is not left behind.
pub(crate) fn write(records: &[RunRecord], folder: &Path) -> Result<PathBuf, CommandError> {
    let names: Vec<_> = records
        .iter()
        .map(|record| record.header.run.as_str())
        .collect();
    let path = folder.join(format!("fslab-{}.html", names.join("+")));
    let page = fslab_report::html(records)?;
    let part = path.with_extension("html.part");
    fs::write(&part, page)
        .and_then(|()| fs::rename(&part, &path))
        .map_err(|error| {
            let _ = fs::remove_file(&part);
            CommandError::io(format!("cannot write {}", path.display()), &error)
        })?;
    Ok(path)
}
