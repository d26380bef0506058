//! One phase's part of the page: a sentence, charts and tables.

use fslab_compare::{Analysis, Comparison, PhaseAnalysis, PhaseCell, SweepDimension};
use fslab_model::definitions::DURABLE_THROUGHPUT;
use fslab_model::{CachePolicy, LatencyHistogram, PhaseKind, VenueKind};

use super::context::PageContext;
use super::disk::DiskPart;
use super::names::{slug, unbroken};
use super::panel::Panel;
use super::sweep::SweepPart;
use super::tables::{Style, render};
use crate::chart::{Course, Curve, Dots, Series, latency};
use crate::{ReportError, sentences, tables, wording};

/// Most lines of a chart over time; beyond, only one repeat of each subject is drawn.
const COURSES_MAX: usize = 24;

pub(super) struct PhasePart {
    pub(super) id: String,
    /// Its name in the study.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) workload: String,
    /// The cache policy, in a word.
    pub(super) cache: &'static str,
    /// Its kind, in a word; empty if no trial recorded it.
    pub(super) kind: &'static str,
    /// The cache policy, the workload and its parameters.
    pub(super) setting: Vec<(String, String)>,
    pub(super) cold: bool,
    pub(super) sentence: Option<String>,
    pub(super) panels: Vec<Panel>,
    /// `None` for a sweep, whose points are in its part.
    pub(super) table: Option<String>,
    /// Means, deviations and tests; `None` for exact figures.
    pub(super) certainty: Option<String>,
    pub(super) sweep: Option<SweepPart>,
    /// A note on what is not drawn.
    pub(super) note: Option<String>,
    pub(super) disk: Option<DiskPart>,
}

impl PhasePart {
    /// All of its charts, in order.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Panel> {
        let sweep = self.sweep.iter().flat_map(|sweep| {
            let curves = sweep.curves.options.iter().map(|option| &option.panel);
            curves.chain(&sweep.winners)
        });
        let disk = self.disk.iter().flat_map(DiskPart::charts);
        sweep.chain(&self.panels).chain(disk)
    }
}

/// Parameters of workloads that are sizes, although their names do not end in `_bytes`.
const SIZES: [&str; 5] = ["file_size", "sizes", "record", "segment", "buffer"];

