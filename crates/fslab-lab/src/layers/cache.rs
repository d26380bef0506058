//! The cache of layers.
//!
//! ```text
//!     FOLDER/layers/DIGEST/       layer.img, layer.json
//!                   known/KEY     digest of the layer that was written from the draft of that key
//!                   .new-PID/     a layer being written
//! ```
//!
//! `layers` is accessible to its owner alone: an image may contain files that only this user may
//! read. Directories appear complete, by a rename. A draft's key is computed from the names,
//! lengths and times of its files: if the key is known, no file is read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fslab_sys::TrustedFolder;
use serde::{Deserialize, Serialize};

use fslab_model::Failure;

use super::Draft;
use crate::archive::ensure_plain;
use crate::key::sha256_of;
use crate::{Cache, LabError};

const VERSION: u32 = 1;
const IMAGE: &str = "layer.img";
const DESCRIPTION: &str = "layer.json";
const KNOWN: &str = "known";
const UNDER_WAY: &str = ".new-";
const DIGITS: usize = 64;

/// A layer in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Path of the image.
    pub image: PathBuf,
    /// Its description.
    pub facts: LayerFacts,
}

impl Layer {
    /// Path of its description.
    pub(crate) fn description(&self) -> PathBuf {
        self.image.with_file_name(DESCRIPTION)
    }
}

/// The description of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerFacts {
    /// Version of this description.
    pub version: u32,
    /// Its first name: a workload's, `inputs` or `loader`.
    pub name: String,
    /// SHA-256 of the image.
    pub digest: String,
    /// Length of the image.
    pub image_bytes: u64,
    /// The programs it was made for, with their paths on the machine.
    pub programs: BTreeMap<String, PathBuf>,
    /// The packages in it, with their versions.
    pub packages: BTreeMap<String, String>,
    /// Number of regular files.
    pub files: usize,
}

impl Cache {
    /// The layer with this digest.
    pub fn layer(&self, name: &str, digest: &str) -> Result<Layer, LabError> {
        let unknown = || {
            let text = format!("there is no layer {digest} for '{name}'");
            let failure = Failure::missing_tool(text);
            LabError::from(failure.hint("it was removed since; run the same command again"))
        };
        if !is_digest(digest) {
            return Err(unknown());
        }
        let folder = self.layers().join(digest);
        let path = folder.join(DESCRIPTION);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(unknown()),
            text => text.map_err(LabError::io("read", &path))?,
        };
        let facts: Option<LayerFacts> = serde_json::from_slice(&text).ok();
        let image = folder.join(IMAGE);
        let length = image.metadata().map_or(0, |found| found.len());
        facts
            .filter(|it| it.version == VERSION && it.digest == digest && it.image_bytes == length)
            .map(|facts| Layer { image, facts })
            .ok_or_else(unknown)
    }

    /// The layer written from `draft`; `None` if it is not in the cache.
    pub fn written(&self, draft: &Draft) -> Result<Option<Layer>, LabError> {
        let known = self.known(draft);
        match fs::read_to_string(&known) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            digest => {
                let digest = digest.map_err(LabError::io("read", &known))?;
                Ok(self.layer(draft.name(), digest.trim()).ok())
            }
        }
    }

    /// Writes `draft` as a layer, unless that layer exists.
    ///
    /// # Errors
    /// Bad input if a file has changed since the plan was made.
    pub fn write_layer(&self, draft: &Draft) -> Result<Layer, LabError> {
        if let Some(layer) = self.written(draft)? {
            return Ok(layer);
        }
        let folder = self.layers();
        let known = folder.join(KNOWN);
        // A guest executes these files, and some may be private to this user.
        TrustedFolder::open_or_make(&folder).map_err(LabError::io("make", &folder))?;
        fs::create_dir_all(&known).map_err(LabError::io("make", &known))?;
        remove_abandoned(&folder);
        let fresh = folder.join(format!("{UNDER_WAY}{}", std::process::id()));
        fs::create_dir(&fresh).map_err(LabError::io("make", &fresh))?;
        let digest = write(draft, &fresh).and_then(|digest| {
            let place = folder.join(&digest);
            // A damaged layer is replaced; an intact one is identical.
            if self.layer(draft.name(), &digest).is_err() {
                let _ = fslab_sys::remove_tree(&place);
                fs::rename(&fresh, &place).map_err(LabError::io("make", &place))?;
            }
            Ok(digest)
        });
        let _ = fslab_sys::remove_tree(&fresh);
        let digest = digest?;
        let path = self.known(draft);
        fs::write(&path, &digest).map_err(LabError::io("write", &path))?;
        self.layer(draft.name(), &digest)
    }

    /// Keeps the unpacked layer with this digest, an image and its description, which are
    /// untrusted; a layer that is there stays.
    ///
    /// # Errors
    /// [`LabError::Unreadable`] if image or description are those of another layer.
    pub(crate) fn keep_layer(
        &self,
        digest: &str,
        image: &Path,
        description: &Path,
    ) -> Result<(), LabError> {
        let unreadable = |reason: &str| LabError::Unreadable {
            path: description.to_owned(),
            reason: reason.to_owned(),
        };
        if self.layer("", digest).is_ok() {
            return Ok(());
        }
        if sha256_of(image).map_err(LabError::io("read", image))? != digest {
            return Err(unreadable("a layer does not match its digest"));
        }
        ensure_plain(description)?;
        let text = fs::read(description).map_err(LabError::io("read", description))?;
        let facts: Option<LayerFacts> = serde_json::from_slice(&text).ok();
        let length = image.metadata().map_or(0, |found| found.len());
        let is_its = |it: &LayerFacts| {
            it.version == VERSION && it.digest == digest && it.image_bytes == length
        };
        if !facts.is_some_and(|facts| is_its(&facts)) {
            return Err(unreadable("the description of a layer is another's"));
        }
        let folder = self.layers();
        TrustedFolder::open_or_make(&folder).map_err(LabError::io("make", &folder))?;
        let place = folder.join(digest);
        let _ = fslab_sys::remove_tree(&place);
        fs::create_dir(&place).map_err(LabError::io("make", &place))?;
        for (from, name) in [(description, DESCRIPTION), (image, IMAGE)] {
            let to = place.join(name);
            fs::rename(from, &to).map_err(LabError::io("make", &to))?;
        }
        Ok(())
    }

    fn layers(&self) -> PathBuf {
        self.folder().join("layers")
    }

    fn known(&self, draft: &Draft) -> PathBuf {
        self.layers().join(KNOWN).join(draft.contents.key())
    }
}

