//! Whether the differences between the cells of a run are decided, for repeats that go on until
//! they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use fslab_compare::TOLERANCE;
use fslab_stats::{is_decided, location};

/// The trials of all cells, and what they decide.
///
/// Each cell is compared with the best of a phase, see [`is_decided`]. The best is decided once all
/// others are.
pub(crate) struct Decisions<'t> {
    cells: Vec<Vec<&'t Trial>>,
    /// The number of comparisons with the best in all phases.
    comparisons: usize,
    /// By phase and number of repeats: the cells that are decided.
    known: RefCell<BTreeMap<(String, usize), BTreeSet<usize>>>,
}

impl<'t> Decisions<'t> {
    /// The trials of each cell, in the order of their repeats.
    pub(crate) fn new(cells: Vec<Vec<&'t Trial>>) -> Self {
        let phases: BTreeSet<&str> = cells.iter().flatten().flat_map(|it| it.phases()).collect();
        let comparisons = phases.len() * cells.len().saturating_sub(1);
        Self {
            cells,
            comparisons,
            known: RefCell::default(),
        }
    }

    /// Whether the difference of a cell from the best of `phase` was decided by the first `repeats`
    /// of all cells.
    pub(crate) fn is_decided(&self, phase: &str, cell: usize, repeats: usize) -> bool {
        let key = (phase.to_owned(), repeats);
        let mut known = self.known.borrow_mut();
        let decided = known
            .entry(key)
            .or_insert_with(|| self.decided(phase, repeats));
        decided.contains(&cell)
    }

    fn decided(&self, phase: &str, repeats: usize) -> BTreeSet<usize> {
        let samples = self.samples(phase, repeats);
        let mean = |sample: &[f64]| location(sample).map(|location| location.value);
        let means = samples.iter().enumerate();
        let means = means.filter_map(|(cell, sample)| Some((cell, mean(sample)?)));
        let Some((best, _)) = means.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return BTreeSet::new();
        };
        let is_apart =
            |cell: &usize| is_decided(&samples[*cell], &samples[best], self.comparisons, TOLERANCE);
        let has_values = |cell: &usize| *cell != best && !samples[*cell].is_empty();
        let others: Vec<usize> = (0..samples.len()).filter(has_values).collect();
        let mut decided: BTreeSet<usize> = others.iter().copied().filter(is_apart).collect();
        if !others.is_empty() && decided.len() == others.len() {
            decided.insert(best);
        }
        decided
    }

    /// The figures of each cell, over the points that all of these trials have.
    fn samples(&self, phase: &str, repeats: usize) -> Vec<Vec<f64>> {
        let first = |cell: &Vec<&'t Trial>| cell.iter().take(repeats).copied().collect();
        let cells: Vec<Vec<&Trial>> = self.cells.iter().map(first).collect();
        let mut figures = values(&cells.concat(), phase).into_iter();
        let of_cell = |cell: &Vec<&Trial>| figures.by_ref().take(cell.len()).flatten().collect();
        cells.iter().map(of_cell).collect()
    }
}

/// Result of a trial for its cell.
pub(crate) struct Trial {
    pub(crate) is_done: bool,
    /// Headline figures by phase of the study, and by point; inverted where less is better.
    pub(crate) phases: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Trial {
    /// The phases that have a figure.
    pub(crate) fn phases(&self) -> impl Iterator<Item = &str> {
        self.phases.keys().map(String::as_str)
    }

    /// A trial with one figure of one phase.
    #[cfg(test)]
    pub(crate) fn of(phase: &str, figure: f64) -> Self {
        let point = BTreeMap::from([(phase.to_owned(), figure)]);
        Self {
            is_done: true,
            phases: BTreeMap::from([(phase.to_owned(), point)]),
        }
    }
}

/// The phase's value in each trial that has one: over the points that all of these trials have.
pub(crate) fn values(trials: &[&Trial], phase: &str) -> Vec<Option<f64>> {
    let points: Vec<Option<&BTreeMap<String, f64>>> =
        trials.iter().map(|trial| trial.phases.get(phase)).collect();
    let having: Vec<_> = points.iter().copied().flatten().collect();
    let Some(first) = having.first() else {
        return vec![None; trials.len()];
    };
    let in_all = |name: &&String| having.iter().all(|points| points.contains_key(*name));
    let shared: Vec<&String> = first.keys().filter(in_all).collect();
    let value = |points: &BTreeMap<String, f64>| {
        geometric_mean(shared.iter().filter_map(|name| points.get(*name).copied()))
    };
    let values = points.iter().map(|points| points.and_then(value));
    values.collect()
}

/// `None` without values, or with a value that has no logarithm.
pub(super) fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Option<Vec<f64>> = values
        .map(|value| (value > 0.0).then(|| value.ln()))
        .collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The trials of a cell whose only phase has these figures.
    fn trials(figures: &[f64]) -> Vec<Trial> {
        figures
            .iter()
            .map(|figure| Trial::of("write", *figure))
            .collect()
    }

    fn decided(cells: &[&[f64]], repeats: usize) -> Vec<bool> {
        let cells: Vec<Vec<Trial>> = cells.iter().map(|cell| trials(cell)).collect();
        let decisions = Decisions::new(cells.iter().map(|cell| cell.iter().collect()).collect());
        let cells = 0..cells.len();
        cells
            .map(|cell| decisions.is_decided("write", cell, repeats))
            .collect()
    }

    #[test]
    fn far_apart_and_the_same_are_decided_and_noise_is_not() {
        let (fast, slow): (&[f64], &[f64]) = (&[100.0, 101.0, 99.0], &[50.0, 51.0, 50.0]);
        assert_eq!(decided(&[fast, slow], 3), [true, true]);
        let same: &[f64] = &[100.0, 100.5, 99.8, 100.2, 99.9];
        let twin: &[f64] = &[100.1, 99.7, 100.3, 100.0, 100.2];
        assert_eq!(decided(&[same, twin], 5), [true, true]);
        let noise: &[f64] = &[70.0, 130.0, 95.0];
        // The best is not known while another may be.
        assert_eq!(decided(&[fast, slow, noise], 3), [false, true, false]);
    }

    #[test]
    fn only_the_first_repeats_count_and_a_cell_without_figures_is_never_decided() {
        let late: &[f64] = &[100.0, 40.0, 100.0, 100.0, 100.0, 100.0];
        let steady: &[f64] = &[50.0, 50.1, 49.9, 50.0, 50.1, 50.0];
        assert_eq!(decided(&[late, steady], 2), [false, false]);
        assert_eq!(decided(&[steady, &[]], 6), [false, false]);
    }
}
