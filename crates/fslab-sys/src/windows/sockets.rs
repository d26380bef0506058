//! Unix sockets, which are refused.

use std::fs::File;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::Duration;

use crate::lacking::lacks;

/// A descriptor, of which Windows has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct BorrowedFd<'a>(PhantomData<&'a ()>);

/// What has a descriptor elsewhere.
pub trait AsFd {
    /// No descriptor.
    fn as_fd(&self) -> BorrowedFd<'_> {
        BorrowedFd::default()
    }
}

impl AsFd for File {}
impl AsFd for TcpStream {}
impl AsFd for UnixStream {}

/// A connection: never made.
#[derive(Debug)]
pub enum UnixStream {}

impl UnixStream {
    /// Refused.
    pub fn connect(_path: impl AsRef<Path>) -> io::Result<Self> {
        Err(lacks("Unix sockets"))
    }

    pub fn set_read_timeout(&self, _limit: Option<Duration>) -> io::Result<()> {
        match *self {}
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        match *self {}
    }

    pub fn shutdown(&self, _how: Shutdown) -> io::Result<()> {
        match *self {}
    }
}

impl Read for UnixStream {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for UnixStream {
    fn write(&mut self, _from: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

impl Read for &UnixStream {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match **self {}
    }
}

impl Write for &UnixStream {
    fn write(&mut self, _from: &[u8]) -> io::Result<usize> {
        match **self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match **self {}
    }
}

/// A listening socket: never made.
#[derive(Debug)]
pub enum UnixListener {}

impl UnixListener {
    /// Refused.
    pub fn bind(_path: impl AsRef<Path>) -> io::Result<Self> {
        Err(lacks("Unix sockets"))
    }

    pub fn accept(&self) -> io::Result<(UnixStream, ())> {
        match *self {}
    }
}