impl PageContext<'_> {
    /// The part of one phase.
    pub(super) fn phase(&self, phase: &PhaseAnalysis) -> Result<PhasePart, ReportError> {
        let id = format!("{}{}", self.prefix, slug(&tables::phase_target(phase.name)));
        let mut panels = Vec::new();
        panels.extend(self.rate(phase, &id));
        panels.extend(self.latency(phase, &id));
        panels.extend(self.series(phase, &id));
        let (lists, note) = self.lists(phase, &id);
        panels.extend(lists);
        let table = || {
            let table = tables::phase(phase, self.analysis.subjects());
            let id = format!("{}.table", slug(&tables::phase_target(phase.name)));
            render(&table, Style::Sheet, self.looks, &id)
        };
        // The cache policy of an imported run is unknown.
        let is_known = self.analysis.run.header.plan.venue.kind() != VenueKind::Imported;
        Ok(PhasePart {
            name: phase.name.to_owned(),
            title: wording::heading(phase.name),
            workload: phase.workload.to_owned(),
            cache: match phase.cache {
                _ if !is_known => "",
                CachePolicy::Cold => "cold",
                CachePolicy::Warm => "warm",
                CachePolicy::Keep => "kept",
            },
            kind: phase.kind.map_or("", |kind| match kind {
                PhaseKind::Read => "read",
                PhaseKind::Write => "write",
                PhaseKind::Mixed => "mixed",
                PhaseKind::Metadata => "metadata",
            }),
            setting: setting(phase, is_known, self.cold()),
            cold: phase.cache == CachePolicy::Cold,
            sentence: sentence(self.analysis, phase),
            table: phase.sweep.is_none().then(table).transpose()?,
            certainty: self.certainty(phase)?,
            sweep: self.sweep(phase, &id)?,
            note,
            disk: self.disk(phase, &id)?,
            panels,
            id,
        })
    }

    /// What a cold phase is: of a network mount, nothing empties the caches of the server.
    fn cold(&self) -> &'static str {
        let mut subjects = self.analysis.run.header.plan.subjects.iter();
        match subjects.any(|it| it.network_mount.is_some()) {
            true => "cold on the client only",
            false => "cold",
        }
    }

    fn certainty(&self, phase: &PhaseAnalysis) -> Result<Option<String>, ReportError> {
        let table = tables::certainty(phase, self.analysis.subjects(), self.analysis.family);
        let id = format!("{}.certainty", slug(&tables::phase_target(phase.name)));
        table
            .map(|table| render(&table, Style::Sheet, self.looks, &id))
            .transpose()
    }

    /// Every repeat of a comparison.
    pub(super) fn dots(
        &self,
        comparison: &Comparison,
        absences: &[Option<String>],
        (of, kind, title): (&str, &str, &str),
    ) -> Panel {
        let dots = Dots {
            comparison,
            subjects: self.labels,
            absences,
        };
        Panel {
            id: format!("{of}.{kind}"),
            kind: kind.to_owned(),
            title: title.to_owned(),
            caption: if comparison.exact {
                "exact"
            } else {
                "points: repeats · bar: geometric mean · line: 95 % interval"
            }
            .to_owned(),
            drawing: dots.draw(),
            needs_legend: false,
            key: &[],
        }
    }

    fn rate(&self, phase: &PhaseAnalysis, id: &str) -> Option<Panel> {
        let comparison = phase.comparison.as_ref().filter(|c| !c.is_empty())?;
        let known = match comparison.metric.name {
            "throughput" => "Throughput".to_owned(),
            "operation_rate" => "Rate".to_owned(),
            _ => wording::heading(comparison.metric.title),
        };
        let title = match &phase.sweep {
            None => known,
            Some(_) => format!("{known}, mean of the points"),
        };
        let absences: Vec<_> = phase.cells.iter().map(PhaseCell::absence).collect();
        Some(self.dots(comparison, &absences, (id, "rate", &title)))
    }

    /// Durable throughput of one phase; `None` if it does not settle.
    pub(super) fn durable(&self, phase: &PhaseAnalysis) -> Option<Panel> {
        let comparison = phase.compare(&DURABLE_THROUGHPUT);
        if comparison.is_empty() {
            return None;
        }
        let id = format!("{}{}", self.prefix, slug(&tables::phase_target(phase.name)));
        let absences: Vec<_> = phase.cells.iter().map(PhaseCell::absence).collect();
        let title = wording::heading(phase.name);
        Some(self.dots(&comparison, &absences, (&id, "durable", &title)))
    }

    fn latency(&self, phase: &PhaseAnalysis, id: &str) -> Option<Panel> {
        let merged: Vec<Option<LatencyHistogram>> =
            phase.cells.iter().map(PhaseCell::latency).collect();
        let curves: Vec<Curve> = merged
            .iter()
            .enumerate()
            .filter_map(|(subject, histogram)| {
                Some(Curve {
                    label: self.labels.get(subject)?,
                    histogram: histogram.as_ref()?,
                })
            })
            .collect();
        Some(Panel {
            id: format!("{id}.latency"),
            kind: "latency".to_owned(),
            title: "Latency by percentile".to_owned(),
            caption: if phase.is_exact() {
                "of all operations"
            } else {
                "all repeats in one distribution"
            }
            .to_owned(),
            drawing: latency(&curves)?,
            needs_legend: true,
            key: &[],
        })
    }

    fn series(&self, phase: &PhaseAnalysis, id: &str) -> Option<Panel> {
        let comparison = phase.comparison.as_ref()?;
        let metric = comparison.metric;
        let repeats: usize = phase.cells.iter().map(|cell| cell.done().count()).sum();
        let all = repeats <= COURSES_MAX;
        let mut courses = Vec::new();
        for (subject, cell) in phase.cells.iter().enumerate() {
            let nearest = (!all)
                .then(|| nearest_repeat(cell, comparison, subject))
                .flatten();
            for (index, record) in cell.done().enumerate() {
                if nearest.is_none_or(|nearest| nearest == index) {
                    courses.extend(Course::of(subject, record, metric));
                }
            }
        }
        let chart = Series {
            metric,
            subjects: self.labels,
            courses: &courses,
            cut: phase.is_virtual,
        };
        let caption = if phase.is_exact() {
            "one line a subject"
        } else if all {
            "one line a repeat"
        } else {
            "of each subject the repeat nearest to its mean"
        };
        let is_shorter = courses.iter().any(Course::ends_before_its_phase);
        let until = if is_shorter {
            ", until its last operation"
        } else {
            ""
        };
        Some(Panel {
            id: format!("{id}.series"),
            kind: "series".to_owned(),
            title: "Over time".to_owned(),
            caption: format!("{caption}{until}"),
            drawing: chart.draw()?,
            needs_legend: true,
            key: &[],
        })
    }
}

