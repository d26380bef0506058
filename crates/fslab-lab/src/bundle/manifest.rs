//! The first member of a bundle: what follows, and by which digests.

use std::collections::BTreeSet;
use std::path::Path;

use fslab_model::WorkloadDefinition;
use serde::{Deserialize, Serialize};

use crate::KernelKey;
use crate::members::Member;

/// Version of the format.
const FORMAT: u32 = 1;
/// Name of the member with the manifest, and its size limit.
pub(super) const MANIFEST: Member<'static> = Member::new("bundle.json", 0o644, 1 << 20);
pub(super) const STUDY: &str = "study.toml";
/// Files beside the study, besides workloads.
const FIXED: [&str; 4] = [STUDY, "claims.toml", "published.csv", "disk.toml"];
const WORKLOADS: &str = "workloads/";
/// The most bytes of a text, and of an input or the image of a layer.
const TEXT_MAX: u64 = 16 << 20;
const IMAGE_MAX: u64 = 4 << 30;
/// The most files, inputs and layers.
const FILES_MAX: usize = 256;
const PARTS_MAX: usize = 64;
/// The longest text of the manifest.
const LENGTH_MAX: usize = 200;

/// What a bundle holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this format: 1.
    pub format: u32,
    /// Version of the fslab that wrote it.
    pub fslab: String,
    /// The study's name.
    pub study: String,
    pub venue: BundleVenue,
    /// Digest of the lab.
    pub lab: KernelKey,
    /// Memory of the guest in bytes; `None` for the study's.
    pub memory_bytes: Option<u64>,
    /// Name of the disk profile; `None` for the study's, or that of `disk.toml`.
    pub disk: Option<String>,
    /// The study and the files beside it.
    pub files: Vec<BundleFile>,
    /// Files that phases name.
    pub inputs: Vec<BundleInput>,
    /// Layers of the guest, the topmost first.
    pub layers: Vec<BundleLayer>,
}

/// A venue with a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BundleVenue {
    /// A guest in real time.
    Guest,
    /// A guest in virtual time.
    Sim,
}

/// A file beside the study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleFile {
    /// `study.toml`, `claims.toml`, `published.csv`, `disk.toml`, or `workloads/NAME.toml`.
    pub name: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

impl BundleFile {
    /// The file `name` with this content.
    pub fn of(name: &str, content: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            sha256: fslab_model::sha256(content),
        }
    }
}

/// A file that a phase names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleInput {
    pub phase: String,
    /// The parameter with its path.
    pub parameter: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// A layer of the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleLayer {
    /// Its name in the plan.
    pub name: String,
    /// SHA-256 of its image.
    pub digest: String,
}

/// A member that the manifest announces: its name, which is its path in the unpacked directory,
/// too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Announced {
    pub(super) name: String,
    pub(super) bytes_max: u64,
    /// SHA-256 of its content; `None` for the description of a layer, which is checked otherwise.
    pub(super) sha256: Option<String>,
}

impl Manifest {
    /// The format that this fslab writes.
    pub fn format() -> u32 {
        FORMAT
    }

    /// Reads and checks the member's content.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let manifest: Self =
            serde_json::from_slice(text).map_err(|error| format!("bundle.json: {error}"))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!(
                "its format is {}, but this fslab reads {FORMAT}",
                self.format
            ));
        }
        let inputs = self.inputs.iter().flat_map(|it| [&it.phase, &it.parameter]);
        let layers = self.layers.iter().map(|it| &it.name);
        let texts = [&self.fslab, &self.study].into_iter().chain(&self.disk);
        let is_plain = |text: &&String| {
            !text.is_empty() && text.len() <= LENGTH_MAX && !text.chars().any(char::is_control)
        };
        if !texts
            .chain(inputs)
            .chain(layers)
            .all(|text| is_plain(&text))
        {
            return Err("a text is empty, too long, or has control characters".to_owned());
        }
        if self.files.len() > FILES_MAX || self.inputs.len().max(self.layers.len()) > PARTS_MAX {
            return Err("it has too many parts".to_owned());
        }
        if self.files.first().is_none_or(|file| file.name != STUDY) {
            return Err("its first file is not a study".to_owned());
        }
        let mut names = BTreeSet::new();
        for file in &self.files {
            if !is_known(&file.name) {
                return Err(format!(
                    "{} is not a file of a study",
                    file.name.escape_debug()
                ));
            }
            if !names.insert(&file.name) {
                return Err(format!("{} occurs twice", file.name));
            }
        }
        let digests = self.files.iter().map(|it| &it.sha256);
        let digests = digests.chain(self.inputs.iter().map(|it| &it.sha256));
        let mut digests = digests.chain(self.layers.iter().map(|it| &it.digest));
        match digests.all(|digest| is_digest(digest)) {
            true => Ok(()),
            false => Err("a digest is not 64 hexadecimal digits".to_owned()),
        }
    }

    /// True if the file is there.
    pub fn has_file(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.name == name)
    }

    /// The members between the manifest and the lab, in order. A part that is named twice is there
    /// once.
    pub(super) fn announced(&self) -> Vec<Announced> {
        let of = |name: String, bytes_max, sha256: Option<&String>| Announced {
            name,
            bytes_max,
            sha256: sha256.cloned(),
        };
        let files = self.files.iter();
        let mut all: Vec<_> = files
            .map(|it| of(it.name.clone(), TEXT_MAX, Some(&it.sha256)))
            .collect();
        let inputs: BTreeSet<&String> = self.inputs.iter().map(|it| &it.sha256).collect();
        let input = |sha256: &String| of(input_name(sha256), IMAGE_MAX, Some(sha256));
        all.extend(inputs.into_iter().map(input));
        let layers: BTreeSet<&String> = self.layers.iter().map(|it| &it.digest).collect();
        for digest in layers {
            let [description, image] = layer_names(digest);
            all.push(of(description, TEXT_MAX, None));
            all.push(of(image, IMAGE_MAX, Some(digest)));
        }
        all
    }
}

