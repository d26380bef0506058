//! A case as it was judged, and its short words.

use crate::StateCheck;
use schemars::JsonSchema;
use serde::Serialize;

use crate::faults::{Aftermath, Detection, FaultCase, Recovery};

/// A case as it was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JudgedCase {
    /// The phase of the script.
    pub phase: String,
    /// The case.
    #[serde(flatten)]
    pub case: FaultCase,
    /// Accesses that failed; 0 if none was reached.
    pub hits: u64,
    /// Accesses to the same sectors beyond those of a run without faults.
    pub retries: u64,
    /// How it was noticed.
    pub detection: Detection,
    /// What the file system did.
    pub recovery: Recovery,
    /// What is left.
    pub aftermath: Aftermath,
    /// The errors that applications saw, with what saw them, in order.
    pub errors: Vec<String>,
    /// Those of the steps among them.
    pub failed_steps: Vec<String>,
    /// Bytes that applications read without an error while the disk failed, and that were wrong.
    pub wrong_bytes: u64,
    /// Bytes that applications read before the unmount, and that are others after the next mount.
    pub diverged_bytes: u64,
    /// The first errors in the kernel's log, or how it ended.
    pub kernel: Vec<String>,
    /// Bytes, and names, that were synced without an error and are gone or wrong after the mount.
    pub lost_bytes: u64,
    /// The names.
    pub lost_names: Vec<String>,
    /// The same after the repair; those of the mount if none was needed.
    pub lost_bytes_at_end: u64,
    /// Bytes that no sync covered and that are gone.
    pub unsynced_bytes: u64,
    /// What the checker says.
    pub check: Option<StateCheck>,
    /// Why it does not mount, before a repair and after it.
    pub mount_errors: Vec<String>,
}

impl JudgedCase {
    /// What the file system made of it, in short words.
    pub fn words(&self) -> String {
        if self.hits == 0 {
            return "not reached".to_owned();
        }
        let mut words: Vec<String> = Vec::new();
        match (&self.detection, self.recovery) {
            (_, Recovery::Panic) => words.push("panic".to_owned()),
            (_, Recovery::Hang) => words.push("hang".to_owned()),
            (Detection::Nothing, _) => words.push("none".to_owned()),
            (Detection::Log, _) => words.push("log".to_owned()),
            (Detection::Errno(name), _) => words.push(name.clone()),
            (Detection::Kernel, _) => {}
        }
        words.extend(match self.recovery {
            Recovery::RefusesMount => Some("no mount".to_owned()),
            Recovery::ReadOnly => Some("ro".to_owned()),
            Recovery::Stops => Some("stop".to_owned()),
            _ => None,
        });
        words.extend((self.retries > 0).then(|| "retry".to_owned()));
        words.extend((self.wrong_bytes > 0).then(|| "wrong data".to_owned()));
        words.extend(match self.aftermath {
            Aftermath::Intact => None,
            Aftermath::Repaired => Some("repaired".to_owned()),
            Aftermath::Lost if self.lost_bytes_at_end == 0 => Some("lost names".to_owned()),
            Aftermath::Lost => Some(format!("lost {} B", self.lost_bytes_at_end)),
            Aftermath::Damaged => Some("damaged".to_owned()),
            Aftermath::Unmountable => Some("unmountable".to_owned()),
        });
        words.join(", ")
    }

    /// True if something is lost, wrong or unmountable, or the kernel ended.
    pub fn is_failing(&self) -> bool {
        self.hits > 0
            && (self.aftermath > Aftermath::Repaired
                || self.wrong_bytes > 0
                || self.recovery >= Recovery::Panic)
    }

    /// How bad it is, for choosing among the cases of a cell.
    pub fn badness(&self) -> (bool, Aftermath, bool, bool, Recovery) {
        (
            self.hits > 0,
            self.aftermath,
            self.wrong_bytes > 0,
            self.detection == Detection::Nothing,
            self.recovery,
        )
    }
}
