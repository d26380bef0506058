//! The engine that reads and writes through buffered streams of the C library.

use std::io;
use std::os::fd::AsFd;

use fslab_sys::{DataFile, Stream, StreamUse};

use super::psync::sync_file;
use super::refusals::{refuse_direct, refuse_msync};
use crate::access::Extent;
use crate::drive::{
    DataTarget, DataWorker, Staff, absolute, open_data_file, prepare_files, run_data_loop,
    run_workers,
};
use crate::jobs::SyncCall;
use crate::recording::{MonotonicClock, combine};
use crate::registry::Engine;
use crate::{DataJob, EngineError, EngineKind, Measured, RunContext};

pub(crate) const STDIO: Engine = Engine {
    kind: EngineKind::Stdio,
    run_data,
    run_metadata: None,
};

fn run_data(context: &RunContext, job: &DataJob) -> Result<Measured, EngineError> {
    refuse_direct(job, EngineKind::Stdio)?;
    refuse_msync(job)?;
    prepare_files(context, job)?;
    let prepare = |thread| {
        let worker = DataWorker::new(context, job, thread, StreamFile::HOLDS_DATA);
        Ok((worker, StreamFile::open(context, job, thread)?))
    };
    let (outcomes, used) = run_workers(
        Staff::for_data(context, job),
        prepare,
        |(worker, file), crew| run_data_loop(worker, file, &MonotonicClock, crew),
    )?;
    Ok(combine(outcomes, used, true))
}

/// What a stream did last: between reading and writing C demands a seek.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Read,
    Write,
}

/// A stream, and where it stands.
struct StreamFile {
    stream: Stream,
    /// The same open file, for the calls that streams have no word for.
    file: DataFile,
    by_character: bool,
    position: u64,
    last: Last,
}

impl StreamFile {
    fn open(context: &RunContext, job: &DataJob, thread: u32) -> Result<Self, EngineError> {
        let path = absolute(context, job, thread);
        let file = open_data_file(&path, job, false)?;
        let used = match (job.reads(), job.writes()) {
            (true, true) => StreamUse::Both,
            (true, false) => StreamUse::Read,
            (false, _) => StreamUse::Write,
        };
        let failed = |e| EngineError::io("open a stream on", &path, e);
        let stream = Stream::new(file, used, job.stdio.buffer_bytes).map_err(failed)?;
        let file = stream.as_fd().try_clone_to_owned().map_err(failed)?.into();
        Ok(Self {
            stream,
            file,
            by_character: job.stdio.by_character,
            position: 0,
            last: Last::Nothing,
        })
    }

    /// Goes to `extent`, where the stream is not there already, to do `next` with it.
    #[inline]
    fn go_to(&mut self, extent: Extent, next: Last) -> io::Result<()> {
        let turns = self.last != next && self.last != Last::Nothing;
        if turns || self.position != extent.offset {
            self.stream.seek(extent.offset)?;
        }
        self.last = next;
        self.position = extent.offset + extent.length as u64;
        Ok(())
    }
}

impl DataTarget for StreamFile {
    const HOLDS_DATA: bool = true;
    const BUFFERS: bool = true;

    #[inline]
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()> {
        self.go_to(extent, Last::Read)?;
        if self.by_character {
            self.stream.read_by_character(into)
        } else {
            self.stream.read(into)
        }
    }

    #[inline]
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()> {
        self.go_to(extent, Last::Write)?;
        if self.by_character {
            self.stream.write_by_character(data)
        } else {
            self.stream.write(data)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.last {
            Last::Write => self.stream.flush(),
            Last::Read | Last::Nothing => Ok(()),
        }
    }

    fn sync(&mut self, call: SyncCall) -> io::Result<()> {
        self.flush()?;
        sync_file(&self.file, call)
    }

    fn close(self) -> io::Result<()> {
        self.stream.close()?;
        self.file.close()
    }
}
