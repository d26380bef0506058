//! Files that nothing leads to: sources without a `mod`, documents without a link, fixtures without
//! a test; and files too large for a repository.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::rust_text::words;
use super::tree::{File, Tree, join};

/// Size of a tracked file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where a reader of the project begins.
const ENTRANCES: [&str; 4] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

/// `roots` are the files that cargo compiles by themselves.
pub(crate) fn check(tree: &Tree, roots: &[String]) -> Vec<Finding> {
    let mut findings = large_files(tree);
    findings.extend(lost_sources(tree, roots));
    findings.extend(unlinked_documents(tree));
    findings.extend(unused_fixtures(tree));
    findings
}

fn finding(file: &File, rule: &'static str, message: String, hint: &'static str) -> Finding {
    Finding {
        file: file.path.clone(),
        line: 1,
        rule,
        message,
        hint,
    }
}

fn large_files(tree: &Tree) -> Vec<Finding> {
    let large = |file: &&File| file.bytes > FILE_BYTES_MAX;
    tree.files
        .iter()
        .filter(large)
        .map(|file| {
            let message = format!("{} bytes, and {FILE_BYTES_MAX} are the limit", file.bytes);
            finding(
                file,
                "large-file",
                message,
                "keep what makes it, not what was made",
            )
        })
        .collect()
}

fn lost_sources(tree: &Tree, roots: &[String]) -> Vec<Finding> {
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut next: Vec<(String, bool)> = roots.iter().map(|root| (root.clone(), true)).collect();
    while let Some((path, is_root)) = next.pop() {
        let Some(file) = tree.file(&path) else {
            continue;
        };
        if reached.insert(path) {
            next.extend(
                modules(file, is_root, tree)
                    .into_iter()
                    .map(|path| (path, false)),
            );
        }
    }
    tree.rust()
        .filter(|(file, _)| !reached.contains(&file.path))
        .map(|(file, _)| {
            let message = "no `mod` leads to this file".to_owned();
            finding(
                file,
                "dead-source",
                message,
                "declare it in its parent, or remove it",
            )
        })
        .collect()
}

/// The files that the `mod name;` lines of a file lead to. Those inside an inline `mod a { }` are
/// looked for beside the others.
fn modules(file: &File, is_root: bool, tree: &Tree) -> Vec<String> {
    let Some(rust) = &file.rust else {
        return Vec::new();
    };
    let folder = if is_root || file.name() == "mod.rs" {
        file.folder().to_owned()
    } else {
        join(file.folder(), file.stem())
    };
    let lines: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for (index, code) in rust.code.iter().enumerate() {
        let Some(name) = declared_module(code) else {
            continue;
        };
        let attributes = lines[..index]
            .iter()
            .rev()
            .take_while(|line| line.starts_with("#["));
        if let Some(path) = attributes.copied().find_map(path_attribute) {
            found.push(join(file.folder(), path));
            continue;
        }
        let candidates = [format!("{name}.rs"), format!("{name}/mod.rs")];
        let paths = candidates.map(|candidate| join(&folder, &candidate));
        found.extend(paths.into_iter().filter(|path| tree.file(path).is_some()));
    }
    found
}

/// The name in `mod name;`.
fn declared_module(code: &str) -> Option<&str> {
    let declaration = code.trim().strip_suffix(';')?;
    let mut words = words(declaration);
    words.find(|word| *word == "mod")?;
    let name = words.next()?;
    words.next().is_none().then_some(name)
}

fn path_attribute(line: &str) -> Option<&str> {
    line.strip_prefix("#[path = \"")?.strip_suffix("\"]")
}

fn unlinked_documents(tree: &Tree) -> Vec<Finding> {
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut next: Vec<String> = ENTRANCES.map(str::to_owned).into();
    while let Some(path) = next.pop() {
        let Some(file) = tree.file(&path) else {
            continue;
        };
        if reached.insert(path) {
            next.extend(links(file));
        }
    }
    tree.files
        .iter()
        .filter(|file| file.path.starts_with("docs/") && !reached.contains(&file.path))
        .map(|file| {
            let message = "no link leads to this document".to_owned();
            finding(
                file,
                "dead-document",
                message,
                "link it from README.md or another document",
            )
        })
        .collect()
}

/// What a document points to: `](target)` and `src="target"` from its own directory, and paths that
/// begin with `docs/` from the root.
fn links(file: &File) -> Vec<String> {
    let mut targets = Vec::new();
    for mark in ["](", "src=\"", "srcset=\""] {
        for (at, _) in file.text.match_indices(mark) {
            let target = until(&file.text[at + mark.len()..], &[')', '"', '#', ' ', '\n']);
            targets.push(join(file.folder(), target));
        }
    }
    for (at, _) in file.text.match_indices("docs/") {
        let end = [' ', '\n', '`', ')', '"', '\'', '#', ',', ';', ':', '|'];
        let target = until(&file.text[at..], &end);
        targets.push(target.trim_end_matches('.').to_owned());
    }
    targets
}

fn until<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(|c| ends.contains(&c)).next().unwrap_or_default()
}

