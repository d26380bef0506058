//! Writing: a run's header, then its trials, each in its own transaction.

use std::collections::HashMap;

use fslab_model::{
    Adaptive, Metric, PhaseRecord, Plan, RunHeader, RunId, RunRecord, TrialOutcome, TrialRecord,
    phase_metrics, trial_metrics,
};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, named_params, params_from_iter};

use crate::codec::{integer, json, read, read_json};
use crate::digest::{seal_run, seal_trial};
use crate::error::Fault;
use crate::listing::nearest_run;
use crate::{Store, StoreError, StoreErrorKind, phase_columns};

const INSERT_RUN: &str = "
    INSERT INTO runs (id, study, title, plan, plan_hash, seed, venue, size_bytes, engine, cold,
                      subjects, repeats, repeats_max, fslab, machine, command, started_unix_s)
    VALUES (:id, :study, :title, :plan, :plan_hash, :seed, :venue, :size_bytes, :engine, :cold,
            :subjects, :repeats, :repeats_max, :fslab, :machine, :command, :started_unix_s)";

const INSERT_TRIAL: &str = "
    INSERT INTO trials (run, cell, repeat, subject, position, started_unix_s, elapsed_ns, outcome,
                        failure, console, insight, kernel_log, perturbation, survival)
    VALUES (:run, :cell, :repeat, :subject, :position, :started_unix_s, :elapsed_ns, :outcome,
            :failure, :console, :insight, :kernel_log, :perturbation, :survival)";

impl Store {
    /// Stores a run's header, before its first trial.
    ///
    /// # Errors
    /// `RunExists` if a run of that name exists.
    pub fn begin_run(&mut self, header: &RunHeader) -> Result<(), StoreError> {
        self.writing(|connection| insert_run(connection, header).map(drop))
    }

    /// Stores a trial durably. Replaces an earlier record of the same trial if that one failed.
    ///
    /// # Errors
    /// `TrialDone` if the trial has a record without a failure, `UnknownRun` if its run was not
    /// begun.
    pub fn add_trial(&mut self, run: &RunId, trial: &TrialRecord) -> Result<(), StoreError> {
        self.writing(|connection| {
            let key = run_key(connection, run)?;
            remove_failed(connection, key, run, trial)?;
            insert_trial(connection, key, trial, &mut MetricKeys::default())
        })
    }

    /// Stores complete runs, headers and trials, in one transaction, all or none: for imports,
    /// whose trials need not be durable one by one.
    ///
    /// # Errors
    /// As [`Store::begin_run`] and [`Store::add_trial`].
    pub fn add_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.writing(|connection| {
            let mut keys = MetricKeys::default();
            for run in runs {
                let (name, key) = (&run.header.run, insert_run(connection, &run.header)?);
                for trial in &run.trials {
                    remove_failed(connection, key, name, trial)?;
                    insert_trial(connection, key, trial, &mut keys)?;
                }
            }
            Ok(())
        })
    }

    /// Raises the repeats of a resumed run's plan. Fewer repeats than the plan has leave the number
    /// as it is; `adaptive` sets how far it goes beyond them, though never below that number.
    ///
    /// # Errors
    /// `UnknownRun`.
    pub fn ask_repeats(
        &mut self,
        run: &RunId,
        repeats: u32,
        adaptive: Option<&Adaptive>,
    ) -> Result<(), StoreError> {
        self.writing(|connection| {
            let key = run_key(connection, run)?;
            let mut plan = plan_of(connection, key)?;
            let before = (plan.repeats, plan.adaptive.clone());
            plan.repeats = plan.repeats.max(repeats);
            plan.adaptive = adaptive.map(|adaptive| Adaptive {
                repeats_max: adaptive.repeats_max.max(plan.repeats),
                ..adaptive.clone()
            });
            if before == (plan.repeats, plan.adaptive.clone()) {
                return Ok(());
            }
            let repeats_max = plan.adaptive.as_ref().map(|adaptive| adaptive.repeats_max);
            connection.execute(
                "UPDATE runs SET plan = ?2, repeats = ?3, repeats_max = ?4 WHERE key = ?1",
                (key, json(&plan), plan.repeats, repeats_max),
            )?;
            seal_run(connection, key)
        })
    }

    /// Removes a run with all its trials for good.
    ///
    /// # Errors
    /// `UnknownRun`.
    pub fn delete_run(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.writing(|connection| {
            let key = run_key(connection, run)?;
            connection.execute("DELETE FROM runs WHERE key = ?1", [key])?;
            Ok(())
        })
    }
}

