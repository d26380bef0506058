//! Files that are not stores, missing permissions, and a killed writer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fslab_store::{RunFilter, RunSelector, SCHEMA_VERSION, Store, StoreError, StoreErrorKind};
use rusqlite::Connection;
use tempfile::TempDir;

use fslab_model::FailureKind;

use crate::sample::{self, run_id};

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("s.db");
    (folder, path)
}

/// The error of both ways of opening, which must be the same.
fn refusal(path: &Path) -> StoreError {
    let reading = Store::open_read_only(path).expect_err("refused for reading");
    let writing = Store::open(path).expect_err("refused for writing");
    assert_eq!(reading.kind(), writing.kind());
    writing
}

#[test]
fn another_programs_database_is_refused_and_not_touched() {
    let (_folder, path) = place();
    let foreign = Connection::open(&path).expect("another program");
    foreign
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .expect("its table");
    drop(foreign);
    let before = fs::read(&path).expect("its bytes");
    let error = refusal(&path);
    assert!(error.to_string().ends_with("s.db is not an fslab store"));
    assert_eq!(fs::read(&path).expect("its bytes"), before);
}

#[test]
fn a_folder_is_not_a_store() {
    let (folder, _) = place();
    let error = refusal(folder.path()).to_string();
    assert!(error.ends_with(" is not an fslab store"), "{error}");
}

#[test]
fn a_file_that_is_no_database_is_damaged_and_the_hint_says_what_to_do() {
    let (_folder, path) = place();
    fs::write(&path, "this is a letter to my aunt\n".repeat(100)).expect("written");
    let error = refusal(&path);
    assert_eq!(error.kind(), &StoreErrorKind::Damaged);
    let hint = error.failure().hint.as_deref().expect("a hint");
    assert!(hint.starts_with("restore a copy, or name another with --store"));
}

#[test]
fn a_store_cut_in_half_is_damaged() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("opens"));
    let whole = fs::read(&path).expect("its bytes");
    fs::write(&path, &whole[..whole.len() / 2]).expect("cut");
    assert_eq!(refusal(&path).kind(), &StoreErrorKind::Damaged);
}

#[test]
fn a_store_with_overwritten_pages_is_damaged_when_it_is_read() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    store.begin_run(&sample::header("a")).expect("begins");
    drop(store);
    let connection = Connection::open(&path).expect("opens");
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'";
    let page: u32 = connection
        .query_row(root, [], |row| row.get(0))
        .expect("a page");
    drop(connection);
    let mut bytes = fs::read(&path).expect("its bytes");
    let end = page as usize * 4096;
    bytes[end - 4096..end].fill(0xa5);
    fs::write(&path, bytes).expect("overwritten");
    let store = Store::open_read_only(&path).expect("the schema is whole");
    let error = store
        .run(&RunSelector::Named(run_id("a")))
        .expect_err("the page is not");
    assert_eq!(error.kind(), &StoreErrorKind::Damaged);
}

#[test]
fn a_store_of_a_later_fslab_is_refused() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("opens"));
    let connection = Connection::open(&path).expect("opens");
    connection
        .pragma_update(None, "user_version", 99)
        .expect("from the future");
    drop(connection);
    let error = refusal(&path);
    let text = format!("has format 99, but this fslab reads up to {SCHEMA_VERSION}");
    assert!(error.to_string().ends_with(&text), "{error}");
}

#[test]
fn a_store_that_is_not_there_is_made_for_writing_and_missing_for_reading() {
    let (_folder, path) = place();
    let error = Store::open_read_only(&path).expect_err("missing");
    assert!(
        error.to_string().starts_with("there is no store at "),
        "{error}"
    );
    assert!(!path.exists(), "reading makes nothing");
    drop(Store::open(&path).expect("made"));
    assert!(
        Store::open_read_only(&path)
            .expect("there")
            .runs(&RunFilter::default(), None)
            .expect("reads")
            .is_empty()
    );
}

#[test]
fn an_unwritable_folder_is_a_permission_error() {
    // Not even root, who ignores permission bits, can create a directory in sysfs.
    let error = Store::open(Path::new("/sys/fslab/s.db")).expect_err("refused");
    assert_eq!(error.failure().kind, FailureKind::Permission);
    assert!(
        error
            .to_string()
            .starts_with("no permission to make the directory of the store")
    );
}

#[test]
fn a_store_opened_for_reading_refuses_to_write() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("made"));
    let mut store = Store::open_read_only(&path).expect("opens");
    let error = store.begin_run(&sample::header("a")).expect_err("refused");
    assert_eq!(error.failure().kind, FailureKind::Permission);
}

#[test]
fn a_reader_sees_what_a_killed_writer_left_in_the_log() {
    let (folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    store.begin_run(&sample::header("a")).expect("begins");
    // A copy of the files while they are open equals the state after a kill: the log is not merged
    // yet.
    let killed = folder.path().join("killed.db");
    fs::copy(&path, &killed).expect("the database");
    fs::copy(
        folder.path().join("s.db-wal"),
        folder.path().join("killed.db-wal"),
    )
    .expect("the log");
    let reader = Store::open_read_only(&killed).expect("opens");
    assert_eq!(
        reader.select(&RunSelector::Last).expect("there"),
        run_id("a")
    );
}

#[test]
fn a_store_in_a_write_protected_folder_is_read_all_the_same() {
    let (folder, path) = place();
    Store::open(&path)
        .expect("made")
        .begin_run(&sample::header("a"))
        .expect("begins");
    let protect = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
    protect(0o555).expect("protected");
    let read = Store::open_read_only(&path).map(|store| {
        store
            .runs(&RunFilter::default(), None)
            .map(|runs| runs.len())
    });
    let written = Store::open(&path).and_then(|mut store| store.begin_run(&sample::header("b")));
    protect(0o755).expect("opened again");
    assert!(matches!(read, Ok(Ok(1))), "{read:?}");
    // Permissions do not bind root.
    if let Err(error) = written {
        assert_eq!(error.failure().kind, FailureKind::Permission);
    }
}

#[test]
fn a_write_protected_store_is_read_and_not_written() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("made"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("protected");
    assert!(
        Store::open_read_only(&path)
            .expect("opens")
            .runs(&RunFilter::default(), None)
            .expect("reads")
            .is_empty()
    );
    // Permissions do not bind root.
    if let Err(error) = Store::open(&path) {
        assert_eq!(error.failure().kind, FailureKind::Permission);
    }
}

#[test]
fn a_store_of_an_earlier_version_is_brought_up_to_date_when_it_is_read() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("made"));
    let copy = path.with_extension("old");
    let connection = Connection::open(&path).expect("opens");
    let id: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .expect("an id");
    // Version 0 is an empty file with the store's application id.
    let old = Connection::open(&copy).expect("made");
    old.pragma_update(None, "application_id", id).expect("ours");
    drop(old);
    assert!(
        Store::open_read_only(&copy)
            .expect("opens")
            .runs(&RunFilter::default(), None)
            .expect("reads")
            .is_empty()
    );
}
