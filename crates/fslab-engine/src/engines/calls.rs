//! Calls on files that several engines issue.

use std::io;

use fslab_sys::DataFile;

use crate::jobs::SyncCall;

/// Writes `data` completely at `offset`.
#[inline]
pub(super) fn write_all(file: &DataFile, data: &[u8], offset: u64) -> io::Result<()> {
    write_fully(data, |data, done| file.write_at(data, offset + done as u64))
}

/// Writes `data` completely with repeated calls of `write`.
#[inline]
pub(super) fn write_fully(
    data: &[u8],
    mut write: impl FnMut(&[u8], usize) -> io::Result<usize>,
) -> io::Result<()> {
    let mut done = 0;
    loop {
        match write(&data[done..], done) {
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

/// Makes a file durable; msync(2) is not supported here.
pub(super) fn sync_file(file: &DataFile, call: SyncCall) -> io::Result<()> {
    match call {
        SyncCall::Fsync => file.fsync(),
        SyncCall::Fdatasync => file.fdatasync(),
        // Length 0 means up to the end of the file.
        SyncCall::FileRange => file.sync_range(0, 0),
        SyncCall::Msync => Err(io::ErrorKind::Unsupported.into()),
        SyncCall::Barrier => file.barrier(),
        SyncCall::Drive => file.sync_to_drive(),
    }
}
