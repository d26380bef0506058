//! What can be asked of `fslab-bench store`.

use std::path::PathBuf;

use crate::counts::counts;

/// The command line.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Number of runs in the store, of 100 trials each.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = counts())]
    pub(crate) runs: u32,

    /// Number of measurements of each command, cold and warm.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = counts())]
    pub(crate) times: u32,

    /// Use a store of 20 runs and 3 measurements, to check that everything works; no target is
    /// judged.
    #[arg(long)]
    pub(crate) quick: bool,

    /// fslab program [default: the one in this program's directory].
    #[arg(long, value_name = "FILE")]
    pub(crate) fslab: Option<PathBuf>,

    /// Directory in which the store is created, and removed afterwards; needs about 7 KB per trial.
    #[arg(long, default_value = "/var/tmp", value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Measure this store, kept by an earlier --keep, instead of a new one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "quick"])]
    pub(crate) store: Option<PathBuf>,

    /// Keep the store.
    #[arg(long)]
    pub(crate) keep: bool,

    /// Directory for the results; with --quick, nothing is written unless this is given.
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
