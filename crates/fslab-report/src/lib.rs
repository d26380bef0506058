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
mod wording;

pub use analysis::{
    Analysis, Comparison, Dimension, Entry, PhaseAnalysis, PhaseCell, Repeat, RepeatState,
    Standing, SweepAnalysis,
};
pub use chapter::Chapter;
pub use error::ReportError;
pub use exhibit::{Exhibit, bonnie_csv, exhibits, iozone_report};
pub use export::{csv_long, json};
pub use figures::{Figure, figures};
pub use merge::{MergeError, Merged, merge, relabel};
pub use page::{html, html_of};
pub use sentences::{Sentence, SentenceKind, sentences};
pub use table::{Align, Column, Table, TableCell, Tone};
