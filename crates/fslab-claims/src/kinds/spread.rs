//! Claims about the largest ratio among subjects: `spread`.

use fslab_stats::{Interval, location};

use crate::evidence::{Evidence, Place};
use crate::findings::NO_INTERVAL;
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::ratio::{Coverage, Selection, Side, common_places, mean_of};
use crate::{ClaimKind, Finding, Limits};

/// The largest ratios of one repeat, as logarithms.
struct Distances {
    /// Between two groups.
    between: f64,
    /// Between two members of one group.
    inside: f64,
}

/// Evaluates `spread`: the ratio between groups against that inside them, or that inside one group
/// on two disks.
pub(crate) fn spread(case: &Case<'_, '_>) -> Judgement {
    let ClaimKind::Spread {
        groups,
        disks,
        at_least,
        ..
    } = &case.claim.holds.kind
    else {
        return Judgement::missing("it is no claim of a spread");
    };
    let limits = Limits::at_least(*at_least);
    let (what, logs) = match disks {
        None => (
            "between groups / inside them".to_owned(),
            distances(case, case.evidence, groups).map(|(distances, coverage)| {
                let log = |it: &Distances| it.between - it.inside;
                (distances.iter().map(log).collect::<Vec<_>>(), coverage)
            }),
        ),
        Some([a, b]) => (format!("on {a} / on {b}"), on_disks(case, groups, [a, b])),
    };
    let finding = match logs {
        Err(gap) => Finding::gap(what, gap, limits),
        Ok((logs, coverage)) => finding(what, &logs, coverage, (limits, case.evidence)),
    };
    Judgement::all(vec![finding])
}

fn finding(
    what: String,
    logs: &[f64],
    coverage: Coverage,
    (limits, evidence): (Limits, &Evidence<'_>),
) -> Finding {
    let ratios: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let Some(estimate) = location(&ratios) else {
        return Finding::gap(what, "the ratio is not a number", limits);
    };
    let certain = Interval {
        low: estimate.value,
        high: estimate.value,
    };
    let interval = if evidence.exact {
        Some(certain)
    } else {
        estimate.widened(evidence.resolution).interval
    };
    Finding {
        outcome: limits.decide(interval),
        value: Some(estimate.value),
        interval,
        places: coverage.counted,
        left_out: coverage.left_out,
        remark: interval.is_none().then(|| NO_INTERVAL.to_owned()),
        ..Finding::gap(what, "", limits)
    }
}

/// The logarithm of the ratio of the largest ratios on two disks, by repeat.
fn on_disks(
    case: &Case<'_, '_>,
    groups: &[Vec<String>],
    disks: [&String; 2],
) -> Result<(Vec<f64>, Coverage), MissingReason> {
    let runs = [case.evidence].into_iter().chain(case.others);
    let of_disk = |disk: &str| {
        let run = runs.clone().find(|evidence| evidence.disk() == Some(disk));
        run.ok_or_else(|| format!("it compares two runs, and none of them is on the disk '{disk}'"))
    };
    let (a, coverage_a) = distances(case, of_disk(disks[0])?, groups)?;
    let (b, coverage_b) = distances(case, of_disk(disks[1])?, groups)?;
    let logs = a.iter().zip(&b).map(|(a, b)| a.inside - b.inside);
    Ok((logs.collect(), coverage_a.least(coverage_b)))
}

/// The largest ratios of each repeat, over the places at which all subjects have a figure.
fn distances(
    case: &Case<'_, '_>,
    evidence: &Evidence<'_>,
    groups: &[Vec<String>],
) -> Result<(Vec<Distances>, Coverage), MissingReason> {
    let ClaimKind::Spread { phases, .. } = &case.claim.holds.kind else {
        return Err("it is no claim of a spread".into());
    };
    let selection = Selection {
        phases,
        ranges: &case.ranges,
        score: case.claim.holds.score,
    };
    let side = |name: &String| evidence.side(&evidence.member(name)?, selection);
    let sides = groups.iter().map(|group| group.iter().map(side).collect());
    let sides: Vec<Vec<Side<Place<'_>>>> = sides.collect::<Result<_, MissingReason>>()?;
    let all: Vec<&Side<Place<'_>>> = sides.iter().flatten().collect();
    let (places, coverage) = common_places(&all)?;
    let repeats = all.iter().map(|side| side.repeats.len()).min().unwrap_or(0);
    let distances = (0..repeats).map(|repeat| {
        let score = |side: &Side<Place<'_>>| mean_at(side, &places, repeat);
        let groups: Vec<Vec<f64>> = sides
            .iter()
            .map(|group| group.iter().map(score).collect())
            .collect();
        let means = groups
            .iter()
            .map(|group| group.iter().sum::<f64>() / group.len() as f64);
        Distances {
            between: width(&means.collect::<Vec<_>>()),
            inside: groups.iter().map(|group| width(group)).fold(0.0, f64::max),
        }
    });
    Ok((distances.collect(), coverage))
}

fn mean_at(side: &Side<Place<'_>>, places: &[&Place<'_>], repeat: usize) -> f64 {
    mean_of(
        places
            .iter()
            .map(|place| (place.0, side.places[*place][repeat])),
    )
}

/// Largest minus smallest.
fn width(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest - values.iter().copied().fold(f64::INFINITY, f64::min)
}
