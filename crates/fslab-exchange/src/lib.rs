//! Other tools' formats: their output read as runs, runs written as theirs.
//!
//! Owns what each format means: its columns and units, what it leaves empty and why, and what of it
//! is not certain enough to be read. Opens no file and knows neither the store nor the clock: texts
//! come in with their names, and every output is a function of its run.
//!
//! ```text
//!     Source... --Format::of--> read::* --> Reading (trials) --assemble--> RunRecord
//!                                                                             |
//!     fio's JSON+, wide CSV, Parquet <--write::*------------------------------+
//! ```

mod assemble;
mod error;
mod format;
mod import;
mod latency_bins;
mod read;
mod reading;
mod source;
mod write;

pub use error::{ImportError, ImportErrorKind};
pub use format::Format;
pub use import::{Imported, Labels, import};
pub use source::Source;
pub use write::{ExportError, bonnie_left_out, csv_wide, fio_json, iozone_left_out, parquet};
