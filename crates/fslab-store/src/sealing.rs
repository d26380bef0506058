//! Digests of what is written.
//!
//! A digest is computed from the values that were to be written. Before the transaction commits,
//! everything is read back and must have the same digest: nothing in the file can change a figure
//! between its measurement and its record. Rows that an earlier fslab left without digests get
//! those of what is there.

use std::collections::HashMap;

use crate::digest::{
    METRICS, PLAN_COLUMNS, RECORD, Sum, Table, agrees, ensure_run, is_in_summary, metrics_digest,
    plan_digest, push_row, record_digest, stored_columns, summary_digest, with_summary,
};
use crate::error::{Fault, STORE};
use crate::{StoreError, bounds::Extent};
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use sha2::{Digest, Sha256};

/// The values of a row, by column.
pub(crate) type Values = Vec<(&'static str, Sql)>;

/// Inserts a row; returns its key.
pub(crate) fn insert(
    connection: &Connection,
    table: &str,
    values: &[(&'static str, Sql)],
) -> Result<i64, Fault> {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let places = vec!["?"; names.len()].join(", ");
    let names = names.join(", ");
    let sql = format!("INSERT INTO {table} ({names}) VALUES ({places})");
    connection
        .prepare_cached(&sql)?
        .execute(params_from_iter(values.iter().map(|(_, value)| value)))?;
    Ok(connection.last_insert_rowid())
}

/// The rows of one trial as they were to be written.
#[derive(Default)]
pub(crate) struct TrialRows {
    columns: HashMap<&'static str, Vec<String>>,
    /// By table, in the form that digests cover.
    texts: HashMap<&'static str, Vec<u8>>,
}

impl TrialRows {
    /// Inserts a row and keeps it for the digest; returns its key. `joined` are the values of other
    /// tables that its digest covers, in the order of [`Table`]'s query.
    ///
    /// Rows of one table come in the order in which digests cover them.
    pub(crate) fn insert(
        &mut self,
        connection: &Connection,
        table: Table,
        values: &[(&'static str, Sql)],
        joined: &[(&'static str, Sql)],
    ) -> Result<i64, Fault> {
        let key = insert(connection, table.name(), values)?;
        self.keep(connection, table, values, joined)?;
        Ok(key)
    }

    fn keep(
        &mut self,
        connection: &Connection,
        table: Table,
        values: &[(&'static str, Sql)],
        joined: &[(&'static str, Sql)],
    ) -> Result<(), Fault> {
        let columns = match self.columns.remove(table.name()) {
            Some(columns) => columns,
            None => table.hashed_columns(connection)?,
        };
        let own = columns.iter().filter_map(|column| {
            let mut values = values.iter();
            values.find(|(name, _)| *name == column.as_str())
        });
        let row = own.chain(joined);
        let row = row.map(|(name, value)| Ok((*name, ValueRef::from(value))));
        push_row(
            self.texts.entry(table.name()).or_default(),
            table.name(),
            row,
        )?;
        self.columns.insert(table.name(), columns);
        Ok(())
    }

    /// Stores the digests of the trial, after all its rows.
    pub(crate) fn seal(self, connection: &Connection, trial: i64) -> Result<WrittenTrial, Fault> {
        let sum_of = |tables: &[Table]| -> Sum {
            let mut sum = Sha256::new();
            let texts = tables
                .iter()
                .filter_map(|table| self.texts.get(table.name()));
            texts.for_each(|text| sum.update(text));
            sum.finalize().into()
        };
        let written = WrittenTrial {
            trial,
            record: sum_of(&RECORD),
            metrics: sum_of(&METRICS),
        };
        written.store(connection)?;
        Ok(written)
    }
}

/// A trial with the digests of what was to be written.
pub(crate) struct WrittenTrial {
    trial: i64,
    record: Sum,
    metrics: Sum,
}

impl WrittenTrial {
    fn store(&self, connection: &Connection) -> Result<(), Fault> {
        connection
            .prepare_cached("UPDATE trials SET digest = ?2, metrics_digest = ?3 WHERE key = ?1")?
            .execute((self.trial, self.record, self.metrics))?;
        Ok(())
    }

    /// Refuses a trial that does not read back as it was to be written.
    pub(crate) fn ensure(&self, connection: &Connection) -> Result<(), Fault> {
        let trial = self.trial;
        let is_same = record_digest(connection, trial, Extent::of_own_rows())? == self.record
            && metrics_digest(connection, trial, Extent::of_own_rows())? == self.metrics;
        let mut statement = connection
            .prepare_cached("SELECT digest, metrics_digest FROM trials WHERE key = ?1")?;
        let mut rows = statement.query([trial])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let are_stored = agrees(row, "trials.digest", &self.record)?
            && agrees(row, "trials.metrics_digest", &self.metrics)?;
        match is_same && are_stored {
            true => Ok(()),
            false => Err(changed("a trial")),
        }
    }
}

fn changed(what: &str) -> Fault {
    StoreError::bad_input(format!(
        "the store {STORE} changed {what} while it was written"
    ))
    .hint("nothing was stored; restore a copy, or name another with --store")
    .into()
}

/// A run's row with the digests of what was to be written.
pub(crate) struct WrittenRun {
    run: i64,
    plan: Sum,
    summary: Sum,
}

impl WrittenRun {
    /// Inserts the row with its digests.
    pub(crate) fn insert(connection: &Connection, mut values: Values) -> Result<Self, Fault> {
        let (plan, summary) = sums_of_run(connection, &values)?;
        values.push(("plan_digest", Sql::Blob(plan.to_vec())));
        values.push(("digest", Sql::Blob(summary.to_vec())));
        let run = insert(connection, "runs", &values)?;
        let written = Self { run, plan, summary };
        written.ensure(connection)?;
        Ok(written)
    }

    /// The row's key.
    pub(crate) fn key(&self) -> i64 {
        self.run
    }

    /// Refuses a row that does not read back as it was to be written.
    pub(crate) fn ensure(&self, connection: &Connection) -> Result<(), Fault> {
        let is_same = plan_digest(connection, self.run)? == self.plan
            && with_summary(connection, self.run, |row| {
                Ok(summary_digest(row)? == self.summary
                    && agrees(row, "runs.plan_digest", &self.plan)?
                    && agrees(row, "runs.digest", &self.summary)?)
            })?;
        match is_same {
            true => Ok(()),
            false => Err(changed("the row of a run")),
        }
    }
}

/// Changes columns of a sound run's row, and its digests.
///
/// # Errors
/// `DamagedRun` if the row does not match its digests: new ones would hide that.
pub(crate) fn change_run(
    connection: &Connection,
    run: i64,
    changes: Vec<(&'static str, Sql)>,
) -> Result<(), Fault> {
    ensure_run(connection, run)?;
    let before = stored_row(connection, run)?;
    let after = before.iter().map(|(name, value)| {
        let mut changes = changes.iter();
        let change = changes.find(|(changed, _)| changed == name);
        (name.as_str(), change.map_or(value, |(_, value)| value))
    });
    let (plan, summary) = sums_of_row(&after.collect::<Vec<_>>())?;
    let mut changes = changes;
    changes.push(("plan_digest", Sql::Blob(plan.to_vec())));
    changes.push(("digest", Sql::Blob(summary.to_vec())));
    update_run(connection, run, &changes)?;
    WrittenRun { run, plan, summary }.ensure(connection)
}

/// Changes columns of a run's row.
pub(crate) fn update_run(
    connection: &Connection,
    run: i64,
    changes: &[(&'static str, Sql)],
) -> Result<(), Fault> {
    let names = changes.iter().map(|(name, _)| format!("{name} = ?"));
    let names = names.collect::<Vec<_>>().join(", ");
    let key = Sql::Integer(run);
    let values = changes.iter().map(|(_, value)| value).chain([&key]);
    connection
        .prepare_cached(&format!("UPDATE runs SET {names} WHERE key = ?"))?
        .execute(params_from_iter(values))?;
    Ok(())
}

/// The stored columns of a run's row, in their order.
fn stored_row(connection: &Connection, run: i64) -> Result<Vec<(String, Sql)>, Fault> {
    let columns = stored_columns(connection, "runs")?;
    let sql = format!("SELECT {} FROM runs WHERE key = ?1", columns.join(", "));
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([run])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let values = columns.into_iter().enumerate();
    let values = values.map(|(place, name)| Ok((name, row.get(place)?)));
    values.collect()
}

/// The digests of a row to be inserted: of its plan, and of its summary.
fn sums_of_run(connection: &Connection, values: &Values) -> Result<(Sum, Sum), Fault> {
    let columns = stored_columns(connection, "runs")?;
    let in_order = columns.iter().filter_map(|column| {
        let mut values = values.iter();
        let value = values.find(|(name, _)| *name == column.as_str());
        value.map(|(name, value)| (*name, value)).or_else(|| {
            let is_plan_digest = column == "plan_digest";
            is_plan_digest.then_some(("plan_digest", &Sql::Null))
        })
    });
    sums_of_row(&in_order.collect::<Vec<_>>())
}

/// The digests of a run's row, whose columns stand in their order. That of the plan is computed.
fn sums_of_row(row: &[(&str, &Sql)]) -> Result<(Sum, Sum), Fault> {
    let find = |wanted: &&'static str| {
        let mut row = row.iter();
        row.find(|(name, _)| name == wanted)
            .map(|(name, value)| Ok((*name, ValueRef::from(*value))))
    };
    let plan = sum_of(PLAN_COLUMNS.iter().filter_map(find))?;
    let plan_value = Sql::Blob(plan.to_vec());
    let summary = row
        .iter()
        .filter(|(name, _)| is_in_summary(name) && !PLAN_COLUMNS.contains(name));
    let summary = sum_of(summary.map(|(name, value)| match *name {
        "plan_digest" => Ok((*name, ValueRef::from(&plan_value))),
        name => Ok((name, ValueRef::from(*value))),
    }))?;
    Ok((plan, summary))
}

fn sum_of<'a>(
    values: impl Iterator<Item = Result<(&'a str, ValueRef<'a>), Fault>>,
) -> Result<Sum, Fault> {
    let mut text = Vec::new();
    push_row(&mut text, "runs", values)?;
    Ok(Sha256::digest(&text).into())
}

/// Computes the missing digests, which cover what is there.
///
/// A row that cannot be read stays without one, and is an error when it is requested; the other
/// rows of the store remain usable.
pub(crate) fn complete(connection: &Connection) -> Result<(), Fault> {
    type Seal = fn(&Connection, i64) -> Result<(), Fault>;
    let kinds: [(&str, Seal); 2] = [("trials", seal_stored_trial), ("runs", seal_stored_run)];
    for (table, seal) in kinds {
        let next = format!(
            "SELECT key FROM {table} WHERE digest IS NULL AND key > ?1 ORDER BY key LIMIT 1"
        );
        let mut statement = connection.prepare(&next)?;
        let mut last = i64::MIN;
        while let Some(key) = statement
            .query_row([last], |row| row.get::<_, i64>(0))
            .optional()?
        {
            match seal(connection, key) {
                Err(fault) if !fault.is_of_content() => return Err(fault),
                _ => last = key,
            }
        }
    }
    Ok(())
}

fn seal_stored_trial(connection: &Connection, trial: i64) -> Result<(), Fault> {
    let written = WrittenTrial {
        trial,
        record: record_digest(connection, trial, Extent::of(connection)?)?,
        metrics: metrics_digest(connection, trial, Extent::of(connection)?)?,
    };
    written.store(connection)
}

fn seal_stored_run(connection: &Connection, run: i64) -> Result<(), Fault> {
    let stored = stored_row(connection, run)?;
    let row: Vec<_> = stored
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    let (plan, summary) = sums_of_row(&row)?;
    let digests = [
        ("plan_digest", Sql::Blob(plan.to_vec())),
        ("digest", Sql::Blob(summary.to_vec())),
    ];
    update_run(connection, run, &digests)
}

#[cfg(test)]
mod tests {
    use fslab_model::RunRecord;

    use crate::{RunFilter, Store};

    fn sample() -> RunRecord {
        let text = include_str!("../../../tests/fixtures/stores/v8.json");
        serde_json::from_str(text).expect("a run")
    }

    /// The digest was computed from the rows read back: a trigger of the file made a run ten times
    /// as fast, and the check of the store found it as it was written.
    #[test]
    fn nothing_changes_a_figure_between_its_measurement_and_its_record() {
        let run = sample();
        for (change, what) in [
            (
                "AFTER INSERT ON phases BEGIN
                     UPDATE phases SET elapsed_ns = elapsed_ns / 10 WHERE key = new.key; END",
                "a trial",
            ),
            (
                "AFTER INSERT ON phase_metrics BEGIN
                     UPDATE phase_metrics SET value = value * 10 WHERE phase = new.phase; END",
                "a trial",
            ),
            (
                "AFTER UPDATE OF digest ON trials BEGIN
                     UPDATE facts SET value = 'x' WHERE trial = new.key; END",
                "a trial",
            ),
            (
                "AFTER INSERT ON runs BEGIN
                     UPDATE runs SET title = 'x' WHERE key = new.key; END",
                "the row of a run",
            ),
        ] {
            let folder = tempfile::tempdir().expect("a directory");
            let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
            store
                .connection
                .execute_batch(&format!("CREATE TEMP TRIGGER strange {change};"))
                .expect(change);
            let error = store
                .add_runs(std::slice::from_ref(&run))
                .expect_err("not as measured");
            let end = format!(" changed {what} while it was written");
            assert!(error.to_string().ends_with(&end), "{error}");
            let runs = store.runs(&RunFilter::default(), None).expect("lists");
            assert!(runs.is_empty(), "nothing is stored");
        }
    }

    /// New digests of a damaged row hid the damage.
    #[test]
    fn a_damaged_row_gets_no_new_digest() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
        let run = sample();
        store.add_runs(std::slice::from_ref(&run)).expect("stores");
        store
            .connection
            .execute("UPDATE runs SET title = 'x'", [])
            .expect("damaged");
        let name = &run.header.run;
        let error = store.ask_repeats(name, 99, None).expect_err("is damaged");
        let start = format!("run {name} in the store ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }

    #[test]
    fn a_metric_with_another_unit_is_refused_by_its_name() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
        let run = sample();
        store.add_runs(std::slice::from_ref(&run)).expect("stores");
        store
            .connection
            .execute(
                "UPDATE metrics SET unit = 'x' WHERE name = 'throughput'",
                [],
            )
            .expect("changed");
        let mut other = run.clone();
        other.header.run = "other".parse().expect("a name");
        let error = store.add_runs(&[other]).expect_err("another unit");
        assert!(
            error.to_string().contains(" has a metric 'throughput' "),
            "{error}"
        );
    }
}
