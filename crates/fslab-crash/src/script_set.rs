//! The scripts of a phase: one that a study writes out, or sequences that are enumerated.

use std::collections::BTreeSet;

use fslab_model::PublishedProperty;
use serde::{Deserialize, Serialize};

use crate::sequences::{LENGTH_MAX, sequences};
use crate::{LogOperation, LogScript, Property, ScriptStep, plan_of, script_number};

/// The name of a phase's list of times: of each step, and of the end of each script, when it began
/// and how long it took.
pub const SCRIPT_TIMES: &str = "script-times";
/// The name of a phase's list of the syncs that were refused: the place of each among the times,
/// and the error's number.
pub const SCRIPT_REFUSED: &str = "script-refused";
/// The name of a phase's list of the enumerated scripts that were left out, by their number: the
/// file system lacks one of their operations.
pub const SCRIPT_LEFT_OUT: &str = "script-left-out";
/// Most scripts of a phase.
const SCRIPTS_MAX: usize = 4096;

/// The scripts of a phase, as its parameters say. The trial and the log of its disk get the same
/// scripts of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptSet {
    /// The directory of the script, below the root; of enumerated ones, the directory of their
    /// directories.
    #[serde(alias = "folder")]
    pub directory: String,
    #[serde(default)]
    pub steps: Vec<ScriptStep>,
    /// Length of the sequences that are enumerated instead; 0 for none.
    #[serde(default)]
    pub length: u32,
    /// What is asked of the script.
    #[serde(default)]
    pub properties: Vec<Property>,
    /// What was published of that.
    #[serde(default)]
    pub published: Option<PublishedProperty>,
}

/// A script with the directory of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The directory, below the root.
    pub folder: String,
    pub steps: Vec<ScriptStep>,
    /// What is asked of it.
    pub properties: Vec<Property>,
}

impl ScriptSet {
    /// The scripts, in order.
    ///
    /// # Errors
    /// Both or neither of steps and a length, a length that is too large, a step that cannot be
    /// done after those before it, in words.
    pub fn scripts(&self) -> Result<Vec<Script>, String> {
        match (self.steps.is_empty(), self.length) {
            (true, 0) => Err("steps is empty, and length is 0: there is nothing to do".to_owned()),
            (false, 0) => {
                plan_of(&self.steps)?;
                Ok(vec![Script {
                    folder: self.directory.clone(),
                    steps: self.steps.clone(),
                    properties: self.properties.clone(),
                }])
            }
            (false, _) => Err("steps and length cannot be used together".to_owned()),
            (true, length) if length > LENGTH_MAX => {
                Err(format!("length = {length}; the maximum is {LENGTH_MAX}"))
            }
            (true, _) if !self.properties.is_empty() => {
                Err("properties need steps; with length, the steps are enumerated".to_owned())
            }
            (true, length) => {
                let found = sequences(length);
                debug_assert!(found.len() <= SCRIPTS_MAX);
                let script = |(number, steps): (usize, Vec<ScriptStep>)| Script {
                    folder: format!("{}/s{number:04}", self.directory),
                    steps,
                    properties: Vec::new(),
                };
                Ok(found.into_iter().enumerate().map(script).collect())
            }
        }
    }

    /// The scripts of the phase `phase` as they were done: of each its steps and its end, as
    /// begin and end. `left_out` has the scripts that were not done; `refused` the syncs, by their
    /// place among the times, that the file system refused: they promise nothing.
    ///
    /// # Errors
    /// Those of [`ScriptSet::scripts`]; times of other scripts.
    pub fn done(
        &self,
        phase: &str,
        seed: u64,
        times: impl Iterator<Item = (u64, u64)>,
        left_out: &BTreeSet<usize>,
        refused: &BTreeSet<usize>,
    ) -> Result<Vec<LogScript>, String> {
        let mut times = times.enumerate();
        let mut next = || {
            times
                .next()
                .ok_or("the times of some of its steps are missing")
        };
        let mut scripts = Vec::new();
        let done = self.scripts()?.into_iter().enumerate();
        let done = done.filter(|(number, _)| !left_out.contains(number));
        for (_, script) in done {
            let mut operations = Vec::new();
            for step in script.steps {
                let (place, (begin_ns, end_ns)) = next()?;
                operations.push(LogOperation {
                    step,
                    begin_ns,
                    end_ns,
                    has_failed: refused.contains(&place),
                });
            }
            let script = LogScript {
                phase: phase.to_owned(),
                number: script_number(&script.folder, seed),
                folder: script.folder,
                operations,
                end_ns: next()?.1.1,
                properties: script.properties,
                published: self.published,
            };
            script.plan()?;
            scripts.push(script);
        }
        Ok(scripts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(steps: &[&str], length: u32) -> ScriptSet {
        ScriptSet {
            directory: "f".into(),
            steps: steps.iter().map(|it| it.parse().expect("a step")).collect(),
            length,
            properties: Vec::new(),
            published: None,
        }
    }

    #[test]
    fn a_phase_has_written_steps_or_enumerated_ones() {
        assert!(set(&[], 0).scripts().is_err());
        assert!(set(&["create a"], 1).scripts().is_err());
        assert!(set(&[], 9).scripts().is_err());
        assert!(set(&["unlink a"], 0).scripts().is_err());
        assert_eq!(set(&["create a"], 0).scripts().expect("one").len(), 1);
        assert!(set(&[], 1).scripts().expect("many").len() > 10);
    }

    #[test]
    fn a_script_gets_the_times_of_its_steps() {
        let set = set(&["create a", "sync"], 0);
        let times = [(10, 11), (11, 20), (70, 70)];
        let done = set
            .done("p", 7, times.into_iter(), &BTreeSet::new(), &[1].into())
            .expect("done");
        assert_eq!(done[0].operations[1].end_ns, 20);
        let failed = done[0].operations.iter().map(|it| it.has_failed);
        assert_eq!(failed.collect::<Vec<_>>(), [false, true]);
        assert_eq!(done[0].end_ns, 70);
        assert_eq!(done[0].number, script_number("f", 7));
        assert!(
            set.done(
                "p",
                7,
                times[..2].iter().copied(),
                &BTreeSet::new(),
                &BTreeSet::new()
            )
            .is_err()
        );
        let back = [(10, 11), (5, 20), (70, 70)];
        assert!(
            set.done("p", 7, back.into_iter(), &BTreeSet::new(), &BTreeSet::new())
                .is_err()
        );
    }

    #[test]
    fn a_script_that_was_left_out_takes_none_of_the_times() {
        let set = set(&[], 1);
        let scripts = set.scripts().expect("many");
        let left_out: BTreeSet<usize> = [0, 2].into();
        let is_done = |number: usize| !left_out.contains(&number);
        let done = scripts.iter().enumerate().filter(|it| is_done(it.0));
        let count: usize = done.clone().map(|(_, it)| it.steps.len() + 1).sum();
        let times = (0..count as u64).map(|at| (at, at));
        let found = set.done("p", 7, times, &left_out, &BTreeSet::new());
        let found: Vec<String> = found
            .expect("done")
            .into_iter()
            .map(|it| it.folder)
            .collect();
        let expected: Vec<String> = done.map(|(_, it)| it.folder.clone()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_directory_has_its_old_name_in_plans_of_before() {
        for key in ["directory", "folder"] {
            let parameters = serde_json::json!({ key: "f", "length": 1 });
            let set: ScriptSet = serde_json::from_value(parameters).expect("reads");
            assert_eq!(set.directory, "f");
        }
    }
}
