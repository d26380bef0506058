//! Flags of calls that many file systems refuse.

/// What fallocate(2) does with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Allocates it, and lengthens the file.
    Plain,
    /// FALLOC_FL_KEEP_SIZE.
    KeepSize,
    /// FALLOC_FL_PUNCH_HOLE.
    PunchHole,
    /// FALLOC_FL_ZERO_RANGE.
    ZeroRange,
    /// FALLOC_FL_COLLAPSE_RANGE.
    CollapseRange,
    /// FALLOC_FL_INSERT_RANGE.
    InsertRange,
}

/// A flag of renameat2(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenameFlag {
    /// RENAME_NOREPLACE.
    NoReplace,
    /// RENAME_EXCHANGE.
    Exchange,
    /// RENAME_WHITEOUT.
    Whiteout,
}

/// A flag of preadv2(2) and pwritev2(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferFlag {
    /// RWF_DSYNC.
    DataSync,
    /// RWF_SYNC.
    Sync,
    /// RWF_NOWAIT.
    NoWait,
    /// RWF_APPEND.
    Append,
    /// RWF_NOAPPEND, of Linux 6.9.
    NoAppend,
    /// RWF_ATOMIC, of Linux 6.11.
    Atomic,
    /// RWF_DONTCACHE, of Linux 6.14.
    DontCache,
}
