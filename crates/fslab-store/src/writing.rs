//! Writing: a run's header, then its trials, each in its own transaction.

use std::collections::HashMap;

use fslab_model::{
    Adaptive, Metric, PhaseRecord, Plan, RunHeader, RunId, RunRecord, TrialOutcome, TrialRecord,
    phase_metrics, trial_metrics,
};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension};

use super::listing::{deleted, row_of, run_key};
use crate::codec::{integer, json, read, read_json, real};
use crate::digest::Table;
use crate::error::{Fault, STORE};
use crate::sealing::{TrialRows, WrittenRun, WrittenTrial, change_run, insert};
use crate::{Store, StoreError, StoreErrorKind, phase_columns};

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
        let steps = self.steps.clone();
        self.writing(|connection| {
            let key = run_key(connection, run)?;
            steps.renew_to_write(rows_of(trial));
            remove_failed(connection, key, run, trial)?;
            let written = insert_trial(connection, (key, run), trial, &mut MetricKeys::default());
            written?.ensure(connection)
        })
    }

    /// Stores complete runs, headers and trials, in one transaction, all or none: for imports,
    /// whose trials need not be durable one by one.
    pub fn add_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        let steps = self.steps.clone();
        self.writing(|connection| {
            let mut keys = MetricKeys::default();
            let (mut headers, mut trials) = (Vec::new(), Vec::new());
            for run in runs {
                let header = insert_run(connection, &run.header)?;
                let (name, key) = (&run.header.run, header.key());
                headers.push(header);
                for trial in &run.trials {
                    steps.renew_to_write(rows_of(trial));
                    remove_failed(connection, key, name, trial)?;
                    trials.push(insert_trial(connection, (key, name), trial, &mut keys)?);
                }
            }
            // After the last change of the file.
            let all = runs.iter().flat_map(|run| &run.trials);
            steps.renew_to_write(all.map(rows_of).sum());
            headers.iter().try_for_each(|run| run.ensure(connection))?;
            trials.iter().try_for_each(|trial| trial.ensure(connection))
        })
    }

    /// Raises the repeats of a resumed run's plan. Fewer repeats than the plan has leave the number
    /// as it is; `adaptive` sets how far it goes beyond them, though never below that number.
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
            let changes = vec![
                ("plan", json(&plan).into()),
                ("repeats", plan.repeats.into()),
                ("repeats_max", repeats_max.into()),
            ];
            change_run(connection, key, changes)
        })
    }

    /// Removes a run with all its trials for good.
    pub fn delete_run(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.writing(|connection| {
            let key = run_key(connection, run)?;
            connection.execute("DELETE FROM runs WHERE key = ?1", [key])?;
            Ok(())
        })
    }
}

fn plan_of(connection: &Connection, run: i64) -> Result<Plan, Fault> {
    let mut statement = connection.prepare_cached("SELECT plan FROM runs WHERE key = ?1")?;
    let mut rows = statement.query([run])?;
    match rows.next()? {
        Some(row) => read_json(row, "runs.plan"),
        None => Err(rusqlite::Error::QueryReturnedNoRows.into()),
    }
}

fn insert_run(connection: &Connection, header: &RunHeader) -> Result<WrittenRun, Fault> {
    match row_of(connection, &header.run)? {
        None => {}
        Some((_, None)) => {
            let run = header.run.clone();
            let error = StoreError::bad_input(format!("the store {STORE} already has a run {run}"));
            return Err(error.kind_of(StoreErrorKind::RunExists(run)).into());
        }
        Some((_, Some(_))) => return Err(deleted(&header.run)),
    }
    let plan = &header.plan;
    let subjects: Vec<_> = plan
        .subjects
        .iter()
        .map(|planned| &planned.subject)
        .collect();
    let repeats_max = plan.adaptive.as_ref().map(|adaptive| adaptive.repeats_max);
    let values = vec![
        ("id", text(header.run.as_str())),
        ("study", text(&plan.study)),
        ("title", text(&plan.title)),
        ("plan", json(plan).into()),
        ("plan_hash", text(header.plan_hash.as_str())),
        ("seed", plan.seed.to_string().into()),
        ("venue", text(plan.venue.kind().as_str())),
        (
            "size_bytes",
            integer("runs.size_bytes", plan.size_bytes.0)?.into(),
        ),
        ("engine", text(&plan.engine)),
        ("cold", text(plan.cold.as_str())),
        ("subjects", json(&subjects).into()),
        ("repeats", plan.repeats.into()),
        ("repeats_max", repeats_max.into()),
        ("fslab", text(&header.fslab)),
        ("machine", json(&header.machine).into()),
        ("command", json(&header.command).into()),
        (
            "started_unix_s",
            integer("runs.started_unix_s", header.started_unix_s)?.into(),
        ),
    ];
    WrittenRun::insert(connection, values)
}

