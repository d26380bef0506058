//! Which figures are known well enough, and which stayed wide.

use fslab_model::{Adaptive, Percent};

use super::Analysis;

/// A phase and a subject whose interval reaches further than the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideInterval {
    /// The phase, by its place in the run.
    pub phase: usize,
    /// The subject.
    pub subject: usize,
    /// How far the interval reaches, as a share of the figure; `None` where there is no interval.
    pub reach: Option<f64>,
}

/// How well the headline figures of a run are known.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPrecision {
    /// The target of the run's adaptive repeats, else 5 %.
    pub target: Percent,
    /// The widest first.
    pub wide: Vec<WideInterval>,
    /// How many are within the target.
    pub known: usize,
}

impl RunPrecision {
    /// Exact figures have no interval, and are not looked at.
    pub fn of(analysis: &Analysis) -> Self {
        let adaptive = analysis.run.header.plan.adaptive.as_ref();
        let target = adaptive.map_or(Adaptive::TARGET, |adaptive| adaptive.target);
        let (mut wide, mut known) = (Vec::new(), 0);
        for (phase, of) in analysis.phases.iter().enumerate() {
            let comparison = of.comparison.iter().filter(|it| !it.exact);
            for (subject, entry) in comparison.flat_map(|it| it.entries.iter().enumerate()) {
                let Some(location) = entry.location else {
                    continue;
                };
                let reach = location.reach();
                if reach.is_some_and(|reach| reach <= target.share()) {
                    known += 1;
                } else {
                    wide.push(WideInterval {
                        phase,
                        subject,
                        reach,
                    });
                }
            }
        }
        let breadth = |wide: &WideInterval| wide.reach.unwrap_or(f64::INFINITY);
        wide.sort_by(|a, b| breadth(b).total_cmp(&breadth(a)));
        Self {
            target,
            wide,
            known,
        }
    }
}
