//! The user's kernels on the disk.
//!
//! ```text
//!     FOLDER/kernels/KEY/    linux, kernel.json, config, build.log
//!            names/NAME      a symbolic link to ../kernels/KEY
//!            logs/NAME.log   of the build under way, or of the last one where it failed
//!            building/       of the build under way; what a killed one left, the next removes
//!            build.lock      held by the build under way
//! ```
//!
//! A folder comes to `kernels` whole, by a rename. A kernel that lost its name to a newer one
//! stays, for records name it by its key.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::{Kernel, KernelKey, KernelName, LabError};

/// The cache in one folder.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// What is in a cache.
#[derive(Debug, Default)]
pub struct Shelf {
    /// By name; behind them those without one, the newest first.
    pub kernels: Vec<Kernel>,
    /// Why some cannot be used.
    pub unreadable: Vec<LabError>,
}

impl Cache {
    /// The cache below `folder`, which need not be there yet.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every kernel: once for each of its names, or by its key where it has none.
    ///
    /// # Errors
    /// [`LabError::Io`] where a folder cannot be read.
    pub fn kernels(&self) -> Result<Shelf, LabError> {
        let mut shelf = Shelf::default();
        let mut named = Vec::new();
        for name in entries(&self.names())? {
            if let Some(key) = self.key_of(&name) {
                shelf.put(Kernel::read(&self.kernel_folder(&key), &name));
                named.push(key);
            }
        }
        let mut rest = Shelf::default();
        for text in entries(&self.folder.join("kernels"))? {
            if let Some(key) = text.parse().ok().filter(|key| !named.contains(key)) {
                rest.put(Kernel::read(&self.kernel_folder(&key), &text));
            }
        }
        rest.kernels
            .sort_by_key(|kernel| std::cmp::Reverse(kernel.facts.built_unix_s));
        shelf.kernels.extend(rest.kernels);
        shelf.unreadable.extend(rest.unreadable);
        Ok(shelf)
    }

    /// The kernel with this name or key.
    ///
    /// # Errors
    /// [`LabError::NotBuilt`]; [`LabError::Unreadable`] and [`LabError::Io`] where it is damaged.
    pub fn find(&self, name: &str) -> Result<Kernel, LabError> {
        let by_name = || self.key_of(name.parse::<KernelName>().ok()?.as_str());
        let by_key = || {
            name.parse()
                .ok()
                .filter(|key| self.kernel_folder(key).exists())
        };
        if let Some(key) = by_name().or_else(by_key) {
            return Kernel::read(&self.kernel_folder(&key), name);
        }
        let names = entries(&self.names())?;
        let nearest = fslab_model::nearest_name(name, names.iter().map(String::as_str));
        Err(LabError::NotBuilt {
            name: name.to_owned(),
            nearest: nearest.map(str::to_owned),
        })
    }

    /// Makes the folders.
    pub(crate) fn prepare(&self) -> Result<(), LabError> {
        for folder in ["kernels", "names", "logs"] {
            let folder = self.folder.join(folder);
            fs::create_dir_all(&folder).map_err(LabError::io("make", &folder))?;
        }
        Ok(())
    }

    /// Where a build works: in the cache, so that the result is moved by a rename.
    pub(crate) fn building(&self) -> PathBuf {
        self.folder.join("building")
    }

    /// The log of the build of `name`.
    pub(crate) fn log(&self, name: &KernelName) -> PathBuf {
        self.folder.join("logs").join(format!("{name}.log"))
    }

    /// Takes the finished folder of a kernel, and lets `name` lead to it.
    ///
    /// A kernel of the same key makes room; a process that runs it keeps its open file.
    pub(crate) fn publish(
        &self,
        finished: &Path,
        key: &KernelKey,
        name: &KernelName,
    ) -> Result<Kernel, LabError> {
        let folder = self.kernel_folder(key);
        if folder.exists() {
            let old = self.building().join("replaced");
            fs::rename(&folder, &old).map_err(LabError::io("replace", &folder))?;
        }
        fs::rename(finished, &folder).map_err(LabError::io("make", &folder))?;
        self.point(name, key)
    }

    /// Lets `name` lead to the kernel of `key`, which is there.
    pub(crate) fn point(&self, name: &KernelName, key: &KernelKey) -> Result<Kernel, LabError> {
        let kernel = Kernel::read(&self.kernel_folder(key), name.as_str())?;
        let link = self.names().join(name.as_str());
        // No name begins with a dot.
        let fresh = self.names().join(".new");
        let _ = fs::remove_file(&fresh);
        symlink(Path::new("../kernels").join(key.as_str()), &fresh)
            .and_then(|()| fs::rename(&fresh, &link))
            .map_err(LabError::io("make", &link))?;
        Ok(kernel)
    }

