//! A kernel in the cache, and its stored description.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::key::{Fingerprint, sha256_of};
use crate::recipe::Recipe;
use crate::{KernelKey, LabError, PcFacts, SourceKind, pc, stored};

/// Version of the stored description; other versions are not read.
const VERSION: u32 = 1;

/// File name of the description.
pub(crate) const DESCRIPTION: &str = "kernel.json";

/// File name of the complete configuration.
pub(crate) const CONFIG: &str = "config";

/// File name of the kernel.
pub(crate) const BINARY: &str = "linux";

/// File names of a PC's initramfs and of the program of its trials.
pub(crate) const INITRAMFS: &str = "initramfs";
pub(crate) const PROGRAM_FILE: &str = "fslab";

/// A kernel in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kernel {
    /// A name that points to it; its key, if a newer kernel took its last name.
    pub name: String,
    /// The kernel's executable.
    pub binary: PathBuf,
    /// Its description.
    #[serde(flatten)]
    pub facts: KernelFacts,
}

/// Description of a kernel and its build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFacts {
    /// Digest of source, configuration and drivers.
    pub key: KernelKey,
    /// Digest of configuration and drivers alone.
    pub recipe: KernelKey,
    /// Its release by uname(2), such as `6.12.95-fslab`.
    pub release: String,
    /// Kind of its source.
    pub source_kind: SourceKind,
    /// Readable description of the source, with its version.
    pub source: String,
    /// Configuration lines that the source does not know.
    #[serde(default)]
    pub config_ignored: Vec<String>,
    /// Effects of edits that did not match the source.
    #[serde(default)]
    pub edits_ignored: Vec<String>,
    /// Patches applied to the source.
    #[serde(default)]
    pub patches: Vec<String>,
    /// Who maintains the drivers of file systems, by their directories below `fs/`: the status in
    /// the source's file MAINTAINERS, or "no entry". Empty without a source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub maintenance: BTreeMap<String, String>,
    /// True if it has the driver of simulated disks.
    #[serde(default)]
    pub simdisk: bool,
    /// True if it has the drivers for a lab's root image, its layers, and the exchange between a
    /// trial and the host.
    #[serde(default)]
    pub lab_devices: bool,
    /// True if the host can fail a flush of the simulated disk.
    #[serde(default)]
    pub flush_errors: bool,
    /// True if it was configured with client and server of network file systems.
    #[serde(default)]
    pub network: bool,
    /// The compiler with its version, as it reports itself.
    pub compiler: String,
    /// Bytes of the kernel's executable.
    pub binary_bytes: u64,
    /// Object files compiled, to estimate the next build.
    pub objects: u32,
    /// End of the build, in seconds since 1970.
    pub built_unix_s: u64,
    /// Duration of the complete build.
    pub build_seconds: u64,
    /// The parts of a simulated PC; `None` for User-Mode Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pc: Option<PcFacts>,
}

impl Kernel {
    /// Path of its `.config`.
    pub fn config(&self) -> PathBuf {
        self.binary.with_file_name(CONFIG)
    }

    /// True if this fslab has another configuration or other drivers.
    pub fn is_stale(&self) -> bool {
        let current = match self.facts.pc {
            None => Recipe::um(self.facts.flush_errors)
                .with_network(self.facts.network)
                .digest(),
            Some(_) => pc::recipe_digest(self.facts.source_kind),
        };
        self.facts.recipe != current
    }

    /// Path of a PC's initramfs.
    pub fn initramfs(&self) -> PathBuf {
        self.binary.with_file_name(INITRAMFS)
    }

    /// Path of the program of a PC's trials, padded to a power of two.
    pub fn program(&self) -> PathBuf {
        self.binary.with_file_name(PROGRAM_FILE)
    }

    /// Identifies its contents: SHA-256 of the executable, or a digest of a PC's three files.
    pub(crate) fn contents_sha256(&self) -> Result<String, LabError> {
        let folder = self.binary.parent().unwrap_or(Path::new("/"));
        contents_sha256_of(folder, self.facts.pc.is_some())
    }

