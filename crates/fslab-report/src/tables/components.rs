//! Variance components of runs with several rounds.

use fslab_stats::{Component, Components};

use super::overview::phase_target;
use crate::wording::{self, NOTHING};
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::Analysis;

/// The relative standard deviation from each level of repeats (trial, mount, iteration) for each
/// phase and subject; `None` if no phase ran in several rounds.
pub fn components(analysis: &Analysis) -> Option<Table> {
    if analysis.run.header.plan.rounds.is_one() {
        return None;
    }
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let mut rows = Vec::new();
    let mut negative = false;
    for phase in &analysis.phases {
        let Some(comparison) = &phase.comparison else {
            continue;
        };
        for (subject, cell) in phase.cells.iter().enumerate() {
            let Some(found) = Components::of(&cell.nested(comparison.metric)) else {
                continue;
            };
            let mut row = vec![
                TableCell::new(wording::heading(phase.name)).leads_to(phase_target(phase.name)),
                TableCell::new(&names[subject]).about(subject),
            ];
            for (_, level) in found.levels() {
                negative |= level.is_some_and(|level| level.was_negative);
                row.push(of_level(level, found.total()));
            }
            row.push(TableCell::new(largest(&found)));
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return None;
    }
    let group = "Relative standard deviation";
    let level = |title: &str| {
        Column::right(title)
            .in_group(group)
            .of("Variance components")
    };
    let mut notes = vec![
        "In brackets the level's share of the variance. A level that is not repeated has no \
         separate share: what it adds is in that of the level above."
            .to_owned(),
    ];
    if negative {
        notes.push(
            "0 *: the method gave less than 0, which says that the level adds nothing that can \
             be seen."
                .to_owned(),
        );
    }
    Some(Table {
        caption: "Where the spread arises".to_owned(),
        columns: vec![
            Column::left("Phase"),
            Column::left("Subject"),
            level("trial"),
            level("mount"),
            level("iteration"),
            Column::left("Most from"),
        ],
        rows,
        notes,
    })
}

fn of_level(level: Option<Component>, total: f64) -> TableCell {
    match level {
        None => TableCell::nothing(),
        Some(level) if level.was_negative => TableCell::new("0 *").tone(Tone::Weak),
        Some(level) => {
            let cell = TableCell::new(wording::percent(level.relative_deviation()));
            match total > 0.0 {
                true => cell.detail(wording::percent(level.variance / total)),
                false => cell,
            }
        }
    }
}

fn largest(found: &Components) -> &'static str {
    let levels = found.levels().into_iter();
    let repeated = levels.filter_map(|(name, level)| Some((name, level?.variance)));
    let most = repeated.max_by(|a, b| a.1.total_cmp(&b.1));
    most.filter(|(_, variance)| *variance > 0.0)
        .map_or(NOTHING, |(name, _)| name)
}
