//! How several workers divide files, in common words.

/// Whether workers share a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Each has a separate file.
    Own,
    /// Each has its part of one file.
    Shared,
    /// The records of one file are dealt out in turn.
    Interleaved,
}

impl Sharing {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Own => "a file each",
            Self::Shared => "one file, a part each",
            Self::Interleaved => "one file, records in turn",
        }
    }

    /// The value of the parameter `sharing` of fslab's jobs on data.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "own" => Self::Own,
            "shared" => Self::Shared,
            "interleaved" => Self::Interleaved,
            _ => return None,
        })
    }
}

/// Directories of files that several workers use.
pub(super) fn of_directories(is_own: bool) -> &'static str {
    match is_own {
        true => "a directory each",
        false => "the same directories",
    }
}
