//! The engine that issues one system call after the other and waits for each.

use std::io;

use fslab_sys::DataFile;

use super::names::run_metadata;
use super::refusals::refuse_msync;
use crate::access::Extent;
use crate::drive::{
    DataTarget, DataWorker, Staff, absolute, open_data_file, prepare_files, run_data_loop,
    run_workers,
};
use crate::jobs::SyncCall;
use crate::recording::{MonotonicClock, combine};
use crate::registry::Engine;
use crate::{DataJob, EngineError, EngineKind, Measured, RunContext};

pub(crate) const PSYNC: Engine = Engine {
    kind: EngineKind::Psync,
    run_data,
    run_metadata: Some(run_metadata),
};

fn run_data(context: &RunContext, job: &DataJob) -> Result<Measured, EngineError> {
    refuse_msync(job)?;
    prepare_files(context, job)?;
    let prepare = |thread| {
        let worker = DataWorker::new(context, job, thread, PsyncFile::HOLDS_DATA);
        let file = open_data_file(&absolute(context, job, thread), job, false)?;
        Ok((worker, PsyncFile(file)))
    };
    let (outcomes, used) = run_workers(
        Staff::for_data(context, job),
        prepare,
        |(worker, file), crew| run_data_loop(worker, file, &MonotonicClock, crew),
    )?;
    Ok(combine(outcomes, used, true))
}

/// A file that is read and written by pread(2) and pwrite(2).
struct PsyncFile(DataFile);

impl DataTarget for PsyncFile {
    const HOLDS_DATA: bool = true;

    #[inline]
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()> {
        read_all(&self.0, into, extent.offset)
    }

    #[inline]
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()> {
        write_all(&self.0, data, extent.offset)
    }

    fn sync(&mut self, call: SyncCall) -> io::Result<()> {
        sync_file(&self.0, call)
    }

    fn close(self) -> io::Result<()> {
        self.0.close()
    }
}

/// Fills `into`; the end of the file before that is an error.
#[inline]
pub(super) fn read_all(file: &DataFile, into: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    loop {
        match file.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if done == into.len() {
            return Ok(());
        }
    }
}

/// Writes all of `data`.
#[inline]
pub(super) fn write_all(file: &DataFile, data: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    loop {
        match file.write_at(&data[done..], offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if done == data.len() {
            return Ok(());
        }
    }
}

/// The calls that make a file durable; msync(2) is not one of them.
pub(super) fn sync_file(file: &DataFile, call: SyncCall) -> io::Result<()> {
    match call {
        SyncCall::Fsync => file.fsync(),
        SyncCall::Fdatasync => file.fdatasync(),
        // A length of 0 is everything to the end of the file.
        SyncCall::FileRange => file.sync_range(0, 0),
        SyncCall::Msync => Err(io::ErrorKind::Unsupported.into()),
    }
}
