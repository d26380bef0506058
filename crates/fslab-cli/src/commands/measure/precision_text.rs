//! The precision of a run's subjects in words.

use fslab_compare::{Analysis, Comparison, FirstPlace};
use fslab_model::{Adaptive, RunRecord};
use fslab_run::{CellPrecision, Precision, Repeats, precision};

/// The repeats that are advised without --repeats N..M.
const ADVISED: (u32, u32) = (3, 20);
/// The most repeats that are advised to decide a difference.
const ADVISED_MAX: u32 = 100;
/// The most subjects or phases that are named.
const NAMED_MAX: usize = 4;

/// The note at the end of a run; `None` if every difference is decided, or for a single subject if
/// its figures reached the target.
pub(crate) fn at_the_end(record: &RunRecord) -> Option<String> {
    let plan = &record.header.plan;
    let is_compared = plan.subjects.len() > 1;
    let needs_target = plan.adaptive.as_ref().is_some_and(|it| !it.until_decided);
    if is_compared && !needs_target {
        return open_differences(record);
    }
    // A single repeat has no intervals.
    if plan.repeats < 2 && plan.adaptive.is_none() {
        return None;
    }
    let advised = Adaptive {
        repeats_max: ADVISED.1,
        target: Adaptive::TARGET,
        key: Vec::new(),
        until_decided: false,
        budget_s: None,
    };
    let adaptive = plan.adaptive.as_ref().unwrap_or(&advised);
    let cells = precision(record, adaptive);
    let wide: Vec<&CellPrecision> = cells.iter().filter(|c| c.precision.is_open()).collect();
    if wide.is_empty() {
        return None;
    }
    let mut named: Vec<_> = wide
        .iter()
        .take(NAMED_MAX)
        .map(|cell| describe_precision(cell))
        .collect();
    if wide.len() > NAMED_MAX {
        named.push(format!("and {} more", wide.len() - NAMED_MAX));
    }
    let finding = format!(
        "intervals wider than ±{} for {} of {}: {}",
        adaptive.target,
        wide.len(),
        crate::terminal::screen::counted(cells.len(), "subject"),
        named.join("; ")
    );
    let (least, most) = match &plan.adaptive {
        None => (
            ADVISED.0.max(plan.repeats),
            ADVISED.1.max(plan.repeats.saturating_mul(2)),
        ),
        Some(adaptive) => (plan.repeats, adaptive.repeats_max.saturating_mul(2)),
    };
    let most = Some(most);
    let command = Adaptive::continued_with_range(plan.adaptive.as_ref(), Repeats { least, most });
    Some(format!("{finding}; continue with {command}"))
}

/// The phases whose differences are undecided, and how many repeats would probably decide them.
fn open_differences(record: &RunRecord) -> Option<String> {
    let analysis = Analysis::of(record);
    let compared = analysis.phases.iter().filter(|phase| phase.is_disk_bound());
    let compared = compared.filter_map(|phase| Some((phase.name, phase.comparison.as_ref()?)));
    let is_open =
        |comparison: &Comparison| matches!(comparison.first_place(), FirstPlace::Undecided(_));
    let compared: Vec<_> = compared.collect();
    let mut open: Vec<_> = compared
        .iter()
        .filter(|(_, comparison)| is_open(comparison))
        .map(|(name, comparison)| (comparison.repeats_to_decide(analysis.family), *name))
        .collect();
    let most = open.iter().filter_map(|(needed, _)| *needed).max();
    // The nearest first; those without a number last.
    open.sort_by_key(|(needed, _)| needed.unwrap_or(usize::MAX));
    let mut named: Vec<String> = open
        .iter()
        .take(NAMED_MAX)
        .map(|(needed, name)| match needed {
            Some(needed) => format!("{name} (about {needed} repeats would decide it)"),
            None => (*name).to_owned(),
        })
        .collect();
    if open.len() > NAMED_MAX {
        named.push(format!("and {} more", open.len() - NAMED_MAX));
    }
    let found = format!(
        "undecided in {} of {}: {}",
        open.len(),
        crate::terminal::screen::counted(compared.len(), "phase"),
        named.join("; ")
    );
    let most = most.and_then(|most| u32::try_from(most).ok());
    match most.filter(|most| *most <= ADVISED_MAX) {
        _ if open.is_empty() => None,
        Some(repeats) => {
            let command = Adaptive::continued_with(record.header.plan.adaptive.as_ref(), repeats);
            Some(format!("{found}; continue with {command}"))
        }
        None => Some(found),
    }
}

/// `ext4 (read 7.2 % after 3 repeats)`.
pub(crate) fn describe_precision(cell: &CellPrecision) -> String {
    let repeats = crate::terminal::screen::counted(cell.repeats as usize, "repeat");
    let state = match &cell.precision {
        Precision::Known { reach } => format!("known to {} after {repeats}", percent(*reach)),
        Precision::Confirming { reach, more } => format!(
            "known to {} after {repeats}, to be confirmed by {more} more",
            percent(*reach)
        ),
        Precision::Wide {
            phase,
            reach: Some(reach),
        } => format!("{phase} {} after {repeats}", percent(*reach)),
        Precision::Wide { phase, reach: None } => {
            format!("{phase} has no interval after {repeats}")
        }
        Precision::Failed if cell.repeats == 1 => "its only repeat failed".to_owned(),
        Precision::Failed => format!("all {repeats} failed"),
        Precision::NoFigure => format!("no figure in {repeats}"),
    };
    format!("{} ({state})", cell.subject)
}

/// A share to two digits; very wide intervals, such as those of two repeats, are `over 1000 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 1_000.0 {
        "over 1000 %".to_owned()
    } else if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_model::{CellId, Subject};

    #[test]
    fn a_subject_is_described_by_its_widest_phase_and_its_repeats() {
        let subject = Subject::plain("ext4");
        let text = |repeats, precision| {
            describe_precision(&CellPrecision {
                cell: CellId(0),
                subject: &subject,
                repeats,
                precision,
            })
        };
        let wide = Precision::Wide {
            phase: "read".into(),
            reach: Some(0.0724),
        };
        assert_eq!(text(3, wide), "ext4 (read 7.2 % after 3 repeats)");
        let single = Precision::Wide {
            phase: "read".into(),
            reach: None,
        };
        assert_eq!(
            text(1, single),
            "ext4 (read has no interval after 1 repeat)"
        );
        let known = Precision::Known { reach: 0.0996 };
        assert_eq!(text(2, known), "ext4 (known to 10 % after 2 repeats)");
        let very_wide = Precision::Known { reach: 1e6 };
        assert_eq!(
            text(2, very_wide),
            "ext4 (known to over 1000 % after 2 repeats)"
        );
        let (reach, more) = (0.031, 6);
        let narrow = Precision::Confirming { reach, more };
        let expected = "ext4 (known to 3.1 % after 3 repeats, to be confirmed by 6 more)";
        assert_eq!(text(3, narrow), expected);
        assert_eq!(text(3, Precision::Failed), "ext4 (all 3 repeats failed)");
    }
}
