//! Opening the file: ownership, permissions, durability.

use fslab_sys::os::OsStrExt;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::Fault;
use crate::{StoreError, StoreErrorKind, digest, migration};

/// The longest wait for another process's transaction. Transactions are short: one trial each.
const BUSY_LIMIT: Duration = Duration::from_secs(30);
/// Pause between attempts where SQLite itself does not wait.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Opens for reading and writing; creates the folders and the file if missing, and migrates an
/// older schema.
pub(crate) fn open_writable(path: &Path) -> Result<Connection, StoreError> {
    refuse_folder(path)?;
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder)
            .map_err(|error| StoreError::io(error, "make the folder of", path))?;
    }
    // SQLite reports only that it cannot open the file; the operating system reports why.
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| StoreError::io(error, "open", path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    attempt_writable(path, flags).map_err(|fault| fault.at("open", path))
}

fn attempt_writable(path: &Path, flags: OpenFlags) -> Result<Connection, Fault> {
    let mut connection = Connection::open_with_flags(path, flags)?;
    // SQLite silently opens a write-protected file for reading.
    if connection.is_readonly("main")? {
        return Err(StoreErrorKind::Permission.into());
    }
    configure(&connection)?;
    migration::check(&connection)?;
    migration::migrate(&mut connection)?;
    enter_wal(&connection)?;
    Ok(connection)
}

/// Opens an existing store for reading; also returns whether its schema is the current one.
pub(crate) fn open_read_only(path: &Path) -> Result<(Connection, bool), StoreError> {
    refuse_folder(path)?;
    fs::metadata(path).map_err(|error| StoreError::io(error, "read", path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    attempt_read_only(path, flags)
        .or_else(|fault| match fault {
            // A reader has to create the "-shm" file, too. If the folder does not allow that, and
            // there is no "-wal" file that it could miss, the store cannot change.
            Fault::Sqlite(error) if is_refusal(&error) && !beside(path, "-wal").exists() => {
                let uri = flags | OpenFlags::SQLITE_OPEN_URI;
                attempt_read_only(Path::new(&immutable_uri(path)), uri)
            }
            other => Err(other),
        })
        .map_err(|fault| fault.at("read", path))
}

fn attempt_read_only(path: &Path, flags: OpenFlags) -> Result<(Connection, bool), Fault> {
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    match migration::check(&connection)? {
        None => Err(StoreErrorKind::Foreign.into()),
        Some(version) => {
            let current = version == migration::SCHEMA_VERSION && digest::is_complete(&connection)?;
            Ok((connection, current))
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

fn configure(connection: &Connection) -> Result<(), Fault> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Otherwise statements with a key in their condition are prepared anew for each key, in case
    // another plan were better for it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(BUSY_LIMIT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A commit is durable when it returns: a trial takes minutes, an fsync milliseconds.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A store may come from another user: its triggers and views may call nothing with effects.
    connection.pragma_update(None, "trusted_schema", false)?;
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

fn refuse_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Err(StoreError::new(StoreErrorKind::Foreign, "open", path)
            .because(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
    }
    Ok(())
}

/// SQLite's file of that suffix beside the database.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_and_question_marks_survives_as_an_uri() {
        assert_eq!(
            immutable_uri(Path::new("/a b/c?d%")),
            "file:/a%20b/c%3fd%25?immutable=1"
        );
        let folder = tempfile::tempdir().expect("a folder");
        // Windows allows no question mark in a name.
        let name = if cfg!(windows) {
            "a b#d%.db"
        } else {
            "a b?c#d%.db"
        };
        let path = folder.path().join(name);
        drop(open_writable(&path).expect("made"));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let opened = attempt_read_only(Path::new(&immutable_uri(&path)), flags);
        assert!(opened.is_ok_and(|(_, current)| current));
    }

    #[test]
    fn a_store_is_durable_and_lets_readers_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = open_writable(&folder.path().join("s.db")).expect("made");
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
