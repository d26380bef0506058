//! The user's cache of labs.
//!
//! ```text
//!     FOLDER/kernels/KEY/    linux, kernel.json, config, build.log
//!            roots/KEY/      root.img, root.json
//!            labs/DIGEST/    lab.json, which names a root, and KEY/, a copy of the kernel, which
//!                            stays when a kernel of that key is built again, and snapshots/, of
//!                            machines with the kernel running
//!            names/NAME      symbolic link to ../labs/DIGEST, or to ../kernels/KEY for a kernel
//!                            without a root
//!            logs/NAME.log   of the running build, or of the last one if it failed
//!            building/       of the running build; leftovers are removed by the next
//!            build.lock      locked by the running build
//! ```
//!
//! Directories in `kernels`, `roots` and `labs` appear complete, by a rename. A lab without a name
//! is kept: results refer to it by its digest.

use fslab_sys::os::symlink;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, did_you_mean};

use crate::lab::{IMAGE, LabFacts};
use crate::{Kernel, KernelKey, KernelName, Lab, LabError, RootFacts};

/// The cache in a directory.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

#[derive(Debug, Default)]
pub struct KernelList {
    /// Sorted by name, then kernels without a name, newest first.
    pub kernels: Vec<Kernel>,
    /// Errors of kernels that cannot be used.
    pub unreadable: Vec<Failure>,
}

/// The labs in a cache.
#[derive(Debug, Default)]
pub struct LabList {
    /// Sorted by name, then labs without a name, by digest.
    pub labs: Vec<Lab>,
    /// Names of kernels that have no root image.
    pub without_root: Vec<String>,
    /// Errors of labs that cannot be used.
    pub unreadable: Vec<Failure>,
}

/// Target of a name.
enum Target {
    Kernel(KernelKey),
    Lab(KernelKey),
}

impl Cache {
    /// The cache in `folder`, which need not exist.
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The cache's directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All kernels: once for each name, or once by key if a kernel has no name.
    pub fn kernels(&self) -> Result<KernelList, LabError> {
        let mut list = KernelList::default();
        let mut named: Vec<KernelKey> = Vec::new();
        for name in entries(&self.names())? {
            if let Some(folder) = self.kernel_of(&name) {
                list.put(Kernel::read(&folder, &name));
                let key = folder
                    .file_name()
                    .and_then(|key| key.to_str()?.parse().ok());
                named.extend(key);
            }
        }
        let mut rest = KernelList::default();
        for text in entries(&self.folder.join("kernels"))? {
            if let Some(key) = text.parse().ok().filter(|key| !named.contains(key)) {
                rest.put(Kernel::read(&self.kernel_folder(&key), &text));
            }
        }
        rest.kernels
            .sort_by_key(|kernel| std::cmp::Reverse(kernel.facts.built_unix_s));
        list.kernels.extend(rest.kernels);
        list.unreadable.extend(rest.unreadable);
        Ok(list)
    }

    /// The kernel with this name or key.
    ///
    /// # Errors
    /// [`LabError::NotBuilt`]; [`LabError::Unreadable`] if it is damaged.
    pub fn find(&self, name: &str) -> Result<Kernel, LabError> {
        let by_name = || self.kernel_of(name.parse::<KernelName>().ok()?.as_str());
        let by_key = || Some(self.kernel_folder(&name.parse().ok()?));
        let by_key = || by_key().filter(|folder| folder.exists());
        if let Some(folder) = by_name().or_else(by_key) {
            return Kernel::read(&folder, name);
        }
        Err(self.not_built(name)?)
    }

    fn not_built(&self, name: &str) -> Result<LabError, LabError> {
        let names = entries(&self.names())?;
        let nearest = fslab_model::nearest_name(name, names.iter().map(String::as_str));
        let failure = Failure::missing_tool(format!("there is no lab '{name}'"));
        Ok(LabError::NotBuilt(
            failure.hint(match name {
                "debian" => {
                    "a kernel of Debian is a lab with its version: fslab lab build --kernel \
                         debian:6.1, then ext4@debian-6.1"
                        .to_owned()
                }
                "default" => "build it with fslab lab build, in about 5 minutes".to_owned(),
                _ => not_built_hint(nearest, &names),
            }),
        ))
    }

