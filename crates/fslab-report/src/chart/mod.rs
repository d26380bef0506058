//! Charts as inline SVG: one file a kind, and what they share.
//!
//! Owns geometry alone. Colours, fonts and strokes are the page's, through classes: `s3` is the
//! fourth subject, `of` what belongs to any subject and fades while another is chosen. All charts
//! are drawn at one width that a telephone shows at its natural size; the page sets several in a
//! row where there is room.

mod breakdown;
mod disk;
mod dots;
mod latency;
mod png;
mod scale;
mod series;
mod svg;

pub(crate) use breakdown::{Bars, PARTS, breakdown};
pub(crate) use disk::{class as layer_class, disk};
pub(crate) use dots::Dots;
pub(crate) use latency::{Curve, latency};
pub(crate) use series::{Course, Series};
pub(crate) use svg::escape;

/// Width of every chart, in CSS pixels at its natural size.
const WIDTH: f64 = 380.0;

/// A subject as charts show it.
pub(crate) struct Label {
    /// Its name.
    pub(crate) name: String,
    /// The number that decides its colour and shape.
    pub(crate) look: usize,
}

/// What names a chart, on the page and to a screen reader.
pub(crate) struct Names<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// What it shows.
    pub(crate) title: &'a str,
}
