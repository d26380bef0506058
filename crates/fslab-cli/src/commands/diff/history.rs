//! The base `history`: earlier runs of the same plan.

use fslab_compare::{Difference, Dimension, unlike};
use fslab_model::{Failure, FailureKind, RunHeader, RunRecord};
use fslab_store::{RunSelector, Store};

use crate::exit::CommandError;
use crate::terminal::screen;

const WORD: &str = "history";
/// The default number of runs, the least for a useful spread between runs.
const RUNS_DEFAULT: u32 = 5;

/// The newest runs of a plan before another run of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct History {
    runs_max: u32,
}

impl History {
    /// Parses `history` or `history~8`; `None` if the text names a run.
    pub(crate) fn read(text: &str) -> Option<Result<Self, CommandError>> {
        let rest = text.strip_prefix(WORD)?;
        if rest.is_empty() {
            return Some(Ok(Self {
                runs_max: RUNS_DEFAULT,
            }));
        }
        let number = rest
            .strip_prefix('~')?
            .parse()
            .ok()
            .filter(|runs| *runs > 0);
        let refused = || {
            let text = format!("'{text}' is not a history");
            let failure = Failure::new(FailureKind::BadInput, text);
            failure
                .hint("use history, or history~8 for the eight runs before NEW")
                .into()
        };
        Some(number.map(|runs_max| Self { runs_max }).ok_or_else(refused))
    }

    /// The runs before the first of `new`, the latest last, back to the first that differs in a
    /// dimension that is not waived.
    pub(crate) fn of(
        self,
        new: &[RunRecord],
        store: &Store,
        waived: &[Dimension],
    ) -> Result<Vec<RunRecord>, CommandError> {
        let headers = new.iter().map(|run| &run.header);
        let first = headers.min_by_key(|header| header.started_unix_s);
        let first = first.expect("a side has at least one run");
        let mut runs: Vec<RunRecord> = Vec::new();
        let mut ended_by = None;
        for name in store.history(first, self.runs_max)? {
            let run = store.metrics(&RunSelector::Named(name))?;
            ended_by = runs.first().and_then(|latest| unlike(latest, &run, waived));
            if ended_by.is_some() {
                break;
            }
            runs.push(run);
        }
        if runs.is_empty() {
            return Err(no_history(first).into());
        }
        self.note_if_short(runs.len(), ended_by.as_ref());
        runs.reverse();
        Ok(runs)
    }

    /// Notes that there are fewer runs than requested, and why.
    fn note_if_short(self, found: usize, ended_by: Option<&Difference>) {
        if found >= self.runs_max as usize {
            return;
        }
        let runs = screen::counted(found, "run");
        let why = match ended_by {
            Some(difference) => format!("; earlier runs differ in {difference}"),
            None => "; this plan has no more runs".to_owned(),
        };
        screen::notice(&format!("the history has {runs} of {}{why}", self.runs_max));
    }
}

fn no_history(run: &RunHeader) -> Failure {
    let text = format!(
        "{} has no history: there is no earlier run of its plan",
        run.run
    );
    Failure::new(FailureKind::BadInput, text).hint(
        "the first run of a plan has nothing to compare with; name another base, for example \
         last~1",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_has_the_requested_length() {
        let read = |text| History::read(text).map(|it| it.ok().map(|it| it.runs_max));
        assert_eq!(read("history"), Some(Some(RUNS_DEFAULT)));
        assert_eq!(read("history~8"), Some(Some(8)));
        for text in ["history~0", "history~", "history~x", "history~-1"] {
            assert_eq!(read(text), Some(None), "{text}");
        }
        for text in ["last", "historic", "my-history", "history-1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
