//! What comes out of the store: the records as they went in.
//!
//! A run is read by one query for each table, and put together in memory; each query is a range
//! of an index, so that its cost is that of the run and not of the store.

use std::collections::{BTreeSet, HashMap};

use fslab_model::{
    CellId, CpuUse, DeviceUse, Facts, HostCost, OperationLatency, PhaseOutcome, PhaseRecord,
    PlanHash, Round, RunHeader, RunId, RunRecord, Settled, StepRecord, TimeSeries, TrialId,
    TrialOutcome, TrialRecord, Window,
};
use rusqlite::{Connection, Row};

use crate::codec::{
    read, read_histogram, read_integer, read_json, read_optional, read_optional_json, read_parsed,
    read_word,
};
use crate::error::Fault;
use crate::listing::select;
use crate::writing::run_key;
use crate::{RunSelector, Store, StoreError, StoreErrorKind};

/// Values by the key of the row that they belong to.
type ByKey<T> = HashMap<i64, T>;

impl Store {
    /// A run with all its trials, in the order of cell and repeat.
    ///
    /// # Errors
    /// As [`Store::select`]; `Unreadable` where a value has no meaning for this fslab.
    pub fn run(&self, selector: &RunSelector) -> Result<RunRecord, StoreError> {
        self.reading(|connection| {
            let key = run_key(connection, &select(connection, selector)?)?;
            Ok(RunRecord {
                header: header(connection, key)?,
                trials: trials(connection, key)?,
            })
        })
    }

    /// What is known of a run without its trials.
    ///
    /// # Errors
    /// `UnknownRun`; `run` is a whole name here.
    pub fn header(&self, run: &RunId) -> Result<RunHeader, StoreError> {
        self.reading(|connection| header(connection, run_key(connection, run)?))
    }

    /// The trials that have a record without a failure: what a resumed run leaves alone.
    ///
    /// # Errors
    /// `UnknownRun`; `run` is a whole name here.
    pub fn done_trials(&self, run: &RunId) -> Result<BTreeSet<TrialId>, StoreError> {
        self.reading(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT cell, repeat FROM trials WHERE run = ?1 AND outcome = 'done'",
            )?;
            let mut rows = statement.query([run_key(connection, run)?])?;
            let mut done = BTreeSet::new();
            while let Some(row) = rows.next()? {
                done.insert(trial_id(row)?);
            }
            Ok(done)
        })
    }
}

fn header(connection: &Connection, run: i64) -> Result<RunHeader, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, plan, plan_hash, fslab, machine, command, started_unix_s
         FROM runs WHERE key = ?1",
    )?;
    let mut rows = statement.query([run])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(RunHeader {
        run: read_parsed(row, "runs.id")?,
        plan: read_json(row, "runs.plan")?,
        plan_hash: PlanHash(read(row, "runs.plan_hash")?),
        fslab: read(row, "runs.fslab")?,
        machine: read_json(row, "runs.machine")?,
        command: read_json(row, "runs.command")?,
        started_unix_s: read_integer(row, "runs.started_unix_s")?,
    })
}

fn trials(connection: &Connection, run: i64) -> Result<Vec<TrialRecord>, Fault> {
    let mut steps = steps(connection, run)?;
    let mut phases = phases(connection, run)?;
    let mut facts = facts(connection, run)?;
    let mut statement = connection.prepare_cached(
        "SELECT key, cell, repeat, subject, position, started_unix_s, elapsed_ns, outcome,
                failure, console, insight
         FROM trials WHERE run = ?1 ORDER BY cell, repeat",
    )?;
    let mut rows = statement.query([run])?;
    let mut trials = Vec::new();
    while let Some(row) = rows.next()? {
        let key: i64 = read(row, "trials.key")?;
        trials.push(TrialRecord {
            trial: trial_id(row)?,
            subject: read_parsed(row, "trials.subject")?,
            position: read_integer(row, "trials.position")?,
            started_unix_s: read_integer(row, "trials.started_unix_s")?,
            elapsed_ns: read_integer(row, "trials.elapsed_ns")?,
            outcome: trial_outcome(row)?,
            steps: steps.remove(&key).unwrap_or_default(),
            phases: phases.remove(&key).unwrap_or_default(),
            facts: facts.remove(&key).unwrap_or_default(),
            console: read(row, "trials.console")?,
            insight: read_optional_json(row, "trials.insight")?,
        });
    }
    Ok(trials)
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
        _ => Err(StoreErrorKind::Unreadable {
            what: "trials.outcome",
        }
        .into()),
    }
}

