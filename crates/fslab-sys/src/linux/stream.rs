//! A buffered stream of the C library on an open file.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;

use super::status::check;
use crate::{DataFile, StreamUse};

// SAFETY: declarations of the C library that the libc crate lacks.
unsafe extern "C" {
    fn putc_unlocked(character: libc::c_int, stream: *mut libc::FILE) -> libc::c_int;
    fn getc_unlocked(stream: *mut libc::FILE) -> libc::c_int;
}

/// A FILE with a buffer of known size.
pub struct Stream {
    stream: NonNull<libc::FILE>,
    /// The stream's buffer; freed after it is closed.
    _buffer: Box<[u8]>,
    open: bool,
}

// SAFETY: the stream has one owner, and nothing in it is bound to a thread.
unsafe impl Send for Stream {}

impl Stream {
    /// A stream on `file`, at its start, with a buffer of `buffer_bytes`; 0 for none.
    pub fn new(file: DataFile, used: StreamUse, buffer_bytes: usize) -> io::Result<Self> {
        let mode: &CStr = match used {
            StreamUse::Read => c"r",
            StreamUse::Write => c"w",
            StreamUse::Both => c"r+",
        };
        let descriptor = OwnedFd::from(file);
        // SAFETY: the descriptor is open, and the mode is a C string that outlives the call.
        let stream = unsafe { libc::fdopen(descriptor.as_raw_fd(), mode.as_ptr()) };
        let stream = NonNull::new(stream).ok_or_else(io::Error::last_os_error)?;
        // From here on the stream owns the descriptor.
        let _ = descriptor.into_raw_fd();
        let mut buffer = vec![0_u8; buffer_bytes].into_boxed_slice();
        let mode = if buffer_bytes == 0 {
            libc::_IONBF
        } else {
            libc::_IOFBF
        };
        // SAFETY: the stream has not been used yet, and the buffer lives as long as it.
        let status = unsafe {
            let buffer = buffer.as_mut_ptr().cast();
            libc::setvbuf(stream.as_ptr(), buffer, mode, buffer_bytes)
        };
        assert!(status == 0, "setvbuf(3) takes any buffer of a fresh stream");
        Ok(Self {
            stream,
            _buffer: buffer,
            open: true,
        })
    }

    /// The same open file.
    pub fn same_file(&self) -> io::Result<DataFile> {
        Ok(self.as_fd().try_clone_to_owned()?.into())
    }

    /// fseeko(3).
    pub fn seek(&mut self, offset: u64) -> io::Result<()> {
        let offset = i64::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the stream is open.
        let status = unsafe { libc::fseeko(self.stream.as_ptr(), offset, libc::SEEK_SET) };
        check(status)
    }

    /// fread(3) that fills `into`.
    ///
    /// # Errors
    /// That of read(2); `UnexpectedEof` if the file ends first.
    #[inline]
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<()> {
        // SAFETY: the stream is open, and `into` has room for the bytes requested.
        let count = unsafe {
            let start = into.as_mut_ptr().cast();
            libc::fread(start, 1, into.len(), self.stream.as_ptr())
        };
        if count == into.len() {
            Ok(())
        } else {
            Err(self.failure(io::ErrorKind::UnexpectedEof))
        }
    }

    /// fwrite(3) of all of `data`.
    #[inline]
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        // SAFETY: the stream is open, and `data` has the length passed.
        let count = unsafe {
            let start = data.as_ptr().cast();
            libc::fwrite(start, 1, data.len(), self.stream.as_ptr())
        };
        if count == data.len() {
            Ok(())
        } else {
            Err(self.failure(io::ErrorKind::WriteZero))
        }
    }

    /// As [`Stream::read`], with one getc_unlocked(3) per byte.
    pub fn read_by_character(&mut self, into: &mut [u8]) -> io::Result<()> {
        for byte in into {
            // SAFETY: the stream is open, and has one owner.
            let character = unsafe { getc_unlocked(self.stream.as_ptr()) };
            let Ok(character) = u8::try_from(character) else {
                return Err(self.failure(io::ErrorKind::UnexpectedEof));
            };
            *byte = character;
        }
        Ok(())
    }

    /// As [`Stream::write`], with one putc_unlocked(3) per byte.
    pub fn write_by_character(&mut self, data: &[u8]) -> io::Result<()> {
        for byte in data {
            // SAFETY: the stream is open, and has one owner.
            let written = unsafe { putc_unlocked(libc::c_int::from(*byte), self.stream.as_ptr()) };
            if written < 0 {
                return Err(self.failure(io::ErrorKind::WriteZero));
            }
        }
        Ok(())
    }

    /// fflush(3): writes the buffer.
    pub fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the stream is open.
        check(unsafe { libc::fflush(self.stream.as_ptr()) })
    }

    /// fclose(3), with its result.
    pub fn close(mut self) -> io::Result<()> {
        self.open = false;
        // SAFETY: the stream is open, and is not used again.
        check(unsafe { libc::fclose(self.stream.as_ptr()) })
    }

    /// The error of a short transfer: the errno if the stream has an error, else `otherwise`.
    #[cold]
    fn failure(&self, otherwise: io::ErrorKind) -> io::Error {
        let error = io::Error::last_os_error();
        // SAFETY: the stream is open.
        if unsafe { libc::ferror(self.stream.as_ptr()) } == 0 {
            otherwise.into()
        } else {
            error
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the stream is open, and so is its descriptor as long as `self` is borrowed.
        unsafe { BorrowedFd::borrow_raw(libc::fileno(self.stream.as_ptr())) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: the stream is open, and is not used again.
            unsafe { libc::fclose(self.stream.as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(name: &str, buffer_bytes: usize) -> Stream {
        let file = DataFile::scratch(name);
        Stream::new(file, StreamUse::Both, buffer_bytes).expect("opens")
    }

    #[test]
    fn bytes_written_are_read_back_with_and_without_a_buffer() {
        for buffer_bytes in [0, 7, 4096] {
            let mut stream = stream("stream", buffer_bytes);
            stream.write(b"hello ").expect("writes");
            stream.write_by_character(b"\xffworld").expect("writes");
            stream.flush().expect("writes");
            stream.seek(3).expect("seeks");
            let mut found = [0; 5];
            stream.read(&mut found).expect("reads");
            assert_eq!(&found, b"lo \xffw");
            let mut rest = [0; 4];
            stream.read_by_character(&mut rest).expect("reads");
            assert_eq!(&rest, b"orld");
            let error = stream.read(&mut rest).expect_err("nothing is left");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            stream.close().expect("closes");
        }
    }
}
