//! What an answer hangs on: the phases without which it turns, and the weights of the phases under
//! which it holds.

use fslab_stats::{Estimate, TurningWeight, Verdict, first_shares, turning_weights};

use crate::analysis::WeightedMeans;
use crate::{Analysis, Ground, GroundFigure, TOLERANCE};

/// Seed of the random weights, so that an answer is the same each time.
const WEIGHT_SEED: u64 = 1;

/// The speed of the chosen subject relative to another candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lead {
    /// The other subject.
    pub over: usize,
    /// The speed: above 1, the chosen one is better.
    pub speed: Estimate,
}

/// What an answer hangs on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependence {
    /// The subjects that are first under some weights of the phases, each with the share of all
    /// weightings, from 0 to 1, the largest first. Empty for a single phase.
    pub first: Vec<(usize, f64)>,
    /// The phases without which another subject is first, the one with the largest lead first.
    pub turns: Vec<Turn>,
    /// The weight nearest to its own at which each phase changes who is first, the nearest first.
    pub thresholds: Vec<Threshold>,
}

/// A phase without which another subject is first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Its index in the run.
    pub phase: usize,
    /// The subject that is first without it.
    pub then: usize,
    /// The lead of that subject over the one that is first with it.
    pub lead: Lead,
}

/// A weight of a phase at which another subject becomes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its index in the run.
    pub phase: usize,
    /// Its weight in the answer, as a share of all; of times its share of the time of the mean
    /// subject.
    pub own: f64,
    /// The share at which the first place changes.
    pub at: f64,
    /// The subject that is first beyond it.
    pub then: usize,
}

impl Dependence {
    /// Of the first place of `means` over `grounds` among `candidates`.
    pub(super) fn of(
        analysis: &Analysis,
        grounds: &[Ground],
        candidates: &[usize],
        means: &WeightedMeans,
        is_virtual: bool,
    ) -> Self {
        let used: Vec<&Ground> = means.places.iter().map(|place| &grounds[*place]).collect();
        let Some(best) = means.comparison.best.filter(|_| used.len() > 1) else {
            return Self::default();
        };
        let Some(table) = Utilities::of(&used, candidates) else {
            return Self::default();
        };
        let mut turns: Vec<Turn> = (0..used.len())
            .filter(|left_out| table.is_other_without(*left_out, best))
            .filter_map(|left_out| {
                let others = used
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| *place != left_out);
                let rest: Vec<Ground> = others.map(|(_, ground)| (*ground).clone()).collect();
                let found = turn(analysis, &rest, candidates, best, used[left_out].phase)?;
                // Of a model, a lead within the tolerance is none.
                let matters = !is_virtual || found.lead.speed.value > 1.0 + TOLERANCE;
                matters.then_some(found)
            })
            .collect();
        turns.sort_by(|a, b| b.lead.speed.value.total_cmp(&a.lead.speed.value));
        Self {
            first: table.first(),
            thresholds: table.thresholds(&used),
            turns,
        }
    }
}

/// The first place without the phase `left_out`, if `best` loses it by more than the tolerance or
/// with certainty.
fn turn(
    analysis: &Analysis,
    rest: &[Ground],
    candidates: &[usize],
    best: usize,
    left_out: usize,
) -> Option<Turn> {
    let means = WeightedMeans::of(&analysis.phases, rest, candidates)?;
    let then = means.comparison.best.filter(|then| *then != best)?;
    let speed = means.comparison.speed(then, best)?;
    let is_certain = means.comparison.verdict(best, then) == Verdict::Slower;
    (is_certain || speed.value > 1.0 + TOLERANCE).then_some(Turn {
        phase: left_out,
        then,
        lead: Lead { over: best, speed },
    })
}

/// The candidates by phase, linear in the weights: logarithms of speeds, or times as shares of the
/// mean subject's, negative since less is better.
struct Utilities {
    candidates: Vec<usize>,
    rows: Vec<Vec<f64>>,
    /// By phase, of any sum.
    weights: Vec<f64>,
}

impl Utilities {
    /// `None` if a candidate lacks a phase.
    fn of(grounds: &[&Ground], candidates: &[usize]) -> Option<Self> {
        let mut table = Self {
            candidates: candidates.to_vec(),
            rows: vec![Vec::new(); candidates.len()],
            weights: Vec::new(),
        };
        for ground in grounds {
            let comparison = &ground.comparison;
            let mean = |subject: &usize| comparison.entries.get(*subject)?.mean();
            let means: Option<Vec<f64>> = candidates.iter().map(mean).collect();
            let logs: Vec<f64> = means?.iter().map(|mean| mean.ln()).collect();
            let middle = logs.iter().sum::<f64>() / logs.len() as f64;
            let is_sum = ground.figure == GroundFigure::Time;
            let is_rate = comparison.metric.better == fslab_model::Better::Higher;
            for (row, log) in table.rows.iter_mut().zip(&logs) {
                row.push(match (is_sum, is_rate) {
                    (true, _) => -(log - middle).exp(),
                    (false, true) => log - middle,
                    (false, false) => middle - log,
                });
            }
            let share = if is_sum { middle.exp() } else { 1.0 };
            table.weights.push(ground.weight * share);
        }
        table
            .rows
            .iter()
            .flatten()
            .all(|it| it.is_finite())
            .then_some(table)
    }

    /// True if another candidate has the best value without this phase.
    fn is_other_without(&self, left_out: usize, best: usize) -> bool {
        let value = |row: &Vec<f64>| -> f64 {
            let parts = row.iter().zip(&self.weights).enumerate();
            let kept = parts.filter(|(place, _)| *place != left_out);
            kept.map(|(_, (utility, weight))| utility * weight).sum()
        };
        let own = self.candidates.iter().position(|it| *it == best);
        let Some(own) = own.map(|place| value(&self.rows[place])) else {
            return false;
        };
        self.rows.iter().any(|row| value(row) > own)
    }

    fn first(&self) -> Vec<(usize, f64)> {
        let shares = first_shares(&self.rows, WEIGHT_SEED);
        let named = self.candidates.iter().copied().zip(shares);
        let mut first: Vec<(usize, f64)> = named.filter(|(_, share)| *share > 0.0).collect();
        first.sort_by(|a, b| b.1.total_cmp(&a.1));
        first
    }

    fn thresholds(&self, grounds: &[&Ground]) -> Vec<Threshold> {
        let sum: f64 = self.weights.iter().sum();
        let of = |(place, ground): (usize, &&Ground)| {
            let own = self.weights[place] / sum;
            let turning = turning_weights(&self.rows, &self.weights, place).into_iter();
            let distance = |turning: &TurningWeight| (turning.weight - own).abs();
            let nearest = turning.flatten();
            let nearest = nearest.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
            Some(Threshold {
                phase: ground.phase,
                own,
                at: nearest.weight,
                then: self.candidates[nearest.then],
            })
        };
        let mut found: Vec<Threshold> = grounds.iter().enumerate().filter_map(of).collect();
        found.sort_by(|a, b| (a.at - a.own).abs().total_cmp(&(b.at - b.own).abs()));
        found
    }
}