/// Writes image and description into `folder`; returns the digest.
fn write(draft: &Draft, folder: &Path) -> Result<String, LabError> {
    let path = folder.join(IMAGE);
    let mut out = File::create_new(&path).map_err(LabError::io("make", &path))?;
    let image = draft.contents.tree()?.write(&mut out, &path)?;
    for file in &image.files {
        if let Some((source, sha256)) = draft.expected.get(&file.path)
            && *sha256 != file.sha256
        {
            let reason = "it was changed since the run was planned";
            return Err(LabError::bad_input(source, reason).into());
        }
    }
    out.sync_all().map_err(LabError::io("write", &path))?;
    let facts = LayerFacts {
        version: VERSION,
        name: draft.name.clone(),
        digest: image.sha256.clone(),
        image_bytes: image.bytes,
        programs: draft.programs.clone(),
        packages: draft.packages.clone(),
        files: image.files.len(),
    };
    let path = folder.join(DESCRIPTION);
    let text = serde_json::to_vec_pretty(&facts).expect("a map with text as keys");
    fs::write(&path, text).map_err(LabError::io("write", &path))?;
    Ok(image.sha256)
}

/// Removes directories of killed processes. What cannot be removed is removed by a later call.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(UNDER_WAY));
        let is_abandoned = process.is_some_and(|number| {
            number == std::process::id().to_string() || !Path::new("/proc").join(number).exists()
        });
        if is_abandoned {
            let _ = fslab_sys::remove_tree(&entry.path());
        }
    }
}

fn is_digest(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == DIGITS && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use fslab_model::{Brings, InputPlace};

    use super::*;
    use crate::layers::samples::visible_folder;
    use crate::layers::{BaseRoot, LayerRequest, drafts};

    fn draft_of(path: &Path, place: InputPlace) -> Draft {
        let brings = Brings::default().with_file(path.to_owned(), place);
        let name = "replay".to_owned();
        let mut found = drafts(&[LayerRequest { name, brings }], &BaseRoot::default());
        found.as_mut().expect("drafts").remove(0)
    }

    #[test]
    fn a_layer_is_named_by_its_content_and_written_once() {
        let folder = visible_folder();
        let path = folder.path().join("x");
        fs::write(&path, "content").expect("written");
        let cache = Cache::below(&folder.path().join("cache"));
        let draft = draft_of(&path, InputPlace::SamePath);
        assert_eq!(cache.written(&draft).expect("asked"), None);
        let layer = cache.write_layer(&draft).expect("written");
        assert_eq!(cache.written(&draft).expect("asked"), Some(layer.clone()));
        // The same contents with other times and another inode give the same layer.
        fs::remove_file(&path).expect("removed");
        fs::write(&path, "content").expect("written");
        let again = draft_of(&path, InputPlace::SamePath);
        assert_eq!(cache.written(&again).expect("asked"), None);
        assert_eq!(cache.write_layer(&again).expect("written"), layer);
        fs::write(&path, "content!").expect("written");
        let other = cache.write_layer(&draft_of(&path, InputPlace::SamePath));
        assert_ne!(other.expect("written").facts.digest, layer.facts.digest);
        let found = cache.layer("inputs", &layer.facts.digest).expect("found");
        assert_eq!(found, layer);
    }

    #[test]
    fn a_file_that_changed_after_planning_is_refused_and_nothing_is_left() {
        let folder = visible_folder();
        let path = folder.path().join("x");
        fs::write(&path, "other").expect("written");
        let cache = Cache::below(&folder.path().join("cache"));
        let sha256 = "00".repeat(32);
        let draft = draft_of(&path, InputPlace::Content { sha256 });
        let error = cache.write_layer(&draft).expect_err("was changed");
        assert!(error.to_string().contains("changed since"), "{error}");
        let left = fs::read_dir(cache.layers()).expect("there").count();
        assert_eq!(left, 1, "the directory of what is known");
    }

    #[test]
    fn a_damaged_or_missing_layer_is_not_found() {
        let folder = visible_folder();
        let path = folder.path().join("x");
        fs::write(&path, "content").expect("written");
        let cache = Cache::below(&folder.path().join("cache"));
        let draft = draft_of(&path, InputPlace::SamePath);
        let layer = cache.write_layer(&draft).expect("written");
        fs::write(&layer.image, "").expect("damaged");
        assert!(cache.layer("inputs", &layer.facts.digest).is_err());
        assert_eq!(cache.write_layer(&draft).expect("anew"), layer);
        for bad in ["", "..", "../kernels", &"0".repeat(64)] {
            let missing = cache.layer("inputs", bad).expect_err("unknown");
            assert!(
                missing.to_string().starts_with("there is no layer"),
                "{bad}"
            );
        }
    }
}
