//! Variance components of nested repeats: trial, mount, iteration.

use crate::logs::logarithms;

/// Values by trial, mount and iteration.
pub type Nested = Vec<Vec<Vec<f64>>>;

/// The variance that one level adds, of the logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// The variance; 0 where the method of moments gave a negative value: the level adds no visible
    /// variance.
    pub variance: f64,
    /// True if the method gave a value below 0.
    pub was_negative: bool,
}

impl Component {
    fn of(variance: f64) -> Self {
        Self {
            variance: variance.max(0.0),
            was_negative: variance < 0.0,
        }
    }

    /// The standard deviation that the level adds, as a share of the value.
    pub fn relative_deviation(&self) -> f64 {
        self.variance.sqrt()
    }
}

/// The variance of a value by level; `None` for a level that is not repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Between file systems: mkfs and the allocation that follows.
    pub trial: Option<Component>,
    /// Between mounts of one file system.
    pub mount: Option<Component>,
    /// Between iterations in one mount.
    pub iteration: Option<Component>,
}

impl Components {
    /// Each level with its name, the outermost first.
    pub fn levels(&self) -> [(&'static str, Option<Component>); 3] {
        [
            ("trial", self.trial),
            ("mount", self.mount),
            ("iteration", self.iteration),
        ]
    }

    /// The sum of the variances of all levels.
    pub fn total(&self) -> f64 {
        let levels = self.levels().into_iter().filter_map(|(_, level)| level);
        levels.map(|level| level.variance).sum()
    }

    /// The variance components of the logarithms of nested repeats (Kalibera and Jones, "Rigorous
    /// benchmarking in reasonable time", ISMM 2013), by the method of moments: the mean squares of
    /// an analysis of variance are set equal to their expectations. Levels may have unequal numbers
    /// of repeats (Searle, Linear Models, 1971, chapter 11).
    ///
    /// Repeating a level without variance gains nothing. `None` if a value is not positive, or no
    /// level is repeated.
    pub fn of(nested: &Nested) -> Option<Self> {
        let logs: Option<Nested> = nested
            .iter()
            .map(|mounts| mounts.iter().map(|values| logarithms(values)).collect())
            .collect();
        let mut logs = logs?;
        for mounts in &mut logs {
            mounts.retain(|values| !values.is_empty());
        }
        logs.retain(|mounts| !mounts.is_empty());
        let sums = Sums::of(&logs)?;
        let found = sums.components();
        found
            .levels()
            .iter()
            .any(|(_, level)| level.is_some())
            .then_some(found)
    }
}

/// Sums of squares between the means of each level, their degrees of freedom, and the coefficients
/// of the components in the expected mean squares.
struct Sums {
    squares: [f64; 3],
    freedom: [f64; 3],
    /// The coefficient of the mount component in the mean square of mounts, in that of trials, and
    /// of the trial component in that of trials.
    weights: [f64; 3],
}

impl Sums {
    fn of(logs: &Nested) -> Option<Self> {
        let count: f64 = logs
            .iter()
            .flatten()
            .map(|values| values.len() as f64)
            .sum();
        if count == 0.0 {
            return None;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let grand = logs.iter().flatten().flatten().sum::<f64>() / count;
        let (mut squares, mut mounts_all) = ([0.0; 3], 0.0);
        let (mut per_trial, mut per_all, mut trials_all) = (0.0, 0.0, 0.0);
        for mounts in logs {
            let of_trial: f64 = mounts.iter().map(|values| values.len() as f64).sum();
            let trial = mounts.iter().flatten().sum::<f64>() / of_trial;
            squares[0] += of_trial * (trial - grand).powi(2);
            trials_all += of_trial * of_trial / count;
            for values in mounts {
                let (of_mount, mount) = (values.len() as f64, mean(values));
                squares[1] += of_mount * (mount - trial).powi(2);
                squares[2] += values.iter().map(|v| (v - mount).powi(2)).sum::<f64>();
                per_trial += of_mount * of_mount / of_trial;
                per_all += of_mount * of_mount / count;
                mounts_all += 1.0;
            }
        }
        let trials = logs.len() as f64;
        let freedom = [trials - 1.0, mounts_all - trials, count - mounts_all];
        let over = |amount: f64, freedom: f64| if freedom > 0.0 { amount / freedom } else { 0.0 };
        Some(Self {
            squares,
            freedom,
            weights: [
                over(count - per_trial, freedom[1]),
                over(per_trial - per_all, freedom[0]),
                over(count - trials_all, freedom[0]),
            ],
        })
    }

    /// Innermost level first. The variance of a level that is not repeated is part of the level
    /// above.
    fn components(&self) -> Components {
        let mean_square = |level: usize| {
            (self.freedom[level] > 0.0).then(|| self.squares[level] / self.freedom[level])
        };
        let iteration = mean_square(2);
        let inner = iteration.unwrap_or(0.0);
        let mount = mean_square(1).map(|square| (square - inner) / self.weights[0]);
        let trial = mean_square(0).map(|square| {
            let below = inner + self.weights[1] * mount.unwrap_or(0.0);
            (square - below) / self.weights[2]
        });
        Components {
            trial: trial.map(Component::of),
            mount: mount.map(Component::of),
            iteration: iteration.map(Component::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(logs: &[&[&[f64]]]) -> Nested {
        let mounts = |mounts: &&[&[f64]]| {
            let values = mounts.iter().map(|v| v.iter().map(|v| v.exp()).collect());
            values.collect()
        };
        logs.iter().map(mounts).collect()
    }

    fn near(found: Option<Component>, expected: f64) {
        let found = found.expect("a repeated level").variance;
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn balanced_components_are_those_of_the_analysis_of_variance() {
        // Iterations ±1 about their mount: variance 2. Mounts' means 0, 2 and 10, 16: mean square
        // (2 · (1 + 1) + 2 · (9 + 9)) / 2 = 20. Trials' means 1, 13: mean square 4 · (36 + 36).
        let found = Components::of(&nested(&[
            &[&[-1.0, 1.0], &[1.0, 3.0]],
            &[&[9.0, 11.0], &[15.0, 17.0]],
        ]))
        .expect("repeated levels");
        near(found.iteration, 2.0);
        near(found.mount, (20.0 - 2.0) / 2.0);
        near(found.trial, (288.0 - 20.0) / 4.0);
        assert!((found.total() - (2.0 + 9.0 + 67.0)).abs() < 1e-9);
    }

    #[test]
    fn a_level_without_repeats_has_no_component_and_is_in_the_one_above() {
        let mounts = Components::of(&nested(&[&[&[1.0], &[3.0]], &[&[1.0], &[3.0]]]));
        let mounts = mounts.expect("repeated levels");
        assert_eq!(mounts.iteration, None);
        near(mounts.mount, 2.0);
        let trial = mounts.trial.expect("two trials");
        assert_eq!((trial.variance, trial.was_negative), (0.0, true));
        let iterations = Components::of(&nested(&[&[&[1.0, 3.0]], &[&[2.0, 4.0]]]));
        let iterations = iterations.expect("repeated levels");
        assert_eq!(iterations.mount, None);
        near(iterations.iteration, 2.0);
    }

    #[test]
    fn unequal_numbers_are_weighed() {
        // One-way, 2 and 1 values: within 2/1; between 2/3; n0 = 3 - 5/3 = 4/3.
        let found = Components::of(&nested(&[&[&[0.0, 2.0]], &[&[4.0]]])).expect("repeated");
        near(found.iteration, 2.0);
        near(found.trial, (6.0 - 2.0) / (4.0 / 3.0));
    }

    #[test]
    fn what_is_not_repeated_or_not_positive_has_no_components() {
        assert_eq!(Components::of(&nested(&[&[&[1.0]]])), None);
        assert_eq!(Components::of(&vec![]), None);
        assert_eq!(Components::of(&vec![vec![vec![0.0, 1.0]]]), None);
    }
}
