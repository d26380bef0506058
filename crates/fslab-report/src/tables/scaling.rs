//! How rates grow with the number of ranks.

use fslab_compare::{Scaling, ScalingPoint, ScalingRow};
use fslab_model::format_ns;

use crate::{Column, Table, TableCell, Tone, wording};

/// A row for each subject, phase and number of ranks.
pub fn scaling(scaling: &Scaling) -> Table {
    let rows = scaling.rows.iter().flat_map(|row| {
        let points = row.points.iter().enumerate();
        points.map(move |(place, point)| cells(row, place, point))
    });
    Table {
        caption: "Rates by the number of ranks".to_owned(),
        columns: vec![
            Column::left("Subject"),
            Column::left("Phase"),
            Column::right("Ranks"),
            Column::right("Rate of all"),
            Column::right("95 % interval"),
            Column::right("Efficiency"),
            Column::right("Median latency"),
            Column::right("99th percentile"),
            Column::right("Starts apart"),
        ],
        rows: rows.collect(),
        notes: vec![
            "Efficiency: the rate of a rank, as a share of that with the fewest ranks. Sizes and \
             counts are those of a rank, so that all do more with more ranks. Starts apart: from the \
             start of the first rank to that of the last."
                .to_owned(),
        ],
    }
}

fn cells(row: &ScalingRow, place: usize, point: &ScalingPoint) -> Vec<TableCell> {
    let is_first = place == 0;
    let once = |text: String| TableCell::new(if is_first { text } else { String::new() });
    let time = |ns: Option<f64>| TableCell::optional(ns.map(format_ns));
    let interval = point.rate.interval;
    vec![
        once(row.subject.to_string()),
        once(wording::phase(&row.phase)),
        TableCell::new(point.ranks.to_string()),
        TableCell::new(wording::figure(row.metric, point.rate.value)),
        TableCell::optional(interval.map(|it| wording::figure_interval(row.metric, it))),
        TableCell::new(format!("{:.0} %", point.efficiency * 100.0)).tone(Tone::Strong),
        time(point.latency_p50_ns),
        time(point.latency_p99_ns),
        time(point.start_skew_ns.filter(|_| point.ranks > 1)),
    ]
}
