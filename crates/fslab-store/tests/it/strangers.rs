//! Stores, and files beside them, that were made to do harm.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fslab_store::{RunFilter, RunSelector, Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::sample::{self, run_id};

const PAGE: usize = 4096;

fn written() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    let mut store = Store::open(&path).expect("opens");
    store.add_runs(&[sample::run("a")]).expect("stores");
    (folder, path)
}

fn change(path: &Path, sql: &str) {
    let connection = Connection::open(path).expect("opens");
    connection.execute_batch(sql).expect(sql);
}

/// How an object of a schema differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strangeness {
    Additional,
    Altered,
    Missing,
}

/// The object that both ways of opening refuse.
fn refused(path: &Path) -> (String, Strangeness) {
    let of = |error: &StoreError| {
        let text = error.to_string();
        let store = path.display();
        let additional = format!("the store {store} has a ");
        let altered = format!(" of the store {store} differs from what fslab creates");
        let missing = format!("the store {store} lacks the ");
        if let Some(rest) = text.strip_prefix(&additional) {
            let object = rest.strip_suffix(" that fslab did not make");
            return (object.expect("a text").to_owned(), Strangeness::Additional);
        }
        if let Some(object) = text.strip_prefix(&missing) {
            return (object.to_owned(), Strangeness::Missing);
        }
        let object = text
            .strip_prefix("the ")
            .and_then(|it| it.strip_suffix(&altered));
        (object.expect(&text).to_owned(), Strangeness::Altered)
    };
    let reading = Store::open_read_only(path).expect_err("refused for reading");
    let writing = Store::open(path).expect_err("refused for writing");
    assert!(reading.failure().hint.is_some());
    assert_eq!(of(&reading), of(&writing));
    of(&reading)
}

/// A trigger multiplied what a run had measured, with exit code 0; a view hung every command.
#[test]
fn a_store_with_an_object_of_its_own_is_refused_and_the_object_named() {
    let endless = "AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                   SELECT count(*) AS application_id FROM n";
    for (sql, object) in [
        (
            "CREATE TRIGGER faster AFTER INSERT ON phases BEGIN
                 UPDATE phases SET bytes = bytes * 10 WHERE key = new.key; END",
            "trigger 'faster'",
        ),
        ("CREATE VIEW mine AS SELECT 1", "view 'mine'"),
        ("CREATE INDEX mine ON runs (length(plan))", "index 'mine'"),
        ("CREATE TABLE mine (x)", "table 'mine'"),
        ("CREATE VIRTUAL TABLE mine USING fts5(x)", "table 'mine'"),
        ("ANALYZE", "table 'sqlite_stat1'"),
        (
            &format!("CREATE VIEW pragma_application_id {endless}"),
            "view 'pragma_application_id'",
        ),
        (
            &format!("CREATE VIEW json_each {endless}"),
            "view 'json_each'",
        ),
    ] {
        let (_folder, path) = written();
        change(&path, sql);
        let began = Instant::now();
        let expected = (object.to_owned(), Strangeness::Additional);
        assert_eq!(refused(&path), expected, "{sql}");
        assert!(began.elapsed() < Duration::from_secs(5), "{sql}");
    }
}

#[test]
fn a_table_with_the_right_name_and_another_text_is_refused() {
    let altered = |table: &str, from: &str, to: &str| {
        format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = '{table}';
             PRAGMA writable_schema = RESET;"
        )
    };
    for (table, from, to) in [
        (
            "phases",
            "TEXT NOT NULL CHECK (json_valid(notes))",
            "TEXT COLLATE NOCASE NOT NULL CHECK (json_valid(notes))",
        ),
        (
            "trials",
            "console          TEXT NOT NULL",
            "console TEXT NOT NULL DEFAULT 1",
        ),
        (
            "metrics",
            "title   TEXT NOT NULL",
            "title TEXT NOT NULL CHECK (title < 5)",
        ),
        (
            "runs",
            "json_extract(machine, ''$.host'')",
            "printf(''%9999d'', 1)",
        ),
    ] {
        let (_folder, path) = written();
        change(&path, &altered(table, from, to));
        let object = format!("table '{table}'");
        assert_eq!(refused(&path), (object, Strangeness::Altered));
    }
    let (_folder, path) = written();
    change(&path, "DROP TRIGGER trial_added");
    let object = "trigger 'trial_added'".to_owned();
    assert_eq!(refused(&path), (object, Strangeness::Missing));
}

