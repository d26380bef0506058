//! How files are opened, read and advised about: the same words on every platform.

/// How a data file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataFileOptions {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// O_CREAT.
    pub create: bool,
    /// O_TRUNC.
    pub truncate: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_DSYNC or O_SYNC.
    pub sync: OpenedSync,
}

/// What a write waits for, by the flags of open(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenedSync {
    /// The page cache only.
    #[default]
    None,
    /// O_DSYNC.
    Data,
    /// O_SYNC.
    Full,
}

/// Advice for posix_fadvise(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAdvice {
    /// POSIX_FADV_NORMAL.
    Normal,
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_RANDOM.
    Random,
    /// POSIX_FADV_WILLNEED.
    WillNeed,
    /// POSIX_FADV_DONTNEED.
    DontNeed,
    /// POSIX_FADV_NOREUSE.
    NoReuse,
}

/// Access mode of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamUse {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Reading and writing.
    Both,
}