fn steps(connection: &Connection, run: i64) -> Result<ByKey<Vec<StepRecord>>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT steps.trial, step, command, steps.elapsed_ns, exit_code, output
         FROM trials JOIN steps ON steps.trial = trials.key
         WHERE trials.run = ?1 ORDER BY steps.trial, steps.ordinal",
    )?;
    let mut rows = statement.query([run])?;
    let mut steps: ByKey<Vec<StepRecord>> = HashMap::new();
    while let Some(row) = rows.next()? {
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
    }
    Ok(steps)
}

fn facts(connection: &Connection, run: i64) -> Result<ByKey<Facts>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT facts.trial, name, value
         FROM trials JOIN facts ON facts.trial = trials.key WHERE trials.run = ?1",
    )?;
    let mut rows = statement.query([run])?;
    let mut facts: ByKey<Facts> = HashMap::new();
    while let Some(row) = rows.next()? {
        let of_trial = facts.entry(read(row, "facts.trial")?).or_default();
        of_trial.insert(read(row, "facts.name")?, read(row, "facts.value")?);
    }
    Ok(facts)
}

fn phases(connection: &Connection, run: i64) -> Result<ByKey<Vec<PhaseRecord>>, Fault> {
    let mut latencies = latencies(connection, run)?;
    let mut series = series(connection, run)?;
    let mut statement = connection.prepare_cached(
        "SELECT phases.* FROM trials JOIN phases ON phases.trial = trials.key
         WHERE trials.run = ?1 ORDER BY phases.trial, phases.ordinal",
    )?;
    let mut rows = statement.query([run])?;
    let mut phases: ByKey<Vec<PhaseRecord>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let key: i64 = read(row, "phases.key")?;
        phases
            .entry(read(row, "phases.trial")?)
            .or_default()
            .push(PhaseRecord {
                name: read(row, "phases.name")?,
                workload: read(row, "phases.workload")?,
                kind: read_word(row, "phases.kind")?,
                headline: read_word(row, "phases.headline")?,
                cache: read_word(row, "phases.cache")?,
                parameters: read_json(row, "phases.parameters")?,
                outcome: phase_outcome(row)?,
                elapsed_ns: read_optional(row, "phases.elapsed_ns")?,
                operations: read_optional(row, "phases.operations")?,
                bytes: read_optional(row, "phases.bytes")?,
                latencies: latencies.remove(&key).unwrap_or_default(),
                series: series.remove(&key),
                cpu: cpu_use(row)?,
                device: device_use(row)?,
                settled: settled(row)?,
                threads: read_optional_json(row, "phases.threads")?.unwrap_or_default(),
                first_done_ns: read_optional(row, "phases.first_done_ns")?,
                harness_share: read(row, "phases.harness_share")?,
                window: window(row, ["phases.window_begin_ns", "phases.window_end_ns"])?,
                insight: read_optional_json(row, "phases.insight")?,
                settle_window: window(
                    row,
                    [
                        "phases.settle_window_begin_ns",
                        "phases.settle_window_end_ns",
                    ],
                )?,
                settle_insight: read_optional_json(row, "phases.settle_insight")?,
                host: host_cost(row)?,
                round: round(row)?,
                notes: read_json(row, "phases.notes")?,
                swept: read_optional_json(row, "phases.swept")?,
                figures: read_optional_json(row, "phases.figures")?.unwrap_or_default(),
                lists: read_optional_json(row, "phases.lists")?.unwrap_or_default(),
            });
    }
    Ok(phases)
}

fn phase_outcome(row: &Row) -> Result<PhaseOutcome, Fault> {
    match read::<String>(row, "phases.outcome")?.as_str() {
        "done" => Ok(PhaseOutcome::Done),
        "skipped" => Ok(PhaseOutcome::Skipped {
            reason: read(row, "phases.skip_reason")?,
        }),
        "failed" => Ok(PhaseOutcome::Failed {
            failure: read_json(row, "phases.failure")?,
        }),
        _ => Err(StoreErrorKind::Unreadable {
            what: "phases.outcome",
        }
        .into()),
    }
}

