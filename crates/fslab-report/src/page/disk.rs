//! The page's part on a simulated disk: pictures, time by part, table.

use fslab_compare::{PhaseAnalysis, PhaseCell};
use fslab_model::{DeviceInsight, PictureLayer};

use super::context::PageContext;
use super::names::slug;
use super::panel::Panel;
use super::tables::{Style, render};
use crate::chart::{Bars, PARTS, breakdown, disk, layer_class};
use crate::{ReportError, palette, tables, wording};

/// Classes and names of the layers of a picture, by the kind of request.
const LEGEND: [(&str, &str); 4] = [
    (layer_class(PictureLayer::Read), "data read"),
    (layer_class(PictureLayer::Written), "data written"),
    (layer_class(PictureLayer::ReadMetadata), "metadata read"),
    (
        layer_class(PictureLayer::WrittenMetadata),
        "metadata written",
    ),
];

/// The page's part on a simulated disk, for a phase or an entire trial.
pub(super) struct DiskPart {
    /// Classes and names of the layers of a picture.
    pub(super) legend: [(&'static str, &'static str); 4],
    pub(super) pictures: Vec<DiskPicture>,
    /// Classes and names of the parts of a bar.
    pub(super) parts: [(&'static str, &'static str); 6],
    pub(super) panels: Vec<Panel>,
    pub(super) table: Option<String>,
}

impl DiskPart {
    pub(super) fn charts(&self) -> impl Iterator<Item = &Panel> {
        let pictures = self.pictures.iter().map(|picture| &picture.panel);
        pictures.chain(&self.panels)
    }
}

/// One subject's picture.
pub(super) struct DiskPicture {
    pub(super) class: String,
    pub(super) name: String,
    /// Its caption has the figures that the picture does not show.
    pub(super) panel: Panel,
}

impl PageContext<'_> {
    /// The part for a phase; `None` if no subject's disk was simulated.
    pub(super) fn disk(
        &self,
        phase: &PhaseAnalysis,
        id: &str,
    ) -> Result<Option<DiskPart>, ReportError> {
        let insights: Vec<_> = phase.cells.iter().map(PhaseCell::insight).collect();
        let Some(table) = tables::disk(phase, self.analysis.subjects()) else {
            return Ok(None);
        };
        let of = slug(&tables::phase_target(phase.name));
        let table = render(&table, Style::Sheet, self.looks, &format!("{of}.disk"))?;
        let moved = |insight: &&DeviceInsight| insight.moved().requests > 0;
        let shown = if insights.iter().flatten().any(moved) {
            insights.as_slice()
        } else {
            &[]
        };
        let mut part = self.disk_part(shown, id)?;
        part.panels.extend(self.breakdown(&insights, id));
        part.table = Some(table);
        Ok(Some(part))
    }

    /// The part from the first request of a trial to its last.
    pub(super) fn disk_of_trial(&self) -> Result<Option<DiskPart>, ReportError> {
        let insights: Vec<_> = (0..self.labels.len())
            .map(|subject| {
                let mut trials = self.analysis.trials_of(subject);
                trials.find_map(|trial| trial.insight.as_ref())
            })
            .collect();
        if insights.iter().all(Option::is_none) {
            return Ok(None);
        }
        let id = format!("{}trial-disk", self.prefix);
        self.disk_part(&insights, &id).map(Some)
    }

    fn disk_part(
        &self,
        insights: &[Option<&DeviceInsight>],
        id: &str,
    ) -> Result<DiskPart, ReportError> {
        let mut pictures = Vec::new();
        for (label, insight) in self.labels.iter().zip(insights) {
            let Some(insight) = insight else {
                continue;
            };
            let kind = format!("disk-{}", slug(&label.name));
            let id = format!("{id}.{kind}");
            pictures.push(DiskPicture {
                class: palette::class(label.look),
                name: label.name.clone(),
                panel: Panel {
                    title: format!("The disk under {} over time", label.name),
                    caption: caption(insight),
                    drawing: disk(&id, insight)?,
                    needs_legend: false,
                    key: &LEGEND,
                    id,
                    kind,
                },
            });
        }
        Ok(DiskPart {
            legend: LEGEND,
            pictures,
            parts: PARTS,
            panels: Vec::new(),
            table: None,
        })
    }

    fn breakdown(&self, insights: &[Option<&DeviceInsight>], id: &str) -> Option<Panel> {
        let bars: Vec<Bars> = self
            .labels
            .iter()
            .zip(insights)
            .filter_map(|(label, insight)| Some(Bars::of(label, (*insight)?)))
            .collect();
        Some(Panel {
            id: format!("{id}.breakdown"),
            kind: "breakdown".to_owned(),
            title: "Where the time goes".to_owned(),
            caption: "requests: each from start to end · media: for them and in the background"
                .to_owned(),
            drawing: breakdown(&bars)?,
            needs_legend: false,
            key: &PARTS,
        })
    }
}

/// Figures that a picture does not show.
fn caption(insight: &DeviceInsight) -> String {
    let moved = insight.moved();
    let requests = usize::try_from(moved.requests).unwrap_or(usize::MAX);
    let seeks = usize::try_from(insight.seeks.seeks).unwrap_or(usize::MAX);
    let (requests, seeks) = (
        wording::count(requests, "request"),
        wording::count(seeks, "seek"),
    );
    format!("{requests} · {seeks}")
}
