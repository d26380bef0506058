//! Ratios of scores over the points that both sides have.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Better, Point};
use fslab_stats::{Estimate, Interval, deviation_ratio, location, ratio};

use crate::Score;
use crate::along_sweep::PointRatio;
use crate::evidence::{Evidence, Figure, Member, Place, Ranges, RepeatFigures};
use crate::missing::MissingReason;

/// A ratio of two scores; above 1, the first is better.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    /// The 95 % interval; `None` for a single repeat of real time.
    pub(crate) interval: Option<Interval>,
    /// The places that it is a mean over.
    pub(crate) coverage: Coverage,
    /// The ratio at each point of a sweep that it is a mean over.
    pub(crate) points: Vec<PointRatio>,
}

/// The places, each a phase and a point, that a figure is a mean over. In virtual time a point at
/// which the disk did less than half of the work is left out: its figure is not one of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Places that count on all sides.
    pub(crate) counted: usize,
    /// Places that a side leaves out.
    pub(crate) left_out: usize,
}

impl Coverage {
    pub(crate) const ONE: Self = Self {
        counted: 1,
        left_out: 0,
    };

    /// An error if fewer than half of the places count.
    pub(crate) fn ensure_half(self) -> Result<Self, MissingReason> {
        let Self { counted, left_out } = self;
        match (counted, counted + left_out) {
            (0, 0) => Err("the two have no point in common".into()),
            (0, 1) => {
                Err("the disk did less than half of the work, so there is no rate of it".into())
            }
            (counted, all) if counted * 2 < all => Err(format!(
                "the disk did at least half of the work at {counted} of {all} points, and half of \
                 the points are needed"
            )
            .into()),
            _ => Ok(self),
        }
    }

    /// The one that covers the smaller share of its places.
    pub(crate) fn least(self, other: Self) -> Self {
        let is_less = self.counted * (other.counted + other.left_out)
            <= other.counted * (self.counted + self.left_out);
        if is_less { self } else { other }
    }
}

impl Ratio {
    /// A ratio with an interval of width zero.
    pub(crate) fn certain(value: f64, coverage: Coverage) -> Self {
        Self {
            value,
            interval: Some(Interval {
                low: value,
                high: value,
            }),
            coverage,
            points: Vec::new(),
        }
    }

    /// The same with an interval widened by `resolution`, a share of the value.
    pub(crate) fn widened(mut self, resolution: f64) -> Self {
        let factor = 1.0 + resolution;
        self.interval = self.interval.map(|interval| Interval {
            low: interval.low / factor,
            high: interval.high * factor,
        });
        self
    }
}

/// A score, or that there is none because the disk did not decide it.
enum Scored {
    /// Its logarithm; higher is better.
    Counted(f64),
    LeftOut,
}

impl Scored {
    /// `None` if the figure has no logarithm although time passed.
    fn of(figure: Figure, better: Better) -> Option<Self> {
        if figure.left_out || (better == Better::Lower && figure.value == 0.0) {
            return Some(Self::LeftOut);
        }
        let usable = figure.value.is_finite() && figure.value > 0.0;
        let sign = if better == Better::Lower { -1.0 } else { 1.0 };
        usable.then(|| Self::Counted(sign * figure.value.ln()))
    }
}

/// One side of a ratio.
pub(crate) struct Side<K> {
    pub(crate) repeats: Vec<u32>,
    /// The logarithm of the score of each repeat, higher being better, at the places that count.
    pub(crate) places: BTreeMap<K, Vec<f64>>,
    /// The places that a repeat leaves out.
    pub(crate) left_out: BTreeSet<K>,
}

impl<K: Ord> Side<K> {
    /// The numbers of its places.
    pub(crate) fn coverage(&self) -> Coverage {
        Coverage {
            counted: self.places.len(),
            left_out: self.left_out.len(),
        }
    }

    /// Whether it has the place, whether or not it counts.
    fn has(&self, place: &K) -> bool {
        self.places.contains_key(place) || self.left_out.contains(place)
    }
}

