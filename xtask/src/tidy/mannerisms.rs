//! Words and phrases that make documents, messages and comments hard to read. Plain technical
//! English has a shorter word for each.

use super::finding::Finding;
use super::rust_text::RustText;
use super::tree::{File, Tree};

/// Each phrase, and what to write.
const PHRASES: [(&str, &str); 13] = [
    (concat!("to", "ld"), "write `given`, `reported` or `known`"),
    (concat!("te", "lls"), "write `shows`, `says` or `reports`"),
    (concat!("no", "body"), "write `no one` or name who"),
    (concat!("some", "body"), "write `another user` or name who"),
    (
        concat!("some", "body's"),
        "write `another user's` or name who",
    ),
    (concat!("who", "ever"), "name who"),
    (concat!("me", "nd"), "write `patch` or `fix`"),
    (concat!("me", "nds"), "write `patches` or `fixes`"),
    (concat!("who", "le"), "write `all`, `complete` or `entire`"),
    (concat!("of its", " own"), "write `its own` or `separate`"),
    (
        concat!("of their", " own"),
        "write `their own` or `separate`",
    ),
    (concat!("of one's", " own"), "write `your own`"),
    (concat!("he", "eds"), "write `reads`, `uses` or `obeys`"),
];

/// Documents that record a day, and outputs that programs wrote.
const EXEMPT: [&str; 4] = ["CHANGELOG.md", "bench/results/", "results/", "fixtures/"];

/// A document from this line on, or as a file, is made from strings of Rust, which are checked.
const GENERATED: &str = "<!-- Generated from here on";
const GENERATED_FILES: [&str; 1] = ["docs/commands.md"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_exempt = |file: &&File| EXEMPT.iter().any(|part| file.path.contains(part));
    for file in tree.files.iter().filter(|file| !is_exempt(file)) {
        if let Some(rust) = &file.rust {
            findings.extend(in_rust(file, rust));
        } else if file.path.ends_with(".md") && !GENERATED_FILES.contains(&file.path.as_str()) {
            let written = file.text.split(GENERATED).next().unwrap_or_default();
            findings.extend(in_text(file, 1, written));
        }
    }
    findings
}

/// The phrases in all comments, and in strings but for those of tests, which may be any data.
fn in_rust(file: &File, rust: &RustText) -> Vec<Finding> {
    let comments = rust.comments.join("\n");
    let mut findings = in_text(file, 1, &comments);
    if format!("/{}", file.path).contains("/tests/") {
        return findings;
    }
    let tests = rust.test_module();
    let is_tested = |line| tests.is_some_and(|(first, last)| (first..=last).contains(line));
    for (line, text) in rust.strings.iter().filter(|(line, _)| !is_tested(line)) {
        findings.extend(in_text(file, line + 1, text));
    }
    findings
}

/// The phrases in a text whose first line is `first`; spans of code are left out.
fn in_text(file: &File, first: usize, text: &str) -> Vec<Finding> {
    let words = words(text, first);
    let mut findings = Vec::new();
    for (phrase, hint) in PHRASES {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for window in words.windows(parts.len()) {
            if window.iter().map(|(_, word)| word).eq(&parts) {
                findings.push(Finding {
                    file: file.path.clone(),
                    line: window[0].0,
                    rule: "mannerism",
                    message: format!("`{phrase}`"),
                    hint,
                });
            }
        }
    }
    findings
}

/// The words of a text in lower case, each with its line. A name with `-` or `_` is one word.
fn words(text: &str, first: usize) -> Vec<(usize, String)> {
    let is_part = |c: char| c.is_alphanumeric() || "-_'".contains(c);
    let mut words = Vec::new();
    for (line, text) in (first..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            continue;
        }
        for prose in text.split('`').step_by(2) {
            let found = prose.split(|c| !is_part(c)).filter(|word| !word.is_empty());
            words.extend(found.map(|word| (line, word.to_lowercase())));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[(path, text)]);
        let findings = check(&tree).into_iter();
        findings
            .map(|finding| (finding.line, finding.message))
            .collect()
    }

    #[test]
    fn a_phrase_is_found_in_a_document_across_lines_and_not_in_code() {
        let text = concat!(
            "It has a folder of its\n",
            "own, as was To",
            "ld.\n`who",
            "le` and who",
            "le-file are names.\n"
        );
        let expected = [(2, concat!("`to", "ld`")), (1, concat!("`of its", " own`"))];
        assert_eq!(
            found("docs/a.md", text),
            expected.map(|(line, word)| (line, word.to_owned()))
        );
        let generated = format!("{GENERATED} -->\n{text}");
        assert_eq!(found("docs/a.md", &generated), []);
    }

    #[test]
    fn a_phrase_is_found_in_comments_and_strings_of_rust_and_not_in_its_names() {
        let text = concat!(
            "/// Who",
            "le.\nfn to",
            "ld() {\n    print(\"no",
            "body\");\n}\n"
        );
        let expected = [(1, concat!("`who", "le`")), (3, concat!("`no", "body`"))];
        assert_eq!(
            found("xtask/src/a.rs", text),
            expected.map(|(line, word)| (line, word.to_owned()))
        );
    }

    #[test]
    fn strings_of_tests_are_data_and_their_comments_are_checked() {
        let code = concat!("// To", "ld.\nlet a = \"who", "le\";\n");
        assert_eq!(found("tests/a.rs", code).len(), 1);
        let module = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert_eq!(found("xtask/src/a.rs", &module).len(), 1);
        assert_eq!(found("xtask/src/a.rs", code).len(), 2);
    }
}