/// The key of the run's row, and when the run was deleted.
fn row_of(connection: &Connection, run: &RunId) -> Result<Option<(i64, Option<i64>)>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT key, deleted_unix_s FROM runs WHERE id = ?1")?;
    let row = statement.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(row.optional()?)
}

/// The key of the run's row.
pub(crate) fn run_key(connection: &Connection, run: &RunId) -> Result<i64, Fault> {
    match row_of(connection, run)? {
        Some((key, None)) => Ok(key),
        Some((_, Some(_))) => Err(deleted(run)),
        None => {
            let nearest = nearest_run(connection, run)?;
            let wanted = run.to_string();
            Err(StoreErrorKind::UnknownRun { wanted, nearest }.into())
        }
    }
}

pub(crate) fn deleted(run: &RunId) -> Fault {
    let run = run.to_string();
    StoreErrorKind::DeletedRun { run }.into()
}

fn plan_of(connection: &Connection, run: i64) -> Result<Plan, Fault> {
    let mut statement = connection.prepare_cached("SELECT plan FROM runs WHERE key = ?1")?;
    let mut rows = statement.query([run])?;
    match rows.next()? {
        Some(row) => read_json(row, "runs.plan"),
        None => Err(rusqlite::Error::QueryReturnedNoRows.into()),
    }
}

fn insert_run(connection: &Connection, header: &RunHeader) -> Result<i64, Fault> {
    match row_of(connection, &header.run)? {
        None => {}
        Some((_, None)) => {
            let run = header.run.clone();
            return Err(StoreErrorKind::RunExists { run }.into());
        }
        Some((_, Some(_))) => return Err(deleted(&header.run)),
    }
    let plan = &header.plan;
    let subjects: Vec<_> = plan
        .subjects
        .iter()
        .map(|planned| &planned.subject)
        .collect();
    connection
        .prepare_cached(INSERT_RUN)?
        .execute(named_params! {
            ":id": header.run.as_str(),
            ":study": plan.study,
            ":title": plan.title,
            ":plan": json(plan),
            ":plan_hash": header.plan_hash.as_str(),
            ":seed": plan.seed.to_string(),
            ":venue": plan.venue.kind().as_str(),
            ":size_bytes": integer("runs.size_bytes", plan.size_bytes.0)?,
            ":engine": plan.engine,
            ":cold": plan.cold.as_str(),
            ":subjects": json(&subjects),
            ":repeats": plan.repeats,
            ":repeats_max": plan.adaptive.as_ref().map(|adaptive| adaptive.repeats_max),
            ":fslab": header.fslab,
            ":machine": json(&header.machine),
            ":command": json(&header.command),
            ":started_unix_s": integer("runs.started_unix_s", header.started_unix_s)?,
        })?;
    let key = connection.last_insert_rowid();
    seal_run(connection, key)?;
    Ok(key)
}

/// Removes an earlier failed record of the trial; refuses if it is done.
fn remove_failed(
    connection: &Connection,
    key: i64,
    run: &RunId,
    record: &TrialRecord,
) -> Result<(), Fault> {
    let trial = record.trial;
    let mut statement = connection.prepare_cached(
        "SELECT key, outcome FROM trials WHERE run = ?1 AND cell = ?2 AND repeat = ?3",
    )?;
    let mut rows = statement.query((key, trial.cell.0, trial.repeat))?;
    let Some(row) = rows.next()? else {
        return Ok(());
    };
    if read::<String>(row, "trials.outcome")? == "done" {
        let run = run.clone();
        return Err(StoreErrorKind::TrialDone { run, trial }.into());
    }
    let earlier: i64 = read(row, "trials.key")?;
    connection
        .prepare_cached("DELETE FROM trials WHERE key = ?1")?
        .execute([earlier])?;
    Ok(())
}

