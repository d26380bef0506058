//! Claims about the shape of scores over one dimension of a sweep: `trend`.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Point, PointValue};
use fslab_stats::{location, quantile, rank_correlation};

use crate::evidence::{Member, Place};
use crate::findings::NO_INTERVAL;
use crate::judgement::{Case, Judgement};
use crate::missing::MissingReason;
use crate::ratio::{Coverage, Side};
use crate::{ClaimKind, ClaimOutcome, Finding, Limits, Shape};

/// A rising series has at least this rank correlation with its dimension,
const RANK_LEAST: f64 = 0.8;
/// and its last value is at least this many times its first.
const RISE_LEAST: f64 = 1.5;
/// The largest value of a level series is at most this many times its smallest.
const LEVEL_MOST: f64 = 1.25;
/// A series has risen at the first value of this share of its largest.
const RISEN: f64 = 0.9;
/// A series has fallen if its last value is at most this share of its largest.
const FALLEN: f64 = 0.8;
/// The least ratio of the medians before and after a cliff.
const CLIFF_LEAST: f64 = 2.0;

/// Values of the dimension with their scores.
type Series = Vec<(PointValue, f64)>;

/// Whether one series has the shape, with the ratio that decides and its limits.
struct ShapeResult {
    has_shape: bool,
    ratio: f64,
    limits: Limits,
    remark: Option<String>,
}

/// Evaluates `trend`: the scores of each subject over the dimension have the shape.
pub(crate) fn trend(case: &Case<'_, '_>) -> Judgement {
    let ClaimKind::Trend {
        phases,
        subjects,
        over,
        shape,
        at,
        ..
    } = &case.claim.holds.kind
    else {
        return Judgement::missing("it is no claim of a trend");
    };
    let at = match at
        .map(|at| case.evidence.scaled_to_memory(over, at))
        .transpose()
    {
        Ok(at) => at,
        Err(gap) => return Judgement::missing(gap),
    };
    let finding = |name: &String| {
        let what = |label: &str| format!("{label}: {} over {over}", phases.join(", "));
        match case.evidence.member(name) {
            Err(gap) => Finding::gap(what(name), gap, Limits::default()),
            Ok(member) => {
                let what = what(&member.label);
                match of_member(case, &member, (*shape, at)) {
                    Err(gap) => Finding::gap(what, gap, Limits::default()),
                    Ok(finding) => Finding { what, ..finding },
                }
            }
        }
    };
    Judgement::all(subjects.iter().map(finding).collect())
}

fn of_member(
    case: &Case<'_, '_>,
    member: &Member,
    (shape, at): (Shape, Option<PointValue>),
) -> Result<Finding, MissingReason> {
    let ClaimKind::Trend {
        phases,
        over,
        relative_to,
        ..
    } = &case.claim.holds.kind
    else {
        return Err("it is no claim of a trend".into());
    };
    let mut side = case.evidence.side(member, case.selection(phases))?;
    if !relative_to.is_empty() {
        let others = relative_to.iter().map(|name| {
            let other = case.evidence.member(name)?;
            case.evidence.side(&other, case.selection(phases))
        });
        let others: Result<Vec<Side<Place<'_>>>, MissingReason> = others.collect();
        side = relative(side, &others?);
    }
    let (repeats, coverage) = series(&side, over)?;
    let results: Result<Vec<ShapeResult>, MissingReason> = repeats
        .iter()
        .map(|series| read(series, shape, at))
        .collect();
    let results = results?;
    let overall = overall(&repeats);
    let result = read(&overall, shape, at)?;
    let matching = results.iter().filter(|result| result.has_shape).count();
    let is_single = results.len() == 1 && !case.evidence.exact;
    let outcome = match matching {
        _ if is_single => ClaimOutcome::Undecided,
        count if count == results.len() => ClaimOutcome::Holds,
        0 => ClaimOutcome::Fails,
        _ => ClaimOutcome::Undecided,
    };
    let ratios: Vec<f64> = results.iter().map(|result| result.ratio).collect();
    let certain = fslab_stats::Interval {
        low: result.ratio,
        high: result.ratio,
    };
    let interval = location(&ratios).and_then(|estimate| estimate.interval);
    let remark = match outcome {
        ClaimOutcome::Undecided if is_single => Some(NO_INTERVAL.to_owned()),
        ClaimOutcome::Undecided => Some(format!(
            "{matching} of {} repeats have this shape",
            results.len()
        )),
        _ => result.remark.clone(),
    };
    let point =
        |(at, value): &(PointValue, f64)| (at.number() as f64, value.is_finite().then_some(*value));
    Ok(Finding {
        outcome,
        value: Some(result.ratio),
        interval: if case.evidence.exact {
            Some(certain)
        } else {
            interval
        },
        places: coverage.counted,
        left_out: coverage.left_out,
        remark,
        points: overall.iter().map(point).collect(),
        ..Finding::gap(String::new(), "", result.limits)
    })
}

