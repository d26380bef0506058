//! Ratios of scores over the points that both sides have.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{Better, Point};
use fslab_stats::{Interval, deviation_ratio, location, ratio};

use crate::Score;
use crate::evidence::{Evidence, Figure, Member, MissingReason, Place, Ranges, RepeatFigures};

/// A ratio of two scores; above 1, the first is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// Infinite where the first took no time and the second did, zero the other way round.
    pub(crate) value: f64,
    /// The 95 % interval; `None` for a single repeat of real time.
    pub(crate) interval: Option<Interval>,
    /// The number of places, each a phase and a point, that it is a mean over.
    pub(crate) places: usize,
}

impl Ratio {
    /// A ratio with an interval of width zero.
    pub(crate) fn certain(value: f64, places: usize) -> Self {
        Self {
            value,
            interval: Some(Interval {
                low: value,
                high: value,
            }),
            places,
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

/// The logarithm of a score; higher is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LogScore {
    Finite(f64),
    /// It took no time at all.
    Instant,
}

impl LogScore {
    /// `None` if the figure has no logarithm and is not instant.
    pub(crate) fn of(figure: Figure, better: Better) -> Option<Self> {
        if figure.instant || (better == Better::Lower && figure.value == 0.0) {
            return Some(Self::Instant);
        }
        let usable = figure.value.is_finite() && figure.value > 0.0;
        let sign = if better == Better::Lower { -1.0 } else { 1.0 };
        usable.then(|| Self::Finite(sign * figure.value.ln()))
    }
}

/// One side of a ratio: the scores at each place, one per repeat.
pub(crate) struct Side<K> {
    pub(crate) repeats: Vec<u32>,
    pub(crate) places: BTreeMap<K, Vec<LogScore>>,
}

impl<'a> Side<Place<'a>> {
    /// The scores at the places that all of `repeats` have.
    pub(crate) fn of(repeats: &[RepeatFigures<'a>], score: Score) -> Self {
        let mut places: BTreeMap<Place<'a>, Vec<LogScore>> = BTreeMap::new();
        for repeat in repeats {
            for (place, figure) in &repeat.figures {
                if let Some(log_score) = LogScore::of(*figure, score.better()) {
                    places.entry(*place).or_default().push(log_score);
                }
            }
        }
        places.retain(|_, log_scores| log_scores.len() == repeats.len());
        Self {
            repeats: repeats.iter().map(|repeat| repeat.repeat).collect(),
            places,
        }
    }

    /// One place, with the sum of all times.
    pub(crate) fn sum_of(repeats: &[RepeatFigures<'a>], score: Score) -> Self {
        let sum = |repeat: &RepeatFigures<'a>| {
            let value = repeat.figures.values().map(|figure| figure.value).sum();
            let instant = repeat.figures.values().all(|figure| figure.instant);
            LogScore::of(Figure { value, instant }, score.better())
        };
        let sums: Option<Vec<LogScore>> = repeats.iter().map(sum).collect();
        Self {
            repeats: repeats.iter().map(|repeat| repeat.repeat).collect(),
            places: sums.into_iter().map(|sums| (("", None), sums)).collect(),
        }
    }

    /// The same by point alone, for the places of one phase.
    pub(crate) fn by_point(self) -> Side<Option<&'a Point>> {
        Side {
            repeats: self.repeats,
            places: self
                .places
                .into_iter()
                .map(|((_, point), log_scores)| (point, log_scores))
                .collect(),
        }
    }
}

/// Two sides, reduced to the places at which they can be compared.
struct Matched {
    /// The mean of the logarithms of each side, one per repeat.
    means: [Vec<f64>; 2],
    places: usize,
    /// The number of places at which that side alone took no time.
    instant: [usize; 2],
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

fn matched<K: Ord + Clone + Grouped>(a: &Side<K>, b: &Side<K>) -> Result<Matched, MissingReason> {
    let mut instant = [0, 0];
    let mut finite: BTreeSet<&K> = BTreeSet::new();
    let mut both_instant = 0;
    for (place, of_a) in &a.places {
        let Some(of_b) = b.places.get(place) else {
            continue;
        };
        let all = |log_scores: &[LogScore]| {
            log_scores
                .iter()
                .all(|log_score| *log_score == LogScore::Instant)
        };
        let any = |log_scores: &[LogScore]| log_scores.contains(&LogScore::Instant);
        match (all(of_a), all(of_b)) {
            (true, true) => both_instant += 1,
            (true, false) if !any(of_b) => instant[0] += 1,
            (false, true) if !any(of_a) => instant[1] += 1,
            (false, false) if !any(of_a) && !any(of_b) => drop(finite.insert(place)),
            // No time in some repeats only: cannot be compared.
            _ => both_instant += 1,
        }
    }
    if finite.is_empty() && instant == [0, 0] {
        return Err(match both_instant {
            0 => "the two have no point in common".to_owned(),
            _ => "neither took device time, so neither has a rate".to_owned(),
        });
    }
    let mean = |side: &Side<K>, index: usize| {
        mean_of(
            finite
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
        means: [means(a), means(b)],
        places: finite.len() + instant[0] + instant[1],
        instant,
    })
}

/// The mean of the finite logarithms: over the points of each phase, then over phases.
pub(crate) fn mean_of<'p>(log_scores: impl Iterator<Item = (&'p str, LogScore)>) -> f64 {
    let mut groups: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (group, log_score) in log_scores {
        if let LogScore::Finite(log_score) = log_score {
            let group = groups.entry(group).or_default();
            *group = (group.0 + log_score, group.1 + 1.0);
        }
    }
    let count = groups.len().max(1) as f64;
    groups.values().map(|(sum, count)| sum / count).sum::<f64>() / count
}

impl Matched {
    /// The ratio if one side took no time; `None` if both took some.
    fn infinite(&self) -> Result<Option<Ratio>, MissingReason> {
        match self.instant {
            [0, 0] => Ok(None),
            [_, 0] => Ok(Some(Ratio::certain(f64::INFINITY, self.places))),
            [0, _] => Ok(Some(Ratio::certain(0.0, self.places))),
            _ => Err("each took no time at points where the other took some".to_owned()),
        }
    }
}

/// The ratio of two independent sides.
pub(crate) fn independent<K: Ord + Clone + Grouped>(
    a: &Side<K>,
    b: &Side<K>,
    exact: bool,
) -> Result<Ratio, MissingReason> {
    let matched = matched(a, b)?;
    if let Some(ratio) = matched.infinite()? {
        return Ok(ratio);
    }
    let [a, b] = &matched.means;
    if let (true, [a], [b]) = (exact, &a[..], &b[..]) {
        return Ok(Ratio::certain((a - b).exp(), matched.places));
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
        places: matched.places,
    })
}

