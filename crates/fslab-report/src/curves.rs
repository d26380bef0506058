//! Curves: a metric over one dimension of a sweep.

use fslab_model::{Bytes, MetricDefinition, PointValue, RunRecord, VenuePlan};

use crate::chart::{Label, Line, Plot, Quantity, Spot};
use crate::wording;
use fslab_compare::PhaseAnalysis;
use fslab_compare::{by_value, spread_over};

/// The dimension whose axis shows the sizes of memories.
const FILE_SIZE: &str = "file_size";

/// A line for each subject over the values of `over`; each value is the geometric mean over its
/// points.
pub(crate) fn over<'a>(
    run: &RunRecord,
    labels: &'a [Label],
    points: &[&PhaseAnalysis],
    (over, metric): (&str, &'static MetricDefinition),
    width: f64,
) -> Plot<'a> {
    let columns: Vec<_> = by_value(points, over)
        .into_iter()
        .map(|(value, points)| (value, spread_over(&points, metric, labels.len())))
        .collect();
    let title = wording::phase(over);
    let is_size = columns
        .iter()
        .any(|(v, _)| matches!(v, PointValue::Bytes(_)));
    let line = |(subject, label): (usize, &'a Label)| Line {
        label,
        spots: columns
            .iter()
            .map(|(value, subjects)| Spot {
                x: value.number() as f64,
                y: subjects.get(subject).copied().flatten(),
            })
            .collect(),
    };
    Plot {
        width,
        x: if is_size {
            Quantity::bytes(title)
        } else {
            Quantity::plain(title)
        },
        y: Quantity::metric(metric),
        lines: labels.iter().enumerate().map(line).collect(),
        marks: if over == FILE_SIZE {
            memories(run)
        } else {
            Vec::new()
        },
    }
}

/// File sizes that exceed a memory: that of the system, and that of a simulated disk.
fn memories(run: &RunRecord) -> Vec<(f64, String)> {
    let machine = run.header.machine.memory_bytes.map(Bytes);
    let (memory, disk) = match &run.header.plan.venue {
        VenuePlan::Guest { memory_bytes, .. } => (Some(*memory_bytes), None),
        VenuePlan::Sim {
            memory_bytes, disk, ..
        } => (Some(*memory_bytes), parameter(&disk.model, "buffer_bytes")),
        VenuePlan::Dir { .. } | VenuePlan::Loop { .. } | VenuePlan::Block { .. } => (machine, None),
        VenuePlan::Fake | VenuePlan::Imported { .. } => (None, None),
    };
    let mark = |(bytes, name): (Option<Bytes>, &str)| {
        let Bytes(bytes) = bytes.filter(|Bytes(bytes)| *bytes > 0)?;
        Some((bytes as f64, name.to_owned()))
    };
    let marks = [(memory, "memory"), (disk, "disk's buffer")];
    marks.into_iter().filter_map(mark).collect()
}

/// A parameter of the disk's model.
fn parameter(model: &str, name: &str) -> Option<Bytes> {
    let lines = model.lines().filter_map(|line| line.split_once('='));
    let mut values = lines.filter(|(known, _)| *known == name);
    values.next()?.1.parse().ok().map(Bytes)
}
