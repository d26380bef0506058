//! Reads bundles, which are untrusted, and puts their parts into the cache.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::Failure;

use super::manifest::{FOLDERS, MANIFEST, Manifest, STUDY, input_name, layer_names};
use crate::archive::{self, verify_parts};
use crate::assembly_dir::AssemblyDir;
use crate::key::{key_of, sha256_of};
use crate::lock::BuildLock;
use crate::members::{Member, demand_end};
use crate::{Cache, KernelKey, KernelName, LabError};

/// Directory of the cache with the studies of bundles.
const BUNDLES: &str = "bundles";

/// A bundle in the cache: its lab and layers are there under their digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBundle {
    /// Its description.
    pub manifest: Manifest,
    folder: PathBuf,
}

impl TakenBundle {
    /// Path of the study.
    pub fn study(&self) -> PathBuf {
        self.folder.join(STUDY)
    }

    /// Path of the disk profile, if the bundle has one.
    pub fn disk(&self) -> Option<PathBuf> {
        let name = "disk.toml";
        self.manifest.has_file(name).then(|| self.folder.join(name))
    }

    /// Path of the input with this digest.
    pub fn input(&self, sha256: &str) -> PathBuf {
        self.folder.join(input_name(sha256))
    }
}

/// The description of the bundle at `path`; nothing else of it is read.
pub fn read_manifest(path: &Path) -> Result<Manifest, LabError> {
    let mut file = fslab_sys::open_named(path).map_err(LabError::io("read", path))?;
    let text = MANIFEST.read(&mut file, path).map_err(of_bundle(path))?;
    Manifest::read(&text).map_err(|reason| bad(path, &reason))
}

/// The bundle with this description, if all of it is in the cache.
pub fn find_bundle(cache: &Cache, manifest: &Manifest) -> Option<TakenBundle> {
    let folder = cache.folder().join(BUNDLES).join(key(manifest).as_str());
    let has_layer = |digest: &str| cache.layer("", digest).is_ok();
    let is_here = folder.join(STUDY).exists()
        && cache.find_lab(manifest.lab.as_str()).is_ok()
        && manifest.layers.iter().all(|layer| has_layer(&layer.digest));
    is_here.then(|| TakenBundle {
        manifest: manifest.clone(),
        folder,
    })
}

/// The bundle's key: that of its description, which has the digests of all parts.
fn key(manifest: &Manifest) -> KernelKey {
    let text = serde_json::to_vec(manifest).expect("a map with text as keys");
    key_of(&fslab_model::sha256(text))
}

/// Puts the bundle at `path` into the cache.
///
/// # Errors
/// If it is no bundle, or a part does not match its digest. The cache then has no new lab, layer or
/// study.
pub fn take_bundle(cache: &Cache, path: &Path) -> Result<TakenBundle, LabError> {
    let of_bundle = of_bundle(path);
    let mut file = fslab_sys::open_named(path).map_err(LabError::io("read", path))?;
    cache.prepare()?;
    let _lock = BuildLock::take(cache.folder())?;
    let work = AssemblyDir::open(cache.building())?;
    let text = MANIFEST.read(&mut file, path).map_err(&of_bundle)?;
    let manifest = Manifest::read(&text).map_err(|reason| bad(path, &reason))?;
    let fresh = work.make("bundle")?;
    for folder in FOLDERS {
        work.make(&format!("bundle/{folder}"))?;
    }
    for announced in manifest.announced() {
        let member = Member::new(&announced.name, 0o644, announced.bytes_max);
        let to = fresh.join(&announced.name);
        member.unpack(&mut file, path, &to).map_err(&of_bundle)?;
        let found = sha256_of(&to).map_err(LabError::io("read", &to))?;
        if announced.sha256.is_some_and(|sha256| sha256 != found) {
            let reason = format!("{} does not match its digest", announced.name);
            return Err(bad(path, &reason));
        }
    }
    let unpacked = work.make("unpacked")?;
    for member in archive::all_members() {
        if archive::is_of_pc(member) && !archive::describes_pc(&unpacked).map_err(&of_bundle)? {
            continue;
        }
        let name = format!("lab/{}", member.name);
        let to = unpacked.join(archive::file_name(member));
        member
            .named(&name)
            .unpack(&mut file, path, &to)
            .map_err(&of_bundle)?;
    }
    demand_end(&mut file, path).map_err(&of_bundle)?;
    keep(cache, &work, manifest, &fresh).map_err(of_bundle)
}

/// The error of a part of the bundle `path`: what a reader of labs says of an archive is said of
/// the bundle.
fn of_bundle(path: &Path) -> impl Fn(LabError) -> LabError + '_ {
    move |error| match error {
        LabError::BadArchive { reason, .. } | LabError::Unreadable { reason, .. } => {
            bad(path, &reason)
        }
        other => other,
    }
}

