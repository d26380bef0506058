//! Lists recorded by a phase's workload: many values of one figure, a line for each subject.

use fslab_compare::{PhaseAnalysis, PhaseCell};

use super::context::PageContext;
use super::names::slug;
use super::panel::Panel;
use crate::chart::NARROW;
use crate::exhibit::{list_plot, lists_of};

/// Most points of a sweep whose lists are drawn; the others are in the export.
const POINTS_MAX: usize = 12;

impl PageContext<'_> {
    /// A chart for each list of the phase, and a note on those not drawn.
    pub(super) fn lists(&self, phase: &PhaseAnalysis, id: &str) -> (Vec<Panel>, Option<String>) {
        let mut panels = Vec::new();
        let with_lists: Vec<&PhaseAnalysis> = phase
            .points()
            .iter()
            .filter(|point| !names(point).is_empty())
            .collect();
        for point in with_lists.iter().take(POINTS_MAX) {
            for name in names(point) {
                let title = match point.point {
                    Some(_) => format!("{name}: {}", point.name),
                    None => name.to_owned(),
                };
                panels.extend(self.list(point, name, (id, &title)));
            }
        }
        let more = with_lists.len().saturating_sub(POINTS_MAX);
        let note = (more > 0).then(|| {
            format!("The lists of {more} more points are not drawn; the export in JSON has them.")
        });
        (panels, note)
    }

    fn list(&self, point: &PhaseAnalysis, name: &str, (id, title): (&str, &str)) -> Option<Panel> {
        let lists = lists_of(point, name);
        let first = lists.iter().flatten().next()?;
        let drawing = list_plot(self.labels, &lists, first, NARROW).draw()?;
        Some(Panel {
            id: format!("{id}.list-{}", slug(title)),
            kind: format!("list-{title}"),
            title: title.to_owned(),
            caption: "of each subject's first repeat".to_owned(),
            drawing,
            needs_legend: true,
            key: &[],
        })
    }
}

/// The names of all subjects' lists, in order of appearance.
fn names<'a>(point: &PhaseAnalysis<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let records = point.cells.iter().flat_map(PhaseCell::done);
    for list in records.flat_map(|record| &record.lists) {
        if !names.contains(&list.name.as_str()) {
            names.push(&list.name);
        }
    }
    names
}
