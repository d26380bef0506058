//! The report as one HTML file, without network access or fonts; its scripts are optional.
//!
//! Templates own the markup, `templates/report.css` the style; this module converts an [`Analysis`]
//! to the templates' data.
//!
//! ```text
//!     Page                   title, style, choice of subject, definitions
//!       Run                  header, summary, overview, conditions
//!         ExhibitPart        a figure that the study defines
//!         ClaimsPart         claims of the study's original, and its figures beside the run's
//!         PhasePart          sentence, charts, table, and the simulated disk
//!           SweepPart        curves, winners and all points of a sweep
//! ```

mod claims;
mod conditions;
mod context;
mod definitions;
mod disk;
mod document;
mod exhibits;
mod experiment;
mod files;
mod lists;
mod names;
mod panel;
mod phase;
mod ratios;
mod run;
mod scaling;
mod sorting;
mod sweep;
mod tables;

pub use document::{html, html_of};
pub use experiment::experiment_html;
pub use files::{ChartFile, TableFile, charts, table_files};
