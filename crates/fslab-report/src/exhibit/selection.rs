//! The phases and points of a run that a figure shows.

use std::collections::BTreeMap;

use fslab_claims::{ParseRangeError, PointRange, is_within};
use fslab_model::definitions::THROUGHPUT;
use fslab_model::{FigureSpec, MetricDefinition, PointValue};

use crate::chart::Label;
use crate::wording;
use fslab_compare::{Analysis, PhaseAnalysis};

/// The content of a figure.
pub(super) struct Selection<'s, 'a> {
    pub(super) spec: &'s FigureSpec,
    pub(super) analysis: &'s Analysis<'a>,
    /// The subjects, in the order of the plan.
    pub(super) labels: &'s [Label],
    pub(super) phases: Vec<Selected<'s, 'a>>,
    pub(super) notes: Vec<String>,
}

/// A phase of a figure.
pub(super) struct Selected<'s, 'a> {
    pub(super) phase: &'s PhaseAnalysis<'a>,
    /// The points shown; the phase itself if it is no sweep.
    pub(super) points: Vec<&'s PhaseAnalysis<'a>>,
    /// The metric drawn.
    pub(super) metric: &'static MetricDefinition,
}

impl<'s, 'a> Selection<'s, 'a> {
    /// Selects the content, or returns why there is none.
    pub(super) fn of(
        spec: &'s FigureSpec,
        analysis: &'s Analysis<'a>,
        labels: &'s [Label],
    ) -> Result<Self, String> {
        let conditions = read_conditions(spec)?;
        let metric = match &spec.metric {
            Some(name) => Some(
                MetricDefinition::named(name)
                    .ok_or_else(|| format!("there is no metric '{name}'"))?,
            ),
            None => None,
        };
        let mut selection = Self {
            spec,
            analysis,
            labels,
            phases: Vec::new(),
            notes: Vec::new(),
        };
        for name in &spec.phases {
            let found = analysis.phases.iter().find(|phase| phase.name == name);
            let Some(phase) = found else {
                selection.note(format!("The run has no phase '{name}'."));
                continue;
            };
            let points = selection.points(phase, &conditions);
            if points.is_empty() {
                selection.note(format!("No point of '{name}' is asked for."));
                continue;
            }
            let known_by = phase
                .comparison
                .as_ref()
                .map(|comparison| comparison.metric);
            selection.phases.push(Selected {
                phase,
                points,
                metric: metric.or(known_by).unwrap_or(&THROUGHPUT),
            });
        }
        if selection.phases.is_empty() {
            return Err(selection.notes.join(" "));
        }
        Ok(selection)
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The requested points of `phase`. If a smaller scale lacks the requested ones, the largest
    /// one present replaces them. A note gives the largest.
    fn points(
        &mut self,
        phase: &'s PhaseAnalysis<'a>,
        conditions: &Conditions,
    ) -> Vec<&'s PhaseAnalysis<'a>> {
        let points = phase.points().iter();
        let points: Vec<_> = points
            .filter_map(|phase| Some((phase, phase.point?)))
            .collect();
        if conditions.is_empty() {
            return phase.points().iter().collect();
        }
        let is_full = self.analysis.run.header.plan.scale.is_full();
        let mut ranges = BTreeMap::new();
        for (dimension, condition) in conditions {
            let values = points.iter().filter_map(|(_, point)| point.get(dimension));
            let Some(largest) = values.copied().max() else {
                return Vec::new();
            };
            let wanted = match condition {
                Condition::Largest => None,
                Condition::Range(range) => Some(*range),
            };
            let cut_off = wanted.and_then(|range| range.from.filter(|from| *from > largest));
            let dimension_name = wording::phase(dimension);
            let range = match (wanted, cut_off) {
                (Some(_), Some(from)) if !is_full => {
                    self.note(format!(
                        "At this scale {dimension_name} ends at {largest}, which stands for {from}."
                    ));
                    only(largest)
                }
                (Some(range), _) => range,
                (None, _) => {
                    self.note(format!("The largest {dimension_name} is {largest}."));
                    only(largest)
                }
            };
            ranges.insert(dimension.clone(), range);
        }
        let inside = points
            .into_iter()
            .filter(|(_, point)| is_within(point, &ranges));
        inside.map(|(phase, _)| phase).collect()
    }

    /// The names of the subjects.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        let labels = self.labels;
        labels.iter().map(|label| label.name.as_str())
    }

    /// The cap of the bars, in the unit of `metric`.
    pub(super) fn cap(&self) -> Result<Option<f64>, String> {
        let Some(text) = &self.spec.cap else {
            return Ok(None);
        };
        read_quantity(text)
            .map(Some)
            .ok_or_else(|| format!("the cap '{text}' is not a number with a unit, like '450 s'"))
    }
}

/// The range of one value.
fn only(value: PointValue) -> PointRange {
    PointRange {
        from: Some(value),
        to: Some(value),
    }
}

/// A condition on a dimension.
enum Condition {
    /// Its largest value.
    Largest,
    /// These values.
    Range(PointRange),
}

/// The conditions of a figure on the dimensions of a sweep.
type Conditions = BTreeMap<String, Condition>;

fn read_conditions(spec: &FigureSpec) -> Result<Conditions, String> {
    let read = |(dimension, text): (&String, &String)| {
        let condition = match text.as_str() {
            "max" => Condition::Largest,
            text => Condition::Range(
                text.parse()
                    .map_err(|error: ParseRangeError| format!("where.{dimension}: {error}"))?,
            ),
        };
        Ok((dimension.clone(), condition))
    };
    spec.condition.iter().map(read).collect()
}

/// A number with a unit, in base units: `450 s`, `100 MB/s`, `20`.
fn read_quantity(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 16] = [
        ("", 1.0),
        ("ns", 1.0),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("B/s", 1.0),
        ("kB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("KiB/s", 1024.0),
        ("MiB/s", 1_048_576.0),
        ("op/s", 1.0),
        ("kop/s", 1e3),
        ("Mop/s", 1e6),
        ("%", 0.01),
    ];
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    let number: f64 = number.parse().ok()?;
    Some(number * factor).filter(|value| value.is_finite() && *value > 0.0)
}

/// The point's value of a dimension.
pub(super) fn value_of(phase: &PhaseAnalysis, dimension: &str) -> Option<PointValue> {
    phase.point?.get(dimension).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_read_with_their_units() {
        assert_eq!(read_quantity("450 s"), Some(450e9));
        assert_eq!(read_quantity("1.5MB/s"), Some(1.5e6));
        assert_eq!(read_quantity("20"), Some(20.0));
        for wrong in ["", "s", "0 s", "-1 s", "450 furlongs", "1e9"] {
            assert_eq!(read_quantity(wrong), None, "{wrong}");
        }
    }
}
