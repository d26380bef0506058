//! An entry in full, as `fslab fs show` prints it: serialisable, without functions.

use std::collections::BTreeMap;

use fslab_model::{Bytes, Capabilities, Reservation, Subject};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Class, Driver, FactsTable, FileSystem, KernelBug, MkfsDefaults};

/// A program and its package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolDetails {
    /// Its name.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
}

/// A catalogue entry as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Details {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in prose.
    pub title: &'static str,
    /// Its history.
    pub history: &'static str,
    /// Its origin, in one word.
    pub class: Class,
    /// The type of its mounts; `None` if nothing mounts it.
    pub fs_type: Option<&'static str>,
    /// The drivers that may serve that name.
    pub served_by: &'static [&'static str],
    /// The kernel configuration that includes it.
    pub kernel_config: Option<String>,
    /// Why it cannot be used anywhere; `None` if it can.
    pub unavailable: Option<&'static str>,
    /// The programs that a trial runs.
    pub tools: Vec<ToolDetails>,
    /// The mkfs command, with the word `DEVICE`.
    pub mkfs: Option<Vec<String>>,
    /// Its earlier defaults, the oldest first: `mkfs=@VERSION` in a subject.
    pub mkfs_defaults: Vec<MkfsDefaults>,
    /// The mount command, with the words `DEVICE` and `MOUNTPOINT`.
    pub mount: Option<Vec<String>>,
    /// The check command, with the word `DEVICE`.
    pub check: Option<Vec<String>>,
    /// What the checker does not check, if that is much.
    pub check_blind_to: Option<&'static str>,
    /// What speaks for or against it beside its speed.
    pub reservations: Vec<Reservation>,
    /// Known bugs of kernels.
    pub bugs: &'static [KernelBug],
    /// Deviations of the commands from their tools' defaults, with the reason.
    pub deviations: &'static [&'static str],
    /// The smallest device.
    pub minimum_bytes: Bytes,
    /// The version of mkfs that the smallest device was measured with.
    pub minimum_mkfs_version: &'static str,
    /// What that mkfs does below it: the end of a sentence that begins with its name.
    pub below_minimum: &'static str,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// What it does, as measured; `None` if it was not.
    pub facts: Option<FactDetails>,
}

/// What a file system does under one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FactDetails {
    /// The kernel's release.
    pub kernel: &'static str,
    /// The size of the device in bytes.
    pub size_bytes: Bytes,
    /// Facts by name.
    pub facts: BTreeMap<&'static str, &'static str>,
}

impl FactDetails {
    fn of(name: &str, table: &'static FactsTable) -> Option<Self> {
        let facts = table.of(name).into_iter();
        let facts: BTreeMap<_, _> = facts.map(|(fact, value)| (fact.name, value)).collect();
        (!facts.is_empty()).then_some(Self {
            kernel: &table.kernel,
            size_bytes: Bytes(table.size),
            facts,
        })
    }
}

impl FileSystem {
    /// The entry in full, with what it does under the kernel of the default lab.
    pub fn details(&self) -> Details {
        self.details_under(FactsTable::measured())
    }

    /// The entry in full, with what it does under the kernel of `table`.
    pub fn details_under(&self, table: &'static FactsTable) -> Details {
        let kernel = match &self.driver {
            Driver::Kernel(driver) => Some(driver),
            _ => None,
        };
        // An entry without a driver has no commands; `unavailable` has the reason.
        let plan = self.plan(&Subject::plain(self.name)).ok();
        let tool = |tool: crate::Tool| ToolDetails {
            program: tool.program,
            package: tool.package,
        };
        Details {
            name: self.name,
            title: self.title,
            history: self.history,
            class: self.class,
            fs_type: self.driver.mounted_types().first().copied(),
            served_by: kernel.map_or(&[], |driver| driver.served_by),
            kernel_config: self.driver.config().map(|config| config.to_string()),
            unavailable: match self.driver {
                Driver::Nowhere(reason) => Some(reason),
                _ => None,
            },
            tools: self.tools().into_iter().map(tool).collect(),
            mkfs: plan.as_ref().and_then(|plan| plan.mkfs.clone()),
            mkfs_defaults: self.mkfs.map_or_else(Vec::new, |mkfs| mkfs.defaults.sets()),
            mount: plan.as_ref().and_then(|plan| plan.mount.clone()),
            check: plan.and_then(|plan| plan.check),
            check_blind_to: self.check.and_then(|check| check.blind_to),
            reservations: self.reservations_of(&Subject::plain(self.name)),
            bugs: self.bugs,
            deviations: self.deviations,
            minimum_bytes: self.minimum.size,
            minimum_mkfs_version: self.minimum.mkfs_version,
            below_minimum: self.minimum.below,
            capabilities: self.capabilities,
            facts: FactDetails::of(self.name, table),
        }
    }
}
