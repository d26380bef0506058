//! Claims of an original, and its figures beside the run's.

use fslab_claims::{
    ClaimOutcome, ClaimVerdict, Scorecard, ThenAndNow, ThenAndNowGroup, ThenAndNowRow,
};

use crate::{Column, Table, TableCell, Tone, wording};

/// One row per claim: the original's statement, the run's result, and the numbers.
pub fn claims(card: &Scorecard) -> Table {
    Table {
        caption: format!("Claims of {}", card.study),
        columns: vec![
            Column::left("Claim"),
            Column::left("Outcome"),
            Column::left("What the run says"),
        ],
        rows: card.verdicts.iter().map(row).collect(),
        notes: vec![counts(card)],
    }
}

/// The number of claims that hold, fail and are open.
pub fn counts(card: &Scorecard) -> String {
    let counts =
        ClaimOutcome::ALL.map(|outcome| format!("{} {}", outcome.as_str(), card.count(outcome)));
    let all = wording::count(card.verdicts.len(), "claim");
    let broken: Vec<&str> = card.broken().map(|verdict| verdict.id.as_str()).collect();
    let required = match broken.as_slice() {
        [] => String::new(),
        broken => format!(" Required, and not so: {}.", broken.join(", ")),
    };
    format!("{all}: {}.{required}", counts.join(", "))
}

fn row(verdict: &ClaimVerdict) -> Vec<TableCell> {
    let mut source = verdict.source.clone();
    if verdict.contradicted {
        source.push_str("; the original's own numbers contradict it");
    }
    let claim = TableCell::new(&verdict.text).detail(format!("{}: {source}", verdict.id));
    let (sign, tone) = match verdict.outcome {
        ClaimOutcome::Holds => ('✓', Tone::Strong),
        ClaimOutcome::Fails => ('✗', Tone::Bad),
        ClaimOutcome::Undecided => ('?', Tone::Plain),
        ClaimOutcome::NotMeasured => ('–', Tone::Weak),
        ClaimOutcome::NotApplicable => ('·', Tone::Weak),
    };
    let outcome = TableCell::new(format!("{sign} {}", verdict.outcome.as_str())).tone(tone);
    let outcome = if verdict.required {
        outcome.detail("required")
    } else {
        outcome
    };
    vec![claim, outcome, TableCell::new(&verdict.sentence)]
}

/// True if the run has any figure of the group.
fn is_measured(group: &&ThenAndNowGroup) -> bool {
    group.rows.iter().any(|row| row.now.is_some())
}

/// One row per figure: the rank correlation with the original.
pub fn agreement(both: &ThenAndNow) -> Table {
    let measured = both.groups.iter().filter(is_measured);
    let rows = measured.map(|group| {
        let nothing = TableCell::nothing;
        let figures = match group.agreement {
            None => [nothing(), nothing(), nothing(), nothing()],
            Some(found) => [
                TableCell::new(found.n.to_string()),
                TableCell::new(format!("{:.2}", found.rho)),
                found.interval.map_or_else(nothing, |[low, high]| {
                    TableCell::new(format!("{low:.2} to {high:.2}"))
                }),
                found
                    .p_value
                    .map_or_else(nothing, |p| TableCell::new(format!("{p:.3}"))),
            ],
        };
        let reference = group.reference.clone();
        [TableCell::new(&group.phase), TableCell::new(figure(group))]
            .into_iter()
            .chain([reference.map_or_else(nothing, TableCell::new)])
            .chain(figures)
            .collect()
    });
    Table {
        caption: "Then and now: do the orders of the subjects agree?".to_owned(),
        columns: vec![
            Column::left("Phase"),
            Column::left("Figure"),
            Column::left("Reference"),
            Column::right("Subjects"),
            Column::right("Rank correlation"),
            Column::right("95 % interval"),
            Column::right("p"),
        ],
        rows: rows.collect(),
        notes: [
            "Spearman's rank correlation of the original's figures with those of this run: 1 is \
             the same order, -1 the reverse. p is the share of random orders that agree, or \
             oppose each other, as far."
                .to_owned(),
        ]
        .into_iter()
        .chain(not_measured(both))
        .collect(),
    }
}

/// Published figures that the run does not have.
fn not_measured(both: &ThenAndNow) -> Option<String> {
    let groups = both.groups.iter().filter(|group| !is_measured(group));
    let names: Vec<String> = groups
        .map(|group| format!("{} of {}", figure(group), group.phase))
        .collect();
    (!names.is_empty()).then(|| format!("Not measured: {}.", names.join("; ")))
}

fn figure(group: &ThenAndNowGroup) -> String {
    match &group.part {
        Some(part) => format!("{}, {part}", group.metric),
        None => group.metric.clone(),
    }
}

