//! Coverage where runs differ more than their repeats show, for intervals with and without
//! clusters.

use fslab_stats::{Estimate, clustered_ratio_at, tail_ratio_at};

use crate::chance::Chance;

const EXPERIMENTS: u32 = 10_000;

/// The spreads of the runs of a side, relative.
#[derive(Clone, Copy)]
struct Runs {
    count: usize,
    repeats: usize,
    between: f64,
    within: f64,
}

impl Runs {
    fn draw(self, chance: &mut Chance) -> Vec<Vec<f64>> {
        let mut run = || {
            let state = self.between * chance.normal();
            let mut repeat = || (state + self.within * chance.normal()).exp();
            (0..self.repeats).map(|_| repeat()).collect()
        };
        (0..self.count).map(|_| run()).collect()
    }
}

/// Coverage of the intervals with clusters, and of those that take all repeats as independent.
fn coverage(seed: u64, base: Runs, new: Runs, confidence: f64) -> [f64; 2] {
    let mut chance = Chance::of(seed);
    let mut held = [0_u32; 2];
    let holds = |estimate: Option<Estimate>| {
        let interval = estimate.and_then(|estimate| estimate.interval);
        u32::from(interval.is_some_and(|interval| interval.contains(1.0)))
    };
    for _ in 0..EXPERIMENTS {
        let (base, new) = (base.draw(&mut chance), new.draw(&mut chance));
        held[0] += holds(clustered_ratio_at(&new, &base, confidence));
        held[1] += holds(tail_ratio_at(&new.concat(), &base.concat(), confidence));
    }
    held.map(|held| f64::from(held) / f64::from(EXPERIMENTS))
}

#[test]
fn the_interval_between_runs_covers_however_much_runs_differ() {
    for (base, new) in [(2, 1), (3, 1), (5, 1), (10, 1), (3, 3), (5, 5)] {
        for between in [0.0, 0.01, 0.03, 0.1] {
            for (of_base, of_new) in [
                ((5, 0.03), (5, 0.03)),
                ((5, 0.02), (3, 0.06)),
                ((1, 0.03), (1, 0.03)),
            ] {
                let runs = |count, (repeats, within)| Runs {
                    count,
                    repeats,
                    between,
                    within,
                };
                let (b, n) = (runs(base, of_base), runs(new, of_new));
                let [known, unknown] = coverage(51, b, n, 0.95);
                println!(
                    "{base} runs of {} repeats of {} against {new} of {} of {}, between {between}: \
                     {:.1} %, without regard to runs {:.1} %",
                    of_base.0,
                    of_base.1,
                    of_new.0,
                    of_new.1,
                    100.0 * known,
                    100.0 * unknown
                );
                assert!(known >= 0.93, "{known}");
            }
        }
    }
}
