//! The picture of all phases at the head of a run.

use fslab_compare::{Comparison, PhaseAnalysis};

use super::context::PageContext;
use super::panel::Panel;
use crate::chart::{RatioGroup, RatioRow, Ratios};
use crate::grouping::PhaseGroup;
use crate::wording;

impl PageContext<'_> {
    /// Each subject's speed relative to the best, for the mean over all phases and for each phase;
    /// `None` if there is one subject or no ratio.
    pub(super) fn ratios(&self) -> Option<Panel> {
        if self.labels.len() < 2 {
            return None;
        }
        let mut groups = Vec::new();
        let overall = self.analysis.overall.as_ref().map(|it| &it.comparison);
        if let Some(comparison) = overall.filter(|comparison| is_ranked(comparison)) {
            groups.push(RatioGroup {
                title: "All phases".to_owned(),
                rows: vec![RatioRow {
                    title: "Geometric mean".to_owned(),
                    comparison,
                }],
            });
        }
        groups.extend(grouped(&self.analysis.phases));
        let drawing = Ratios {
            labels: self.labels,
            groups,
        }
        .draw()?;
        Some(Panel {
            id: format!("{}overview.ratios", self.prefix),
            kind: "ratios".to_owned(),
            title: "Speed relative to the best of each phase".to_owned(),
            caption: self.ratio_caption(),
            drawing,
            needs_legend: false,
            key: &[],
        })
    }

    fn ratio_caption(&self) -> String {
        let analysis = self.analysis;
        let points = if analysis.is_exact() {
            "points: exact figures"
        } else if analysis.has_intervals() {
            "points: geometric means of the repeats · line: 95 % interval"
        } else {
            "points: the single repeat, which has no interval"
        };
        format!("{points} · hollow: undecided · ×: no figure")
    }
}

/// The phases that rank subjects, by meaning; within a group in the order of the plan.
fn grouped<'a>(phases: &'a [PhaseAnalysis]) -> Vec<RatioGroup<'a>> {
    let ranked = phases.iter().filter_map(|phase| {
        let comparison = phase.comparison.as_ref().filter(|it| is_ranked(it))?;
        Some((PhaseGroup::of(phase), phase.name, comparison))
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(group, ..)| *group);
    let groups = ranked.chunk_by(|a, b| a.0 == b.0);
    groups
        .map(|phases| RatioGroup {
            title: phases[0].0.to_string(),
            rows: phases
                .iter()
                .map(|(_, name, comparison)| RatioRow {
                    title: wording::heading(name),
                    comparison,
                })
                .collect(),
        })
        .collect()
}

fn is_ranked(comparison: &Comparison) -> bool {
    !comparison.order().is_empty()
}
