//! Every document that `--json` prints is of the schema that `fslab schema` prints for it.

use serde_json::Value;

use crate::harness::Desk;

const SAMPLE_TRACE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../fslab-replay/src/sample.trace"
);
const BONNIE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/exchange/bonnie-1.96-two-machines.csv"
);

/// Runs a command and checks its output against a schema.
#[track_caller]
pub(crate) fn expect_schema(desk: &Desk, schema: &str, command: &[&str]) -> Value {
    let printed = desk.run(&["schema", schema]);
    printed.expect_code(0);
    let schema: Value = serde_json::from_str(&printed.out).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let ended = desk.run(command);
    ended.expect_code(0);
    let document: Value = serde_json::from_str(&ended.out).expect("JSON");
    let errors: Vec<_> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{command:?}: {errors:#?}");
    // A schema that accepts anything is none.
    assert!(!validator.is_valid(&serde_json::json!([{}])), "{command:?}");
    document
}

#[test]
fn documents_about_the_catalogues_are_of_their_schemas() {
    let desk = Desk::new();
    for (schema, command) in [
        ("fs-list", &["fs", "list", "--json"][..]),
        ("fs-probe", &["fs", "list", "--probe", "--json"]),
        ("fs-show", &["fs", "show", "ext4", "--json"]),
        ("disk-list", &["disk", "list", "--json"]),
        (
            "disk-show",
            &["disk", "show", "hdd-7200-sata-2010", "--json"],
        ),
        (
            "disk-test",
            &["disk", "test", "hdd-7200-sata-2010", "--json"],
        ),
        ("disk-fit", &["disk", "fit", "bonnie-2010", "--json"]),
        ("workload-list", &["workload", "list", "--json"]),
        ("workload-jobs", &["workload", "jobs", "--json"]),
        (
            "workload-show",
            &["workload", "show", "random-read", "--json"],
        ),
        ("trace-show", &["trace", "show", SAMPLE_TRACE, "--json"]),
        ("lab-status", &["lab", "status", "--json"]),
    ] {
        expect_schema(&desk, schema, command);
    }
}

#[test]
fn the_status_of_a_lab_is_of_its_schema() {
    let Some(desk) = Desk::new().with_lab("the_status_of_a_lab_is_of_its_schema") else {
        return;
    };
    let status = expect_schema(&desk, "lab-status", &["lab", "status", "--json"]);
    assert_eq!(status["labs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn documents_about_runs_are_of_their_schemas() {
    let desk = Desk::new();
    let run = ["compare", "fake", "--study", "./small.toml", "--out", "out"];
    desk.run(&run).expect_code(0);
    for (schema, command) in [
        ("run", &["show", "last", "--json"][..]),
        ("list", &["list", "--json"]),
        ("store-check", &["store", "check", "--json"]),
        ("delete", &["delete", "last", "--yes", "--json"]),
    ] {
        expect_schema(&desk, schema, command);
    }
    desk.run(&run).expect_code(0);
    desk.run(&run).expect_code(0);
    for (schema, command) in [
        ("diff", &["diff", "last~1", "last", "--json"][..]),
        (
            "diff-dry-run",
            &["diff", "last~1", "last", "--dry-run", "--json"],
        ),
        ("gate", &["gate", "last~1", "last", "--json"]),
        (
            "study-check",
            &[
                "study",
                "check",
                "--study",
                "home-usb",
                "--original",
                "--json",
            ],
        ),
    ] {
        expect_schema(&desk, schema, command);
    }
    let import = ["import", BONNIE, "--dry-run", "--json"];
    expect_schema(&desk, "import-dry-run", &import);
}
