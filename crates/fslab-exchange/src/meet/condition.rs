//! The conditions under which a phase does something, in the common words of all formats.

use std::collections::BTreeMap;

use fslab_compare::ConditionDifference;
use fslab_model::Bytes;

/// The amount of a phase that accesses each record of its file once.
pub(super) const WHOLE_FILE: &str = "the file once";

/// A condition of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    FileSize,
    RecordSize,
    Amount,
    Files,
    FilesEach,
    Threads,
    Sharing,
    RankShift,
    QueueDepth,
    ReadShare,
    Stride,
    Sync,
    Direct,
    Cache,
    Engine,
    Distribution,
}

impl Condition {
    const ALL: [Self; 16] = [
        Self::FileSize,
        Self::RecordSize,
        Self::Amount,
        Self::Files,
        Self::FilesEach,
        Self::Threads,
        Self::Sharing,
        Self::RankShift,
        Self::QueueDepth,
        Self::ReadShare,
        Self::Stride,
        Self::Sync,
        Self::Direct,
        Self::Cache,
        Self::Engine,
        Self::Distribution,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::FileSize => "file size",
            Self::RecordSize => "record size",
            Self::Amount => "amount",
            Self::Files => "files",
            Self::FilesEach => "size of each file",
            Self::Threads => "threads",
            Self::Sharing => "sharing",
            Self::RankShift => "rank shift",
            Self::QueueDepth => "queue depth",
            Self::ReadShare => "share of reads",
            Self::Stride => "stride",
            Self::Sync => "sync",
            Self::Direct => "direct I/O",
            Self::Cache => "cache before it",
            Self::Engine => "I/O engine",
            Self::Distribution => "order of random access",
        }
    }

    /// Whether points of a sweep can only meet where it is equal.
    fn is_of_sweeps(self) -> bool {
        matches!(self, Self::FileSize | Self::RecordSize | Self::Threads)
    }
}

/// The known conditions of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions(BTreeMap<Condition, String>);

impl Conditions {
    pub(super) fn set(&mut self, condition: Condition, value: impl Into<String>) {
        self.0.insert(condition, value.into());
    }

    /// Sets a condition that may not be known.
    pub(super) fn set_known(&mut self, condition: Condition, value: Option<String>) {
        if let Some(value) = value {
            self.set(condition, value);
        }
    }

    pub(super) fn set_bytes(&mut self, condition: Condition, bytes: Option<u64>) {
        self.set_known(condition, bytes.map(|bytes| Bytes(bytes).to_string()));
    }

    pub(super) fn set_count(&mut self, condition: Condition, count: Option<u64>) {
        self.set_known(condition, count.map(|count| count.to_string()));
    }

    /// The conditions in words, in the order of [`Condition`].
    pub fn in_words(&self) -> Vec<String> {
        let each = self.0.iter();
        each.map(|(condition, value)| format!("{} {value}", condition.title()))
            .collect()
    }

    /// What differs, or is known of one side alone.
    pub(super) fn differences(&self, new: &Self) -> Vec<ConditionDifference> {
        let of = |condition: Condition| {
            let (base, new) = (self.0.get(&condition), new.0.get(&condition));
            (base != new).then(|| ConditionDifference {
                condition: condition.title(),
                base: base.cloned(),
                new: new.cloned(),
            })
        };
        Condition::ALL.into_iter().filter_map(of).collect()
    }

    /// The number of conditions that are known of both and differ.
    pub(super) fn distance(&self, other: &Self) -> usize {
        let differs = |(condition, value): &(&Condition, &String)| {
            other.0.get(condition).is_some_and(|other| other != *value)
        };
        self.0.iter().filter(differs).count()
    }

    /// True if both are of one point of a sweep, as far as is known of both.
    pub(super) fn is_same_point(&self, other: &Self) -> bool {
        let differs = |(condition, value): (&Condition, &String)| {
            condition.is_of_sweeps() && other.0.get(condition).is_some_and(|other| other != value)
        };
        !self.0.iter().any(differs)
    }
}
