//! The engine that uses buffered streams of the C library.

use std::io;
use std::path::Path;

use fslab_sys::{DataFile, Stream, StreamUse};

use super::calls::sync_file;
use super::refusals::{refuse_direct, refuse_moving, refuse_msync};
use crate::access::Extent;
use crate::drive::{DataTarget, DataThread, ReadyWorker, open_data_file, ready_worker};
use crate::engine::{DataEngine, Engine};
use crate::jobs::SyncCall;
use crate::{DataJob, EngineError, EngineKind};

pub(crate) const STDIO: Engine = Engine {
    kind: EngineKind::Stdio,
    data: DataEngine {
        keeps_files: true,
        check,
        prepare,
    },
    run_metadata: None,
};

fn check(job: &DataJob) -> Result<(), EngineError> {
    refuse_direct(job, EngineKind::Stdio)?;
    refuse_moving(job, EngineKind::Stdio)?;
    refuse_msync(job)
}

fn prepare(of: DataThread<'_>) -> Result<ReadyWorker<'_>, EngineError> {
    ready_worker(of, |path, _| StreamFile::open(path, of.job))
}

/// The last operation of a stream: C requires a seek between reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Read,
    Write,
}

/// A stream and its position.
struct StreamFile {
    stream: Stream,
    /// The same open file, for calls that streams lack.
    file: DataFile,
    by_character: bool,
    position: u64,
    last: Last,
}

impl StreamFile {
    fn open(path: &Path, job: &DataJob) -> Result<Self, EngineError> {
        let file = open_data_file(path, job, false)?;
        let used = match (job.reads(), job.writes()) {
            (true, true) => StreamUse::Both,
            (true, false) => StreamUse::Read,
            (false, _) => StreamUse::Write,
        };
        let failed = |e| EngineError::io("open a stream on", path, e);
        let stream = Stream::new(file, used, job.stdio.buffer_bytes).map_err(failed)?;
        let file = stream.same_file().map_err(failed)?;
        Ok(Self {
            stream,
            file,
            by_character: job.stdio.by_character,
            position: 0,
            last: Last::Nothing,
        })
    }

    /// Seeks to `extent` if needed, for the operation `next`.
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
