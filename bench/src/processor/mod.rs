//! The processor of a counted machine against this machine's: the same study on file systems in
//! memory, once in real time and once with instructions counted.
//!
//! ```text
//!     measure --- session      runs `fslab compare` twice, reads both records
//!             --- agreement    rank correlation and ratios, by phase
//!             --- prices       what prices of calls and bytes would bring
//!             --- page         tables, and the page that is kept
//!             --- picture      real rates against counted ones
//! ```

mod agreement;
mod page;
mod picture;
mod prices;
mod session;

use std::path::PathBuf;

use clap::Args;
use fslab_model::RunRecord;

use agreement::Agreement;

pub(crate) use page::{page, terminal};
pub(crate) use picture::picture;
pub(crate) use session::measure;

/// The study of both runs.
const STUDY: &str = "processor";

/// What is measured.
#[derive(Debug, Args)]
pub(crate) struct ProcessorArgs {
    /// Repeats in real time, on one processor; with a counted processor there are three, which are
    /// perturbed.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) repeats: u32,

    /// The machine whose instructions are counted.
    #[arg(long, default_value = "pc-2024", value_name = "MACHINE")]
    pub(crate) machine: String,

    /// The lab of the counted run; by default that of `fslab compare`.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,

    /// File systems; by default those of the study.
    #[arg(long, value_delimiter = ',', value_name = "SUBJECT,...")]
    pub(crate) subjects: Vec<String>,

    /// Folder in memory for the images of both runs.
    #[arg(long, default_value = "/dev/shm", value_name = "DIR")]
    pub(crate) tmpfs: PathBuf,

    /// The command fslab; by default that beside this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) fslab: Option<PathBuf>,

    /// Folder for the page and its picture.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Both runs, and how they agree.
pub(crate) struct Findings {
    pub(crate) real: RunRecord,
    /// The processor on which the real run was kept.
    pub(crate) processor: usize,
    pub(crate) counted: RunRecord,
    pub(crate) agreement: Agreement,
}