impl<'a> Side<Place<'a>> {
    /// The scores at the places that all of `repeats` have.
    pub(crate) fn of(repeats: &[RepeatFigures<'a>], score: Score) -> Self {
        let mut places: BTreeMap<Place<'a>, Vec<f64>> = BTreeMap::new();
        let mut left_out = BTreeSet::new();
        for repeat in repeats {
            for (place, figure) in &repeat.figures {
                match Scored::of(*figure, score.better()) {
                    Some(Scored::Counted(log)) => places.entry(*place).or_default().push(log),
                    Some(Scored::LeftOut) => drop(left_out.insert(*place)),
                    None => {}
                }
            }
        }
        places.retain(|place, logs| logs.len() == repeats.len() && !left_out.contains(place));
        Self {
            repeats: repeats.iter().map(|repeat| repeat.repeat).collect(),
            places,
            left_out,
        }
    }

    /// One place, with the sum of all times.
    pub(crate) fn sum_of(repeats: &[RepeatFigures<'a>], score: Score) -> Self {
        let sum = |repeat: &RepeatFigures<'a>| {
            let value = repeat.figures.values().map(|figure| figure.value).sum();
            let left_out = repeat.figures.values().all(|figure| figure.left_out);
            RepeatFigures {
                repeat: repeat.repeat,
                figures: BTreeMap::from([(("", None), Figure { value, left_out })]),
            }
        };
        let sums: Vec<RepeatFigures<'a>> = repeats.iter().map(sum).collect();
        Self::of(&sums, score)
    }

    /// The same by point alone, for the places of one phase.
    pub(crate) fn by_point(self) -> Side<Option<&'a Point>> {
        Side {
            repeats: self.repeats,
            places: self
                .places
                .into_iter()
                .map(|((_, point), logs)| (point, logs))
                .collect(),
            left_out: self.left_out.into_iter().map(|(_, point)| point).collect(),
        }
    }
}

/// Two sides, reduced to the places at which they can be compared.
struct Matched {
    /// The mean of the logarithms of each side, one per repeat.
    means: [Vec<f64>; 2],
    coverage: Coverage,
    /// The same at each point of a sweep.
    points: Vec<(Point, [Vec<f64>; 2])>,
}

/// The phase and the point of a place: means are taken over the points of each phase, then over
/// phases.
pub(crate) trait Grouped {
    fn group(&self) -> &str;
    fn point(&self) -> Option<&Point>;
}

impl Grouped for Place<'_> {
    fn group(&self) -> &str {
        self.0
    }

    fn point(&self) -> Option<&Point> {
        self.1
    }
}

impl Grouped for Option<&Point> {
    fn group(&self) -> &str {
        ""
    }

    fn point(&self) -> Option<&Point> {
        *self
    }
}

/// The places that count on all sides; an error if they are fewer than half of those that all have.
pub(crate) fn common_places<'s, K: Ord>(
    sides: &[&'s Side<K>],
) -> Result<(Vec<&'s K>, Coverage), MissingReason> {
    let first = sides.first().into_iter();
    let all = first.flat_map(|side| side.places.keys().chain(&side.left_out));
    let (counted, left_out): (Vec<&K>, Vec<&K>) = all
        .filter(|place| sides.iter().all(|side| side.has(place)))
        .partition(|place| sides.iter().all(|side| side.places.contains_key(place)));
    let coverage = Coverage {
        counted: counted.len(),
        left_out: left_out.len(),
    };
    Ok((counted, coverage.ensure_half()?))
}

fn matched<K: Ord + Grouped>(a: &Side<K>, b: &Side<K>) -> Result<Matched, MissingReason> {
    let (counted, coverage) = common_places(&[a, b])?;
    let means = |side: &Side<K>, places: &[&K]| -> Vec<f64> {
        let log = |place: &&K, index: usize| (place.group().to_owned(), side.places[*place][index]);
        let mean = |index| mean_of(places.iter().map(|place| log(place, index)));
        (0..side.repeats.len()).map(mean).collect()
    };
    let mut by_point: BTreeMap<&Point, Vec<&K>> = BTreeMap::new();
    for place in &counted {
        if let Some(point) = place.point() {
            by_point.entry(point).or_default().push(place);
        }
    }
    let points = by_point.into_iter();
    let points = points.map(|(point, at)| (point.clone(), [means(a, &at), means(b, &at)]));
    Ok(Matched {
        coverage,
        points: points.collect(),
        means: [means(a, &counted), means(b, &counted)],
    })
}