/// The sentence on the phase; on a sweep, with its number of points.
fn sentence(analysis: &Analysis, phase: &PhaseAnalysis) -> Option<String> {
    let sentence = sentences::on_phase(analysis, phase)?;
    let text = match &phase.sweep {
        None => sentence.text,
        Some(sweep) => format!(
            "{}, in the geometric mean over {} of {} points.",
            sentence.text.trim_end_matches('.'),
            sweep.shared,
            sweep.points.len()
        ),
    };
    Some(unbroken(&text))
}

/// The index, among the completed repeats, of the one with the headline value nearest to the
/// mean.
fn nearest_repeat(cell: &PhaseCell, comparison: &Comparison, subject: usize) -> Option<usize> {
    let mean = comparison.entries.get(subject)?.mean()?;
    let distance = |value: &f64| (value - mean).abs();
    cell.values(comparison.metric)
        .iter()
        .enumerate()
        .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
        .map(|(index, _)| index)
}

fn setting(phase: &PhaseAnalysis, is_cache_known: bool, cold: &str) -> Vec<(String, String)> {
    let mut setting = vec![("workload".to_owned(), phase.workload.to_owned())];
    let cache = match phase.cache {
        CachePolicy::Cold => cold,
        CachePolicy::Warm => "warm",
        CachePolicy::Keep => "as the phase before left it",
    };
    if is_cache_known {
        setting.push(("cache".to_owned(), cache.to_owned()));
    }
    let dimensions = phase.sweep.iter().flat_map(|sweep| &sweep.dimensions);
    let dimensions: Vec<&SweepDimension> = dimensions.collect();
    setting.extend(dimensions.iter().filter_map(|dimension| {
        let (first, last) = (dimension.values.first()?, dimension.values.last()?);
        let values = wording::count(dimension.values.len(), "value");
        let text = format!("{first} to {last}, {values}");
        Some((wording::phase(dimension.name), text))
    }));
    let is_fixed = |name: &str| dimensions.iter().all(|dimension| dimension.name != name);
    let says = |value: &serde_json::Value| value.as_object().is_none_or(|parts| !parts.is_empty());
    let fixed = phase.parameters.iter();
    let fixed = fixed.filter(|(name, value)| is_fixed(name) && says(value));
    setting.extend(fixed.map(|(name, value)| {
        let first = parameter(name, value);
        let points = phase.points().iter();
        let others = points.filter_map(|point| point.parameters.get(name));
        let mut different: Vec<String> = others
            .map(|value| parameter(name, value))
            .filter(|text| *text != first)
            .collect();
        different.dedup();
        let text = match different.last() {
            Some(last) => format!("{first} to {last}"),
            None => first,
        };
        (wording::phase(name.trim_end_matches("_bytes")), text)
    }));
    setting
}

fn parameter(name: &str, value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) if name.ends_with("_bytes") || SIZES.contains(&name) => {
            let bytes = number.as_u64().map(fslab_model::Bytes);
            bytes.map_or_else(|| number.to_string(), |bytes| bytes.to_string())
        }
        serde_json::Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| parameter(name, value)).collect();
            values.join(", ")
        }
        serde_json::Value::Object(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|(name, value)| format!("{} {}", wording::phase(name), parameter(name, value)))
                .collect();
            parts.join(", ")
        }
        other => other.to_string(),
    }
}
