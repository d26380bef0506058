//! The fastest subject at each point of a sweep of one or two dimensions, by colour.

use fslab_model::PointValue;

use super::drawing::Drawing;
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};
use fslab_compare::SweepDimension;

const LEFT: f64 = 62.0;
const TOP: f64 = 8.0;
const CELL_MAX: f64 = 26.0;
const BELOW: f64 = 40.0;

/// The fastest subject at a point.
pub(crate) struct Leader {
    /// Value of the first dimension and, if any, of the second.
    pub(crate) place: (PointValue, Option<PointValue>),
    /// The best subject's index among the labels.
    pub(crate) best: usize,
    /// True if it is significantly better than every other.
    pub(crate) certain: bool,
}

/// Draws the map; `None` without points.
pub(crate) fn winners(
    labels: &[Label],
    across: &SweepDimension,
    upwards: Option<&SweepDimension>,
    leaders: &[Leader],
) -> Option<Drawing> {
    if leaders.is_empty() {
        return None;
    }
    let columns = across.values.len();
    let rows = upwards.map_or(1, |dimension| dimension.values.len());
    let side = ((WIDTH - LEFT - 8.0) / columns as f64).min(CELL_MAX);
    let height = (side * rows as f64).max(side);
    let bottom = TOP + height;
    let mut svg = Svg::new(bottom + BELOW);
    let mut squares = Vec::new();
    for leader in leaders {
        let column = across.values.iter().position(|v| *v == leader.place.0)?;
        let row = match (upwards, leader.place.1) {
            (Some(dimension), Some(value)) => dimension.values.iter().position(|v| *v == value)?,
            _ => 0,
        };
        let left = LEFT + side * column as f64;
        let top = bottom - side * (row + 1) as f64;
        let square = (
            (left + 0.5, top + 0.5),
            (left + side - 0.5, top + side - 0.5),
        );
        let look = labels.get(leader.best)?.look;
        svg.open(look);
        let class = if leader.certain {
            "bar"
        } else {
            "bar uncertain"
        };
        svg.rectangle(class, square.0, square.1);
        svg.close();
        squares.push(square);
    }
    // The empty square of a hidden subject.
    svg.rectangles("hole", &squares);
    ticks(&mut svg, (across, upwards), side, bottom);
    Some(svg.into_drawing(&description(labels, leaders)))
}

fn ticks(
    svg: &mut Svg,
    (across, upwards): (&SweepDimension, Option<&SweepDimension>),
    side: f64,
    bottom: f64,
) {
    let step = (52.0 / side).ceil().max(1.0) as usize;
    for (index, value) in across.values.iter().enumerate().step_by(step) {
        let x = LEFT + side * (index as f64 + 0.5);
        svg.text(
            "tick",
            Anchor::Middle,
            (x, bottom + 14.0),
            &value.to_string(),
        );
    }
    let title = crate::wording::phase(across.name);
    svg.text("axis", Anchor::End, (WIDTH - 6.0, bottom + 31.0), &title);
    let Some(upwards) = upwards else { return };
    let step = (16.0 / side).ceil().max(1.0) as usize;
    for (index, value) in upwards.values.iter().enumerate().step_by(step) {
        let y = bottom - side * (index as f64 + 0.5) + 4.0;
        svg.text("tick", Anchor::End, (LEFT - 6.0, y), &value.to_string());
    }
    let title = format!("↑ {}", crate::wording::phase(upwards.name));
    svg.text("axis", Anchor::Start, (0.0, bottom + 31.0), &title);
}

fn description(labels: &[Label], leaders: &[Leader]) -> String {
    let described = |(place, label): (usize, &Label)| {
        let best = leaders.iter().filter(|leader| leader.best == place);
        let (all, certain) = best.fold((0, 0), |(all, certain), leader| {
            (all + 1, certain + usize::from(leader.certain))
        });
        (all > 0).then(|| {
            format!(
                "{}: best at {all} of {}, {certain} with certainty.",
                label.name,
                leaders.len()
            )
        })
    };
    let lines: Vec<String> = labels.iter().enumerate().filter_map(described).collect();
    lines.join(" ")
}