/// The scores divided by the geometric mean of the others' scores at the same place.
fn relative<'r>(side: Side<Place<'r>>, others: &[Side<Place<'r>>]) -> Side<Place<'r>> {
    let mut divided = Side {
        repeats: side.repeats,
        places: BTreeMap::new(),
        left_out: side.left_out,
    };
    let mean = |logs: &Vec<f64>| logs.iter().sum::<f64>() / logs.len() as f64;
    for (place, logs) in side.places {
        let of_others = others
            .iter()
            .map(|other| other.places.get(&place).map(mean));
        let of_others: Option<Vec<f64>> = of_others.collect();
        match of_others {
            None => drop(divided.left_out.insert(place)),
            Some(means) => {
                let unit = means.iter().sum::<f64>() / means.len() as f64;
                let logs = logs.into_iter().map(|log| log - unit).collect();
                divided.places.insert(place, logs);
            }
        }
    }
    divided
}

/// The series of each repeat: the geometric mean over those combinations of the other dimensions
/// that have every value of this one. Otherwise a value that only large files have would appear
/// slow because large files are.
///
/// A value at which most combinations took no measurable time is left out, and so is a combination
/// that took none at one of the others.
fn series(side: &Side<Place<'_>>, over: &str) -> Result<(Vec<Series>, Coverage), MissingReason> {
    let mut rows = combinations(side, over)?;
    let values: BTreeSet<PointValue> = rows.values().flat_map(|row| row.keys().copied()).collect();
    rows.retain(|_, row| row.len() == values.len());
    if rows.is_empty() {
        return Err(format!("no combination was measured at every value of {over}").into());
    }
    let all = rows.len() * values.len();
    let is_counted = |value: &PointValue| {
        let counted = rows.values().filter(|row| row[value].is_some()).count();
        counted * 2 >= rows.len()
    };
    let values: Vec<PointValue> = values.into_iter().filter(is_counted).collect();
    let rows: Vec<Vec<&[f64]>> = rows
        .values()
        .filter_map(|row| values.iter().map(|value| row[value]).collect())
        .collect();
    let counted = rows.len() * values.len();
    let left_out = all - counted;
    let coverage = Coverage { counted, left_out }.ensure_half()?;
    let mean = |index: usize, repeat: usize| {
        let sum: f64 = rows.iter().map(|row| row[index][repeat]).sum();
        (sum / rows.len() as f64).exp()
    };
    let of_repeat = |repeat| {
        let places = values.iter().enumerate();
        places
            .map(|(index, value)| (*value, mean(index, repeat)))
            .collect()
    };
    let repeats = (0..side.repeats.len()).map(of_repeat).collect();
    Ok((repeats, coverage))
}

/// The scores by the values of `over`, for each phase and combination of the other dimensions;
/// `None` where no measurable time passed.
type Combinations<'s> = BTreeMap<(&'s str, Point), BTreeMap<PointValue, Option<&'s [f64]>>>;

fn combinations<'s>(
    side: &'s Side<Place<'_>>,
    over: &str,
) -> Result<Combinations<'s>, MissingReason> {
    let counted = side.places.iter();
    let counted = counted.map(|(place, logs)| (place, Some(logs.as_slice())));
    let mut rows = Combinations::new();
    for ((phase, point), logs) in counted.chain(side.left_out.iter().map(|place| (place, None))) {
        let mut rest = point.cloned().unwrap_or_default();
        let Some(value) = rest.remove(over) else {
            return Err(format!("'{phase}' was not swept over {over}").into());
        };
        rows.entry((phase, rest)).or_default().insert(value, logs);
    }
    Ok(rows)
}

