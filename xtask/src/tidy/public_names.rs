//! One name, one type: no two public types of the crates have the same name.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::rust_text::words;
use super::tree::Tree;

/// Names that still mean two things. The list only becomes shorter: an entry that is no longer
/// needed is a finding, too.
const TWICE: [&str; 5] = ["Kind", "Outcome", "Stage", "Standing", "Verdict"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    check_except(tree, &TWICE)
}

fn check_except(tree: &Tree, twice: &[&str]) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (file, rust) in tree.rust() {
        if !file.path.starts_with("crates/") || !file.path.contains("/src/") {
            continue;
        }
        let tests = rust.test_module();
        for (index, line) in rust.code.iter().enumerate() {
            let is_test = tests.is_some_and(|(first, last)| (first..=last).contains(&index));
            if let Some(name) = public_type(line).filter(|_| !is_test) {
                let of_name = places.entry(name).or_default();
                of_name.push((&file.path, index + 1));
            }
        }
    }
    let mut findings = Vec::new();
    let mut find = |(file, line): (&str, usize), message, hint| {
        findings.push(Finding {
            file: file.to_owned(),
            line,
            rule: "public-name",
            message,
            hint,
        });
    };
    for (name, places) in &places {
        let is_listed = twice.contains(name);
        match places.as_slice() {
            [first, others @ ..] if !others.is_empty() && !is_listed => {
                for other in others {
                    let message = format!("`{name}` is public in {}, too", first.0);
                    find(
                        *other,
                        message,
                        "give each its own name, a term of the field",
                    );
                }
            }
            [only] if is_listed => {
                let message = format!("`{name}` is public once");
                find(*only, message, "take it off the list in public_names.rs");
            }
            _ => {}
        }
    }
    findings
}

/// The type that a line of code makes public to other crates.
fn public_type(line: &str) -> Option<&str> {
    let code = line.trim_start().strip_prefix("pub ")?;
    let mut words = words(code);
    let is_type = matches!(
        words.next()?,
        "struct" | "enum" | "union" | "trait" | "type"
    );
    // A macro's `pub struct $name` names no type.
    words
        .next()
        .filter(|name| is_type && !code.contains(&format!("${name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], twice: &[&str]) -> Vec<(String, usize, String)> {
        let findings = check_except(&Tree::of(files), twice);
        let each = findings.into_iter();
        each.map(|it| (it.file, it.line, it.message)).collect()
    }

    #[test]
    fn two_public_types_of_one_name_are_found_and_others_are_not() {
        let one = (
            "crates/a/src/lib.rs",
            "/// A.\npub struct Layout;\npub struct A;\n",
        );
        let other = (
            "crates/b/src/x.rs",
            "pub(crate) struct A;\npub enum Layout {}\n",
        );
        let expected = "`Layout` is public in crates/a/src/lib.rs, too".to_owned();
        assert_eq!(
            found(&[one, other], &[]),
            [("crates/b/src/x.rs".to_owned(), 2, expected)]
        );
        let test = "#[cfg(test)]\nmod tests {\n    pub struct A;\n}\n";
        let tests = [
            ("crates/b/src/x.rs", test),
            ("crates/b/tests/a.rs", "pub struct A;"),
        ];
        assert!(found(&[one, tests[0], tests[1]], &[]).is_empty());
        let shape = ("crates/b/src/m.rs", "pub struct $A {");
        assert!(found(&[one, shape], &[]).is_empty());
    }

    #[test]
    fn a_name_on_the_list_may_stand_twice_and_must() {
        let one = ("crates/a/src/lib.rs", "pub struct A;\n");
        let other = ("crates/b/src/lib.rs", "pub type A = u8;\n");
        assert!(found(&[one, other], &["A"]).is_empty());
        assert_eq!(found(&[one], &["A"])[0].2, "`A` is public once");
    }
}
