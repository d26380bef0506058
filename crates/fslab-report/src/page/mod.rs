//! The report as one HTML file: no network, no font, no script that it could not do without.
//!
//! Templates own the markup, `templates/report.css` the look; this module turns an [`Analysis`]
//! into what the templates show.
//!
//! ```text
//!     Page                   title, style, choice of subject, definitions
//!       Run                  header, summary, overview, conditions
//!         PhasePart          sentence, charts, table, and what a simulated disk did
//! ```

mod conditions;
mod definitions;
mod disk;
mod document;
mod phase;
mod run;
mod tables;

pub use document::html;
