//! What the runs of an experiment say together.

use fslab_compare::{ConditionResult, Experiment};
use fslab_stats::VarianceShare;

use super::cells;
use crate::wording::{self, ratio};
use crate::{Column, Table, TableCell, Tone};

/// Effects with less than this share are not listed.
const SHARE_MIN: f64 = 0.005;
/// Most effects of a figure.
const EFFECTS_MAX: usize = 6;

/// The map of winners, who is first how often, and what decides.
pub fn experiment(experiment: &Experiment) -> Vec<Table> {
    // Of one subject only the conditions differ.
    let has_several = experiment.subjects.len() > 1;
    let tables = [
        has_several.then(|| winners(experiment)),
        has_several.then(|| summaries(experiment)),
        effects(experiment),
    ];
    tables.into_iter().flatten().collect()
}

/// The first subject of each condition: the factor with the most levels across, the combinations of
/// the others down.
fn winners(experiment: &Experiment) -> Table {
    let factors = experiment.factors.iter().enumerate();
    let across = factors.max_by_key(|(place, it)| (it.levels.len(), usize::MAX - place));
    let across = across.map_or(0, |(place, _)| place);
    let others: Vec<usize> = (0..experiment.factors.len())
        .filter(|it| *it != across)
        .collect();
    let mut columns: Vec<Column> = match others.is_empty() {
        true => vec![Column::left("")],
        false => others
            .iter()
            .map(|it| Column::left(&experiment.factors[*it].name))
            .collect(),
    };
    let crossed = &experiment.factors[across];
    columns.extend(
        crossed
            .levels
            .iter()
            .map(|level| Column::left(level).in_group(&crossed.name)),
    );
    let mut combinations: Vec<Vec<usize>> = Vec::new();
    for condition in &experiment.conditions {
        let own: Vec<usize> = others.iter().map(|it| condition.levels[*it]).collect();
        if !combinations.contains(&own) {
            combinations.push(own);
        }
    }
    let rows = combinations.iter().map(|combination| {
        let mut row: Vec<TableCell> = match others.is_empty() {
            true => vec![TableCell::new("first")],
            false => others
                .iter()
                .zip(combination)
                .map(|(factor, level)| TableCell::new(&experiment.factors[*factor].levels[*level]))
                .collect(),
        };
        row.extend((0..crossed.levels.len()).map(|level| {
            let found = experiment.conditions.iter().find(|it| {
                let own = others.iter().map(|factor| it.levels[*factor]);
                it.levels[across] == level && own.eq(combination.iter().copied())
            });
            found.map_or_else(TableCell::nothing, |it| winner(experiment, it))
        }));
        row
    });
    let mut notes = vec![
        "In each condition the first by the measure of the answer, several if they are the same, \
         and by how much it is ahead of the next. In parentheses where that is not certain."
            .to_owned(),
    ];
    if experiment.conditions.len() < experiment.planned {
        notes.push(format!(
            "{} of {} were run.",
            experiment.conditions.len(),
            wording::count(experiment.planned, "condition")
        ));
    }
    Table {
        caption: "Who is first, by condition".to_owned(),
        columns,
        rows: rows.collect(),
        notes,
    }
}

fn winner(experiment: &Experiment, condition: &ConditionResult) -> TableCell {
    let Some(first) = condition.first.first() else {
        return TableCell::new("no answer").tone(Tone::Weak);
    };
    let names: Vec<String> = condition
        .first
        .iter()
        .map(|it| experiment.subjects[*it].subject.to_string())
        .collect();
    let names = names.join(", ");
    let text = match condition.is_certain {
        true => names,
        false => format!("({names})"),
    };
    let is_other = |subject: &usize| !condition.first.contains(subject);
    let others = (0..condition.speeds.len()).filter(is_other);
    let next = others
        .filter_map(|it| condition.speeds[it])
        .max_by(f64::total_cmp);
    let best = condition.speeds[*first];
    let cell = TableCell::new(text).about(*first);
    match next.zip(best) {
        Some((next, best)) => cell.detail(format!("{}\u{d7}", ratio(best / next))),
        None => cell,
    }
}

fn summaries(experiment: &Experiment) -> Table {
    let rows = experiment.summaries().into_iter().map(|summary| {
        let regret = summary.regret;
        vec![
            cells::subject_cell(
                summary.subject,
                &experiment.subjects[summary.subject].subject,
            ),
            TableCell::new(format!("{} of {}", summary.first_in, summary.takes_part_in)),
            TableCell::optional(regret.map(|(regret, _)| wording::share(regret))),
            TableCell::optional(
                regret
                    .filter(|(regret, _)| *regret > 0.0)
                    .map(|(_, condition)| experiment.condition_text(condition)),
            ),
        ]
    });
    Table {
        caption: "How often each is first, and what it costs where it is not".to_owned(),
        columns: vec![
            Column::left("Subject"),
            Column::right("first in"),
            Column::right("largest loss"),
            Column::left("there"),
        ],
        rows: rows.collect(),
        notes: vec![
            "First: alone, or with others that are the same or not decided. The loss is that of \
             speed against the best of the condition."
                .to_owned(),
        ],
    }
}

fn effects(experiment: &Experiment) -> Option<Table> {
    if experiment.effects.is_empty() {
        return None;
    }
    let rows = experiment.effects.iter().map(|effects| {
        let name = match &effects.phase {
            None => TableCell::new("the answer's measure").tone(Tone::Strong),
            Some(phase) => TableCell::new(wording::phase(phase)),
        };
        let shares = effects.shares.iter().filter(|it| it.share >= SHARE_MIN);
        let shares: Vec<String> = shares
            .take(EFFECTS_MAX)
            .map(|it| share(experiment, it))
            .collect();
        vec![name, TableCell::new(shares.join("; "))]
    });
    let mut all = experiment.effects.iter().flat_map(|it| &it.shares);
    let intervals = match all.any(|share| share.interval.is_some()) {
        true => ", with 95 % intervals in parentheses",
        false => "",
    };
    let mut notes = vec![format!(
        "Shares of the variance of the logarithm of the speed over all conditions, subjects and \
         repeats{intervals}: an analysis of variance of the complete plan. They hold for the \
         levels that were measured. \u{d7} is an interaction: the effect of one factor depends on \
         the other."
    )];
    if !experiment.without.is_empty() {
        let names = experiment
            .without
            .iter()
            .map(|it| wording::name(&experiment.subjects[*it]));
        let names = wording::list(&names.collect::<Vec<_>>());
        notes.push(format!(
            "Without {names}, which take no part in every condition."
        ));
    }
    Some(Table {
        caption: "What decides".to_owned(),
        columns: vec![Column::left("Phase"), Column::left("Share of the variance")],
        rows: rows.collect(),
        notes,
    })
}

/// "disk 71 % (68 to 74)"
fn share(experiment: &Experiment, share: &VarianceShare) -> String {
    let name = experiment.effect_text(share);
    let percent = match 100.0 * share.share {
        nearly if (99.5..100.0).contains(&nearly) => "> 99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    };
    match share.interval {
        Some(interval) => format!(
            "{name} {percent} ({:.0} to {:.0})",
            100.0 * interval.low,
            100.0 * interval.high
        ),
        None => format!("{name} {percent}"),
    }
}
