//! A state as it was judged: what a guest found, compared with the operations.

use std::collections::BTreeSet;

use fslab_model::{Bytes, StateKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CrashState, Databases, LogDatabase, LogScript, Observed, ObservedEntry, Oracle, StateCheck,
    StateFault, StateOutcome, StateReport, UnsyncedLoss,
};

/// Faults of a state that are named in its summary.
const NAMED_MAX: usize = 5;

/// Most comparisons for each state that the scripts of a log may need: seconds.
const COMPARISONS_MAX: u64 = 1 << 26;

/// The scripts of a log, to compare states with.
pub struct Judge<'a> {
    oracles: Vec<Oracle<'a>>,
    databases: &'a [LogDatabase],
}

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedRepair {
    /// Why it does not mount after that.
    pub mount_error: Option<String>,
    /// What is wrong after it and was not before; all that is wrong, if it did not mount before.
    pub lost: Vec<StateFault>,
}

/// A property of a script.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PropertyPlace {
    /// The phase of the script.
    pub phase: String,
    /// Its place in the script's list.
    pub number: usize,
}

/// A judged state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedState {
    /// How it was made.
    pub kind: StateKind,
    /// The state, as text.
    pub state: String,
    /// What is wrong with its files, whether a document promises otherwise or not. Names are below
    /// the root.
    pub findings: Vec<StateFault>,
    /// Why it does not mount: the error, or how the kernel ended.
    pub unmountable: Option<String>,
    /// Names that cannot be read and are of no script; the root's is empty.
    pub unreadable: Vec<String>,
    /// Why no file could be written.
    pub write_error: Option<String>,
    /// Why it could not be unmounted.
    pub unmount_error: Option<String>,
    /// What the checker says; `None` without one.
    pub check: Option<StateCheck>,
    /// The end of the checker's words, if it found something.
    pub check_output: String,
    /// The repair; `None` if none was needed.
    pub repair: Option<JudgedRepair>,
    /// How long recovery took; `None` if it did not mount.
    pub recovery_ns: Option<u64>,
    /// What was not synced and is gone.
    pub unsynced: UnsyncedLoss,
    /// What the scripts ask and it does not have.
    pub broken: Vec<PropertyPlace>,
    /// True if it has more than a guest reads.
    pub is_cut: bool,
}

impl<'a> Judge<'a> {
    /// The judge of scripts and databases.
    ///
    /// # Errors
    /// Those of [`Oracle::new`] and of [`LogDatabase::ensure_sound`]; scripts with too many steps
    /// and sectors.
    pub fn new(scripts: &'a [LogScript], databases: &'a [LogDatabase]) -> Result<Self, String> {
        let oracles: Result<Vec<_>, _> = scripts.iter().map(Oracle::new).collect();
        databases.iter().try_for_each(LogDatabase::ensure_sound)?;
        let oracles = oracles?;
        let needed = oracles.iter().map(Oracle::comparisons);
        if needed.fold(0, u64::saturating_add) > COMPARISONS_MAX {
            return Err(format!(
                "each state would take more comparisons than the limit of {COMPARISONS_MAX}"
            ));
        }
        Ok(Self { oracles, databases })
    }

    /// Compares what a guest found in a state with the scripts that had begun.
    pub fn judge(
        &self,
        kind: StateKind,
        state: &CrashState,
        name: String,
        outcome: &StateOutcome,
    ) -> JudgedState {
        let mut judged = JudgedState {
            kind,
            state: name,
            findings: Vec::new(),
            unmountable: None,
            unreadable: Vec::new(),
            write_error: None,
            unmount_error: None,
            check: None,
            check_output: String::new(),
            repair: None,
            recovery_ns: None,
            unsynced: UnsyncedLoss::default(),
            broken: Vec::new(),
            is_cut: false,
        };
        match outcome {
            StateOutcome::Judged(report) => self.take_report(&mut judged, state.at_ns, report),
            StateOutcome::Died(part, words) => {
                judged.unmountable =
                    Some(format!("the kernel died in the {}: {words}", part.as_str()));
            }
            StateOutcome::Hung(part) => {
                judged.unmountable = Some(format!("the kernel hangs in the {}", part.as_str()));
            }
        }
        let repaired = judged.repair.as_ref();
        let is_repaired = repaired.is_some_and(|it| it.mount_error.is_none());
        if judged.unmountable.is_some() && !is_repaired {
            // Nothing that was durable can be retrieved.
            judged.findings = self.findings(state.at_ns, &Observed::new(), &Databases::new());
        }
        judged
    }

