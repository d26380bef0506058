//! The states of a log together: what is lost, in how many of them, and which promises that breaks.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    BrokenProperty, FaultKind, JudgedState, KindCount, PromiseId, Promises, StateCheck, StateFault,
    StateKind,
};

/// How often a fault was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCount {
    /// States that have it.
    pub states: u64,
    /// Different names over all states.
    pub files: u64,
    /// The most bytes of one state.
    pub bytes: u64,
}

/// What is left of a log's disk after a power loss, over all states that were judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Survival {
    /// States that were judged.
    pub states: u64,
    /// States by kind: those that there are, and those that were judged.
    pub kinds: BTreeMap<StateKind, KindCount>,
    /// States in which something is wrong that a document promises.
    pub broken_states: u64,
    /// Faults of data and names that a document promises.
    pub broken: BTreeMap<FaultKind, FaultCount>,
    /// Faults that no document of this file system speaks of.
    pub unpromised: BTreeMap<FaultKind, FaultCount>,
    /// The promises that were broken, with the states of each.
    pub promises: BTreeMap<PromiseId, u64>,
    /// States that do not mount, or end the kernel.
    pub unmountable: u64,
    /// States with names that cannot be read, apart from those of scripts.
    pub unreadable: u64,
    /// Mounted states in which no file can be written.
    pub read_only: u64,
    /// States in which the checker finds errors.
    pub check_errors: u64,
    /// States that the checker could not look at.
    pub check_failed: u64,
    /// States that were repaired.
    pub repaired: u64,
    /// States that do not mount after the repair.
    pub repair_failed: u64,
    /// States that have lost by the repair what a document promises.
    pub lost_by_repair: u64,
    /// States that have more than a guest reads.
    pub cut: u64,
    /// Median of the recovery times.
    pub recovery_median_ns: u64,
    /// The longest.
    pub recovery_max_ns: u64,
    /// The most bytes that were written, not synced, and gone.
    pub unsynced_bytes: u64,
    /// How old the oldest of them was.
    pub unsynced_age_ns: u64,
    /// The properties that some state does not have.
    pub properties: Vec<PropertyCount>,
}

/// A property that some states do not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropertyCount {
    /// The property.
    #[serde(flatten)]
    pub property: BrokenProperty,
    /// How many states.
    pub states: u64,
}

/// The subject whose promises are asked.
#[derive(Clone, Copy, Debug)]
pub struct PromisedBy<'a> {
    /// The promises.
    pub promises: &'a Promises,
    /// The file system's name.
    pub fs: &'a str,
    /// Its mount options.
    pub options: &'a [String],
}

impl PromisedBy<'_> {
    /// True if a document promises otherwise.
    #[must_use]
    pub fn is_broken_by(&self, finding: &StateFault) -> bool {
        self.promises.is_broken(finding, self.fs, self.options)
    }

    fn has(&self, id: PromiseId) -> bool {
        self.promises.of(id, self.fs, self.options).is_some()
    }

    /// The promises that a state breaks.
    #[must_use]
    pub fn broken_in(&self, state: &JudgedState) -> BTreeSet<PromiseId> {
        let findings = state.findings.iter().filter(|it| self.is_broken_by(it));
        let mut broken: BTreeSet<PromiseId> = findings.map(|it| it.promise).collect();
        let is_damaged = state.unmountable.is_some() || state.check == Some(StateCheck::Errors);
        if is_damaged && self.has(PromiseId::Consistent) {
            broken.insert(PromiseId::Consistent);
        }
        broken
    }
}