/// The ratio of two sides of the same trials, by repeat, so that effects common to a trial cancel;
/// and its logarithm in each repeat.
pub(crate) fn paired<K: Ord + Clone + Grouped>(
    a: &Side<K>,
    b: &Side<K>,
    exact: bool,
) -> Result<(Ratio, Vec<(u32, f64)>), MissingReason> {
    let matched = matched(a, b)?;
    if let Some(ratio) = matched.infinite()? {
        return Ok((ratio, Vec::new()));
    }
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
    Ok((of_logs(&logs, exact, matched.places)?, logs))
}

/// A ratio from its logarithm in each repeat.
pub(crate) fn of_logs(
    logs: &[(u32, f64)],
    exact: bool,
    places: usize,
) -> Result<Ratio, MissingReason> {
    if let (true, [(_, log)]) = (exact, logs) {
        return Ok(Ratio::certain(log.exp(), places));
    }
    let ratios: Vec<f64> = logs.iter().map(|(_, log)| log.exp()).collect();
    let estimate = location(&ratios).ok_or("the two have no repeat in common")?;
    Ok(Ratio {
        value: estimate.value,
        interval: estimate.interval,
        places,
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
            Score::Deviation(_) | Score::RelativeDeviation(_) => {
                let (of_a, of_b) = (self.sample(a, selection)?, self.sample(b, selection)?);
                deviations(&of_a, &of_b, (selection.score, self.resolution))
            }
            Score::FailedPercent => {
                let (of_a, of_b) = (self.failed(a, selection)?, self.failed(b, selection)?);
                let share = |(failed, all): (usize, usize)| failed as f64 / all as f64;
                failures(share(of_a), share(of_b), self.exact)
            }
            _ => independent(
                &self.side(a, selection)?,
                &self.side(b, selection)?,
                self.exact,
            )
            .map(|ratio| ratio.widened(self.resolution)),
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
                "in virtual time without perturbation, repeats differ by their data alone"
                    .to_owned(),
            );
        }
        let repeats = self.figures(member, phases, ranges, score)?;
        if repeats.iter().any(|repeat| repeat.figures.len() != 1) {
            return Err("a deviation is of one phase at one point".to_owned());
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
        return Err("neither varies by as much as 0.1 %".to_owned());
    }
    match (sd_a > 0.0, sd_b > 0.0) {
        (false, false) => Err("neither varies".to_owned()),
        (false, true) => Ok(Ratio::certain(f64::INFINITY, 1)),
        (true, false) => Ok(Ratio::certain(0.0, 1)),
        (true, true) => {
            let estimate = deviation_ratio(b, a).ok_or("the ratio is not a number")?;
            let units = unit_a / unit_b;
            Ok(Ratio {
                value: estimate.value * units,
                interval: estimate.interval.map(|interval| Interval {
                    low: interval.low * units,
                    high: interval.high * units,
                }),
                places: 1,
            })
        }
    }
}

fn failures(a: f64, b: f64, exact: bool) -> Result<Ratio, MissingReason> {
    if a == 0.0 && b == 0.0 {
        return Err("neither failed".to_owned());
    }
    let value = b / a;
    Ok(if exact {
        Ratio::certain(value, 1)
    } else {
        Ratio {
            value,
            interval: None,
            places: 1,
        }
    })
}
