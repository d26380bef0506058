//! Digests of stored rows, which reveal damage.
//!
//! A digest is the SHA-256 of rows as SQLite keeps them. A row is hashed column by column: name,
//! type and value of each that is not NULL, so that a column added by a later version does not
//! change the digest of a row without it. SQLite's row keys are left out; the references that they
//! stand for (a phase's ordinal, a trial's run) are included. A digest reveals damage, not forgery,
//! which would replace the digest, too.
//!
//! ```text
//!     trials.digest          steps, latencies, series, phases, facts and the trial's row
//!     trials.metrics_digest  phase_metrics and trial_metrics, which are derived from them
//!     runs.plan_digest       the large columns of the run's row: plan, machine, command
//!     runs.digest            the run's other columns, and plan_digest
//! ```

use std::collections::HashMap;

use crate::codec::read;
use crate::error::{Fault, STORE};
use crate::{StoreError, bounds::Extent};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};

/// A SHA-256.
pub(crate) type Sum = [u8; 32];

/// Columns outside every digest: row keys, and values derived from the digest's own rows. `owner`
/// is the key of the trial in these queries.
const LEFT_OUT: [&str; 7] = [
    "key",
    "run",
    "trial",
    "phase",
    "owner",
    "digest",
    "metrics_digest",
];
/// The large columns of a run, which a list does not read.
pub(crate) const PLAN_COLUMNS: [&str; 3] = ["plan", "machine", "command"];
/// The counts of a run, which change with its trials; `trials_check` verifies them.
const COUNTS: [&str; 4] = [
    "trials_done",
    "trials_failed",
    "trials_beyond",
    "trials_check",
];

/// The key of a metric, which differs between stores; its name is hashed instead.
const METRIC: &str = "metric";

/// Columns that SQLite generates from others.
const GENERATED: [&str; 4] = ["failure_kind", "failure_message", "kernel", "host"];

/// The trials of a scan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// All of the run with that key.
    Run(i64),
    /// The trial with that key.
    Trial(i64),
}

/// Tables of a trial's rows, in the order of hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Table {
    Steps,
    Latencies,
    Series,
    Phases,
    Facts,
    Trials,
    #[strum(serialize = "phase_metrics")]
    PhaseMetrics,
    #[strum(serialize = "trial_metrics")]
    TrialMetrics,
}

/// The tables of `trials.digest`.
pub(crate) const RECORD: [Table; 6] = [
    Table::Steps,
    Table::Latencies,
    Table::Series,
    Table::Phases,
    Table::Facts,
    Table::Trials,
];
/// The tables of `trials.metrics_digest`.
pub(crate) const METRICS: [Table; 2] = [Table::PhaseMetrics, Table::TrialMetrics];

impl Table {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// The names of the columns that a digest covers, without those that [`Self::parts`] adds.
    pub(crate) fn hashed_columns(self, connection: &Connection) -> Result<Vec<String>, Fault> {
        let mut columns = stored_columns(connection, self.name())?;
        columns.retain(|name| !LEFT_OUT.contains(&name.as_str()) && name != METRIC);
        Ok(columns)
    }

    /// Additional columns, joins, and the order of rows within a trial.
    fn parts(self) -> [&'static str; 3] {
        const OF_PHASE: &str = ", phases.ordinal AS phase_ordinal";
        match self {
            Self::Steps => [
                "",
                "JOIN steps ON steps.trial = trials.key",
                ", steps.ordinal",
            ],
            Self::Latencies => [
                OF_PHASE,
                "JOIN phases ON phases.trial = trials.key
                 JOIN latencies ON latencies.phase = phases.key",
                ", phases.ordinal, latencies.ordinal",
            ],
            Self::Series => [
                OF_PHASE,
                "JOIN phases ON phases.trial = trials.key
                 JOIN series ON series.phase = phases.key",
                ", phases.ordinal",
            ],
            Self::Phases => [
                "",
                "JOIN phases ON phases.trial = trials.key",
                ", phases.ordinal",
            ],
            Self::Facts => ["", "JOIN facts ON facts.trial = trials.key", ", facts.name"],
            Self::Trials => [
                ", runs.id AS run_id",
                "JOIN runs ON runs.key = trials.run",
                "",
            ],
            Self::PhaseMetrics => [
                ", phases.ordinal AS phase_ordinal, metrics.name, metrics.unit, metrics.better",
                "JOIN phases ON phases.trial = trials.key
                 JOIN phase_metrics ON phase_metrics.phase = phases.key
                 JOIN metrics ON metrics.key = phase_metrics.metric",
                ", phases.ordinal, metrics.name",
            ],
            Self::TrialMetrics => [
                ", metrics.name, metrics.unit, metrics.better",
                "JOIN trial_metrics ON trial_metrics.trial = trials.key
                 JOIN metrics ON metrics.key = trial_metrics.metric",
                ", metrics.name",
            ],
        }
    }

