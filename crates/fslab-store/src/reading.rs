//! Reading records back.
//!
//! A run is read by one query per table and joined in memory; each query is a range of an index, so
//! its cost depends on the run, not the store. What is read is verified against its digests.

use std::collections::{BTreeSet, HashMap};

use fslab_model::{
    CellId, DeviceInsight, Facts, OperationLatency, PhaseRecord, Picture, RunHeader, RunId,
    RunRecord, StepRecord, TimeSeries, TrialId, TrialOutcome, TrialRecord,
};
use rusqlite::{Connection, Row};

use super::listing::run_key;
use crate::bounds::Extent;
use crate::codec::{
    read, read_histogram, read_integer, read_json, read_optional_json, read_parsed,
    unreadable_value,
};
use crate::digest::{Scope, Table, TrialDigests, damaged_run, ensure_run, read_name, with_summary};
use crate::error::{Fault, STORE};
use crate::listing::select;
use crate::phase_columns::PhaseReader;
use crate::{RunSelector, Store, StoreError};

/// Values by the key of their parent row.
type ByKey<T> = HashMap<i64, T>;

/// What is read of a record. Digests cover all of it in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Full,
    /// All that metrics are computed from: neither series nor pictures.
    Metrics,
}

impl Store {
    /// A run with all its trials, in the order of cell and repeat.
    ///
    /// # Errors
    /// As [`Store::select`]; `DamagedRun` and `DamagedTrial` if a digest does not match,
    /// `Unreadable` if this fslab cannot interpret a value.
    pub fn run(&self, selector: &RunSelector) -> Result<RunRecord, StoreError> {
        self.read_record(selector, Content::Full)
    }

    /// A run as [`Store::run`] returns it, without series and with empty pictures: for what only
    /// computes metrics. Of many runs, these take most of the memory and of the time.
    pub fn metrics(&self, selector: &RunSelector) -> Result<RunRecord, StoreError> {
        self.read_record(selector, Content::Metrics)
    }

    fn read_record(
        &self,
        selector: &RunSelector,
        content: Content,
    ) -> Result<RunRecord, StoreError> {
        self.reading(|connection| {
            let key = run_key(connection, &select(connection, selector)?)?;
            record(connection, key, content)
        })
    }

    /// A run's header, without its trials.
    pub fn header(&self, run: &RunId) -> Result<RunHeader, StoreError> {
        self.reading(|connection| header(connection, run_key(connection, run)?))
    }

    /// The trials with a record without a failure, which a resumed run skips.
    pub fn done_trials(&self, run: &RunId) -> Result<BTreeSet<TrialId>, StoreError> {
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT cell, repeat FROM trials WHERE run = ?1 AND outcome = 'done'",
            )?;
            let mut rows = statement.query([run_key(connection, run)?])?;
            let mut done = BTreeSet::new();
            let mut extent = Extent::of(connection)?;
            while let Some(row) = rows.next()? {
                extent.count(row)?;
                done.insert(trial_id(row)?);
            }
            Ok(done)
        })
    }
}

/// A run, verified against its digests.
pub(crate) fn record(
    connection: &Connection,
    run: i64,
    content: Content,
) -> Result<RunRecord, Fault> {
    let header = header(connection, run)?;
    let mut trials = trials(connection, run, &header.run, content)?;
    if content == Content::Metrics {
        trials.iter_mut().for_each(drop_pictures);
    }
    ensure_all(connection, run, &trials)?;
    Ok(RunRecord { header, trials })
}

fn header(connection: &Connection, run: i64) -> Result<RunHeader, Fault> {
    ensure_run(connection, run)?;
    let mut statement = connection.prepare_cached(
        "SELECT id, plan, plan_hash, fslab, machine, command, started_unix_s
         FROM runs WHERE key = ?1",
    )?;
    let mut rows = statement.query([run])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(RunHeader {
        run: read_parsed(row, "runs.id")?,
        plan: read_json(row, "runs.plan")?,
        plan_hash: read_parsed(row, "runs.plan_hash")?,
        fslab: read(row, "runs.fslab")?,
        machine: read_json(row, "runs.machine")?,
        command: read_json(row, "runs.command")?,
        started_unix_s: read_integer(row, "runs.started_unix_s")?,
    })
}

