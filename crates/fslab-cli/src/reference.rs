//! Generated documents: docs/commands.md, schemas/*.json and docs/reference.md.
//!
//! `UPDATE_DOCS=1 cargo test -p fslab-cli --bin fslab reference` writes them.

mod commands;
mod configuration;
mod parameters;
mod schemas;

use std::fs;

/// Asserts that the file of the repository has this content; writes it if UPDATE_DOCS is set.
#[track_caller]
fn expect_file(path: &str, content: &str) {
    let file = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(file, content).expect("written");
    }
    let committed = fs::read_to_string(file).expect(path);
    let hint = "run UPDATE_DOCS=1 cargo test -p fslab-cli --bin fslab reference";
    assert!(committed == content, "{path} is out of date: {hint}");
}
