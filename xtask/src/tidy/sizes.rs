//! How long a file and a line may be. The length of a function is clippy's matter.

use super::finding::Finding;
use super::rust_text::RustText;
use super::tree::{File, Tree};

/// Lines of a file, without its tests.
const FILE_LINES_MAX: usize = 800;
const LINE_COLUMNS_MAX: usize = 100;
/// Marks of code that may stand beside a string on a line that is otherwise nothing but the string.
const MARKS_BESIDE_STRING_MAX: usize = 6;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let of_rust = tree.rust().flat_map(|(file, rust)| {
        let tests = rust.test_module();
        let tests = tests.map_or(0, |(first, last)| last - first + 1);
        let lines = long_lines(file, |line, index| cannot_be_broken(line, rust, index));
        long_file(file, tests).into_iter().chain(lines)
    });
    let of_c = tree
        .files
        .iter()
        .filter(|file| is_c(file))
        .flat_map(|file| {
            let lines = long_lines(file, |line, _| is_string(line));
            long_file(file, 0).into_iter().chain(lines)
        });
    of_rust.chain(of_c).collect()
}

fn is_c(file: &File) -> bool {
    [".c", ".h"].iter().any(|end| file.path.ends_with(end))
}

fn long_file(file: &File, test_lines: usize) -> Option<Finding> {
    let lines = file.text.lines().count();
    let counted = lines - test_lines.min(lines);
    (counted > FILE_LINES_MAX).then(|| Finding {
        file: file.path.clone(),
        line: 1,
        rule: "file-size",
        message: format!("{counted} lines without tests, and {FILE_LINES_MAX} are the limit"),
        hint: "split it where its header names two things",
    })
}

fn long_lines(file: &File, is_exempt: impl Fn(&str, usize) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let columns: usize = line.chars().map(width).sum();
        if columns > LINE_COLUMNS_MAX && !is_exempt(line, index) {
            findings.push(Finding {
                file: file.path.clone(),
                line: index + 1,
                rule: "line-length",
                message: format!("{columns} columns, and {LINE_COLUMNS_MAX} are the limit"),
                hint: "break the line; a long string may stand alone on its line",
            });
        }
    }
    findings
}

/// Whether a line of C is hardly more than a string, which the kernel's style never breaks.
fn is_string(line: &str) -> bool {
    let outside = line.split('"').step_by(2);
    let marks = outside.flat_map(str::chars).filter(|c| !c.is_whitespace());
    marks.count() <= MARKS_BESIDE_STRING_MAX
}

/// Columns of a character; lines of C begin with tabs, and have none behind.
fn width(character: char) -> usize {
    match character {
        '\t' => 8,
        _ => 1,
    }
}

/// Whether the line holds an address, or hardly more than a part of a string.
fn cannot_be_broken(line: &str, rust: &RustText, index: usize) -> bool {
    let marks = |view: &[String]| {
        let line = view.get(index).map(String::as_str).unwrap_or_default();
        line.chars().filter(|c| !c.is_whitespace()).count()
    };
    line.contains("://") || marks(&rust.code) + marks(&rust.comments) <= MARKS_BESIDE_STRING_MAX
}

#[cfg(test)]
mod tests {
    use super::super::finding::rules_of;
    use super::*;

    fn rules(text: &str) -> Vec<(&'static str, usize)> {
        rules_of(&check(&Tree::of(&[("crates/a/src/a.rs", text)])))
    }

    #[test]
    fn a_file_over_the_limit_is_found_and_its_tests_do_not_count() {
        let code = "fn a() {}\n".repeat(FILE_LINES_MAX);
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            "fn t() {}\n".repeat(50)
        );
        assert!(rules(&format!("{code}{tests}")).is_empty());
        assert_eq!(
            rules(&format!("{code}fn b() {{}}\n{tests}")),
            [("file-size", 1)]
        );
    }

    #[test]
    fn files_and_lines_of_c_have_the_same_limits() {
        let of = |text: &str| rules_of(&check(&Tree::of(&[("kernel/simdisk/model/a.c", text)])));
        let lines = "int a;\n".repeat(FILE_LINES_MAX);
        assert!(of(&lines).is_empty());
        assert_eq!(of(&format!("{lines}int b;\n")), [("file-size", 1)]);
        assert!(of(&format!("\t\t/* {} */", "a".repeat(78))).is_empty());
        assert_eq!(
            of(&format!("\t\t/* {} */", "a".repeat(79))),
            [("line-length", 1)]
        );
        assert!(of(&format!("\t\"{}\\n\",", "a".repeat(99))).is_empty());
    }

    #[test]
    fn a_long_line_of_code_or_comment_is_found() {
        let code = format!("//! A.\nlet {} = 1;", "a".repeat(100));
        assert_eq!(rules(&code), [("line-length", 2)]);
        let comment = format!("//! {}", "word ".repeat(30));
        assert_eq!(rules(&comment), [("line-length", 1)]);
    }

    #[test]
    fn a_long_string_on_its_own_line_and_an_address_are_let_pass() {
        let string = format!("f(\n    \"{}\",\n);", "word ".repeat(30));
        assert!(rules(&string).is_empty());
        let address = format!("// see https://example.org/{}", "a".repeat(100));
        assert!(rules(&address).is_empty());
    }
}
