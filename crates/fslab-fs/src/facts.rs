//! The tables of facts: what each file system does under one kernel, as the study `conformance`
//! measured it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fslab_model::{
    Bytes, FILE_SYSTEM_FACT, FILE_SYSTEM_FACTS, FactDefinition, Failure, FailureKind, RunRecord,
    TomlError,
};
use serde::{Deserialize, Serialize};

use crate::driver::series_of;

/// The tables in facts/, by version: a new one is a file there and a line here.
const MEASURED: [&str; 2] = [
    include_str!("../../../facts/6.12.117-fslab.toml"),
    include_str!("../../../facts/7.2.13-fslab.toml"),
];
/// The place of that of the default lab.
const OF_DEFAULT_LAB: usize = 0;

static TABLES: LazyLock<Vec<FactsTable>> = LazyLock::new(|| {
    let read = |text: &&str| FactsTable::from_toml(text).expect("each is read in a test");
    MEASURED.iter().map(read).collect()
});

/// The facts of file systems under one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactsTable {
    /// Version of the format.
    format: u32,
    /// The kernel's release.
    pub kernel: String,
    /// The size of the devices in bytes.
    pub size: u64,
    /// Facts by file system and name.
    pub facts: BTreeMap<String, BTreeMap<String, String>>,
}

/// The fact that comes from the kernel's source.
pub(crate) const MAINTENANCE_FACT: &str = "driver.maintenance";

/// The only version of the format.
const FORMAT: u32 = 1;

/// What a file system mounted with the option `sync` sends at once, by the names of these facts.
fn with_option(found: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let renamed = FILE_SYSTEM_FACTS.iter().filter_map(|fact| {
        let operation = fact.name.strip_prefix("sync_option.")?;
        let value = found.get(&format!("write.{operation}"))?;
        Some((fact.name.to_owned(), value.clone()))
    });
    renamed.collect()
}

/// A fact that two tables have with different values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactDifference {
    pub file_system: String,
    pub fact: &'static FactDefinition,
    /// Its values; `None` where it was not measured.
    pub values: [Option<String>; 2],
}

