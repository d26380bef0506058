//! Deleting, restoring and purging runs.

use fslab_store::{ListedRun, RunFilter, RunSelector, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::listed::sound;
use crate::sample::{self, done_trial, run_id};

/// Three runs with one trial each: `a`, `b` and, the last, `c`.
fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a directory");
    let mut store = Store::open(&folder.path().join("s.db")).expect("opens");
    for (hour, name) in (0..).zip(["a", "b", "c"]) {
        let mut header = sample::header(name);
        header.started_unix_s += hour * 3_600;
        store.begin_run(&header).expect("begins");
        let run = run_id(name);
        store.add_trial(&run, &done_trial(0, 0)).expect("stores");
    }
    (folder, store)
}

fn names(store: &Store, deleted: bool) -> Vec<String> {
    let filter = RunFilter {
        deleted,
        ..RunFilter::default()
    };
    let runs = sound(store, &filter, None);
    assert_eq!(
        store.count_runs(&filter).expect("counts"),
        runs.len() as u64
    );
    runs.iter().map(|run| run.run.to_string()).collect()
}

#[test]
fn a_deleted_run_is_in_no_list_until_it_is_restored_unchanged() {
    let (_folder, mut store) = store();
    let whole = store.run(&RunSelector::Last).expect("reads");
    let found = store.find("last").expect("found");
    assert_eq!((found[0].run.as_str(), found[0].trials), ("c", 1));
    store.delete(&found).expect("deletes");
    assert_eq!(names(&store, false), ["b", "a"]);
    assert_eq!(names(&store, true), ["c"]);
    assert_eq!(store.select(&RunSelector::Last).expect("b"), run_id("b"));
    let named = store.run(&run_id("c").into()).expect_err("deleted");
    assert!(named.to_string().ends_with(" is deleted"), "{named}");
    assert_eq!(
        named.failure().hint.as_deref(),
        Some("restore it with fslab delete --undo c")
    );
    let history = store.history(&whole.header, 9).expect("reads");
    assert_eq!(history, [run_id("b"), run_id("a")]);
    let hash = &whole.header.plan_hash;
    assert_eq!(
        store.latest_with_hash(hash).expect("reads"),
        Some(run_id("b"))
    );
    let again = store.begin_run(&whole.header).expect_err("it is there");
    assert!(again.to_string().ends_with(" is deleted"), "{again}");

    let found = store.find_deleted("c").expect("found");
    store.undelete(&[found]).expect("brought back");
    assert_eq!(store.run(&RunSelector::Last).expect("reads"), whole);
    assert_eq!(store.check().expect("checks").findings, []);
}

#[test]
fn a_purged_run_leaves_no_row() {
    let (folder, mut store) = store();
    let found = store.find("last~1..last").expect("found");
    assert_eq!(found.len(), 2);
    store.delete(&found).expect("deletes");
    assert!(store.find_deleted("a").is_err(), "it is not deleted");
    let deleted = store.deleted().expect("reads");
    store.purge(&deleted).expect("removes");
    assert_eq!(names(&store, false), ["a"]);
    assert_eq!(names(&store, true), [""; 0]);
    assert_eq!(store.check().expect("checks").findings, []);
    drop(store);
    let connection = Connection::open(folder.path().join("s.db")).expect("opens");
    for table in ["runs", "trials"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: u32 = connection
            .query_row(&sql, [], |row| row.get(0))
            .expect("counts");
        assert_eq!(count, 1, "{table}");
    }
}

/// A document with `"run": "a/b"` was imported, and `fslab list` failed from then on.
#[test]
fn a_run_with_an_invalid_name_is_listed_as_damaged_and_can_be_deleted() {
    let (folder, store) = store();
    drop(store);
    let path = folder.path().join("s.db");
    let connection = Connection::open(&path).expect("opens");
    let insert = "INSERT INTO runs (id, study, title, plan, plan_hash, seed, venue, size_bytes,
                      engine, cold, subjects, repeats, fslab, machine, command, started_unix_s)
                  SELECT ?1, study, title, plan, plan_hash, seed, venue, size_bytes,
                      engine, cold, subjects, repeats, fslab, machine, command, started_unix_s
                  FROM runs WHERE id = 'a'";
    let refused = connection.execute(insert, ["a/b"]).expect_err("refused");
    assert!(
        refused.to_string().contains("lower-case letters"),
        "{refused}"
    );
    assert!(connection.execute(insert, [""]).is_err());
    assert!(connection.execute(insert, ["x".repeat(129)]).is_err());
    // As an earlier version stored it.
    let trigger: String = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'run_named'",
            [],
            |row| row.get(0),
        )
        .expect("its text");
    connection
        .execute("DROP TRIGGER run_named", [])
        .expect("dropped");
    connection.execute(insert, ["a/b"]).expect("inserted");
    connection.execute_batch(&trigger).expect("made again");
    drop(connection);

    let mut store = Store::open(&path).expect("opens");
    let runs = store.runs(&RunFilter::default(), None).expect("lists");
    let damaged: Vec<_> = runs.iter().filter(|run| run.sound().is_none()).collect();
    let [ListedRun::Damaged(damaged)] = damaged.as_slice() else {
        panic!("one run is damaged: {runs:?}");
    };
    assert_eq!(damaged.run, "a/b");
    assert!(
        damaged.damaged.contains("is not the name of a run"),
        "{damaged:?}"
    );
    assert_eq!(runs.len(), 4);
    let findings = store.check().expect("checks").findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].run.as_deref(), Some("a/b"));
    let found = store.find("a/b").expect("found by its text");
    store.delete(&found).expect("deleted");
    assert_eq!(names(&store, false), ["c", "b", "a"]);
    let found = store.find_deleted("a/b").expect("found by its text");
    store.purge(&[found]).expect("removed");
    assert_eq!(store.check().expect("checks").findings, []);
}
