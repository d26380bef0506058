//! Two measurements of the same subjects against each other: a panel for each phase, with the line
//! on which they are equal and a band around it.

use fslab_model::{MetricDefinition, Unit, definitions};

use super::exhibited::Exhibit;
use crate::chart::{Label, Scatter, ScatterPoint};

/// A figure relative to another one.
const RELATIVE: MetricDefinition = MetricDefinition {
    unit: Unit::Ratio,
    ..definitions::OPERATIONS
};

/// A subject farther from the line than this factor has its name beside its point.
const NAMED_LEAST: f64 = 2.0;

/// Two measurements of several phases.
#[derive(Clone, Debug)]
pub struct PairedPhases {
    /// The picture's short name.
    pub id: String,
    pub title: String,
    /// The two measurements: across, and upwards.
    pub axes: (&'static str, &'static str),
    /// Points within this factor of the line are in the band.
    pub band: f64,
    pub panels: Vec<PairedPanel>,
    /// Notes below the panels.
    pub notes: Vec<String>,
}

/// One phase.
#[derive(Clone, Debug)]
pub struct PairedPanel {
    pub title: String,
    /// Two lines for its corner.
    pub corner: [String; 2],
    /// The subjects.
    pub points: Vec<PairedPoint>,
}

/// A subject's two figures in a phase, both above 0 and relative to what makes them comparable.
#[derive(Clone, Debug)]
pub struct PairedPoint {
    pub subject: String,
    /// The first figure.
    pub across: f64,
    /// The second figure.
    pub upwards: f64,
}

impl PairedPhases {
    /// The picture; subjects have their looks in the order in which they come first.
    pub fn exhibit(&self) -> Exhibit {
        let labels = self.labels();
        let panels = self.panels.iter().map(|panel| self.panel(panel, &labels));
        let panels: Vec<_> = panels.collect();
        let drawing = Scatter::sheet(&panels);
        let absence = drawing.is_none().then(|| "no phase has a point".to_owned());
        Exhibit {
            id: self.id.clone(),
            title: self.title.clone(),
            tables: Vec::new(),
            absence,
            notes: self.notes.clone(),
            values: Vec::new(),
            drawing,
            labels,
            needs_legend: true,
            is_table: false,
        }
    }

    fn labels(&self) -> Vec<Label> {
        let mut names: Vec<&str> = Vec::new();
        for point in self.panels.iter().flat_map(|panel| &panel.points) {
            if !names.contains(&point.subject.as_str()) {
                names.push(&point.subject);
            }
        }
        let looks = names.into_iter().enumerate();
        looks
            .map(|(look, name)| Label {
                name: name.to_owned(),
                look,
            })
            .collect()
    }

    fn panel<'s>(&self, panel: &'s PairedPanel, labels: &[Label]) -> Scatter<'s> {
        let points = panel.points.iter().filter_map(|point| {
            let label = labels.iter().find(|label| label.name == point.subject)?;
            let distance = (point.upwards / point.across).ln().abs();
            Some(ScatterPoint {
                name: &point.subject,
                look: label.look,
                x: point.across,
                y: point.upwards,
                is_named: distance > NAMED_LEAST.ln(),
            })
        });
        Scatter {
            title: panel.title.clone(),
            metric: &RELATIVE,
            unit: "",
            axes: self.axes,
            factor: 1.0,
            band: Some(self.band),
            corner: panel.corner.clone(),
            points: points.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(points: &[(&str, f64, f64)]) -> PairedPhases {
        let points = points.iter().map(|(subject, across, upwards)| PairedPoint {
            subject: (*subject).to_owned(),
            across: *across,
            upwards: *upwards,
        });
        PairedPhases {
            id: "p".to_owned(),
            title: "Two runs".to_owned(),
            axes: ("real", "counted"),
            band: 1.25,
            panels: vec![PairedPanel {
                title: "stat".to_owned(),
                corner: ["ρ 1".to_owned(), String::new()],
                points: points.collect(),
            }],
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_picture_has_a_band_a_legend_and_the_names_of_those_far_off() {
        let svg = phases(&[("ext4", 1.0, 1.1), ("zfs", 0.5, 1.5)])
            .exhibit()
            .svg();
        let svg = svg.expect("two points");
        assert_eq!(svg.matches("class=\"band\"").count(), 1);
        // In the legend, and beside the point.
        assert_eq!(svg.matches(">ext4</text>").count(), 1);
        assert_eq!(svg.matches(">zfs</text>").count(), 2);
    }

    #[test]
    fn without_points_there_is_no_picture() {
        assert!(phases(&[]).exhibit().svg().is_none());
    }
}