    /// All labs: once for each name, or once by digest if a lab has no name.
    pub fn labs(&self) -> Result<LabList, LabError> {
        let mut list = LabList::default();
        let mut named = Vec::new();
        for name in entries(&self.names())? {
            match self.target_of(&name) {
                Some(Target::Lab(digest)) => {
                    list.put(self.read_lab(&digest, &name));
                    named.push(digest);
                }
                Some(Target::Kernel(_)) => list.without_root.push(name),
                None => {}
            }
        }
        for text in entries(&self.folder.join("labs"))? {
            if let Some(digest) = text.parse().ok().filter(|it| !named.contains(it)) {
                list.put(self.read_lab(&digest, &text));
            }
        }
        Ok(list)
    }

    /// The lab with this name or digest.
    ///
    /// # Errors
    /// [`LabError::NotBuilt`]; another one if the name points to a kernel without a root image,
    /// from an older fslab; [`LabError::Unreadable`] if it is damaged.
    pub fn find_lab(&self, name: &str) -> Result<Lab, LabError> {
        let by_name = name.parse::<KernelName>().ok();
        match by_name.and_then(|name| self.target_of(name.as_str())) {
            Some(Target::Lab(digest)) => return self.read_lab(&digest, name),
            Some(Target::Kernel(_)) => {
                let failure = Failure::missing_tool(format!("the lab '{name}' has no root image"));
                let hint = "add it with fslab lab build, in a few seconds";
                return Err(failure.hint(hint).into());
            }
            None => {}
        }
        let digest = name.parse().ok();
        match digest.filter(|digest| self.lab_folder(digest).exists()) {
            Some(digest) => self.read_lab(&digest, name),
            None => Err(self.not_built(name)?),
        }
    }

    /// Creates the directories.
    pub(crate) fn prepare(&self) -> Result<(), LabError> {
        for folder in ["kernels", "roots", "labs", "names", "logs"] {
            let folder = self.folder.join(folder);
            fs::create_dir_all(&folder).map_err(LabError::io("make", &folder))?;
        }
        Ok(())
    }

    /// The build directory: inside the cache, so that the result can be renamed into place.
    pub(crate) fn building(&self) -> PathBuf {
        self.folder.join("building")
    }

    /// Path of the build log of `name`.
    pub(crate) fn log(&self, name: &KernelName) -> PathBuf {
        self.folder.join("logs").join(format!("{name}.log"))
    }

    /// Moves the finished directory of a kernel into place and points `name` to it.
    ///
    /// A kernel of the same key is replaced; a process that runs it keeps its open file.
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

    /// Points `name` to the existing kernel of `key`. A name that points to a lab is not changed:
    /// only a complete lab replaces it.
    pub(crate) fn point(&self, name: &KernelName, key: &KernelKey) -> Result<Kernel, LabError> {
        let kernel = Kernel::read(&self.kernel_folder(key), name.as_str())?;
        if !matches!(self.target_of(name.as_str()), Some(Target::Lab(_))) {
            self.link(name, &Path::new("../kernels").join(key.as_str()))?;
        }
        Ok(kernel)
    }

    /// Points `name` to the existing lab of `digest`.
    pub(crate) fn point_to_lab(
        &self,
        name: &KernelName,
        digest: &KernelKey,
    ) -> Result<Lab, LabError> {
        let lab = self.read_lab(digest, name.as_str())?;
        self.link(name, &Path::new("../labs").join(digest.as_str()))?;
        Ok(lab)
    }

    fn link(&self, name: &KernelName, target: &Path) -> Result<(), LabError> {
        let link = self.names().join(name.as_str());
        // No name begins with a dot, so this one is free.
        let fresh = self.names().join(".new");
        let _ = fs::remove_file(&fresh);
        symlink(target, &fresh)
            .and_then(|()| fs::rename(&fresh, &link))
            .map_err(LabError::io("make", &link))
    }

