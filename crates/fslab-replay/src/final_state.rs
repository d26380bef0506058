//! Compares the files after a replay with the final files of the trace.

use std::fs;
use std::io;
use std::path::Path;

use fslab_engine::EngineError;
use fslab_model::FailureKind;
use fslab_trace::{EntryKind, FinalFile, Trace};

/// Differences in a note.
const LISTED_MAX: usize = 3;

/// Result of the comparison.
#[derive(Debug, Default)]
pub(super) struct FinalStateDiff {
    names: usize,
    pub(super) differences: Vec<String>,
}

/// Compares every path that the trace used.
pub(super) fn compare(base: &Path, trace: &Trace) -> Result<FinalStateDiff, EngineError> {
    let mut diff = FinalStateDiff::default();
    for expected in &trace.final_files {
        diff.names += 1;
        let at = base.join(expected.path.as_path());
        let found = match fs::symlink_metadata(&at) {
            Ok(metadata) => Some(metadata),
            Err(error) if is_absence(&error) => None,
            Err(error) => return Err(EngineError::io("stat", &at, error)),
        };
        let found = found.map(|metadata| {
            let kind = kind(metadata.file_type());
            let bytes = if kind == EntryKind::File {
                metadata.len()
            } else {
                0
            };
            (kind, bytes)
        });
        if found != expected.kind.map(|kind| (kind, expected.bytes)) && !is_special_file(expected) {
            diff.differences.push(difference(expected, found));
        }
    }
    Ok(diff)
}

impl FinalStateDiff {
    pub(super) fn note(&self) -> Option<String> {
        let more = if self.differences.len() > LISTED_MAX {
            ", and others"
        } else {
            ""
        };
        let listed: Vec<_> = self
            .differences
            .iter()
            .take(LISTED_MAX)
            .map(String::as_str)
            .collect();
        (!listed.is_empty()).then(|| {
            format!(
                "{} of {} names are not as they were left: {}{more}",
                self.differences.len(),
                self.names,
                listed.join(", ")
            )
        })
    }

    /// Fails if more than `percent_max` percent of the names differ.
    pub(super) fn demand(&self, percent_max: f64, base: &Path) -> Result<(), EngineError> {
        let percent = self.differences.len() as f64 * 100.0 / self.names.max(1) as f64;
        if percent <= percent_max {
            return Ok(());
        }
        let text = self.note().unwrap_or_default();
        Err(
            EngineError::corrupt(base, format!("not become what the trace left: {text}"))
                .of_kind(FailureKind::Check)
                .hint("check = false leaves the comparison out"),
        )
    }
}

/// True for pipes, sockets and devices, which a replay does not create.
fn is_special_file(expected: &FinalFile) -> bool {
    expected.kind == Some(EntryKind::Other)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn kind(file_type: fs::FileType) -> EntryKind {
    if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_symlink() {
        EntryKind::Symlink
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

fn difference(expected: &FinalFile, found: Option<(EntryKind, u64)>) -> String {
    let text = |what: Option<(EntryKind, u64)>| match what {
        None => "missing".to_owned(),
        Some((EntryKind::File, bytes)) => format!("{bytes} bytes"),
        Some((EntryKind::Directory, _)) => "a directory".to_owned(),
        Some((EntryKind::Symlink, _)) => "a symbolic link".to_owned(),
        Some((EntryKind::Other, _)) => "something else".to_owned(),
    };
    let then = expected.kind.map(|kind| (kind, expected.bytes));
    format!(
        "{} was {} and is {}",
        expected.path,
        text(then),
        text(found)
    )
}