    fn sql(self, connection: &Connection, scope: Scope) -> Result<String, Fault> {
        let [more, joins, order] = self.parts();
        let name = self.name();
        let columns: Vec<_> = stored_columns(connection, name)?
            .iter()
            .filter(|column| *column != METRIC)
            .map(|column| format!("{name}.{column}"))
            .collect();
        let wanted = match scope {
            Scope::Run(_) => "trials.run = ?1",
            Scope::Trial(_) => "trials.key = ?1",
        };
        Ok(format!(
            "SELECT trials.key AS owner, {columns}{more} FROM trials {joins}
             WHERE {wanted} ORDER BY trials.cell, trials.repeat{order}",
            columns = columns.join(", "),
        ))
    }
}

/// The stored columns in their order, without generated ones.
pub(crate) fn stored_columns(connection: &Connection, table: &str) -> Result<Vec<String>, Fault> {
    // Prepared for its column names, never run.
    let statement = connection.prepare_cached(&format!("SELECT * FROM {table}"))?;
    let names = statement.column_names();
    let stored = names.filter(|name| !GENERATED.contains(name));
    Ok(stored.map(str::to_owned).collect())
}

/// Digests of the trials of a scope, updated row by row.
pub(crate) struct TrialDigests {
    sums: HashMap<i64, Sha256>,
    extent: Extent,
}

impl TrialDigests {
    /// For rows that together have room in `extent`.
    pub(crate) fn within(extent: Extent) -> Self {
        let sums = HashMap::new();
        Self { sums, extent }
    }

    /// Hashes each row of a table and passes it to `take`; rows of one trial are adjacent.
    pub(crate) fn scan(
        &mut self,
        connection: &Connection,
        table: Table,
        scope: Scope,
        mut take: impl FnMut(&Row) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut statement = connection.prepare_cached(&table.sql(connection, scope)?)?;
        let names = Names::of(&statement, |name| !LEFT_OUT.contains(&name));
        let (Scope::Run(key) | Scope::Trial(key)) = scope;
        let mut rows = statement.query([key])?;
        while let Some(row) = rows.next()? {
            self.extent.count(row)?;
            let sum = self.sums.entry(read(row, "owner")?).or_default();
            names.hash(sum, table.name(), row)?;
            take(row)?;
        }
        Ok(())
    }

    /// The digest of a trial after its last row.
    pub(crate) fn finish(&mut self, trial: i64) -> Sum {
        self.sums
            .remove(&trial)
            .unwrap_or_default()
            .finalize()
            .into()
    }

    /// True if every trial with a row was finished: a row without its trial is damage.
    pub(crate) fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }
}

/// The hashed columns of a query: index and name.
struct Names(Vec<(usize, Box<str>)>);

impl Names {
    fn of(statement: &rusqlite::Statement, wanted: impl Fn(&str) -> bool) -> Self {
        let names = statement.column_names().enumerate();
        let wanted = names.filter(|(_, name)| wanted(name));
        Self(wanted.map(|(place, name)| (place, name.into())).collect())
    }

    fn hash(&self, sum: &mut Sha256, table: &str, row: &Row) -> Result<(), Fault> {
        let values = self.0.iter().map(|(place, name)| {
            let value = row.get_ref(*place)?;
            Ok((name.as_ref(), value))
        });
        // Small parts are collected, because the hash function works on blocks.
        let mut text = Vec::with_capacity(1024);
        push_row(&mut text, table, values)?;
        sum.update(&text);
        Ok(())
    }
}

/// Appends the form of a row that digests cover.
pub(crate) fn push_row<'a>(
    text: &mut Vec<u8>,
    table: &str,
    values: impl Iterator<Item = Result<(&'a str, ValueRef<'a>), Fault>>,
) -> Result<(), Fault> {
    push(text, b'(', table.as_bytes());
    for value in values {
        let (name, value) = value?;
        if value == ValueRef::Null {
            continue;
        }
        push(text, b'=', name.as_bytes());
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(number) => push(text, b'i', &number.to_le_bytes()),
            ValueRef::Real(number) => push(text, b'r', &number.to_bits().to_le_bytes()),
            ValueRef::Text(bytes) => push(text, b't', bytes),
            ValueRef::Blob(bytes) => push(text, b'b', bytes),
        }
    }
    text.push(b')');
    Ok(())
}

/// A value with its type and length, so that different sequences of values differ in bytes.
fn push(text: &mut Vec<u8>, kind: u8, value: &[u8]) {
    text.push(kind);
    text.extend((value.len() as u64).to_le_bytes());
    text.extend(value);
}

