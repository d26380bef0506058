//! Reads disk logs.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fslab_crash::{DiskLog, LogError, LogLimits, LogOutline, read_log, read_outline};
use fslab_model::{Failure, FailureKind};

use crate::exit::CommandError;

/// A log with its data.
pub(crate) fn load(path: &Path) -> Result<DiskLog, CommandError> {
    load_by(path, |file| {
        let file_bytes = file.metadata().map_or(0, |it| it.len());
        let memory = fslab_sys::MachineMemory::now();
        let memory_left_bytes = memory.and_then(|it| it.available_bytes).unwrap_or(u64::MAX);
        let limits = LogLimits::of_file(file_bytes, memory_left_bytes);
        read_log(BufReader::new(file), limits)
    })
}

/// A log without its data: for what asks for requests and times alone.
pub(crate) fn load_outline(path: &Path) -> Result<LogOutline, CommandError> {
    load_by(path, |file| {
        read_outline(BufReader::new(file), LogLimits::default())
    })
}

pub(crate) fn load_by<T>(
    path: &Path,
    read: impl FnOnce(File) -> Result<T, LogError>,
) -> Result<T, CommandError> {
    let what = || format!("cannot open {}", path.display());
    let file = fslab_sys::open_named(path).map_err(|error| CommandError::io(what(), &error))?;
    Ok(read(file).map_err(|error| {
        let text = format!("cannot read {}", path.display());
        let failure = Failure::new(FailureKind::BadInput, text).because(&error);
        failure.hint(match error {
            LogError::TooLarge { .. } => "record fewer phases or less data, for a smaller log",
            _ => "record disk logs with fslab compare ... --venue sim --record-disk DIR",
        })
    })?)
}
