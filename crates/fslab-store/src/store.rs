//! The connection to a store's database file.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::Fault;
use crate::{StoreError, connection};

/// A database of runs. Several processes may read and write the same one.
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens for reading and writing. Creates the file and its folders if missing, and migrates a
    /// store of an earlier version.
    ///
    /// # Errors
    /// `Foreign`, `Damaged`, `Newer`, `Permission`, `NoSpace` and `Busy` are distinct kinds.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: connection::open_writable(path)?,
            path: path.to_owned(),
        })
    }

    /// Opens an existing store for reading; writing fails with `Permission`.
    ///
    /// A store of an earlier version is migrated first, and must be writable for that.
    ///
    /// # Errors
    /// As [`Store::open`]; and `Missing` if the file does not exist.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let (mut connection, current) = connection::open_read_only(path)?;
        if !current {
            drop(connection);
            drop(connection::open_writable(path)?);
            (connection, _) = connection::open_read_only(path)?;
        }
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on one snapshot of the database.
    pub(crate) fn reading<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let read = || {
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
            work(&transaction)
        };
        read().map_err(|fault: Fault| fault.at("read", &self.path))
    }

    /// Runs `work` as one transaction, durable when this returns, or rolled back.
    pub(crate) fn writing<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let write = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let result: Result<T, Fault> = write();
        result.map_err(|fault| fault.at("write to", &self.path))
    }
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
    use crate::StoreErrorKind;

    #[test]
    fn a_full_disk_is_reported_and_leaves_the_store_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
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
        assert_eq!(error.kind(), &StoreErrorKind::NoSpace);
        assert!(
            error
                .hint()
                .is_some_and(|hint| hint.contains("free some space"))
        );
        let rows = store.reading(|connection| {
            Ok(
                connection.query_row("SELECT count(*) FROM metrics", [], |row| {
                    row.get::<_, u32>(0)
                })?,
            )
        });
        assert_eq!(rows.expect("reads"), 0);
    }
}
