//! Which figures reached the target of precision.

use fslab_model::{Adaptive, Percent};

use super::Analysis;

/// A phase and a subject whose interval is wider than the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideInterval {
    /// The phase's index in the run.
    pub phase: usize,
    pub subject: usize,
    /// The relative half-width of the interval; `None` without an interval.
    pub reach: Option<f64>,
}

/// The precision of a run's headline figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPrecision {
    /// The target of the run's adaptive repeats, else 5 %.
    pub target: Percent,
    /// The widest first.
    pub wide: Vec<WideInterval>,
    /// The number of figures within the target.
    pub known: usize,
}

impl RunPrecision {
    /// Exact figures have no interval and are left out.
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
                let reach = location.relative_half_width();
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
