//! The engine that maps a file and copies records from and to memory.
//!
//! A mapping cannot extend a file, so a file to be written is extended by a hole first, unless its
//! space was preallocated. If a page cannot be stored since the disk is full or fails, SIGBUS ends
//! the process: no call could return an error.

use std::io;
use std::path::Path;

use fslab_sys::{DataFile, FileAdvice, Mapping};

use super::calls::sync_file;
use super::refusals::{refuse_direct, refuse_moving, refuse_open_sync};
use crate::access::Extent;
use crate::drive::{
    DataTarget, DataThread, ReadyWorker, lengthen_file, open_data_file, ready_worker,
};
use crate::engine::{DataEngine, Engine};
use crate::jobs::{Advice, SyncCall};
use crate::{DataJob, EngineError, EngineKind};

pub(crate) const MMAP: Engine = Engine {
    kind: EngineKind::Mmap,
    data: DataEngine {
        keeps_files: true,
        check,
        prepare,
    },
    run_metadata: None,
};

fn check(job: &DataJob) -> Result<(), EngineError> {
    refuse_direct(job, EngineKind::Mmap)?;
    refuse_moving(job, EngineKind::Mmap)?;
    refuse_open_sync(job)
}

fn prepare(of: DataThread<'_>) -> Result<ReadyWorker<'_>, EngineError> {
    ready_worker(of, |path, length| MappedFile::open(path, length, of.job))
}

/// A file and its mapping.
struct MappedFile {
    mapping: Mapping,
    file: DataFile,
}

impl MappedFile {
    fn open(path: &Path, length: u64, job: &DataJob) -> Result<Self, EngineError> {
        let file = open_data_file(path, job, true)?;
        lengthen_file(path, length, job, &file)?;
        let failed = |e: io::Error| EngineError::io("map", path, e);
        let length =
            usize::try_from(length).map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        let mapping = Mapping::new(&file, length, job.writes()).map_err(failed)?;
        // Page faults depend on the advice for the mapping, not for the file.
        let advice = match job.advice {
            Some(Advice::Sequential) => Some(FileAdvice::Sequential),
            Some(Advice::Random) => Some(FileAdvice::Random),
            Some(Advice::WillNeed) => Some(FileAdvice::WillNeed),
            Some(Advice::DontNeed | Advice::NoReuse) | None => None,
        };
        if let Some(advice) = advice {
            mapping
                .advise(advice)
                .map_err(|e| EngineError::io("advise the kernel on", path, e))?;
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
            SyncCall::Fsync | SyncCall::Fdatasync | SyncCall::Barrier | SyncCall::Drive => {
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
