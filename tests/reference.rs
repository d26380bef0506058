//! docs/commands.md holds the help of every command, as the program prints it.
//!
//! `UPDATE_DOCS=1 cargo test -p fslab-cli --test integration reference` writes it anew.

use std::fs;

use crate::harness::Desk;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
const COMMANDS: [&[&str]; 37] = [
    &[],
    &["compare"],
    &["run"],
    &["fs"],
    &["fs", "list"],
    &["fs", "show"],
    &["study"],
    &["study", "list"],
    &["study", "show"],
    &["study", "check"],
    &["trace"],
    &["trace", "record"],
    &["trace", "show"],
    &["trace", "replay"],
    &["disk"],
    &["disk", "list"],
    &["disk", "show"],
    &["disk", "test"],
    &["workload"],
    &["workload", "list"],
    &["workload", "show"],
    &["list"],
    &["show"],
    &["report"],
    &["diff"],
    &["gate"],
    &["export"],
    &["import"],
    &["delete"],
    &["store"],
    &["store", "check"],
    &["clean"],
    &["lab"],
    &["lab", "build"],
    &["lab", "export"],
    &["lab", "import"],
    &["mkfs"],
];

fn reference() -> String {
    let desk = Desk::new();
    let mut text = "# The commands\n\nGenerated: see tests/reference.rs.\n".to_owned();
    for command in COMMANDS {
        let mut words = command.to_vec();
        words.push("--help");
        let ended = desk.run(&words);
        ended.expect_code(0);
        let title = [&["fslab"], command].concat().join(" ");
        text.push_str(&format!(
            "\n## {title}\n\n```text\n{}\n```\n",
            ended.out.trim_end()
        ));
    }
    text
}

#[test]
fn the_document_has_the_help_of_every_command() {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(DOCUMENT, reference()).expect("written");
    }
    let document = fs::read_to_string(DOCUMENT).expect("docs/commands.md");
    assert_eq!(
        document,
        reference(),
        "run UPDATE_DOCS=1 cargo test -p fslab-cli reference"
    );
}