fn drop_pictures(trial: &mut TrialRecord) {
    let of_phases = trial.phases.iter_mut();
    let of_phases = of_phases.flat_map(|phase| [&mut phase.insight, &mut phase.settle_insight]);
    let insights = of_phases.chain([&mut trial.insight]);
    insights.flatten().for_each(|insight: &mut DeviceInsight| {
        insight.picture = Picture::default();
    });
}

fn trials(
    connection: &Connection,
    run: i64,
    name: &RunId,
    content: Content,
) -> Result<Vec<TrialRecord>, Fault> {
    let scope = Scope::Run(run);
    let mut digests = TrialDigests::within(Extent::of(connection)?);
    let mut steps = steps(connection, scope, &mut digests)?;
    let mut phases = phases(connection, scope, &mut digests, content)?;
    let mut facts = facts(connection, scope, &mut digests)?;
    let mut trials = Vec::new();
    let mut keys = Vec::new();
    digests.scan(connection, Table::Trials, scope, |row| {
        let key: i64 = read(row, "trials.key")?;
        keys.push((key, read::<Option<Vec<u8>>>(row, "trials.digest")?));
        trials.push(TrialRecord {
            trial: trial_id(row)?,
            subject: read_parsed(row, "trials.subject")?,
            perturbation: read_optional_json(row, "trials.perturbation")?.unwrap_or_default(),
            position: read_integer(row, "trials.position")?,
            started_unix_s: read_integer(row, "trials.started_unix_s")?,
            elapsed_ns: read_integer(row, "trials.elapsed_ns")?,
            outcome: trial_outcome(row)?,
            steps: steps.remove(&key).unwrap_or_default(),
            phases: phases.remove(&key).unwrap_or_default(),
            facts: facts.remove(&key).unwrap_or_default(),
            console: read(row, "trials.console")?,
            insight: read_optional_json(row, "trials.insight")?,
            kernel_log: read_optional_json(row, "trials.kernel_log")?.unwrap_or_default(),
            survival: read_optional_json(row, "trials.survival")?,
        });
        Ok(())
    })?;
    for ((key, digest), record) in keys.into_iter().zip(&trials) {
        if digest.is_none_or(|digest| digest != digests.finish(key)) {
            let trial = record.trial;
            let text = format!(
                "trial {trial} of run {name} in the store {STORE} does not match its digest"
            );
            let damage = format!("trial {trial} does not match its digest");
            return Err(StoreError::damaged_content(text).damage(damage).into());
        }
    }
    match digests.is_empty() {
        true => Ok(trials),
        false => Err(damaged_run(name.as_str())),
    }
}

/// Refuses a run with missing or duplicate trials: the index of trials may be damaged, too.
fn ensure_all(connection: &Connection, run: i64, trials: &[TrialRecord]) -> Result<(), Fault> {
    let are_in_order = trials.windows(2).all(|pair| pair[0].trial < pair[1].trial);
    let is_done = |trial: &&TrialRecord| trial.outcome == TrialOutcome::Done;
    let done = trials.iter().filter(is_done).count() as u64;
    let failed = trials.len() as u64 - done;
    with_summary(connection, run, |row| {
        let counted = (
            read_integer::<u64>(row, "runs.trials_done")?,
            read_integer::<u64>(row, "runs.trials_failed")?,
        );
        match are_in_order && counted == (done, failed) {
            true => Ok(()),
            false => Err(damaged_run(&read_name(row))),
        }
    })
}

fn trial_id(row: &Row) -> Result<TrialId, Fault> {
    Ok(TrialId {
        cell: CellId(read_integer(row, "trials.cell")?),
        repeat: read_integer(row, "trials.repeat")?,
    })
}