/// Tables of figures by kind, with their titles.
const KINDS: [(&str, Option<&str>, &str); 9] = [
    ("rate", None, "Rates"),
    ("operations", None, "Rates"),
    ("elapsed", None, "Times"),
    ("mean", Some("total"), "Times of run and unmount together"),
    ("mean", Some("run"), "Times of the run"),
    ("mean", Some("unmount"), "Times of the unmount"),
    ("sd", Some("run"), "Deviations of the run"),
    ("sd", Some("unmount"), "Deviations of the unmount"),
    ("latency", None, "Latencies"),
];

/// A table for each kind of figure: subject by phase, the ratio to the reference now and then.
pub fn then_and_now(both: &ThenAndNow) -> Vec<Table> {
    let mut titles: Vec<&str> = Vec::new();
    for (_, _, title) in KINDS {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles.push("Processor's share");
    let tables = titles.into_iter().filter_map(|title| {
        let of_title = |group: &&ThenAndNowGroup| title_of(group) == title;
        let groups = both.groups.iter().filter(is_measured);
        let groups: Vec<&ThenAndNowGroup> = groups.filter(of_title).collect();
        (!groups.is_empty()).then(|| beside(title, &groups))
    });
    tables.collect()
}

fn title_of(group: &ThenAndNowGroup) -> &'static str {
    let is_it = |(metric, part, _): &&(&str, Option<&str>, &str)| {
        *metric == group.metric && *part == group.part.as_deref()
    };
    KINDS
        .iter()
        .find(is_it)
        .map_or("Processor's share", |(_, _, title)| *title)
}

fn beside(title: &str, groups: &[&ThenAndNowGroup]) -> Table {
    let mut subjects: Vec<&ThenAndNowRow> = Vec::new();
    for row in groups.iter().flat_map(|group| &group.rows) {
        // A subject that the run lacks has no row.
        if row.measured_as.is_some() && !subjects.iter().any(|known| known.subject == row.subject) {
            subjects.push(row);
        }
    }
    let cell = |group: &ThenAndNowGroup, subject: &str| {
        let Some(row) = group.rows.iter().find(|row| row.subject == subject) else {
            return TableCell::nothing();
        };
        let then = format!("then {}", ratio(row.then_ratio));
        match row.now {
            Some(now) if now.is_infinite() => TableCell::new("no time").detail(then),
            Some(_) => {
                let cell = TableCell::new(ratio(row.now_ratio)).detail(then);
                if group.reference.as_deref() == Some(subject) {
                    cell.tone(Tone::Strong)
                } else {
                    cell
                }
            }
            None => TableCell::nothing().detail(then),
        }
    };
    let rows = subjects.iter().map(|row| {
        let name = TableCell::new(&row.subject);
        let name = match &row.measured_as {
            Some(measured) if *measured != row.subject => name.detail(format!("as {measured}")),
            _ => name,
        };
        let cells = groups.iter().map(|group| cell(group, &row.subject));
        std::iter::once(name).chain(cells).collect()
    });
    let columns = groups.iter().map(|group| Column::right(&group.phase));
    Table {
        caption: format!("{title}, now and then, relative to the original's best"),
        columns: std::iter::once(Column::left("Subject"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn ratio(ratio: Option<f64>) -> String {
    match ratio {
        None => wording::NOTHING.to_owned(),
        Some(ratio) if ratio.is_infinite() => "no time".to_owned(),
        Some(ratio) if ratio >= 100.0 => format!("{ratio:.0}×"),
        Some(ratio) if ratio >= 10.0 => format!("{ratio:.1}×"),
        Some(ratio) if ratio >= 0.1 => format!("{ratio:.2}×"),
        Some(ratio) => format!("{ratio:.4}×"),
    }
}

/// One row per figure, with its values, for other programs.
pub fn then_and_now_list(both: &ThenAndNow) -> Table {
    let mut rows = Vec::new();
    for group in &both.groups {
        for row in &group.rows {
            let number = |value: Option<f64>| {
                let value = value.filter(|value| value.is_finite());
                TableCell::new(value.map_or_else(String::new, |value| value.to_string()))
            };
            let words = |text: &Option<String>| TableCell::new(text.clone().unwrap_or_default());
            rows.push(vec![
                TableCell::new(&group.phase),
                TableCell::new(&group.metric),
                words(&group.part),
                TableCell::new(&row.subject),
                words(&row.measured_as),
                TableCell::new(&row.printed),
                words(&row.unit),
                number(Some(row.then)),
                number(row.now),
                words(&group.reference),
                number(row.then_ratio),
                number(row.now_ratio),
                number(group.one_factor.as_ref().map(|found| found.factor)),
                number(row.residual),
                words(&row.gap),
            ]);
        }
    }
    let titles = [
        "phase",
        "metric",
        "part",
        "subject",
        "measured_as",
        "printed",
        "unit",
        "then",
        "now",
        "reference",
        "then_ratio",
        "now_ratio",
        "factor",
        "residual",
        "gap",
    ];
    Table {
        caption: format!("{} then and now, scale {}", both.study, both.scale),
        columns: titles.map(Column::left).into(),
        rows,
        notes: Vec::new(),
    }
}
