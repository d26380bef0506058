//! Errors of the store: a kind, the store's path, and the cause.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind, RunId, TrialId, did_you_mean};
use rusqlite::ErrorCode;

/// Kinds of errors, for callers to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no file of that name.
    Missing,
    /// The file is another program's database.
    Foreign,
    /// The schema is not that of the file's version: what SQLite would execute is not fslab's.
    StrangeSchema {
        /// The object, by its type and its name.
        object: String,
        /// What is strange.
        how: Strangeness,
    },
    /// A file beside the database, which belongs to it by its name, is none of SQLite's.
    StrangeCompanion {
        file: PathBuf,
        /// What is wrong.
        why: &'static str,
    },
    /// A statement took more steps than the size of the file explains.
    Endless,
    /// What was read back in the same transaction is not what was written.
    NotAsWritten {
        /// A run or a trial.
        what: String,
    },
    /// The store has a metric of that name with another unit or direction.
    OtherMetric {
        /// The metric.
        name: String,
    },
    /// The file was removed or replaced while it was open for writing.
    Gone {
        /// The copy with everything that was stored, if one could be made.
        kept: Option<PathBuf>,
    },
    /// The file is not a database, or has broken pages.
    Damaged,
    /// The run's row, or an index of its trials, is damaged.
    DamagedRun {
        /// Its name as far as it can be read.
        run: String,
    },
    /// The trial does not match its digest.
    DamagedTrial {
        run: String,
        trial: String,
    },
    DeletedRun {
        run: String,
    },
    /// The process's limit on file sizes is too small (RLIMIT_FSIZE).
    FileSizeLimit,
    /// A later fslab wrote the file.
    Newer {
        /// The file's schema version.
        found: u32,
        /// The latest version that this fslab reads.
        known: u32,
    },
    /// No permission for the file or its directory.
    Permission,
    /// The file system of the store is full.
    NoSpace,
    /// Another process kept the store locked for too long.
    Busy,
    /// The store has no run at all.
    NoRuns,
    /// The store has too few runs for `last~N`.
    TooFewRuns {
        /// The N.
        back: u32,
    },
    /// No run has that name, or one that begins so.
    UnknownRun {
        /// The name given.
        wanted: String,
        /// The run with the most similar name, if one is similar.
        nearest: Option<RunId>,
    },
    /// Several runs' names begin so.
    AmbiguousRun {
        /// The name given.
        wanted: String,
        /// The runs, ordered by name.
        candidates: Vec<RunId>,
    },
    /// A run of that name exists.
    RunExists {
        run: RunId,
    },
    /// The trial already has a record without a failure.
    TrialDone {
        run: RunId,
        trial: TrialId,
    },
    /// This fslab cannot interpret a stored value.
    Unreadable {
        /// The value, as `table.column`.
        what: &'static str,
    },
    /// A number of the record exceeds SQLite's integers.
    Unstorable {
        /// The value, as `table.column`.
        what: &'static str,
    },
    /// Any other error of SQLite or the operating system.
    Other,
}

/// How an object of a schema differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strangeness {
    /// fslab makes no such object.
    Additional,
    /// fslab makes it with another text.
    Altered,
    /// fslab makes it, and it is not there.
    Missing,
}

