//! What a guest saw while its disk failed: from the guest to the host.

use serde::{Deserialize, Serialize};

use super::observed::ensure_sound_tree;
use crate::{LogScript, Observed};

/// An error that an application saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepError {
    /// The number of the error; `None` if it has none.
    pub errno: Option<i32>,
    /// The error in words.
    pub text: String,
}

/// What a guest saw while its disk failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyReport {
    /// Why it did not mount.
    pub mount_error: Option<StepError>,
    /// What was there before the steps.
    pub before: Option<Observed>,
    /// Of each step after the set-up, its error.
    pub steps: Vec<Option<StepError>>,
    /// The error of a sync after the steps.
    pub sync_error: Option<StepError>,
    /// The error of making and syncing another file after that.
    pub write_error: Option<StepError>,
    /// True if it was mounted read-only after that.
    pub is_read_only: bool,
    /// What was there after that, before the unmount.
    pub after: Option<Observed>,
    /// Why it could not be unmounted.
    pub unmount_error: Option<StepError>,
    /// Errors that the kernel wrote to its log.
    pub kernel: Vec<String>,
}

impl FaultyReport {
    /// Checks that a report is of a size that a guest may send.
    pub fn ensure_sound(&self) -> Result<(), &'static str> {
        let trees = [&self.before, &self.after];
        trees.into_iter().flatten().try_for_each(ensure_sound_tree)
    }

    /// The script as it was done: steps after its set-up that returned an error make nothing
    /// durable. Without a mount, none of them was done.
    pub fn script_of(&self, script: &LogScript) -> LogScript {
        let mut done = script.clone();
        let start = script.plan().map_or(0, |plan| plan.start);
        match self.mount_error {
            Some(_) => done.operations.truncate(start),
            None => {
                let steps = done.operations.iter_mut().skip(start);
                for (operation, error) in steps.zip(&self.steps) {
                    operation.has_failed = error.is_some();
                }
                done.operations.truncate(start + self.steps.len());
            }
        }
        done
    }

    /// The errors that applications saw, in order: of the mount, the steps, the sync, and of
    /// another write.
    pub fn errors(&self) -> impl Iterator<Item = &StepError> {
        let steps = self.steps.iter().flatten();
        let last = [&self.sync_error, &self.write_error];
        let last = last.into_iter().flatten();
        self.mount_error.iter().chain(steps).chain(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_model::FaultKind;

    use crate::{LogOperation, ObservedEntry, ObservedFile, Oracle};

    fn script(texts: &[&str]) -> LogScript {
        let operation = |(number, text): (u64, &&str)| LogOperation {
            step: text.parse().expect("a step"),
            begin_ns: number * 10,
            end_ns: number * 10 + 9,
            has_failed: false,
        };
        LogScript {
            phase: "p".into(),
            folder: "f".into(),
            number: 7,
            operations: (0..).zip(texts).map(operation).collect(),
            end_ns: 1000,
            properties: Vec::new(),
            published: None,
        }
    }

    /// A sync that returned an error promises nothing, nor does a later one of the same data.
    #[test]
    fn only_what_a_sync_without_an_error_covers_must_be_there() {
        let script = script(&["create a", "start", "append a 512", "fsync a", "fsync a"]);
        let error = StepError {
            errno: Some(5),
            text: "EIO".into(),
        };
        let mut report = FaultyReport {
            steps: vec![None, None, None],
            ..FaultyReport::default()
        };
        let empty = ObservedEntry::File(ObservedFile::default());
        let tree: Observed = [("f/a".to_owned(), empty)].into_iter().collect();
        let faults = |report: &FaultyReport| {
            let done = report.script_of(&script);
            let oracle = Oracle::new(&done).expect("can be done");
            let found = oracle.judge(1000, &tree);
            found.iter().map(|it| it.fault).collect::<Vec<_>>()
        };
        assert_eq!(faults(&report), [FaultKind::Truncated]);
        report.steps = vec![None, Some(error.clone()), None];
        assert_eq!(faults(&report), []);
        report.steps = vec![Some(error.clone()), None, None];
        assert_eq!(faults(&report), []);
        report.mount_error = Some(error);
        assert_eq!(faults(&report), []);
        assert_eq!(report.script_of(&script).operations.len(), 2);
    }
}
