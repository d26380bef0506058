//! Wide intervals and their reasons.

use fslab_model::Plan;

use super::diagnosis::kind;
use super::overview::phase_target;
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Analysis, PhaseAnalysis, RepeatState};
use fslab_compare::{RunPrecision, WideInterval};

/// Most cells listed; more are counted.
const ROWS_MAX: usize = 30;

/// The phases and subjects whose 95 % interval is wider than the target, the widest first, with the
/// reason; `None` if there is none, or figures are exact.
///
/// The target is that of the run's adaptive repeats, else 5 %.
pub fn spread(analysis: &Analysis) -> Option<Table> {
    let plan = &analysis.run.header.plan;
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let RunPrecision {
        target,
        wide,
        known,
    } = RunPrecision::of(analysis);
    if wide.is_empty() {
        return None;
    }
    let row = |it: &WideInterval| {
        let phase = &analysis.phases[it.phase];
        let name = wording::heading(phase.name);
        let reach = it
            .reach
            .map(|reach| format!("± {}", wording::percent(reach)));
        let without = || TableCell::new("no interval").tone(Tone::Weak);
        vec![
            TableCell::new(name).leads_to(phase_target(phase.name)),
            TableCell::new(&names[it.subject]).about(it.subject),
            TableCell::new(values(phase, it.subject).to_string()),
            reach.map_or_else(without, TableCell::new),
            TableCell::new(reasons(analysis, plan, it).join("; ")),
        ]
    };
    let count = wide.len();
    let others = if known > 0 {
        "; the others are known that well"
    } else {
        ""
    };
    let mut notes = vec![format!(
        "Wider than ± {} of the figure: {count} of {}{others}.",
        wording::percent(target.share()),
        wording::count(count + known, "sample")
    )];
    if count > ROWS_MAX {
        notes.push(format!(
            "{} more are not listed.",
            wording::thousands((count - ROWS_MAX) as f64)
        ));
    }
    Some(Table {
        caption: "Widest confidence intervals".to_owned(),
        columns: vec![
            Column::left("Phase"),
            Column::left("Subject"),
            Column::right("Repeats").of("Repeats"),
            Column::right("95 % interval").of("95 % interval"),
            Column::left("Why"),
        ],
        rows: wide.iter().take(ROWS_MAX).map(row).collect(),
        notes,
    })
}

/// The number of repeats with a value.
fn values(phase: &PhaseAnalysis, subject: usize) -> usize {
    let comparison = phase.comparison.as_ref();
    comparison.map_or(0, |it| it.entries[subject].values.len())
}

fn reasons(analysis: &Analysis, plan: &Plan, wide: &WideInterval) -> Vec<String> {
    let phase = &analysis.phases[wide.phase];
    let cell = &phase.cells[wide.subject];
    let mut reasons = Vec::new();
    let failed =
        |state: &RepeatState| matches!(state, RepeatState::Failed(_) | RepeatState::Lost(_));
    let failed = cell
        .repeats
        .iter()
        .filter(|repeat| failed(&repeat.state))
        .count();
    if failed > 0 {
        reasons.push(format!("{} failed", wording::count(failed, "repeat")));
    }
    reasons.extend(
        analysis
            .diagnosis
            .at(wide.phase, wide.subject)
            .map(|it| kind(&it.anomaly).to_lowercase()),
    );
    let values = values(phase, wide.subject);
    match &plan.adaptive {
        Some(adaptive)
            if !adaptive.key.is_empty() && !adaptive.key.iter().any(|it| it == phase.name) =>
        {
            reasons.push("not a key figure, so not repeated for it".to_owned());
        }
        Some(adaptive) if cell.repeats.len() >= adaptive.repeats_max as usize => {
            let most = wording::count(adaptive.repeats_max as usize, "repeat");
            reasons.push(format!("at the maximum of {most}"));
        }
        Some(_) => reasons.push("the run was stopped earlier".to_owned()),
        None if values < 2 => reasons.push("a single repeat has no interval".to_owned()),
        None => {
            let repeats = wording::count(plan.repeats as usize, "repeat");
            reasons.push(format!("the run had a fixed number of {repeats}"));
        }
    }
    reasons
}
