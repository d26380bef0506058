//! The loop of a personality as data: which file each step takes, and what is done to it.
//!
//! The operations are filebench's: createfile, openfile, writewholefile, appendfilerand,
//! readwholefile, statfile, deletefile, fsync, closefile.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fileset::Holding;
use super::flows::{EngineResult, LOG_NAME, Worker};
use super::personality::Scene;

/// More steps than any loop has.
const STEPS_MAX: usize = 64;
/// More operations of one loop than any application has between two looks at the clock.
const OPERATIONS_MAX: u64 = 10_000;

/// The steps of a loop, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Flow(Vec<Step>);

/// Operations on one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Which file.
    file: Choice,
    /// What is done to it, in order.
    operations: Vec<Operation>,
    /// How many times, each with another file.
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

/// Which file a step takes. A step for which the thread has no file is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Choice {
    /// One that does not exist and is created: of the thread's part.
    New,
    /// One that exists: of the thread's part.
    Any,
    /// One that exists, of all threads' parts; only where no step creates or deletes files.
    Shared,
    /// One that exists and is deleted: of the thread's part.
    Removed,
    /// The log, to which all threads append.
    Log,
}

/// What is done to a file.
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
    /// fsync(2); its latency is recorded beside those of operations.
    Fsync,
    /// close(2).
    Close,
    /// stat(2).
    Stat,
    /// unlink(2).
    Unlink,
}

impl Flow {
    /// Operations of one loop; an fsync is a part of the one before it.
    pub(super) fn operations(&self) -> u64 {
        self.0
            .iter()
            .map(Step::counted)
            .fold(0, u64::saturating_add)
    }

    /// Whether files are written by records, rather than appended to alone.
    pub(super) fn writes_files(&self) -> bool {
        let mut operations = self.0.iter().flat_map(|step| &step.operations);
        operations.any(|it| *it == Operation::Write)
    }

    /// Whether threads need the log to be open.
    pub(super) fn has_log(&self) -> bool {
        self.0.iter().any(|step| step.file == Choice::Log)
    }

    /// Whether the loop can be run.
    ///
    /// # Errors
    /// What makes no sense, with the number of the step.
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

    /// One loop of one thread.
    pub(super) fn turn(
        &self,
        scene: &Scene<'_>,
        part: &mut Holding,
        hands: &mut Worker<'_>,
    ) -> EngineResult<()> {
        for step in &self.0 {
            for _ in 0..step.times {
                step.play(scene, part, hands)?;
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
                "whose operations do not fit its file: 'create' begins those of a new one, \
                 'unlink' is all for a removed one, and a log is appended to",
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

    fn play(
        &self,
        scene: &Scene<'_>,
        part: &mut Holding,
        hands: &mut Worker<'_>,
    ) -> EngineResult<()> {
        let present = &scene.set.present;
        let number = match self.file {
            Choice::New => part.appear(),
            Choice::Any => part.any(),
            Choice::Removed => part.disappear(),
            Choice::Shared if present.is_empty() => None,
            Choice::Shared => Some(present[part.random.below(present.len() as u64) as usize]),
            Choice::Log => {
                for _ in &self.operations {
                    hands.append_log(LOG_NAME, scene.parameters.append.0, &mut part.random)?;
                }
                return Ok(());
            }
        };
        let Some(number) = number else {
            return Ok(());
        };
        let name = &scene.set.names[number as usize];
        for operation in &self.operations {
            match operation {
                Operation::Create => hands.create(name)?,
                Operation::Open => hands.open(name)?,
                Operation::Write => {
                    hands.write_whole(name, scene.set.sizes[number as usize])?;
                }
                Operation::Append => {
                    hands.append(name, scene.parameters.append.0, &mut part.random)?;
                }
                Operation::Read => hands.read_whole(name)?,
                Operation::Fsync => hands.fsync(name)?,
                Operation::Close => hands.close(name)?,
                Operation::Stat => hands.stat(name)?,
                Operation::Unlink => hands.unlink(name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_makes_no_sense_is_refused_with_the_number_of_its_step() {
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