fn text(text: &str) -> Sql {
    Sql::Text(text.to_owned())
}

/// The rows of a record, about: those of metrics are estimated.
fn rows_of(record: &TrialRecord) -> u64 {
    const METRICS_A_PHASE: usize = 64;
    let of_phase = |phase: &PhaseRecord| 2 + phase.latencies.len() + METRICS_A_PHASE;
    let phases: usize = record.phases.iter().map(of_phase).sum();
    (1 + record.steps.len() + record.facts.len() + METRICS_A_PHASE + phases) as u64
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
        let text = format!("trial {trial} of run {run} is done and already has its record");
        return Err(StoreError::bad_input(text).into());
    }
    let earlier: i64 = read(row, "trials.key")?;
    connection
        .prepare_cached("DELETE FROM trials WHERE key = ?1")?
        .execute([earlier])?;
    Ok(())
}

fn insert_trial(
    connection: &Connection,
    (key, run): (i64, &RunId),
    record: &TrialRecord,
    keys: &mut MetricKeys,
) -> Result<WrittenTrial, Fault> {
    let (outcome, failure) = match &record.outcome {
        TrialOutcome::Done => ("done", None),
        TrialOutcome::Failed { failure } => ("failed", Some(json(failure))),
    };
    let kernel_log = (!record.kernel_log.is_empty()).then(|| json(&record.kernel_log));
    let perturbation = (!record.perturbation.is_none()).then(|| json(&record.perturbation));
    let values = [
        ("run", key.into()),
        ("cell", record.trial.cell.0.into()),
        ("repeat", record.trial.repeat.into()),
        ("subject", record.subject.to_string().into()),
        ("position", record.position.into()),
        (
            "started_unix_s",
            integer("trials.started_unix_s", record.started_unix_s)?.into(),
        ),
        (
            "elapsed_ns",
            integer("trials.elapsed_ns", record.elapsed_ns)?.into(),
        ),
        ("outcome", text(outcome)),
        ("failure", failure.into()),
        ("console", text(&record.console)),
        ("insight", record.insight.as_ref().map(json).into()),
        ("kernel_log", kernel_log.into()),
        ("perturbation", perturbation.into()),
        ("survival", record.survival.as_ref().map(json).into()),
    ];
    let mut rows = TrialRows::default();
    let joined = [("run_id", text(run.as_str()))];
    let trial = rows.insert(connection, Table::Trials, &values, &joined)?;
    insert_steps(connection, trial, record, &mut rows)?;
    for (name, value) in &record.facts {
        let values = [
            ("trial", trial.into()),
            ("name", text(name)),
            ("value", text(value)),
        ];
        rows.insert(connection, Table::Facts, &values, &[])?;
    }
    for metric in by_name(trial_metrics(record)) {
        let values = metric_values(connection, ("trial", trial), &metric, keys)?;
        rows.insert(
            connection,
            Table::TrialMetrics,
            &values,
            &definition(&metric),
        )?;
    }
    for (ordinal, phase) in (0_u32..).zip(&record.phases) {
        insert_phase(connection, (trial, ordinal), phase, keys, &mut rows)?;
    }
    rows.seal(connection, trial)
}

