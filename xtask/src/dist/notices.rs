//! The licences of everything in the binary: crates with their own licence files, the libraries of
//! the system, Rust's standard library, and the font.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian::{DebianPackage, sources_table};
use super::dependencies::Linked;
use crate::program::{read, text};

/// Begins of the names of licence files.
const NAMES: [&str; 6] = [
    "COPYING",
    "COPYRIGHT",
    "LICENCE",
    "LICENSE",
    "NOTICE",
    "UNLICENSE",
];
/// Where Debian keeps the licences that many packages have.
pub(super) const COMMON: &str = "/usr/share/common-licenses";

/// The name of the file with the copyright of Rust's standard library.
pub(super) const STANDARD_LIBRARY: &str = "RUST-LIBRARY-COPYRIGHT.html";

/// The document; `of_rust` is the name of the file beside it about Rust's standard library.
pub(super) fn write(
    root: &Path,
    linked: &[Linked],
    libraries: &[DebianPackage],
    of_rust: &str,
) -> Result<String, String> {
    let mut document = format!(
        "Licences of what the binary fslab contains.\n\n\
         fslab itself, with the model of the disks that it shares with the guest kernel, is under \
         MIT or Apache-2.0 (LICENSE-MIT, LICENSE-APACHE). SQLite is in the public domain.\n\n\
         1. Libraries of the system, linked statically\n\n{}\n\
         Their sources: `apt-get source PACKAGE=VERSION`. With fslab's sources and `make dist`, \
         the binary can be linked again with another version of them.\n",
        sources_table(libraries)
    );
    for package in libraries {
        let copyright = package.copyright()?;
        document += &titled(&package.name, &String::from_utf8_lossy(&copyright));
    }
    document += "\n2. Rust's standard library, and the font\n";
    document += &format!("\nRust's standard library: see {of_rust} beside this file.\n");
    let font = read(&root.join("crates/fslab-render/fonts/LICENSE-OFL"))?;
    document += &titled("Liberation Sans", &String::from_utf8_lossy(&font));
    document += "\n3. Crates\n";
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in linked.iter().filter(|it| !it.is_ours()) {
        let name = format!("{} ({})", it.id(), licence_of(it)?);
        let found = licence_texts(it)?;
        if found.is_empty() {
            let authors = it.package.authors.join(", ");
            let text = format!("It has no licence file. Authors: {authors}");
            texts.entry(text).or_default().push(name.clone());
        }
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (text, names) in texts {
        document += &titled(&names.join("\n"), &text);
    }
    Ok(document)
}

pub(super) fn titled(title: &str, text: &str) -> String {
    let line = "-".repeat(72);
    format!("\n{line}\n{title}\n{line}\n\n{}\n", text.trim_end())
}

/// The copyright of Rust's standard library and of what it contains, as the compiler brings it.
pub(super) fn of_standard_library() -> Result<Vec<u8>, String> {
    let rust = text(Command::new("rustc").args(["--print", "sysroot"]))?;
    read(&Path::new(&rust).join("share/doc/rust/COPYRIGHT-library.html"))
}

fn licence_of(linked: &Linked) -> Result<&str, String> {
    let licence = linked.package.license.as_deref();
    licence.ok_or_else(|| format!("{} declares no licence", linked.id()))
}

/// The texts of a crate's licence files.
fn licence_texts(linked: &Linked) -> Result<Vec<String>, String> {
    let folder = linked.package.manifest_path.parent();
    let folder = folder.ok_or_else(|| format!("{} has no directory", linked.id()))?;
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("cannot read {folder}: {error}"))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let is_licence = |path: &&PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin))
    };
    let texts = paths.iter().filter(is_licence).map(|path| {
        let text = String::from_utf8_lossy(&read(path)?).replace("\r\n", "\n");
        Ok(text.trim().to_owned())
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_crates_have_a_licence_file_and_all_declare_one() {
        let linked = super::super::dependencies::linked(&crate::root(), "x86_64-unknown-linux-gnu");
        let linked = linked.expect("crates");
        let theirs: Vec<_> = linked.iter().filter(|it| !it.is_ours()).collect();
        let with_text = theirs.iter().filter(|it| {
            licence_of(it).expect("declared");
            !licence_texts(it).expect("read").is_empty()
        });
        let count = with_text.count();
        assert!(count * 10 > theirs.len() * 8, "{count} of {}", theirs.len());
    }
}