    /// Moves the finished directory of a root image into place, unless an intact one of the same
    /// digest exists.
    pub(crate) fn keep_root(
        &self,
        finished: &Path,
        key: &KernelKey,
    ) -> Result<RootFacts, LabError> {
        let folder = self.root_folder(key);
        self.keep(finished, &folder, RootFacts::read(&folder).is_ok())?;
        RootFacts::read(&folder)
    }

    /// Moves the finished directory of a lab, whose parts are stored, into place and points `name`
    /// to it.
    pub(crate) fn keep_lab(
        &self,
        finished: &Path,
        digest: &KernelKey,
        name: &KernelName,
    ) -> Result<Lab, LabError> {
        let folder = self.lab_folder(digest);
        // Another recipe may lead to the same bytes; the description is then that of the newer one.
        let made = LabFacts::read_unnamed(finished)?;
        let is_there = LabFacts::read(&folder).is_ok_and(|known| known == made);
        self.keep(finished, &folder, is_there)?;
        self.point_to_lab(name, digest)
    }

    fn keep(&self, finished: &Path, folder: &Path, is_there: bool) -> Result<(), LabError> {
        if is_there {
            return Ok(());
        }
        if folder.exists() {
            let name = folder.file_name().unwrap_or_default();
            let old = self.building().join("damaged").join(name);
            fs::create_dir_all(self.building().join("damaged"))
                .and_then(|()| fs::rename(folder, &old))
                .map_err(LabError::io("replace", folder))?;
        }
        fs::rename(finished, folder).map_err(LabError::io("make", folder))
    }

    /// The newest root image made by this fslab's list, with the servers of network file systems or
    /// without; that of `name` first, then of the default lab.
    pub(crate) fn current_root(&self, name: &KernelName, network: bool) -> Option<RootFacts> {
        let is_current = |root: &RootFacts| !root.is_stale() && root.network == network;
        let current = |lab: Lab| Some(lab.root).filter(is_current);
        let of = |name: &str| self.find_lab(name).ok().and_then(current);
        of(name.as_str())
            .or_else(|| of(KernelName::default().as_str()))
            .or_else(|| {
                let keys = entries(&self.folder.join("roots")).unwrap_or_default();
                let keys = keys.iter().filter_map(|text| text.parse().ok());
                let roots = keys.filter_map(|key| RootFacts::read(&self.root_folder(&key)).ok());
                let current = roots.filter(is_current);
                current.max_by_key(|root| root.built_unix_s)
            })
    }

    fn read_lab(&self, digest: &KernelKey, name: &str) -> Result<Lab, LabError> {
        let facts = LabFacts::read(&self.lab_folder(digest))?;
        let root_folder = self.root_folder(&facts.root_key);
        let root = RootFacts::read(&root_folder)?;
        if root.sha256 != facts.root_sha256 {
            return Err(LabError::Unreadable {
                path: root_folder.join(IMAGE),
                reason: "its digest is not the one in the lab".to_owned(),
            });
        }
        Ok(Lab {
            name: name.to_owned(),
            digest: facts.digest,
            kernel: Kernel::read(
                &self.lab_folder(digest).join(facts.kernel_key.as_str()),
                name,
            )?,
            root_image: root_folder.join(IMAGE),
            root,
        })
    }

    fn names(&self) -> PathBuf {
        self.folder.join("names")
    }

    fn kernel_folder(&self, key: &KernelKey) -> PathBuf {
        self.folder.join("kernels").join(key.as_str())
    }

    fn root_folder(&self, key: &KernelKey) -> PathBuf {
        self.folder.join("roots").join(key.as_str())
    }

    fn lab_folder(&self, digest: &KernelKey) -> PathBuf {
        self.folder.join("labs").join(digest.as_str())
    }

    fn target_of(&self, name: &str) -> Option<Target> {
        let target = fs::read_link(self.names().join(name)).ok()?;
        let key = target.file_name()?.to_str()?.parse().ok()?;
        match target.parent()?.file_name()?.to_str()? {
            "kernels" => Some(Target::Kernel(key)),
            "labs" => Some(Target::Lab(key)),
            _ => None,
        }
    }

