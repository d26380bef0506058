//! A lab: a guest kernel and a root image, identified by a digest of both.

use std::fs::File;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fslab_model::Failure;

use crate::key::{Fingerprint, key_of, sha256_of};
use crate::root::{Elf, list_version};
use crate::{Kernel, KernelKey, LabError, RootFacts, stored};

/// Version of the stored descriptions of labs and root images.
pub(crate) const VERSION: u32 = 1;

/// File name of a lab's description.
pub(crate) const LAB: &str = "lab.json";
/// File names of a root image and its description.
pub(crate) const ROOT: &str = "root.json";
pub(crate) const IMAGE: &str = "root.img";

/// A lab in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lab {
    /// A name that points to it; its digest, if a newer lab took its last name.
    pub name: String,
    /// Its permanent identity.
    pub digest: KernelKey,
    /// Its kernel.
    pub kernel: Kernel,
    /// Path of its root image.
    pub root_image: PathBuf,
    /// Contents of the root image.
    pub root: RootFacts,
}

/// The stored description of a lab: its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LabFacts {
    pub(crate) digest: KernelKey,
    pub(crate) kernel_key: KernelKey,
    pub(crate) kernel_sha256: String,
    pub(crate) root_key: KernelKey,
    pub(crate) root_sha256: String,
}

impl LabFacts {
    /// Describes a lab of existing parts; reads the complete kernel for its digest.
    pub(crate) fn of(kernel: &Kernel, root: &RootFacts) -> Result<Self, LabError> {
        let kernel_sha256 = kernel.contents_sha256()?;
        Ok(Self {
            digest: digest_of(&kernel_sha256, &root.sha256),
            kernel_key: kernel.facts.key.clone(),
            kernel_sha256,
            root_key: root.key.clone(),
            root_sha256: root.sha256.clone(),
        })
    }

    /// Reads the description in `folder`, which must be named by the digest.
    pub(crate) fn read(folder: &Path) -> Result<Self, LabError> {
        let facts = Self::read_unnamed(folder)?;
        let is_named = folder.ends_with(facts.digest.as_str());
        let reason = "its digest does not match its directory";
        demand(is_named, &folder.join(LAB), reason).map(|()| facts)
    }

    /// Reads the description in `folder`, regardless of the directory's name.
    pub(crate) fn read_unnamed(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join(LAB);
        let facts: Self = stored::read(&path, VERSION)?;
        let is_whole = facts.digest == digest_of(&facts.kernel_sha256, &facts.root_sha256);
        demand(is_whole, &path, "its digest does not match its parts").map(|()| facts)
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
            "its key does not match its image or directory",
        )?;
        let image = folder.join(IMAGE);
        let found = image.metadata().map_err(LabError::io("find", &image))?;
        let is_sized = found.is_file() && found.len() == facts.bytes;
        demand(is_sized, &path, "the image beside it has the wrong size").map(|()| facts)
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        stored::write(&folder.join(ROOT), VERSION, self)
    }

    /// True if this fslab's list of contents is another version.
    pub fn is_stale(&self) -> bool {
        self.list_version != list_version(self.network)
    }
}

impl Lab {
    /// True if this fslab would build another kernel or another root image.
    pub fn is_stale(&self) -> bool {
        self.kernel.is_stale() || self.root.is_stale()
    }

    /// Directory of snapshots of its machines, which is made when it is needed.
    pub fn snapshots(&self) -> PathBuf {
        self.part("snapshots")
    }

    /// Path of the file that an archive calls `name`.
    pub(crate) fn part(&self, name: &str) -> PathBuf {
        let folder = self.kernel.binary.parent().unwrap_or(Path::new("/"));
        match name.split_once('/') {
            Some(("kernel", name)) => folder.join(name),
            Some((_, name)) => self.root_image.with_file_name(name),
            None => folder.with_file_name(name),
        }
    }

    /// Reads kernel and image completely and compares them with the digest.
    ///
    /// # Errors
    /// [`LabError::Unreadable`] if they do not match.
    pub fn verify(&self) -> Result<(), LabError> {
        let path = &self.root_image;
        let image = sha256_of(path).map_err(LabError::io("read", path))?;
        let is_whole = image == self.root.sha256
            && self.digest == digest_of(&self.kernel.contents_sha256()?, &image);
        let reason = "kernel and image do not match its digest";
        demand(is_whole, &self.root_image, reason)
    }

    /// Checks that the lab's C library can run `program`, which is appended to the root image.
    pub fn ensure_runs(&self, program: &Path) -> Result<(), LabError> {
        let cannot = |reason: String| {
            let text = format!(
                "fslab-guest does not run in the lab '{}': {reason}",
                self.name
            );
            LabError::from(Failure::unsupported(text).hint(
                "use a build of fslab for the lab's glibc or an older one, or build a lab on this \
                 machine: fslab lab build --new-root",
            ))
        };
        let Some(elf) = Elf::read(program)? else {
            return Err(cannot("it is not a program for x86-64".to_owned()));
        };
        if elf.loaded_bytes > self.root.program_bytes.into() {
            let text = format!(
                "{} bytes of it are loaded, but the guest's file for it has {}",
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
                "it needs version {}.{} of glibc, but the lab has {}.{}",
                wanted.0, wanted.1, self.root.glibc.0, self.root.glibc.1
            ))),
            _ => Ok(()),
        }
    }
}

/// Writes a root image and its description into `folder`.
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
        list_version: list_version(assembly.network),
        network: assembly.network,
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
