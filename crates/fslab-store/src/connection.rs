//! Opening the file: ownership, permissions, durability, and what SQLite may not do for a stranger.
//!
//! SQLite takes files next to a database for part of it: `-journal`, `-wal` and `-shm`. They come
//! with the directory that a store comes in. A journal can name a further file, its super-journal,
//! which SQLite deletes once the journal is played back: opening a store would delete any file of
//! the user's. fslab changes one database at a time, so none of its journals names another file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fslab_sys::os::OsStrExt;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::bounds::{Steps, beside};
use crate::error::{Fault, STORE};
use crate::{StoreError, digest, migration};

/// The longest wait for another process's transaction. Transactions are short: one trial each.
const BUSY_LIMIT: Duration = Duration::from_secs(30);
/// Pause between attempts where SQLite itself does not wait.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Longest value or row. Plans and pictures of a disk have some megabytes.
const VALUE_BYTES_MAX: i32 = 256 << 20;
/// Triggers and cascades are nested in four levels: a run, its trials, their phases, their metrics.
const TRIGGER_DEPTH_MAX: i32 = 16;

/// A connection, with the limit of its steps.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) steps: Steps,
}

/// Opens for reading and writing; creates the directories and the file if missing, and migrates an
/// older schema.
pub(crate) fn open_writable(path: &Path) -> Result<Opened, StoreError> {
    let path = &absolute(path)?;
    if !is_store_file(path, "open")? {
        make(path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    attempt_writable(path, flags).map_err(|fault| fault.at("open", path))
}

/// SQLite takes some relative paths for a database in memory or for a URI.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| StoreError::io(&error, "open", path))
}

/// True if the file exists. A directory, a device or a pipe is refused: opening a pipe would wait
/// for its other end.
fn is_store_file(path: &Path, operation: &'static str) -> Result<bool, StoreError> {
    let why = match fs::metadata(path) {
        Ok(file) if file.is_file() => return Ok(true),
        Ok(file) if file.is_dir() => io::ErrorKind::IsADirectory.into(),
        Ok(_) => io::Error::other("it is a device, a pipe or a socket, not a file"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io(&error, operation, path)),
    };
    Err(StoreError::foreign().because(&why).at(operation, path))
}

/// Makes an empty file and its directories. SQLite would report only that it cannot open the file;
/// the operating system reports why.
fn make(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| StoreError::io(&error, "make the directory of", path))?;
    }
    let made = fs::OpenOptions::new().append(true).create(true).open(path);
    made.map(drop)
        .map_err(|error| StoreError::io(&error, "open", path))
}

fn attempt_writable(path: &Path, flags: OpenFlags) -> Result<Opened, Fault> {
    let mut opened = open(path, path, flags)?;
    let connection = &mut opened.connection;
    // SQLite silently opens a write-protected file for reading.
    if connection.is_readonly("main")? {
        return Err(StoreError::permission().into());
    }
    migration::check(connection)?;
    migration::migrate(connection)?;
    enter_wal(connection)?;
    // From here on, the file's triggers are fslab's own, which count trials and runs.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true)?;
    Ok(opened)
}

