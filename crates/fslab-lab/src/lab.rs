//! A lab: a guest kernel and a root image, named by what both consist of.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::key::{Fingerprint, key_of, sha256_of};
use crate::root::{Elf, LIST_VERSION};
use crate::{Kernel, KernelKey, LabError, RootFacts, stored};

/// The version of the stored descriptions of labs and roots.
pub(crate) const VERSION: u32 = 1;

/// The file of a lab's description.
pub(crate) const LAB: &str = "lab.json";
/// The file of a root's description, and its image.
pub(crate) const ROOT: &str = "root.json";
pub(crate) const IMAGE: &str = "root.img";

/// A lab in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lab {
    /// A name that leads to it: its digest, where it lost its last name to a newer lab.
    pub name: String,
    /// What names it for good.
    pub digest: KernelKey,
    /// The kernel.
    pub kernel: Kernel,
    /// The root image.
    pub root_image: PathBuf,
    /// What is in the image.
    pub root: RootFacts,
}

/// Which parts make a lab, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LabFacts {
    pub(crate) digest: KernelKey,
    pub(crate) kernel_key: KernelKey,
    pub(crate) kernel_sha256: String,
    pub(crate) root_key: KernelKey,
    pub(crate) root_sha256: String,
}

impl LabFacts {
    /// Of parts that are there: the kernel is read as a whole.
    pub(crate) fn of(kernel: &Kernel, root: &RootFacts) -> Result<Self, LabError> {
        let binary = &kernel.binary;
        let kernel_sha256 = sha256_of(binary).map_err(LabError::io("read", binary))?;
        Ok(Self {
            digest: digest_of(&kernel_sha256, &root.sha256),
            kernel_key: kernel.facts.key.clone(),
            kernel_sha256,
            root_key: root.key.clone(),
            root_sha256: root.sha256.clone(),
        })
    }

    /// The one in `folder`, which has its digest for a name.
    pub(crate) fn read(folder: &Path) -> Result<Self, LabError> {
        let facts = Self::read_loose(folder)?;
        let is_named = folder.ends_with(facts.digest.as_str());
        let reason = "its digest is not that of its folder";
        demand(is_named, &folder.join(LAB), reason).map(|()| facts)
    }

    /// The one in `folder`, whatever it is called.
    pub(crate) fn read_loose(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join(LAB);
        let facts: Self = stored::read(&path, VERSION)?;
        let is_whole = facts.digest == digest_of(&facts.kernel_sha256, &facts.root_sha256);
        demand(is_whole, &path, "its digest is not that of its parts").map(|()| facts)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        stored::write(&folder.join(LAB), VERSION, self)
    }
}

impl RootFacts {
    pub(crate) fn read(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join(ROOT);
        let facts: Self = stored::read(&path, VERSION)?;
        let is_named =
            folder.ends_with(facts.key.as_str()) && facts.sha256.starts_with(facts.key.as_str());
        demand(
            is_named,
            &path,
            "its key is not that of its image or of its folder",
        )?;
        let image = folder.join(IMAGE);
        let found = image.metadata().map_err(LabError::io("find", &image))?;
        let is_sized = found.is_file() && found.len() == facts.bytes;
        demand(is_sized, &path, "the image beside it has another size").map(|()| facts)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        stored::write(&folder.join(ROOT), VERSION, self)
    }

    /// Whether this fslab would put other things into it.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.list_version != LIST_VERSION
    }
}

impl Lab {
    /// Whether this fslab would build another kernel or another root.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.kernel.is_stale() || self.root.is_stale()
    }

    /// The file that an archive calls `name`.
    pub(crate) fn part(&self, name: &str) -> PathBuf {
        let folder = self.kernel.binary.parent().unwrap_or(Path::new("/"));
        match name.split_once('/') {
            Some(("kernel", name)) => folder.join(name),
            Some((_, name)) => self.root_image.with_file_name(name),
            None => folder.with_file_name(name),
        }
    }

    /// Reads kernel and image as a whole, and compares them with the digest.
    ///
    /// # Errors
    /// [`LabError::Unreadable`] where they are other ones; [`LabError::Io`].
    pub fn verify(&self) -> Result<(), LabError> {
        let sha256 = |path: &Path| sha256_of(path).map_err(LabError::io("read", path));
        let image = sha256(&self.root_image)?;
        let is_whole = image == self.root.sha256
            && self.digest == digest_of(&sha256(&self.kernel.binary)?, &image);
        let reason = "kernel and image are not those of its digest";
        demand(is_whole, &self.root_image, reason)
    }

    /// Demands that its C library starts `program`, which is appended to the root.
    ///
    /// # Errors
    /// [`LabError::CannotRun`]; [`LabError::Io`].
    pub fn ensure_runs(&self, program: &Path) -> Result<(), LabError> {
        let cannot = |reason: String| LabError::CannotRun {
            lab: self.name.clone(),
            reason,
        };
        let Some(elf) = Elf::read(program)? else {
            return Err(cannot("it is no program for x86-64".to_owned()));
        };
        if elf.loaded_bytes > self.root.program_bytes.into() {
            let text = format!(
                "{} bytes of it are loaded, and the guest's file for it has {}",
                elf.loaded_bytes, self.root.program_bytes
            );
            return Err(cannot(text));
        }
        let has = |name: &String| self.root.files.iter().any(|file| file.path.ends_with(name));
        if let Some(name) = elf.needed.iter().find(|name| !has(name)) {
            return Err(cannot(format!("the lab has no {name}")));
        }
        match elf.glibc {
            Some(wanted) if wanted > self.root.glibc => Err(cannot(format!(
                "it demands version {}.{} of glibc, and the lab has {}.{}",
                wanted.0, wanted.1, self.root.glibc.0, self.root.glibc.1
            ))),
            _ => Ok(()),
        }
    }
}

/// Builds the image of a root in `folder`, with its description.
pub(crate) fn write_root(
    folder: &Path,
    assembly: crate::root::Assembly,
    built_unix_s: u64,
) -> Result<RootFacts, LabError> {
    let path = folder.join(IMAGE);
    let mut file = File::create_new(&path).map_err(LabError::io("make", &path))?;
    let image = assembly.tree.write(&mut file, &path)?;
    file.sync_all().map_err(LabError::io("write", &path))?;
    let facts = RootFacts {
        key: key_of(&image.sha256),
        sha256: image.sha256,
        bytes: image.bytes,
        list_version: LIST_VERSION,
        program_bytes: crate::root::PROGRAM_BYTES,
        glibc: assembly.glibc,
        programs: assembly.programs,
        missing: assembly.missing,
        files: image.files,
        built_unix_s,
    };
    facts.write(folder)?;
    Ok(facts)
}

fn digest_of(kernel_sha256: &str, root_sha256: &str) -> KernelKey {
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(kernel_sha256);
    fingerprint.add(root_sha256);
    fingerprint.finish()
}

fn demand(is_so: bool, path: &Path, reason: &str) -> Result<(), LabError> {
    if is_so {
        return Ok(());
    }
    Err(LabError::Unreadable {
        path: path.to_owned(),
        reason: reason.to_owned(),
    })
}
