//! A store whose file is removed or replaced while it is written.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_store::{RunSelector, Store, StoreError};
use tempfile::TempDir;

use crate::sample::{self, run_id};

fn begun() -> (TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("in/s.db");
    let mut store = Store::open(&path).expect("opens");
    store.begin_run(&sample::header("a")).expect("begins");
    let trial = sample::done_trial(0, 0);
    store.add_trial(&run_id("a"), &trial).expect("stored");
    (folder, path, store)
}

fn kept(error: &StoreError) -> PathBuf {
    let hint = error.failure().hint.as_deref().expect("a hint");
    assert!(hint.contains("s.db.kept-"), "{hint}");
    let rest = hint.strip_prefix("everything stored so far is in ");
    let (path, _) = rest.and_then(|rest| rest.split_once(';')).expect("a path");
    path.into()
}

fn trials(path: &Path) -> usize {
    let store = Store::open_read_only(path).expect("opens");
    let run = store.run(&RunSelector::Last).expect("reads");
    assert_eq!(store.check().expect("checks").findings, []);
    run.trials.len()
}

/// A run whose store was removed ended with exit code 0 and without a store.
#[test]
fn a_store_that_loses_its_file_says_so_and_keeps_every_record_in_a_copy() {
    type Removal = fn(&Path);
    let removals: [(&str, Removal); 5] = [
        ("the file", |path| fs::remove_file(path).expect("removed")),
        ("all of its files", |path| {
            for suffix in ["", "-wal", "-shm"] {
                let mut file = path.as_os_str().to_owned();
                file.push(suffix);
                fs::remove_file(file).expect("removed");
            }
        }),
        ("the log", |path| {
            fs::remove_file(path.with_extension("db-wal")).expect("removed");
        }),
        ("the directory", |path| {
            fs::remove_dir_all(path.parent().expect("a directory")).expect("removed");
        }),
        ("the file, for another", |path| {
            let other = path.with_extension("other");
            fs::write(&other, "a letter").expect("written");
            fs::rename(other, path).expect("replaced");
        }),
    ];
    for (what, remove) in removals {
        let (_folder, path, mut store) = begun();
        remove(&path);
        let error = store
            .add_trial(&run_id("a"), &sample::done_trial(0, 1))
            .expect_err("says so");
        let copy = kept(&error);
        // Those of parallel trials come after the first error.
        let again = store
            .add_trial(&run_id("a"), &sample::done_trial(1, 0))
            .expect_err("says so again");
        assert_eq!(kept(&again), copy, "{what}");
        drop(store);
        assert_eq!(trials(&copy), 3, "{what}");
        if what.ends_with("another") {
            assert_eq!(fs::read(&path).expect("is there"), b"a letter");
        }
    }
}

#[test]
fn a_store_that_loses_its_file_after_the_last_record_says_so_when_it_is_asked() {
    let (_folder, path, mut store) = begun();
    store.ensure_in_place().expect("is there");
    fs::remove_file(&path).expect("removed");
    let error = store.ensure_in_place().expect_err("is gone");
    drop(store);
    assert_eq!(trials(&kept(&error)), 1);
}
