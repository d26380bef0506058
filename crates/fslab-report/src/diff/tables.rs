//! A diff and a gate as tables.

use crate::wording::{self, figure, heading, percent, ratio, ratio_interval, share};
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::EXACT_TOLERANCE;
use fslab_model::MetricDefinition;
use fslab_stats::Verdict;

use fslab_compare::{Check, Gate, NEARLY_ALL, Ruling};
use fslab_compare::{Contrast, Side};
use fslab_compare::{Diff, FALSE_DISCOVERIES, Overall, named};

/// What stands in the columns of base and new.
const MEANS: &str = "Base and New are geometric means of the repeats, and Speed is their ratio; \
                     with a value of 0 in either they are medians, without a ratio.";

/// A table with a row for every contrast of a diff.
pub fn diff_table(diff: &Diff) -> Table {
    // Exact figures are not tested.
    let is_tested = diff.contrasts.iter().any(|contrast| !contrast.exact);
    let rows = diff.contrasts.iter().map(|contrast| {
        let mut row = heads(contrast);
        row.push(speed(contrast));
        if is_tested {
            let p = contrast.p_corrected;
            row.push(p.map_or_else(TableCell::nothing, |p| TableCell::new(wording::p_value(p))));
        }
        row.push(verdict(contrast));
        row
    });
    let mut columns = head_columns();
    columns.push(Column::right("Speed").of("Ratio"));
    if is_tested {
        columns.push(Column::right("p").of("Corrected p"));
    }
    columns.push(Column::left("Verdict").of("Verdict"));
    Table {
        caption: format!(
            "{} against {}: {}",
            named(&diff.new),
            named(&diff.base),
            diff.summary()
        ),
        columns,
        rows: rows.collect(),
        notes: diff_notes(diff),
    }
}

/// A table with a row for every check of a gate.
pub fn gate_table(gate: &Gate) -> Table {
    let rows = gate.checks.iter().map(|check| {
        let mut row = heads(&check.contrast);
        row.push(speed_of_check(check));
        row.push(TableCell::new(ruling_word(check.ruling)).tone(tone(gate, check)));
        row
    });
    let mut columns = head_columns();
    columns.extend([Column::right("Speed").of("Ratio"), Column::left("Check")]);
    Table {
        caption: format!(
            "{} against {}: slower by more than {}?",
            named(&gate.new),
            named(&gate.base),
            gate.rule.max_slowdown
        ),
        columns,
        rows: rows.collect(),
        notes: gate_notes(gate),
    }
}

fn head_columns() -> Vec<Column> {
    vec![
        Column::left("Subject"),
        Column::left("Phase"),
        Column::right("Base"),
        Column::right("New"),
    ]
}

fn heads(contrast: &Contrast) -> Vec<TableCell> {
    let phase = TableCell::new(heading(&contrast.phase));
    let [base, new] = contrast.figures();
    vec![
        TableCell::new(&contrast.subject),
        match contrast.points {
            Some((shared, all)) => phase.detail(format!("{shared} of {all} points")),
            None => phase,
        },
        side(contrast, &contrast.base, base),
        side(contrast, &contrast.new, new),
    ]
}

/// The geometric mean, whose ratio is the speed, with the number of repeats; or why there is none.
fn side(contrast: &Contrast, side: &Side, figure_of_side: Option<f64>) -> TableCell {
    match (side.summary.zip(figure_of_side), &side.absence) {
        (Some((summary, value)), _) => {
            let mark = match side.disturbed {
                0 => "",
                _ => " †",
            };
            let text = figure(contrast.metric, value) + mark;
            let cell = TableCell::new(text);
            match contrast.exact {
                true => cell,
                false if side.runs.len() == 1 => cell.detail(format!("n = {}", summary.n)),
                false => cell.detail(format!("n = {} in {} runs", summary.n, side.runs.len())),
            }
        }
        (None, Some(reason)) => TableCell::new("none").detail(reason).tone(Tone::Weak),
        (None, None) => TableCell::nothing(),
    }
}

fn speed(contrast: &Contrast) -> TableCell {
    let Some(speed) = contrast.speed else {
        let nothing = TableCell::nothing();
        return match contrast.absence() {
            Some(_) => nothing,
            None => nothing.detail(contrast.why_no_ratio()),
        };
    };
    let cell = TableCell::new(ratio(speed.value));
    match speed.interval.filter(|_| !contrast.exact) {
        Some(interval) => cell.detail(ratio_interval(interval)),
        None => cell,
    }
}

