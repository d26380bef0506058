//! A script as it was done: its operations with their times, and what its study asks of them.

use fslab_model::PublishedProperty;
use serde::{Deserialize, Serialize};

use crate::{ScriptPlan, ScriptStep, plan_of};

/// Most properties of a script.
const PROPERTIES_MAX: usize = 1000;

/// An operation with its times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogOperation {
    pub step: ScriptStep,
    /// When it was called.
    pub begin_ns: u64,
    /// When it returned.
    pub end_ns: u64,
    /// True if it returned an error: it may have been done or not, and makes nothing durable.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_failed: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// What a file system may keep of operations that no sync follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Property {
    /// The operation is there entirely or not at all.
    Atomic(usize),
    /// What is there of an append is its beginning, and nothing else was added.
    Prefix(usize),
    /// If anything of the second is there, all of the first is.
    Ordered(usize, usize),
}

/// A script of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogScript {
    pub phase: String,
    /// The directory of its names, below the root.
    pub folder: String,
    /// See [`crate::script_number`].
    pub number: u32,
    /// Its operations, in order.
    pub operations: Vec<LogOperation>,
    /// When the phase had waited after the last.
    pub end_ns: u64,
    /// What its study asks; no document promises it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
    /// What was published of these properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedProperty>,
}

impl LogScript {
    /// What its steps are about.
    ///
    /// # Errors
    /// A step that cannot be done after those before it, times that go back, a property of a step
    /// that is not there.
    pub fn plan(&self) -> Result<ScriptPlan, String> {
        let steps: Vec<ScriptStep> = self.operations.iter().map(|it| it.step.clone()).collect();
        let plan = plan_of(&steps)?;
        let mut last_ns = 0;
        for (number, operation) in self.operations.iter().enumerate() {
            if operation.begin_ns < last_ns || operation.end_ns < operation.begin_ns {
                return Err(format!("step {number} ends before it began"));
            }
            last_ns = operation.end_ns;
        }
        if self.end_ns < last_ns {
            return Err("the script ends before its last step".to_owned());
        }
        let is_step = |number: usize| number < steps.len();
        let is_of_steps = |property: &Property| match *property {
            Property::Atomic(step) | Property::Prefix(step) => is_step(step),
            Property::Ordered(first, second) => is_step(first) && is_step(second),
        };
        if self.properties.len() > PROPERTIES_MAX || !self.properties.iter().all(is_of_steps) {
            return Err("a property names a step that is not there".to_owned());
        }
        Ok(plan)
    }

    /// The time in which power fails: from the end of the set-up to the end of the phase.
    pub fn window(&self, plan: &ScriptPlan) -> (u64, u64) {
        let set_up = plan
            .start
            .checked_sub(1)
            .and_then(|it| self.operations.get(it));
        let begin_ns = match set_up {
            Some(start) => start.end_ns,
            None => self
                .operations
                .first()
                .map_or(self.end_ns, |it| it.begin_ns),
        };
        (begin_ns, self.end_ns)
    }

    /// A property of it, in words.
    pub fn property_text(&self, property: Property) -> String {
        let step = |number: usize| {
            let operation = self.operations.get(number);
            operation.map_or_else(String::new, |it| it.step.to_string())
        };
        match property {
            Property::Atomic(at) => format!("'{}' is atomic", step(at)),
            Property::Prefix(at) => format!("a prefix of '{}' is there", step(at)),
            Property::Ordered(first, second) => {
                format!("'{}' is before '{}'", step(first), step(second))
            }
        }
    }

    /// Begins and ends of the operations after the set-up, in order.
    pub fn borders(&self, plan: &ScriptPlan) -> Vec<u64> {
        let after = self.operations.iter().skip(plan.start);
        after.flat_map(|it| [it.begin_ns, it.end_ns]).collect()
    }
}
