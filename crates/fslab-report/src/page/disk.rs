//! What a simulated disk did: its pictures, where the time went, its table.

use fslab_model::{DeviceInsight, Layer};

use super::document::slug;
use super::phase::{Panel, Stage};
use super::tables::{Style, render};
use crate::chart::{Bars, Names, PARTS, breakdown, disk, layer_class};
use crate::{PhaseAnalysis, PhaseCell, ReportError, palette, tables, wording};

/// The parts of a page that tell of a disk, in a phase or over the whole trial.
pub(super) struct DiskPart {
    /// Classes and names of the layers of a picture.
    pub(super) legend: [(&'static str, &'static str); 4],
    pub(super) pictures: Vec<Portrait>,
    /// Classes and names of the parts of a bar.
    pub(super) parts: [(&'static str, &'static str); 6],
    pub(super) panels: Vec<Panel>,
    pub(super) table: Option<String>,
}

/// One subject's picture.
pub(super) struct Portrait {
    pub(super) class: String,
    pub(super) shape: &'static str,
    pub(super) name: String,
    pub(super) caption: String,
    pub(super) svg: String,
}

impl Stage<'_> {
    /// What the disk did in a phase; `None` where no subject's disk was simulated.
    pub(super) fn disk(
        &self,
        phase: &PhaseAnalysis,
        id: &str,
    ) -> Result<Option<DiskPart>, ReportError> {
        let insights: Vec<_> = phase.cells.iter().map(PhaseCell::insight).collect();
        let Some(table) = tables::disk(phase, self.analysis.subjects()) else {
            return Ok(None);
        };
        let table = render(&table, Style::Sheet, self.looks, self.prefix)?;
        let moved = |insight: &&DeviceInsight| insight.moved().requests > 0;
        let shown = if insights.iter().flatten().any(moved) {
            insights.as_slice()
        } else {
            &[]
        };
        let mut part = self.portraits(shown, id)?;
        part.panels.extend(self.breakdown(&insights, id));
        part.table = Some(table);
        Ok(Some(part))
    }

    /// What the disk did from the first request of a trial to its last.
    pub(super) fn whole_disk(&self) -> Result<Option<DiskPart>, ReportError> {
        let insights: Vec<_> = (0..self.labels.len())
            .map(|subject| {
                let mut trials = self.analysis.trials_of(subject);
                trials.find_map(|trial| trial.insight.as_ref())
            })
            .collect();
        if insights.iter().all(Option::is_none) {
            return Ok(None);
        }
        let id = format!("{}whole", self.prefix);
        self.portraits(&insights, &id).map(Some)
    }

    fn portraits(
        &self,
        insights: &[Option<&DeviceInsight>],
        id: &str,
    ) -> Result<DiskPart, ReportError> {
        let mut pictures = Vec::new();
        for (label, insight) in self.labels.iter().zip(insights) {
            let Some(insight) = insight else {
                continue;
            };
            let names = Names {
                id: &format!("{id}-disk-{}", slug(&label.name)),
                title: &format!("The disk under {} over time", label.name),
            };
            pictures.push(Portrait {
                class: palette::class(label.look),
                shape: palette::shape(label.look),
                name: label.name.clone(),
                caption: caption(insight),
                svg: disk(&names, insight)?,
            });
        }
        let legend = [
            (Layer::Read, "data read"),
            (Layer::Written, "data written"),
            (Layer::ReadMetadata, "metadata read"),
            (Layer::WrittenMetadata, "metadata written"),
        ];
        Ok(DiskPart {
            legend: legend.map(|(layer, name)| (layer_class(layer), name)),
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
        let title = "Where the time goes";
        let names = Names {
            id: &format!("{id}-breakdown"),
            title,
        };
        Some(Panel {
            title: title.to_owned(),
            caption: "requests: each from start to end · media: for them and in the background"
                .to_owned(),
            svg: breakdown(&names, &bars)?,
        })
    }
}

/// The few figures that a picture does not show.
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
