//! What `mdtest -v` prints of each iteration, as trials.
//!
//! ```text
//!     * iteration 1 *
//!        Directory creation:          0.500 sec,       2000.000 ops/sec
//! ```
//!
//! The first task prints them as it measured them; the summary is of all tasks. They are trials
//! only if the summary agrees with them. Since 4.0 a rate is the task's own, before of all tasks.

use std::collections::BTreeMap;

use fslab_model::PhaseRecord;
use fslab_model::definitions::{ELAPSED, OPERATION_RATE};

use super::mdtest_row::Figures;
use crate::reading::{number, plain_name};

/// The time and the rate of a phase in one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Printed {
    seconds: f64,
    rate: f64,
}

/// The iterations in their order.
#[derive(Default)]
pub(super) struct Iterations {
    each: Vec<BTreeMap<String, Printed>>,
}

impl Iterations {
    pub(super) fn count(&self) -> u64 {
        self.each.len() as u64
    }

    /// Takes a line outside tables.
    pub(super) fn line(&mut self, line: &str) {
        if line.ends_with('*') && line.contains("* iteration ") {
            self.each.push(BTreeMap::new());
        } else if let Some((name, printed)) = printed(line)
            && let Some(last) = self.each.last_mut()
        {
            last.insert(name, printed);
        }
    }

    /// For each phase the number by which its printed rates are multiplied, or the first phase of
    /// which the iterations are not those of the summary.
    pub(super) fn agreeing<'r>(
        &self,
        rates: &'r [(String, Figures)],
        tasks: u64,
    ) -> Result<BTreeMap<&'r str, f64>, &'r str> {
        let mut factors = BTreeMap::new();
        for (name, figures) in rates.iter().filter(|(_, figures)| figures.mean > Some(0.0)) {
            let printed: Option<Vec<f64>> = self
                .each
                .iter()
                .map(|it| Some(it.get(name)?.rate))
                .collect();
            let printed = printed.ok_or(name.as_str())?;
            let factor = [1.0, tasks as f64]
                .into_iter()
                .find(|factor| agrees(&printed, *factor, figures));
            factors.insert(name.as_str(), factor.ok_or(name.as_str())?);
        }
        Ok(factors)
    }

    /// The phases of each iteration.
    pub(super) fn trials<'i>(
        &'i self,
        phases: &'i [PhaseRecord],
        factors: &'i BTreeMap<&str, f64>,
    ) -> impl Iterator<Item = Vec<PhaseRecord>> + 'i {
        self.each.iter().map(|printed| {
            let phase = |phase: &PhaseRecord| {
                let mut phase = phase.clone();
                let figures = printed.get(&phase.name).zip(factors.get(&*phase.name));
                if let Some((printed, factor)) = figures {
                    phase.notes.clear();
                    phase.figures.clear();
                    let rate = printed.rate * factor;
                    phase.figures.insert(OPERATION_RATE.name.to_owned(), rate);
                    if printed.seconds > 0.0 {
                        let ns = (printed.seconds * 1e9).round();
                        phase.figures.insert(ELAPSED.name.to_owned(), ns);
                    }
                }
                phase
            };
            phases.iter().map(phase).collect()
        })
    }
}

/// `V-1: Rank   0 Line  1435   File creation     :          0.001 sec,       7256.581 ops/sec`.
fn printed(line: &str) -> Option<(String, Printed)> {
    let (front, rate) = line.strip_suffix(" ops/sec")?.rsplit_once(',')?;
    let (title, seconds) = front.trim_end().strip_suffix(" sec")?.rsplit_once(':')?;
    let title = title.trim();
    // The words before the title say where in mdtest the line is printed.
    let start = ["Directory ", "File ", "Tree "]
        .iter()
        .filter_map(|word| title.rfind(word))
        .max()?;
    let printed = Printed {
        seconds: number(seconds)?,
        rate: number(rate)?,
    };
    Some((plain_name(&title[start..]), printed))
}

/// True if the smallest, the largest and the mean of the iterations are those of the summary, but
/// for the rounding of three decimals.
fn agrees(printed: &[f64], factor: f64, figures: &Figures) -> bool {
    let rounding = 0.001 * (factor + 1.0);
    let scaled = || printed.iter().map(|rate| rate * factor);
    let mean = scaled().sum::<f64>() / printed.len() as f64;
    let min = scaled().fold(f64::INFINITY, f64::min);
    let max = scaled().fold(0.0, f64::max);
    [(min, figures.min), (max, figures.max), (mean, figures.mean)]
        .into_iter()
        .all(|(ours, theirs)| theirs.is_some_and(|theirs| (ours - theirs).abs() <= rounding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_iteration_is_read_in_the_forms_of_all_versions() {
        for line in [
            "File stat         :      0.009 sec,   4691.345 ops/sec",
            "V-1:   File stat         :          0.009 sec,       4691.345 ops/sec",
            "V-1: Rank   0 Line  1439   File stat         :   0.009 sec,       4691.345 ops/sec",
        ] {
            let expected = Printed {
                seconds: 0.009,
                rate: 4691.345,
            };
            assert_eq!(printed(line), Some(("file-stat".to_owned(), expected)));
        }
        let tree =
            "V-1: Rank   0 Line  2249 main   Tree removal      :   0.012 sec,   83.070 ops/sec";
        assert_eq!(printed(tree).expect("a line").0, "tree-removal");
        assert_eq!(printed("File stat : 1 sec"), None);
    }
}
