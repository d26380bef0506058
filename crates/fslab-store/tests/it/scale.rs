//! Queries are as fast in a large store as in a small one, by indexes.

use std::time::{Duration, Instant};

use fslab_model::TrialOutcome;
use fslab_store::{RunFilter, RunSelector, Store};

use crate::listed::sound;
use crate::sample::{self, run_id};

const RUNS: u32 = 100;
const TRIALS_A_RUN: u32 = 200;
/// Twenty times what a slow machine needs; a scan of all trials and phases exceeds it.
const LIMIT: Duration = Duration::from_secs(1);

/// Fills the store by SQL: 20,000 durable transactions would take minutes.
fn fill(path: &std::path::Path) {
    let mut store = Store::open(path).expect("opens");
    for run in 0..RUNS {
        let mut header = sample::header(&format!("run-{run:03}"));
        header.started_unix_s += u64::from(run);
        store.begin_run(&header).expect("begins");
    }
    drop(store);
    let connection = rusqlite::Connection::open(path).expect("opens");
    connection
        .execute_batch(&format!(
            "BEGIN;
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
                                      WHERE i + 1 < {TRIALS_A_RUN})
             INSERT INTO trials (run, cell, repeat, subject, position, started_unix_s, elapsed_ns,
                                 outcome, console)
             SELECT key, i % 2, i / 2, 'ext4', i, started_unix_s, 1, 'done', '' FROM n, runs;
             INSERT INTO phases (trial, ordinal, name, workload, kind, headline, cache, parameters,
                                 outcome, notes)
             SELECT key, 0, 'p', 'w', 'read', 'throughput', 'keep', '{{}}', 'done', '[]'
             FROM trials;
             COMMIT;"
        ))
        .expect("fills");
}

#[test]
fn twenty_thousand_trials_are_listed_and_one_run_of_them_read_in_under_a_second() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    fill(&path);
    // Computes the digests of the rows written by SQL.
    drop(Store::open(&path).expect("opens"));
    let began = Instant::now();
    let store = Store::open_read_only(&path).expect("opens");
    let summaries = sound(&store, &RunFilter::default(), None);
    let run = store
        .run(&RunSelector::Named(run_id("run-042")))
        .expect("reads");
    let took = began.elapsed();
    assert_eq!(summaries.len(), RUNS as usize);
    assert!(
        summaries
            .iter()
            .all(|summary| summary.trials_done == u64::from(TRIALS_A_RUN))
    );
    assert_eq!(run.trials.len(), TRIALS_A_RUN as usize);
    assert!(
        run.trials
            .iter()
            .all(|trial| trial.outcome == TrialOutcome::Done)
    );
    assert!(run.trials.iter().all(|trial| trial.phases.len() == 1));
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn no_query_for_one_run_scans_a_table() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    drop(Store::open(&path).expect("opens"));
    let connection = rusqlite::Connection::open(path).expect("opens");
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let tables = column(&connection, names, "name");
    assert!(tables.iter().any(|table| table == "phase_metrics"));
    for sql in [
        "SELECT * FROM results WHERE run = 'a'",
        "SELECT * FROM failures WHERE run = 'a'",
        "SELECT steps.* FROM trials JOIN steps ON steps.trial = trials.key WHERE run = 1",
        "SELECT latencies.* FROM trials JOIN phases ON phases.trial = trials.key
         JOIN latencies ON latencies.phase = phases.key WHERE trials.run = 1",
        "DELETE FROM runs WHERE id = 'a'",
    ] {
        let steps = column(&connection, &format!("EXPLAIN QUERY PLAN {sql}"), "detail");
        assert!(!steps.is_empty(), "{sql}");
        let scans_a_table = |step: &&String| {
            step.strip_prefix("SCAN ").is_some_and(|what| {
                tables
                    .iter()
                    .any(|table| what.split(' ').next() == Some(table))
            })
        };
        let scans: Vec<_> = steps.iter().filter(scans_a_table).collect();
        assert!(scans.is_empty(), "{sql}: {steps:#?}");
    }
}

fn column(connection: &rusqlite::Connection, sql: &str, name: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect(sql);
    let rows = statement.query_map([], |row| row.get(name)).expect(sql);
    rows.map(|row| row.expect(sql)).collect()
}
