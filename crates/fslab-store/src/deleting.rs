//! Deleting runs: a deleted run stays in the store but in no list, until it is restored or purged.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension};
use schemars::JsonSchema;
use serde::Serialize;

use super::listing::run_key;
use crate::bounds::Extent;
use crate::codec::integer;
use crate::digest::{ensure_run, read_name, with_summary};
use crate::error::Fault;
use crate::listing::select;
use crate::sealing::{change_run, update_run};
use crate::{RunSelector, Store, StoreError};

/// A run to delete; its row may be damaged, and its name may be any text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundRun {
    #[serde(skip)]
    key: i64,
    /// Its name; any text for a damaged run.
    pub run: String,
    /// Its number of trials with a record.
    pub trials: u64,
}

impl Store {
    /// The runs that `text` selects among those not deleted: `last`, `last~1`, a range of them, a
    /// name or the beginning of one; a damaged run by its exact name.
    ///
    /// # Errors
    /// As [`Store::select`]; `UnknownRun` if `text` cannot be a run's name.
    pub fn find(&self, text: &str) -> Result<Vec<FoundRun>, StoreError> {
        self.reading(|connection| {
            if let Some(found) = exactly(connection, text, false)? {
                return Ok(vec![found]);
            }
            let selectors =
                RunSelector::range(text).map_err(|_| StoreError::unknown_run(text, None))?;
            let found = selectors.iter().map(|selector| {
                let key = run_key(connection, &select(connection, selector)?)?;
                found(connection, key)
            });
            found.collect()
        })
    }

    /// The deleted run of that name, or the only one whose name begins with it.
    pub fn find_deleted(&self, text: &str) -> Result<FoundRun, StoreError> {
        self.reading(|connection| {
            if let Some(found) = exactly(connection, text, true)? {
                return Ok(found);
            }
            let mut deleted = all_deleted(connection)?;
            deleted.retain(|found| found.run.starts_with(text));
            match deleted.len() {
                1 => Ok(deleted.remove(0)),
                0 => Err(StoreError::unknown_run(text, None).into()),
                _ => {
                    let names = deleted.iter().filter_map(|found| found.run.parse().ok());
                    let names: Vec<_> = names.collect();
                    Err(StoreError::ambiguous_run(text, &names).into())
                }
            }
        })
    }

    /// All deleted runs.
    pub fn deleted(&self) -> Result<Vec<FoundRun>, StoreError> {
        self.reading(all_deleted)
    }

    /// Marks the runs as deleted; their records stay.
    pub fn delete(&mut self, runs: &[FoundRun]) -> Result<(), StoreError> {
        let now = fslab_sys::unix_seconds();
        self.for_each(runs, |connection, key| mark(connection, key, Some(now)))
    }

    /// Restores deleted runs.
    pub fn undelete(&mut self, runs: &[FoundRun]) -> Result<(), StoreError> {
        self.for_each(runs, |connection, key| mark(connection, key, None))
    }

    /// Removes runs with all their trials for good. SQLite reuses their space.
    pub fn purge(&mut self, runs: &[FoundRun]) -> Result<(), StoreError> {
        self.for_each(runs, |connection, key| {
            connection.execute("DELETE FROM runs WHERE key = ?1", [key])?;
            Ok(())
        })
    }

    /// Applies `work` to all runs in one transaction.
    fn for_each(
        &mut self,
        runs: &[FoundRun],
        work: impl Fn(&Connection, i64) -> Result<(), Fault>,
    ) -> Result<(), StoreError> {
        self.writing(|connection| runs.iter().try_for_each(|run| work(connection, run.key)))
    }
}

/// Sets when a run was deleted. A damaged run gets no new digest, which would hide the damage.
fn mark(connection: &Connection, run: i64, deleted_unix_s: Option<u64>) -> Result<(), Fault> {
    let time = deleted_unix_s
        .map(|time| integer("runs.deleted_unix_s", time))
        .transpose()?;
    let changes = vec![("deleted_unix_s", Sql::from(time))];
    match ensure_run(connection, run).is_ok() {
        true => change_run(connection, run, changes),
        false => update_run(connection, run, &changes),
    }
}

fn exactly(
    connection: &Connection,
    text: &str,
    is_deleted: bool,
) -> Result<Option<FoundRun>, Fault> {
    let key = connection
        .query_row(
            "SELECT key FROM runs WHERE id = ?1 AND (deleted_unix_s IS NOT NULL) = ?2",
            (text, is_deleted),
            |row| row.get(0),
        )
        .optional()?;
    key.map(|key| found(connection, key)).transpose()
}

fn all_deleted(connection: &Connection) -> Result<Vec<FoundRun>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT key FROM runs WHERE deleted_unix_s IS NOT NULL ORDER BY key")?;
    let mut rows = statement.query([])?;
    let mut extent = Extent::of(connection)?;
    let mut deleted = Vec::new();
    while let Some(row) = rows.next()? {
        extent.count(row)?;
        deleted.push(found(connection, row.get(0)?)?);
    }
    Ok(deleted)
}

fn found(connection: &Connection, key: i64) -> Result<FoundRun, Fault> {
    let run = with_summary(connection, key, |row| Ok(read_name(row)))?;
    let trials: i64 =
        connection.query_row("SELECT count(*) FROM trials WHERE run = ?1", [key], |row| {
            row.get(0)
        })?;
    let trials = trials.unsigned_abs();
    Ok(FoundRun { key, run, trials })
}