/// The mean of logarithms: over the points of each phase, then over phases.
pub(crate) fn mean_of<G: Ord>(logs: impl Iterator<Item = (G, f64)>) -> f64 {
    let mut groups: BTreeMap<G, (f64, f64)> = BTreeMap::new();
    for (group, log) in logs {
        let group = groups.entry(group).or_default();
        *group = (group.0 + log, group.1 + 1.0);
    }
    let count = groups.len().max(1) as f64;
    groups.values().map(|(sum, count)| sum / count).sum::<f64>() / count
}

/// The ratio of two independent sides.
pub(crate) fn independent<K: Ord + Grouped>(
    a: &Side<K>,
    b: &Side<K>,
    exact: bool,
) -> Result<Ratio, MissingReason> {
    let matched = matched(a, b)?;
    let points = matched.points.into_iter().filter_map(|(point, means)| {
        let ratio = independent_means(&means, exact)?;
        Some(PointRatio::new(point, ratio))
    });
    let ratio = independent_means(&matched.means, exact).ok_or("the ratio is not a number")?;
    Ok(Ratio {
        value: ratio.value,
        interval: ratio.interval,
        coverage: matched.coverage,
        points: points.collect(),
    })
}

/// The ratio of two samples of logarithms.
fn independent_means([a, b]: &[Vec<f64>; 2], exact: bool) -> Option<Estimate> {
    if let (true, [a], [b]) = (exact, &a[..], &b[..]) {
        return Some(certain((a - b).exp()));
    }
    // This unit keeps the powers in the range of f64. Both sides have the same one, so that the
    // inverse ratio is the inverse to the last digit.
    let first = |means: &[f64]| means.first().copied().unwrap_or_default();
    let unit = first(a).max(first(b));
    let plain = |means: &[f64]| {
        means
            .iter()
            .map(|mean| (mean - unit).exp())
            .collect::<Vec<_>>()
    };
    ratio(&plain(a), &plain(b))
}

/// An estimate with an interval of width zero.
fn certain(value: f64) -> Estimate {
    Estimate {
        value,
        interval: Some(Interval {
            low: value,
            high: value,
        }),
    }
}

/// The ratio of two sides of the same trials, by repeat, so that effects common to a trial cancel;
/// and its logarithm in each repeat.
pub(crate) fn paired<K: Ord + Grouped>(
    a: &Side<K>,
    b: &Side<K>,
    exact: bool,
) -> Result<(Ratio, Vec<(u32, f64)>), MissingReason> {
    let matched = matched(a, b)?;
    let logs_of = |[of_a, of_b]: &[Vec<f64>; 2]| -> Vec<(u32, f64)> {
        let of_b: BTreeMap<u32, f64> = b.repeats.iter().copied().zip(of_b.clone()).collect();
        let of_a = a.repeats.iter().zip(of_a);
        let log = |(repeat, mean): (&u32, &f64)| Some((*repeat, mean - of_b.get(repeat)?));
        of_a.filter_map(log).collect()
    };
    let logs = logs_of(&matched.means);
    let mut ratio = of_logs(&logs, exact, matched.coverage)?;
    let points = matched.points.into_iter().filter_map(|(point, means)| {
        let estimate = estimate_of_logs(&logs_of(&means), exact)?;
        Some(PointRatio::new(point, estimate))
    });
    ratio.points = points.collect();
    Ok((ratio, logs))
}

/// A ratio from its logarithm in each repeat.
pub(crate) fn of_logs(
    logs: &[(u32, f64)],
    exact: bool,
    coverage: Coverage,
) -> Result<Ratio, MissingReason> {
    let estimate = estimate_of_logs(logs, exact).ok_or("the two have no repeat in common")?;
    Ok(Ratio {
        value: estimate.value,
        interval: estimate.interval,
        coverage,
        points: Vec::new(),
    })
}

fn estimate_of_logs(logs: &[(u32, f64)], exact: bool) -> Option<Estimate> {
    if let (true, [(_, log)]) = (exact, logs) {
        return Some(certain(log.exp()));
    }
    let ratios: Vec<f64> = logs.iter().map(|(_, log)| log.exp()).collect();
    location(&ratios)
}

/// The phases, points and figure that are compared.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) phases: &'a [String],
    pub(crate) ranges: &'a Ranges,
    pub(crate) score: Score,
}

