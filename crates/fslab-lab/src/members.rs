//! Members of our tar archives: regular files whose names, order and size limits the reader knows.
//!
//! Archives are untrusted. A reader compares each header with the one that it would have
//! written itself, so that links, devices, other names, owners and sizes beyond the limit have no
//! way in.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use tar::{EntryType, Header};

use crate::LabError;

/// Bytes of a tar record.
pub(crate) const RECORD: usize = 512;

/// A file of an archive and its size limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    /// Its name in the archive, at most 99 bytes.
    pub(crate) name: &'a str,
    mode: u32,
    pub(crate) bytes_max: u64,
}

impl<'a> Member<'a> {
    pub(crate) const fn new(name: &'a str, mode: u32, bytes_max: u64) -> Self {
        Self {
            name,
            mode,
            bytes_max,
        }
    }

    /// The same under another name.
    pub(crate) const fn named<'b>(&self, name: &'b str) -> Member<'b> {
        Member::new(name, self.mode, self.bytes_max)
    }

    /// Appends the file `source` as this member to the archive `path`; returns the bytes written.
    ///
    /// # Errors
    /// [`LabError::Unreadable`] for a file beyond the limit.
    pub(crate) fn write(
        &self,
        source: &Path,
        out: &mut impl Write,
        path: &Path,
    ) -> Result<u64, LabError> {
        let mut file = File::open(source).map_err(LabError::io("read", source))?;
        let about = file.metadata().map_err(LabError::io("read", source))?;
        if about.len() > self.bytes_max {
            return Err(LabError::Unreadable {
                path: source.to_owned(),
                reason: format!("it exceeds the size limit of {} bytes", self.bytes_max),
            });
        }
        self.write_content(&mut file, about.len(), out, path)
    }

    /// Appends the next `bytes` of `content` as this member.
    pub(crate) fn write_content(
        &self,
        content: &mut impl Read,
        bytes: u64,
        out: &mut impl Write,
        path: &Path,
    ) -> Result<u64, LabError> {
        let failed = |error| LabError::io("write", path)(error);
        out.write_all(&self.header(bytes)).map_err(failed)?;
        let copied = io::copy(&mut content.take(bytes), out).map_err(failed)?;
        if copied != bytes {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let padding = padding(bytes);
        out.write_all(&[0; RECORD][..padding]).map_err(failed)?;
        Ok(RECORD as u64 + bytes + padding as u64)
    }

    /// Unpacks the next member of the archive `path`, which must be this one, to the new file `to`.
    pub(crate) fn unpack(&self, file: &mut File, path: &Path, to: &Path) -> Result<(), LabError> {
        let failed = |error| failed(path, error);
        let bytes = self.read_header(file, path)?;
        let mut out = File::create_new(to).map_err(LabError::io("make", to))?;
        let copied = io::copy(&mut Read::by_ref(file).take(bytes), &mut out)
            .map_err(LabError::io("write", to))?;
        if copied != bytes {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        fslab_sys::os::set_mode(to, self.mode).map_err(LabError::io("write", to))?;
        out.sync_all().map_err(LabError::io("write", to))?;
        let mut rest = [0; RECORD];
        file.read_exact(&mut rest[..padding(bytes)]).map_err(failed)
    }

    /// The content of the next member, which must be this one: for a small one.
    pub(crate) fn read(&self, file: &mut File, path: &Path) -> Result<Vec<u8>, LabError> {
        let bytes = self.read_header(file, path)?;
        let mut content = Vec::new();
        let read = Read::by_ref(file).take(bytes).read_to_end(&mut content);
        read.map_err(|error| failed(path, error))?;
        if content.len() as u64 != bytes {
            return Err(failed(path, io::ErrorKind::UnexpectedEof.into()));
        }
        let mut rest = [0; RECORD];
        let rest = &mut rest[..padding(bytes)];
        file.read_exact(rest).map_err(|error| failed(path, error))?;
        Ok(content)
    }

    /// Reads the header, which must be this member's; returns its bytes.
    fn read_header(&self, file: &mut File, path: &Path) -> Result<u64, LabError> {
        let mut found = Header::new_old();
        let read = file.read_exact(found.as_mut_bytes());
        read.map_err(|error| failed(path, error))?;
        let bytes = found.size().ok();
        let bytes = bytes.filter(|bytes| found.as_bytes() == &self.header(*bytes));
        let bytes =
            bytes.ok_or_else(|| bad(path, format!("{} is missing or out of place", self.name)))?;
        match bytes > self.bytes_max {
            true => Err(bad(path, format!("its {} is too large", self.name))),
            false => Ok(bytes),
        }
    }

    /// Its `ustar` header, which follows from name, mode and size alone.
    pub(crate) fn header(&self, bytes: u64) -> [u8; RECORD] {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..self.name.len()].copy_from_slice(self.name.as_bytes());
        header.set_mode(self.mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(bytes);
        header.set_entry_type(EntryType::Regular);
        header.set_cksum();
        // Six digits, a zero and a blank, as tar(1) writes it.
        let sum = &mut header.as_old_mut().cksum;
        sum.rotate_left(1);
        sum[7] = b' ';
        *header.as_bytes()
    }
}

/// Ends the archive `path`; returns the bytes written.
pub(crate) fn write_end(out: &mut impl Write, path: &Path) -> Result<u64, LabError> {
    out.write_all(&[0; 2 * RECORD])
        .and_then(|()| out.flush())
        .map_err(LabError::io("write", path))?;
    Ok(2 * RECORD as u64)
}

/// Demands that the archive `path` ends here.
pub(crate) fn demand_end(file: &mut File, path: &Path) -> Result<(), LabError> {
    let mut end = Vec::new();
    let limit = 2 * RECORD as u64 + 1;
    let read = Read::by_ref(file).take(limit).read_to_end(&mut end);
    read.map_err(|error| failed(path, error))?;
    if end != [0; 2 * RECORD] {
        return Err(bad(path, "its end is malformed".to_owned()));
    }
    Ok(())
}

fn bad(path: &Path, reason: String) -> LabError {
    LabError::BadArchive {
        path: path.to_owned(),
        reason,
    }
}

fn failed(path: &Path, error: io::Error) -> LabError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => bad(path, "it is cut off".to_owned()),
        _ => LabError::io("read", path)(error),
    }
}

/// Bytes of padding up to the next record.
fn padding(bytes: u64) -> usize {
    let over = usize::try_from(bytes % RECORD as u64).unwrap_or_default();
    (RECORD - over) % RECORD
}
