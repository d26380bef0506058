//! `cargo xtask lines`: how many lines of Rust there are outside tests, by crate.
//!
//! Counted are lines that are not blank: code, and comments by themselves. Left out are directories
//! `tests/`, modules behind `#[cfg(test)]` in the same file, and files that are such modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use crate::tidy::{File, RustText, Tree};

/// Lines of code, and lines that are nothing but comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    code: usize,
    comments: usize,
}

/// Prints the lines of the checkout in `root`.
pub(crate) fn run(root: &Path) -> ExitCode {
    let tree = match Tree::of_checkout(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let counted = count(&tree);
    let mut total = Lines::default();
    println!("{:>8} {:>9} {:>8}", "code", "comments", "both");
    for (part, lines) in &counted {
        print_row(*lines, part);
        total.code += lines.code;
        total.comments += lines.comments;
    }
    print_row(total, "all");
    ExitCode::SUCCESS
}

fn print_row(lines: Lines, part: &str) {
    let both = lines.code + lines.comments;
    println!("{:>8} {:>9} {both:>8}  {part}", lines.code, lines.comments);
}

/// The lines of each part of the tree, such as `crates/fslab-sys`.
fn count(tree: &Tree) -> BTreeMap<String, Lines> {
    let modules = test_files(tree);
    let mut counted: BTreeMap<String, Lines> = BTreeMap::new();
    for (file, rust) in tree.rust() {
        let is_test = file.path.split('/').any(|part| part == "tests")
            || modules.iter().any(|module| {
                file.path == format!("{module}.rs") || file.path.starts_with(&format!("{module}/"))
            });
        if !is_test {
            let lines = lines_of(rust);
            let of_part = counted.entry(part(&file.path)).or_default();
            of_part.code += lines.code;
            of_part.comments += lines.comments;
        }
    }
    counted
}

/// `crates/NAME`, or the first directory.
fn part(path: &str) -> String {
    let depth = if path.starts_with("crates/") { 2 } else { 1 };
    let parts: Vec<&str> = path.split('/').take(depth).collect();
    parts.join("/")
}

/// Paths of files that are modules behind `#[cfg(test)]`, without `.rs`.
fn test_files(tree: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (file, rust) in tree.rust() {
        for pair in rust.code.windows(2) {
            let name = pair[1].trim().strip_prefix("mod ");
            let name = name.and_then(|rest| rest.strip_suffix(';'));
            if let Some(name) = name.filter(|_| pair[0].trim() == "#[cfg(test)]") {
                found.insert(format!("{}/{name}", module_folder(file)));
            }
        }
    }
    found
}

/// The directory of a file's submodules.
fn module_folder(file: &File) -> String {
    match file.stem() {
        "mod" | "lib" | "main" => file.folder().to_owned(),
        stem => format!("{}/{stem}", file.folder()),
    }
}

fn lines_of(rust: &RustText) -> Lines {
    let (first, last) = rust.test_module().unwrap_or((usize::MAX, usize::MAX));
    let mut lines = Lines::default();
    for (number, (code, comment)) in (0..).zip(rust.code.iter().zip(&rust.comments)) {
        if (first..=last).contains(&number) {
            continue;
        }
        if !code.trim().is_empty() {
            lines.code += 1;
        } else if !comment.trim().is_empty() {
            lines.comments += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_blank_nor_a_test_is_counted_by_crate() {
        let code = "//! A.\n\nfn a() {} // b\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let module = "#[cfg(test)]\nmod samples;\nmod b;\n";
        let tree = Tree::of(&[
            ("crates/a/src/a.rs", code),
            ("crates/a/src/c/mod.rs", module),
            ("crates/a/src/c/samples.rs", "fn s() {}\n"),
            ("crates/a/tests/it.rs", "fn i() {}\n"),
            ("xtask/src/main.rs", "fn main() {\n}\n"),
        ]);
        let counted = count(&tree);
        let lines = |code, comments| Lines { code, comments };
        assert_eq!(counted["crates/a"], lines(1 + 3, 1));
        assert_eq!(counted["xtask"], lines(2, 0));
        assert_eq!(counted.len(), 2);
    }
}
