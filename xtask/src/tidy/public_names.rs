//! One name, one type: no two public types of the crates have the same name, but for those of
//! several platforms, of which a build has one.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::rust_text::words;
use super::tree::Tree;

/// Types of these directories stand for those of Linux, elsewhere.
const PLATFORMS: [&str; 4] = [
    "crates/fslab-sys/src/lacking/",
    "crates/fslab-sys/src/portable/",
    "crates/fslab-sys/src/unix/",
    "crates/fslab-sys/src/windows/",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (file, rust) in tree.rust() {
        if PLATFORMS.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
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
    for (name, places) in &places {
        let (first, _) = places[0];
        findings.extend(places[1..].iter().map(|(file, line)| Finding {
            file: (*file).to_owned(),
            line: *line,
            rule: "public-name",
            message: format!("`{name}` is public in {first}, too"),
            hint: "give each its own name, a term of the field",
        }));
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

    fn found(files: &[(&str, &str)]) -> Vec<(String, usize, String)> {
        let findings = check(&Tree::of(files));
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
            found(&[one, other]),
            [("crates/b/src/x.rs".to_owned(), 2, expected)]
        );
        let test = "#[cfg(test)]\nmod tests {\n    pub struct A;\n}\n";
        let tests = [
            ("crates/b/src/x.rs", test),
            ("crates/b/tests/a.rs", "pub struct A;"),
        ];
        assert!(found(&[one, tests[0], tests[1]]).is_empty());
        let elsewhere = ("crates/fslab-sys/src/windows/a.rs", "pub struct A;");
        assert!(found(&[one, elsewhere]).is_empty());
        let shape = ("crates/b/src/m.rs", "pub struct $A {");
        assert!(found(&[one, shape]).is_empty());
    }
}