/// True if the digest in `column` of the row equals `sum`.
pub(crate) fn agrees(row: &Row, column: &'static str, sum: &Sum) -> Result<bool, Fault> {
    let stored: Option<Vec<u8>> = read(row, column)?;
    Ok(stored.is_some_and(|stored| stored == sum))
}

fn digest_of(
    connection: &Connection,
    tables: &[Table],
    trial: i64,
    extent: Extent,
) -> Result<Sum, Fault> {
    let mut digests = TrialDigests::within(extent);
    for table in tables {
        digests.scan(connection, *table, Scope::Trial(trial), |_| Ok(()))?;
    }
    Ok(digests.finish(trial))
}

/// The digest of a trial's record.
pub(crate) fn record_digest(
    connection: &Connection,
    trial: i64,
    extent: Extent,
) -> Result<Sum, Fault> {
    digest_of(connection, &RECORD, trial, extent)
}

/// The digest of a trial's derived metrics.
pub(crate) fn metrics_digest(
    connection: &Connection,
    trial: i64,
    extent: Extent,
) -> Result<Sum, Fault> {
    digest_of(connection, &METRICS, trial, extent)
}

/// The columns of a run that a list reads and `runs.digest` covers, with the counts and the digest.
pub(crate) fn summary_columns(connection: &Connection) -> Result<String, Fault> {
    let mut columns = stored_columns(connection, "runs")?;
    columns.retain(|column| !PLAN_COLUMNS.contains(&column.as_str()));
    Ok(columns.join(", "))
}

/// The expected `runs.digest` of a row of [`summary_columns`].
pub(crate) fn summary_digest(row: &Row) -> Result<Sum, Fault> {
    let names = Names::of(row.as_ref(), is_in_summary);
    let mut sum = Sha256::new();
    names.hash(&mut sum, "runs", row)?;
    Ok(sum.finalize().into())
}

/// True for the columns that `runs.digest` covers, among those of [`summary_columns`].
pub(crate) fn is_in_summary(column: &str) -> bool {
    !LEFT_OUT.contains(&column) && !COUNTS.contains(&column)
}

pub(crate) fn plan_digest(connection: &Connection, run: i64) -> Result<Sum, Fault> {
    let columns = PLAN_COLUMNS.join(", ");
    let sql = format!("SELECT {columns} FROM runs WHERE key = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let names = Names::of(&statement, |_| true);
    let mut rows = statement.query([run])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let mut sum = Sha256::new();
    names.hash(&mut sum, "runs", row)?;
    Ok(sum.finalize().into())
}

/// Calls `work` with the run's row of [`summary_columns`].
pub(crate) fn with_summary<T>(
    connection: &Connection,
    run: i64,
    work: impl FnOnce(&Row) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let columns = summary_columns(connection)?;
    let sql = format!("SELECT {columns} FROM runs WHERE key = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([run])?;
    work(rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

/// Refuses a run whose row, plan included, does not match its digests.
pub(crate) fn ensure_run(connection: &Connection, run: i64) -> Result<(), Fault> {
    let plan = plan_digest(connection, run)?;
    with_summary(connection, run, |row| {
        match agrees(row, "runs.plan_digest", &plan)? && summary_agrees(row)? {
            true => Ok(()),
            false => Err(damaged_run(&read_name(row))),
        }
    })
}

/// True if a row of [`summary_columns`] matches its digest and its counts of trials.
pub(crate) fn summary_agrees(row: &Row) -> Result<bool, Fault> {
    let count = |what| read::<i64>(row, what).map(i128::from);
    let [done, failed, beyond] = [
        count("runs.trials_done")?,
        count("runs.trials_failed")?,
        count("runs.trials_beyond")?,
    ];
    let weighted = 3 * done + 5 * failed + 7 * beyond;
    let counted = count("runs.trials_check")? == weighted;
    Ok(counted && agrees(row, "runs.digest", &summary_digest(row)?)?)
}

/// The run's name for an error; any text.
pub(crate) fn read_name(row: &Row) -> String {
    let name = row
        .get_ref("id")
        .ok()
        .and_then(|value| value.as_bytes().ok());
    name.map_or_else(String::new, |name| {
        String::from_utf8_lossy(name).into_owned()
    })
}

pub(crate) fn damaged_run(run: &str) -> Fault {
    StoreError::damaged_content(format!("run {run} in the store {STORE} is damaged")).into()
}

/// True if no row lacks its digest; an earlier fslab or another program writes rows without.
pub(crate) fn is_complete(connection: &Connection) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM trials WHERE digest IS NULL)
                   OR EXISTS (SELECT 1 FROM runs WHERE digest IS NULL)";
    Ok(!connection.query_row(sql, [], |row| row.get::<_, bool>(0))?)
}
