//! Parameters that several jobs share: sizes, paths, engines.

use std::path::{Component, Path};

use fslab_engine::{EngineKind, FileSizes, ParseEngineError};
use fslab_model::{Bytes, Parameters, TomlError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_path_to_error::Segment;

/// The parameters of a job from a map.
pub fn from_map<T: DeserializeOwned>(map: &Parameters) -> Result<T, TomlError> {
    let value = serde_json::Value::Object(map.clone());
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = segments(error.path());
        TomlError::of_serde(path, &error.into_inner().to_string())
    })
}

/// The keys of a path, each with the indices behind it.
fn segments(path: &serde_path_to_error::Path) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for segment in path {
        match (segment, keys.last_mut()) {
            (Segment::Seq { index }, Some(last)) => last.push_str(&format!("[{index}]")),
            (Segment::Unknown, _) => {}
            (segment, _) => keys.push(segment.to_string()),
        }
    }
    keys
}

/// The parameters of a job as a map.
pub(crate) fn to_map<T: Serialize>(typed: &T) -> Parameters {
    match serde_json::to_value(typed) {
        Ok(serde_json::Value::Object(map)) => map,
        other => unreachable!("parameters are a map: {other:?}"),
    }
}

/// For `skip_serializing_if`, which passes a reference.
pub fn is_true(value: &bool) -> bool {
    *value
}

/// The part of a phase that is run: with two phases, files can be created in one and be cold in the
/// other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhasePart {
    /// Create the files, then run the timed part.
    #[default]
    All,
    /// Only create the files, which is timed.
    Prepare,
    /// Only run the timed part, with the files of an earlier phase of the same parameters.
    Play,
}

/// Upper bound of the space of `files` files: blocks of 4 KiB, and one more each for name and
/// inode.
pub fn tree_footprint(files: u64, file_bytes: u64) -> Bytes {
    let each = file_bytes
        .div_ceil(4096)
        .saturating_add(1)
        .saturating_mul(4096);
    Bytes(files.saturating_mul(each))
}

/// The same for files of many sizes.
pub fn sized_footprint(files: u64, sizes: &FileSizes) -> Bytes {
    match sizes {
        FileSizes::Fixed(bytes) => tree_footprint(files, *bytes),
        // Each file ends in a partial block, and has one more for name and inode.
        sizes => Bytes(
            sizes
                .total_bytes(files)
                .saturating_add(files.saturating_mul(2 * 4096)),
        ),
    }
}

/// Parses the name of an engine.
pub fn parse_engine(name: Option<&str>) -> Result<Option<EngineKind>, String> {
    name.map(|name| {
        name.parse()
            .map_err(|error: ParseEngineError| error.to_string())
    })
    .transpose()
}

/// Limit of a path in a parameter: with a mount point before it and names below it, it stays
/// within PATH_MAX (4096).
const PATH_BYTES_MAX: usize = 2_048;
/// Limit of a name: NAME_MAX of Linux.
const NAME_BYTES_MAX: usize = 255;

/// Requires a relative path below the root of the measured file system.
pub fn ensure_inside(path: &Path) -> Result<(), String> {
    let is_name =
        |part: Component| matches!(part, Component::Normal(name) if name.len() <= NAME_BYTES_MAX);
    let is_inside = path.components().all(is_name) && path.components().next().is_some();
    let is_text = path
        .to_str()
        .is_some_and(|text| text.len() <= PATH_BYTES_MAX && !text.contains(char::is_control));
    if is_inside && is_text {
        return Ok(());
    }
    let shown: String = path
        .to_string_lossy()
        .chars()
        .take(NAME_BYTES_MAX)
        .collect();
    Err(format!(
        "the path '{}'; it must be relative, without '..' and control characters, of at most \
         {PATH_BYTES_MAX} bytes, each name of at most {NAME_BYTES_MAX}",
        shown.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "size")]
        _size: u64,
        #[serde(rename = "inner")]
        _inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "times")]
        _times: u64,
    }

    #[test]
    fn an_error_names_the_parameter_and_what_is_around_it() {
        let error = |text: &str| {
            let map = serde_json::from_str(text).expect("a map");
            from_map::<Outer>(&map).expect_err(text).to_string()
        };
        for (text, beginning) in [
            (r#"{"size": "x"}"#, "size: 'x' instead of an integer"),
            (r#"{"sise": 1}"#, "sise: unknown key"),
            (r#"{"size": 1}"#, "inner: missing"),
            (
                r#"{"size": 1, "inner": [{"times": 1}, {"tims": 1}]}"#,
                "inner[1].tims: unknown key",
            ),
            (
                r#"{"size": 1, "inner": [{"times": -1}]}"#,
                "inner[0].times: -1 instead of an integer, 0 or more",
            ),
        ] {
            assert!(error(text).starts_with(beginning), "{}", error(text));
        }
    }

    #[test]
    fn a_path_is_a_short_text_below_the_root() {
        for good in ["a", "a/b c", "ä/.hidden", "a//b/./c"] {
            assert_eq!(ensure_inside(Path::new(good)), Ok(()), "{good}");
        }
        let long_name = "n".repeat(256);
        let long_path = ["name"; 500].join("/");
        for bad in [
            "",
            ".",
            "..",
            "/",
            "/a",
            "a/../b",
            "./a",
            "a\nb",
            "a\0b",
            "a\u{1b}[2J",
            "a\u{85}b",
            &long_name,
            &long_path,
        ] {
            let problem = ensure_inside(Path::new(bad)).expect_err(bad);
            assert!(!problem.contains(char::is_control), "{problem:?}");
            assert!(problem.len() < 1_000, "{}", problem.len());
        }
    }
}
