//! The loop of a personality as data: the file of each step and its operations.
//!
//! The operations are filebench's: createfile, openfile, writewholefile, appendfilerand,
//! readwholefile, statfile, deletefile, fsync, closefile.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fileset::ThreadFiles;
use super::flows::{EngineResult, LOG_NAME, Worker};
use super::personality::Shared;

/// Limit of steps.
const STEPS_MAX: usize = 64;
/// Limit of the operations of one iteration, since the clock is checked between iterations.
const OPERATIONS_MAX: u64 = 10_000;

/// The steps of a loop, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Flow(Vec<Step>);

/// Operations on one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The choice of the file.
    file: Choice,
    /// Operations on it, in order.
    operations: Vec<Operation>,
    /// Repetitions, each with another file.
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

/// The choice of a step's file. A step is skipped if the thread has no such file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Choice {
    /// A missing one of the thread's part, which is created.
    New,
    /// An existing one of the thread's part.
    Any,
    /// An existing one of all parts; only if no step creates or deletes files.
    Shared,
    /// An existing one of the thread's part, which is deleted.
    Removed,
    /// The log that all threads append to.
    Log,
}

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Operation {
    /// open(2) with O_CREAT.
    Create,
    /// open(2).
    Open,
    /// All of the file, in records.
    Write,
    /// A random number of bytes at its end, up to `append`.
    Append,
    /// From its beginning to its end, in records.
    Read,
    /// fsync(2); has a latency but does not count as an operation.
    Fsync,
    /// close(2).
    Close,
    /// stat(2).
    Stat,
    /// unlink(2).
    Unlink,
}

impl Flow {
    /// True if files are deleted, with what was appended to them.
    pub(super) fn removes_files(&self) -> bool {
        self.0.iter().any(|step| step.file == Choice::Removed)
    }

    /// True if files are created and none are deleted: each iteration takes a missing one for good.
    pub(super) fn only_adds_files(&self) -> bool {
        self.0.iter().any(|step| step.file == Choice::New) && !self.removes_files()
    }

    /// Operations of one iteration, without fsyncs.
    pub(super) fn operations(&self) -> u64 {
        self.0
            .iter()
            .map(Step::counted)
            .fold(0, u64::saturating_add)
    }

    /// True if files are written in records, not only appended to.
    pub(super) fn writes_files(&self) -> bool {
        let mut operations = self.0.iter().flat_map(|step| &step.operations);
        operations.any(|it| *it == Operation::Write)
    }

    /// True if a step uses the log.
    pub(super) fn has_log(&self) -> bool {
        self.0.iter().any(|step| step.file == Choice::Log)
    }

    /// Checks the loop.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.0.is_empty() || self.0.len() > STEPS_MAX {
            return Err(format!(
                "a loop of {} steps; 1 to {STEPS_MAX}",
                self.0.len()
            ));
        }
        if self.operations() > OPERATIONS_MAX {
            return Err(format!("a loop of more than {OPERATIONS_MAX} operations"));
        }
        let takes = |choice| self.0.iter().any(|step| step.file == choice);
        if takes(Choice::Shared) && (takes(Choice::New) || takes(Choice::Removed)) {
            return Err("a loop that takes shared files, and creates or deletes some".into());
        }
        (1..)
            .zip(&self.0)
            .try_for_each(|(number, step)| match step.fault() {
                None => Ok(()),
                Some(fault) => Err(format!("step {number} of the loop, {fault}")),
            })
    }

    /// Runs one iteration.
    pub(super) fn run_once(
        &self,
        shared: &Shared<'_>,
        part: &mut ThreadFiles,
        worker: &mut Worker<'_>,
    ) -> EngineResult<()> {
        for step in &self.0 {
            for _ in 0..step.times {
                step.run(shared, part, worker)?;
            }
        }
        Ok(())
    }
}

impl Step {
    fn counted(&self) -> u64 {
        let counted = self.operations.iter().filter(|it| **it != Operation::Fsync);
        (counted.count() as u64).saturating_mul(self.times.into())
    }