/// A view in a store of an early version was there when the migrations ran.
#[test]
fn a_store_of_a_past_version_is_compared_with_the_schema_of_that_version() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores");
    for version in 1..=fslab_store::SCHEMA_VERSION {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("s.db");
        fs::copy(fixtures.join(format!("v{version}.sqlite")), &path).expect("copied");
        change(
            &path,
            "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN SELECT 1; END",
        );
        let before = fs::read(&path).expect("its bytes");
        let expected = ("trigger 't'".to_owned(), Strangeness::Additional);
        assert_eq!(refused(&path), expected, "version {version}");
        assert_eq!(
            fs::read(&path).expect("its bytes"),
            before,
            "is not touched"
        );
        change(&path, "DROP TRIGGER t");
        // The right objects of another version.
        change(&path, &format!("PRAGMA user_version = {}", version % 8 + 1));
        let changed = refused(&path);
        assert_ne!(changed.1, Strangeness::Additional, "{changed:?}");
    }
}

/// Another process can change the schema while a run is active.
#[test]
fn a_schema_that_changes_while_the_store_is_open_is_noticed_before_anything_is_read_or_written() {
    let (_folder, path) = written();
    let mut store = Store::open(&path).expect("opens");
    let reader = Store::open_read_only(&path).expect("opens");
    store.begin_run(&sample::header("b")).expect("begins");
    assert_eq!(
        reader.select(&RunSelector::Last).expect("reads"),
        run_id("b")
    );
    change(
        &path,
        "CREATE TRIGGER slower AFTER INSERT ON phases BEGIN
             UPDATE phases SET elapsed_ns = elapsed_ns * 2 WHERE key = new.key; END",
    );
    let trial = sample::done_trial(0, 0);
    let writing = store.add_trial(&run_id("b"), &trial).expect_err("refused");
    let reading = reader.select(&RunSelector::Last).expect_err("refused");
    for error in [writing, reading] {
        let end = " has a trigger 'slower' that fslab did not make";
        assert!(error.to_string().ends_with(end), "{error}");
    }
    change(&path, "DROP TRIGGER slower");
    store.add_trial(&run_id("b"), &trial).expect("goes on");
    reader.select(&RunSelector::Last).expect("goes on");
}

/// Opening a store deleted a file that the journal beside it names: SQLite takes it for a
/// super-journal, whose work is done.
#[test]
fn a_journal_that_names_another_file_is_refused_and_that_file_stays() {
    let (folder, path) = written();
    let victim = folder.path().join("victim");
    fs::write(&victim, "a file of the user's").expect("written");
    fs::write(folder.path().join("s.db-journal"), journal(&path, &victim)).expect("written");
    let error = Store::open(&path).expect_err("refused");
    assert!(error.to_string().contains(" beside the store "), "{error}");
    assert!(error.to_string().contains("s.db-journal"), "{error}");
    assert!(Store::open_read_only(&path).is_err());
    assert!(victim.exists(), "is deleted");
}