impl Survival {
    /// Sums up states.
    #[must_use]
    pub fn of(
        states: &[JudgedState],
        kinds: BTreeMap<StateKind, KindCount>,
        by: PromisedBy,
    ) -> Self {
        let mut sum = Self {
            states: states.len() as u64,
            kinds,
            ..Self::default()
        };
        let mut names: BTreeMap<(bool, FaultKind), BTreeSet<&str>> = BTreeMap::new();
        for state in states {
            sum.add(state, by, &mut names);
        }
        for ((is_promised, fault), names) in names {
            let counts = match is_promised {
                true => &mut sum.broken,
                false => &mut sum.unpromised,
            };
            counts.entry(fault).or_default().files = names.len() as u64;
        }
        let mut properties: BTreeMap<&BrokenProperty, u64> = BTreeMap::new();
        for broken in states.iter().flat_map(|it| &it.broken) {
            *properties.entry(broken).or_default() += 1;
        }
        let count = |(property, states): (&BrokenProperty, u64)| PropertyCount {
            property: property.clone(),
            states,
        };
        sum.properties = properties.into_iter().map(count).collect();
        let mut times: Vec<u64> = states.iter().filter_map(|it| it.recovery_ns).collect();
        times.sort_unstable();
        sum.recovery_median_ns = times.get(times.len() / 2).copied().unwrap_or(0);
        sum.recovery_max_ns = times.last().copied().unwrap_or(0);
        sum
    }

    fn add<'a>(
        &mut self,
        state: &'a JudgedState,
        by: PromisedBy,
        names: &mut BTreeMap<(bool, FaultKind), BTreeSet<&'a str>>,
    ) {
        let mut bytes: BTreeMap<(bool, FaultKind), u64> = BTreeMap::new();
        for finding in &state.findings {
            let key = (by.is_broken_by(finding), finding.fault);
            *bytes.entry(key).or_default() += finding.bytes;
            names.entry(key).or_default().insert(&finding.name);
        }
        for ((is_promised, fault), bytes) in bytes {
            let counts = match is_promised {
                true => &mut self.broken,
                false => &mut self.unpromised,
            };
            let count = counts.entry(fault).or_default();
            count.states += 1;
            count.bytes = count.bytes.max(bytes);
        }
        let broken = by.broken_in(state);
        self.broken_states += u64::from(!broken.is_empty());
        for promise in broken {
            *self.promises.entry(promise).or_default() += 1;
        }
        self.unmountable += u64::from(state.unmountable.is_some());
        self.unreadable += u64::from(!state.unreadable.is_empty());
        self.read_only += u64::from(state.write_error.is_some());
        self.check_errors += u64::from(state.check == Some(StateCheck::Errors));
        self.check_failed += u64::from(state.check == Some(StateCheck::CouldNotRun));
        self.cut += u64::from(state.is_cut);
        if let Some(repair) = &state.repair {
            self.repaired += 1;
            self.repair_failed += u64::from(repair.mount_error.is_some());
            let has_lost = repair.lost.iter().any(|it| by.is_broken_by(it));
            self.lost_by_repair += u64::from(has_lost);
        }
        self.unsynced_bytes = self.unsynced_bytes.max(state.unsynced.bytes);
        self.unsynced_age_ns = self.unsynced_age_ns.max(state.unsynced.age_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CrashState, Judge, LogOperation, LogScript, Observed, RepairReport, StateOutcome,
        StatePart, StateReport,
    };

    fn script() -> LogScript {
        let operation = |(number, text): (u64, &str)| LogOperation {
            step: text.parse().expect("a step"),
            begin_ns: 10 * number,
            end_ns: 10 * number + 9,
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
        }
    }

    fn judged(outcome: &StateOutcome) -> JudgedState {
        let scripts = [script()];
        let judge = Judge::new(&scripts).expect("a script");
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
        Survival::of(states, BTreeMap::new(), by)
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
        assert_eq!(found.recovery_max_ns, 7);
        let found = sum(&[state], "ext4", &["nobarrier".to_owned()]);
        assert_eq!(found.unpromised.get(&FaultKind::Lost), Some(&lost));
        assert_eq!((found.broken_states, found.broken.len()), (0, 0));
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
        assert_eq!(found.recovery_max_ns, 0);
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
