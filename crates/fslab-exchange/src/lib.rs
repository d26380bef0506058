//! Other tools' formats: reads their output as runs, writes runs in their formats.
//!
//! Owns each format's meaning: columns and units, which fields are empty and why, and which values
//! are too uncertain to read. Opens no files and knows neither the store nor the clock: its input
//! is named texts, and every output is a function of its run.
//!
//! ```text
//!     Source... --Format::of--> read::* --> Reading (trials) --assemble--> RunRecord
//!                                                                             |
//!     JSON of fio and IOR, mdtest, CSV <--write::*----------------------------+
//!     Meetings of its phases with those of another run  <--meet::*------------+
//! ```

mod apart;
mod assemble;
mod collection;
mod error;
mod format;
mod hosts;
mod import;
mod latency_bins;
mod meet;
mod nearest;
mod read;
mod reading;
mod recognition;
mod source;
mod unread;
mod write;

pub use assemble::Labels;
pub use format::Format;
pub use import::{Imported, import};
pub use meet::{
    Activity, Gathered, Meet, PhaseContent, PhaseMap, as_compared, content, gather, meet,
};
pub use source::Source;
pub use write::{
    bonnie_left_out, csv_wide, fio_json, io500_result, io500_summary, ior_json, iozone_left_out,
    mdtest_text, parquet,
};