/// A hot journal without pages, with the name of a super-journal at its end (pager.c).
fn journal(store: &Path, victim: &Path) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let pages = fs::metadata(store).expect("is there").len() as u32 / PAGE as u32;
    let name = victim.to_str().expect("is text").as_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut journal = MAGIC.to_vec();
    for number in [0, 0, pages, 512, PAGE as u32] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    // The page that SQLite locks by, which no journal holds.
    journal.extend((0x4000_0000_u32 / PAGE as u32 + 1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend(MAGIC);
    journal
}

#[test]
fn links_and_pipes_beside_a_store_or_in_its_place_are_refused_at_once() {
    for suffix in ["-journal", "-wal", "-shm"] {
        let (folder, path) = written();
        let victim = folder.path().join("victim");
        fs::write(&victim, "text").expect("written");
        symlink(&victim, folder.path().join(format!("s.db{suffix}"))).expect("linked");
        for error in [
            Store::open(&path).expect_err("refused"),
            Store::open_read_only(&path).expect_err("refused"),
        ] {
            assert!(error.to_string().contains(" beside the store "), "{error}");
        }
        assert_eq!(fs::read(&victim).expect("is there"), b"text");
    }
    let folder = tempfile::tempdir().expect("a directory");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("starts");
    assert!(made.success());
    // Opening it for writing waited for a reader without end.
    for error in [
        Store::open(&pipe).expect_err("refused"),
        Store::open_read_only(&pipe).expect_err("refused"),
    ] {
        assert!(
            error.to_string().ends_with(" is not an fslab store"),
            "{error}"
        );
    }
}

/// Pages that refer to each other give a table of some kilobytes rows without end.
#[test]
fn a_table_whose_pages_have_more_rows_than_room_is_an_error_and_no_hang() {
    for table in ["totals", "runs", "trials", "facts"] {
        let (_folder, path) = written();
        tangle(&path, table);
        let began = Instant::now();
        let store = Store::open_read_only(&path).expect("the schema is whole");
        let checked = store.check();
        let read = store.run(&RunSelector::Last);
        let listed = store.runs(&RunFilter::default(), None);
        assert!(began.elapsed() < Duration::from_secs(60), "{table}");
        let is_found = checked.map_or(true, |checked| !checked.findings.is_empty());
        assert!(is_found, "{table}");
        drop((read, listed));
    }
}

/// Puts pages above the table's root that have hundreds of children, all of them the same.
fn tangle(path: &Path, table: &str) {
    let connection = Connection::open(path).expect("opens");
    let root: u32 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?1",
            [table],
            |row| row.get(0),
        )
        .expect("a page");
    drop(connection);
    let mut bytes = fs::read(path).expect("its bytes");
    let root = root as usize;
    let root_page = (root - 1) * PAGE..root * PAGE;
    let leaf = bytes[root_page.clone()].to_vec();
    let is_index = match leaf[0] {
        0x0d | 0x05 => false,
        0x0a | 0x02 => true,
        other => panic!("{other}"),
    };
    let mut child = bytes.len() / PAGE + 1;
    bytes.extend(&leaf);
    for level in 0..6 {
        let page = page_of_one_child(child as u32, is_index);
        if level == 5 {
            bytes[root_page.clone()].copy_from_slice(&page);
        } else {
            bytes.extend(page);
            child = bytes.len() / PAGE;
        }
    }
    let pages = (bytes.len() / PAGE) as u32;
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(path, bytes).expect("written");
}

/// A page whose children are all the same page; of an index, with an empty record between them.
fn page_of_one_child(child: u32, is_index: bool) -> Vec<u8> {
    const CELLS: usize = 200;
    let cell: Vec<u8> = match is_index {
        // The length of the record, that of its head, and no column.
        true => [&child.to_be_bytes()[..], &[1, 1]].concat(),
        false => [&child.to_be_bytes()[..], &[1]].concat(),
    };
    let mut page = vec![0; PAGE];
    page[0] = if is_index { 0x02 } else { 0x05 };
    page[3..5].copy_from_slice(&(CELLS as u16).to_be_bytes());
    let begin = PAGE - CELLS * 8;
    page[5..7].copy_from_slice(&(begin as u16).to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for number in 0..CELLS {
        let at = begin + number * 8;
        page[at..at + cell.len()].copy_from_slice(&cell);
        page[12 + number * 2..14 + number * 2].copy_from_slice(&(at as u16).to_be_bytes());
    }
    page
}