/// Opens an existing store for reading; also returns whether its schema is the current one.
pub(crate) fn open_read_only(path: &Path) -> Result<(Opened, bool), StoreError> {
    let path = &absolute(path)?;
    if !is_store_file(path, "read")? {
        let error = io::Error::from(io::ErrorKind::NotFound);
        return Err(StoreError::io(&error, "read", path));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    attempt_read_only(path, path, flags)
        .or_else(|fault| match fault {
            // A reader has to create the "-shm" file, too. If the directory does not allow that,
            // and there is no "-wal" file that it could miss, the store cannot change.
            Fault::Sqlite(error) if is_refusal(&error) && !beside(path, "-wal").exists() => {
                let uri = flags | OpenFlags::SQLITE_OPEN_URI;
                attempt_read_only(path, Path::new(&immutable_uri(path)), uri)
            }
            other => Err(other),
        })
        .map_err(|fault| fault.at("read", path))
}

/// `name` is what SQLite opens: the path, or a URI of it.
fn attempt_read_only(path: &Path, name: &Path, flags: OpenFlags) -> Result<(Opened, bool), Fault> {
    let opened = open(path, name, flags)?;
    match migration::check(&opened.connection)? {
        None => Err(StoreError::foreign().into()),
        Some(version) => {
            let current =
                version == migration::SCHEMA_VERSION && digest::is_complete(&opened.connection)?;
            Ok((opened, current))
        }
    }
}

/// True if SQLite could not create a file beside the database.
fn is_refusal(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

/// Larger than the number of this crate's statements, so that each is prepared once.
const STATEMENTS_KEPT: usize = 128;

/// A connection with all its settings, which has not read the file yet.
fn open(path: &Path, name: &Path, flags: OpenFlags) -> Result<Opened, Fault> {
    ensure_companions(path)?;
    let mut connection = Connection::open_with_flags(name, flags)?;
    let steps = Steps::limit(&mut connection, path)?;
    forbid(&connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Otherwise statements with a key in their condition are prepared anew for each key, in case
    // another plan were better for it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(BUSY_LIMIT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A commit is durable when it returns: a trial takes minutes, an fsync milliseconds.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(Opened { connection, steps })
}

/// What SQLite may not do for a file that may come from a stranger (SQLite, "Defense Against The
/// Dark Arts"). `migration::check` refuses such a file; this is the second wall.
fn forbid(connection: &Connection) -> Result<(), Fault> {
    use DbConfig as Config;
    for (setting, value) in [
        (Config::SQLITE_DBCONFIG_DEFENSIVE, true),
        (Config::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (Config::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (Config::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_TRIGGER_DEPTH, TRIGGER_DEPTH_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    // The copy of a store whose file is gone is attached; nothing else is.
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(())
}

/// In WAL mode readers and a writer do not wait for each other. On a file system without shared
/// memory SQLite keeps its rollback journal, which is as durable.
fn enter_wal(connection: &Connection) -> Result<(), Fault> {
    let deadline = Instant::now() + BUSY_LIMIT;
    loop {
        let entered = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match entered {
            // The change of mode does not honour the busy timeout.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                thread::sleep(BUSY_PAUSE);
            }
            other => return Ok(other?),
        }
    }
}

/// The path as an SQLite URI with `immutable`: the file does not change.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// What SQLite writes at the end of the name of a super-journal, and at the begin of a journal
/// (pager.c, `aJournalMagic`).
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses a database with a companion that is no regular file, or that names another file.
pub(crate) fn ensure_companions(path: &Path) -> Result<(), Fault> {
    for suffix in ["-journal", "-wal", "-shm"] {
        let file = beside(path, suffix);
        match fs::symlink_metadata(&file) {
            Ok(found) if !found.is_file() => {
                return Err(strange(&file, "is a link, a directory, a pipe or a device"));
            }
            Ok(_) if suffix == "-journal" && names_another(&file).unwrap_or(false) => {
                return Err(strange(
                    &file,
                    "names another file, which SQLite would delete",
                ));
            }
            // What cannot be read is SQLite's to report.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn strange(file: &Path, why: &str) -> Fault {
    StoreError::bad_input(format!("{} beside the store {STORE} {why}", file.display()))
        .hint("SQLite would treat it as part of the store; remove it if you do not know it")
        .into()
}

fn names_another(journal: &Path) -> io::Result<bool> {
    let mut file: File = fslab_sys::open_regular(journal)?;
    let mut end = [0; MAGIC.len()];
    if file.metadata()?.len() < 16 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-(MAGIC.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_and_question_marks_survives_as_an_uri() {
        assert_eq!(
            immutable_uri(Path::new("/a b/c?d%")),
            "file:/a%20b/c%3fd%25?immutable=1"
        );
        let folder = tempfile::tempdir().expect("a directory");
        // Windows allows no question mark in a name.
        let name = if cfg!(windows) {
            "a b#d%.db"
        } else {
            "a b?c#d%.db"
        };
        let path = folder.path().join(name);
        drop(open_writable(&path).expect("made"));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let opened = attempt_read_only(&path, Path::new(&immutable_uri(&path)), flags);
        assert!(opened.is_ok_and(|(_, current)| current));
    }

    #[test]
    fn a_store_is_durable_and_lets_readers_in() {
        let folder = tempfile::tempdir().expect("a directory");
        let opened = open_writable(&folder.path().join("s.db")).expect("made");
        let connection = opened.connection;
        let pragma = |name: &str| -> rusqlite::types::Value {
            connection
                .pragma_query_value(None, name, |row| row.get(0))
                .expect("a pragma")
        };
        assert_eq!(
            pragma("journal_mode"),
            rusqlite::types::Value::Text("wal".into())
        );
        assert_eq!(pragma("synchronous"), rusqlite::types::Value::Integer(2));
        assert_eq!(pragma("foreign_keys"), rusqlite::types::Value::Integer(1));
    }
}
