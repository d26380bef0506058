//! A sweep's part of the page: curves over one dimension, with a choice among the others, the
//! fastest subjects, and a table of all points.

use fslab_compare::{PhaseAnalysis, Standing, SweepAnalysis, SweepDimension, point_in_words};
use fslab_model::{MetricDefinition, PointValue};

use super::context::PageContext;
use super::names::slug;
use super::panel::Panel;
use super::tables::{Style, render};
use crate::chart::{Leader, NARROW, winners};
use crate::{ReportError, curves, tables, wording};

/// Most charts to choose among; beyond, the choice is among one dimension's values.
const CHOICES_MAX: usize = 40;

/// Charts of which one is shown at a time.
pub(super) struct Choice {
    pub(super) title: String,
    /// The name of its controls.
    pub(super) name: String,
    pub(super) options: Vec<Choosable>,
}

/// One of several charts.
pub(super) struct Choosable {
    pub(super) label: String,
    pub(super) checked: bool,
    pub(super) panel: Panel,
}

/// The additional parts of a sweep.
pub(super) struct SweepPart {
    pub(super) count: usize,
    pub(super) curves: Choice,
    pub(super) winners: Option<Panel>,
    pub(super) table: String,
}

impl PageContext<'_> {
    /// The part; `None` for a phase that runs once.
    pub(super) fn sweep(
        &self,
        phase: &PhaseAnalysis,
        id: &str,
    ) -> Result<Option<SweepPart>, ReportError> {
        let (Some(sweep), Some(comparison)) = (&phase.sweep, &phase.comparison) else {
            return Ok(None);
        };
        let Some(table) = tables::sweep(phase, self.analysis.subjects()) else {
            return Ok(None);
        };
        Ok(Some(SweepPart {
            count: sweep.points.len(),
            curves: self.curves(sweep, comparison.metric, id),
            winners: self.winners(sweep, id),
            table: {
                let of = slug(&tables::phase_target(phase.name));
                render(&table, Style::Sheet, self.looks, &format!("{of}.points"))?
            },
        }))
    }

    fn curves(&self, sweep: &SweepAnalysis, metric: &'static MetricDefinition, id: &str) -> Choice {
        let over = sweep.dimensions.first().map_or("", |first| first.name);
        let others = sweep.dimensions.get(1..).unwrap_or_default();
        let mut choices = choices(sweep, others);
        if choices.len() > CHOICES_MAX {
            choices = self::choices(sweep, others.get(..1).unwrap_or_default());
        }
        let widest = choices.iter().map(|(_, points)| points.len()).max();
        let mut is_first = true;
        let mut options = Vec::new();
        for (index, (label, points)) in choices.into_iter().enumerate() {
            let title = match label.is_empty() {
                true => wording::heading(metric.name),
                false => format!("{}, {label}", wording::heading(metric.name)),
            };
            let count = points.len();
            let along = (over, metric);
            let plot = curves::over(self.analysis.run, self.labels, &points, along, NARROW);
            let Some(drawing) = plot.draw() else {
                continue;
            };
            let checked = is_first && Some(count) == widest;
            is_first &= !checked;
            let kind = match label.is_empty() {
                true => "curve".to_owned(),
                false => format!("curve-{label}"),
            };
            options.push(Choosable {
                label,
                checked,
                panel: Panel {
                    id: format!("{id}.curve-{index}"),
                    kind,
                    caption: format!("{count} points · upright: the spread of the repeats"),
                    title,
                    drawing,
                    needs_legend: true,
                    key: &[],
                },
            });
        }
        if is_first && let Some(first) = options.first_mut() {
            first.checked = true;
        }
        let title: Vec<String> = others.iter().map(|d| wording::phase(d.name)).collect();
        Choice {
            title: title.join(", "),
            name: format!("{id}-choice"),
            options,
        }
    }

    fn winners(&self, sweep: &SweepAnalysis, id: &str) -> Option<Panel> {
        let (across, upwards) = match sweep.dimensions.as_slice() {
            [only] => (only, None),
            [first, second] => (first, Some(second)),
            _ => return None,
        };
        if self.labels.len() < 2 {
            return None;
        }
        let leader = |point: &PhaseAnalysis| {
            let comparison = point.comparison.as_ref()?;
            let best = comparison.best?;
            let value = |d: &SweepDimension| point.point?.get(d.name).copied();
            Some(Leader {
                place: (value(across)?, upwards.and_then(value)),
                best,
                certain: comparison.entries[best].standing == Standing::Winner,
            })
        };
        let leaders: Vec<Leader> = sweep.points.iter().filter_map(leader).collect();
        Some(Panel {
            id: format!("{id}.winners"),
            kind: "winners".to_owned(),
            title: "The fastest subject at each point".to_owned(),
            caption: "the colour of the best subject · pale: not certain".to_owned(),
            drawing: winners(self.labels, across, upwards, &leaders)?,
            needs_legend: true,
            key: &[],
        })
    }
}

/// The values of `others` with their points.
fn choices<'p, 'a>(
    sweep: &'p SweepAnalysis<'a>,
    others: &[SweepDimension],
) -> Vec<(String, Vec<&'p PhaseAnalysis<'a>>)> {
    let mut found: Vec<(Vec<PointValue>, Vec<&PhaseAnalysis>)> = Vec::new();
    for phase in &sweep.points {
        let Some(point) = phase.point else { continue };
        let key: Vec<PointValue> = others
            .iter()
            .filter_map(|d| point.get(d.name).copied())
            .collect();
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, phases)) => phases.push(phase),
            None => found.push((key, vec![phase])),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let label = |phases: &[&PhaseAnalysis]| {
        let point = phases.first().and_then(|phase| phase.point);
        point
            .map(|point| point_in_words(point, others))
            .unwrap_or_default()
    };
    found
        .into_iter()
        .map(|(_, phases)| (label(&phases), phases))
        .collect()
}