    fn names(&self) -> PathBuf {
        self.folder.join("names")
    }

    fn kernel_folder(&self, key: &KernelKey) -> PathBuf {
        self.folder.join("kernels").join(key.as_str())
    }

    fn key_of(&self, name: &str) -> Option<KernelKey> {
        let target = fs::read_link(self.names().join(name)).ok()?;
        target.file_name()?.to_str()?.parse().ok()
    }
}

impl Shelf {
    fn put(&mut self, found: Result<Kernel, LabError>) {
        match found {
            Ok(kernel) => self.kernels.push(kernel),
            Err(error) => self.unreadable.push(error),
        }
    }
}

/// The names in `folder`, sorted; none where it is not there. What is not UTF-8 is not ours.
fn entries(folder: &Path) -> Result<Vec<String>, LabError> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(LabError::io("read", folder))?,
    };
    let mut names = Vec::new();
    for entry in listed {
        let entry = entry.map_err(LabError::io("read", folder))?;
        names.extend(entry.file_name().into_string());
    }
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KernelFacts;
    use crate::kernel::tests::{facts, place};

    const OLD: &str = "aaaaaaaaaaaa";
    const NEW: &str = "bbbbbbbbbbbb";

    fn publish(cache: &Cache, key: &str, name: &str) -> Kernel {
        cache.prepare().expect("prepared");
        // As a build does: the folder is made apart, and its name is the key only in its place.
        let finished = cache.building().join("finished");
        place(&finished, &facts(key));
        let (key, name) = (key.parse().expect("a key"), name.parse().expect("a name"));
        let kernel = cache.publish(&finished, &key, &name).expect("published");
        fs::remove_dir_all(cache.building()).expect("removed");
        kernel
    }

    fn names(shelf: &Shelf) -> Vec<&str> {
        shelf
            .kernels
            .iter()
            .map(|kernel| kernel.name.as_str())
            .collect()
    }

    #[test]
    fn a_name_leads_to_the_newest_kernel_and_older_ones_are_found_by_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::below(folder.path());
        assert!(cache.kernels().expect("listed").kernels.is_empty());
        publish(&cache, OLD, "default");
        publish(&cache, NEW, "default");
        assert_eq!(
            cache.find("default").expect("found").facts.key.as_str(),
            NEW
        );
        assert_eq!(cache.find(OLD).expect("found").facts.key.as_str(), OLD);
        assert_eq!(names(&cache.kernels().expect("listed")), ["default", OLD]);
    }

    #[test]
    fn one_kernel_may_have_two_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::below(folder.path());
        publish(&cache, OLD, "one");
        let key = OLD.parse().expect("a key");
        cache
            .point(&"two".parse().expect("a name"), &key)
            .expect("pointed");
        assert_eq!(names(&cache.kernels().expect("listed")), ["one", "two"]);
    }

    #[test]
    fn a_kernel_that_is_built_again_replaces_the_one_of_the_same_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::below(folder.path());
        let first = publish(&cache, OLD, "default");
        fs::write(first.binary.with_file_name("mark"), "").expect("written");
        let second = publish(&cache, OLD, "default");
        assert_eq!(first.binary, second.binary);
        assert!(!second.binary.with_file_name("mark").exists());
    }

    #[test]
    fn what_is_not_there_is_told_with_the_nearest_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::below(folder.path());
        publish(&cache, OLD, "patched");
        let missing = cache.find("pathced").expect_err("not there");
        let LabError::NotBuilt { nearest, .. } = missing else {
            panic!("{missing}");
        };
        assert_eq!(nearest.as_deref(), Some("patched"));
        for name in [NEW, "../names/patched", "", ".new"] {
            let missing = cache.find(name);
            assert!(matches!(missing, Err(LabError::NotBuilt { .. })), "{name}");
        }
    }

    #[test]
    fn a_damaged_kernel_does_not_hide_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::below(folder.path());
        let damaged = publish(&cache, OLD, "one");
        publish(&cache, NEW, "two");
        let foreign = KernelFacts {
            binary_bytes: 6,
            ..damaged.facts
        };
        let home = damaged.binary.parent().expect("a folder");
        foreign.write(home).expect("written");
        let shelf = cache.kernels().expect("listed");
        assert_eq!(names(&shelf), ["two"]);
        assert_eq!(shelf.unreadable.len(), 1);
        assert!(matches!(
            cache.find("one"),
            Err(LabError::Unreadable { .. })
        ));
    }
}
