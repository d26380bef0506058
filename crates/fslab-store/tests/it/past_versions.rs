//! Stores of past versions of fslab, which must stay readable.
//!
//! Each was written by `cargo run -p fslab-store --example write_fixture -- FILE.sqlite` of that
//! version.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::RunRecord;
use fslab_store::{RunSelector, SCHEMA_VERSION, Store};

use crate::sample;

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores");
    folder.join(name)
}

/// Opens a copy of the fixture and compares its one run with the JSON beside it.
fn reads(name: &str) {
    let folder = tempfile::tempdir().expect("a directory");
    let copy = folder.path().join("s.db");
    fs::copy(fixture(name), &copy).expect("the fixture");
    let json = fs::read_to_string(fixture(name).with_extension("json")).expect("what it holds");
    let expected: RunRecord = serde_json::from_str(&json).expect("a run");
    assert_eq!(expected.trials.len(), 4);
    let store = Store::open_read_only(&copy).expect("opens");
    assert_eq!(store.run(&RunSelector::Last).expect("reads"), expected);
    let checked = store.check().expect("checks");
    assert_eq!((checked.runs, checked.trials), (1, 4));
    assert_eq!(checked.findings, [], "{name}");
    let mut store = Store::open(&copy).expect("opens for writing");
    store
        .add_trial(&expected.header.run, &sample::done_trial(0, 2))
        .expect("goes on");
}

#[test]
fn a_store_of_version_1_is_read_and_written() {
    reads("v1.sqlite");
}

#[test]
fn a_store_of_version_2_is_read_and_written() {
    reads("v2.sqlite");
}

#[test]
fn a_store_of_version_3_is_read_and_written() {
    reads("v3.sqlite");
}

#[test]
fn a_store_of_version_4_is_read_and_written() {
    reads("v4.sqlite");
}

#[test]
fn a_store_of_version_5_is_read_and_written() {
    reads("v5.sqlite");
}

#[test]
fn a_store_of_version_6_is_read_and_written() {
    reads("v6.sqlite");
}

#[test]
fn a_store_of_version_7_is_read_and_written() {
    reads("v7.sqlite");
}

#[test]
fn a_store_of_version_8_is_read_and_written() {
    reads("v8.sqlite");
}

#[test]
fn every_version_has_its_fixture() {
    for version in 1..=SCHEMA_VERSION {
        let name = format!("v{version}.sqlite");
        assert!(fixture(&name).is_file(), "{name} is missing");
    }
}
