//! Checks that docs/workloads.md lists every workload with its defaults.
//!
//! `UPDATE_DOCS=1 cargo test -p fslab-workload` regenerates the list.

use std::fmt::Write;
use std::fs;

use fslab_model::{Bytes, Parameters};
use fslab_workload::ParameterInfo;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");
const MARK: &str =
    "<!-- Generated from here on: see crates/fslab-workload/tests/reference.rs -->\n";

/// Defaults that depend on the machine: listed as in a study, so that the document is the same on
/// every machine.
const MACHINE_DEFAULTS: [(&str, &str, &str); 2] = [
    ("web-server", "server", "auto"),
    ("web-server", "transport", "unix"),
];

fn reference() -> String {
    let mut text = String::new();
    for workload in fslab_workload::all() {
        let defaults = workload
            .resolve(&Parameters::new(), Bytes::gib(1))
            .expect("the defaults of every workload resolve");
        writeln!(
            text,
            "\n### {}\n\n{}.\n\n```toml",
            workload.name(),
            workload.title()
        )
        .expect("a string takes everything");
        for (name, value) in &defaults {
            let found = MACHINE_DEFAULTS
                .iter()
                .find(|it| (it.0, it.1) == (workload.name(), name));
            let value = found.map_or(value.clone(), |(_, _, value)| (*value).into());
            let value = toml::Value::try_from(&value).expect("TOML has what studies have");
            writeln!(text, "{name} = {value}").expect("a string takes everything");
        }
        text.push_str("```\n");
        let fixed: Vec<_> = workload.fixed().iter().map(assignment).collect();
        if !fixed.is_empty() {
            writeln!(text, "\nFixed: {}.", fixed.join(", ")).expect("a string takes everything");
        }
    }
    text
}

/// `` `key = value` ``
fn assignment(parameter: &ParameterInfo) -> String {
    let value = toml::Value::try_from(&parameter.default).expect("TOML has what workloads have");
    format!("`{} = {value}`", parameter.name)
}

#[test]
fn the_document_has_every_workload_with_its_defaults() {
    let document = fs::read_to_string(DOCUMENT).expect("docs/workloads.md");
    let (head, generated) = document.split_once(MARK).expect("the mark");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(DOCUMENT, format!("{head}{MARK}{}", reference())).expect("written");
        return;
    }
    assert_eq!(
        generated,
        reference(),
        "run UPDATE_DOCS=1 cargo test -p fslab-workload"
    );
}
