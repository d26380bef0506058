//! The states of a log together: what is lost, in how many of them, and which promises that breaks.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    BrokenState, FaultKind, KindCount, PromiseId, PropertyCount, StateKind, Subject, Survival,
};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{JudgedState, LogScript, Promises, PropertyPlace, StateCheck, StateFault};

/// States with broken promises that are kept as examples.
const EXAMPLES_MAX: usize = 5;

/// The subject whose promises are asked.
#[derive(Clone, Copy, Debug)]
pub struct PromisedBy<'a> {
    pub promises: &'a Promises,
    /// The file system's name.
    pub fs: &'a str,
    /// Its mount options.
    pub options: &'a [String],
}

impl<'a> PromisedBy<'a> {
    /// What `promises` has for a subject.
    pub fn of(promises: &'a Promises, subject: &'a Subject) -> Self {
        Self {
            promises,
            fs: subject.fs(),
            options: subject.mount_options(),
        }
    }

    /// True if a document promises otherwise.
    pub fn is_broken_by(&self, finding: &StateFault) -> bool {
        self.promises.is_broken(finding, self.fs, self.options)
    }

    fn has(&self, id: PromiseId) -> bool {
        self.promises.of(id, self.fs, self.options).is_some()
    }

    /// The promises that a state breaks.
    pub fn broken_in(&self, state: &JudgedState) -> BTreeSet<PromiseId> {
        let findings = state.findings.iter().filter(|it| self.is_broken_by(it));
        let mut broken: BTreeSet<PromiseId> = findings.map(|it| it.promise).collect();
        let is_damaged = state.unmountable.is_some() || state.check == Some(StateCheck::Errors);
        if is_damaged && self.has(PromiseId::Consistent) {
            broken.insert(PromiseId::Consistent);
        }
        broken
    }

    /// The states in which something is wrong.
    pub fn failing(&self, states: Vec<JudgedState>) -> Vec<FailingState> {
        let failing = states.into_iter().filter(JudgedState::is_failing);
        let failing = failing.map(|state| FailingState {
            breaks: self.broken_in(&state).into_iter().collect(),
            state,
        });
        failing.collect()
    }
}

/// A state in which something is wrong.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FailingState {
    /// The promises that it breaks.
    pub breaks: Vec<PromiseId>,
    #[serde(flatten)]
    pub state: JudgedState,
}

/// The states of a log together; `scripts` are those of its judge.
pub fn survival(
    states: &[JudgedState],
    kinds: BTreeMap<StateKind, KindCount>,
    scripts: &[LogScript],
    by: PromisedBy,
) -> Survival {
    let mut sum = Survival {
        states: states.len() as u64,
        kinds,
        properties: properties(states, scripts),
        examples: examples(states, by),
        ..Survival::default()
    };
    let mut names: FaultNames = BTreeMap::new();
    for state in states {
        add(&mut sum, state, by, &mut names);
    }
    for ((is_promised, fault), names) in names {
        let counts = match is_promised {
            true => &mut sum.broken,
            false => &mut sum.unpromised,
        };
        counts.entry(fault).or_default().files = names.len() as u64;
    }
    let mut times: Vec<u64> = states.iter().filter_map(|it| it.recovery_ns).collect();
    times.sort_unstable();
    sum.recovery_median_ns = times.get(times.len() / 2).copied();
    sum.recovery_max_ns = times.last().copied();
    sum
}

/// Names of faults: whether a document promises otherwise, and the fault.
type FaultNames<'a> = BTreeMap<(bool, FaultKind), BTreeSet<&'a str>>;

