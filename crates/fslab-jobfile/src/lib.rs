//! Job files of other tools, read as studies: fio's job files, and filebench's personalities.
//!
//! ```text
//!     text --sections, variables--> options --one table of rules--> jobs --groups--> a study
//! ```
//!
//! It reads texts that can come from anyone, opens no file, and runs nothing. What it cannot
//! express is refused by name; what changes nothing that is measured is left out and listed.

mod draft;
mod filebench;
mod fio;
mod problem;
mod reading;

pub use draft::TranslatedStudy;
pub use fio::{FioOption, FioRule, fio_options};
pub use problem::{JobFileError, JobFileProblem};
pub use reading::{JobFileKind, JobFileReader, VARIABLE_PREFIX};