    /// The names of its files in its directory.
    pub(crate) fn file_names(&self) -> &'static [&'static str] {
        match self.facts.pc {
            None => &[BINARY, DESCRIPTION, CONFIG],
            Some(_) => &[BINARY, DESCRIPTION, CONFIG, INITRAMFS, PROGRAM_FILE],
        }
    }

    /// Copies it into `folder`, below its key: a lab's parts stay when the kernel is replaced. A
    /// hard link would not do: a program with two names is not trusted.
    pub(crate) fn copy_into(&self, folder: &Path) -> Result<(), LabError> {
        let place = folder.join(self.facts.key.as_str());
        fs::create_dir(&place).map_err(LabError::io("make", &place))?;
        for name in self.file_names() {
            let (from, to) = (self.binary.with_file_name(name), place.join(name));
            fs::copy(&from, &to).map_err(LabError::io("make", &to))?;
        }
        Ok(())
    }

    /// Reads the kernel in `folder`, under `name`.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self, LabError> {
        let path = folder.join(DESCRIPTION);
        let unreadable = |reason: &str| LabError::Unreadable {
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let facts: KernelFacts = stored::read(&path, VERSION)?;
        if !folder.ends_with(facts.key.as_str()) {
            return Err(unreadable("its key does not match its directory"));
        }
        let binary = folder.join(BINARY);
        let found = binary.metadata().map_err(LabError::io("find", &binary))?;
        if found.len() != facts.binary_bytes {
            return Err(unreadable("the program beside it has the wrong size"));
        }
        Ok(Self {
            name: name.to_owned(),
            binary,
            facts,
        })
    }
}

/// The same of the files in `folder`; a PC's has three.
pub(crate) fn contents_sha256_of(folder: &Path, is_pc: bool) -> Result<String, LabError> {
    let sha256 = |name: &str| {
        let path = folder.join(name);
        sha256_of(&path).map_err(LabError::io("read", &path))
    };
    let kernel = sha256(BINARY)?;
    if !is_pc {
        return Ok(kernel);
    }
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(kernel);
    fingerprint.add(sha256(INITRAMFS)?);
    fingerprint.add(sha256(PROGRAM_FILE)?);
    Ok(fingerprint.finish().as_str().to_owned())
}

impl KernelFacts {
    /// Writes the description into `folder`.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        stored::write(&folder.join(DESCRIPTION), VERSION, self)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Facts of a kernel that was never built.
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
            maintenance: BTreeMap::new(),
            simdisk: true,
            lab_devices: true,
            flush_errors: false,
            network: false,
            compiler: "cc 1".into(),
            binary_bytes: 5,
            objects: 7,
            built_unix_s: 1_795_271_525,
            build_seconds: 300,
            pc: None,
        }
    }

    /// Stores it in `folder`.
    pub(crate) fn place(folder: &Path, facts: &KernelFacts) {
        fs::create_dir_all(folder).expect("a directory");
        fs::write(folder.join(BINARY), "linux").expect("written");
        facts.write(folder).expect("written");
    }

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let place_of = tempfile::tempdir().expect("a directory");
        let folder = place_of.path().join("0123456789ab");
        let facts = facts("0123456789ab");
        place(&folder, &facts);
        let kernel = Kernel::read(&folder, "default").expect("read");
        assert_eq!((&kernel.facts, kernel.name.as_str()), (&facts, "default"));
        assert!(!kernel.is_stale());
    }

    #[test]
    fn a_kernel_of_another_recipe_is_stale() {
        let place_of = tempfile::tempdir().expect("a directory");
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
    fn damaged_or_foreign_descriptions_are_errors() {
        let place_of = tempfile::tempdir().expect("a directory");
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
        let grown = || fs::write(folder.join(BINARY), "linux, longer").expect("written");
        assert!(spoil(&grown).contains("wrong size"));
        let foreign = || facts("ba9876543210").write(&folder).expect("written");
        assert!(spoil(&foreign).contains("key"));
    }
}
