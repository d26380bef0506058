//! How a Rust file presents itself: its header, its name, and no logic where only modules belong.

use super::finding::Finding;
use super::tree::Tree;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = [
    "imp", "misc", "util", "utils", "helper", "helpers", "common", "shared",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust() {
        let mut find = |line, rule, message: String, hint| {
            findings.push(Finding {
                file: file.path.clone(),
                line,
                rule,
                message,
                hint,
            });
        };
        if !file.text.starts_with("//! ") {
            let hint = "begin with a line like `//! What this file owns.`";
            find(
                1,
                "header",
                "the file does not begin with `//!`".into(),
                hint,
            );
        }
        let folders = file.folder().split('/');
        if let Some(name) = folders
            .chain([file.stem()])
            .find(|name| EMPTY_NAMES.contains(name))
        {
            let hint = "name it after what it owns";
            find(
                1,
                "file-name",
                format!("`{name}` says nothing about what is inside"),
                hint,
            );
        }
        if matches!(file.name(), "lib.rs" | "mod.rs") {
            for keyword in ["fn", "impl", "macro_rules"] {
                for line in rust.lines_with_word(keyword) {
                    let hint = "move it to another file; here stand `mod` and `pub use`";
                    find(
                        line,
                        "no-logic",
                        format!("`{keyword}` in {}", file.name()),
                        hint,
                    );
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::rules_of;
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        rules_of(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        assert_eq!(rules("a.rs", "fn a() {}"), [("header", 1)]);
        assert_eq!(rules("a.rs", ""), [("header", 1)]);
        assert!(rules("a.rs", "//! Owns a.\nfn a() {}").is_empty());
        assert!(rules("a.md", "no Rust").is_empty());
    }

    #[test]
    fn a_name_that_says_nothing_is_found_in_files_and_folders() {
        assert_eq!(rules("src/utils.rs", "//! U."), [("file-name", 1)]);
        assert_eq!(rules("src/common/mod.rs", "//! C."), [("file-name", 1)]);
        assert!(rules("src/commonplace.rs", "//! C.").is_empty());
    }

    #[test]
    fn logic_where_only_modules_belong_is_found_and_a_word_in_a_comment_is_not() {
        let text = "//! No fn here.\nmod a;\npub use a::A;\nimpl A {}\nfn b() {}";
        assert_eq!(
            rules("src/lib.rs", text),
            [("no-logic", 5), ("no-logic", 4)]
        );
        assert!(rules("src/main.rs", text).is_empty());
        assert!(rules("src/x/mod.rs", "//! No fn.\nmod a;\npub const A: u32 = 1;").is_empty());
    }
}
