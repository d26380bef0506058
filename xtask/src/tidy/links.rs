//! Links of documents: the file and the heading that a relative link names must exist, in the
//! repository and in the book that mdBook makes of `docs/`.

use super::finding::Finding;
use super::tree::{File, Tree, join};

/// The pages of the book, and its contents.
const BOOK: &str = "docs/";
const CONTENTS: &str = "docs/SUMMARY.md";

/// Directories whose paths a document may name in a span of code.
const ROOTS: [&str; 5] = ["bench/", "crates/", "kernel/", "tests/", "xtask/"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let documents = || tree.files.iter().filter(|file| file.path.ends_with(".md"));
    let mut findings: Vec<Finding> = documents()
        .flat_map(|file| dead_links(file, tree))
        .collect();
    findings.extend(documents().flat_map(|file| dead_paths(file, tree)));
    if let Some(contents) = tree.file(CONTENTS) {
        findings.extend(documents().filter_map(|file| unlisted(file, contents)));
    }
    findings
}

/// mdBook leaves out a page that its contents do not list.
fn unlisted(file: &File, contents: &File) -> Option<Finding> {
    let page = file.path.strip_prefix(BOOK)?;
    let is_listed = contents.text.contains(&format!("]({page})"));
    (!is_listed && file.path != CONTENTS).then(|| Finding {
        file: file.path.clone(),
        line: 1,
        rule: "dead-link",
        message: format!("{CONTENTS} does not list this page"),
        hint: "add it to the contents of the book",
    })
}

fn dead_links(file: &File, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in (1..).zip(without_code(&file.text)) {
        for target in targets(&text) {
            let Some(message) = why_dead(file, target, tree) else {
                continue;
            };
            findings.push(Finding {
                file: file.path.clone(),
                line,
                rule: "dead-link",
                message,
                hint: "correct the link; headings are named in lower case, with `-` for a space",
            });
        }
    }
    findings
}

/// Paths from the root in spans of code, such as `crates/a/src/lib.rs`, that lead nowhere.
fn dead_paths(file: &File, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
    let mut in_block = false;
    for (line, text) in (1..).zip(file.text.lines()) {
        in_block ^= text.trim_start().starts_with("```");
        let spans = text.split('`').skip(1).step_by(2).filter(|_| !in_block);
        let paths = spans.filter(|path| ROOTS.iter().any(|root| path.starts_with(root)));
        for path in paths.filter(|path| path.chars().all(is_name)) {
            let folder = format!("{}/", path.trim_end_matches('/'));
            let exists = |found: &File| found.path == path || found.path.starts_with(&folder);
            if !tree.files.iter().any(exists) {
                findings.push(Finding {
                    file: file.path.clone(),
                    line,
                    rule: "dead-link",
                    message: format!("there is no `{path}`"),
                    hint: "name the file that there is",
                });
            }
        }
    }
    findings
}

/// What is wrong with a target; `None` where it exists or lies elsewhere.
fn why_dead(file: &File, target: &str, tree: &Tree) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match path {
        "" => file.path.clone(),
        path => join(file.folder(), path),
    };
    let Some(document) = tree.file(&path) else {
        let folder = format!("{path}/");
        let is_folder = tree.files.iter().any(|file| file.path.starts_with(&folder));
        return (!is_folder).then(|| format!("there is no {path}"));
    };
    if file.path.starts_with(BOOK) && path.ends_with(".md") && !path.starts_with(BOOK) {
        return Some(format!("{path} is no page of the book: link its directory"));
    }
    let is_here = heading.is_empty() || headings(document).any(|found| found == heading);
    (!is_here).then(|| format!("{path} has no heading `{heading}`"))
}

/// The targets of the links and images of a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(at, mark)| {
        let (target, _) = line[at + mark.len()..].split_once(')')?;
        target.split(' ').next()
    })
}

/// The headings of a document, as links name them.
fn headings(file: &File) -> impl Iterator<Item = String> {
    let titles = file.text.lines().filter(|line| line.starts_with('#'));
    titles.map(|title| {
        let kept = title.trim_start_matches('#').trim().chars();
        kept.filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .flat_map(char::to_lowercase)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    })
}

/// The lines of a Markdown text, with code blocks and spans of code blank.
fn without_code(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        let prose = match is_fence || in_block {
            true => String::new(),
            false => line.split('`').step_by(2).collect::<Vec<_>>().join(" "),
        };
        lines.push(prose);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_book_is_found() {
        let tree = Tree::of(&[
            ("disks/README.md", ""),
            ("docs/SUMMARY.md", "- [a](a.md)"),
            ("docs/a.md", "[disks](../disks) [disks](../disks/README.md)"),
            ("docs/b.md", ""),
        ]);
        let found: Vec<String> = check(&tree)
            .into_iter()
            .map(|found| found.message)
            .collect();
        let expected = [
            "disks/README.md is no page of the book: link its directory",
            "docs/SUMMARY.md does not list this page",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_path_of_a_file_that_was_moved_is_found() {
        let text = "`crates/a/src/` `crates/a/src/b.rs` `crates/NAME.rs` `crates/gone.rs` b";
        let tree = Tree::of(&[("README.md", text), ("crates/a/src/b.rs", "")]);
        let found: Vec<String> = check(&tree)
            .into_iter()
            .map(|found| found.message)
            .collect();
        assert_eq!(found, ["there is no `crates/gone.rs`"]);
    }

    #[test]
    fn links_to_missing_files_and_headings_are_found() {
        let guide = "# The guide\n\
            ## What's new, and old\n\
            [a](#whats-new-and-old) [b](../README.txt) [c](../src) [d](https://x.org/y)\n\
            [e](#gone) [f](gone.md#the-guide) ![g](gone.png) `[h](not-a-link)`\n\
            ```\n[i](not-a-link)\n```\n";
        let tree = Tree::of(&[
            ("README.md", "[k](docs/guide.md#the-guide)"),
            ("docs/guide.md", guide),
            ("README.txt", ""),
            ("src/lib.rs", "//! [l](not-a-document)"),
        ]);
        let found: Vec<(usize, String)> = check(&tree)
            .into_iter()
            .map(|finding| (finding.line, finding.message))
            .collect();
        let expected = [
            (4, "docs/guide.md has no heading `gone`".to_owned()),
            (4, "there is no docs/gone.md".to_owned()),
            (4, "there is no docs/gone.png".to_owned()),
        ];
        assert_eq!(found, expected);
    }
}
