//! Tables, charts, HTML, CSV and JSON from stored records.
//!
//! Owns how a run is told: what may be claimed of it, in which words, and what it looks like. Knows
//! neither the store nor the clock: every output is a function of its [`fslab_model::RunRecord`]s,
//! so that the same record gives the same bytes.
//!
//! ```text
//!     RunRecord --> Analysis --> sentences     a summary in words
//!               |            --> tables        Table --> Markdown, CSV, the command's terminal
//!               |            --> exhibit       the figures that the study asks for: text, CSV, SVG
//!               |            --> page          one HTML file, with chart
//!               +--> export                    long CSV, JSON
//! ```

mod analysis;
mod caveats;
mod chapter;
mod chart;
mod curves;
mod error;
mod exhibit;
mod export;
mod figures;
mod merge;
mod page;
mod palette;
mod sentences;
mod table;
pub mod tables;
pub mod wording;

pub use analysis::{
    Analysis, Comparison, Diagnosis, Dimension, EXACT_TOLERANCE, Entry, Finding, Oddity,
    OverallAnalysis, PhaseAnalysis, PhaseCell, Repeat, RepeatRound, RepeatState, Sensitive,
    Standing, SweepAnalysis, TOLERANCE,
};
pub use chapter::Chapter;
pub use error::ReportError;
pub use exhibit::{Exhibit, bonnie_csv, exhibits, iozone_report};
pub use export::{DIMENSIONS, Observation, PLACES, csv_long, json, observations};
pub use figures::{Figure, figures};
pub use merge::{MergeError, Merged, merge, relabel};
pub use page::{ChartFile, TableFile, charts, html, html_of, table_files};
pub use sentences::{Sentence, SentenceKind, sentences};
pub use table::{Align, Column, Table, TableCell, Tone};
