//! What a phase does to files: the common words of all formats.

/// What a phase does to files. Phases of two tools meet if they do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// A new file, from its first to its last record.
    Write,
    /// An existing file, in place.
    Rewrite,
    /// A file, from its first to its last record; once more counts as the same.
    Read,
    /// A file, from its last to its first record.
    BackwardRead,
    /// Every Nth record.
    StridedRead,
    /// Records at random places.
    RandomRead,
    /// The same, written.
    RandomWrite,
    /// One record, again and again.
    RecordRewrite,
    /// Each record is read, changed and written back.
    Update,
    /// Reads and writes in order.
    Mix,
    /// Reads and writes at random places.
    RandomMix,
    /// bonnie's seeks.
    Seeks,
    /// putc(3).
    PutChar,
    /// getc(3).
    GetChar,
    /// fwrite(3) of a new file.
    StreamWrite,
    /// fwrite(3) of an existing file.
    StreamRewrite,
    /// fread(3).
    StreamRead,
    /// Files, created in order.
    Create,
    /// The same with random names.
    CreateRandom,
    /// stat(2) of each file.
    Stat,
    /// The same in random order.
    StatRandom,
    /// Each file, opened and closed.
    OpenFiles,
    /// Each file, opened and read.
    ReadFiles,
    /// rename(2) of each file.
    Rename,
    /// Each file, removed.
    Unlink,
    /// The same in random order.
    UnlinkRandom,
    /// mkdir(2).
    MakeDirectories,
    /// rmdir(2).
    RemoveDirectories,
}

impl Activity {
    /// All of them.
    pub const ALL: [Self; 28] = [
        Self::Write,
        Self::Rewrite,
        Self::Read,
        Self::BackwardRead,
        Self::StridedRead,
        Self::RandomRead,
        Self::RandomWrite,
        Self::RecordRewrite,
        Self::Update,
        Self::Mix,
        Self::RandomMix,
        Self::Seeks,
        Self::PutChar,
        Self::GetChar,
        Self::StreamWrite,
        Self::StreamRewrite,
        Self::StreamRead,
        Self::Create,
        Self::CreateRandom,
        Self::Stat,
        Self::StatRandom,
        Self::OpenFiles,
        Self::ReadFiles,
        Self::Rename,
        Self::Unlink,
        Self::UnlinkRandom,
        Self::MakeDirectories,
        Self::RemoveDirectories,
    ];

    /// It in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Write => "sequential write of a new file",
            Self::Rewrite => "sequential write over an existing file",
            Self::Read => "sequential read",
            Self::BackwardRead => "read from the last record to the first",
            Self::StridedRead => "read of every Nth record",
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
            Self::RecordRewrite => "write of one record, again and again",
            Self::Update => "read, change and write back of every record",
            Self::Mix => "sequential reads and writes",
            Self::RandomMix => "random reads and writes",
            Self::Seeks => "random reads by several seekers, some written back",
            Self::PutChar => "write by putc(3)",
            Self::GetChar => "read by getc(3)",
            Self::StreamWrite => "sequential fwrite(3) of a new file",
            Self::StreamRewrite => "sequential fwrite(3) over an existing file",
            Self::StreamRead => "sequential fread(3)",
            Self::Create => "creation of files",
            Self::CreateRandom => "creation of files with random names",
            Self::Stat => "stat(2) of files",
            Self::StatRandom => "stat(2) of files in random order",
            Self::OpenFiles => "open(2) and close(2) of files",
            Self::ReadFiles => "read of entire small files",
            Self::Rename => "rename(2) of files",
            Self::Unlink => "removal of files",
            Self::UnlinkRandom => "removal of files in random order",
            Self::MakeDirectories => "creation of directories",
            Self::RemoveDirectories => "removal of directories",
        }
    }

    /// The workload of fslab that does it: the one with fitting defaults, or the one with the
    /// settings for it.
    pub fn workload(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::BackwardRead => "backward-read",
            Self::StridedRead => "strided-read",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
            Self::RecordRewrite => "record-rewrite",
            Self::Update => "update",
            Self::Mix | Self::RandomMix => "io",
            Self::Seeks => "seeks",
            Self::PutChar => "put-char",
            Self::GetChar => "get-char",
            Self::StreamWrite => "fwrite",
            Self::StreamRewrite => "refwrite",
            Self::StreamRead => "fread",
            Self::Create => "create",
            Self::Stat => "stat",
            Self::ReadFiles => "read-files",
            Self::Unlink => "unlink",
            Self::CreateRandom
            | Self::StatRandom
            | Self::OpenFiles
            | Self::Rename
            | Self::UnlinkRandom
            | Self::MakeDirectories
            | Self::RemoveDirectories => "files",
        }
    }
}
