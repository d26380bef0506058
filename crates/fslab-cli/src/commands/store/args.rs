//! The option --store, and the selection of runs.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use clap::Args;
use fslab_model::{Failure, FailureKind, ParseRunIdError, RunRecord};
use fslab_store::{RunSelector, Store, StoreError};

use crate::defaults;
use crate::exit::CommandError;

/// The store.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArgs {
    /// Database of runs [default: fslab/fslab.db in the user's data directory]
    #[arg(long, value_name = "FILE", help_heading = "Store")]
    store: Option<PathBuf>,
}

impl StoreArgs {
    fn path(&self) -> Result<PathBuf, CommandError> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => Ok(defaults::store()?),
        }
    }

    /// The store, created if it does not exist.
    pub(crate) fn open(&self) -> Result<Store, CommandError> {
        Ok(Store::open(&self.path()?)?)
    }

    /// Checks that the store can be written to, or could be created; nothing is changed.
    pub(crate) fn ensure_usable(&self) -> Result<(), CommandError> {
        let path = self.path()?;
        let there = path.ancestors().find(|it| it.exists());
        let usable = match there {
            // Opening a pipe would wait for its reader.
            Some(file) if file == path => fslab_sys::open_named(file)
                .and_then(|_| OpenOptions::new().append(true).open(file).map(drop)),
            Some(folder) => fslab_sys::try_create_in(folder),
            None => fslab_sys::try_create_in(Path::new(".")),
        };
        usable.map_err(|error| CommandError::io(format!("cannot open {}", path.display()), &error))
    }

    /// The store, which must exist.
    pub(crate) fn open_read_only(&self) -> Result<Store, CommandError> {
        Ok(self.open_read_only_store()??)
    }

    /// The same, with the store's own error.
    pub(crate) fn open_read_only_store(&self) -> Result<Result<Store, StoreError>, CommandError> {
        Ok(Store::open_read_only(&self.path()?))
    }

    /// The store for writing, which must exist.
    pub(crate) fn open_existing(&self) -> Result<Store, CommandError> {
        drop(self.open_read_only()?);
        self.open()
    }
}

/// Parses the selector of a run.
pub(crate) fn selector(text: &str) -> Result<RunSelector, CommandError> {
    text.parse()
        .map_err(|error: ParseRunIdError| no_run(&error))
}

fn no_run(error: &ParseRunIdError) -> CommandError {
    CommandError::bad_input(error.to_string())
}

/// The selected run, with everything that is drawn of it.
pub(crate) fn load(store: &Store, run: &str) -> Result<RunRecord, CommandError> {
    Ok(store.run(&selector(run)?)?)
}

/// The selected run, without what only a report draws.
pub(crate) fn load_metrics(store: &Store, run: &str) -> Result<RunRecord, CommandError> {
    Ok(store.metrics(&selector(run)?)?)
}

/// The selected run, or range of runs, without what only a report draws.
pub(crate) fn load_range(store: &Store, runs: &str) -> Result<Vec<RunRecord>, CommandError> {
    let selectors = RunSelector::range(runs).map_err(|error| match runs.contains("..") {
        true => Failure::new(
            FailureKind::BadInput,
            format!("'{runs}' is not a range of runs"),
        )
        .hint("from the older to the newer: last~5..last~1")
        .into(),
        false => no_run(&error),
    })?;
    let load = |selector: &RunSelector| Ok(store.metrics(selector)?);
    selectors.iter().map(load).collect()
}