/// The geometric mean of the repeats.
fn overall(repeats: &[Series]) -> Series {
    let first = repeats.first().map(Vec::as_slice).unwrap_or_default();
    let mean = |index: usize| {
        let logs = repeats.iter().map(|series| series[index].1.ln());
        (logs.sum::<f64>() / repeats.len() as f64).exp()
    };
    let means = first
        .iter()
        .enumerate()
        .map(|(index, (at, _))| (*at, mean(index)));
    means.collect()
}

fn read(
    series: &Series,
    shape: Shape,
    at: Option<PointValue>,
) -> Result<ShapeResult, MissingReason> {
    let up_to = |end: Option<PointValue>| -> Vec<f64> {
        let within = series
            .iter()
            .filter(|(place, _)| end.is_none_or(|end| *place <= end));
        within.map(|(_, value)| *value).collect()
    };
    match shape {
        Shape::Rises => rises(&up_to(at), 3),
        Shape::Falls => {
            let mut values = up_to(at);
            values.reverse();
            rises(&values, 3)
        }
        Shape::DoesNotRise => does_not_rise(&up_to(None)),
        Shape::Levels => {
            let from = series
                .iter()
                .filter(|(place, _)| at.is_none_or(|at| *place >= at));
            levels(&from.map(|(_, value)| *value).collect::<Vec<_>>())
        }
        Shape::RisesThenLevels => rises_then_levels(&up_to(None)),
        Shape::RisesThenFalls => rises_then_falls(&up_to(None)),
        Shape::Cliff => match at {
            Some(at) => cliff(series, at.number()),
            None => Err("a cliff needs 'at'".into()),
        },
    }
}

fn enough(values: &[f64], least: usize) -> Result<(), MissingReason> {
    if values.len() < least {
        let count = values.len();
        return Err(format!("it has {count} values there, and {least} are needed").into());
    }
    Ok(())
}

