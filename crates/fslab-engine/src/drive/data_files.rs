//! Prepares the files of a data job before the measurement, and opens them.

use std::ops::Range;
use std::path::Path;

use fslab_model::FailureKind;
use fslab_sys::{DataFile, DataFileOptions, FileAdvice, OpenedSync};

use crate::error::FILE_MISSING;
use crate::jobs::{Advice, DataJob, OpenMode, OpenSync, Preparation};
use crate::{EngineError, RunContext};

/// Creates, truncates and preallocates the files of `threads` as `job` requires.
pub(crate) fn prepare_files(
    context: &RunContext,
    job: &DataJob,
    threads: Range<u32>,
) -> Result<(), EngineError> {
    for thread in job.owners_among(threads) {
        for (index, file) in job.files_of(thread).into_iter().enumerate() {
            prepare_file(&context.root.join(file), job, job.length_of(index))?;
        }
    }
    Ok(())
}

/// Ensures that a file is long enough for a mapping of `end` bytes: a file to be written is
/// extended by a hole; a file to be read must be long enough.
pub(crate) fn lengthen_file(
    path: &Path,
    end: u64,
    job: &DataJob,
    file: &DataFile,
) -> Result<(), EngineError> {
    let length = file
        .length()
        .map_err(|e| EngineError::io("stat", path, e))?;
    if length >= end {
        return Ok(());
    }
    if !job.writes() {
        let short = std::io::ErrorKind::UnexpectedEof.into();
        return Err(EngineError::io("read", path, short));
    }
    file.set_length(end)
        .map_err(|e| EngineError::io("truncate", path, e))
}

fn prepare_file(path: &Path, job: &DataJob, end: u64) -> Result<(), EngineError> {
    let reserves = job.preparation != Preparation::None;
    if job.open == OpenMode::Existing && !reserves {
        return Ok(());
    }
    let options = DataFileOptions {
        write: true,
        create: job.open != OpenMode::Existing,
        truncate: job.open == OpenMode::Replace,
        ..DataFileOptions::default()
    };
    let operation = if job.open == OpenMode::Existing {
        "open"
    } else {
        "create"
    };
    let file = DataFile::open(path, options).map_err(|e| EngineError::io(operation, path, e))?;
    match job.preparation {
        Preparation::None => {}
        Preparation::Truncate => {
            file.set_length(end)
                .map_err(|e| EngineError::io("truncate", path, e))?;
        }
        Preparation::Allocate => {
            file.allocate(end)
                .map_err(|e| EngineError::io("fallocate", path, e))?;
        }
    }
    file.close().map_err(|e| EngineError::io("close", path, e))
}

/// Opens the existing file at `path` with the flags of `job`, and gives the kernel its hint. With
/// `for_mapping` the file is also opened for reading, as mappings require.
pub(crate) fn open_data_file(
    path: &Path,
    job: &DataJob,
    for_mapping: bool,
) -> Result<DataFile, EngineError> {
    let options = DataFileOptions {
        read: job.reads() || for_mapping,
        write: job.writes(),
        direct: job.direct,
        sync: match job.open_sync {
            OpenSync::None => OpenedSync::None,
            OpenSync::Data => OpenedSync::Data,
            OpenSync::Full => OpenedSync::Full,
        },
        ..DataFileOptions::default()
    };
    let file = DataFile::open(path, options).map_err(|source| {
        // Without O_DIRECT support, open(2) returns EINVAL.
        if job.direct && source.kind() == std::io::ErrorKind::InvalidInput {
            EngineError::io("open with O_DIRECT", path, source)
                .of_kind(FailureKind::Unsupported)
                .hint("this file system has no O_DIRECT; leave it out, and the page cache counts")
        } else {
            EngineError::io("open", path, source).hint_if_missing(FILE_MISSING)
        }
    })?;
    if let Some(advice) = job.advice {
        let advice = match advice {
            Advice::Sequential => FileAdvice::Sequential,
            Advice::Random => FileAdvice::Random,
            Advice::WillNeed => FileAdvice::WillNeed,
            Advice::DontNeed => FileAdvice::DontNeed,
            Advice::NoReuse => FileAdvice::NoReuse,
        };
        file.advise(advice)
            .map_err(|e| EngineError::io("advise the kernel on", path, e))?;
    }
    Ok(file)
}
