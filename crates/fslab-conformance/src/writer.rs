//! Writes one file: a list of steps, each performed on the disk and on the expected content.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use fslab_job::generate_content;
use fslab_sys::{DataFile, DataFileOptions, Mapping, OpenedSync};

use super::check_context::{CheckContext, is_refusal};
use super::content::Content;
use super::failure::ConformanceFailure;

/// Bytes per comparison; no multiple of a block, so that reads are unaligned.
const READ_BYTES: u64 = 1_000_003;

/// One operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// One pwrite(2).
    Write(Range<u64>),
    /// One pwrite(2) with O_SYNC.
    WriteSynced(Range<u64>),
    /// One write(2) with O_APPEND.
    Append(u64),
    /// Stores into mapped memory, then msync(2); the range lies within the file.
    WriteMapped(Range<u64>),
    /// ftruncate(2), shorter or longer.
    Truncate(u64),
    /// fsync(2).
    Sync,
    /// fdatasync(2).
    SyncData,
    /// close(2) and open(2).
    Reopen,
    /// Comparison with the expected content.
    Compare(Range<u64>),
}

/// A file to create.
#[derive(Clone, Debug)]
pub(crate) struct FilePlan {
    pub(crate) path: PathBuf,
    pub(crate) steps: Vec<Step>,
}

impl FilePlan {
    pub(crate) fn new(path: impl AsRef<Path>, steps: Vec<Step>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            steps,
        }
    }

    /// A file of `length` bytes, created by one write.
    pub(crate) fn single_write(path: impl AsRef<Path>, length: u64) -> Self {
        Self::new(path, vec![Step::Write(0..length)])
    }
}

/// A file being written.
pub(crate) struct Writer {
    path: PathBuf,
    steps: std::vec::IntoIter<Step>,
    file: Option<DataFile>,
}

impl Writer {
    pub(crate) fn new(path: PathBuf, steps: Vec<Step>) -> Self {
        Self {
            path,
            steps: steps.into_iter(),
            file: None,
        }
    }

    /// Creates the empty file, which must not exist.
    pub(crate) fn create(&mut self, checker: &mut CheckContext) -> Result<(), ConformanceFailure> {
        let made = File::create_new(&self.path);
        checker.must("create", &self.path, made).map(drop)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.steps.as_slice().is_empty()
    }

    /// Performs the next step, if any; closes the file after the last one.
    pub(crate) fn step(
        &mut self,
        content: &mut Content,
        disk: Option<&mut CheckContext>,
    ) -> Result<(), ConformanceFailure> {
        let Some(step) = self.steps.next() else {
            return Ok(());
        };
        match disk {
            Some(checker) => {
                self.perform(&step, content, checker)?;
                if self.is_done() {
                    self.close(content, checker)?;
                }
            }
            None => apply_to_model(&step, content),
        }
        Ok(())
    }

    fn perform(
        &mut self,
        step: &Step,
        content: &mut Content,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        match step {
            Step::Write(range) => {
                let data = next_data(content, range);
                self.write(&data, range.start, checker)?;
            }
            Step::WriteSynced(range) => {
                let data = next_data(content, range);
                self.file = None;
                let synced = self.open(OpenedSync::Full, checker)?;
                let written = write_all(&synced, &data, range.start);
                checker.must("write with O_SYNC to", &self.path, written)?;
            }
            Step::Append(bytes) => {
                let start = content.length();
                let data = next_data(content, &(start..start + bytes));
                self.file = None;
                let appended = File::options()
                    .append(true)
                    .open(&self.path)
                    .and_then(|mut file| file.write_all(&data));
                checker.must("append to", &self.path, appended)?;
            }
            Step::WriteMapped(range) => {
                let length = content.length();
                let data = next_data(content, range);
                self.write_mapped(&data, range.start, length, checker)?;
            }
            Step::Truncate(length) => {
                let lengthened = *length > content.length();
                content.truncate(*length);
                self.truncate(*length, lengthened, checker)?;
                self.compare_length(content, checker)?;
            }
            Step::Sync => {
                let synced = self.file(checker)?.fsync();
                checker.must("fsync", &self.path, synced)?;
            }
            Step::SyncData => {
                let synced = self.file(checker)?.fdatasync();
                checker.must("fdatasync", &self.path, synced)?;
            }
            Step::Reopen => self.close(content, checker)?,
            Step::Compare(range) => {
                self.file(checker)?;
                let file = self.file.as_ref().expect("opened just now");
                compare(file, &self.path, content, range.clone(), checker)?;
            }
        }
        checker.bytes += bytes_of(step);
        Ok(())
    }

    fn write(
        &mut self,
        data: &[u8],
        offset: u64,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        let written = write_all(self.file(checker)?, data, offset);
        checker.must("write", &self.path, written)
    }

    /// Truncates or lengthens; if the driver cannot lengthen (hpfs), writes a zero at the end.
    fn truncate(
        &mut self,
        length: u64,
        lengthened: bool,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        let cut = self.file(checker)?.set_length(length);
        match cut {
            Err(error) if lengthened && is_refusal(&error) => {
                checker.note(format!("files cannot be lengthened by truncate: {error}"));
                self.write(&[0], length - 1, checker)
            }
            cut => checker.must("truncate", &self.path, cut),
        }
    }

