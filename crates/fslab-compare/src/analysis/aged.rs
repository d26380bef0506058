//! The cost of filling and ageing: each subject with stages against the same one without.

use fslab_model::Subject;
use fslab_stats::{CONFIDENCE, Estimate, Verdict, benjamini_hochberg, difference_test_among};

use super::{Analysis, Comparison, EXACT_TOLERANCE, PhaseAnalysis};

/// A filled or aged subject against the fresh one, in one phase.
#[derive(Clone, Copy, Debug)]
pub struct AgedContrast<'p> {
    /// The aged subject's index in the plan.
    pub aged: usize,
    pub fresh: usize,
    pub phase: &'p PhaseAnalysis<'p>,
    /// The speed of the aged one relative to the fresh one; `None` if a side has no figure.
    pub speed: Option<Estimate>,
    /// Whether the speed is faster or slower; `None` without a speed.
    pub verdict: Option<Verdict>,
    /// True if the interval alone would have decided, but the corrected test does not.
    pub is_lost_in_correction: bool,
}

impl Analysis<'_> {
    /// Pairs of an aged or filled subject and the same one fresh, by index.
    pub fn aged_pairs(&self) -> Vec<(usize, usize)> {
        let subjects: Vec<&Subject> = self.subjects().collect();
        let is_fresh = |aged: &Subject, other: &Subject| {
            other.stages().is_empty() && *other == aged.without_stages()
        };
        let staged = (0..subjects.len()).filter(|place| !subjects[*place].stages().is_empty());
        staged
            .filter_map(|aged| {
                let fresh = subjects.iter().position(|s| is_fresh(subjects[aged], s))?;
                Some((aged, fresh))
            })
            .collect()
    }

    /// Each of [`Analysis::aged_pairs`] in each phase; the tests are corrected together.
    pub fn aged(&self) -> Vec<AgedContrast<'_>> {
        let mut contrasts: Vec<AgedContrast> = Vec::new();
        for (aged, fresh) in self.aged_pairs() {
            contrasts.extend(self.phases.iter().map(|phase| {
                let comparison = phase.comparison.as_ref();
                AgedContrast {
                    aged,
                    fresh,
                    phase,
                    speed: comparison.and_then(|it| it.speed(aged, fresh)),
                    verdict: None,
                    is_lost_in_correction: false,
                }
            }));
        }
        let corrected = benjamini_hochberg(&p_values(&contrasts));
        for (contrast, p) in contrasts.iter_mut().zip(corrected) {
            contrast.judge(p);
        }
        contrasts
    }
}

/// The p-values; NaN for too few repeats or exact figures.
fn p_values(contrasts: &[AgedContrast]) -> Vec<f64> {
    let testable = |it: &&AgedContrast| it.tested().is_some() && it.speed.is_some();
    let family = contrasts.iter().filter(testable).count();
    let test = |it: &AgedContrast| {
        let comparison = it.tested()?;
        let values = |place: usize| comparison.entries.get(place).map(|it| &it.values);
        difference_test_among(values(it.aged)?, values(it.fresh)?, family)
    };
    let p_value = |it: &AgedContrast| test(it).map_or(f64::NAN, |test| test.p_value);
    contrasts.iter().map(p_value).collect()
}

impl AgedContrast<'_> {
    fn tested(&self) -> Option<&Comparison> {
        self.phase.comparison.as_ref().filter(|it| !it.exact)
    }

    fn judge(&mut self, p_corrected: f64) {
        let (Some(comparison), Some(speed)) = (&self.phase.comparison, self.speed) else {
            return;
        };
        let found = comparison.interval_verdict(self.aged, self.fresh);
        let is_decided = matches!(found, Verdict::Faster | Verdict::Slower);
        self.verdict = Some(
            if comparison.exact && (speed.value - 1.0).abs() < EXACT_TOLERANCE {
                Verdict::Same {
                    within: EXACT_TOLERANCE,
                }
            } else if is_decided && p_corrected > 1.0 - CONFIDENCE {
                self.is_lost_in_correction = true;
                Verdict::Undecided
            } else {
                found
            },
        );
    }
}
