//! Damaged stores: each read gives what was written, or an error that names the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fslab_model::RunRecord;
use fslab_store::{RunSelector, Store, StoreError, StoreErrorKind};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::sample;

const RUN: &str = "20261121-143205-k3f9";

fn written() -> (TempDir, PathBuf, RunRecord) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    let run = sample::run(RUN);
    let mut store = Store::open(&path).expect("opens");
    store.add_runs(std::slice::from_ref(&run)).expect("stores");
    drop(store);
    (folder, path, run)
}

fn read(path: &Path) -> Result<RunRecord, StoreError> {
    Store::open_read_only(path)?.run(&RunSelector::Last)
}

fn read_metrics(path: &Path) -> Result<RunRecord, StoreError> {
    Store::open_read_only(path)?.metrics(&RunSelector::Last)
}

/// Changes by hand, by another program or by a disk that break no page.
#[test]
fn every_value_that_is_changed_is_an_error_that_names_the_run() {
    let (folder, path, whole) = written();
    assert_eq!(read(&path).expect("reads"), whole);
    for change in [
        "UPDATE phases SET elapsed_ns = elapsed_ns + 1 WHERE elapsed_ns IS NOT NULL",
        "UPDATE phases SET bytes = NULL WHERE bytes IS NOT NULL",
        "UPDATE phases SET name = name || 'x'",
        "UPDATE phases SET ordinal = ordinal + 1000",
        "UPDATE phases SET notes = ' ' || notes",
        "UPDATE latencies SET operation = 'x'",
        "DELETE FROM latencies",
        "UPDATE series SET interval_ns = interval_ns + 1",
        "UPDATE facts SET value = value || ' '",
        "DELETE FROM facts WHERE rowid_is_gone IS NULL",
        "UPDATE steps SET elapsed_ns = elapsed_ns + 1",
        "UPDATE trials SET elapsed_ns = elapsed_ns + 1",
        "UPDATE trials SET position = position + 1",
        "UPDATE trials SET digest = zeroblob(32)",
        "DELETE FROM trials WHERE key = (SELECT max(key) FROM trials)",
        "UPDATE runs SET plan = ' ' || plan",
        "UPDATE runs SET machine = '{}'",
        "UPDATE runs SET started_unix_s = started_unix_s + 1",
        "UPDATE runs SET trials_done = trials_done + 1",
        "UPDATE runs SET title = title || '.'",
        "UPDATE runs SET plan_digest = zeroblob(32)",
    ] {
        let copy = folder.path().join("copy.db");
        fs::copy(&path, &copy).expect("copied");
        let connection = Connection::open(&copy).expect("opens");
        let change = change.replace(" WHERE rowid_is_gone IS NULL", "");
        // Triggers adjust the counts on SQL's DELETE; a lost row does not.
        let trigger: String = connection
            .query_row(
                "SELECT sql FROM sqlite_schema WHERE name = 'trial_removed'",
                [],
                |row| row.get(0),
            )
            .expect("its text");
        connection
            .execute_batch("DROP TRIGGER trial_removed")
            .expect("dropped");
        let changed = connection.execute(&change, []).expect(&change);
        connection.execute_batch(&trigger).expect("made again");
        assert!(changed > 0, "{change}");
        drop(connection);
        let error = read(&copy).expect_err(&change);
        let same = read_metrics(&copy).expect_err(&change);
        assert_eq!(same.to_string(), error.to_string(), "{change}");
        let named = format!("run {RUN} in the store ");
        assert!(error.to_string().contains(&named), "{change}: {error}");
        let hint = error.failure().hint.as_deref().expect("a hint");
        assert!(hint.contains("fslab store check"), "{hint}");
        let findings = Store::open_read_only(&copy)
            .and_then(|store| store.check())
            .expect("checks")
            .findings;
        assert!(
            findings
                .iter()
                .any(|finding| finding.run.as_deref() == Some(RUN)),
            "{change}: {findings:?}"
        );
    }
}

#[test]
fn a_changed_derived_figure_is_found_by_the_check() {
    let (_folder, path, whole) = written();
    let connection = Connection::open(&path).expect("opens");
    let sql = "UPDATE phase_metrics SET value = value * 2
               WHERE phase = (SELECT min(phase) FROM phase_metrics)";
    assert!(connection.execute(sql, []).expect("changes") > 0);
    drop(connection);
    assert_eq!(read(&path).expect("records have no derived figures"), whole);
    let store = Store::open_read_only(&path).expect("opens");
    let findings = store.check().expect("checks").findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].trial.as_deref(), Some("c0r0"));
    assert!(findings[0].damage.contains("phase_metrics"));
}

#[test]
fn a_run_missing_from_an_index_is_an_error_and_last_selects_no_other() {
    let (_folder, path, _) = written();
    let connection = Connection::open(&path).expect("opens");
    connection
        .execute("UPDATE totals SET runs = runs + 1", [])
        .expect("one more than the indexes have");
    drop(connection);
    let error = read(&path).expect_err("one is missing");
    assert_eq!(error.kind(), &StoreErrorKind::Damaged);
}

/// Of 200 random changes of a file, 23 silently gave other figures.
#[test]
fn a_changed_byte_never_gives_other_records_without_an_error() {
    let (folder, path, whole) = written();
    let bytes = fs::read(&path).expect("its bytes");
    let copy = folder.path().join("copy.db");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // xorshift64*, by Vigna.
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    };
    let mut errors = 0;
    for _ in 0..600 {
        let mut changed = bytes.clone();
        let place = next() as usize % changed.len();
        changed[place] ^= (next() % 255 + 1) as u8;
        fs::write(&copy, changed).expect("written");
        for left in ["copy.db-wal", "copy.db-shm"] {
            let _ = fs::remove_file(folder.path().join(left));
        }
        match read(&copy) {
            Ok(record) => assert_eq!(record, whole, "byte {place}"),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 50, "{errors} of 600 are found");
}

/// An older SQLite takes json_valid(NULL) for 0, and reported every store as damaged.
#[test]
fn the_integrity_check_of_another_sqlite_finds_nothing() {
    let script = "import sqlite3, sys\n\
                  file = sqlite3.connect(sys.argv[1])\n\
                  print(sqlite3.sqlite_version, file.execute('PRAGMA integrity_check').fetchall())";
    let (folder, path, _) = written();
    let old = folder.path().join("v4.db");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores");
    fs::copy(fixtures.join("v4.sqlite"), &old).expect("copied");
    drop(Store::open(&old).expect("brought up to date"));
    for file in [path, old] {
        let ended = Command::new("python3")
            .args(["-c", script])
            .arg(&file)
            .output();
        let Ok(ended) = ended else {
            eprintln!("skipped: there is no python3");
            return;
        };
        let text = String::from_utf8_lossy(&ended.stdout);
        if !ended.status.success() {
            eprintln!("skipped: python3 has no sqlite3");
            return;
        }
        assert!(text.trim_end().ends_with("[('ok',)]"), "{text}");
    }
}
