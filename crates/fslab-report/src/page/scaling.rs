//! Pictures of scaling: the rate of a phase by the number of ranks beside what is ideal, and its
//! latencies.

use fslab_compare::{Scaling, ScalingPicture, ScalingPoint, ScalingRow};
use fslab_model::definitions::LATENCY_P50;

use super::names::slug;
use super::panel::Panel;
use crate::chart::{Label, Line, NARROW, Plot, Quantity, Spot};
use crate::wording;

/// From this ratio of the most to the fewest ranks on, axes are logarithmic: ideal scaling is then
/// a straight line, as it is on two linear ones.
const LOGARITHMIC_FROM: f64 = 4.0;

/// Two pictures for each phase; those that differ in what the ranks share are in one.
pub(super) fn panels(scaling: &Scaling, prefix: &str) -> Vec<Panel> {
    let pictures = scaling.pictures();
    let pictures = pictures.iter();
    pictures
        .flat_map(|picture| {
            let labels = labels(picture);
            [
                rates(picture, &labels, prefix),
                latencies(picture, &labels, prefix),
            ]
        })
        .flatten()
        .collect()
}

/// The names of the lines: their phases, and with several subjects these, too.
fn labels(picture: &ScalingPicture) -> Vec<Label> {
    let is_of_one = |it: &&ScalingRow| it.subject == picture.rows[0].subject;
    let has_one_subject = picture.rows.iter().all(is_of_one);
    let has_one_phase = picture
        .rows
        .iter()
        .all(|it| it.phase == picture.rows[0].phase);
    let name = |row: &ScalingRow| match (has_one_subject, has_one_phase) {
        (true, _) => wording::phase(&row.phase),
        (false, true) => row.subject.to_string(),
        (false, false) => format!("{}, {}", row.subject, wording::phase(&row.phase)),
    };
    let rows = picture.rows.iter().enumerate();
    rows.map(|(look, row)| Label {
        name: name(row),
        look,
    })
    .collect()
}

fn rates(picture: &ScalingPicture, labels: &[Label], prefix: &str) -> Option<Panel> {
    let spot = |point: &ScalingPoint| {
        let [low, high] = point.spread;
        Some([point.rate.value, low, high])
    };
    let is_wide = is_wide(picture);
    let metric = picture.rows[0].metric;
    let plot = plot(picture, labels, Quantity::metric(metric).on(is_wide), spot);
    let mut ideals = Vec::new();
    let mut sentences = Vec::new();
    for (row, label) in picture.rows.iter().zip(labels) {
        let (Some(fewest), Some(most)) = (row.points.first(), row.points.last()) else {
            continue;
        };
        let Some(ideal) = row.ideal(most.ranks) else {
            continue;
        };
        let from = (f64::from(fewest.ranks), fewest.rate.value);
        ideals.push([from, (f64::from(most.ranks), ideal)]);
        sentences.push(format!(
            "{}: {:.0} % of ideal scaling with {} ranks.",
            label.name,
            most.efficiency * 100.0,
            most.ranks
        ));
    }
    Some(Panel {
        id: format!("{prefix}scaling-{}.rate", slug(picture.name)),
        kind: format!("scaling-{}", slug(picture.name)),
        title: format!("{} by the number of ranks", wording::heading(picture.name)),
        caption: "all ranks together · dashed: ideal, each rank as fast as with the fewest · \
                  upright: the spread of the repeats"
            .to_owned(),
        drawing: plot
            .draw_fixed(&ideals)?
            .under_names(labels)
            .described(&sentences.join(" ")),
        needs_legend: false,
        key: &[],
    })
}

/// `None` if no phase has latencies.
fn latencies(picture: &ScalingPicture, labels: &[Label], prefix: &str) -> Option<Panel> {
    let spot = |point: &ScalingPoint| {
        let median = point.latency_p50_ns?;
        Some([median, median, point.latency_p99_ns.unwrap_or(median)])
    };
    let plot = plot(picture, labels, Quantity::metric(&LATENCY_P50), spot);
    Some(Panel {
        id: format!("{prefix}scaling-{}.latency", slug(picture.name)),
        kind: format!("scaling-{}-latency", slug(picture.name)),
        title: format!("{}: latency", wording::heading(picture.name)),
        caption: "median of an operation · upright: to the 99th percentile".to_owned(),
        drawing: plot.draw_fixed(&[])?.under_names(labels),
        needs_legend: false,
        key: &[],
    })
}

fn is_wide(picture: &ScalingPicture) -> bool {
    let points = picture.rows.iter().flat_map(|row| &row.points);
    let ranks = points.map(|point| f64::from(point.ranks));
    let (low, high) = ranks.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), ranks| {
        (low.min(ranks), high.max(ranks))
    });
    high / low >= LOGARITHMIC_FROM
}

fn plot<'a>(
    picture: &ScalingPicture,
    labels: &'a [Label],
    y: Quantity,
    spot: impl Fn(&ScalingPoint) -> Option<[f64; 3]>,
) -> Plot<'a> {
    let line = |(row, label): (&&ScalingRow, &'a Label)| Line {
        label,
        spots: row
            .points
            .iter()
            .map(|point| Spot {
                x: f64::from(point.ranks),
                y: spot(point),
            })
            .collect(),
    };
    Plot {
        width: NARROW,
        x: Quantity::plain("ranks".to_owned()).on(is_wide(picture)),
        y,
        lines: picture.rows.iter().zip(labels).map(line).collect(),
        marks: Vec::new(),
    }
}
