//! Claims about the phases of one subject: `phases`, `gain`.

use fslab_model::Point;

use crate::evaluate::{Case, Judgement};
use crate::evidence::{Member, MissingReason, Place, Ranges};
use crate::ratio::{LogScore, Question, Ratio, Side, of_logs, paired};
use crate::{Finding, Limits, PhasePair};

/// Before the name of a phase: on an aged file system.
const AGED: &str = "aged-";

type PointSide<'r> = Side<Option<&'r Point>>;

/// Each subject's `phase` against its `than`.
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
                Finding::of_ratio(what(&member.label), ratio, limits)
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

/// Such a ratio against another one.
pub(crate) fn gain(
    case: &Case<'_, '_>,
    [pair, against]: [&PhasePair; 2],
    subjects: &[String],
    limits: Limits,
) -> Judgement {
    let finding = |name: &String| {
        let what = |label: &str| {
            let (above, below) = (pair, against);
            format!(
                "{label}: ({} / {}) / ({} / {})",
                above.phase, above.than, below.phase, below.than
            )
        };
        match case.evidence.member(name) {
            Err(gap) => Finding::gap(what(name), gap, limits),
            Ok(member) => {
                let ratio = gain_of(case, &member, [pair, against]);
                Finding::of_ratio(what(&member.label), ratio, limits)
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
    let places = above.places.min(below.places);
    let is_plain = |value: f64| value.is_finite() && value > 0.0;
    match (is_plain(above.value), is_plain(below.value)) {
        (true, true) => {}
        (false, false) => {
            return Err("in both comparisons one phase took no time".to_owned());
        }
        (false, true) => return Ok(Ratio::certain(above.value, places)),
        (true, false) => return Ok(Ratio::certain(below.value.recip(), places)),
    }
    let logs: Vec<(u32, f64)> = above_logs
        .iter()
        .filter_map(|(repeat, log)| {
            let other = below_logs.iter().find(|(other, _)| other == repeat)?;
            Some((*repeat, log - other.1))
        })
        .collect();
    let ratio = of_logs(&logs, case.evidence.exact, places)?;
    Ok(ratio.widened(case.evidence.resolution))
}

/// One phase against another of the same subject, repeat by repeat.
fn between(
    case: &Case<'_, '_>,
    member: &Member,
    pair: &PhasePair,
) -> Result<(Ratio, Vec<(u32, f64)>), MissingReason> {
    let phase = side(case, member, &pair.phase)?;
    let than = side(case, member, &pair.than)?;
    let (phase, than) = match (is_single(&phase), is_single(&than)) {
        (true, false) => (phase.by_point(), as_one(than)),
        (false, true) => (as_one(phase), than.by_point()),
        _ => (phase.by_point(), than.by_point()),
    };
    let (ratio, logs) = paired(&phase, &than, case.evidence.exact)?;
    Ok((ratio.widened(case.evidence.resolution), logs))
}

/// A phase outside any sweep runs once, whatever points the other one is asked for. `aged-read` is
/// the phase `read` of the same file system aged, where the run has no phase of that name.
fn side<'r>(
    case: &Case<'_, 'r>,
    member: &Member,
    phase: &str,
) -> Result<Side<Place<'r>>, MissingReason> {
    let evidence = case.evidence;
    let (member, phase) = match phase.strip_prefix(AGED) {
        Some(fresh) if !evidence.has_phase(phase) => {
            let aged = evidence.aged(member);
            let gap = || format!("the run has no aged {}; --aged makes one", member.label);
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
        Question {
            phases: &phases,
            ranges,
            score,
        },
    )
}

fn is_single(side: &Side<Place<'_>>) -> bool {
    side.places.keys().all(|(_, point)| point.is_none())
}

/// The mean over all points, against a phase that has none. A point at which no time was taken
/// makes the whole of it instant.
fn as_one<'r>(side: Side<Place<'r>>) -> PointSide<'r> {
    let mean = |index: usize| {
        let goods: Vec<LogScore> = side.places.values().map(|goods| goods[index]).collect();
        let sum = goods.iter().try_fold(0.0, |sum, good| match good {
            LogScore::Finite(good) => Some(sum + good),
            LogScore::Instant => None,
        });
        sum.map_or(LogScore::Instant, |sum: f64| {
            LogScore::Finite(sum / goods.len() as f64)
        })
    };
    let means: Vec<LogScore> = (0..side.repeats.len()).map(mean).collect();
    let has_any = !side.places.is_empty();
    Side {
        repeats: side.repeats,
        places: has_any.then_some((None, means)).into_iter().collect(),
    }
}