    fn fault(&self) -> Option<&'static str> {
        use Operation::{Append, Close, Create, Open, Stat, Unlink};
        if self.times == 0 || self.operations.is_empty() {
            return Some("which does nothing");
        }
        let is_fit = match self.file {
            Choice::Log => self.operations.iter().all(|it| *it == Append),
            Choice::Removed => self.operations == [Unlink],
            Choice::New => self.operations[0] == Create && !self.operations[1..].contains(&Create),
            Choice::Any | Choice::Shared => !self.operations.contains(&Create),
        };
        if !is_fit || (self.file != Choice::Removed && self.operations.contains(&Unlink)) {
            return Some(
                "whose operations do not fit its file: those of a new file start with 'create', a \
                removed file has only 'unlink', and the log only 'append'",
            );
        }
        let mut is_open = self.file == Choice::Log;
        for operation in &self.operations {
            let wants_open = !matches!(operation, Create | Open | Stat | Unlink);
            if wants_open && !is_open || matches!(operation, Create | Open) && is_open {
                return Some("which uses a file that is not open, or opens one twice");
            }
            is_open = match operation {
                Create | Open => true,
                Close => false,
                _ => is_open,
            };
        }
        (is_open && self.file != Choice::Log).then_some("which leaves its file open")
    }

    fn run(
        &self,
        shared: &Shared<'_>,
        part: &mut ThreadFiles,
        worker: &mut Worker<'_>,
    ) -> EngineResult<()> {
        let present = &shared.set.present;
        let number = match self.file {
            Choice::New => part.pick_new(),
            Choice::Any => part.pick_any(),
            Choice::Removed => part.pick_removed(),
            Choice::Shared if present.is_empty() => None,
            Choice::Shared => Some(present[part.random.below(present.len() as u64) as usize]),
            Choice::Log => {
                for _ in &self.operations {
                    worker.append_log(LOG_NAME, shared.parameters.append.0, &mut part.random)?;
                }
                return Ok(());
            }
        };
        let Some(number) = number else {
            return Ok(());
        };
        let name = &shared.set.names[number as usize];
        for operation in &self.operations {
            match operation {
                Operation::Create => worker.create(name)?,
                Operation::Open => worker.open(name)?,
                Operation::Write => {
                    worker.write_file(name, shared.set.sizes[number as usize])?;
                }
                Operation::Append => {
                    worker.append(name, shared.parameters.append.0, &mut part.random)?;
                }
                Operation::Read => worker.read_file(name)?,
                Operation::Fsync => worker.fsync(name)?,
                Operation::Close => worker.close(name)?,
                Operation::Stat => worker.stat(name)?,
                Operation::Unlink => worker.unlink(name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_loop_is_refused_with_the_number_of_its_step() {
        let refused = |flow: serde_json::Value, word: &str| {
            let flow: Flow = serde_json::from_value(flow).expect("a loop");
            let problem = flow.validate().expect_err(word);
            assert!(problem.contains(word), "{problem}");
        };
        let step = |file: &str, operations: &[&str]| {
            let text = format!("{{ \"file\": {file:?}, \"operations\": {operations:?} }}");
            serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
        };
        refused(serde_json::json!([]), "0 steps");
        let good = step("any", &["open", "read", "close"]);
        let two = |other: serde_json::Value| serde_json::json!([good, other]);
        refused(
            two(step("any", &[])),
            "step 2 of the loop, which does nothing",
        );
        refused(two(step("any", &["read"])), "not open");
        refused(two(step("any", &["open", "read"])), "leaves its file open");
        refused(two(step("any", &["unlink"])), "do not fit its file");
        refused(two(step("new", &["open", "close"])), "do not fit its file");
        refused(two(step("log", &["read"])), "do not fit its file");
        let shared = step("shared", &["stat"]);
        refused(
            serde_json::json!([shared, step("removed", &["unlink"])]),
            "shared files",
        );
        let long = serde_json::json!({ "file": "any", "operations": ["stat"], "times": 10_001 });
        refused(two(long), "more than 10000 operations");
    }
}
