//! Bounds of what a file can cost: SQLite's steps, and the rows of a query.
//!
//! A sound file needs steps and gives rows in proportion to its size. The pages of another may
//! refer to each other so that a table of some kilobytes has rows without end; SQLite follows them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{StoreError, error::Fault};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

/// Steps between two looks at the limit: about 0.1 ms.
const INTERVAL: u16 = 10_000;
/// Steps of any piece of work, in a file of any size: about 0.2 s.
const STEPS: u64 = 10_000_000;
/// Steps for each byte of the file. The check of a store, which costs the most, takes 0.4 of them
/// in a store of usual runs, and 2.7 in one of 50,000 trials that measured next to nothing.
const STEPS_A_BYTE: u64 = 16;
/// Migrations of version 1 examine complete tables for each new column: 41 steps for each byte.
const OPENING: u64 = 16;
/// Steps for each row that is written, with the row's digest and the indexes that it joins.
const STEPS_A_ROW: u64 = 5_000;

/// The steps that SQLite may still take, for the current piece of work.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    path: PathBuf,
    /// The largest size of the file so far: it may lose its name while it is open.
    bytes: Arc<AtomicU64>,
    left: Arc<AtomicU64>,
}

impl Steps {
    /// Ends the statements of `connection` that take too many steps, beginning with its opening.
    pub(crate) fn limit(connection: &mut Connection, path: &Path) -> rusqlite::Result<Self> {
        let steps = Self {
            path: path.to_owned(),
            bytes: Arc::default(),
            left: Arc::default(),
        };
        let allowed = steps.allowed().saturating_mul(OPENING);
        steps.left.store(allowed, Ordering::Relaxed);
        let left = Arc::clone(&steps.left);
        let is_exhausted = move || {
            let before = left.load(Ordering::Relaxed);
            left.store(before.saturating_sub(INTERVAL.into()), Ordering::Relaxed);
            before == 0
        };
        connection.progress_handler(INTERVAL.into(), Some(is_exhausted))?;
        Ok(steps)
    }

    /// Begins a piece of work that reads no more than all of the file.
    pub(crate) fn renew(&self) {
        self.left.store(self.allowed(), Ordering::Relaxed);
    }

    /// Begins a piece of work that also writes so many rows.
    pub(crate) fn renew_to_write(&self, rows: u64) {
        let more = rows.saturating_mul(STEPS_A_ROW);
        let allowed = self.allowed().saturating_add(more);
        self.left.store(allowed, Ordering::Relaxed);
    }

    fn allowed(&self) -> u64 {
        let bytes = bytes_of(&self.path);
        let bytes = self.bytes.fetch_max(bytes, Ordering::Relaxed).max(bytes);
        STEPS.saturating_add(bytes.saturating_mul(STEPS_A_BYTE))
    }
}

/// The size of the database with the log of its changes.
fn bytes_of(path: &Path) -> u64 {
    let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    size(path).saturating_add(size(&beside(path, "-wal")))
}

/// SQLite's file of that suffix beside the database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// What the rows of a query may still hold: together no more than the file has.
#[derive(Debug)]
pub(crate) struct Extent(u64);

impl Extent {
    /// For a query that reads each row at most once.
    pub(crate) fn of(connection: &Connection) -> Result<Self, Fault> {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let bytes = pragma("page_count")?.saturating_mul(pragma("page_size")?);
        let bytes = bytes.unsigned_abs();
        // In UTF-16, a file has texts with two thirds of the bytes that SQLite returns.
        Ok(Self(bytes.saturating_mul(2)))
    }

    /// For rows that the same transaction wrote.
    pub(crate) fn of_own_rows() -> Self {
        Self(u64::MAX)
    }

    /// Counts a row; the one that has no room in the file is damage.
    pub(crate) fn count(&mut self, row: &Row) -> Result<(), Fault> {
        let columns = row.as_ref().column_count();
        for column in 0..columns {
            // A column takes a byte of the row's head and its bytes.
            let bytes = match row.get_ref(column)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
            };
            let left = self.0.checked_sub(bytes);
            self.0 = left.ok_or_else(StoreError::endless)?;
        }
        let left = self.0.checked_sub(columns as u64);
        self.0 = left.ok_or_else(StoreError::endless)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)
                           SELECT count(*) FROM n";

    #[test]
    fn a_query_without_an_end_is_ended_and_the_next_one_runs() {
        let mut connection = Connection::open_in_memory().expect("memory");
        let steps = Steps::limit(&mut connection, Path::new("/nowhere")).expect("limited");
        steps.renew();
        let run = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let fault = Fault::from(run(ENDLESS).expect_err("is ended"));
        assert!(fault.is_endless() && !fault.is_of_content(), "{fault:?}");
        steps.renew();
        assert_eq!(run("SELECT 5").expect("runs"), 5);
    }

    #[test]
    fn rows_hold_no_more_than_their_file() {
        let connection = Connection::open_in_memory().expect("memory");
        connection
            .execute_batch("CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(1000000))")
            .expect("made");
        let mut extent = Extent::of(&connection).expect("has a size");
        let mut statement = connection.prepare("SELECT x FROM a").expect("SQL");
        let mut read = || {
            let mut rows = statement.query([])?;
            let row = rows.next()?.expect("a row");
            extent.count(row)
        };
        read().expect("the row is in the file");
        read().expect("in UTF-16 it may be twice as long");
        let fault = read().expect_err("three times is too much");
        assert!(fault.is_endless(), "{fault:?}");
    }
}
