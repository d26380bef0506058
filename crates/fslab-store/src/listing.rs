//! Lists of runs, in time independent of the number of their trials.

use fslab_model::{PlanHash, RunHeader, RunId, Subject, VenueKind, nearest_name};
use rusqlite::{Connection, OptionalExtension, Row, Rows};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bounds::Extent;
use crate::codec::{integer, read, read_integer, read_json, read_optional, read_parsed, read_word};
use crate::digest::{read_name, summary_agrees, summary_columns};
use crate::error::{Fault, STORE};
use crate::{RunSelector, Store, StoreError, StoreErrorKind};

/// A run as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Start of the run, in seconds since 1970.
    pub started_unix_s: u64,
    /// Repeats of each subject; with `repeats_max`, the minimum.
    pub repeats: u32,
    /// The maximum of repeats with a target of precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats_max: Option<u32>,
    /// Trials to run: the repeats of each subject, and further ones with a record.
    pub trials_planned: u64,
    /// Trials with a record without a failure.
    pub trials_done: u64,
    /// Trials with a record with a failure.
    pub trials_failed: u64,
}

/// A run whose row is damaged or cannot be interpreted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DamagedRun {
    /// Its name as far as it can be read.
    pub run: String,
    /// The damage.
    pub damaged: String,
}

/// A run of a list; a damaged one does not hide the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ListedRun {
    /// Matches its digest.
    Sound(Box<RunSummary>),
    /// Damaged.
    Damaged(DamagedRun),
}

impl ListedRun {
    /// The summary of a sound run.
    pub fn sound(&self) -> Option<&RunSummary> {
        match self {
            Self::Sound(summary) => Some(summary),
            Self::Damaged(_) => None,
        }
    }
}

/// Which runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Deleted ones instead of the others.
    pub deleted: bool,
    pub study: Option<String>,
    /// Runs with that subject as written, or with any subject of that file system.
    pub subject: Option<String>,
}

impl RunFilter {
    /// The condition of the filter, which indexes answer: only rows that are shown are read.
    fn wanted(&self) -> String {
        let state = if self.deleted { "NOT NULL" } else { "NULL" };
        format!(
            "WHERE deleted_unix_s IS {state} AND (?1 IS NULL OR study = ?1)
               AND (?2 IS NULL
                    OR EXISTS (SELECT 1 FROM json_each(subjects)
                               WHERE value = ?2
                                  OR substr(value, 1, length(?2) + 1) = ?2 || ':'))"
        )
    }
}

