//! Tables, charts, HTML, CSV and JSON from stored records.
//!
//! Owns the presentation of a run: which claims it supports, their wording and layout. Knows
//! neither the store nor the clock: every output is a function of its [`fslab_model::RunRecord`]s,
//! so the same record gives the same bytes.
//!
//! ```text
//!     RunRecord --> Analysis --> answer        what the run recommends, in words
//!               |            --> sentences     a summary in words
//!               |            --> tables        Table --> Markdown, CSV, LaTeX, terminal
//!               |            --> exhibit       the figures that the study defines: text, CSV, SVG
//!               |            --> page          one HTML file, with chart
//!               +--> export                    long CSV, JSON
//! ```

mod answer_document;
mod caveats;
mod chapter;
mod chart;
mod curves;
mod device_costs;
mod diff;
mod disk_curves;
mod error;
mod exhibit;
mod export;
mod figures;
mod grouping;
mod latex;
mod model_sentence;
mod page;
mod palette;
mod recommendation;
mod sentences;
mod spreadsheet;
mod table;
pub mod tables;
pub mod wording;
mod xml;

pub use answer_document::{
    AnswerDocument, CountedPhase, FirstShare, LeftOutPhase, ThresholdShare, TurningPhase,
};
pub use chapter::Chapter;
pub use diff::{
    DiffDocument, GateDocument, MeetingsDocument, annotations, diff_table, gate_table, junit,
    meetings_table,
};
pub use disk_curves::{CurveAxis, curve_axes, disk_curves};
pub use error::ReportError;
pub use exhibit::{
    Exhibit, PairedPanel, PairedPhases, PairedPoint, bonnie_csv, exhibits, iozone_report,
    then_and_now_pictures,
};
pub use export::{csv_long, json};
pub use figures::{Figure, figures};
pub use model_sentence::model_sentence;
pub use page::{ChartFile, TableFile, charts, experiment_html, html, html_of, table_files};
pub use recommendation::{Answer, Remark, Reservations, answer};
pub use sentences::{Sentence, SentenceKind, sentences};
pub use spreadsheet::{Cells, unguarded};
pub use table::{Align, Column, Table, TableCell, Tone, escape_markdown};
