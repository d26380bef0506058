//! The figures and tables that a study defines, in the form of its original's.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The layout of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureLayout {
    /// A line for each subject: the metric over one dimension of a sweep.
    Curves,
    /// A group of bars for each phase, or for each value of `over`; a bar for each subject.
    Bars,
    /// A line for each subject of one of the phases' own lists of values.
    Lists,
    /// Mean, percent of the slowest, standard deviation and its percent of the largest, for the
    /// phase, its unmount, and their sum.
    LoserTable,
    /// The columns of bonnie++: rate, processor share and latency of each of its phases.
    BonnieTable,
    /// The columns of Iozone: a row for each file size and record size, a column for each phase.
    IozoneTable,
}

/// One figure or table of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// Short name, unique in the study: `figure-1`.
    pub id: String,
    /// Caption.
    pub title: String,
    /// Its layout.
    pub layout: FigureLayout,
    /// Phases that it shows, in this order.
    pub phases: Vec<String>,
    /// Metric that is drawn. Default: the headline of each phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Dimension of the sweep along the horizontal axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// Which points of the sweep are shown: a value or a range (`"64KiB"`, `"1MiB.."`, `"max"`) for
    /// a dimension. Of a dimension that is neither named here nor in `over`, all points are shown,
    /// and a curve is their geometric mean.
    #[serde(rename = "where", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub condition: BTreeMap<String, String>,
    /// Upper end of the axis; longer bars are cut there and labelled: `"450 s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// List of values that the layout `lists` draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
}

/// A figure of one phase that has many values: `y` for each `x`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueList {
    /// Its name: `readahead-window`.
    pub name: String,
    /// What `x` is, with its unit: `block read (4 KiB)`.
    pub x: String,
    /// What `y` is, with its unit.
    pub y: String,
    /// The values, in order of recording.
    pub points: Vec<(f64, f64)>,
}
