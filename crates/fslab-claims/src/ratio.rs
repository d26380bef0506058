//! Ratios of scores over the points that both sides have.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Better, Point};
use fslab_stats::{Interval, deviation_ratio, location, ratio};

use crate::Score;
use crate::evidence::{Evidence, Figure, Member, Place, Ranges, RepeatFigures};
use crate::missing::MissingReason;

/// A ratio of two scores; above 1, the first is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    /// The 95 % interval; `None` for a single repeat of real time.
    pub(crate) interval: Option<Interval>,
    /// The places that it is a mean over.
    pub(crate) coverage: Coverage,
}

/// The places, each a phase and a point, that a figure is a mean over. In virtual time a phase may
/// take no measurable time and has no rate: such a place is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Places at which all sides took a measurable time.
    pub(crate) timed: usize,
    /// Places at which a side took none.
    pub(crate) untimed: usize,
}

impl Coverage {
    pub(crate) const ONE: Self = Self {
        timed: 1,
        untimed: 0,
    };

    /// An error if fewer than half of the places count.
    pub(crate) fn ensure_half(self) -> Result<Self, MissingReason> {
        let Self { timed, untimed } = self;
        match (timed, timed + untimed) {
            (0, 0) => Err("the two have no point in common".into()),
            (0, 1) => Err("no measurable time passed, so there is no rate".into()),
            (timed, all) if timed * 2 < all => Err(format!(
                "measurable time passed at {timed} of {all} points, and half of them are needed"
            )
            .into()),
            _ => Ok(self),
        }
    }