/// The properties that scripts ask for, each phase and place once.
fn properties(states: &[JudgedState], scripts: &[LogScript]) -> Vec<PropertyCount> {
    let mut broken: BTreeMap<&PropertyPlace, u64> = BTreeMap::new();
    for place in states.iter().flat_map(|it| &it.broken) {
        *broken.entry(place).or_default() += 1;
    }
    let mut found: BTreeMap<PropertyPlace, PropertyCount> = BTreeMap::new();
    for script in scripts {
        for (number, property) in script.properties.iter().enumerate() {
            let place = PropertyPlace {
                phase: script.phase.clone(),
                number,
            };
            let count = PropertyCount {
                phase: script.phase.clone(),
                number,
                text: script.property_text(*property),
                states: broken.get(&place).copied().unwrap_or(0),
                published: script.published,
            };
            found.insert(place, count);
        }
    }
    found.into_values().collect()
}

fn examples(states: &[JudgedState], by: PromisedBy) -> Vec<BrokenState> {
    let example = |state: &JudgedState| {
        let breaks: Vec<PromiseId> = by.broken_in(state).into_iter().collect();
        (!breaks.is_empty()).then(|| BrokenState {
            state: state.state.clone(),
            what: state.what_is_wrong(),
            breaks,
        })
    };
    let mut found: Vec<BrokenState> = states.iter().filter_map(example).collect();
    found.sort_by_key(|it| it.state.len());
    found.truncate(EXAMPLES_MAX);
    found
}