    fn write_mapped(
        &mut self,
        data: &[u8],
        offset: u64,
        length: u64,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        let in_memory = |value: u64| usize::try_from(value).expect("a mapping fits into memory");
        let mapped = Mapping::new(self.file(checker)?, in_memory(length), true);
        match mapped {
            Ok(mut mapping) => {
                mapping.write_at(data, in_memory(offset));
                checker.must("msync", &self.path, mapping.sync())
            }
            Err(error) if is_refusal(&error) => {
                checker.note(format!("files cannot be mapped for writing: {error}"));
                self.write(data, offset, checker)
            }
            Err(error) => Err(ConformanceFailure::io("map", &self.path, &error)),
        }
    }

    fn close(
        &mut self,
        content: &Content,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        self.compare_length(content, checker)?;
        if let Some(file) = self.file.take() {
            checker.must("close", &self.path, file.close())?;
        }
        Ok(())
    }

    fn compare_length(
        &mut self,
        content: &Content,
        checker: &mut CheckContext,
    ) -> Result<(), ConformanceFailure> {
        let length = self.file(checker)?.length();
        let length = checker.must("stat", &self.path, length)?;
        checker.demand(length == content.length(), &self.path, || {
            format!(
                "has {length} bytes while it is written, not {}",
                content.length()
            )
        })
    }

    fn file(&mut self, checker: &mut CheckContext) -> Result<&DataFile, ConformanceFailure> {
        if self.file.is_none() {
            self.file = Some(self.open(OpenedSync::None, checker)?);
        }
        Ok(self.file.as_ref().expect("opened just now"))
    }

    fn open(
        &self,
        sync: OpenedSync,
        checker: &mut CheckContext,
    ) -> Result<DataFile, ConformanceFailure> {
        let options = DataFileOptions {
            read: true,
            write: true,
            sync,
            ..DataFileOptions::default()
        };
        checker.must("open", &self.path, DataFile::open(&self.path, options))
    }
}

/// Compares `range` of `file` with its expected content, and its end.
pub(crate) fn compare(
    file: &DataFile,
    path: &Path,
    content: &Content,
    range: Range<u64>,
    checker: &mut CheckContext,
) -> Result<(), ConformanceFailure> {
    let end = range.end.min(content.length());
    let mut buffer = vec![0; index(READ_BYTES.min(end.saturating_sub(range.start)).max(1))];
    let mut offset = range.start;
    while offset < end {
        let wanted = index((end - offset).min(READ_BYTES));
        let read = read_all(file, &mut buffer[..wanted], offset);
        let read = checker.must("read", path, read)?;
        checker.demand(read == wanted, path, || {
            let at = offset + read as u64;
            format!("ends at offset {at}, before its {} bytes", content.length())
        })?;
        if let Some(difference) = content.difference(offset, &buffer[..read]) {
            return Err(ConformanceFailure::corrupt(path, difference));
        }
        checker.bytes += read as u64;
        offset += read as u64;
    }
    if range.end >= content.length() {
        let behind = file.read_at(&mut buffer[..1], content.length());
        let behind = checker.must("read behind the end of", path, behind)?;
        checker.demand(behind == 0, path, || {
            format!("goes on behind its end at {}", content.length())
        })?;
    }
    Ok(())
}

/// The data of the next write to `range`.
fn next_data(content: &mut Content, range: &Range<u64>) -> Vec<u8> {
    let key = content.write(range.clone());
    let mut data = vec![0; index(range.end - range.start)];
    generate_content(key, range.start, &mut data);
    data
}

/// Applies a step to the expected content.
fn apply_to_model(step: &Step, content: &mut Content) {
    match step {
        Step::Write(range) | Step::WriteSynced(range) | Step::WriteMapped(range) => {
            content.write(range.clone());
        }
        Step::Append(bytes) => {
            let start = content.length();
            content.write(start..start + bytes);
        }
        Step::Truncate(length) => content.truncate(*length),
        Step::Sync | Step::SyncData | Step::Reopen | Step::Compare(_) => {}
    }
}

fn bytes_of(step: &Step) -> u64 {
    match step {
        Step::Write(range) | Step::WriteSynced(range) | Step::WriteMapped(range) => {
            range.end - range.start
        }
        Step::Append(bytes) => *bytes,
        // Comparing counts what it reads.
        Step::Truncate(_) | Step::Sync | Step::SyncData | Step::Reopen | Step::Compare(_) => 0,
    }
}

/// pwrite(2) until all data is written.
pub(crate) fn write_all(file: &DataFile, mut data: &[u8], mut offset: u64) -> io::Result<()> {
    while !data.is_empty() {
        match file.write_at(data, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                data = &data[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// pread(2) until `into` is full or the file ends; returns the bytes read.
fn read_all(file: &DataFile, into: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("a record fits into memory")
}
