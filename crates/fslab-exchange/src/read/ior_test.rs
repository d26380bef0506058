//! The tests of one execution of IOR, and their phases: those of repetition N are trial N.
//!
//! IOR's bandwidth is of the time from the first open to the last close. The rate of operations
//! here is the one of its summary, over the same time; its column IOPS leaves open and close out.

use std::collections::BTreeMap;

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{Facts, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord};
use serde_json::Value;

use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading};

/// What a row of results is of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Access {
    Write,
    Read,
    Remove,
}

impl Access {
    pub(super) const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|access| access.name() == name)
    }
}

/// A row of results. `None` is what IOR does not give.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) access: Access,
    pub(super) bandwidth_mib: Option<f64>,
    pub(super) total_s: Option<f64>,
    /// What IOR says of it besides.
    pub(super) notes: Vec<String>,
}

/// What an export of fslab adds to a test.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) subject: String,
    pub(super) phase: String,
    /// The repeat of each row.
    pub(super) repeats: Vec<u32>,
}

/// What a test has to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The accesses that it must have made.
    pub(super) accesses: Vec<Access>,
    /// Whether a limit of time may have left repetitions out.
    pub(super) may_end_early: bool,
}

/// One test of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Test {
    pub(super) place: String,
    pub(super) id: String,
    pub(super) parameters: Parameters,
    pub(super) repetitions: Option<u64>,
    pub(super) asked: Asked,
    pub(super) rows: Vec<Row>,
    pub(super) origin: Option<Origin>,
}

/// One execution of IOR.
#[derive(Clone, Debug, Default)]
pub(super) struct Execution {
    pub(super) place: String,
    pub(super) version: String,
    pub(super) facts: Facts,
    pub(super) began: Option<String>,
    pub(super) tests: Vec<Test>,
    /// Whether the output says that it ends.
    pub(super) has_end: bool,
}

impl Execution {
    /// The name of the tool, as of runs of it: `ior 4.0.0`.
    pub(super) fn tool(&self) -> String {
        format!("ior {}", self.version).trim_end().to_owned()
    }

    /// What remains uncertain.
    pub(super) fn note(&self) -> Option<String> {
        (!self.has_end).then(|| {
            "its end is not marked, as in the outputs of IOR that IO500 keeps: tests cut off after \
             the last result would not be noticed"
                .to_owned()
        })
    }

    /// Adds its trials to `reading`.
    pub(super) fn close(self, reading: &mut Reading) -> Result<(), Fault> {
        if self.tests.is_empty() {
            let missing = format!("{} was started, and no test follows", self.tool());
            return Err(Fault::truncated(self.place, missing));
        }
        let mut trials: BTreeMap<(Option<String>, u32), Vec<PhaseRecord>> = BTreeMap::new();
        let is_single = self.tests.len() == 1;
        for test in &self.tests {
            test.ensure_complete()?;
            let mut counts: BTreeMap<Access, u32> = BTreeMap::new();
            for (at, row) in test.rows.iter().enumerate() {
                let count = counts.entry(row.access).or_default();
                let repeat = match &test.origin {
                    Some(origin) => origin.repeats[at],
                    None => *count,
                };
                *count += 1;
                let subject = test.origin.as_ref().map(|origin| origin.subject.clone());
                let phases = trials.entry((subject, repeat)).or_default();
                let phase = test.phase(row, is_single);
                if phases.iter().any(|known| known.name == phase.name) {
                    let wanted = "a repeat that occurs once";
                    let found = format!("repeat {repeat} of {}", phase.name);
                    return Err(Fault::value(&*test.place, found, wanted));
                }
                phases.push(phase);
            }
        }
        for ((subject, repeat), phases) in trials {
            reading.trials.push(Measured {
                repeat: subject.is_some().then_some(repeat),
                subject,
                phases,
                facts: self.facts.clone(),
                stamp: self
                    .began
                    .as_ref()
                    .map(|began| format!("{began}, {repeat}")),
                ..Measured::default()
            });
        }
        Ok(())
    }
}

impl Test {
    /// Checks that every access was made as often as the test was to be repeated.
    fn ensure_complete(&self) -> Result<(), Fault> {
        let made = |access: Access| self.rows.iter().filter(|row| row.access == access).count();
        let truncated = |missing: String| Err(Fault::truncated(&*self.place, missing));
        for access in [Access::Write, Access::Read] {
            let (name, made) = (access.name(), made(access));
            if made == 0 && self.asked.accesses.contains(&access) {
                return truncated(format!("IOR had to {name}, and has no result of it"));
            }
            let repetitions = self.repetitions.filter(|_| !self.asked.may_end_early);
            let is_short = repetitions.is_some_and(|count| count != made as u64);
            if let Some(repetitions) = repetitions.filter(|_| made > 0 && is_short) {
                return truncated(format!(
                    "test {} has {made} results of '{name}', and {repetitions} repetitions",
                    self.id
                ));
            }
        }
        match self.rows.is_empty() {
            true => truncated(format!("test {} has no result", self.id)),
            false => Ok(()),
        }
    }

    fn phase(&self, row: &Row, is_single: bool) -> PhaseRecord {
        let name = match (&self.origin, is_single) {
            (Some(origin), _) => origin.phase.clone(),
            (None, true) => row.access.name().to_owned(),
            (None, false) => format!("test-{}-{}", self.id, row.access.name()),
        };
        let (kind, headline) = match row.access {
            Access::Write => (PhaseKind::Write, Headline::Throughput),
            Access::Read => (PhaseKind::Read, Headline::Throughput),
            Access::Remove => (PhaseKind::Metadata, Headline::Duration),
        };
        let mut parameters = self.parameters.clone();
        parameters.insert("direction".into(), row.access.name().into());
        let draft = Draft {
            name,
            workload: "ior".to_owned(),
            kind,
            headline,
            parameters,
            swept: None,
        };
        let mut record = draft.record();
        record.notes.clone_from(&row.notes);
        let mut set = |name: &str, value: f64| record.figures.insert(name.to_owned(), value);
        if let Some(seconds) = row.total_s.filter(|seconds| *seconds > 0.0) {
            set(ELAPSED.name, (seconds * 1e9).round());
        }
        let mib = row.bandwidth_mib.filter(|mib| *mib > 0.0);
        if let Some(mib) = mib {
            let bytes = mib * f64::from(1 << 20);
            set(THROUGHPUT.name, bytes);
            if let Some(transfer) = number(&self.parameters, "transfer_size") {
                set(OPERATION_RATE.name, bytes / transfer as f64);
            }
        }
        let is_measured = match row.access {
            Access::Write | Access::Read => mib.is_some(),
            Access::Remove => record.figures.contains_key(ELAPSED.name),
        };
        if !is_measured {
            record.figures.clear();
            record.outcome = PhaseOutcome::Skipped {
                reason: "IOR gives no figure of it: it took less than its clock resolves"
                    .to_owned(),
            };
        }
        record
    }
}

/// The parameter `name`, if it is a count from 1.
pub(super) fn number(parameters: &Parameters, name: &str) -> Option<u64> {
    let number = parameters.get(name).and_then(Value::as_u64);
    number.filter(|number| *number > 0)
}
