//! Claims that compare phases of one subject: `phases`, `gain`.

use std::collections::BTreeSet;

use fslab_model::Point;

use crate::evidence::{Member, Place, Ranges};
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::ratio::{Coverage, Ratio, Selection, Side, of_logs, paired};
use crate::{Finding, Limits, PhasePair};

/// Prefix of a phase's name: the phase on the aged file system.
pub(crate) const AGED: &str = "aged-";

/// The step that makes the file system, in the place of a phase.
const MKFS: &str = "mkfs";

type PointSide<'r> = Side<Option<&'r Point>>;

/// Evaluates `phases`: each subject's `pair.phase` against its `pair.than`.
pub(crate) fn phases(
    case: &Case<'_, '_>,
    pair: &PhasePair,
    subjects: &[String],
    limits: Limits,
) -> Judgement {
    let finding = |name: &String| {
        let what = |label: &str| format!("{label}: {} / {}", pair.phase, pair.than);
        match case.evidence.member(name) {
            Err(gap) => Finding::gap(what(name), gap, limits),
            Ok(member) => {
                let ratio = between(case, &member, pair).map(|(ratio, _)| ratio);
                let prefix = format!("{}: ", member.label);
                Finding::of_ratio(&prefix, [&pair.phase, &pair.than], ratio, limits)
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

/// Evaluates `gain`: the ratio of `pair` against that of `against`.
pub(crate) fn gain(
    case: &Case<'_, '_>,
    [pair, against]: [&PhasePair; 2],
    subjects: &[String],
    limits: Limits,
) -> Judgement {
    let finding = |name: &String| {
        let what = |label: &str| {
            format!(
                "{label}: ({} / {}) / ({} / {})",
                pair.phase, pair.than, against.phase, against.than
            )
        };
        match case.evidence.member(name) {
            Err(gap) => Finding::gap(what(name), gap, limits),
            Ok(member) => {
                let ratio = gain_of(case, &member, [pair, against]);
                let prefix = format!("{}: ", member.label);
                let names = [pair, against].map(|it| format!("({} / {})", it.phase, it.than));
                Finding::of_ratio(&prefix, [&names[0], &names[1]], ratio, limits)
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

fn gain_of(
    case: &Case<'_, '_>,
    member: &Member,
    pairs: [&PhasePair; 2],
) -> Result<Ratio, MissingReason> {
    let (above, above_logs) = between(case, member, pairs[0])?;
    let (below, below_logs) = between(case, member, pairs[1])?;
    let coverage = above.coverage.least(below.coverage);
    let logs: Vec<(u32, f64)> = above_logs
        .iter()
        .filter_map(|(repeat, log)| {
            let other = below_logs.iter().find(|(other, _)| other == repeat)?;
            Some((*repeat, log - other.1))
        })
        .collect();
    let ratio = of_logs(&logs, case.evidence.exact, coverage)?;
    Ok(ratio.widened(case.evidence.resolution))
}

/// The ratio of two phases of one subject, and its logarithm in each repeat.
fn between(
    case: &Case<'_, '_>,
    member: &Member,
    pair: &PhasePair,
) -> Result<(Ratio, Vec<(u32, f64)>), MissingReason> {
    let phase = side(case, member, &pair.phase)?;
    let than = side(case, member, &pair.than)?;
    let (phase, than, swept) = match (is_single(&phase), is_single(&than)) {
        (true, false) => (phase.by_point(), as_one(&than), Some(than.coverage())),
        (false, true) => (as_one(&phase), than.by_point(), Some(phase.coverage())),
        _ => (phase.by_point(), than.by_point(), None),
    };
    let swept = swept.map(Coverage::ensure_half).transpose()?;
    let (mut ratio, logs) = paired(&phase, &than, case.evidence.exact)?;
    ratio.coverage = swept.unwrap_or(ratio.coverage);
    Ok((ratio.widened(case.evidence.resolution), logs))
}

/// One side of the ratio. The ranges do not apply to a phase outside any sweep, since it runs once.
/// `aged-read` is the phase `read` of the same file system aged, and `mkfs` is the step before the
/// phases, unless the run has a phase of that name.
fn side<'r>(
    case: &Case<'_, 'r>,
    member: &Member,
    phase: &str,
) -> Result<Side<Place<'r>>, MissingReason> {
    let evidence = case.evidence;
    if phase == MKFS && !evidence.has_phase(phase) && !evidence.is_printed() {
        let times = evidence.mkfs_times(member);
        return match times.is_empty() {
            true => {
                Err(format!("the run does not have the time of mkfs of {}", member.label).into())
            }
            false => Ok(Side::of(&times, case.claim.holds.score)),
        };
    }
    let (member, phase) = match phase.strip_prefix(AGED) {
        Some(fresh) if !evidence.has_phase(phase) && !evidence.is_printed() => {
            let aged = evidence.aged(member);
            let gap = || {
                let text = format!(
                    "the run has no aged {}; --aged makes one, and --against adds it",
                    member.label
                );
                MissingReason::NotApplicable(text)
            };
            (&aged.ok_or_else(gap)?, fresh)
        }
        _ => (member, phase),
    };
    let phases = [phase.to_owned()];
    let score = case.claim.holds.score;
    let plan = &evidence.run.header.plan;
    let is_alone = plan
        .phases
        .iter()
        .any(|spec| spec.name == phase && spec.swept.is_none());
    let everywhere = Ranges::new();
    let ranges = if is_alone { &everywhere } else { &case.ranges };
    evidence.side(
        member,
        Selection {
            phases: &phases,
            ranges,
            score,
        },
    )
}

fn is_single(side: &Side<Place<'_>>) -> bool {
    side.places.keys().all(|(_, point)| point.is_none())
}

/// The mean over all points, to compare with a phase that has none.
fn as_one<'r>(side: &Side<Place<'r>>) -> PointSide<'r> {
    let mean = |index: usize| {
        let sum: f64 = side.places.values().map(|logs| logs[index]).sum();
        sum / side.places.len() as f64
    };
    let has_any = !side.places.is_empty();
    let means = has_any.then(|| (None, (0..side.repeats.len()).map(mean).collect()));
    Side {
        repeats: side.repeats.clone(),
        places: means.into_iter().collect(),
        left_out: BTreeSet::new(),
    }
}