impl Store {
    /// The newest runs of `filter`, newest first, at most `limit`. Damaged ones are included as
    /// such.
    pub fn runs(
        &self,
        filter: &RunFilter,
        limit: Option<u32>,
    ) -> Result<Vec<ListedRun>, StoreError> {
        self.reading(|connection| {
            let columns = summary_columns(connection)?;
            let wanted = filter.wanted();
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM runs {wanted}
                 ORDER BY started_unix_s DESC, key DESC LIMIT ?3"
            ))?;
            // -1: no limit.
            let limit = limit.map_or(-1, i64::from);
            let mut rows = statement.query((&filter.study, &filter.subject, limit))?;
            let mut runs = Vec::new();
            let mut extent = Extent::of(connection)?;
            while let Some(row) = rows.next()? {
                extent.count(row)?;
                runs.push(listed(row));
            }
            Ok(runs)
        })
    }

    /// The number of runs of `filter`.
    ///
    /// # Errors
    /// If the database cannot be read; `Damaged` if runs are missing from its index.
    pub fn count_runs(&self, filter: &RunFilter) -> Result<u64, StoreError> {
        self.reading(|connection| {
            ensure_index(connection)?;
            let sql = format!("SELECT count(*) AS count FROM runs {}", filter.wanted());
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query((&filter.study, &filter.subject))?;
            let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            read_integer(row, "runs.count")
        })
    }

    /// The one run of `selector`.
    ///
    /// # Errors
    /// `NoRuns`, `UnknownRun` with the nearest name, `AmbiguousRun` with the candidates.
    pub fn select(&self, selector: &RunSelector) -> Result<RunId, StoreError> {
        self.reading(|connection| select(connection, selector))
    }

    /// Earlier runs of the plan of `run` with a trial without a failure, newest first, at most
    /// `limit`. `run` may be of another store; then runs that began in the same second do not count
    /// as earlier.
    pub fn history(&self, run: &RunHeader, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.reading(|connection| {
            ensure_index(connection)?;
            let mut statement = connection.prepare_cached(
                "SELECT id FROM runs
                 WHERE deleted_unix_s IS NULL AND plan_hash = ?1 AND trials_done > 0 AND started_unix_s <= ?2
                   AND (started_unix_s < ?2 OR key < (SELECT key FROM runs WHERE id = ?3))
                 ORDER BY started_unix_s DESC, key DESC LIMIT ?4",
            )?;
            let began = integer("runs.started_unix_s", run.started_unix_s)?;
            let wanted = (run.plan_hash.as_str(), began, run.run.as_str(), limit);
            let mut rows = statement.query(wanted)?;
            names(connection, &mut rows)
        })
    }

    /// The latest run of that plan, for `--resume`.
    pub fn latest_with_hash(&self, hash: &PlanHash) -> Result<Option<RunId>, StoreError> {
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM runs WHERE deleted_unix_s IS NULL AND plan_hash = ?1
                 ORDER BY started_unix_s DESC, key DESC LIMIT 1",
            )?;
            let mut rows = statement.query([hash.as_str()])?;
            rows.next()?
                .map(|row| read_parsed(row, "runs.id"))
                .transpose()
        })
    }
}

/// Refuses a store whose indexes lack a run or have one too many: `last` and a history would
/// silently select other runs.
pub(crate) fn ensure_index(connection: &Connection) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT count(*) FROM runs INDEXED BY runs_by_start
                 WHERE deleted_unix_s IS NULL) = (SELECT sum(runs) FROM totals)
            AND (SELECT count(*) FROM runs INDEXED BY runs_by_plan
                 WHERE deleted_unix_s IS NULL) = (SELECT sum(runs) FROM totals)",
    )?;
    match statement.query_row([], |row| row.get::<_, Option<bool>>(0))? {
        Some(true) => Ok(()),
        _ => Err(StoreError::damaged().into()),
    }
}

fn listed(row: &Row) -> ListedRun {
    let damaged = |reason: String| {
        let run = read_name(row);
        ListedRun::Damaged(DamagedRun {
            run,
            damaged: reason,
        })
    };
    match summary_agrees(row).and_then(|agrees| Ok((agrees, summary(row)?))) {
        Ok((true, summary)) => ListedRun::Sound(Box::new(summary)),
        Ok((false, _)) => damaged("it does not match its digest".to_owned()),
        Err(fault) => damaged(fault.reason()),
    }
}

fn summary(row: &Row) -> Result<RunSummary, Fault> {
    let subjects: Vec<Subject> = read_json(row, "runs.subjects")?;
    let repeats: u32 = read_integer(row, "runs.repeats")?;
    let beyond: u64 = read_integer(row, "runs.trials_beyond")?;
    Ok(RunSummary {
        run: read_parsed(row, "runs.id")?,
        study: read(row, "runs.study")?,
        title: read(row, "runs.title")?,
        venue: read_word(row, "runs.venue")?,
        plan_hash: read_parsed(row, "runs.plan_hash")?,
        fslab: read(row, "runs.fslab")?,
        started_unix_s: read_integer(row, "runs.started_unix_s")?,
        repeats,
        repeats_max: read_optional(row, "runs.repeats_max")?,
        trials_planned: subjects.len() as u64 * u64::from(repeats) + beyond,
        trials_done: read_integer(row, "runs.trials_done")?,
        trials_failed: read_integer(row, "runs.trials_failed")?,
        subjects,
    })
}