fn trial_outcome(row: &Row) -> Result<TrialOutcome, Fault> {
    match read::<String>(row, "trials.outcome")?.as_str() {
        "done" => Ok(TrialOutcome::Done),
        "failed" => Ok(TrialOutcome::Failed {
            failure: read_json(row, "trials.failure")?,
        }),
        _ => Err(unreadable_value("trials.outcome")),
    }
}

fn steps(
    connection: &Connection,
    scope: Scope,
    digests: &mut TrialDigests,
) -> Result<ByKey<Vec<StepRecord>>, Fault> {
    let mut steps: ByKey<Vec<StepRecord>> = HashMap::new();
    digests.scan(connection, Table::Steps, scope, |row| {
        steps
            .entry(read(row, "steps.trial")?)
            .or_default()
            .push(StepRecord {
                step: read(row, "steps.step")?,
                command: read_json(row, "steps.command")?,
                elapsed_ns: read_integer(row, "steps.elapsed_ns")?,
                exit_code: read(row, "steps.exit_code")?,
                output: read(row, "steps.output")?,
            });
        Ok(())
    })?;
    Ok(steps)
}

fn facts(
    connection: &Connection,
    scope: Scope,
    digests: &mut TrialDigests,
) -> Result<ByKey<Facts>, Fault> {
    let mut facts: ByKey<Facts> = HashMap::new();
    digests.scan(connection, Table::Facts, scope, |row| {
        let of_trial = facts.entry(read(row, "facts.trial")?).or_default();
        of_trial.insert(read(row, "facts.name")?, read(row, "facts.value")?);
        Ok(())
    })?;
    Ok(facts)
}

fn phases(
    connection: &Connection,
    scope: Scope,
    digests: &mut TrialDigests,
    content: Content,
) -> Result<ByKey<Vec<PhaseRecord>>, Fault> {
    let mut latencies = latencies(connection, scope, digests)?;
    let mut series = series(connection, scope, digests, content)?;
    let mut phases: ByKey<Vec<PhaseRecord>> = HashMap::new();
    let mut reader: Option<PhaseReader> = None;
    digests.scan(connection, Table::Phases, scope, |row| {
        let reader = match reader.take() {
            Some(known) => reader.insert(known),
            None => reader.insert(PhaseReader::of(row)?),
        };
        let mut phase = reader.read(row)?;
        let key: i64 = read(row, "phases.key")?;
        phase.latencies = latencies.remove(&key).unwrap_or_default();
        phase.series = series.remove(&key);
        let of_trial = phases.entry(read(row, "phases.trial")?).or_default();
        of_trial.push(phase);
        Ok(())
    })?;
    Ok(phases)
}

fn latencies(
    connection: &Connection,
    scope: Scope,
    digests: &mut TrialDigests,
) -> Result<ByKey<Vec<OperationLatency>>, Fault> {
    let mut latencies: ByKey<Vec<OperationLatency>> = HashMap::new();
    digests.scan(connection, Table::Latencies, scope, |row| {
        latencies
            .entry(read(row, "latencies.phase")?)
            .or_default()
            .push(OperationLatency {
                operation: read(row, "latencies.operation")?,
                histogram: read_histogram(row, "latencies.histogram")?,
            });
        Ok(())
    })?;
    Ok(latencies)
}

fn series(
    connection: &Connection,
    scope: Scope,
    digests: &mut TrialDigests,
    content: Content,
) -> Result<ByKey<TimeSeries>, Fault> {
    let mut series = HashMap::new();
    digests.scan(connection, Table::Series, scope, |row| {
        if content == Content::Metrics {
            return Ok(());
        }
        let of_phase = TimeSeries {
            interval_ns: read_integer(row, "series.interval_ns")?,
            operations: read_json(row, "series.operations")?,
            bytes: read_json(row, "series.bytes")?,
        };
        series.insert(read(row, "series.phase")?, of_phase);
        Ok(())
    })?;
    Ok(series)
}
