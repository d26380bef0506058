//! A trial record for tests.

use fslab_model::{CellId, Facts, Perturbation, Subject, TrialId, TrialOutcome, TrialRecord};

/// A trial of ext4 without steps and phases.
pub(crate) fn sample_trial(outcome: TrialOutcome) -> TrialRecord {
    TrialRecord {
        trial: TrialId {
            cell: CellId(0),
            repeat: 0,
        },
        subject: Subject::plain("ext4"),
        perturbation: Perturbation::NONE,
        position: 0,
        started_unix_s: 0,
        elapsed_ns: 0,
        outcome,
        steps: Vec::new(),
        phases: Vec::new(),
        facts: Facts::new(),
        console: String::new(),
        insight: None,
        kernel_log: Vec::new(),
        survival: None,
    }
}