pub(crate) fn select(connection: &Connection, selector: &RunSelector) -> Result<RunId, Fault> {
    match selector {
        RunSelector::Last => before_last(connection, 0),
        RunSelector::Before(back) => before_last(connection, *back),
        RunSelector::Named(name) => named(connection, name),
    }
}

fn before_last(connection: &Connection, back: u32) -> Result<RunId, Fault> {
    ensure_index(connection)?;
    let mut statement = connection.prepare_cached(
        "SELECT id FROM runs WHERE deleted_unix_s IS NULL
         ORDER BY started_unix_s DESC, key DESC LIMIT 1 OFFSET ?1",
    )?;
    let mut rows = statement.query([back])?;
    match rows.next()? {
        Some(row) => read_parsed(row, "runs.id"),
        None if back == 0 => {
            let error = StoreError::bad_input(format!("the store {STORE} has no run"));
            Err(error
                .hint("create one, for example with fslab compare ext4 xfs")
                .into())
        }
        None => {
            let text = format!("the store {STORE} has no run {back} before the last");
            Err(StoreError::bad_input(text)
                .hint("list the runs with fslab list")
                .into())
        }
    }
}

fn named(connection: &Connection, name: &RunId) -> Result<RunId, Fault> {
    match run_key(connection, name) {
        Ok(_) => return Ok(name.clone()),
        Err(Fault::Refused(error)) if *error.kind() == StoreErrorKind::UnknownRun => {}
        Err(fault) => return Err(fault),
    }
    let mut candidates = beginning_with(connection, name)?;
    match candidates.len() {
        1 => Ok(candidates.remove(0)),
        0 => {
            let nearest = nearest_run(connection, name)?;
            Err(StoreError::unknown_run(name.as_str(), nearest.as_ref()).into())
        }
        _ => Err(StoreError::ambiguous_run(name.as_str(), &candidates).into()),
    }
}

/// The runs whose names begin with `name`: a range of the index, because no name has a `~`.
fn beginning_with(connection: &Connection, name: &RunId) -> Result<Vec<RunId>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM runs WHERE id >= ?1 AND id < ?2 AND deleted_unix_s IS NULL ORDER BY id",
    )?;
    let mut rows = statement.query([name.as_str(), &format!("{name}~")])?;
    names(connection, &mut rows)
}

fn names(connection: &Connection, rows: &mut Rows) -> Result<Vec<RunId>, Fault> {
    let mut extent = Extent::of(connection)?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        extent.count(row)?;
        names.push(read_parsed(row, "runs.id")?);
    }
    Ok(names)
}

pub(crate) fn nearest_run(connection: &Connection, name: &RunId) -> Result<Option<RunId>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM runs WHERE deleted_unix_s IS NULL ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut extent = Extent::of(connection)?;
    let mut names: Vec<String> = Vec::new();
    while let Some(row) = rows.next()? {
        extent.count(row)?;
        names.push(row.get(0)?);
    }
    let nearest = nearest_name(name.as_str(), names.iter().map(String::as_str));
    Ok(nearest.and_then(|name| name.parse().ok()))
}

/// The key of the run's row.
pub(crate) fn run_key(connection: &Connection, run: &RunId) -> Result<i64, Fault> {
    match row_of(connection, run)? {
        Some((key, None)) => Ok(key),
        Some((_, Some(_))) => Err(deleted(run)),
        None => {
            let nearest = nearest_run(connection, run)?;
            Err(StoreError::unknown_run(run.as_str(), nearest.as_ref()).into())
        }
    }
}

pub(crate) fn deleted(run: &RunId) -> Fault {
    StoreError::bad_input(format!("run {run} of the store {STORE} is deleted"))
        .hint(format!("restore it with fslab delete --undo {run}"))
        .into()
}

/// The key of the run's row, and when the run was deleted.
pub(super) fn row_of(
    connection: &Connection,
    run: &RunId,
) -> Result<Option<(i64, Option<i64>)>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT key, deleted_unix_s FROM runs WHERE id = ?1")?;
    let row = statement.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(row.optional()?)
}