fn speed_of_check(check: &Check) -> TableCell {
    let cell = speed(&check.contrast);
    match check.interval {
        Some(interval) => cell.detail(ratio_interval(interval)),
        None => cell,
    }
}

fn verdict(contrast: &Contrast) -> TableCell {
    if contrast.absence().is_some() {
        return TableCell::new("no comparison").tone(Tone::Weak);
    }
    let tone = match contrast.verdict {
        Verdict::Faster => Tone::Strong,
        Verdict::Slower => Tone::Bad,
        Verdict::Same { .. } => Tone::Plain,
        Verdict::Undecided => Tone::Weak,
    };
    TableCell::new(wording::verdict(contrast.verdict)).tone(tone)
}

pub(crate) fn ruling_word(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Slower => "too slow",
        Ruling::Passed => "passed",
        Ruling::Undecided => "undecided",
        Ruling::TooFew => "too few repeats",
        Ruling::NoRatio => "no ratio",
        Ruling::Lost => "lost",
        Ruling::NotJudged => "not judged",
    }
}

fn tone(gate: &Gate, check: &Check) -> Tone {
    match check.ruling {
        _ if gate.fails(check) => Tone::Bad,
        Ruling::Passed => Tone::Plain,
        _ => Tone::Weak,
    }
}

fn diff_notes(diff: &Diff) -> Vec<String> {
    let mut notes = Vec::new();
    let exact = diff.contrasts.iter().filter(|c| c.exact).count();
    let tested = diff.contrasts.iter().filter(|c| c.test.is_some()).count();
    if tested > 0 {
        let p = match tested {
            1 => "p".to_owned(),
            several => format!("p, corrected over all {several} comparisons,"),
        };
        notes.push(format!(
            "{MEANS} Speed is new over base, above 1 is better, with its 95 % interval. Faster and slower \
             are stated where the interval excludes 1 and {p} is at most {FALSE_DISCOVERIES}; the \
             same within {} where the complete interval is.",
            share(diff.tolerance.share())
        ));
    } else if exact < diff.contrasts.len() {
        notes.push(format!(
            "{MEANS} Speed is new over base, above 1 is better. Without an interval nothing is \
             decided: an interval needs a ratio, and two repeats in both runs."
        ));
    }
    let real = diff.contrasts.iter().filter(|contrast| !contrast.exact);
    notes.extend(of_runs(&diff.base, &diff.new, real));
    if exact > 0 {
        notes.push(format!(
            "Figures of virtual time are exact; those that differ by less than {} are the same.",
            share(EXACT_TOLERANCE)
        ));
    }
    notes.extend(between_steps(diff.contrasts.iter()));
    notes.extend(disturbed(diff.contrasts.iter()));
    notes.extend(diff.overall.iter().map(over_all));
    notes.extend(
        diff.differences
            .iter()
            .map(|d| format!("They differ in {d}.")),
    );
    if let Some(meetings) = &diff.meetings {
        let repeats = diff.repeats;
        notes.extend(
            repeats.map(|(base, new)| format!("They differ in repeats: {new} against {base}.")),
        );
        notes.extend(meetings.sentences(&named(&diff.base), &named(&diff.new)));
    }
    notes.extend(diff.unpaired.iter().map(|text| format!("{text}.")));
    notes.extend(diff.unmeasured.iter().map(|it| not_measured(it)));
    let others = diff.others.iter();
    notes.extend(others.map(|(phase, what)| format!("{phase} is not compared: {what}.")));
    notes
}

/// What the intervals are based on, if not on the repeats of single runs.
fn of_runs<'a>(
    base: &[String],
    new: &[String],
    mut figures: impl Iterator<Item = &'a Contrast>,
) -> Option<String> {
    figures.next()?;
    if base.len() + new.len() > 2 {
        return Some(
            "Each run is one value: the intervals are of how much runs of one side differ."
                .to_owned(),
        );
    }
    // Subjects of one run were measured in turn.
    (base != new).then(|| {
        "Each side is one run: the result holds for a machine in one state, since the intervals do \
         not include how much runs differ when nothing has changed. To include it, compare several \
         runs: RUN,RUN,RUN."
            .to_owned()
    })
}

