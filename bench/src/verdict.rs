//! Targets, and whether they were reached.

use crate::grid::Grid;

/// A target of `subject`, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged<S = String> {
    /// Of what.
    pub(crate) subject: S,
    /// What is to be reached.
    pub(crate) target: String,
    /// What was measured.
    pub(crate) found: String,
    /// Whether it was reached; `None` where that cannot be said.
    pub(crate) reached: Option<bool>,
}

impl<S> Judged<S> {
    /// The verdict in words.
    pub(crate) fn verdict(&self) -> &'static str {
        verdict(self.reached)
    }
}

/// A table of all targets.
pub(crate) fn table(judged: &[Judged]) -> Grid {
    let row = |it: &Judged| {
        vec![
            it.subject.clone(),
            it.target.clone(),
            it.found.clone(),
            it.verdict().to_owned(),
        ]
    };
    Grid {
        head: &["of what", "target", "found", "verdict"],
        rows: judged.iter().map(row).collect(),
    }
}

/// A verdict; `None` where it cannot be said.
pub(crate) fn verdict(reached: Option<bool>) -> &'static str {
    match reached {
        Some(true) => "reached",
        Some(false) => "NOT reached",
        None => "not measured",
    }
}

/// The number of verdicts of each kind, as a sentence.
pub(crate) fn summary<S>(judged: &[Judged<S>], rounds: u32) -> String {
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for it in judged {
        *match it.reached {
            Some(true) => &mut yes,
            Some(false) => &mut no,
            None => &mut unknown,
        } += 1;
    }
    format!("{yes} targets reached, {no} not reached, {unknown} not measured; {rounds} rounds.")
}
