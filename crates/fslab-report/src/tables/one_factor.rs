//! The best single factor between an original's figures and the run's.

use fslab_claims::{LeftOutReason, OneFactor, ThenAndNow, ThenAndNowGroup};

use crate::{Column, Table, TableCell, wording};

/// Fewer points have neither an order nor an outlier.
pub(crate) const POINTS_LEAST: usize = 3;

/// One row per figure that was measured: the factor, how far the subjects are from it, and which
/// are left out.
pub fn one_factor(both: &ThenAndNow) -> Table {
    let is_measured = |group: &&ThenAndNowGroup| group.rows.iter().any(|row| row.now.is_some());
    let rows = both.groups.iter().filter(is_measured).map(|group| {
        let found = group.one_factor.as_ref();
        let of = |text: fn(&OneFactor) -> String| {
            found.map_or_else(TableCell::nothing, |found| TableCell::new(text(found)))
        };
        let figure = match &group.part {
            Some(part) => format!("{}, {part}", group.metric),
            None => group.metric.clone(),
        };
        vec![
            TableCell::new(&group.phase),
            TableCell::new(figure),
            TableCell::new(found.map_or(0, |found| found.n).to_string()),
            of(|found| format!("{}×", wording::ratio(found.factor))),
            of(order),
            of(|found| format!("{}×", wording::ratio(found.spread))),
            of(outliers),
            left_out(group).map_or_else(TableCell::nothing, TableCell::new),
        ]
    });
    Table {
        caption: "Then and now: one factor for all subjects?".to_owned(),
        columns: vec![
            Column::left("Phase"),
            Column::left("Figure"),
            Column::right("Points"),
            Column::right("Factor"),
            Column::right("Rank correlation"),
            Column::right("Half within"),
            Column::left("Outliers"),
            Column::left("Left out"),
        ],
        rows: rows.collect(),
        notes: vec![
            "Factor: the geometric mean of now / then. Half of the subjects are within the factor \
             beside it of the median ratio. An outlier is farther from the median ratio than three \
             scaled median absolute deviations of the logarithms, and than a factor of 2; its \
             number is now / (factor × then). The rank correlation is of the same points: figures \
             of 0 and those without measurable time are left out."
                .to_owned(),
        ],
    }
}

/// The rank correlation of the points with its interval.
fn order(found: &OneFactor) -> String {
    let enough = found.agreement.filter(|_| found.n >= POINTS_LEAST);
    let Some(agreement) = enough else {
        return wording::NOTHING.to_owned();
    };
    match agreement.interval {
        Some([low, high]) => format!("{:.2} ({low:.2} to {high:.2})", agreement.rho),
        None => format!("{:.2}", agreement.rho),
    }
}

fn outliers(found: &OneFactor) -> String {
    if found.n < POINTS_LEAST {
        return wording::NOTHING.to_owned();
    }
    let outliers = found.outliers.iter();
    let names: Vec<String> = outliers
        .map(|it| format!("{} {}×", it.subject, wording::ratio(it.residual)))
        .collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

/// How many subjects are left out for which reason: "4 not measured, 11 without measurable time".
pub(crate) fn left_out(group: &ThenAndNowGroup) -> Option<String> {
    let counts = LeftOutReason::ALL.into_iter().filter_map(|reason| {
        let out = group.left_out.iter();
        match out.filter(|out| out.reason == reason).count() {
            0 => None,
            count => Some(format!("{count} {}", reason.as_str())),
        }
    });
    let counts: Vec<String> = counts.collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}
