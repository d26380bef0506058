//! The sensitivity of a run in virtual time to perturbation.

use super::Analysis;

/// The sensitivity of one subject's headline figure of one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseSensitivity {
    /// The phase's index in the run.
    pub phase: usize,
    pub subject: usize,
    /// The sensitivity, as a share of the figure.
    pub share: f64,
}

impl Analysis<'_> {
    /// The sensitivity of every headline figure that has one, the largest first; equals in the
    /// order of phases and subjects. Empty if repeats are not perturbed, or fewer than three.
    pub fn sensitive(&self) -> Vec<PhaseSensitivity> {
        let subjects = self.subjects().len();
        let of_phase = |(phase, of): (usize, &super::PhaseAnalysis)| {
            let of_subject = |subject: usize| {
                let share = of.sensitivity(subject)?;
                Some(PhaseSensitivity {
                    phase,
                    subject,
                    share,
                })
            };
            (0..subjects).filter_map(of_subject).collect::<Vec<_>>()
        };
        let mut found: Vec<PhaseSensitivity> =
            self.phases.iter().enumerate().flat_map(of_phase).collect();
        found.sort_by(|a, b| b.share.total_cmp(&a.share));
        found
    }
}
