//! What can be asked of `fslab-bench store`.

use std::path::PathBuf;

use crate::args::counts;

/// The command line.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Runs in the store, of 100 trials each.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = counts())]
    pub(crate) runs: u32,

    /// How often each command is measured, cold and warm.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = counts())]
    pub(crate) times: u32,

    /// A store of 20 runs and 3 measurements, to see that everything works: no target is judged.
    #[arg(long)]
    pub(crate) quick: bool,

    /// The command fslab; by default that beside this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) fslab: Option<PathBuf>,

    /// Where the store is made, and removed afterwards: some 7 KB a trial.
    #[arg(long, default_value = "/var/tmp", value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Measure this store, made by an earlier --keep, instead of a new one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "quick"])]
    pub(crate) store: Option<PathBuf>,

    /// Leave the store where it was made.
    #[arg(long)]
    pub(crate) keep: bool,

    /// Folder for the results; with --quick they are written only where this is given.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

impl StoreArgs {
    pub(crate) fn runs(&self) -> u32 {
        if self.quick { 20 } else { self.runs }
    }

    pub(crate) fn times(&self) -> u32 {
        if self.quick { 3 } else { self.times }
    }
}
