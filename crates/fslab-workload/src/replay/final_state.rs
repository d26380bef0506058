//! What is left after a replay, compared with what was left after the recording.

use std::fs;
use std::io;
use std::path::Path;

use fslab_engine::EngineError;
use fslab_model::FailureKind;
use fslab_trace::{EntryKind, FinalFile, Trace};

/// Differences that are told.
const TOLD: usize = 3;

/// What the comparison found.
#[derive(Debug, Default)]
pub(super) struct FinalStateDiff {
    names: usize,
    pub(super) differences: Vec<String>,
}

/// Compares every name that the trace used.
pub(super) fn look(base: &Path, trace: &Trace) -> Result<FinalStateDiff, EngineError> {
    let mut aftermath = FinalStateDiff::default();
    for expected in &trace.left {
        aftermath.names += 1;
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
        if found != expected.kind.map(|kind| (kind, expected.bytes)) && !is_odd(expected) {
            aftermath.differences.push(difference(expected, found));
        }
    }
    Ok(aftermath)
}

impl FinalStateDiff {
    pub(super) fn note(&self) -> Option<String> {
        let more = if self.differences.len() > TOLD {
            ", and others"
        } else {
            ""
        };
        let told: Vec<_> = self
            .differences
            .iter()
            .take(TOLD)
            .map(String::as_str)
            .collect();
        (!told.is_empty()).then(|| {
            format!(
                "{} of {} names are not as they were left: {}{more}",
                self.differences.len(),
                self.names,
                told.join(", ")
            )
        })
    }

    /// Fails where more than `percent_max` of the names differ.
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

/// What was neither file nor directory nor link was not made.
fn is_odd(expected: &FinalFile) -> bool {
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
