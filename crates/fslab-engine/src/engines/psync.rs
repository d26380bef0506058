//! The engine that issues one system call at a time and waits for each.

use std::io;
use std::path::Path;

use fslab_sys::{CallBatch, DataFile};

use super::calls::{sync_file, write_all, write_fully};
use super::names::run_metadata;
use super::refusals::refuse_msync;
use crate::access::Extent;
use crate::drive::{DataTarget, DataThread, ReadyWorker, Transfer, open_data_file, ready_worker};
use crate::engine::{DataEngine, Engine};
use crate::jobs::SyncCall;
use crate::{EngineError, EngineKind};

pub(crate) const PSYNC: Engine = Engine {
    kind: EngineKind::Psync,
    data: DataEngine {
        keeps_files: true,
        check: refuse_msync,
        prepare,
    },
    run_metadata: Some(run_metadata),
};

fn prepare(of: DataThread<'_>) -> Result<ReadyWorker<'_>, EngineError> {
    let open = |path: &Path| open_data_file(path, of.job, false);
    if of.job.positioned {
        ready_worker(of, |path, _| Ok(PositionedFile(open(path)?)))
    } else {
        ready_worker(of, |path, _| {
            Ok(MovingFile {
                file: open(path)?,
                position: 0,
            })
        })
    }
}

/// A file accessed by pread(2) and pwrite(2).
struct PositionedFile(DataFile);

impl DataTarget for PositionedFile {
    const HOLDS_DATA: bool = true;

    #[inline]
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()> {
        read_fully(into, |into, done| {
            self.0.read_at(into, extent.offset + done as u64)
        })
    }

    #[inline]
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()> {
        write_all(&self.0, data, extent.offset)
    }

    const GATHERS: bool = true;

    fn gather<'b>(&'b self, batch: &mut CallBatch<'b>, extent: Extent, transfer: Transfer<'b>) {
        let file = (&self.0).into();
        match transfer {
            Transfer::Read(into) => batch.pread(file, into, extent.offset, into.len()),
            Transfer::Write(data) => batch.pwrite(file, data, extent.offset),
        }
    }

    fn sync(&mut self, call: SyncCall) -> io::Result<()> {
        sync_file(&self.0, call)
    }

    fn close(self) -> io::Result<()> {
        self.0.close()
    }
}

/// A file accessed by read(2) and write(2), with lseek(2) if the position differs.
struct MovingFile {
    file: DataFile,
    position: u64,
}

impl MovingFile {
    /// Seeks to `extent` if needed, and sets the position to its end. A transfer that fails
    /// ends the job, so that the position is not used then.
    #[inline]
    fn go_to(&mut self, extent: Extent) -> io::Result<()> {
        if self.position != extent.offset {
            self.file.seek(extent.offset)?;
        }
        self.position = extent.offset + extent.length as u64;
        Ok(())
    }
}

impl DataTarget for MovingFile {
    const HOLDS_DATA: bool = true;

    #[inline]
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()> {
        self.go_to(extent)?;
        read_fully(into, |into, _| self.file.read(into))
    }

    #[inline]
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()> {
        self.go_to(extent)?;
        write_fully(data, |data, _| self.file.write(data))
    }

    fn sync(&mut self, call: SyncCall) -> io::Result<()> {
        sync_file(&self.file, call)
    }

    fn close(self) -> io::Result<()> {
        self.file.close()
    }
}

/// Fills `into` with repeated calls of `read`, with the rest and the bytes done so far; end-of-file
/// is an error.
#[inline]
fn read_fully(
    into: &mut [u8],
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<()> {
    let mut done = 0;
    loop {
        match read(&mut into[done..], done) {
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
