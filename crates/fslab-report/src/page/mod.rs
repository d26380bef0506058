//! The report as one HTML file: no network, no font, no script that it could not do without.
//!
//! Templates own the markup, `templates/report.css` the look; this module turns an [`Analysis`]
//! into what the templates show.
//!
//! ```text
//!     Page                   title, style, choice of subject, definitions
//!       Run                  header, summary, overview, conditions
//!         ExhibitPart        a figure that the study asks for
//!         ClaimsPart         what the study's original claims, and its figures beside the run's
//!         PhasePart          sentence, charts, table, and what a simulated disk did
//!           SweepPart        curves, winners and all points, where it was run at many
//! ```

mod claims;
mod conditions;
mod definitions;
mod disk;
mod document;
mod exhibits;
mod files;
mod lists;
mod panel;
mod phase;
mod run;
mod sorting;
mod sweep;
mod tables;

pub use document::{html, html_of};
pub use files::{ChartFile, TableFile, charts, table_files};