/// A fixture is used where a string of a Rust file names it, or its twin of another extension, or
/// its directory in a file that reads directories.
fn unused_fixtures(tree: &Tree) -> Vec<Finding> {
    let is_used = |fixture: &File| {
        tree.rust().any(|(file, rust)| {
            let reads_folders = file.text.contains("read_dir(");
            rust.strings.iter().any(|(_, text)| {
                names_file(text, fixture)
                    || (reads_folders
                        && fixture.folder().ends_with(text.trim_end_matches('/'))
                        && text.contains("fixtures/"))
            })
        })
    };
    tree.files
        .iter()
        .filter(|file| file.path.contains("fixtures/") && file.rust.is_none() && !is_used(file))
        .map(|file| {
            let message = "no test names this fixture".to_owned();
            finding(
                file,
                "dead-fixture",
                message,
                "name it in a test, or remove it",
            )
        })
        .collect()
}

/// Whether `text` is the fixture's name, or a path to it, up to the extension.
fn names_file(text: &str, fixture: &File) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    stem == fixture.stem() && !extension.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], roots: &[&str]) -> Vec<(&'static str, String)> {
        let roots: Vec<String> = roots.iter().copied().map(str::to_owned).collect();
        let findings = check(&Tree::of(files), &roots);
        findings
            .into_iter()
            .map(|finding| (finding.rule, finding.file))
            .collect()
    }

    #[test]
    fn a_source_that_no_mod_leads_to_is_found() {
        let files = [
            ("c/src/lib.rs", "mod a;\npub(crate) mod b;\n// mod lost;"),
            ("c/src/a.rs", "mod deep;"),
            ("c/src/a/deep.rs", ""),
            ("c/src/b/mod.rs", "mod beside;"),
            ("c/src/b/beside.rs", ""),
            ("c/src/lost.rs", "mod also_lost;"),
            ("c/src/lost/also_lost.rs", ""),
        ];
        let expected = ["c/src/lost.rs", "c/src/lost/also_lost.rs"];
        let found = found(&files, &["c/src/lib.rs"]);
        assert_eq!(found, expected.map(|path| ("dead-source", path.to_owned())));
    }

    #[test]
    fn a_path_attribute_leads_to_its_file() {
        let files = [
            (
                "c/examples/e.rs",
                "#[path = \"../tests/it/sample.rs\"]\nmod sample;",
            ),
            ("c/tests/it/sample.rs", ""),
        ];
        assert!(found(&files, &["c/examples/e.rs"]).is_empty());
        assert_eq!(found(&files, &[]).len(), 2);
    }

    #[test]
    fn a_document_is_alive_when_a_chain_of_links_leads_to_it() {
        let files = [
            (
                "README.md",
                "see [the guide](docs/guide.md#start) and `docs/figures.md`.",
            ),
            (
                "docs/guide.md",
                "more in [depth](depth/more.md) <img src=\"a.svg\">",
            ),
            ("docs/depth/more.md", "back to [the guide](../guide.md)"),
            ("docs/a.svg", ""),
            ("docs/figures.md", ""),
            ("docs/forgotten.md", "[the guide](guide.md)"),
        ];
        assert_eq!(
            found(&files, &[]),
            [("dead-document", "docs/forgotten.md".to_owned())]
        );
    }

    #[test]
    fn a_fixture_without_a_test_is_found() {
        let files = [
            (
                "t/main.rs",
                "f(\"v1.sqlite\"); g(\"../fixtures/df.txt\"); // old.txt\nf(\"json\");",
            ),
            ("tests/fixtures/stores/v1.sqlite", ""),
            ("tests/fixtures/stores/v1.json", ""),
            ("tests/fixtures/df.txt", ""),
            ("tests/fixtures/old.txt", ""),
        ];
        assert_eq!(
            found(&files, &["t/main.rs"]),
            [("dead-fixture", "tests/fixtures/old.txt".to_owned())]
        );
    }

    #[test]
    fn a_folder_of_fixtures_is_used_by_a_test_that_reads_the_folder() {
        let fixture = ("tests/fixtures/fio/a.json", "");
        let reader = (
            "t/main.rs",
            "for f in read_dir(\"../tests/fixtures/fio\") {}",
        );
        // The path in the string is from another directory: its tail is compared.
        let reader_below = (
            "t/main.rs",
            "for f in read_dir(root.join(\"fixtures/fio\")) {}",
        );
        assert!(found(&[reader_below, fixture], &["t/main.rs"]).is_empty());
        assert_eq!(found(&[reader, fixture], &["t/main.rs"]).len(), 1);
        let other = ("t/main.rs", "open(\"fixtures/fio\");");
        assert_eq!(found(&[other, fixture], &["t/main.rs"]).len(), 1);
    }

    #[test]
    fn a_large_file_is_found() {
        let large = "x".repeat(1 + FILE_BYTES_MAX as usize);
        let files = [("a.txt", large.as_str()), ("b.txt", "x")];
        assert_eq!(found(&files, &[]), [("large-file", "a.txt".to_owned())]);
    }
}
