//! Charts as inline SVG: one file a kind, and what they share.
//!
//! Owns geometry alone. Colours, fonts and strokes are the page's, through classes: `s3` is the
//! fourth subject, `of` what belongs to any subject and fades while another is chosen. All charts
//! are drawn at one width that a telephone shows at its natural size; the page sets several in a
//! row where there is room.

mod bars;
mod breakdown;
mod disk;
mod dots;
mod drawing;
mod latency;
mod lines;
mod outline;
mod plot;
mod png;
mod scale;
mod series;
mod sheet;
mod svg;
mod winners;

pub(crate) use bars::{Bar, BarGroup, GroupedBars};
pub(crate) use breakdown::{Bars, PARTS, breakdown};
pub(crate) use disk::{class as layer_class, disk};
pub(crate) use dots::Dots;
pub(crate) use drawing::{Drawing, Frame};
pub(crate) use latency::{Curve, latency};
pub(crate) use plot::{Line, NARROW, Plot, Quantity, Spot};
pub(crate) use series::{Course, Series};
pub(crate) use sheet::sheet;
pub(crate) use svg::escape;
pub(crate) use winners::{Victory, winners};

/// Width of every chart, in CSS pixels at its natural size.
const WIDTH: f64 = 340.0;

/// A subject as charts show it.
#[derive(Clone, Debug)]
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