fn over_all(overall: &Overall) -> String {
    let interval = overall.speed.interval;
    let interval = interval.map(|interval| format!(" ({})", ratio_interval(interval)));
    format!(
        "Over all {} {} is {}{} times as fast, by the geometric mean.",
        wording::count(overall.phases, "phase"),
        overall.subject,
        ratio(overall.speed.value),
        interval.unwrap_or_default()
    )
}

fn gate_notes(gate: &Gate) -> Vec<String> {
    let mut notes = vec![format!(
        "{MEANS} A check fails where the complete interval of the speed is below {}.",
        ratio(gate.rule.limit())
    )];
    if gate.family > 0 {
        notes.push(format!(
            "{} at {}: where nothing is slower than the limit, at most {} of all gates fail.",
            match gate.family {
                1 => "The interval holds".to_owned(),
                several => format!("The {several} intervals hold together"),
            },
            share(gate.rule.confidence),
            percent(gate.rule.false_alarms())
        ));
    }
    let judged = gate.checks.iter().filter(|check| check.interval.is_some());
    let judged = judged.map(|check| &check.contrast);
    notes.extend(of_runs(&gate.base, &gate.new, judged));
    notes.extend(between_steps(gate.checks.iter().map(|it| &it.contrast)));
    notes.extend(disturbed(gate.checks.iter().map(|it| &it.contrast)));
    notes.extend(detectable_losses(gate));
    notes.extend(gate.unmeasured.iter().map(|it| not_measured(it)));
    notes
}

/// The figures that include disturbed measurements.
fn disturbed<'a>(contrasts: impl Iterator<Item = &'a Contrast>) -> Option<String> {
    let found: Vec<String> = contrasts.filter_map(disturbed_sides).collect();
    (!found.is_empty()).then(|| format!("† Disturbed while measured: {}.", found.join("; ")))
}

/// `write of ext4 (2 of 5 in the base, 1 of 5 in the new)`; `None` if no value was disturbed.
pub(crate) fn disturbed_sides(contrast: &Contrast) -> Option<String> {
    let of = |side: &Side, name: &str| {
        let (disturbed, all) = (side.disturbed, side.values().count());
        (disturbed > 0).then(|| format!("{disturbed} of {all} in the {name}"))
    };
    let sides = [of(&contrast.base, "base"), of(&contrast.new, "new run")];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    (!sides.is_empty()).then(|| format!("{} ({})", contrast.title(), sides.join(", ")))
}

/// A caveat for figures that do not vary.
fn between_steps<'a>(contrasts: impl Iterator<Item = &'a Contrast>) -> Option<String> {
    let found = contrasts.filter(|contrast| contrast.is_between_steps());
    let titles: Vec<String> = found.map(Contrast::title).collect();
    let more = titles.len().checked_sub(1)?;
    let named = match more {
        0 => titles[0].clone(),
        more => format!("{} and {more} more", titles[0]),
    };
    Some(format!(
        "In {named} no value varies, so each is taken as exact; but with a clock of such steps, \
         one true figure between the two could show as both. More repeats would decide it."
    ))
}

fn not_measured(metric: &MetricDefinition) -> String {
    format!("{} is in neither run: it is not compared.", metric.name)
}

/// The losses that a gate could have detected.
fn detectable_losses(gate: &Gate) -> Option<String> {
    let [(least, finest), (most, worst)] = gate.detectable_losses()?;
    let (finest, worst) = (finest.contrast.title(), worst.contrast.title());
    let allowed = gate.rule.max_slowdown.share();
    Some(if least >= NEARLY_ALL {
        "In no figure would a loss more likely be seen than missed: use more repeats.".to_owned()
    } else if most >= NEARLY_ALL {
        format!(
            "In {worst}, no loss would more likely be seen than missed: use more repeats. In \
             {finest}, a loss of {} would be.",
            percent(least)
        )
    } else if most <= allowed + f64::EPSILON {
        "Any loss beyond the limit would be seen: the figures do not vary.".to_owned()
    } else {
        format!(
            "A loss of {} in any figure would more likely be seen than missed; the widest is \
             {worst}.",
            percent(most)
        )
    })
}
