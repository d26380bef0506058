//! What a guest kernel finds in a state: from the guest to the host.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::observed::ensure_sound_tree;
use crate::{DatabaseReport, FaultyReport, LogScript, Observed};

/// What a guest needs to judge states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateTask {
    /// The subject, as text.
    pub subject: String,
    /// The device that has the states.
    pub device: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Size of the device.
    pub bytes: u64,
    /// The directories whose content is reported; of others only what cannot be read.
    pub folders: Vec<String>,
    /// The databases that are read, below the root.
    #[serde(default)]
    pub databases: Vec<String>,
    /// The device whose page blocks until the host has another state.
    pub turn: PathBuf,
    /// States until the guest ends.
    pub states: u64,
    /// The script that is done on the disk before each state is judged, while the disk may fail;
    /// `None` if states are judged as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faulty: Option<LogScript>,
}

/// A part of the judging, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatePart {
    /// Mounting and unmounting before the disk may fail.
    Prepare,
    /// Mounting while the disk may fail.
    FaultyMount,
    /// Reading everything while the disk may fail.
    FaultyRead,
    /// The steps of a script while the disk may fail.
    FaultySteps,
    /// Unmounting while the disk may fail.
    FaultyUnmount,
    /// Mounting, with recovery.
    Mount,
    /// Reading everything.
    Read,
    /// Writing a file.
    Write,
    /// Unmounting.
    Unmount,
    Check,
    /// The repair, and what is there after it.
    Repair,
}

impl StatePart {
    /// The part in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "first mount",
            Self::FaultyMount => "mount on the failing disk",
            Self::FaultyRead => "reading from the failing disk",
            Self::FaultySteps => "operations on the failing disk",
            Self::FaultyUnmount => "unmount of the failing disk",
            Self::Mount => "mount",
            Self::Read => "reading",
            Self::Write => "writing",
            Self::Unmount => "unmount",
            Self::Check => "check",
            Self::Repair => "repair",
        }
    }
}

/// A line of the guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateMessage {
    /// A part begins.
    Begin(StatePart),
    /// It was mounted and unmounted, and the guest waits: from now on the disk may fail.
    Prepared,
    /// The operations were done, and the guest waits: from now on the disk does not fail.
    Faulty(Box<FaultyReport>),
    /// The state was judged, and the guest waits for the next.
    Done(Box<StateReport>),
    /// The guest cannot judge states.
    Failed(String),
}

impl StateMessage {
    /// Writes a line of JSON.
    pub fn write_to(&self, output: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()
    }
}

/// What a checker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateCheck {
    /// It finds nothing.
    Clean,
    /// It finds errors.
    Errors,
    /// It does not run.
    CouldNotRun,
}

/// Databases as they were found, by their files.
pub type Databases = BTreeMap<String, DatabaseReport>;

/// What a repair left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairReport {
    /// The end of what the program wrote.
    pub output: String,
    /// Its exit status.
    pub exit_code: i32,
    /// Why it did not mount after that.
    pub mount_error: Option<String>,
    /// What was there, if it did.
    pub tree: Option<Observed>,
    /// The databases that were there.
    #[serde(default)]
    pub databases: Databases,
}

/// A state as a guest kernel finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateReport {
    /// Why it does not mount; `None` if it does.
    pub mount_error: Option<String>,
    /// How long the mount took in virtual time, with recovery.
    pub mount_ns: u64,
    /// What is there; `None` if it does not mount.
    pub tree: Option<Observed>,
    /// The databases that are there.
    #[serde(default)]
    pub databases: Databases,
    /// True if there is more than a guest reads.
    pub is_cut: bool,
    /// Why no file could be written and synced after the mount.
    pub write_error: Option<String>,
    /// Why it could not be unmounted.
    pub unmount_error: Option<String>,
    /// What the checker says; `None` without one.
    pub check: Option<StateCheck>,
    /// The end of what it wrote, if it found something.
    pub check_output: String,
    /// The repair; `None` if none was needed, or there is none.
    pub repair: Option<RepairReport>,
}

impl StateReport {
    /// Checks that a report is of a size that a guest may send.
    pub fn ensure_sound(&self) -> Result<(), &'static str> {
        let trees = [
            self.tree.as_ref(),
            self.repair.as_ref().and_then(|it| it.tree.as_ref()),
        ];
        trees.into_iter().flatten().try_for_each(ensure_sound_tree)
    }
}

/// How the judging of a state ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateOutcome {
    /// The guest reported what it found.
    Judged(Box<StateReport>),
    /// The guest kernel ended, with its last errors.
    Died(StatePart, String),
    /// The guest kernel did not answer within the limit.
    Hung(StatePart),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObservedEntry, ObservedFile, SectorContent, SectorRun};

    #[test]
    fn a_report_of_endless_files_is_refused() {
        let run = SectorRun {
            sectors: u32::MAX,
            first: SectorContent::Zeros,
        };
        let file = ObservedFile {
            bytes: 1,
            runs: vec![run],
        };
        let mut report = StateReport::default();
        assert_eq!(report.ensure_sound(), Ok(()));
        let tree = [("f/a".to_owned(), ObservedEntry::File(file))];
        report.tree = Some(tree.into_iter().collect());
        assert!(report.ensure_sound().is_err());
    }
}
