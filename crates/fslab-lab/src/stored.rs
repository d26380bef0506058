//! Descriptions in the cache: JSON with a version, which is checked first.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::LabError;

/// Longest description: about 10,000 files of an image take less.
const BYTES_MAX: u64 = 16 << 20;

#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// Reads the description at `path`, which must have `version`.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, version: u32) -> Result<T, LabError> {
    let unreadable = |reason: String| LabError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    let about = path.metadata().map_err(LabError::io("read", path))?;
    if about.len() > BYTES_MAX {
        return Err(unreadable("it is too long for a description".to_owned()));
    }
    let text = fs::read(path).map_err(LabError::io("read", path))?;
    // The version is checked first: another version may have other fields.
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let found = value.get("version").and_then(serde_json::Value::as_u64);
    if found != Some(version.into()) {
        return Err(unreadable("another version of fslab wrote it".to_owned()));
    }
    serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))
}

/// Writes a description to `path`.
pub(crate) fn write<T: Serialize>(path: &Path, version: u32, content: &T) -> Result<(), LabError> {
    let stored = Versioned { version, content };
    let text = serde_json::to_vec_pretty(&stored).map_err(|error| LabError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    fs::write(path, text).map_err(LabError::io("write", path))
}