/// The member with an input.
pub(super) fn input_name(sha256: &str) -> String {
    format!("inputs/{sha256}")
}

/// The members with a layer: its description and its image.
pub(super) fn layer_names(digest: &str) -> [String; 2] {
    [
        format!("layers/{digest}.json"),
        format!("layers/{digest}.img"),
    ]
}

/// Directories that members lie in.
pub(super) const FOLDERS: [&str; 3] = ["workloads", "inputs", "layers"];

fn is_known(name: &str) -> bool {
    let workload = name
        .strip_prefix(WORKLOADS)
        .and_then(|name| name.strip_suffix(".toml"));
    // A header has room for 99 bytes.
    let is_workload =
        |name: &str| WorkloadDefinition::is_name(name) && Path::new(name).components().count() == 1;
    FIXED.contains(&name) || name.len() < 99 && workload.is_some_and(is_workload)
}

fn is_digest(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 64 && text.bytes().all(is_digit)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::bundle) fn manifest(lab: &str) -> Manifest {
        Manifest {
            format: FORMAT,
            fslab: "0.1.0".to_owned(),
            study: "mine".to_owned(),
            venue: BundleVenue::Sim,
            lab: lab.parse().expect("a digest"),
            memory_bytes: None,
            disk: None,
            files: vec![BundleFile::of(STUDY, b"format = 1\n")],
            inputs: Vec::new(),
            layers: Vec::new(),
        }
    }

    #[track_caller]
    fn refused(change: impl FnOnce(&mut Manifest), what: &str) {
        let mut manifest = manifest("aaaaaaaaaaaa");
        change(&mut manifest);
        let text = serde_json::to_vec(&manifest).expect("JSON");
        let reason = Manifest::read(&text).expect_err("refused");
        assert!(reason.contains(what), "{reason}");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "../study.toml",
            "/etc/passwd",
            "workloads/../x.toml",
            "workloads/a/b.toml",
            "workloads/.toml",
            "inputs/x",
            "lab/lab.json",
        ] {
            let file = BundleFile::of(name, b"");
            refused(|it| it.files.push(file), "is not a file of a study");
        }
        refused(|it| it.files.push(it.files[0].clone()), "twice");
        refused(|it| it.files.clear(), "not a study");
        let input = |sha256: &str| BundleInput {
            phase: "p".to_owned(),
            parameter: "trace".to_owned(),
            sha256: sha256.to_owned(),
        };
        refused(|it| it.inputs.push(input("../x")), "64 hexadecimal digits");
        refused(|it| it.study = "a\u{1b}b".to_owned(), "control characters");
        refused(|it| it.format = 2, "format");
        refused(
            |it| it.inputs = vec![input(&"0".repeat(64)); 65],
            "too many",
        );
    }

    #[test]
    fn a_manifest_reads_back_and_refuses_further_keys() {
        let manifest = manifest("aaaaaaaaaaaa");
        let mut value = serde_json::to_value(&manifest).expect("JSON");
        let text = serde_json::to_vec(&value).expect("JSON");
        assert_eq!(Manifest::read(&text).expect("read"), manifest);
        value["run"] = "/bin/sh".into();
        let text = serde_json::to_vec(&value).expect("JSON");
        assert!(Manifest::read(&text).expect_err("refused").contains("run"));
    }
}