impl<'r> Evidence<'r> {
    /// The scores of a subject at each place.
    pub(crate) fn side(
        &self,
        member: &Member,
        selection: Selection<'_>,
    ) -> Result<Side<Place<'r>>, MissingReason> {
        let Selection {
            phases,
            ranges,
            score,
        } = selection;
        let repeats = self.figures(member, phases, ranges, score)?;
        Ok(match score {
            Score::Sum(_) => Side::sum_of(&repeats, score),
            _ => Side::of(&repeats, score),
        })
    }

    /// The ratio of the scores of `a` and `b`.
    pub(crate) fn compare(
        &self,
        a: &Member,
        b: &Member,
        selection: Selection<'_>,
    ) -> Result<Ratio, MissingReason> {
        match selection.score {
            score if !self.is_over_repeats(score) => independent(
                &self.side(a, selection)?,
                &self.side(b, selection)?,
                self.exact,
            )
            .map(|ratio| ratio.widened(self.resolution)),
            Score::FailedPercent => {
                let (of_a, of_b) = (self.failed(a, selection)?, self.failed(b, selection)?);
                let share = |(failed, all): (usize, usize)| failed as f64 / all as f64;
                failures(share(of_a), share(of_b), self.exact)
            }
            _ => {
                let (of_a, of_b) = (self.sample(a, selection)?, self.sample(b, selection)?);
                deviations(&of_a, &of_b, (selection.score, self.resolution))
            }
        }
    }

    /// The figures of a subject's single phase and point, one per repeat, for deviations.
    pub(crate) fn sample(
        &self,
        member: &Member,
        selection: Selection<'_>,
    ) -> Result<Vec<f64>, MissingReason> {
        let Selection {
            phases,
            ranges,
            score,
        } = selection;
        let plan = &self.run.header.plan;
        if plan.venue.kind().is_virtual() && !plan.perturb {
            return Err(
                "in virtual time without perturbation, repeats differ by their data alone".into(),
            );
        }
        let repeats = self.figures(member, phases, ranges, score)?;
        if repeats.iter().any(|repeat| repeat.figures.len() != 1) {
            return Err("a deviation is of one phase at one point".into());
        }
        let figures = repeats.iter().flat_map(|repeat| repeat.figures.values());
        Ok(figures.map(|figure| figure.value).collect())
    }
}

/// The ratio of two deviations, of which the smaller is the better; an error if both are below
/// `resolution`, a share of the mean.
fn deviations(
    a: &[f64],
    b: &[f64],
    (score, resolution): (Score, f64),
) -> Result<Ratio, MissingReason> {
    let spread = |sample: &[f64]| {
        let summary = fslab_stats::Summary::of(sample).filter(|summary| summary.sd.is_some());
        let summary = summary.ok_or("a deviation needs two repeats")?;
        let relative = matches!(score, Score::RelativeDeviation(_));
        let unit = if relative { summary.mean } else { 1.0 };
        let sd = summary.sd.unwrap_or_default();
        Ok::<_, MissingReason>((sd, unit, sd < resolution * summary.mean.abs()))
    };
    let ((sd_a, unit_a, a_is_constant), (sd_b, unit_b, b_is_constant)) = (spread(a)?, spread(b)?);
    if a_is_constant && b_is_constant {
        return Err("neither varies by as much as 0.1 %".into());
    }
    match (sd_a > 0.0, sd_b > 0.0) {
        (false, false) => Err("neither varies".into()),
        (false, true) => Ok(Ratio::certain(f64::INFINITY, Coverage::ONE)),
        (true, false) => Ok(Ratio::certain(0.0, Coverage::ONE)),
        (true, true) => {
            let estimate = deviation_ratio(b, a).ok_or("the ratio is not a number")?;
            let units = unit_a / unit_b;
            Ok(Ratio {
                value: estimate.value * units,
                interval: estimate.interval.map(|interval| Interval {
                    low: interval.low * units,
                    high: interval.high * units,
                }),
                coverage: Coverage::ONE,
                points: Vec::new(),
            })
        }
    }
}

fn failures(a: f64, b: f64, exact: bool) -> Result<Ratio, MissingReason> {
    if a == 0.0 && b == 0.0 {
        return Err("neither failed".into());
    }
    let value = b / a;
    Ok(if exact {
        Ratio::certain(value, Coverage::ONE)
    } else {
        Ratio {
            value,
            interval: None,
            coverage: Coverage::ONE,
            points: Vec::new(),
        }
    })
}
