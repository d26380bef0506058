//! What is left of a disk after a power loss, over the states that were judged.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Failure, PhaseSpec};

/// What is wrong with a file.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FaultKind {
    /// Its name was durable, and is gone.
    Lost,
    /// Durable data lies beyond its end.
    Truncated,
    /// Durable data is zeros.
    Zeroed,
    /// Durable data is an older version, or a durable name is an older file's.
    Old,
    /// Where its data should be is data of another file.
    Foreign,
    /// Where its data should be is what no step wrote.
    Garbage,
    /// A name is there that was durably removed.
    Resurrected,
    /// It is there and cannot be read.
    Unreadable,
    /// Where data was not yet durable is that of another file, or what no step wrote.
    Exposed,
}

impl FaultKind {
    /// All, in order.
    pub const ALL: [Self; 9] = [
        Self::Lost,
        Self::Truncated,
        Self::Zeroed,
        Self::Old,
        Self::Foreign,
        Self::Garbage,
        Self::Resurrected,
        Self::Unreadable,
        Self::Exposed,
    ];

    /// The fault in a word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a document promises; `promises.toml` has the documents.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseId {
    /// Data and size of a file after fsync(2).
    Fsync,
    /// Data and size of a file after fdatasync(2).
    Fdatasync,
    /// Everything after sync(2).
    Sync,
    /// What was written with O_SYNC.
    OpenSync,
    /// Names after an fsync(2) of their directory.
    FsyncDirectory,
    /// A file that is renamed has its old name or its new one.
    Rename,
    /// A file has no data of others, and none that was there before it.
    NoStaleData,
    /// It mounts, and its checker finds no errors after that.
    Consistent,
    /// A transaction of a database that was committed is there.
    Commit,
    /// A transaction of a database is there entirely or not at all.
    AtomicCommit,
}

/// How a state was made.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// Everything that was submitted is kept: a prefix of the log.
    Prefix,
    /// Nothing of what is pending is kept.
    NothingPending,
    /// One pending write is lost.
    OneLost,
    /// One pending write is kept, and all others are lost.
    OneKept,
    /// One pending write is cut at a sector, and all others are kept.
    Torn,
    /// Two pending writes are lost.
    TwoLost,
    /// A subset that chance has chosen.
    Sampled,
}

impl StateKind {
    /// All kinds, in the order in which a budget is spent.
    pub const ALL: [Self; 7] = [
        Self::Prefix,
        Self::NothingPending,
        Self::OneLost,
        Self::OneKept,
        Self::Torn,
        Self::TwoLost,
        Self::Sampled,
    ];

    /// The kind in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prefix => "everything kept",
            Self::NothingPending => "nothing pending kept",
            Self::OneLost => "one write lost",
            Self::OneKept => "one write kept",
            Self::Torn => "one write torn",
            Self::TwoLost => "two writes lost",
            Self::Sampled => "sampled",
        }
    }
}

/// The states of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindCount {
    /// Different states; a state that another kind has is counted there. Where there are too many
    /// to
    /// compare, all states, of which some may be equal.
    pub possible: u64,
    /// Those chosen.
    pub tried: u64,
}

/// How often a fault was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCount {
    /// States that have it.
    pub states: u64,
    /// Different names over all states.
    pub files: u64,
    /// The most bytes of one state.
    pub bytes: u64,
}

/// What is left of a log's disk after a power loss, over all states that were judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Median of the recovery times; `None` if no state mounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_median_ns: Option<u64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_max_ns: Option<u64>,
    /// The most bytes that were written, not synced, and gone.
    pub unsynced_bytes: u64,
    /// How old the oldest of them was.
    pub unsynced_age_ns: u64,
    /// The properties that the scripts ask for, with the states that do not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<PropertyCount>,
    /// States with broken promises, the shortest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<BrokenState>,
}

/// A property, and how many states do not have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PropertyCount {
    /// The phase of the script.
    pub phase: String,
    /// Its place in the script's list.
    pub number: usize,
    /// The property in words.
    pub text: String,
    /// How many states do not have it.
    pub states: u64,
    /// What was published of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedProperty>,
}

/// In how many of the configurations that were studied a property does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedProperty {
    /// Those without it.
    pub without: u32,
    /// All that were studied.
    pub of: u32,
}

/// A state that breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenState {
    /// The state, as `fslab crash replay` takes it.
    pub state: String,
    /// The promises that it breaks.
    pub breaks: Vec<PromiseId>,
    /// What is wrong with it, in words.
    pub what: String,
}

/// What is judged of each subject besides its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SurvivalPlan {
    /// The study whose scripts are done.
    pub study: String,
    /// Its phases.
    pub phases: Vec<PhaseSpec>,
    /// The most states of each subject.
    pub states: usize,
}

/// Whether the states of a subject's disk were judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum SurvivalOutcome {
    /// They were.
    Judged {
        /// What is left of it.
        survival: Box<Survival>,
    },
    /// They could not be.
    Failed {
        /// Why.
        failure: Failure,
    },
}

impl SurvivalOutcome {
    /// What is left; `None` if that was not judged.
    pub fn judged(&self) -> Option<&Survival> {
        match self {
            Self::Judged { survival } => Some(survival),
            Self::Failed { .. } => None,
        }
    }
}