/// A failed operation on a store. [`Error::source`] is the cause; Display does not repeat it.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    operation: &'static str,
    path: PathBuf,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    pub(crate) fn new(kind: StoreErrorKind, operation: &'static str, path: &Path) -> Self {
        Self {
            kind,
            operation,
            path: path.to_owned(),
            source: None,
        }
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn io(error: io::Error, operation: &'static str, path: &Path) -> Self {
        Self::new(kind_of_io(&error), operation, path).because(error)
    }

    /// The kind, for callers to match.
    pub fn kind(&self) -> &StoreErrorKind {
        &self.kind
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        use StoreErrorKind as K;
        let fixed = match &self.kind {
            K::Missing => {
                "create one with a run, for example fslab compare ext4 xfs; or name another with \
                 --store"
            }
            K::Foreign => "name another file with --store",
            K::StrangeSchema { .. } => {
                "fslab does not open stores with foreign objects, because SQLite would execute \
                 them; if you made it, remove it with sqlite3; otherwise restore a copy, or name \
                 another with --store"
            }
            K::StrangeCompanion { .. } => {
                "SQLite would treat it as part of the store; remove it if you do not know it"
            }
            K::Endless => {
                "its pages may refer to each other in circles; restore a copy, or name another \
                 with --store"
            }
            K::NotAsWritten { .. } => {
                "nothing was stored; restore a copy, or name another with --store"
            }
            K::OtherMetric { .. } => "name another store with --store",
            K::Gone { kept: Some(kept) } => {
                return Some(format!(
                    "everything stored so far is in {}; move it back, then run the same command \
                     with --resume to continue",
                    kept.display()
                ));
            }
            K::Gone { kept: None } => {
                "what was stored in this run is lost; make sure that no other program removes the \
                 store"
            }
            K::Damaged => {
                "restore a copy, or name another with --store; see the damage with fslab store check"
            }
            K::DamagedRun { .. } | K::DamagedTrial { .. } => {
                "see the damage with fslab store check; restore a copy, or delete the run with \
                 fslab delete"
            }
            K::DeletedRun { run } => {
                return Some(format!("restore it with fslab delete --undo {run}"));
            }
            K::FileSizeLimit => "raise the limit on file sizes: ulimit -f unlimited",
            K::Newer { .. } => "use the fslab that wrote it, or a later one",
            K::Permission => "check the owner of file and directory, or name another with --store",
            K::NoSpace => "free some space, or name a store on another disk with --store",
            K::Busy => "wait until the other fslab is done, or name another with --store",
            K::NoRuns => "create one, for example with fslab compare ext4 xfs",
            K::TooFewRuns { .. } | K::UnknownRun { nearest: None, .. } => {
                "list the runs with fslab list"
            }
            K::UnknownRun {
                nearest: Some(run), ..
            } => return Some(did_you_mean(run)),
            K::AmbiguousRun { candidates, .. } => {
                let names: Vec<_> = candidates.iter().map(RunId::as_str).collect();
                return Some(format!("use more of the name: {}", names.join(", ")));
            }
            K::Unreadable { .. } => {
                "a later fslab may have written it; check it for damage with fslab store check"
            }
            K::RunExists { .. } | K::TrialDone { .. } | K::Unstorable { .. } | K::Other => {
                return None;
            }
        };
        Some(fixed.to_owned())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use StoreErrorKind as K;
        let (path, operation) = (self.path.display(), self.operation);
        match &self.kind {
            K::Missing => write!(f, "there is no store at {path}"),
            K::Foreign => write!(f, "{path} is not an fslab store"),
            K::StrangeSchema { .. }
            | K::StrangeCompanion { .. }
            | K::Endless
            | K::NotAsWritten { .. }
            | K::OtherMetric { .. }
            | K::Gone { .. } => self.distrust(f),
            K::Damaged => write!(f, "the store {path} is damaged"),
            K::DamagedRun { run } => {
                write!(f, "run {run} in the store {path} is damaged")
            }
            K::DamagedTrial { run, trial } => write!(
                f,
                "trial {trial} of run {run} in the store {path} does not match its digest"
            ),
            K::DeletedRun { run } => write!(f, "run {run} of the store {path} is deleted"),
            K::FileSizeLimit => {
                write!(
                    f,
                    "cannot {operation} the store {path}: the limit on file sizes is too small"
                )
            }
            K::Newer { found, known } => write!(
                f,
                "the store {path} has format {found}, but this fslab reads up to {known}"
            ),
            K::Permission => write!(f, "no permission to {operation} the store {path}"),
            K::NoSpace => write!(f, "no space to {operation} the store {path}"),
            K::Busy => write!(f, "cannot {operation} the store {path}, which is in use"),
            K::NoRuns => write!(f, "the store {path} has no run"),
            K::TooFewRuns { back } => {
                write!(f, "the store {path} has no run {back} before the last")
            }
            K::UnknownRun { wanted, .. } => write!(f, "the store {path} has no run '{wanted}'"),
            K::AmbiguousRun { wanted, candidates } => {
                write!(f, "{} runs begin with '{wanted}'", candidates.len())
            }
            K::RunExists { run } => write!(f, "the store {path} already has a run {run}"),
            K::TrialDone { run, trial } => {
                write!(
                    f,
                    "trial {trial} of run {run} is done and already has its record"
                )
            }
            K::Unreadable { what } => write!(f, "cannot read {what} in the store {path}"),
            K::Unstorable { what } => {
                write!(f, "the value for {what} is too large for the store {path}")
            }
            K::Other => write!(f, "cannot {operation} the store {path}"),
        }
    }
}

