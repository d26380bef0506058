//! Charts as inline SVG, one file per kind.
//!
//! Owns geometry only. Colours, fonts and strokes are set by the page through classes: `s3` is the
//! fourth subject, `of` is any element of a subject, which fades while another one is selected. All
//! charts have the same width, which fits a telephone; wider pages have several in a row.

mod axis;
mod bars;
mod breakdown;
mod disk;
mod dots;
mod drawing;
mod field;
mod latency;
mod lines;
mod numbers;
mod outline;
mod placing;
mod plot;
mod png;
mod ratios;
mod scale;
mod scatter;
mod series;
mod sheet;
mod svg;
mod winners;

pub(crate) use axis::{Axis, TickUnit};
pub(crate) use bars::{Bar, BarGroup, GroupedBars};
pub(crate) use breakdown::{Bars, PARTS, breakdown};
pub(crate) use disk::{class as layer_class, disk};
pub(crate) use dots::Dots;
pub(crate) use drawing::{Drawing, Frame};
pub(crate) use field::shapes;
pub(crate) use latency::{Curve, latency};
pub(crate) use plot::{Line, NARROW, Plot, Quantity, Spot, distinct, ticks_across};
pub(crate) use ratios::{RatioGroup, RatioRow, Ratios};
pub(crate) use scatter::{Scatter, ScatterPoint};
pub(crate) use series::{Course, Series};
pub(crate) use sheet::sheet;
pub(crate) use winners::{Leader, winners};

/// Width of every chart, in CSS pixels at its natural size.
const WIDTH: f64 = 340.0;

/// A subject as charts show it.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) name: String,
    /// The number of its colour and shape.
    pub(crate) look: usize,
}

/// The name of a chart, on the page and for screen readers.
pub(crate) struct Names<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// Its content.
    pub(crate) title: &'a str,
}
