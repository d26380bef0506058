//! Which runs there are, in time that does not depend on the number of their trials.

use fslab_model::{PlanHash, RunId, Subject, VenueKind, nearest_name};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::codec::{read, read_integer, read_json, read_parsed, read_word};
use crate::error::Fault;
use crate::{RunSelector, Store, StoreError, StoreErrorKind};

/// A run on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Its name.
    pub run: RunId,
    /// The study's name.
    pub study: String,
    /// The study's title.
    pub title: String,
    /// The subjects, in the order of the plan.
    pub subjects: Vec<Subject>,
    /// Where its trials ran.
    pub venue: VenueKind,
    /// Hash of its plan.
    pub plan_hash: PlanHash,
    /// Version of fslab that began it.
    pub fslab: String,
    /// Seconds since 1970 when it began.
    pub started_unix_s: u64,
    /// Trials that the plan asks for.
    pub trials_planned: u64,
    /// Trials that have a record without a failure.
    pub trials_done: u64,
    /// Trials that have a record with a failure.
    pub trials_failed: u64,
}

impl Store {
    /// All runs, newest first.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, study, title, subjects, venue, plan_hash, fslab, started_unix_s,
                        repeats, trials_done, trials_failed
                 FROM runs ORDER BY started_unix_s DESC, id DESC",
            )?;
            let mut rows = statement.query([])?;
            let mut summaries = Vec::new();
            while let Some(row) = rows.next()? {
                summaries.push(summary(row)?);
            }
            Ok(summaries)
        })
    }

    /// The one run that `selector` means.
    ///
    /// # Errors
    /// `NoRuns`, `UnknownRun` with the nearest name, `AmbiguousRun` with the candidates.
    pub fn select(&self, selector: &RunSelector) -> Result<RunId, StoreError> {
        self.reading(|connection| select(connection, selector))
    }

    /// The run of that plan that began last; `None` where there is none. For `--resume`.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn latest_with_hash(&self, hash: &PlanHash) -> Result<Option<RunId>, StoreError> {
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM runs WHERE plan_hash = ?1
                 ORDER BY started_unix_s DESC, id DESC LIMIT 1",
            )?;
            let mut rows = statement.query([&hash.0])?;
            rows.next()?
                .map(|row| read_parsed(row, "runs.id"))
                .transpose()
        })
    }
}

fn summary(row: &Row) -> Result<RunSummary, Fault> {
    let subjects: Vec<Subject> = read_json(row, "runs.subjects")?;
    let repeats: u64 = read_integer(row, "runs.repeats")?;
    Ok(RunSummary {
        run: read_parsed(row, "runs.id")?,
        study: read(row, "runs.study")?,
        title: read(row, "runs.title")?,
        venue: read_word(row, "runs.venue")?,
        plan_hash: PlanHash(read(row, "runs.plan_hash")?),
        fslab: read(row, "runs.fslab")?,
        started_unix_s: read_integer(row, "runs.started_unix_s")?,
        trials_planned: subjects.len() as u64 * repeats,
        trials_done: read_integer(row, "runs.trials_done")?,
        trials_failed: read_integer(row, "runs.trials_failed")?,
        subjects,
    })
}

pub(crate) fn select(connection: &Connection, selector: &RunSelector) -> Result<RunId, Fault> {
    match selector {
        RunSelector::Last => last(connection),
        RunSelector::Named(name) => named(connection, name),
    }
}

fn last(connection: &Connection) -> Result<RunId, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM runs ORDER BY started_unix_s DESC, id DESC LIMIT 1")?;
    let mut rows = statement.query([])?;
    match rows.next()? {
        Some(row) => read_parsed(row, "runs.id"),
        None => Err(StoreErrorKind::NoRuns.into()),
    }
}

fn named(connection: &Connection, name: &RunId) -> Result<RunId, Fault> {
    let whole: Option<i64> = connection
        .query_row(
            "SELECT key FROM runs WHERE id = ?1",
            [name.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    if whole.is_some() {
        return Ok(name.clone());
    }
    let mut candidates = beginning_with(connection, name)?;
    match candidates.len() {
        1 => Ok(candidates.remove(0)),
        0 => {
            let nearest = nearest_run(connection, name)?;
            let wanted = name.to_string();
            Err(StoreErrorKind::UnknownRun { wanted, nearest }.into())
        }
        _ => {
            let wanted = name.to_string();
            Err(StoreErrorKind::AmbiguousRun { wanted, candidates }.into())
        }
    }
}

/// The runs whose names begin with `name`: a range of the index, since no name has a `~`.
fn beginning_with(connection: &Connection, name: &RunId) -> Result<Vec<RunId>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM runs WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
    let mut rows = statement.query([name.as_str(), &format!("{name}~")])?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        names.push(read_parsed(row, "runs.id")?);
    }
    Ok(names)
}

pub(crate) fn nearest_run(connection: &Connection, name: &RunId) -> Result<Option<RunId>, Fault> {
    let mut statement = connection.prepare_cached("SELECT id FROM runs ORDER BY id")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let names = rows.collect::<Result<Vec<_>, _>>()?;
    let nearest = nearest_name(name.as_str(), names.iter().map(String::as_str));
    Ok(nearest.and_then(|name| name.parse().ok()))
}