impl StoreError {
    /// The text of kinds for files that another user may have made, changed or removed.
    fn distrust(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use StoreErrorKind as K;
        let (path, operation) = (self.path.display(), self.operation);
        match &self.kind {
            K::StrangeSchema { object, how } => match how {
                Strangeness::Additional => {
                    write!(f, "the store {path} has a {object} that fslab did not make")
                }
                Strangeness::Altered => {
                    write!(
                        f,
                        "the {object} of the store {path} differs from what fslab creates"
                    )
                }
                Strangeness::Missing => write!(f, "the store {path} lacks the {object}"),
            },
            K::StrangeCompanion { file, why } => {
                write!(f, "{} beside the store {path} {why}", file.display())
            }
            K::Endless => write!(
                f,
                "cannot {operation} the store {path}, which has more to read than its size explains"
            ),
            K::NotAsWritten { what } => {
                write!(f, "the store {path} changed {what} while it was written")
            }
            K::OtherMetric { name } => write!(
                f,
                "the store {path} has a metric '{name}' with another unit or direction"
            ),
            K::Gone { .. } => write!(
                f,
                "the store {path} was removed or replaced while it was open for writing"
            ),
            other => unreachable!("{other:?} has another text"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// An error inside this crate, before the store's path and the operation are added.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// An error of this crate, with its cause if known.
    Kind(StoreErrorKind, Option<Box<dyn Error + Send + Sync>>),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreErrorKind> for Fault {
    fn from(kind: StoreErrorKind) -> Self {
        Self::Kind(kind, None)
    }
}

impl Fault {
    pub(crate) fn at(self, operation: &'static str, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(error) => {
                StoreError::new(kind_of_sqlite(&error, path), operation, path).because(error)
            }
            Self::Kind(kind, source) => {
                let error = StoreError::new(kind, operation, path);
                match source {
                    Some(source) => error.because(source),
                    None => error,
                }
            }
        }
    }
}

impl Fault {
    /// The damage, as a fragment to follow the name of a run.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Sqlite(error) => error.to_string(),
            Self::Kind(StoreErrorKind::DamagedTrial { trial, .. }, _) => {
                format!("trial {trial} does not match its digest")
            }
            Self::Kind(StoreErrorKind::Unreadable { what }, Some(source)) => {
                format!("cannot read {what}: {source}")
            }
            Self::Kind(StoreErrorKind::Unreadable { what }, None) => {
                format!("cannot read {what}")
            }
            Self::Kind(..) => "it does not match its digest or its counts".to_owned(),
        }
    }

    /// True if the stored content is damaged; false for errors of the disk, locks or permissions.
    pub(crate) fn is_of_content(&self) -> bool {
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) => matches!(
                error.code,
                ErrorCode::DatabaseCorrupt | ErrorCode::Unknown | ErrorCode::TypeMismatch
            ),
            Self::Kind(StoreErrorKind::Endless, _) => false,
            Self::Sqlite(_) | Self::Kind(..) => true,
        }
    }

    /// True if a statement was ended because of its steps.
    pub(crate) fn is_endless(&self) -> bool {
        match self {
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
            }
            Self::Kind(kind, _) => *kind == StoreErrorKind::Endless,
        }
    }
}

