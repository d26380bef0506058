//! Writes bundles: the same parts give the same bytes.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fslab_sys::AtomicFile;

use super::manifest::{MANIFEST, Manifest, input_name, layer_names};
use crate::archive::members_of;
use crate::members::{Member, write_end};
use crate::{Lab, LabError, Layer};

/// Mode of all members but the kernel.
const MODE: u32 = 0o644;

/// What a bundle is written from.
#[derive(Clone, Debug)]
pub struct BundleParts {
    /// Its description.
    pub manifest: Manifest,
    /// The content of each file of the manifest, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Path of each input, by its SHA-256.
    pub inputs: BTreeMap<String, PathBuf>,
    pub layers: Vec<Layer>,
    pub lab: Lab,
}

/// Verifies the lab and writes a bundle to `output`, the file at `path`; returns the bytes written.
///
/// # Errors
/// [`LabError`]; an existing file at the path is unchanged.
pub fn write_bundle(
    parts: &BundleParts,
    mut output: AtomicFile,
    path: &Path,
) -> Result<u64, LabError> {
    parts.lab.verify()?;
    let failed = |error| LabError::io("write", path)(error);
    let mut out = BufWriter::with_capacity(1 << 18, &mut output);
    let mut written = write_texts(parts, &mut out, path)?;
    for announced in parts.manifest.announced() {
        let name = announced.name.as_str();
        if let Some(source) = source_of(parts, name) {
            let member = Member::new(name, MODE, announced.bytes_max);
            written += member.write(&source, &mut out, path)?;
        }
    }
    for member in members_of(parts.lab.kernel.facts.pc.is_some()) {
        let name = format!("lab/{}", member.name);
        let source = parts.lab.part(member.name);
        written += member.named(&name).write(&source, &mut out, path)?;
    }
    written += write_end(&mut out, path)?;
    drop(out);
    output.commit().map_err(failed)?;
    Ok(written)
}

/// Writes the manifest and the files beside the study.
fn write_texts(parts: &BundleParts, out: &mut impl Write, path: &Path) -> Result<u64, LabError> {
    let text = serde_json::to_vec_pretty(&parts.manifest).expect("a map with text as keys");
    let mut written = MANIFEST.write_content(&mut &text[..], text.len() as u64, out, path)?;
    for file in &parts.manifest.files {
        let content = parts.files.get(&file.name).map_or(&[][..], Vec::as_slice);
        let member = Member::new(&file.name, MODE, content.len() as u64);
        written += member.write_content(&mut &*content, content.len() as u64, out, path)?;
    }
    Ok(written)
}

/// The file with the content of an input or of a part of a layer.
fn source_of(parts: &BundleParts, name: &str) -> Option<PathBuf> {
    let inputs = parts.inputs.iter();
    let mut sources = inputs.map(|(sha256, path)| (input_name(sha256), path.clone()));
    let of_input = sources.find(|(known, _)| known == name);
    let of_layers = || {
        parts.layers.iter().find_map(|layer| {
            let [description, image] = layer_names(&layer.facts.digest);
            match name {
                _ if name == image => Some(layer.image.clone()),
                _ if name == description => Some(layer.description()),
                _ => None,
            }
        })
    };
    of_input.map(|(_, path)| path).or_else(of_layers)
}