impl FactsTable {
    /// The facts under the kernel of the default lab.
    pub fn measured() -> &'static Self {
        &TABLES[OF_DEFAULT_LAB]
    }

    /// The facts under each kernel that was measured, by version.
    pub fn all_measured() -> &'static [Self] {
        &TABLES
    }

    /// The facts under a kernel of the series of `release`, such as `7.2` or `7.2.13-amd64`.
    ///
    /// # Errors
    /// Bad input if no kernel of that series was measured.
    pub fn of_kernel(release: &str) -> Result<&'static Self, Failure> {
        let asked = series_of(release);
        let table = TABLES
            .iter()
            .find(|table| asked.is_some() && series_of(&table.kernel) == asked);
        table.ok_or_else(|| {
            let known: Vec<&str> = TABLES.iter().map(|it| it.kernel.as_str()).collect();
            let text = format!("there are no facts of file systems under Linux {release}");
            Failure::bad_input(text).hint(format!(
                "there are facts under {}; of another kernel scripts/facts measures them",
                known.join(", ")
            ))
        })
    }

    /// Reads a table.
    pub fn from_toml(text: &str) -> Result<Self, TomlError> {
        let table: Self = fslab_model::from_toml(text)?;
        if table.format != FORMAT {
            let text = format!("is {}; this fslab reads {FORMAT}", table.format);
            return Err(TomlError::new(["format"], text));
        }
        Ok(table)
    }

    /// The table as TOML, with the facts of each file system in the order of
    /// [`FILE_SYSTEM_FACTS`].
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut text = format!(
            "# What each file system does under one kernel. Made by scripts/facts.\n\nformat = \
             {FORMAT}\nkernel = {}\nsize = {}\n",
            quoted(&self.kernel),
            self.size
        );
        for (name, facts) in &self.facts {
            text.push_str(&format!("\n[facts.{}]\n", quoted(name)));
            let listed = FILE_SYSTEM_FACTS.iter();
            for (fact, value) in listed.filter_map(|it| Some((it, facts.get(it.name)?))) {
                text.push_str(&format!("{} = {}\n", quoted(fact.name), quoted(value)));
            }
        }
        text
    }

    /// The facts that the trials of a run found, of subjects without options; of subjects with the
    /// option `sync`, only what they send at once.
    pub fn of_run(run: &RunRecord) -> Result<Self, Failure> {
        let plan = &run.header.plan;
        let mut facts: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut kernel = None;
        for trial in &run.trials {
            let found = trial.facts.iter();
            let found = found.filter_map(|(name, value)| {
                let name = name.strip_prefix(FILE_SYSTEM_FACT)?;
                Some((name.to_owned(), value.clone()))
            });
            let found: BTreeMap<String, String> = found.collect();
            let subject = trial.subject.to_string();
            let found: BTreeMap<String, String> = match subject.strip_prefix(trial.subject.fs()) {
                Some("") => found,
                Some(":mount=sync") => with_option(&found),
                _ => continue,
            };
            if found.is_empty() {
                continue;
            }
            kernel = kernel.or_else(|| trial.facts.get("kernel").cloned());
            let of_it = facts.entry(trial.subject.fs().to_owned()).or_default();
            of_it.extend(found);
        }
        match kernel {
            Some(kernel) if !facts.is_empty() => Ok(Self {
                format: FORMAT,
                kernel,
                size: plan.size_bytes.0,
                facts,
            }),
            _ => {
                let text = format!("the run {} has no facts of file systems", run.header.run);
                let hint = "the study conformance measures them: fslab compare all --study \
                            conformance --venue guest";
                Err(Failure::new(FailureKind::BadInput, text).hint(hint))
            }
        }
    }

    /// Adds who maintains each driver, by the status of directories below `fs/` of the source.
    pub fn add_maintenance(&mut self, by_directory: &BTreeMap<String, String>) {
        for (name, facts) in &mut self.facts {
            let directory = crate::find(name).ok().and_then(|it| it.driver.directory());
            if let Some(status) = directory.and_then(|it| by_directory.get(it)) {
                facts.insert(MAINTENANCE_FACT.to_owned(), status.clone());
            }
        }
    }

    /// Adds the facts of another run.
    ///
    /// # Errors
    /// Bad input if its kernel or the size of its devices is another.
    pub fn join(&mut self, other: Self) -> Result<(), Failure> {
        let of = |it: &Self| format!("Linux {} and {}", it.kernel, Bytes(it.size));
        if of(self) != of(&other) {
            let text = format!("the runs are of {} and of {}", of(self), of(&other));
            return Err(Failure::bad_input(text).hint("give runs of one lab and one size"));
        }
        for (name, facts) in other.facts {
            self.facts.entry(name).or_default().extend(facts);
        }
        Ok(())
    }

    /// The fact `name` of a file system; `None` if it was not measured.
    pub fn get(&self, file_system: &str, name: &str) -> Option<&str> {
        Some(self.facts.get(file_system)?.get(name)?)
    }

    /// Whether the fact was measured of any file system.
    fn has(&self, name: &str) -> bool {
        self.facts.values().any(|facts| facts.contains_key(name))
    }

    /// The facts of a file system with their definitions, in order.
    pub fn of(&self, file_system: &str) -> Vec<(&'static FactDefinition, &str)> {
        let listed = FILE_SYSTEM_FACTS.iter();
        let found = listed.filter_map(|it| Some((it, self.get(file_system, it.name)?)));
        found.collect()
    }

    /// The facts of file systems of both tables that differ. Facts that depend on the size are left
    /// out where the sizes differ, those that only one table has everywhere, and those of which
    /// both have a lower bound.
    pub fn differences(&self, other: &Self) -> Vec<FactDifference> {
        let mut differences = Vec::new();
        for (name, facts) in &self.facts {
            let Some(others) = other.facts.get(name) else {
                continue;
            };
            for fact in FILE_SYSTEM_FACTS {
                let is_everywhere = [self, other].iter().all(|it| it.has(fact.name));
                if !is_everywhere || fact.of_size && self.size != other.size {
                    continue;
                }
                let values = [facts.get(fact.name), others.get(fact.name)];
                // Where the measurement ended by its time, the values depend on the machine.
                let is_bound = |it: &Option<&String>| it.is_some_and(|it| it.contains(" or more"));
                if values[0] != values[1]
                    && !values.iter().all(is_bound)
                    && values.iter().any(Option::is_some)
                {
                    differences.push(FactDifference {
                        file_system: name.clone(),
                        fact,
                        values: values.map(Option::<&String>::cloned),
                    });
                }
            }
        }
        differences
    }
}