fn cpu_use(row: &Row) -> Result<Option<CpuUse>, Fault> {
    let Some(user_ns) = read_optional(row, "phases.cpu_user_ns")? else {
        return Ok(None);
    };
    Ok(Some(CpuUse {
        user_ns,
        system_ns: read_integer(row, "phases.cpu_system_ns")?,
        voluntary_switches: read_integer(row, "phases.cpu_voluntary_switches")?,
        involuntary_switches: read_integer(row, "phases.cpu_involuntary_switches")?,
    }))
}

fn device_use(row: &Row) -> Result<Option<DeviceUse>, Fault> {
    let Some(reads) = read_optional(row, "phases.device_reads")? else {
        return Ok(None);
    };
    Ok(Some(DeviceUse {
        reads,
        read_bytes: read_integer(row, "phases.device_read_bytes")?,
        writes: read_integer(row, "phases.device_writes")?,
        write_bytes: read_integer(row, "phases.device_write_bytes")?,
        discards: read_optional(row, "phases.device_discards")?,
        discard_bytes: read_optional(row, "phases.device_discard_bytes")?,
        flushes: read_optional(row, "phases.device_flushes")?,
        busy_ns: read_integer(row, "phases.device_busy_ns")?,
    }))
}

fn settled(row: &Row) -> Result<Option<Settled>, Fault> {
    let Some(sync_ns) = read_optional(row, "phases.settle_sync_ns")? else {
        return Ok(None);
    };
    Ok(Some(Settled {
        sync_ns,
        unmount_ns: read_integer(row, "phases.settle_unmount_ns")?,
    }))
}

fn window(row: &Row, [begin, end]: [&'static str; 2]) -> Result<Option<Window>, Fault> {
    let Some(begin_ns) = read_optional(row, begin)? else {
        return Ok(None);
    };
    Ok(Some(Window {
        begin_ns,
        end_ns: read_integer(row, end)?,
    }))
}

fn host_cost(row: &Row) -> Result<Option<HostCost>, Fault> {
    let Some(cpu_ns) = read_optional(row, "phases.host_cpu_ns")? else {
        return Ok(None);
    };
    Ok(Some(HostCost {
        cpu_ns,
        real_ns: read_integer(row, "phases.host_real_ns")?,
    }))
}

fn round(row: &Row) -> Result<Option<Round>, Fault> {
    let Some(mount) = read_optional(row, "phases.mount")? else {
        return Ok(None);
    };
    Ok(Some(Round {
        mount,
        iteration: read_integer(row, "phases.iteration")?,
    }))
}

fn latencies(connection: &Connection, run: i64) -> Result<ByKey<Vec<OperationLatency>>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT latencies.phase, operation, histogram
         FROM trials
         JOIN phases ON phases.trial = trials.key
         JOIN latencies ON latencies.phase = phases.key
         WHERE trials.run = ?1 ORDER BY latencies.phase, latencies.ordinal",
    )?;
    let mut rows = statement.query([run])?;
    let mut latencies: ByKey<Vec<OperationLatency>> = HashMap::new();
    while let Some(row) = rows.next()? {
        latencies
            .entry(read(row, "latencies.phase")?)
            .or_default()
            .push(OperationLatency {
                operation: read(row, "latencies.operation")?,
                histogram: read_histogram(row, "latencies.histogram")?,
            });
    }
    Ok(latencies)
}

fn series(connection: &Connection, run: i64) -> Result<ByKey<TimeSeries>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT series.phase, interval_ns, series.operations, series.bytes
         FROM trials
         JOIN phases ON phases.trial = trials.key
         JOIN series ON series.phase = phases.key
         WHERE trials.run = ?1",
    )?;
    let mut rows = statement.query([run])?;
    let mut series = HashMap::new();
    while let Some(row) = rows.next()? {
        let of_phase = TimeSeries {
            interval_ns: read_integer(row, "series.interval_ns")?,
            operations: read_json(row, "series.operations")?,
            bytes: read_json(row, "series.bytes")?,
        };
        series.insert(read(row, "series.phase")?, of_phase);
    }
    Ok(series)
}
