//! Claims about a recorded list of values, one per event: `sequence`.

use fslab_model::{PhaseOutcome, PhaseRecord};

use crate::evidence::Member;
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::{Finding, Limits, Score};

/// The most values that a remark quotes.
const QUOTED_MAX: usize = 8;

/// Evaluates `sequence`: the list of each of `subjects` is `values`.
pub(crate) fn sequence(
    case: &Case<'_, '_>,
    phase: &str,
    subjects: &[String],
    values: &[f64],
) -> Judgement {
    let limits = Limits::at_least(100.0);
    let finding = |name: &String| match case.evidence.member(name) {
        Err(gap) => Finding::gap(format!("{name}: {phase}"), gap, limits),
        Ok(member) => {
            let what = format!("{}: {phase}", member.label);
            match lists(case, &member, phase) {
                Err(gap) => Finding::gap(what, gap, limits),
                Ok(lists) => compare(what, &lists, values),
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

fn compare(what: String, lists: &[Vec<f64>], values: &[f64]) -> Finding {
    let equal = lists
        .iter()
        .filter(|list| is_sequence(list, values))
        .count();
    let first = lists.first().map(Vec::as_slice).unwrap_or_default();
    let points = first
        .iter()
        .zip(0_u32..)
        .map(|(y, x)| (f64::from(x), Some(*y)));
    Finding {
        remark: Some(format!(
            "it is {}, and {} is expected",
            quoted(first),
            quoted(values)
        )),
        points: points.collect(),
        ..Finding::of_repeats(what, equal, lists.len())
    }
}

fn quoted(values: &[f64]) -> String {
    let texts: Vec<String> = values
        .iter()
        .take(QUOTED_MAX)
        .map(ToString::to_string)
        .collect();
    let more = if values.len() > QUOTED_MAX {
        ", ..."
    } else {
        ""
    };
    texts.join(", ") + more
}

/// Whether `list` is `values` with the last value repeated. The last element of `list` may be less,
/// since the file ends there.
fn is_sequence(list: &[f64], values: &[f64]) -> bool {
    let wanted = values.iter().chain(values.last().into_iter().cycle());
    let last = list.len().saturating_sub(1);
    let fits = |(index, (found, wanted)): (usize, (&f64, &f64))| {
        found == wanted || (index == last && index >= values.len() && found < wanted)
    };
    list.len() >= values.len() && list.iter().zip(wanted).enumerate().all(fits)
}

/// The list's values in each repeat.
fn lists(
    case: &Case<'_, '_>,
    member: &Member,
    phase: &str,
) -> Result<Vec<Vec<f64>>, MissingReason> {
    let Score::List(name) = case.claim.holds.score else {
        return Err("the metric is not a list".into());
    };
    let trials = case.evidence.records(member, phase);
    let is_done = |record: &&&PhaseRecord| record.outcome == PhaseOutcome::Done;
    let records = trials
        .iter()
        .flat_map(|(_, records)| records)
        .filter(is_done);
    let list = |record: &&PhaseRecord| {
        let list = record.lists.iter().find(|list| list.name == name)?;
        Some(list.points.iter().map(|(_, y)| *y).collect::<Vec<f64>>())
    };
    let lists: Vec<Vec<f64>> = records
        .filter_map(list)
        .filter(|list| !list.is_empty())
        .collect();
    if lists.is_empty() {
        let phases = [phase.to_owned()];
        let score = Score::Headline;
        let gap = case
            .evidence
            .figures(member, &phases, &case.ranges, score)
            .err();
        let label = &member.label;
        return Err(
            gap.unwrap_or_else(|| format!("'{phase}' of {label} has no list '{name}'").into())
        );
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::is_sequence;

    #[test]
    fn the_last_value_repeats_and_the_end_of_the_file_shortens_it() {
        let doubling = [4.0, 8.0, 16.0, 32.0];
        for (list, equal) in [
            (&[4.0, 8.0, 16.0, 32.0][..], true),
            (&[4.0, 8.0, 16.0, 32.0, 32.0], true),
            (&[4.0, 8.0, 16.0, 32.0, 32.0, 4.0], true),
            (&[4.0, 8.0, 16.0, 32.0, 4.0, 32.0], false),
            (&[4.0, 8.0, 16.0, 31.0], false),
            (&[4.0, 8.0, 16.0], false),
            (&[4.0, 8.0, 16.0, 32.0, 64.0], false),
            (&[8.0, 16.0, 32.0, 32.0], false),
            (&[], false),
        ] {
            assert_eq!(is_sequence(list, &doubling), equal, "{list:?}");
        }
        assert!(is_sequence(&[32.0, 32.0, 7.0], &[32.0]));
    }
}
