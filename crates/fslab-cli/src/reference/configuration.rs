//! The tables of docs/configuration.md: variables of the environment, and exit codes.

use crate::exit::MEANINGS;
use crate::settings::VARIABLES;

#[test]
fn the_page_has_every_variable_and_every_exit_code() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(file).expect("the page");
    let variables = VARIABLES
        .iter()
        .map(|(name, meaning)| (name.to_string(), *meaning));
    let codes = MEANINGS
        .iter()
        .map(|(exit, meaning)| ((*exit as u8).to_string(), *meaning));
    for (name, meaning) in variables.chain(codes) {
        let row = format!("| `{name}` | {meaning} |\n");
        assert!(
            page.contains(&row),
            "docs/configuration.md lacks the line {row}"
        );
    }
    let rows = page.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, VARIABLES.len() + MEANINGS.len(), "a row of neither");
}