    /// Directory of the kernel that a name points to, directly or through a lab.
    fn kernel_of(&self, name: &str) -> Option<PathBuf> {
        match self.target_of(name)? {
            Target::Kernel(key) => Some(self.kernel_folder(&key)),
            Target::Lab(digest) => {
                let folder = self.lab_folder(&digest);
                let facts = LabFacts::read(&folder).ok()?;
                Some(folder.join(facts.kernel_key.as_str()))
            }
        }
    }
}

impl LabList {
    fn put(&mut self, found: Result<Lab, LabError>) {
        match found {
            Ok(lab) => self.labs.push(lab),
            Err(error) => self.unreadable.push(error.into()),
        }
    }
}

impl KernelList {
    fn put(&mut self, found: Result<Kernel, LabError>) {
        match found {
            Ok(kernel) => self.kernels.push(kernel),
            Err(error) => self.unreadable.push(error.into()),
        }
    }
}

fn not_built_hint(nearest: Option<&str>, known: &[String]) -> String {
    let nearest = nearest.map_or_else(String::new, |name| did_you_mean(name) + " ");
    let known = match known {
        [] => "there is no lab yet".to_owned(),
        [one] => format!("the only lab is '{one}'"),
        several => format!("the labs are {}", several.join(", ")),
    };
    format!(
        "{nearest}{known}; build one from a kernel tree with fslab lab build --name NAME --source \
         TREE"
    )
}

/// The sorted names in `folder`; empty if it does not exist. Names that are not UTF-8 are not
/// fslab's.
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
        // As in a build: the directory has another name until it is moved into place.
        let finished = cache.building().join("finished");
        place(&finished, &facts(key));
        let (key, name) = (key.parse().expect("a key"), name.parse().expect("a name"));
        let kernel = cache.publish(&finished, &key, &name).expect("published");
        fs::remove_dir_all(cache.building()).expect("removed");
        kernel
    }

    fn names(list: &KernelList) -> Vec<&str> {
        list.kernels
            .iter()
            .map(|kernel| kernel.name.as_str())
            .collect()
    }

    #[test]
    fn a_name_points_to_the_newest_kernel_and_older_ones_are_found_by_key() {
        let folder = tempfile::tempdir().expect("a directory");
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
        let folder = tempfile::tempdir().expect("a directory");
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
        let folder = tempfile::tempdir().expect("a directory");
        let cache = Cache::below(folder.path());
        let first = publish(&cache, OLD, "default");
        fs::write(first.binary.with_file_name("mark"), "").expect("written");
        let second = publish(&cache, OLD, "default");
        assert_eq!(first.binary, second.binary);
        assert!(!second.binary.with_file_name("mark").exists());
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest_one() {
        let folder = tempfile::tempdir().expect("a directory");
        let cache = Cache::below(folder.path());
        publish(&cache, OLD, "patched");
        let missing = cache.find("pathced").expect_err("not there");
        let hint = Failure::from(missing).hint.expect("a hint");
        assert!(
            hint.starts_with("did you mean 'patched'? the only lab is 'patched'; build one"),
            "{hint}"
        );
        let hint = not_built_hint(None, &["default".to_owned(), "patched".to_owned()]);
        assert!(
            hint.starts_with("the labs are default, patched; "),
            "{hint}"
        );
        for name in [NEW, "../names/patched", "", ".new"] {
            let missing = cache.find(name);
            assert!(matches!(missing, Err(LabError::NotBuilt { .. })), "{name}");
        }
    }

    #[test]
    fn a_damaged_kernel_does_not_hide_the_others() {
        let folder = tempfile::tempdir().expect("a directory");
        let cache = Cache::below(folder.path());
        let damaged = publish(&cache, OLD, "one");
        publish(&cache, NEW, "two");
        let foreign = KernelFacts {
            binary_bytes: 6,
            ..damaged.facts
        };
        let home = damaged.binary.parent().expect("a directory");
        foreign.write(home).expect("written");
        let list = cache.kernels().expect("listed");
        assert_eq!(names(&list), ["two"]);
        assert_eq!(list.unreadable.len(), 1);
        assert!(matches!(
            cache.find("one"),
            Err(LabError::Unreadable { .. })
        ));
    }
}