fn kind_of_io(error: &io::Error) -> StoreErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => StoreErrorKind::Missing,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreErrorKind::Permission
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreErrorKind::NoSpace,
        io::ErrorKind::FileTooLarge => StoreErrorKind::FileSizeLimit,
        _ => StoreErrorKind::Other,
    }
}

fn kind_of_sqlite(error: &rusqlite::Error, path: &Path) -> StoreErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreErrorKind::Damaged,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => StoreErrorKind::Permission,
        Some(ErrorCode::DiskFull) => StoreErrorKind::NoSpace,
        // Only the limit of steps interrupts a statement.
        Some(ErrorCode::OperationInterrupted) => StoreErrorKind::Endless,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Busy,
        // SQLite reports EFBIG like a broken disk. If the process has a limit on file sizes, that
        // is the likelier cause.
        Some(ErrorCode::SystemIoFailure) if is_of_growing(error) && has_size_limit() => {
            StoreErrorKind::FileSizeLimit
        }
        // SQLite does not report why it cannot open a file; the operating system does.
        Some(ErrorCode::CannotOpen) => match std::fs::File::open(path) {
            Ok(_) => StoreErrorKind::Permission,
            Err(error) => kind_of_io(&error),
        },
        _ => StoreErrorKind::Other,
    }
}

fn is_of_growing(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    let code = error.sqlite_error().map(|error| error.extended_code);
    let growing = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMSIZE,
    ];
    code.is_some_and(|code| growing.contains(&code))
}

/// True if the process has a limit on file sizes (RLIMIT_FSIZE in proc(5)).
fn has_size_limit() -> bool {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max file size"));
    line.and_then(|line| line.split_whitespace().next())
        .is_some_and(|soft| soft != "unlimited")
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Permission => FailureKind::Permission,
            StoreErrorKind::NoSpace | StoreErrorKind::FileSizeLimit => FailureKind::NoSpace,
            StoreErrorKind::Gone { .. } => FailureKind::Host,
            StoreErrorKind::Busy | StoreErrorKind::Other => FailureKind::Device,
            _ => FailureKind::BadInput,
        };
        Self::of_error(kind, &error).with_hint(error.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
    }

    #[test]
    fn sqlite_codes_become_kinds() {
        use rusqlite::ffi;
        for (code, kind) in [
            (ffi::SQLITE_NOTADB, StoreErrorKind::Damaged),
            (ffi::SQLITE_CORRUPT, StoreErrorKind::Damaged),
            (ffi::SQLITE_READONLY, StoreErrorKind::Permission),
            (ffi::SQLITE_FULL, StoreErrorKind::NoSpace),
            (ffi::SQLITE_BUSY, StoreErrorKind::Busy),
            (ffi::SQLITE_CANTOPEN, StoreErrorKind::Missing),
            (ffi::SQLITE_IOERR, StoreErrorKind::Other),
        ] {
            let error = Fault::from(sqlite(code)).at("open", Path::new("/nowhere/store.db"));
            assert_eq!(error.kind(), &kind, "{code}");
        }
    }

    #[test]
    fn the_display_names_the_store_and_leaves_the_cause_to_the_source() {
        let error = Fault::from(sqlite(rusqlite::ffi::SQLITE_NOTADB)).at("open", Path::new("a.db"));
        assert_eq!(error.to_string(), "the store a.db is damaged");
        assert!(error.source().is_some());
        let hint = error.hint().expect("a damaged store has a hint");
        assert!(hint.contains("--store"));
    }

    #[test]
    fn an_ambiguous_name_shows_its_candidates() {
        let run = |text: &str| text.parse::<RunId>().expect("a name");
        let kind = StoreErrorKind::AmbiguousRun {
            wanted: "2026".into(),
            candidates: vec![run("2026a"), run("2026b")],
        };
        let error = StoreError::new(kind, "read", Path::new("a.db"));
        assert_eq!(error.to_string(), "2 runs begin with '2026'");
        assert_eq!(
            error.hint().as_deref(),
            Some("use more of the name: 2026a, 2026b")
        );
    }
}
