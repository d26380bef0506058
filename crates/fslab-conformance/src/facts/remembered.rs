//! Files whose content says what the probe saw, for the recall after a remount.

use std::fs;
use std::path::Path;

use super::sheet::Sheet;
use crate::failure::ConformanceFailure;

/// Bytes of such a file, so that no answer changes its size.
const LENGTH: usize = 64;

/// Writes `seen`, of at most 64 bytes, to `path` and syncs it.
pub(super) fn remember(
    sheet: &mut Sheet<'_>,
    path: &Path,
    seen: &str,
) -> Result<(), ConformanceFailure> {
    let text = format!("{seen:<LENGTH$}");
    sheet.synced_file(path, text.as_bytes()).map(drop)
}

/// What was seen.
pub(super) fn recalled(sheet: &mut Sheet<'_>, path: &Path) -> Result<String, ConformanceFailure> {
    let text = sheet.checker.must("read", path, fs::read(path))?;
    Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
}
