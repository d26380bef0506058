//! A kernel's modules, by what depmod(8) found: which file provides a name, and what it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::LabError;

/// The modules of one kernel: `lib/modules/RELEASE` after depmod(8).
#[derive(Debug)]
pub(super) struct ModuleTree {
    folder: PathBuf,
    /// By name: the file, then the files that it needs, the last needed first.
    files: BTreeMap<String, Vec<String>>,
    /// Names of modules by the aliases under which the kernel asks for them.
    aliases: BTreeMap<String, String>,
    /// Modules that are loaded before another one, by its name.
    before: BTreeMap<String, Vec<String>>,
    /// Names and aliases of modules that the kernel has built in.
    built_in: BTreeSet<String>,
}

impl ModuleTree {
    /// Reads what depmod(8) has written into `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, LabError> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(LabError::io("read", &path))
        };
        Ok(Self {
            folder: folder.to_owned(),
            files: dependencies(&read("modules.dep")?),
            aliases: words(&read("modules.alias")?, "alias")
                .filter_map(|words| Some((normal(words.first()?), normal(words.get(1)?))))
                .collect(),
            before: words(&read("modules.softdep")?, "softdep")
                .filter_map(|words| Some((normal(words.first()?), pre(&words[1..]))))
                .collect(),
            built_in: read("modules.builtin")?
                .lines()
                .map(name_of)
                // Kernels before 5.2 do not have the list.
                .chain(built_in_aliases(
                    &read("modules.builtin.modinfo").unwrap_or_default(),
                ))
                .collect(),
        })
    }

    /// The path of a module's file on this machine.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The module of the file system `fs_type`: `Some(None)` if it is built in, `None` if the
    /// kernel has none. Some, as that of OpenZFS, have its name and no alias.
    pub(super) fn of_file_system(&self, fs_type: &str) -> Option<Option<&str>> {
        let alias = format!("fs_{}", normal(fs_type));
        if let Some(module) = self.aliases.get(&alias) {
            return Some(Some(module));
        }
        let name = normal(fs_type);
        if self.built_in.contains(&alias) || self.built_in.contains(&name) {
            return Some(None);
        }
        let (module, _) = self.files.get_key_value(&name)?;
        Some(Some(module))
    }

    /// The files of `names` with all that they need, in the order in which they are loaded. Names
    /// that the kernel has built in or lacks are left out.
    pub(super) fn load_order<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut order = Vec::new();
        for name in names {
            self.add(&normal(name), &mut order, &mut BTreeSet::new());
        }
        order
    }

    fn add(&self, name: &str, order: &mut Vec<String>, begun: &mut BTreeSet<String>) {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        if !begun.insert(name.to_owned()) {
            return;
        }
        for needed in self.before.get(name).into_iter().flatten() {
            self.add(needed, order, begun);
        }
        for file in self.files.get(name).into_iter().flatten().rev() {
            if !order.contains(file) {
                order.push(file.clone());
            }
        }
    }
}

/// `a.ko: b.ko c.ko`: by name, the file and what it needs.
fn dependencies(text: &str) -> BTreeMap<String, Vec<String>> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(file, needed)| {
            let needed = needed.split_whitespace().map(str::to_owned);
            (
                name_of(file),
                [file.to_owned()].into_iter().chain(needed).collect(),
            )
        })
        .collect()
}

/// The aliases in `modules.builtin.modinfo`: texts `ext4.alias=fs-ext3`, each ended by a NUL.
fn built_in_aliases(modinfo: &str) -> Vec<String> {
    let each = modinfo.split('\0').filter_map(|text| text.split_once('='));
    let aliases = each.filter(|(key, _)| key.ends_with(".alias"));
    aliases.map(|(_, alias)| normal(alias)).collect()
}

/// The words after the keyword, of each line that begins with it.
fn words<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    text.lines().filter_map(move |line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(keyword)).then(|| words.collect())
    })
}

/// The modules of a line `pre: a b post: c` that are loaded before.
fn pre(words: &[&str]) -> Vec<String> {
    let before = words.iter().skip_while(|word| **word != "pre:").skip(1);
    let before = before.take_while(|word| !word.ends_with(':'));
    before.map(|word| normal(word)).collect()
}

/// `kernel/fs/nls/nls_iso8859-1.ko.xz` has the name `nls_iso8859_1`.
fn name_of(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    normal(name.split(".ko").next().unwrap_or(name))
}

/// Module names have an underscore where files may have a hyphen.
fn normal(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> ModuleTree {
        let folder = tempfile::tempdir().expect("a directory");
        for (name, text) in [
            (
                "modules.dep",
                "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko kernel/fs/jbd2/jbd2.ko\n\
                 kernel/lib/crc16.ko:\nkernel/fs/jbd2/jbd2.ko:\n\
                 kernel/arch/x86/crypto/crc32c-intel.ko:\nkernel/fs/fat/vfat.ko.xz: fat.ko.xz\n\
                 fat.ko.xz:\nupdates/zfs.ko: updates/spl.ko\nupdates/spl.ko:\n",
            ),
            (
                "modules.alias",
                "# comment\nalias fs-ext2 ext4\nalias fs-ext4 ext4\nalias fs-vfat vfat\n\
                 alias crypto-crc32c crc32c_intel\n",
            ),
            (
                "modules.softdep",
                "softdep ext4 pre: crypto-crc32c post: x\n",
            ),
            ("modules.builtin", "kernel/fs/erofs/erofs.ko\n"),
            (
                "modules.builtin.modinfo",
                "erofs.license=GPL\0erofs.alias=fs-erofs\0ext3.alias=fs-ext3\0",
            ),
        ] {
            fs::write(folder.path().join(name), text).expect("written");
        }
        ModuleTree::read(folder.path()).expect("read")
    }

    #[test]
    fn a_module_is_loaded_after_what_it_needs_and_each_once() {
        let order = tree().load_order(["ext4", "fs-ext2", "crc32c-intel", "not-there", "erofs"]);
        assert_eq!(
            order,
            [
                "kernel/arch/x86/crypto/crc32c-intel.ko",
                "kernel/fs/jbd2/jbd2.ko",
                "kernel/lib/crc16.ko",
                "kernel/fs/ext4/ext4.ko",
            ]
        );
        assert_eq!(
            tree().load_order(["vfat"]),
            ["fat.ko.xz", "kernel/fs/fat/vfat.ko.xz"]
        );
    }

    #[test]
    fn a_file_system_is_a_module_is_built_in_or_is_missing() {
        let tree = tree();
        assert_eq!(tree.of_file_system("ext2"), Some(Some("ext4")));
        assert_eq!(tree.of_file_system("erofs"), Some(None));
        assert_eq!(tree.of_file_system("ext3"), Some(None));
        assert_eq!(tree.of_file_system("zfs"), Some(Some("zfs")));
        assert_eq!(tree.of_file_system("jfs"), None);
    }
}