/// Largest over smallest.
fn range(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    largest / values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn rises(values: &[f64], least: usize) -> Result<ShapeResult, MissingReason> {
    enough(values, least)?;
    let ratio = values[values.len() - 1] / values[0];
    let order: Vec<f64> = (0..values.len()).map(|index| index as f64).collect();
    let rho = rank_correlation(&order, values).map_or(0.0, |found| found.rho);
    Ok(ShapeResult {
        has_shape: rho >= RANK_LEAST && ratio >= RISE_LEAST,
        ratio,
        limits: Limits::at_least(RISE_LEAST),
        remark: Some(format!(
            "rank correlation {rho:.2}, wanted at least {RANK_LEAST}"
        )),
    })
}

/// The largest of the later values over the first.
fn does_not_rise(values: &[f64]) -> Result<ShapeResult, MissingReason> {
    enough(values, 2)?;
    let later = values[1..].iter().copied().fold(0.0, f64::max);
    let ratio = later / values[0];
    Ok(ShapeResult {
        has_shape: ratio <= LEVEL_MOST,
        ratio,
        limits: Limits::at_most(LEVEL_MOST),
        remark: None,
    })
}

fn levels(values: &[f64]) -> Result<ShapeResult, MissingReason> {
    enough(values, 2)?;
    let ratio = range(values);
    Ok(ShapeResult {
        has_shape: ratio <= LEVEL_MOST,
        ratio,
        limits: Limits::at_most(LEVEL_MOST),
        remark: None,
    })
}

fn rises_then_levels(values: &[f64]) -> Result<ShapeResult, MissingReason> {
    enough(values, 3)?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let top = values
        .iter()
        .position(|value| *value >= RISEN * largest)
        .unwrap_or(0);
    if top == 0 || top + 1 == values.len() {
        let remark = if top == 0 {
            "it does not rise"
        } else {
            "it rises to its end"
        };
        return Ok(ShapeResult {
            has_shape: false,
            ratio: range(&values[top..]),
            limits: Limits::at_most(LEVEL_MOST),
            remark: Some(remark.to_owned()),
        });
    }
    let risen = rises(&values[..=top], 2)?;
    let level = levels(&values[top..])?;
    let remark = if risen.has_shape { None } else { risen.remark };
    Ok(ShapeResult {
        has_shape: risen.has_shape && level.has_shape,
        remark,
        ..level
    })
}

fn rises_then_falls(values: &[f64]) -> Result<ShapeResult, MissingReason> {
    enough(values, 3)?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let top = values
        .iter()
        .position(|value| *value == largest)
        .unwrap_or(0);
    let is_inside = top > 0 && top + 1 < values.len();
    let ratio = values[values.len() - 1] / largest;
    Ok(ShapeResult {
        has_shape: is_inside && ratio <= FALLEN,
        ratio,
        limits: Limits::at_most(FALLEN),
        remark: (!is_inside).then(|| "its largest value is the first or the last".to_owned()),
    })
}

/// The median up to half of `at`, against that from twice `at` on.
fn cliff(series: &Series, at: u64) -> Result<ShapeResult, MissingReason> {
    let side = |is_in: &dyn Fn(u64) -> bool| -> Vec<f64> {
        let values = series.iter().filter(|(place, _)| is_in(place.number()));
        values.map(|(_, value)| *value).collect()
    };
    let (before, after) = (side(&|n| n <= at / 2), side(&|n| n >= at * 2));
    let median = |values: &[f64], part: &str| {
        quantile(values, 0.5)
            .ok_or_else(|| format!("nothing was measured {part} of the value of the cliff"))
    };
    let (before, after) = (
        median(&before, "up to half")?,
        median(&after, "from twice")?,
    );
    let ratio = before / after;
    Ok(ShapeResult {
        has_shape: ratio >= CLIFF_LEAST,
        ratio,
        limits: Limits::at_least(CLIFF_LEAST),
        remark: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_shape(values: &[f64], shape: Shape, at: Option<u64>) -> Result<bool, MissingReason> {
        let places = (0_u32..).map(|power| PointValue::Count(1 << power));
        let series: Series = places.zip(values.iter().copied()).collect();
        read(&series, shape, at.map(PointValue::Count)).map(|result| result.has_shape)
    }

    #[test]
    fn each_shape_differs_from_its_opposite() {
        let rising = [1.0, 1.4, 1.9, 2.6];
        let falling = [2.6, 1.9, 1.4, 1.0];
        let level = [1.0, 1.1, 0.95, 1.05];
        let up_then_level = [1.0, 2.0, 4.0, 4.1, 3.9];
        let up_then_down = [1.0, 2.0, 4.0, 3.0];
        for (shape, so, not) in [
            (Shape::Rises, &rising[..], &falling[..]),
            (Shape::Falls, &falling, &rising),
            (Shape::Levels, &level, &rising),
            (Shape::DoesNotRise, &level, &rising),
            (Shape::RisesThenLevels, &up_then_level, &rising),
            (Shape::RisesThenFalls, &up_then_down, &up_then_level),
        ] {
            assert_eq!(has_shape(so, shape, None), Ok(true), "{shape:?}");
            assert_eq!(has_shape(not, shape, None), Ok(false), "{shape:?}");
            let falls = matches!(shape, Shape::Falls | Shape::DoesNotRise);
            assert_eq!(has_shape(&falling, shape, None), Ok(falls), "{shape:?}");
        }
        assert_eq!(has_shape(&level, Shape::Rises, None), Ok(false));
    }

    #[test]
    fn a_cliff_is_at_its_value() {
        // Values 1, 2, 4, 8, 16; the cliff must be at 4.
        assert_eq!(
            has_shape(&[9.0, 9.0, 5.0, 2.0, 2.0], Shape::Cliff, Some(4)),
            Ok(true)
        );
        assert_eq!(
            has_shape(&[9.0, 9.0, 9.0, 8.0, 2.0], Shape::Cliff, Some(4)),
            Ok(false)
        );
        assert!(has_shape(&[9.0, 9.0, 5.0], Shape::Cliff, Some(4)).is_err());
    }

    #[test]
    fn a_shape_may_end_or_begin_at_a_value() {
        let values = [1.0, 2.0, 4.0, 4.0, 1.0];
        assert_eq!(has_shape(&values, Shape::Rises, None), Ok(false));
        assert_eq!(has_shape(&values, Shape::Rises, Some(4)), Ok(true));
        assert_eq!(has_shape(&values, Shape::Levels, Some(4)), Ok(false));
        assert_eq!(has_shape(&values[..4], Shape::Levels, Some(4)), Ok(true));
        assert!(has_shape(&values, Shape::Rises, Some(2)).is_err());
    }
}
