//! The connection to a store's database file.

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use fslab_model::FailureKind;

use crate::bounds::Steps;
use crate::connection::Opened;
use crate::error::Fault;
use crate::place::Place;
use crate::{StoreError, connection, migration};

/// A database of runs. Several processes may read and write the same one.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) steps: Steps,
    path: PathBuf,
    place: Place,
    /// SQLite's counter of changes of the schema, as of the last comparison with fslab's own.
    schema: Cell<Option<i64>>,
}

impl Store {
    /// Opens for reading and writing. Creates the file and its directories if missing, and migrates
    /// a store of an earlier version.
    ///
    /// # Errors
    /// `Damaged` is a distinct kind.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::of(path, connection::open_writable(path)?)
    }

    /// Opens an existing store for reading; writing fails.
    ///
    /// A store of an earlier version is migrated first, and must be writable for that.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let (mut opened, current) = connection::open_read_only(path)?;
        if !current {
            drop(opened);
            drop(connection::open_writable(path)?);
            (opened, _) = connection::open_read_only(path)?;
        }
        Self::of(path, opened)
    }

    fn of(path: &Path, opened: Opened) -> Result<Self, StoreError> {
        let place = Place::of(path).map_err(|error| StoreError::io(&error, "open", path))?;
        Ok(Self {
            connection: opened.connection,
            steps: opened.steps,
            path: path.to_owned(),
            place,
            schema: Cell::new(None),
        })
    }

    /// The database's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on one snapshot of the database.
    pub(crate) fn reading<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.steps.renew();
        let read = || {
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
            self.ensure_schema(&transaction)?;
            work(&transaction)
        };
        read().map_err(|fault: Fault| fault.at("read", &self.path))
    }

    /// Runs `work` as one transaction, durable when this returns, or rolled back.
    ///
    /// # Errors
    /// If the path no longer leads to the file. What was stored, and what `work` writes, is
    /// then in a copy beside it, as far as one could be made.
    pub(crate) fn writing<T>(
        &mut self,
        work: impl Fn(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let written = self.attempt(&work);
        if self.place.is_kept() {
            return written.map_err(|fault| fault.at("write to", &self.path));
        }
        let is_written = written.is_ok();
        let gone = self.move_to_copy()?;
        // SQLite's rollback journal does not allow changes of a file that has lost its name.
        if !is_written && let Err(fault) = self.attempt(&work) {
            return Err(fault.at("write to", &self.path));
        }
        Err(gone)
    }

    fn attempt<T>(&mut self, work: impl Fn(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        self.steps.renew();
        let schema = &self.schema;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        ensure_schema(&transaction, schema)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Refuses a store whose file was removed or replaced after it was opened: nothing that was
    /// written to it can be found at its path.
    ///
    /// # Errors
    /// With a copy of everything that was stored, as far as one could be made.
    pub fn ensure_in_place(&mut self) -> Result<(), StoreError> {
        match self.place.is_kept() {
            true => Ok(()),
            false => Err(self.move_to_copy()?),
        }
    }

    /// Copies the database, which is still open, to another file beside its path, and goes on
    /// there. Returns the error to report.
    fn move_to_copy(&mut self) -> Result<StoreError, StoreError> {
        if let Some(copy) = self.place.copy() {
            return Ok(gone(&self.path, Some(copy)));
        }
        self.steps.renew();
        let copy = self
            .place
            .write_copy(&self.connection)
            .map_err(|error| gone(&self.path, None).because(&*error))?;
        let error = gone(&self.path, Some(&copy));
        let opened = connection::open_writable(&copy)?;
        (self.connection, self.steps) = (opened.connection, opened.steps);
        self.schema.set(None);
        self.place.set_copy(copy);
        Ok(error)
    }

    fn ensure_schema(&self, connection: &Connection) -> Result<(), Fault> {
        ensure_schema(connection, &self.schema)
    }
}

/// The error for a store whose file was removed or replaced, with the copy of what was stored.
fn gone(path: &Path, kept: Option<&Path>) -> StoreError {
    let path = path.display();
    let text = format!("the store {path} was removed or replaced while it was open for writing");
    StoreError::new(FailureKind::Host, text).hint(match kept {
        Some(kept) => format!(
            "everything stored so far is in {}; move it back, then run the same command with \
             --resume to continue",
            kept.display()
        ),
        None => "what was stored in this run is lost; make sure that no other program removes the \
                 store"
            .to_owned(),
    })
}

/// Refuses a schema that another process has changed since it was compared with fslab's own.
/// `known` is SQLite's counter of changes then.
fn ensure_schema(connection: &Connection, known: &Cell<Option<i64>>) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached("PRAGMA schema_version")?;
    let version = Some(statement.query_row([], |row| row.get(0))?);
    if known.get() != version {
        migration::ensure_current(connection)?;
        known.set(version);
    }
    Ok(())
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_reported_and_leaves_the_store_as_it_was() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
        // SQLite reports its own limit like a full disk.
        let pages: i64 = store
            .connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .expect("a number of pages");
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("a limit");
        let large = "x".repeat(100_000);
        let error = store
            .writing(|connection| {
                let sql = "INSERT INTO metrics VALUES (1, ?1, 'B', 'lower', 'large')";
                connection.execute(sql, [&large])?;
                Ok(())
            })
            .expect_err("no room");
        let failure = error.failure();
        assert_eq!(failure.kind, FailureKind::NoSpace);
        let hint = failure.hint.as_deref().expect("a hint");
        assert!(hint.contains("free some space"), "{hint}");
        let rows = store.reading(|connection| {
            Ok(
                connection.query_row("SELECT count(*) FROM metrics", [], |row| {
                    row.get::<_, u32>(0)
                })?,
            )
        });
        assert_eq!(rows.expect("reads"), 0);
    }

    /// Without shared memory SQLite keeps its rollback journal, and refuses to change a file that
    /// has lost its name. Windows removes no open file.
    #[cfg(unix)]
    #[test]
    fn a_record_that_could_not_be_written_any_more_is_in_the_copy() {
        let text = include_str!("../../../tests/fixtures/stores/v8.json");
        let run: fslab_model::RunRecord = serde_json::from_str(text).expect("a run");
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("s.db");
        let mut store = Store::open(&path).expect("opens");
        store
            .connection
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .expect("another journal");
        store.begin_run(&run.header).expect("begins");
        std::fs::remove_file(&path).expect("removed");
        let error = store
            .add_trial(&run.header.run, &run.trials[0])
            .expect_err("says so");
        let hint = error.failure().hint.as_deref().expect("a hint");
        let copy = hint.strip_prefix("everything stored so far is in ");
        let (copy, _) = copy.and_then(|rest| rest.split_once(';')).expect("a path");
        drop(store);
        let copy = Store::open_read_only(Path::new(copy)).expect("opens");
        let kept = copy.run(&crate::RunSelector::Last).expect("reads");
        assert_eq!(kept.trials, run.trials[..1]);
    }
}
