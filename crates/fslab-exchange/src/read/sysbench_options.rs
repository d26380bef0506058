//! The options of `sysbench fileio`, as far as it prints them. Rounded sizes are not known.

use serde_json::Value;

use super::unit_bytes::unit_bytes;
use crate::reading::number;

/// The parameter that a line states.
pub(super) fn parameter(line: &str) -> Option<(&'static str, Value)> {
    let after = |begin: &str| line.strip_prefix(begin).map(str::trim);
    if let Some(threads) = after("Number of threads: ") {
        return Some(("threads", threads.parse::<u32>().ok()?.into()));
    }
    if let Some(flags) = after("Extra file open flags: ") {
        let flags = flags.trim_matches(['(', ')']);
        return Some(("open_flags", flags.into()));
    }
    if let Some(size) = after("Block size ") {
        return Some(("block_size", bytes(size)?.into()));
    }
    if let Some(count) = after("Number of IO requests: ") {
        let count = count.parse::<u32>().ok().filter(|count| *count > 0)?;
        return Some(("requests", count.into()));
    }
    if let Some(ratio) = after("Read/Write ratio for combined random IO test: ") {
        return Some(("read_write_ratio", number(ratio)?.into()));
    }
    if let Some(rest) = after("Periodic FSYNC enabled, calling fsync() each ") {
        let every = rest.strip_suffix(" requests.")?.parse::<u32>().ok()?;
        return Some(("fsync_every", every.into()));
    }
    if line == "Calling fsync() at the end of test, Enabled." {
        return Some(("fsync_at_end", true.into()));
    }
    if line == "Calling fsync() after each write operation." {
        return Some(("fsync_every_write", true.into()));
    }
    if let Some(mode) = after("Using ").and_then(|rest| rest.strip_suffix(" I/O mode")) {
        return Some(("io_mode", mode.into()));
    }
    let (count, rest) = line.split_once(" files, ")?;
    rest.ends_with(" each").then_some(())?;
    Some(("files", count.parse::<u32>().ok()?.into()))
}

/// `4 files, 16MiB each`: the size of each file.
pub(super) fn file_size(line: &str) -> Option<(&'static str, Value)> {
    let (_, rest) = line.split_once(" files, ")?;
    Some(("file_size", bytes(rest.strip_suffix(" each")?)?.into()))
}

/// `16MiB`; `None` for rounded sizes, for example `15.977MiB`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    unit_bytes(digits, &text[digits.len()..], units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_size_is_not_known() {
        let line = "3 files, 341.33MiB each";
        assert_eq!(parameter(line), Some(("files", 3.into())));
        assert_eq!(file_size(line), None);
        let line = "128 files, 16MiB each";
        assert_eq!(file_size(line), Some(("file_size", (16 << 20).into())));
    }
}
