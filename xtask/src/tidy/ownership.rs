//! SQL has an owner: fslab-store. The workload that measures SQLite has some, too, and so do
//! hostile stores. rustc's lint `unsafe_code` finds the other danger.

use super::finding::Finding;
use super::rust_text::RustText;
use super::tree::{File, Tree};

const SQL_OWNERS: [&str; 4] = [
    "crates/fslab-store/",
    "crates/fslab-programs/src/applications/database.rs",
    // These make stores hostile.
    "fuzz/src/stores.rs",
    "tests/stores.rs",
];

/// What SQL begins with. A blank and a word follow.
const SQL_WORDS: [&str; 8] = [
    "SELECT",
    "INSERT INTO",
    "INSERT OR",
    "UPDATE",
    "DELETE FROM",
    "CREATE TABLE",
    "DROP TABLE",
    "PRAGMA",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        if !SQL_OWNERS.iter().any(|owner| file.path.starts_with(owner)) {
            findings.extend(sql(file, rust));
        }
    }
    findings
}

fn sql(file: &File, rust: &RustText) -> Vec<Finding> {
    let is_sql = |text: &str| {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
        SQL_WORDS.iter().any(|word| {
            text.strip_prefix(word)
                .and_then(|rest| rest.strip_prefix(' '))
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '*'))
        })
    };
    rust.strings
        .iter()
        .filter(|(_, text)| is_sql(text))
        .map(|(line, _)| Finding {
            file: file.path.clone(),
            line: line + 1,
            rule: "sql",
            message: "SQL outside fslab-store".into(),
            hint: "give fslab-store a method for it",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::rules_of;
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        rules_of(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn sql_in_a_string_is_found_outside_the_store() {
        let text = "let q = \"SELECT * FROM runs\";\nlet p = \"\\\n  DELETE FROM runs\";";
        assert_eq!(
            rules("crates/fslab-report/src/a.rs", text),
            [("sql", 1), ("sql", 2)]
        );
        assert!(rules("crates/fslab-store/src/a.rs", text).is_empty());
        assert!(
            rules(
                "crates/fslab-cli/src/a.rs",
                "// SELECT a\nf(\"SELECTED runs\");"
            )
            .is_empty()
        );
    }
}