    /// The one that covers the smaller share of its places.
    pub(crate) fn least(self, other: Self) -> Self {
        let is_less =
            self.timed * (other.timed + other.untimed) <= other.timed * (self.timed + self.untimed);
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

/// A score, or that there is none because no measurable time passed.
enum Scored {
    /// Its logarithm; higher is better.
    Timed(f64),
    Untimed,
}

impl Scored {
    /// `None` if the figure has no logarithm although time passed.
    fn of(figure: Figure, better: Better) -> Option<Self> {
        if figure.untimed || (better == Better::Lower && figure.value == 0.0) {
            return Some(Self::Untimed);
        }
        let usable = figure.value.is_finite() && figure.value > 0.0;
        let sign = if better == Better::Lower { -1.0 } else { 1.0 };
        usable.then(|| Self::Timed(sign * figure.value.ln()))
    }
}

/// One side of a ratio.
pub(crate) struct Side<K> {
    pub(crate) repeats: Vec<u32>,
    /// The logarithm of the score of each repeat, higher being better, at the places where each
    /// took a measurable time.
    pub(crate) places: BTreeMap<K, Vec<f64>>,
    /// The places where a repeat took none.
    pub(crate) untimed: BTreeSet<K>,
}

impl<K: Ord> Side<K> {
    /// The numbers of its places.
    pub(crate) fn coverage(&self) -> Coverage {
        Coverage {
            timed: self.places.len(),
            untimed: self.untimed.len(),
        }
    }

    /// Whether it has the place, with or without a measurable time.
    fn has(&self, place: &K) -> bool {
        self.places.contains_key(place) || self.untimed.contains(place)
    }
}

impl<'a> Side<Place<'a>> {
    /// The scores at the places that all of `repeats` have.
    pub(crate) fn of(repeats: &[RepeatFigures<'a>], score: Score) -> Self {
        let mut places: BTreeMap<Place<'a>, Vec<f64>> = BTreeMap::new();
        let mut untimed = BTreeSet::new();
        for repeat in repeats {
            for (place, figure) in &repeat.figures {
                match Scored::of(*figure, score.better()) {
                    Some(Scored::Timed(log)) => places.entry(*place).or_default().push(log),
                    Some(Scored::Untimed) => drop(untimed.insert(*place)),
                    None => {}
                }
            }
        }
        places.retain(|place, logs| logs.len() == repeats.len() && !untimed.contains(place));
        Self {
            repeats: repeats.iter().map(|repeat| repeat.repeat).collect(),
            places,
            untimed,
        }
    }

    /// One place, with the sum of all times.
    pub(crate) fn sum_of(repeats: &[RepeatFigures<'a>], score: Score) -> Self {
        let sum = |repeat: &RepeatFigures<'a>| {
            let value = repeat.figures.values().map(|figure| figure.value).sum();
            let untimed = repeat.figures.values().all(|figure| figure.untimed);
            RepeatFigures {
                repeat: repeat.repeat,
                figures: BTreeMap::from([(("", None), Figure { value, untimed })]),
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
            untimed: self.untimed.into_iter().map(|(_, point)| point).collect(),
        }
    }
}

/// Two sides, reduced to the places at which they can be compared.
struct Matched {
    /// The mean of the logarithms of each side, one per repeat.
    means: [Vec<f64>; 2],
    coverage: Coverage,
}

/// The phase of a place: means are taken over the points of each phase, then over phases.
pub(crate) trait Grouped {
    fn group(&self) -> &str;
}

impl Grouped for Place<'_> {
    fn group(&self) -> &str {
        self.0
    }
}

impl Grouped for Option<&Point> {
    fn group(&self) -> &str {
        ""
    }
}

/// The places at which all sides took a measurable time; an error if they are fewer than half of
/// those that all have.
pub(crate) fn common_places<'s, K: Ord>(
    sides: &[&'s Side<K>],
) -> Result<(Vec<&'s K>, Coverage), MissingReason> {
    let first = sides.first().into_iter();
    let all = first.flat_map(|side| side.places.keys().chain(&side.untimed));
    let (timed, untimed): (Vec<&K>, Vec<&K>) = all
        .filter(|place| sides.iter().all(|side| side.has(place)))
        .partition(|place| sides.iter().all(|side| side.places.contains_key(place)));
    let coverage = Coverage {
        timed: timed.len(),
        untimed: untimed.len(),
    };
    Ok((timed, coverage.ensure_half()?))
}

fn matched<K: Ord + Grouped>(a: &Side<K>, b: &Side<K>) -> Result<Matched, MissingReason> {
    let (timed, coverage) = common_places(&[a, b])?;
    let mean = |side: &Side<K>, index: usize| {
        mean_of(
            timed
                .iter()
                .map(|place| (place.group(), side.places[*place][index])),
        )
    };
    let means = |side: &Side<K>| {
        (0..side.repeats.len())
            .map(|index| mean(side, index))
            .collect()
    };
    Ok(Matched {
        coverage,
        means: [means(a), means(b)],
    })
}

/// The mean of logarithms: over the points of each phase, then over phases.
pub(crate) fn mean_of<'p>(logs: impl Iterator<Item = (&'p str, f64)>) -> f64 {
    let mut groups: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
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
    let [a, b] = &matched.means;
    if let (true, [a], [b]) = (exact, &a[..], &b[..]) {
        return Ok(Ratio::certain((a - b).exp(), matched.coverage));
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
    let estimate = ratio(&plain(a), &plain(b)).ok_or("the ratio is not a number")?;
    Ok(Ratio {
        value: estimate.value,
        interval: estimate.interval,
        coverage: matched.coverage,
    })
}

/// The ratio of two sides of the same trials, by repeat, so that effects common to a trial cancel;
/// and its logarithm in each repeat.
pub(crate) fn paired<K: Ord + Grouped>(
    a: &Side<K>,
    b: &Side<K>,
    exact: bool,
) -> Result<(Ratio, Vec<(u32, f64)>), MissingReason> {
    let matched = matched(a, b)?;
    let of_b: BTreeMap<u32, f64> = b
        .repeats
        .iter()
        .copied()
        .zip(matched.means[1].clone())
        .collect();
    let of_a = a.repeats.iter().zip(&matched.means[0]);
    let logs: Vec<(u32, f64)> = of_a
        .filter_map(|(repeat, mean)| Some((*repeat, mean - of_b.get(repeat)?)))
        .collect();
    Ok((of_logs(&logs, exact, matched.coverage)?, logs))
}

/// A ratio from its logarithm in each repeat.
pub(crate) fn of_logs(
    logs: &[(u32, f64)],
    exact: bool,
    coverage: Coverage,
) -> Result<Ratio, MissingReason> {
    if let (true, [(_, log)]) = (exact, logs) {
        return Ok(Ratio::certain(log.exp(), coverage));
    }
    let ratios: Vec<f64> = logs.iter().map(|(_, log)| log.exp()).collect();
    let estimate = location(&ratios).ok_or("the two have no repeat in common")?;
    Ok(Ratio {
        value: estimate.value,
        interval: estimate.interval,
        coverage,
    })
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
        }
    })
}