fn insert_steps(
    connection: &Connection,
    trial: i64,
    record: &TrialRecord,
    rows: &mut TrialRows,
) -> Result<(), Fault> {
    for (ordinal, step) in (0_u32..).zip(&record.steps) {
        let values = [
            ("trial", trial.into()),
            ("ordinal", ordinal.into()),
            ("step", text(&step.step)),
            ("command", json(&step.command).into()),
            (
                "elapsed_ns",
                integer("steps.elapsed_ns", step.elapsed_ns)?.into(),
            ),
            ("exit_code", step.exit_code.into()),
            ("output", text(&step.output)),
        ];
        rows.insert(connection, Table::Steps, &values, &[])?;
    }
    Ok(())
}

fn insert_phase(
    connection: &Connection,
    (trial, ordinal): (i64, u32),
    phase: &PhaseRecord,
    keys: &mut MetricKeys,
    rows: &mut TrialRows,
) -> Result<(), Fault> {
    let mut values = vec![("trial", trial.into()), ("ordinal", ordinal.into())];
    values.extend(phase_columns::values(phase)?);
    let key = rows.insert(connection, Table::Phases, &values, &[])?;
    let of_phase = ("phase_ordinal", Sql::from(ordinal));
    for (ordinal, latency) in (0_u32..).zip(&phase.latencies) {
        let values = [
            ("phase", key.into()),
            ("ordinal", ordinal.into()),
            ("operation", text(&latency.operation)),
            ("histogram", latency.histogram.to_bytes().into()),
        ];
        rows.insert(
            connection,
            Table::Latencies,
            &values,
            std::slice::from_ref(&of_phase),
        )?;
    }
    if let Some(series) = &phase.series {
        let values = [
            ("phase", key.into()),
            (
                "interval_ns",
                integer("series.interval_ns", series.interval_ns)?.into(),
            ),
            ("operations", json(&series.operations).into()),
            ("bytes", json(&series.bytes).into()),
        ];
        rows.insert(
            connection,
            Table::Series,
            &values,
            std::slice::from_ref(&of_phase),
        )?;
    }
    for metric in by_name(phase_metrics(phase)) {
        let values = metric_values(connection, ("phase", key), &metric, keys)?;
        let [name, unit, better] = definition(&metric);
        let joined = [of_phase.clone(), name, unit, better];
        rows.insert(connection, Table::PhaseMetrics, &values, &joined)?;
    }
    Ok(())
}

/// The order in which digests cover metrics.
fn by_name(metrics: impl IntoIterator<Item = Metric>) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = metrics.into_iter().collect();
    metrics.sort_by_key(|metric| metric.definition.name);
    metrics
}

fn metric_values(
    connection: &Connection,
    (owner, key): (&'static str, i64),
    metric: &Metric,
    keys: &mut MetricKeys,
) -> Result<[(&'static str, Sql); 3], Fault> {
    let metric_key = keys.key(connection, metric)?;
    Ok([
        (owner, key.into()),
        ("metric", metric_key.into()),
        ("value", real(metric.value)),
    ])
}

/// What a digest covers of the metric's own row.
fn definition(metric: &Metric) -> [(&'static str, Sql); 3] {
    let definition = metric.definition;
    [
        ("name", text(definition.name)),
        ("unit", text(definition.unit.symbol())),
        ("better", text(definition.better.as_str())),
    ]
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
        let (unit, better) = (definition.unit.symbol(), definition.better.as_str());
        let mut known = connection
            .prepare_cached("SELECT key, (unit, better) = (?2, ?3) FROM metrics WHERE name = ?1")?;
        let found = known
            .query_row((definition.name, unit, better), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let key = match found {
            Some((key, true)) => key,
            Some((_, false)) => {
                let name = definition.name;
                let error = StoreError::bad_input(format!(
                    "the store {STORE} has a metric '{name}' with another unit or direction"
                ));
                return Err(error.hint("name another store with --store").into());
            }
            None => {
                let values = [
                    ("name", text(definition.name)),
                    ("unit", text(unit)),
                    ("better", text(better)),
                    ("title", text(definition.title)),
                ];
                insert(connection, "metrics", &values)?
            }
        };
        self.0.insert(definition.name, key);
        Ok(key)
    }
}