fn add<'a>(sum: &mut Survival, state: &'a JudgedState, by: PromisedBy, names: &mut FaultNames<'a>) {
    let mut bytes: BTreeMap<(bool, FaultKind), u64> = BTreeMap::new();
    for finding in &state.findings {
        let key = (by.is_broken_by(finding), finding.fault);
        *bytes.entry(key).or_default() += finding.bytes;
        names.entry(key).or_default().insert(&finding.name);
    }
    for ((is_promised, fault), bytes) in bytes {
        let counts = match is_promised {
            true => &mut sum.broken,
            false => &mut sum.unpromised,
        };
        let count = counts.entry(fault).or_default();
        count.states += 1;
        count.bytes = count.bytes.max(bytes);
    }
    let broken = by.broken_in(state);
    sum.broken_states += u64::from(!broken.is_empty());
    for promise in broken {
        *sum.promises.entry(promise).or_default() += 1;
    }
    sum.unmountable += u64::from(state.unmountable.is_some());
    sum.unreadable += u64::from(!state.unreadable.is_empty());
    sum.read_only += u64::from(state.write_error.is_some());
    sum.check_errors += u64::from(state.check == Some(StateCheck::Errors));
    sum.check_failed += u64::from(state.check == Some(StateCheck::CouldNotRun));
    sum.cut += u64::from(state.is_cut);
    if let Some(repair) = &state.repair {
        sum.repaired += 1;
        sum.repair_failed += u64::from(repair.mount_error.is_some());
        let has_lost = repair.lost.iter().any(|it| by.is_broken_by(it));
        sum.lost_by_repair += u64::from(has_lost);
    }
    sum.unsynced_bytes = sum.unsynced_bytes.max(state.unsynced.bytes);
    sum.unsynced_age_ns = sum.unsynced_age_ns.max(state.unsynced.age_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CrashState, Judge, LogOperation, Observed, ObservedEntry, RepairReport, StateOutcome,
        StatePart, StateReport,
    };
    use fslab_model::FaultCount;

    fn script() -> LogScript {
        let operation = |(number, text): (u64, &str)| LogOperation {
            step: text.parse().expect("a step"),
            begin_ns: 10 * number,
            end_ns: 10 * number + 9,
            has_failed: false,
        };
        LogScript {
            phase: "append".into(),
            folder: "f".into(),
            number: 1,
            operations: (0..)
                .zip(["create a", "append a 512", "fsync a", "fsync ."])
                .map(operation)
                .collect(),
            end_ns: 100,
            properties: Vec::new(),
            published: None,
        }
    }

    fn judged(outcome: &StateOutcome) -> JudgedState {
        let scripts = [script()];
        let judge = Judge::new(&scripts, &[]).expect("a script");
        let state: CrashState = "90".parse().expect("a state");
        judge.judge(StateKind::Prefix, &state, state.to_string(), outcome)
    }

    fn report() -> StateReport {
        StateReport {
            tree: Some(Observed::new()),
            mount_ns: 7,
            check: Some(StateCheck::Clean),
            ..StateReport::default()
        }
    }

    fn sum(states: &[JudgedState], fs: &str, options: &[String]) -> Survival {
        let promises = Promises::built_in();
        let by = PromisedBy {
            promises: &promises,
            fs,
            options,
        };
        survival(states, BTreeMap::new(), &[script()], by)
    }

    #[test]
    fn a_lost_file_is_a_broken_promise_only_where_one_is_given() {
        let state = judged(&StateOutcome::Judged(Box::new(report())));
        assert_eq!(state.findings[0].name, "f/a");
        let found = sum(std::slice::from_ref(&state), "ext4", &[]);
        let lost = FaultCount {
            states: 1,
            files: 1,
            bytes: 512,
        };
        assert_eq!(found.broken.get(&FaultKind::Lost), Some(&lost));
        assert_eq!(found.promises.get(&PromiseId::FsyncDirectory), Some(&1));
        assert_eq!(found.recovery_max_ns, Some(7));
        let found = sum(&[state], "ext4", &["nobarrier".to_owned()]);
        assert_eq!(found.unpromised.get(&FaultKind::Lost), Some(&lost));
        assert_eq!((found.broken_states, found.broken.len()), (0, 0));
    }

    #[test]
    fn a_root_that_cannot_be_read_is_named() {
        let mut report = report();
        let unreadable = ObservedEntry::Unreadable("EIO".into());
        report.tree = Some(Observed::from([(String::new(), unreadable)]));
        let state = judged(&StateOutcome::Judged(Box::new(report)));
        assert_eq!(state.unreadable, [""]);
        let text = state.what_is_wrong();
        assert!(text.ends_with("; the root cannot be read"), "{text}");
    }

    #[test]
    fn a_kernel_that_dies_and_one_that_hangs_have_not_mounted() {
        let died = judged(&StateOutcome::Died(StatePart::Mount, "BUG".into()));
        let hung = judged(&StateOutcome::Hung(StatePart::Read));
        assert_eq!(
            died.unmountable.as_deref(),
            Some("the kernel died in the mount: BUG")
        );
        let found = sum(&[died, hung], "ext4", &[]);
        assert_eq!((found.unmountable, found.broken_states), (2, 2));
        // What cannot be mounted keeps nothing that was synced, whatever the file system promises.
        assert_eq!(
            found.broken.get(&FaultKind::Lost).map(|it| it.states),
            Some(2)
        );
        assert_eq!(found.recovery_max_ns, None);
    }

    #[test]
    fn what_a_repair_loses_is_apart_from_what_was_lost_before() {
        let repaired = |before: Option<Observed>| {
            judged(&StateOutcome::Judged(Box::new(StateReport {
                mount_error: before.is_none().then(|| "refused".to_owned()),
                tree: before,
                check: Some(StateCheck::Errors),
                repair: Some(RepairReport {
                    output: String::new(),
                    exit_code: 1,
                    mount_error: None,
                    tree: Some(Observed::new()),
                    databases: BTreeMap::new(),
                }),
                ..StateReport::default()
            })))
        };
        let lost_before = repaired(Some(Observed::new()));
        assert_eq!(lost_before.repair.as_ref().map(|it| it.lost.len()), Some(0));
        let not_mounted = repaired(None);
        assert_eq!(not_mounted.repair.as_ref().map(|it| it.lost.len()), Some(1));
        let found = sum(&[lost_before, not_mounted], "ext4", &[]);
        assert_eq!((found.repaired, found.lost_by_repair), (2, 1));
        assert_eq!((found.unmountable, found.check_errors), (1, 2));
    }
}
