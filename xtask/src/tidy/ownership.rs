//! Dangers with an owner: `unsafe` in the crates of [`UNSAFE_OWNERS`], each with its reason, and
//! SQL in fslab-store, but for that of the workload that measures SQLite, and of hostile stores.

use super::finding::Finding;
use super::rust_text::RustText;
use super::tree::{File, Tree};

const UNSAFE_OWNERS: [&str; 2] = ["crates/fslab-sys/", "crates/fslab-simdisk-sys/"];
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
        findings.extend(unsafe_code(file, rust));
        if !SQL_OWNERS.iter().any(|owner| file.path.starts_with(owner)) {
            findings.extend(sql(file, rust));
        }
    }
    findings
}

fn unsafe_code(file: &File, rust: &RustText) -> Vec<Finding> {
    let mut owners = UNSAFE_OWNERS.iter();
    let owned = owners.any(|owner| file.path.starts_with(owner));
    let wrong = |line: &usize| !owned || !has_reason(rust, line - 1);
    let finding = |line| Finding {
        file: file.path.clone(),
        line,
        rule: if owned { "safety" } else { "unsafe" },
        message: if owned {
            "`unsafe` without a `// SAFETY:` above it".into()
        } else {
            "`unsafe` outside fslab-sys and fslab-simdisk-sys".into()
        },
        hint: if owned {
            "say in a sentence why the contract of the call holds"
        } else {
            "give fslab-sys a safe function for it"
        },
    };
    rust.lines_with_word("unsafe")
        .filter(wrong)
        .map(finding)
        .collect()
}

/// Whether a comment with `SAFETY:` (or, for an `unsafe fn`, `# Safety`) stands right above the
/// statement that the line is part of.
fn has_reason(rust: &RustText, line: usize) -> bool {
    let is_reason = |comment: &str| comment.contains("SAFETY:") || comment.contains("# Safety");
    if is_reason(&rust.comments[line]) {
        return true;
    }
    for above in (0..line).rev() {
        let (code, comment) = (rust.code[above].trim(), rust.comments[above].trim());
        if is_reason(comment) {
            return true;
        }
        let is_attribute = code.starts_with('#');
        let ends_statement = code.ends_with([';', '{', '}', ',']);
        let is_empty = code.is_empty() && comment.is_empty();
        if is_empty || (ends_statement && !is_attribute) {
            return false;
        }
    }
    false
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
    fn unsafe_outside_its_owner_is_found_even_with_a_reason() {
        let text = "// SAFETY: none.\nunsafe { f() }";
        assert_eq!(rules("crates/fslab-run/src/a.rs", text), [("unsafe", 2)]);
        assert!(rules("crates/fslab-sys/src/a.rs", text).is_empty());
        assert!(
            rules(
                "crates/fslab-run/src/a.rs",
                "#![forbid(unsafe_code)] // unsafe"
            )
            .is_empty()
        );
    }

    #[test]
    fn unsafe_without_a_reason_is_found_in_its_owner() {
        let bare = "let a = 1;\nunsafe { f() }";
        assert_eq!(rules("crates/fslab-sys/src/a.rs", bare), [("safety", 2)]);
        let far = "// SAFETY: of g.\nunsafe { g() };\nunsafe { f() };";
        assert_eq!(rules("crates/fslab-sys/src/a.rs", far), [("safety", 3)]);
    }

    #[test]
    fn a_reason_above_the_statement_or_the_attribute_counts() {
        let statement = "// SAFETY: it is\n// open.\nlet a =\n    unsafe { f() };";
        let attribute = "// SAFETY: as above.\n#[inline]\nunsafe impl Send for A {}";
        let contract = "/// # Safety\n/// The pointer is valid.\nunsafe fn f() {}";
        for text in [statement, attribute, contract] {
            assert!(
                rules("crates/fslab-sys/src/a.rs", text).is_empty(),
                "{text}"
            );
        }
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
