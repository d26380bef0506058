//! The check of an entire store: SQLite's own checks, then every digest, count and value.

use rusqlite::{Connection, Row};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bounds::Extent;
use crate::codec::read;
use crate::digest::{
    agrees, ensure_run, is_complete, metrics_digest, read_name, record_digest, with_summary,
};
use crate::error::Fault;
use crate::listing::ensure_index;
use crate::reading::{Content, record};
use crate::{Store, StoreError};

/// Most messages reported from SQLite's own checks.
const SENTENCES_MAX: u32 = 100;

/// One damaged part of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreDamage {
    /// The run; `None` for the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The trial; `None` for the run's own row, and for the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// What is wrong.
    pub damage: String,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checked {
    /// Runs checked, deleted ones included.
    pub runs: u64,
    /// Their trials.
    pub trials: u64,
    /// The damage found; empty for a sound store.
    pub findings: Vec<StoreDamage>,
}

impl Checked {
    fn add(&mut self, run: Option<&str>, trial: Option<String>, damage: impl Into<String>) {
        self.findings.push(StoreDamage {
            run: run.map(str::to_owned),
            trial,
            damage: damage.into(),
        });
    }
}

impl Store {
    /// Reads everything stored and verifies it. A part that cannot be read is a finding; the others
    /// are still checked.
    ///
    /// # Errors
    /// If the database cannot be read at all; `Endless` if it has more than its size explains.
    pub fn check(&self) -> Result<Checked, StoreError> {
        self.reading(|connection| {
            let mut checked = Checked::default();
            check_file(connection, &mut checked)?;
            for key in keys(
                connection,
                "SELECT key FROM runs NOT INDEXED ORDER BY key",
                None,
            )? {
                check_run(connection, key, &mut checked)?;
            }
            Ok(checked)
        })
    }
}

/// Keys as far as they can be read: a damaged page ends the list, and is reported by another check.
fn keys(connection: &Connection, sql: &str, of: Option<i64>) -> Result<Vec<i64>, Fault> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = match of {
        Some(key) => statement.query([key])?,
        None => statement.query([])?,
    };
    let mut keys = Vec::new();
    let mut extent = Extent::of(connection)?;
    loop {
        match rows.next().map_err(Fault::from) {
            Ok(Some(row)) => {
                extent.count(row)?;
                keys.push(row.get(0)?);
            }
            Ok(None) => return Ok(keys),
            Err(fault) => return ensure_finite(fault).map(|()| keys),
        }
    }
}

/// SQLite's checks of pages, indexes, constraints and references; then the store's totals.
fn check_file(connection: &Connection, checked: &mut Checked) -> Result<(), Fault> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({SENTENCES_MAX})"))?;
    let mut rows = statement.query([])?;
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let sentence: String = row.get(0)?;
                if sentence != "ok" {
                    checked.add(None, None, sentence);
                }
            }
            Ok(None) => break,
            Err(error) => {
                let fault = Fault::from(error);
                checked.add(None, None, fault.reason());
                ensure_finite(fault)?;
                break;
            }
        }
    }
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    for _ in 0..SENTENCES_MAX {
        let next = rows.next().map_err(Fault::from);
        let Ok(Some(row)) = next else {
            next.err().map_or(Ok(()), ensure_finite)?;
            break;
        };
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        checked.add(
            None,
            None,
            format!("a row of {table} belongs to no row of {parent}"),
        );
    }
    if let Err(fault) = ensure_index(connection) {
        let text = "the run indexes do not have as many entries as runs were stored";
        match fault.is_of_content() {
            true => checked.add(None, None, text),
            false => return Err(fault),
        }
    }
    if !matches!(is_complete(connection), Ok(true)) {
        checked.add(None, None, "a run or a trial has no digest");
    }
    Ok(())
}

/// Passes on that a piece of work was ended: nothing else of the store can be checked then.
fn ensure_finite(fault: Fault) -> Result<(), Fault> {
    match fault.is_endless() {
        true => Err(fault),
        false => Ok(()),
    }
}

fn check_run(connection: &Connection, key: i64, checked: &mut Checked) -> Result<(), Fault> {
    checked.runs += 1;
    let name = with_summary(connection, key, |row| Ok(read_name(row)));
    let name = name.unwrap_or_else(|_| format!("of row {key}"));
    if let Err(fault) = ensure_run(connection, key) {
        checked.add(Some(&name), None, fault.reason());
        ensure_finite(fault)?;
    }
    let before = checked.findings.len();
    let sql = "SELECT key FROM trials WHERE run = ?1 ORDER BY cell, repeat";
    let trials = match keys(connection, sql, Some(key)) {
        Err(fault) if fault.is_endless() => return Err(fault),
        trials => trials.unwrap_or_default(),
    };
    for trial in trials {
        checked.trials += 1;
        if let Err(fault) = check_trial(connection, &name, trial, checked) {
            let place = format!("of row {trial}");
            checked.add(Some(&name), Some(place), fault.reason());
            ensure_finite(fault)?;
        }
    }
    // Errors that digests do not show: missing trials, and unreadable values.
    if checked.findings.len() == before
        && let Err(fault) = record(connection, key, Content::Full)
    {
        let known = checked.findings.iter();
        let is_known = known
            .clone()
            .any(|finding| finding.run.as_deref() == Some(name.as_str()));
        if !is_known {
            checked.add(Some(&name), None, fault.reason());
        }
        ensure_finite(fault)?;
    }
    Ok(())
}

fn check_trial(
    connection: &Connection,
    run: &str,
    key: i64,
    checked: &mut Checked,
) -> Result<(), Fault> {
    let record = record_digest(connection, key, Extent::of(connection)?)?;
    let metrics = metrics_digest(connection, key, Extent::of(connection)?)?;
    let mut statement = connection
        .prepare_cached("SELECT cell, repeat, digest, metrics_digest FROM trials WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    let row: &Row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let trial = || -> Result<String, Fault> {
        let (cell, repeat) = (
            read::<i64>(row, "trials.cell")?,
            read::<i64>(row, "trials.repeat")?,
        );
        Ok(format!("c{cell}r{repeat}"))
    };
    if !agrees(row, "trials.digest", &record)? {
        checked.add(Some(run), Some(trial()?), "it does not match its digest");
    }
    if !agrees(row, "trials.metrics_digest", &metrics)? {
        let text = "its rows of phase_metrics and trial_metrics do not match their digest";
        checked.add(Some(run), Some(trial()?), text);
    }
    Ok(())
}
