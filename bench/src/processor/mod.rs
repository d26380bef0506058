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
mod study_twice;

use std::path::PathBuf;

use clap::Args;
use fslab_model::RunRecord;

use agreement::Agreement;

pub(crate) use page::page;
pub(crate) use study_twice::measure;

/// The study of both runs.
const STUDY: &str = "processor";

/// What is measured.
#[derive(Debug, Args)]
pub(crate) struct ProcessorArgs {
    /// Number of repeats in real time, on one processor; the counted processor always runs three,
    /// perturbed.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) repeats: u32,

    /// Machine with the counted processor.
    #[arg(long, default_value = "pc-2024", value_name = "MACHINE")]
    pub(crate) machine: String,

    /// Lab of the counted run [default: the default of `fslab compare`].
    #[arg(long, value_name = "NAME")]
    pub(crate) lab: Option<String>,

    /// File systems [default: the study's].
    #[arg(long, value_delimiter = ',', value_name = "SUBJECT,...")]
    pub(crate) subjects: Vec<String>,

    /// Directory in memory for the images of both runs.
    #[arg(long, default_value = "/dev/shm", value_name = "DIR")]
    pub(crate) tmpfs: PathBuf,

    /// fslab program [default: the one in this program's directory].
    #[arg(long, value_name = "FILE")]
    pub(crate) fslab: Option<PathBuf>,

    /// Directory for the page and its picture.
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
