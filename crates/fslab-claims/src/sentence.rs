//! The sentence of a verdict: the number that decides, with its limits.

use fslab_model::{Bytes, Rate, format_ns};

use super::judgement::Judgement;
use crate::findings::decisive;
use crate::{Claim, ClaimKind, ClaimOutcome, Finding, Limits, Quantity, StandIn};

pub(crate) fn sentence(claim: &Claim, judgement: &Judgement, stand_ins: &[StandIn]) -> String {
    let mut parts = Vec::new();
    // A claim that drawn disks leave undecided has no such finding.
    let outcomes = [judgement.outcome, ClaimOutcome::Fails, ClaimOutcome::Holds];
    let mut found = outcomes
        .into_iter()
        .filter_map(|it| decisive(&judgement.findings, it));
    if let Some(finding) = found.next() {
        parts.push(number(claim, finding));
        let measured = judgement
            .findings
            .iter()
            .filter(|finding| finding.is_measured())
            .count();
        if measured > 1
            && finding.is_measured()
            && !matches!(claim.holds.kind, ClaimKind::Wins { .. })
        {
            parts.push(format!("this decides of {measured} comparisons"));
        }
        parts.extend(finding.remark.clone().filter(|_| finding.is_measured()));
    }
    parts.extend(judgement.remarks.iter().cloned());
    parts.extend(stand_ins.iter().map(|stand_in| {
        format!(
            "with {} in place of {}",
            stand_in.measured, stand_in.original
        )
    }));
    let text = parts.join("; ");
    let mut letters = text.chars();
    // A sentence with a finding begins with a file system's name, which keeps its small letter.
    match letters.next() {
        Some(first) if !judgement.outcome.is_measured() && judgement.findings.is_empty() => {
            format!("{}{}.", first.to_uppercase(), letters.as_str())
        }
        Some(_) => format!("{text}."),
        None => String::new(),
    }
}

fn number(claim: &Claim, finding: &Finding) -> String {
    let what = &finding.what;
    let Some(value) = finding.value else {
        let gap = finding.remark.clone().unwrap_or_default();
        return format!("{what}: {gap}");
    };
    let is_rank = matches!(claim.holds.kind, ClaimKind::Rank { .. });
    let printed = |value: f64| match is_rank {
        true => format!("{value:.0}"),
        false => quantity(finding.quantity, value),
    };
    let ends = finding
        .interval
        .map(|ends| (printed(ends.low), printed(ends.high)));
    let interval = match ends {
        Some((low, high)) if low != high => format!(" ({low} to {high})"),
        _ => String::new(),
    };
    let limits = match &claim.holds.kind {
        ClaimKind::Value { written, .. } => written.clone(),
        _ => limits(&finding.limits),
    };
    let limits = match limits.as_str() {
        "" => String::new(),
        limits => format!(", wanted {limits}"),
    };
    let score = match finding.quantity {
        _ if is_rank => format!(" is by {} number", claim.holds.score.name()),
        Quantity::Ratio => format!(" by {}", claim.holds.score.name()),
        _ => format!(" {}", claim.holds.score.name()),
    };
    let all = finding.places + finding.left_out;
    let places = match (finding.places, finding.left_out) {
        (_, 1..) => format!(
            " over the {} of {all} points at which the disk did at least half of the work",
            finding.places
        ),
        (2.., 0) => format!(" over {all} points"),
        _ => String::new(),
    };
    format!("{what}{score} {}{interval}{places}{limits}", printed(value))
}

/// A number with its unit, to three digits.
pub(crate) fn quantity(quantity: Quantity, value: f64) -> String {
    if value.is_infinite() {
        return "infinite".to_owned();
    }
    match quantity {
        Quantity::Ratio | Quantity::Number => plain(value),
        Quantity::Percent => format!("{} %", plain(value)),
        Quantity::Time => format_ns(value),
        Quantity::Size => Bytes(value.max(0.0) as u64).to_string(),
        Quantity::Rate => {
            let text = Rate::Operations(value).to_string();
            text.trim_end_matches("op/s").to_owned() + "/s"
        }
    }
}

/// Three significant digits.
fn plain(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size => 2 - (size.log10().floor() as i32).max(-6),
    };
    let digits = usize::try_from(digits).unwrap_or(0);
    format!("{value:.digits$}")
}

fn limits(limits: &Limits) -> String {
    let least = limits.at_least.map(|least| {
        let words = if limits.strict {
            "more than"
        } else {
            "at least"
        };
        format!("{words} {least}")
    });
    let most = limits.at_most.map(|most| format!("at most {most}"));
    least
        .into_iter()
        .chain(most)
        .collect::<Vec<_>>()
        .join(" and ")
}
