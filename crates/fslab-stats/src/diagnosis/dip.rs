//! Hartigan's dip: how far a sample is from having one mode.

/// The dip of a sorted sample: the largest distance of its distribution from the nearest one that
/// has a single mode (Hartigan and Hartigan, "The dip test of unimodality", Annals of Statistics
/// 13, 1985). It lies between 1/2n, for values in one heap, and 1/4, for two.
///
/// The nearest such distribution follows the greatest convex function below the steps up to some
/// interval, and the least concave one above them behind it. The interval is narrowed from the
/// whole sample, until the two functions are nowhere farther apart in it than the steps are from
/// them outside of it (Hartigan, "Computation of the dip statistic", Applied Statistics 34, 1985).
pub(super) fn dip(sorted: &[f64]) -> f64 {
    let heaps = heaps(sorted);
    let (mut from, mut to) = (0, heaps.len().saturating_sub(1));
    let mut distance = 1.0 / sorted.len() as f64;
    loop {
        let inner = &heaps[from..=to];
        let (convex, concave) = (convex(inner), concave(inner));
        let apart = |place: usize, at: f64| {
            let touching = (
                value(inner, &convex, at, false),
                value(inner, &concave, at, true),
            );
            (touching.1 - touching.0, place)
        };
        let corners = convex.iter().chain(&concave);
        let widest = corners.map(|place| apart(*place, inner[*place].value));
        let widest = widest.max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((width, place)) = widest.filter(|(width, _)| *width > distance) else {
            return distance / 2.0;
        };
        debug_assert!(width.is_finite());
        let low = convex
            .iter()
            .rev()
            .find(|corner| **corner <= place)
            .copied()
            .unwrap_or(0);
        let high = concave.iter().find(|corner| **corner >= place).copied();
        let high = high.unwrap_or(inner.len() - 1);
        let left = inner[..=low].iter();
        let left = left.map(|heap| heap.up_to - value(inner, &convex, heap.value, false));
        let right = inner[high..].iter();
        let right = right.map(|heap| value(inner, &concave, heap.value, true) - heap.below);
        distance = left.take(low).chain(right.skip(1)).fold(distance, f64::max);
        if (low, high) == (0, inner.len() - 1) {
            return distance / 2.0;
        }
        (from, to) = (from + low, from + high);
    }
}

/// Equal values: the shares of the sample below them, and up to them.
struct Heap {
    value: f64,
    below: f64,
    up_to: f64,
}

fn heaps(sorted: &[f64]) -> Vec<Heap> {
    let (mut before, all) = (0, sorted.len() as f64);
    let heap = |equal: &[f64]| {
        let below = before as f64 / all;
        before += equal.len();
        Heap {
            value: equal[0],
            below,
            up_to: before as f64 / all,
        }
    };
    sorted.chunk_by(|a, b| a == b).map(heap).collect()
}

/// The corners of the greatest convex function below the lower steps.
fn convex(heaps: &[Heap]) -> Vec<usize> {
    corners(heaps, |from, to| {
        (to.below - from.below) / (to.value - from.value)
    })
}

/// The corners of the least concave function above the upper steps.
fn concave(heaps: &[Heap]) -> Vec<usize> {
    corners(heaps, |from, to| {
        (from.up_to - to.up_to) / (to.value - from.value)
    })
}

/// The corners of the function whose `slope` rises from corner to corner.
fn corners(heaps: &[Heap], slope: impl Fn(&Heap, &Heap) -> f64) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for (place, heap) in heaps.iter().enumerate() {
        while let [.., before, last] = corners.as_slice() {
            if slope(&heaps[*before], &heaps[*last]) < slope(&heaps[*last], heap) {
                break;
            }
            corners.pop();
        }
        corners.push(place);
    }
    corners
}

/// The function with these corners at `at`, of upper steps or of lower ones.
fn value(heaps: &[Heap], corners: &[usize], at: f64, upper: bool) -> f64 {
    let height = |heap: &Heap| if upper { heap.up_to } else { heap.below };
    let next = corners.partition_point(|corner| heaps[*corner].value < at);
    let next = next.min(corners.len() - 1);
    let to = &heaps[corners[next]];
    if next == 0 || to.value <= at {
        return height(to);
    }
    let from = &heaps[corners[next - 1]];
    let share = (at - from.value) / (to.value - from.value);
    height(from) + share * (height(to) - height(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(sorted: &[f64], expected: f64) {
        let found = dip(sorted);
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn one_heap_has_the_least_dip_and_two_have_the_most() {
        near(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.1);
        near(&[1.0, 4.0, 5.0, 6.0, 9.0], 0.1);
        near(&[3.0; 7], 0.5 / 7.0);
        near(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], 0.25);
        let two: Vec<f64> = (0..20)
            .map(|i| f64::from(i / 10) + 1e-9 * f64::from(i))
            .collect();
        assert!((dip(&two) - 0.25).abs() < 0.026, "{}", dip(&two));
    }

    #[test]
    fn the_dip_is_the_least_distance_from_any_distribution_with_one_mode() {
        near(&[0.0, 1.0, 10.0, 11.0], 0.225);
        let mirrored = dip(&[-11.0, -10.0, -1.0, 0.0]);
        near(&[0.0, 1.0, 10.0, 11.0], mirrored);
    }

    #[test]
    fn scale_and_place_do_not_count() {
        let sample = [0.1, 0.4, 0.45, 0.9, 1.3, 1.35, 1.6];
        near(&sample.map(|v| 7.0 * v + 3.0), dip(&sample));
    }
}
