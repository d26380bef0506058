//! Tables, charts, HTML, CSV and JSON from stored records.
//!
//! Owns how a run is told: what may be claimed of it, in which words, and what it looks like. Knows
//! neither the store nor the clock: every output is a function of its [`fslab_model::RunRecord`]s,
//! so that the same record gives the same bytes.
//!
//! ```text
//!     RunRecord --> Analysis --> sentences     a summary in words
//!               |            --> tables        Table --> Markdown, CSV, the command's terminal
//!               |            --> page          one HTML file, with chart
//!               +--> export                    long CSV, JSON
//! ```

mod analysis;
mod chart;
mod error;
mod export;
mod figures;
mod page;
mod palette;
mod sentences;
mod table;
pub mod tables;
mod wording;

pub use analysis::{
    Analysis, Comparison, Entry, PhaseAnalysis, PhaseCell, Repeat, RepeatState, Standing,
};
pub use error::ReportError;
pub use export::{csv_long, json};
pub use figures::{Figure, figures};
pub use page::html;
pub use sentences::{Sentence, SentenceKind, sentences};
pub use table::{Align, Column, Table, TableCell, Tone};