    fn take_report(&self, judged: &mut JudgedState, at_ns: u64, report: &StateReport) {
        judged.unmountable.clone_from(&report.mount_error);
        judged.write_error.clone_from(&report.write_error);
        judged.unmount_error.clone_from(&report.unmount_error);
        judged.check = report.check;
        judged.check_output.clone_from(&report.check_output);
        judged.is_cut = report.is_cut;
        if let Some(tree) = &report.tree {
            judged.recovery_ns = Some(report.mount_ns);
            judged.findings = self.findings(at_ns, tree, &report.databases);
            judged.unreadable = self.others_unreadable(tree, &judged.findings);
            // What a later script syncs is durable in an earlier one, too.
            for oracle in self.begun(at_ns).filter(|it| at_ns <= it.script.end_ns) {
                let loss = oracle.unsynced_loss(at_ns, tree);
                judged.unsynced.bytes += loss.bytes;
                judged.unsynced.age_ns = judged.unsynced.age_ns.max(loss.age_ns);
                let broken = oracle.broken_properties(tree).into_iter();
                judged.broken.extend(broken.map(|number| PropertyPlace {
                    phase: oracle.script.phase.clone(),
                    number,
                }));
            }
        }
        judged.repair = report.repair.as_ref().map(|repair| {
            let after = repair.tree.as_ref();
            let after = after.map(|tree| self.findings(at_ns, tree, &repair.databases));
            let mut lost = after.unwrap_or_default();
            lost.retain(|finding| !judged.findings.contains(finding));
            JudgedRepair {
                mount_error: repair.mount_error.clone(),
                lost,
            }
        });
    }

    fn begun(&self, at_ns: u64) -> impl Iterator<Item = &Oracle<'a>> {
        let has_begun = move |oracle: &&Oracle| {
            let (begin_ns, _) = oracle.script.window(oracle.plan());
            begin_ns <= at_ns
        };
        self.oracles.iter().filter(has_begun)
    }

    fn findings(&self, at_ns: u64, tree: &Observed, databases: &Databases) -> Vec<StateFault> {
        let mut findings = Vec::new();
        for oracle in self.begun(at_ns) {
            let found = oracle.judge(at_ns, tree).into_iter();
            findings.extend(found.map(|finding| StateFault {
                name: format!("{}/{}", oracle.script.folder, finding.name),
                ..finding
            }));
        }
        for database in self.databases {
            let found = databases.get(&database.file);
            findings.extend(database.findings(at_ns, found));
        }
        findings
    }

    fn others_unreadable(&self, tree: &Observed, findings: &[StateFault]) -> Vec<String> {
        let reported: BTreeSet<&str> = findings.iter().map(|it| it.name.as_str()).collect();
        let others = tree.iter().filter(|(name, entry)| {
            matches!(entry, ObservedEntry::Unreadable(_)) && !reported.contains(name.as_str())
        });
        others.map(|(name, _)| name.clone()).collect()
    }
}

impl JudgedState {
    /// True if no power loss should leave it so, whether a document says that or not.
    pub fn is_failing(&self) -> bool {
        !self.findings.is_empty()
            || self.unmountable.is_some()
            || !self.unreadable.is_empty()
            || self.unmount_error.is_some()
            || self.check == Some(StateCheck::Errors)
    }

    /// What is wrong with it, in a line.
    pub fn what_is_wrong(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(error) = &self.unmountable {
            parts.push(format!("does not mount: {}", one_line(error)));
        }
        for finding in self.findings.iter().take(NAMED_MAX) {
            let bytes = match finding.bytes {
                0 => String::new(),
                bytes => format!(" ({})", Bytes(bytes)),
            };
            let fault = finding.fault.as_str();
            parts.push(format!("{} {fault}{bytes}", finding.name));
        }
        if self.findings.len() > NAMED_MAX {
            parts.push(format!("{} more", self.findings.len() - NAMED_MAX));
        }
        if let Some(name) = self.unreadable.first() {
            let name = if name.is_empty() { "the root" } else { name };
            parts.push(format!("{name} cannot be read"));
        }
        if let Some(error) = &self.unmount_error {
            parts.push(format!("does not unmount: {}", one_line(error)));
        }
        if self.check == Some(StateCheck::Errors) {
            parts.push("the check finds errors".to_owned());
        }
        if let Some(repair) = &self.repair {
            parts.push(match (&repair.mount_error, repair.lost.len()) {
                (Some(_), _) => "does not mount after the repair".to_owned(),
                (None, 0) => "repaired without a loss".to_owned(),
                (None, 1) => "the repair lost 1 file".to_owned(),
                (None, lost) => format!("the repair lost {lost} files"),
            });
        }
        parts.join("; ")
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogOperation;

    fn script(steps: impl Iterator<Item = String>) -> LogScript {
        let operation = |(at_ns, step): (u64, String)| LogOperation {
            step: step.parse().expect("a step"),
            begin_ns: at_ns,
            end_ns: at_ns,
            has_failed: false,
        };
        LogScript {
            phase: "p".into(),
            folder: "f".into(),
            number: 1,
            operations: (0..).zip(steps).map(operation).collect(),
            end_ns: 5000,
            properties: Vec::new(),
            published: None,
        }
    }

    /// A state took a step for each sector of a file and each step of its script: a head of some
    /// hundred KB kept a processor for hours.
    #[test]
    fn scripts_that_would_take_too_long_for_each_state_are_refused() {
        let of = |writes: usize| {
            let first = ["create a", "append a 16777216"].map(str::to_owned);
            let writes = (0..writes).map(|_| "write a 0 512".to_owned());
            script(first.into_iter().chain(writes))
        };
        let few = [of(50)];
        assert!(Judge::new(&few, &[]).is_ok());
        let many = [of(2100)];
        let error = Judge::new(&many, &[]).err().expect("refused");
        assert!(error.contains("67108864"), "{error}");
        let several: Vec<LogScript> = (0..60).map(|_| of(50)).collect();
        assert!(Judge::new(&several, &[]).is_err());
    }
}
