//! A kernel that is there, and its description as it is stored beside it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::recipe::Recipe;
use crate::{KernelKey, LabError, SourceKind, stored};

/// The version of the stored description. Another one is another fslab's.
const VERSION: u32 = 1;

/// The file of the description.
pub(crate) const DESCRIPTION: &str = "kernel.json";

/// The file of the whole configuration.
pub(crate) const CONFIG: &str = "config";

/// The file of the program.
pub(crate) const BINARY: &str = "linux";

/// A kernel in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// A name that leads to it: its key, where it lost its last name to a newer kernel.
    pub name: String,
    /// The program.
    pub binary: PathBuf,
    /// What it is.
    #[serde(flatten)]
    pub facts: KernelFacts,
}

/// What a kernel is, and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// Made of source, configuration and drivers.
    pub key: KernelKey,
    /// Made of configuration and drivers alone.
    pub recipe: KernelKey,
    /// What uname(2) gives in it, such as `6.12.95-fslab`.
    pub release: String,
    /// Where the source came from.
    pub source_kind: SourceKind,
    /// The source as people name it, with its version.
    pub source: String,
    /// Lines of the configuration that the source does not know.
    #[serde(default)]
    pub config_ignored: Vec<String>,
    /// Effects of edits that the source does not have, since its lines are others.
    #[serde(default)]
    pub edits_ignored: Vec<String>,
    /// Patches that the source got.
    #[serde(default)]
    pub patches: Vec<String>,
    /// Whether it has the driver of simulated disks.
    #[serde(default)]
    pub simdisk: bool,
    /// Whether it has the drivers that serve a lab's root image, layers, and what a trial and its
    /// conductor exchange.
    #[serde(default)]
    pub lab_devices: bool,
    /// As it names itself, with its version.
    pub compiler: String,
    /// Size of the program.
    pub binary_bytes: u64,
    /// Files that were compiled, for the progress of the next build.
    pub objects: u32,
    /// When the build ended, in seconds since 1970.
    pub built_unix_s: u64,
    /// How long it took, with all that belongs to it.
    pub build_seconds: u64,
}

impl Kernel {
    /// Its whole configuration, the `.config` of its build.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.binary.with_file_name(CONFIG)
    }

    /// Whether it was built with another configuration or other drivers than this fslab has.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.facts.recipe != Recipe::current().digest()
    }

    /// Copies it into `folder`, below its key: what a lab consists of stays when the kernel is
    /// replaced, and a program with a second name would not be trusted.
    pub(crate) fn copy_into(&self, folder: &Path) -> Result<(), LabError> {
        let place = folder.join(self.facts.key.as_str());
        fs::create_dir(&place).map_err(LabError::io("make", &place))?;
        for name in [BINARY, DESCRIPTION, CONFIG] {
            let (from, to) = (self.binary.with_file_name(name), place.join(name));
            fs::copy(&from, &to).map_err(LabError::io("make", &to))?;
        }
        Ok(())
    }

    /// The kernel in `folder`, under a name that leads to it.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self, LabError> {
        let path = folder.join(DESCRIPTION);
        let unreadable = |reason: &str| LabError::Unreadable {
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let facts: KernelFacts = stored::read(&path, VERSION)?;
        if !folder.ends_with(facts.key.as_str()) {
            return Err(unreadable("its key is not that of its folder"));
        }
        let binary = folder.join(BINARY);
        let found = binary.metadata().map_err(LabError::io("find", &binary))?;
        if found.len() != facts.binary_bytes {
            return Err(unreadable("the program beside it has another size"));
        }
        Ok(Self {
            name: name.to_owned(),
            binary,
            facts,
        })
    }
}

impl KernelFacts {
    /// Writes the description into `folder`.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        stored::write(&folder.join(DESCRIPTION), VERSION, self)
    }
}

/// Where the program stands in the folder of a kernel.
pub(crate) fn binary_in(folder: &Path) -> PathBuf {
    folder.join(BINARY)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A kernel that nobody built.
    pub(crate) fn facts(key: &str) -> KernelFacts {
        KernelFacts {
            key: key.parse().expect("a key"),
            recipe: Recipe::current().digest(),
            release: "6.12.0-fslab".into(),
            source_kind: SourceKind::Debian,
            source: "linux-source-6.12 6.12.0-1".into(),
            config_ignored: Vec::new(),
            edits_ignored: Vec::new(),
            patches: Vec::new(),
            simdisk: true,
            lab_devices: true,
            compiler: "cc 1".into(),
            binary_bytes: 5,
            objects: 7,
            built_unix_s: 1_795_271_525,
            build_seconds: 300,
        }
    }

    /// Puts it on the disk.
    pub(crate) fn place(folder: &Path, facts: &KernelFacts) {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(binary_in(folder), "linux").expect("written");
        facts.write(folder).expect("written");
    }

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let place_of = tempfile::tempdir().expect("a folder");
        let folder = place_of.path().join("0123456789ab");
        let facts = facts("0123456789ab");
        place(&folder, &facts);
        let kernel = Kernel::read(&folder, "default").expect("read");
        assert_eq!((&kernel.facts, kernel.name.as_str()), (&facts, "default"));
        assert!(!kernel.is_stale());
    }

    #[test]
    fn a_kernel_of_another_recipe_is_stale() {
        let place_of = tempfile::tempdir().expect("a folder");
        let folder = place_of.path().join("0123456789ab");
        let recipe = Recipe::of("CONFIG_A=y").digest();
        let facts = KernelFacts {
            recipe,
            ..facts("0123456789ab")
        };
        place(&folder, &facts);
        assert!(Kernel::read(&folder, "default").expect("read").is_stale());
    }

    #[test]
    fn what_is_damaged_or_of_another_version_is_told_and_not_used() {
        let place_of = tempfile::tempdir().expect("a folder");
        let folder = place_of.path().join("0123456789ab");
        let description = folder.join(DESCRIPTION);
        let spoil = |spoil: &dyn Fn()| {
            place(&folder, &facts("0123456789ab"));
            spoil();
            Kernel::read(&folder, "default")
                .expect_err("unreadable")
                .to_string()
        };
        let newer = || fs::write(&description, r#"{"version": 2, "k": 1}"#).expect("written");
        assert!(spoil(&newer).contains("another version"));
        let cut = || fs::write(&description, r#"{"version": 1"#).expect("written");
        assert!(spoil(&cut).contains("EOF"));
        let grown = || fs::write(binary_in(&folder), "linux, longer").expect("written");
        assert!(spoil(&grown).contains("another size"));
        let foreign = || facts("ba9876543210").write(&folder).expect("written");
        assert!(spoil(&foreign).contains("key"));
    }
}
