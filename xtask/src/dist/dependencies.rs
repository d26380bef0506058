//! The crates that are linked into the binary, from cargo's graph.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand, Node, Package, PackageId, TargetKind};

use crate::program::read;

/// The crate with the binary.
const BINARY: &str = "fslab-cli";

/// A crate in the binary.
#[derive(Debug)]
pub(super) struct Linked {
    pub(super) package: Package,
    /// Those that it uses in turn, as `name@version`.
    pub(super) uses: Vec<String>,
    /// SHA-256 of its archive, from Cargo.lock; `None` for a crate of this workspace.
    pub(super) checksum: Option<String>,
}

impl Linked {
    /// `name@version`.
    pub(super) fn id(&self) -> String {
        id(&self.package)
    }

    /// True for a crate of this workspace.
    pub(super) fn is_ours(&self) -> bool {
        self.package.source.is_none()
    }
}

fn id(package: &Package) -> String {
    format!("{}@{}", package.name, package.version)
}

/// The crates in the binary for `triple`, the binary's own included, sorted by name.
pub(super) fn linked(root: &Path, triple: &str) -> Result<Vec<Linked>, String> {
    let options = ["--locked", "--filter-platform", triple];
    let metadata = MetadataCommand::new()
        .current_dir(root)
        .other_options(options.map(str::to_owned))
        .exec()
        .map_err(|error| format!("cannot ask cargo about dependencies: {error}"))?;
    let resolve = metadata.resolve.ok_or("cargo resolved no dependencies")?;
    let nodes: BTreeMap<&PackageId, &Node> = resolve.nodes.iter().map(|it| (&it.id, it)).collect();
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|it| (&it.id, it)).collect();
    let lock = String::from_utf8_lossy(&read(&root.join("Cargo.lock"))?).into_owned();
    let checksums = checksums(&lock);
    let first = metadata.packages.iter().find(|it| *it.name == *BINARY);
    let mut open = vec![&first.ok_or("there is no package of the binary")?.id];
    let mut seen: BTreeSet<&PackageId> = open.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(at) = open.pop() {
        let (node, package) = (nodes[at], packages[at]);
        let mut uses = Vec::new();
        for used in &node.deps {
            let is_normal = used
                .dep_kinds
                .iter()
                .any(|it| it.kind == DependencyKind::Normal);
            let below = packages[&used.pkg];
            // A macro runs in the compiler.
            if !is_normal || is_macro(below) {
                continue;
            }
            uses.push(id(below));
            if seen.insert(&below.id) {
                open.push(&below.id);
            }
        }
        uses.sort();
        uses.dedup();
        let checksum = checksums.get(&id(package)).cloned();
        if package.source.is_some() && checksum.is_none() {
            return Err(format!("Cargo.lock has no checksum of {}", id(package)));
        }
        let package = package.clone();
        found.push(Linked {
            package,
            uses,
            checksum,
        });
    }
    found.sort_by_key(Linked::id);
    Ok(found)
}

fn is_macro(package: &Package) -> bool {
    let mut targets = package.targets.iter();
    targets.any(|target| target.kind.contains(&TargetKind::ProcMacro))
}

/// The checksums of a Cargo.lock, by `name@version`.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for block in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let begin = format!("{key} = \"");
            let line = block.lines().find_map(|line| line.strip_prefix(&begin))?;
            Some(line.trim_end_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (value("name"), value("version"), value("checksum"))
        {
            found.insert(format!("{name}@{version}"), checksum);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_has_crates_and_neither_macros_nor_tools_of_the_build() {
        let linked = linked(&crate::root(), "x86_64-unknown-linux-gnu").expect("crates");
        let has = |name: &str| linked.iter().any(|it| *it.package.name == *name);
        assert!(has("fslab-cli") && has("clap") && has("rusqlite"));
        for absent in ["serde_derive", "syn", "cc", "jsonschema", "windows-sys"] {
            assert!(!has(absent), "{absent}");
        }
        for it in &linked {
            assert_eq!(it.is_ours(), it.checksum.is_none(), "{}", it.id());
        }
    }

    #[test]
    fn a_checksum_belongs_to_name_and_version() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        let found = checksums(lock);
        assert_eq!(found.len(), 1);
        assert_eq!(found["a@1.0.0"], "ab");
    }
}