fn bad(path: &Path, reason: &str) -> LabError {
    let text = format!("cannot use the bundle {}: {reason}", path.display());
    let failure = Failure::bad_input(text);
    failure
        .hint("create a bundle with fslab bundle STUDY")
        .into()
}

/// Verifies the lab, and moves lab, layers and study to their places.
fn keep(
    cache: &Cache,
    work: &AssemblyDir,
    manifest: Manifest,
    fresh: &Path,
) -> Result<TakenBundle, LabError> {
    let (facts, root) = verify_parts(work, &work.folder().join("unpacked"))?;
    if facts.digest != manifest.lab {
        return Err(LabError::Unreadable {
            path: fresh.to_owned(),
            reason: "its lab is not the one that it names".to_owned(),
        });
    }
    for layer in &manifest.layers {
        let [description, image] = layer_names(&layer.digest).map(|name| fresh.join(name));
        cache.keep_layer(&layer.digest, &image, &description)?;
    }
    let name: KernelName = format!("bundle-{}", facts.digest).parse()?;
    if cache.find_lab(facts.digest.as_str()).is_err() {
        cache.keep_root(&work.folder().join(root.key.as_str()), &root.key)?;
        let lab = work.folder().join(facts.digest.as_str());
        cache.keep_lab(&lab, &facts.digest, &name)?;
    }
    let folder = cache.folder().join(BUNDLES);
    fs::create_dir_all(&folder).map_err(LabError::io("make", &folder))?;
    let place = folder.join(key(&manifest).as_str());
    let _ = fslab_sys::remove_tree(&place);
    fs::rename(fresh, &place).map_err(LabError::io("make", &place))?;
    Ok(TakenBundle {
        manifest,
        folder: place,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fslab_model::{Brings, InputPlace};
    use tempfile::TempDir;

    use super::super::manifest::tests::manifest;
    use super::super::{BundleFile, BundleInput, BundleLayer, BundleParts, write_bundle};
    use super::*;
    use crate::layers::{BaseRoot, LayerRequest, drafts};

    const TEXT: &[u8] = b"format = 1\nname = 'mine'\n";
    const INPUT: &[u8] = b"a trace\n";

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/fixtures")
            .join(name)
    }

    /// A cache with the small lab of version 1 and a layer, and a bundle of both.
    struct TestEnv {
        place: TempDir,
    }

    impl TestEnv {
        fn new() -> Self {
            let env = Self {
                place: tempfile::tempdir().expect("a directory"),
            };
            env.write().expect("written");
            env
        }

        fn write(&self) -> Result<u64, LabError> {
            let output = fslab_sys::AtomicFile::create(&self.file()).expect("a directory");
            write_bundle(&self.parts(), output, &self.file())
        }

        fn parts(&self) -> BundleParts {
            let cache = Cache::below(&self.place.path().join("here"));
            let lab = crate::import_lab(&cache, &fixture("labs/v1.tar"), &KernelName::default());
            let lab = lab.expect("imported");
            let input = self.place.path().join("input");
            fs::write(&input, INPUT).expect("written");
            let sha256 = fslab_model::sha256(INPUT);
            let place = InputPlace::Content {
                sha256: sha256.clone(),
            };
            let request = LayerRequest {
                name: "replay".to_owned(),
                brings: Brings::default().with_file(input.clone(), place),
            };
            let draft = drafts(&[request], &BaseRoot::default())
                .expect("drafts")
                .remove(0);
            let layer = cache.write_layer(&draft).expect("written");
            let files = BTreeMap::from([
                (STUDY.to_owned(), TEXT.to_vec()),
                ("workloads/mine.toml".to_owned(), b"kind = 'io'\n".to_vec()),
            ]);
            let mut manifest = manifest(lab.digest.as_str());
            manifest.files = files
                .iter()
                .map(|(name, text)| BundleFile::of(name, text))
                .collect();
            manifest.inputs = vec![BundleInput {
                phase: "replay".to_owned(),
                parameter: "trace".to_owned(),
                sha256: sha256.clone(),
            }];
            manifest.layers = vec![BundleLayer {
                name: "inputs".to_owned(),
                digest: layer.facts.digest.clone(),
            }];
            BundleParts {
                manifest,
                files,
                inputs: BTreeMap::from([(sha256, input)]),
                layers: vec![layer],
                lab,
            }
        }

        fn file(&self) -> PathBuf {
            self.place.path().join("mine.bundle")
        }

        fn there(&self) -> Cache {
            Cache::below(&self.place.path().join("there"))
        }

        /// Takes a modified bundle, which must be refused; nothing of it stays.
        #[track_caller]
        fn refuse(&self, bytes: &[u8], what: &str) {
            fs::write(self.file(), bytes).expect("written");
            let error = take_bundle(&self.there(), &self.file()).expect_err("refused");
            let text = error.to_string();
            assert!(
                text.starts_with("cannot use the bundle") && text.contains(what),
                "{text}"
            );
            let there = self.there();
            for folder in ["labs", "roots", "names"] {
                let listed = fs::read_dir(there.folder().join(folder)).expect("listed");
                assert_eq!(listed.count(), 0, "{folder}");
            }
            for folder in ["building", "bundles"] {
                assert!(!there.folder().join(folder).exists(), "{folder}");
            }
        }
    }

    fn find(bytes: &[u8], text: &[u8]) -> usize {
        let mut windows = bytes.windows(text.len());
        windows
            .position(|window| window == text)
            .expect("it is there")
    }

    #[test]
    fn a_bundle_gives_another_machine_the_study_its_inputs_its_layers_and_its_lab() {
        let env = TestEnv::new();
        let parts = env.parts();
        let manifest = read_manifest(&env.file()).expect("read");
        assert_eq!(manifest, parts.manifest);
        assert_eq!(find_bundle(&env.there(), &manifest), None);
        let taken = take_bundle(&env.there(), &env.file()).expect("taken");
        assert_eq!(fs::read(taken.study()).expect("read"), TEXT);
        let input = taken.input(&manifest.inputs[0].sha256);
        assert_eq!(fs::read(input).expect("read"), INPUT);
        let lab = env
            .there()
            .find_lab(parts.lab.digest.as_str())
            .expect("found");
        lab.verify().expect("complete");
        let layer = env
            .there()
            .layer("inputs", &manifest.layers[0].digest)
            .expect("found");
        assert_eq!(layer.facts, parts.layers[0].facts);
        assert_eq!(find_bundle(&env.there(), &manifest), Some(taken.clone()));
        let again = take_bundle(&env.there(), &env.file()).expect("taken again");
        assert_eq!(again, taken);
        assert_eq!(taken.disk(), None);
    }

    #[test]
    fn a_bundle_that_was_changed_is_refused_and_nothing_of_it_stays() {
        let env = TestEnv::new();
        let bytes = fs::read(env.file()).expect("read");
        let changed = |at: usize| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            bytes
        };
        env.refuse(&changed(find(&bytes, TEXT)), "study.toml does not match");
        let input = find(&bytes, INPUT);
        env.refuse(&changed(input), "inputs/");
        let image = find(&bytes, b".img\0") + 512;
        env.refuse(&changed(image), ".img does not match");
        let kernel = find(&bytes, b"lab/kernel/linux\0") + 512;
        env.refuse(&changed(kernel), "match the lab's digest");
        env.refuse(&bytes[..bytes.len() - 1500], "cut off");
        env.refuse(&[&bytes[..], &[0]].concat(), "malformed");
        env.refuse(b"", "cut off");
    }

    #[test]
    fn links_other_names_and_parts_out_of_order_are_refused() {
        let env = TestEnv::new();
        let bytes = fs::read(env.file()).expect("read");
        // A symbolic link instead of a file, with a right sum.
        let mut link = bytes.clone();
        let at = find(&link, b"workloads/mine.toml\0");
        link[at + 156] = b'2';
        link[at + 148..at + 156].fill(b' ');
        let sum: u32 = link[at..at + 512].iter().copied().map(u32::from).sum();
        link[at + 148..at + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        env.refuse(&link, "workloads/mine.toml is missing or out of place");
        let mut name = bytes.clone();
        name[at..at + 3].copy_from_slice(b"../");
        env.refuse(&name, "out of place");
        let mut order = bytes.clone();
        order[at..at + 9].copy_from_slice(b"xorkloads");
        env.refuse(&order, "out of place");
    }

    // Bundles are kept with the studies that they repeat: version 1 stays readable. Where the
    // fixture is missing, `UPDATE_DOCS=1` writes it.
    #[test]
    fn a_bundle_of_version_1_is_taken() {
        let env = TestEnv::new();
        let kept = fixture("bundles/v1.bundle");
        if std::env::var_os("UPDATE_DOCS").is_some() && !kept.exists() {
            fs::create_dir_all(kept.parent().expect("a directory")).expect("made");
            fs::copy(env.file(), &kept).expect("kept");
        }
        let taken = take_bundle(&env.there(), &kept).expect("taken");
        assert_eq!(fs::read(taken.study()).expect("read"), TEXT);
        assert_eq!(taken.manifest.layers.len(), 1);
    }
}
