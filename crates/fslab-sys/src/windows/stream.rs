//! Buffered streams of the C library.

use std::fs::File;
use std::io;
use std::os::windows::io::IntoRawHandle;
use std::ptr::NonNull;

use crate::{DataFile, StreamUse};

/// `_IOFBF`.
const FULLY_BUFFERED: i32 = 0;
/// `_O_BINARY`.
const BINARY: i32 = 0x8000;

#[repr(C)]
struct CFile([u8; 0]);

// SAFETY: the functions of the C library have these signatures.
unsafe extern "C" {
    fn _open_osfhandle(handle: isize, flags: i32) -> i32;
    fn _fdopen(descriptor: i32, mode: *const i8) -> *mut CFile;
    fn setvbuf(stream: *mut CFile, buffer: *mut u8, mode: i32, size: usize) -> i32;
    fn _fseeki64(stream: *mut CFile, offset: i64, origin: i32) -> i32;
    fn fread(into: *mut u8, size: usize, count: usize, stream: *mut CFile) -> usize;
    fn fwrite(from: *const u8, size: usize, count: usize, stream: *mut CFile) -> usize;
    fn getc(stream: *mut CFile) -> i32;
    fn putc(character: i32, stream: *mut CFile) -> i32;
    fn fflush(stream: *mut CFile) -> i32;
    fn fclose(stream: *mut CFile) -> i32;
    fn ferror(stream: *mut CFile) -> i32;
}

/// An open stream.
pub struct Stream {
    stream: NonNull<CFile>,
    /// The same open file, for calls that streams lack.
    same: File,
    /// False after closing.
    open: bool,
}

// SAFETY: a stream of the C library is not bound to a thread, and has one owner.
unsafe impl Send for Stream {}

impl Stream {
    /// `_fdopen` of an open file, with a buffer of `buffer_bytes`.
    pub fn new(file: DataFile, used: StreamUse, buffer_bytes: usize) -> io::Result<Self> {
        let same = file.as_file().try_clone()?;
        let mode = match used {
            StreamUse::Read => c"rb",
            StreamUse::Write | StreamUse::Both => c"r+b",
        };
        let handle = File::from(file).into_raw_handle();
        // SAFETY: the descriptor takes over the handle, which has no other owner.
        let descriptor = unsafe { _open_osfhandle(handle.addr().cast_signed(), BINARY) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the stream takes over the descriptor; the mode is a C string.
        let stream = unsafe { _fdopen(descriptor, mode.as_ptr().cast()) };
        let stream = NonNull::new(stream).ok_or_else(io::Error::last_os_error)?;
        let made = Self {
            stream,
            same,
            open: true,
        };
        // The library takes no buffer of fewer bytes than 2.
        let size = buffer_bytes.max(2);
        // SAFETY: the stream was just opened; without a buffer the library allocates one.
        let status =
            unsafe { setvbuf(stream.as_ptr(), std::ptr::null_mut(), FULLY_BUFFERED, size) };
        if status != 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(made)
    }

    /// The same open file.
    pub fn same_file(&self) -> io::Result<DataFile> {
        Ok(self.same.try_clone()?.into())
    }

    /// `_fseeki64`.
    pub fn seek(&mut self, offset: u64) -> io::Result<()> {
        let offset = i64::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the stream is open.
        self.done(unsafe { _fseeki64(self.stream.as_ptr(), offset, 0) })
    }

    /// fread(3) that fills `into`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends first.
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<()> {
        // SAFETY: the stream is open, and `into` has room for the bytes requested.
        let count = unsafe { fread(into.as_mut_ptr(), 1, into.len(), self.stream.as_ptr()) };
        match count == into.len() {
            true => Ok(()),
            false => Err(self.failure(io::ErrorKind::UnexpectedEof)),
        }
    }

    /// fwrite(3) of all of `data`.
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        // SAFETY: the stream is open, and `data` has the length passed.
        let count = unsafe { fwrite(data.as_ptr(), 1, data.len(), self.stream.as_ptr()) };
        match count == data.len() {
            true => Ok(()),
            false => Err(self.failure(io::ErrorKind::WriteZero)),
        }
    }

    /// As [`Stream::read`], with one getc(3) per byte.
    pub fn read_by_character(&mut self, into: &mut [u8]) -> io::Result<()> {
        for byte in into {
            // SAFETY: the stream is open.
            let character = unsafe { getc(self.stream.as_ptr()) };
            let Ok(character) = u8::try_from(character) else {
                return Err(self.failure(io::ErrorKind::UnexpectedEof));
            };
            *byte = character;
        }
        Ok(())
    }

    /// As [`Stream::write`], with one putc(3) per byte.
    pub fn write_by_character(&mut self, data: &[u8]) -> io::Result<()> {
        for byte in data {
            // SAFETY: the stream is open.
            if unsafe { putc(i32::from(*byte), self.stream.as_ptr()) } < 0 {
                return Err(self.failure(io::ErrorKind::WriteZero));
            }
        }
        Ok(())
    }

    /// fflush(3): writes the buffer.
    pub fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the stream is open.
        self.done(unsafe { fflush(self.stream.as_ptr()) })
    }

    /// fclose(3), with its result.
    pub fn close(mut self) -> io::Result<()> {
        self.open = false;
        // SAFETY: the stream is open, and is not used again.
        let status = unsafe { fclose(self.stream.as_ptr()) };
        self.done(status)
    }

    fn done(&self, status: i32) -> io::Result<()> {
        match status {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The error of a short transfer.
    #[cold]
    fn failure(&self, otherwise: io::ErrorKind) -> io::Error {
        let error = io::Error::last_os_error();
        // SAFETY: the stream is open.
        match unsafe { ferror(self.stream.as_ptr()) } {
            0 => otherwise.into(),
            _ => error,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: the stream is open, and is not used again.
            unsafe { fclose(self.stream.as_ptr()) };
        }
    }
}
