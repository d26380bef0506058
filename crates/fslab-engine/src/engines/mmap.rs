//! The engine that maps a file and copies records from and to memory.
//!
//! A mapping cannot make a file longer, so one that is written is extended by a hole first, unless
//! its space was reserved. A disk that is full, or fails, when a page is stored raises SIGBUS and
//! so ends the process: there is no call that could return an error.

use std::io;

use fslab_sys::{DataFile, FileAdvice, Mapping};

use super::psync::sync_file;
use super::refusals::{refuse_direct, refuse_open_sync};
use crate::access::Extent;
use crate::drive::{
    DataTarget, DataWorker, Staff, absolute, lengthen_file, open_data_file, prepare_files,
    run_data_loop, run_workers,
};
use crate::jobs::{Advice, SyncCall};
use crate::recording::{MonotonicClock, combine};
use crate::registry::Engine;
use crate::{DataJob, EngineError, EngineKind, Measured, RunContext};

pub(crate) const MMAP: Engine = Engine {
    kind: EngineKind::Mmap,
    run_data,
    run_metadata: None,
};

fn run_data(context: &RunContext, job: &DataJob) -> Result<Measured, EngineError> {
    refuse_direct(job, EngineKind::Mmap)?;
    refuse_open_sync(job)?;
    prepare_files(context, job)?;
    let prepare = |thread| {
        let worker = DataWorker::new(context, job, thread, MappedFile::HOLDS_DATA);
        Ok((worker, MappedFile::open(context, job, thread)?))
    };
    let (outcomes, used) = run_workers(
        Staff::for_data(context, job),
        prepare,
        |(worker, file), crew| run_data_loop(worker, file, &MonotonicClock, crew),
    )?;
    Ok(combine(outcomes, used, true))
}

/// A file and its mapping.
struct MappedFile {
    mapping: Mapping,
    file: DataFile,
}

impl MappedFile {
    fn open(context: &RunContext, job: &DataJob, thread: u32) -> Result<Self, EngineError> {
        let path = absolute(context, job, thread);
        let file = open_data_file(&path, job, true)?;
        lengthen_file(&path, job, &file)?;
        let failed = |e: io::Error| EngineError::io("map", &path, e);
        let length = usize::try_from(job.offset_bytes + job.file_bytes)
            .map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        let mapping = Mapping::new(&file, length, job.writes()).map_err(failed)?;
        // Faults are governed by the advice on the mapping, not by that on the file.
        let advice = match job.advice {
            Some(Advice::Sequential) => Some(FileAdvice::Sequential),
            Some(Advice::Random) => Some(FileAdvice::Random),
            Some(Advice::WillNeed) => Some(FileAdvice::WillNeed),
            Some(Advice::DontNeed | Advice::NoReuse) | None => None,
        };
        if let Some(advice) = advice {
            mapping
                .advise(advice)
                .map_err(|e| EngineError::io("advise the kernel on", &path, e))?;
        }
        Ok(Self { mapping, file })
    }
}

impl DataTarget for MappedFile {
    const HOLDS_DATA: bool = true;

    #[inline]
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()> {
        self.mapping.read_at(into, extent.offset as usize);
        Ok(())
    }

    #[inline]
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()> {
        self.mapping.write_at(data, extent.offset as usize);
        Ok(())
    }

    fn sync(&mut self, call: SyncCall) -> io::Result<()> {
        match call {
            SyncCall::Msync => self.mapping.sync(),
            SyncCall::Fsync | SyncCall::Fdatasync => {
                self.mapping.sync()?;
                sync_file(&self.file, call)
            }
            SyncCall::FileRange => sync_file(&self.file, call),
        }
    }

    fn close(self) -> io::Result<()> {
        drop(self.mapping);
        self.file.close()
    }
}
