//! Queries by hand, as with sqlite3.

use fslab_model::PhaseOutcome;
use fslab_store::Store;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::sample::{self, empty_phase};

/// The sample run, opened as sqlite3 would.
fn database() -> (TempDir, Connection) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    let run = sample::run("a");
    let mut store = Store::open(&path).expect("opens");
    store.begin_run(&run.header).expect("begins");
    for trial in &run.trials {
        store.add_trial(&run.header.run, trial).expect("stored");
    }
    drop(store);
    let connection = Connection::open(path).expect("opens");
    (folder, connection)
}

fn column(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect(sql);
    let rows = statement.query_map([], |row| row.get(0)).expect(sql);
    rows.map(|row| row.expect(sql)).collect()
}

#[test]
fn a_result_stands_with_its_dimensions() {
    let (_folder, connection) = database();
    let sql = "SELECT concat_ws('|', run, study, subject, phase, repeat, metric, value, unit,
                                better, venue, kernel, fslab, cold, size_bytes, seed)
               FROM results WHERE metric = 'throughput' AND cell = 0 ORDER BY repeat";
    let line = |repeat| {
        format!(
            "a|quick|ext4:mount=data=journal|write|{repeat}|throughput|134217728.0|B/s|higher|\
             loop|6.18.1|0.1.0|remount|1073741824|18446744073709551608"
        )
    };
    assert_eq!(column(&connection, sql), [line(0), line(1)]);
    let hash = "SELECT DISTINCT plan_hash FROM results";
    assert_eq!(
        column(&connection, hash),
        [sample::plan().hash().to_string()]
    );
}

#[test]
fn figures_of_a_trial_have_no_phase() {
    let (_folder, connection) = database();
    let sql = "SELECT DISTINCT metric || '=' || value FROM results WHERE phase IS NULL ORDER BY 1";
    let expected = ["mkfs_ns=12345.0", "mount_ns=12345.0", "unmount_ns=12345.0"];
    assert_eq!(column(&connection, sql), expected);
}

#[test]
fn what_was_not_measured_has_no_row_and_no_zero() {
    let (_folder, connection) = database();
    assert_eq!(empty_phase(PhaseOutcome::Done).name, "stat");
    let figures = "SELECT metric FROM results WHERE phase = 'stat'";
    assert!(column(&connection, figures).is_empty());
    let counters = "SELECT DISTINCT coalesce(elapsed_ns, operations, bytes, cpu_user_ns,
                                             device_reads, settle_sync_ns, 'nothing')
                    FROM phases WHERE name = 'stat'";
    assert_eq!(column(&connection, counters), ["nothing"]);
    let flushes = "SELECT metric FROM results WHERE metric = 'device_flushes'";
    assert!(
        column(&connection, flushes).is_empty(),
        "the kernel did not count them"
    );
}

#[test]
fn failures_and_skips_are_listed_with_their_reasons() {
    let (_folder, connection) = database();
    let sql = "SELECT concat_ws('|', cell, repeat, phase, outcome, kind, reason, hint)
               FROM failures WHERE cell = 1 ORDER BY repeat, phase IS NOT NULL";
    let expected = [
        "1|0|failed|no-space|cannot write file 17|choose a larger --size",
        "1|0|stat|failed|no-space|cannot write file 17|choose a larger --size",
        "1|2|stat|skipped|metadata cannot be made cold here",
    ];
    assert_eq!(column(&connection, sql), expected);
}

#[test]
fn the_outcome_of_a_stored_trial_cannot_be_changed_by_hand() {
    let (_folder, connection) = database();
    let change = "UPDATE trials SET outcome = 'done', failure = NULL";
    let error = connection.execute_batch(change).expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("a trial is replaced, never changed")
    );
}