fn insert_trial(
    connection: &Connection,
    run: i64,
    record: &TrialRecord,
    keys: &mut MetricKeys,
) -> Result<(), Fault> {
    let (outcome, failure) = match &record.outcome {
        TrialOutcome::Done => ("done", None),
        TrialOutcome::Failed { failure } => ("failed", Some(json(failure))),
    };
    connection
        .prepare_cached(INSERT_TRIAL)?
        .execute(named_params! {
            ":run": run,
            ":cell": record.trial.cell.0,
            ":repeat": record.trial.repeat,
            ":subject": record.subject.to_string(),
            ":position": record.position,
            ":started_unix_s": integer("trials.started_unix_s", record.started_unix_s)?,
            ":elapsed_ns": integer("trials.elapsed_ns", record.elapsed_ns)?,
            ":outcome": outcome,
            ":failure": failure,
            ":console": record.console,
            ":insight": record.insight.as_ref().map(json),
            ":kernel_log": (!record.kernel_log.is_empty()).then(|| json(&record.kernel_log)),
            ":perturbation":
                (!record.perturbation.is_none()).then(|| json(&record.perturbation)),
            ":survival": record.survival.as_ref().map(json),
        })?;
    let trial = connection.last_insert_rowid();
    insert_steps(connection, trial, record)?;
    insert_facts(connection, trial, record)?;
    let mut metrics = connection
        .prepare_cached("INSERT INTO trial_metrics (trial, metric, value) VALUES (?1, ?2, ?3)")?;
    for metric in trial_metrics(record) {
        metrics.execute((trial, keys.key(connection, &metric)?, metric.value))?;
    }
    for (ordinal, phase) in (0_u32..).zip(&record.phases) {
        insert_phase(connection, trial, ordinal, phase, keys)?;
    }
    seal_trial(connection, trial)
}

fn insert_steps(connection: &Connection, trial: i64, record: &TrialRecord) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO steps (trial, ordinal, step, command, elapsed_ns, exit_code, output)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (ordinal, step) in (0_u32..).zip(&record.steps) {
        let elapsed_ns = integer("steps.elapsed_ns", step.elapsed_ns)?;
        let command = json(&step.command);
        let values = (
            trial,
            ordinal,
            &step.step,
            command,
            elapsed_ns,
            step.exit_code,
            &step.output,
        );
        statement.execute(values)?;
    }
    Ok(())
}

fn insert_facts(connection: &Connection, trial: i64, record: &TrialRecord) -> Result<(), Fault> {
    let mut statement =
        connection.prepare_cached("INSERT INTO facts (trial, name, value) VALUES (?1, ?2, ?3)")?;
    for (name, value) in &record.facts {
        statement.execute((trial, name, value))?;
    }
    Ok(())
}

fn insert_phase(
    connection: &Connection,
    trial: i64,
    ordinal: u32,
    phase: &PhaseRecord,
    keys: &mut MetricKeys,
) -> Result<(), Fault> {
    let mut values = vec![Sql::from(trial), Sql::from(ordinal)];
    values.extend(phase_columns::values(phase)?);
    connection
        .prepare_cached(&phase_columns::INSERT)?
        .execute(params_from_iter(values))?;
    let key = connection.last_insert_rowid();
    let mut latencies = connection.prepare_cached(
        "INSERT INTO latencies (phase, ordinal, operation, histogram) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (ordinal, latency) in (0_u32..).zip(&phase.latencies) {
        let histogram = latency.histogram.to_bytes();
        latencies.execute((key, ordinal, &latency.operation, histogram))?;
    }
    if let Some(series) = &phase.series {
        let interval_ns = integer("series.interval_ns", series.interval_ns)?;
        connection
            .prepare_cached(
                "INSERT INTO series (phase, interval_ns, operations, bytes)
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((
                key,
                interval_ns,
                json(&series.operations),
                json(&series.bytes),
            ))?;
    }
    let mut metrics = connection
        .prepare_cached("INSERT INTO phase_metrics (phase, metric, value) VALUES (?1, ?2, ?3)")?;
    for metric in phase_metrics(phase) {
        metrics.execute((key, keys.key(connection, &metric)?, metric.value))?;
    }
    Ok(())
}

/// Keys of the rows of `metrics` used so far.
#[derive(Default)]
struct MetricKeys(HashMap<&'static str, i64>);

impl MetricKeys {
    /// The key of the metric's row, inserted if missing.
    fn key(&mut self, connection: &Connection, metric: &Metric) -> Result<i64, Fault> {
        let definition = metric.definition;
        if let Some(key) = self.0.get(definition.name) {
            return Ok(*key);
        }
        let mut known = connection.prepare_cached("SELECT key FROM metrics WHERE name = ?1")?;
        let found = known
            .query_row([definition.name], |row| row.get(0))
            .optional()?;
        let key = match found {
            Some(key) => key,
            None => {
                connection
                    .prepare_cached(
                        "INSERT INTO metrics (name, unit, better, title) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute((
                        definition.name,
                        definition.unit.symbol(),
                        definition.better.as_str(),
                        definition.title,
                    ))?;
                connection.last_insert_rowid()
            }
        };
        self.0.insert(definition.name, key);
        Ok(key)
    }
}
