//! A ratio along a sweep: who is ahead at which point, and where that changes.

use std::collections::BTreeSet;

use fslab_model::{Point, PointValue};
use fslab_stats::Estimate;

use crate::Limits;

/// Ratios nearer to 1 have no one ahead: below that, virtual time has no difference by convention.
const AHEAD_LEAST: f64 = 0.01;

/// The ratio at one point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PointRatio {
    point: Point,
    value: f64,
    /// Whether the first is certainly ahead, or the second; `None`: neither.
    first_leads: Option<bool>,
}

impl PointRatio {
    pub(crate) fn new(point: Point, ratio: Estimate) -> Self {
        let is_beyond = |low: f64, value: f64| low > 1.0 && value > 1.0 + AHEAD_LEAST;
        let first_leads = ratio.interval.and_then(|ends| {
            let first = is_beyond(ends.low, ratio.value);
            let second = is_beyond(ends.high.recip(), ratio.value.recip());
            (first != second).then_some(first)
        });
        Self {
            point,
            value: ratio.value,
            first_leads,
        }
    }
}

/// Says who leads where, if the lead changes between the points and the limits of the claim admit
/// one of the two leads only, at some of the points.
pub(crate) fn lead_changes(
    points: &[PointRatio],
    limits: Limits,
    [first, second]: [&str; 2],
) -> Option<String> {
    let leads = |is_first: bool| {
        let led = points.iter().filter(|it| it.first_leads == Some(is_first));
        led.count()
    };
    let (by_first, by_second) = (leads(true), leads(false));
    let admits_both = limits.admit(1.0 + AHEAD_LEAST) && limits.admit((1.0 + AHEAD_LEAST).recip());
    let is_somewhere = points.iter().any(|it| limits.admit(it.value));
    if by_first == 0 || by_second == 0 || admits_both || !is_somewhere {
        return None;
    }
    let all = points.len();
    let change = crossing(points).map(|it| format!(", and {it}"));
    Some(format!(
        "{first} leads at {by_first} of {all} points and {second} at {by_second}{}",
        change.unwrap_or_default()
    ))
}

/// Where the lead changes, for a sweep over one dimension.
fn crossing(points: &[PointRatio]) -> Option<String> {
    let values = |name: &String| -> BTreeSet<PointValue> {
        let values = points.iter().filter_map(|it| it.point.get(name));
        values.copied().collect()
    };
    let names = points.first()?.point.keys();
    let varied: Vec<&String> = names.filter(|name| values(name).len() > 1).collect();
    let [dimension] = varied[..] else {
        return None;
    };
    let mut led: Vec<(PointValue, bool)> = points
        .iter()
        .filter_map(|it| Some((*it.point.get(dimension)?, it.first_leads?)))
        .collect();
    led.sort_by_key(|(value, _)| *value);
    let changes: Vec<_> = led.windows(2).filter(|two| two[0].1 != two[1].1).collect();
    match changes[..] {
        [[(before, _), (after, _)]] => Some(format!(
            "the lead changes between {dimension} {before} and {after}"
        )),
        _ => Some(format!(
            "the lead changes {} times over {dimension}",
            changes.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_stats::Interval;

    fn points(ratios: &[f64]) -> Vec<PointRatio> {
        let sizes = (0_u32..).map(|index| PointValue::Bytes(1024 << index));
        let point = |(size, ratio): (PointValue, &f64)| {
            let point = Point::from([("file_size".to_owned(), size)]);
            let ends = Interval {
                low: *ratio,
                high: *ratio,
            };
            let estimate = Estimate {
                value: *ratio,
                interval: Some(ends),
            };
            PointRatio::new(point, estimate)
        };
        sizes.zip(ratios).map(point).collect()
    }

    fn said(ratios: &[f64], limits: Limits) -> Option<String> {
        lead_changes(&points(ratios), limits, ["ext4", "ntfs3"])
    }

    #[test]
    fn a_lead_that_changes_is_named_with_its_place() {
        let more = Limits::at_least(1.0);
        assert_eq!(said(&[1.4, 1.2, 1.005], more), None);
        assert_eq!(
            said(&[1.4, 1.2, 1.002, 0.98, 0.9], more).as_deref(),
            Some(
                "ext4 leads at 2 of 5 points and ntfs3 at 2, and the lead changes between \
                 file_size 2 KiB and 8 KiB"
            )
        );
        assert_eq!(
            said(&[1.4, 0.9, 1.4], more).as_deref(),
            Some(
                "ext4 leads at 2 of 3 points and ntfs3 at 1, and the lead changes 2 times over \
                 file_size"
            )
        );
    }

    #[test]
    fn a_change_that_the_limits_admit_or_never_reach_does_not_matter() {
        assert_eq!(said(&[1.1, 0.9], Limits::at_least(0.8)), None);
        assert_eq!(said(&[1.1, 0.9], Limits::at_least(2.0)), None);
        assert!(said(&[3.0, 0.9], Limits::at_least(2.0)).is_some());
    }
}
