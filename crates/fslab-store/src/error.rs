//! Errors of the store: a failure, and its kind for those who decide by it.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind, RunId, did_you_mean};
use rusqlite::ErrorCode;

/// The store's path in a message, which is not known where an error is found.
pub(crate) const STORE: &str = "\u{1}";
/// The same for the operation, such as `read`.
const DOING: &str = "\u{2}";

/// The kinds of errors by which something is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The file is not a database, or has broken pages.
    Damaged,
    /// No run has that name, or one that begins so.
    UnknownRun,
    /// A run of that name exists.
    RunExists(RunId),
    /// A statement took more steps than the size of the file explains.
    Endless,
    Other,
}

/// A failed operation on a store. Display does not repeat the causes.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    failure: Box<Failure>,
    /// For damaged content: what is wrong, as a fragment to follow the name of a run.
    damage: Option<String>,
}

impl StoreError {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind: StoreErrorKind::Other,
            failure: Box::new(Failure::new(kind, message)),
            damage: None,
        }
    }

    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::BadInput, message)
    }

    pub(crate) fn damaged() -> Self {
        Self::bad_input(format!("the store {STORE} is damaged"))
            .kind_of(StoreErrorKind::Damaged)
            .hint(
                "restore a copy, or name another with --store; see the damage with fslab store \
                 check",
            )
    }

    /// A run, or a trial of it, is not as it was stored.
    pub(crate) fn damaged_content(message: impl Into<String>) -> Self {
        Self::bad_input(message).hint(
            "see the damage with fslab store check; restore a copy, or delete the run with fslab \
             delete",
        )
    }

    pub(crate) fn foreign() -> Self {
        Self::bad_input(format!("{STORE} is not an fslab store"))
            .hint("name another file with --store")
    }

    pub(crate) fn endless() -> Self {
        Self::bad_input(format!(
            "cannot {DOING} the store {STORE}, which has more to read than its size explains"
        ))
        .kind_of(StoreErrorKind::Endless)
        .hint(
            "its pages may refer to each other in circles; restore a copy, or name another with \
             --store",
        )
    }

    pub(crate) fn permission() -> Self {
        let text = format!("no permission to {DOING} the store {STORE}");
        Self::new(FailureKind::Permission, text)
            .hint("check the owner of file and directory, or name another with --store")
    }

    pub(crate) fn unknown_run(wanted: &str, nearest: Option<&RunId>) -> Self {
        let error = Self::bad_input(format!("the store {STORE} has no run '{wanted}'"));
        let hint = nearest.map_or_else(|| "list the runs with fslab list".to_owned(), did_you_mean);
        error.kind_of(StoreErrorKind::UnknownRun).hint(hint)
    }

    pub(crate) fn ambiguous_run(wanted: &str, candidates: &[RunId]) -> Self {
        let names: Vec<_> = candidates.iter().map(RunId::as_str).collect();
        Self::bad_input(format!("{} runs begin with '{wanted}'", names.len()))
            .hint(format!("use more of the name: {}", names.join(", ")))
    }

    fn no_space() -> Self {
        let text = format!("no space to {DOING} the store {STORE}");
        Self::new(FailureKind::NoSpace, text)
            .hint("free some space, or name a store on another disk with --store")
    }

    fn file_size_limit() -> Self {
        let text =
            format!("cannot {DOING} the store {STORE}: the limit on file sizes is too small");
        Self::new(FailureKind::NoSpace, text)
            .hint("raise the limit on file sizes: ulimit -f unlimited")
    }

    fn other() -> Self {
        Self::new(
            FailureKind::Device,
            format!("cannot {DOING} the store {STORE}"),
        )
    }

    pub(crate) fn io(error: &io::Error, operation: &str, path: &Path) -> Self {
        of_io(error).because(error).at(operation, path)
    }

    pub(crate) fn kind_of(mut self, kind: StoreErrorKind) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure.hint = Some(hint.into());
        self
    }

    pub(crate) fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        *self.failure = self.failure.because(error);
        self
    }

    pub(crate) fn damage(mut self, damage: impl Into<String>) -> Self {
        self.damage = Some(damage.into());
        self
    }

    /// Adds the operation and the store's path.
    pub(crate) fn at(mut self, operation: &str, path: &Path) -> Self {
        let message = self.failure.message.replace(DOING, operation);
        self.failure.message = message.replace(STORE, &path.display().to_string());
        self
    }

    /// The kind, for callers to match.
    pub fn kind(&self) -> &StoreErrorKind {
        &self.kind
    }

    /// What is reported.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failure.message)
    }
}

impl Error for StoreError {}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        *error.failure
    }
}

/// An error inside this crate, before the store's path and the operation are added.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// An error of this crate.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    pub(crate) fn at(self, operation: &str, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(error) => of_sqlite(&error, path).because(&error),
            Self::Refused(error) => error,
        }
        .at(operation, path)
    }

    /// The damage, as a fragment to follow the name of a run.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Sqlite(error) => error.to_string(),
            Self::Refused(error) => error
                .damage
                .clone()
                .unwrap_or_else(|| "it does not match its digest or its counts".to_owned()),
        }
    }

    /// True if the stored content is damaged; false for errors of the disk, locks or permissions.
    pub(crate) fn is_of_content(&self) -> bool {
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) => matches!(
                error.code,
                ErrorCode::DatabaseCorrupt | ErrorCode::Unknown | ErrorCode::TypeMismatch
            ),
            Self::Sqlite(_) => true,
            Self::Refused(error) => error.kind != StoreErrorKind::Endless,
        }
    }

    /// True if a statement was ended because of its steps.
    pub(crate) fn is_endless(&self) -> bool {
        match self {
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
            }
            Self::Refused(error) => error.kind == StoreErrorKind::Endless,
        }
    }
}

fn of_io(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::bad_input(format!("there is no store at {STORE}"))
            .hint(
                "create one with a run, for example fslab compare ext4 xfs; or name another with \
                 --store",
            ),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::permission()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::no_space(),
        io::ErrorKind::FileTooLarge => StoreError::file_size_limit(),
        _ => StoreError::other(),
    }
}

fn of_sqlite(error: &rusqlite::Error, path: &Path) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::damaged(),
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => StoreError::permission(),
        Some(ErrorCode::DiskFull) => StoreError::no_space(),
        // Only the limit of steps interrupts a statement.
        Some(ErrorCode::OperationInterrupted) => StoreError::endless(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let text = format!("cannot {DOING} the store {STORE}, which is in use");
            StoreError::new(FailureKind::Device, text)
                .hint("wait until the other fslab is done, or name another with --store")
        }
        // SQLite reports EFBIG like a broken disk. If the process has a limit on file sizes, that
        // is the likelier cause.
        Some(ErrorCode::SystemIoFailure) if is_of_growing(error) && has_size_limit() => {
            StoreError::file_size_limit()
        }
        // SQLite does not report why it cannot open a file; the operating system does.
        Some(ErrorCode::CannotOpen) => match std::fs::File::open(path) {
            Ok(_) => StoreError::permission(),
            Err(error) => of_io(&error),
        },
        _ => StoreError::other(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
    }

    #[test]
    fn sqlite_codes_become_texts_and_kinds() {
        use rusqlite::ffi;
        for (code, kind, text) in [
            (ffi::SQLITE_NOTADB, FailureKind::BadInput, "is damaged"),
            (ffi::SQLITE_CORRUPT, FailureKind::BadInput, "is damaged"),
            (
                ffi::SQLITE_READONLY,
                FailureKind::Permission,
                "no permission",
            ),
            (ffi::SQLITE_FULL, FailureKind::NoSpace, "no space"),
            (ffi::SQLITE_BUSY, FailureKind::Device, "which is in use"),
            (
                ffi::SQLITE_CANTOPEN,
                FailureKind::BadInput,
                "there is no store",
            ),
            (
                ffi::SQLITE_IOERR,
                FailureKind::Device,
                "cannot open the store",
            ),
        ] {
            let error = Fault::from(sqlite(code)).at("open", Path::new("/nowhere/store.db"));
            let failure = error.failure();
            assert_eq!(failure.kind, kind, "{code}");
            assert!(failure.message.contains(text), "{error}");
            assert!(failure.message.contains("/nowhere/store.db"), "{error}");
            assert!(!failure.causes.is_empty(), "{error}");
        }
    }

    #[test]
    fn an_ambiguous_name_shows_its_candidates() {
        let run = |text: &str| text.parse::<RunId>().expect("a name");
        let error = StoreError::ambiguous_run("2026", &[run("2026a"), run("2026b")]);
        assert_eq!(error.to_string(), "2 runs begin with '2026'");
        assert_eq!(
            error.failure().hint.as_deref(),
            Some("use more of the name: 2026a, 2026b")
        );
    }
}
