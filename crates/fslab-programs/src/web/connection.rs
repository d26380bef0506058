//! The socket between client and server: Unix or TCP.

use fslab_sys::os::{AsFd, BorrowedFd};
use fslab_sys::os::{UnixListener, UnixStream};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl Endpoint {
    /// A port of the loopback interface that is currently free.
    pub(super) fn free_port() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.local_addr().map(Self::Tcp)
    }

    /// Connects. A read that takes longer than `read_timeout` is an error of kind `WouldBlock`.
    pub(super) fn connect(&self, read_timeout: Duration) -> io::Result<Connection> {
        match self {
            Self::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(read_timeout))?;
                Ok(Connection::Unix(stream))
            }
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(read_timeout))?;
                stream.set_nodelay(true)?;
                Ok(Connection::Tcp(stream))
            }
        }
    }

    /// Listens at the endpoint.
    pub(super) fn listen(&self) -> io::Result<Listener> {
        match self {
            Self::Unix(path) => UnixListener::bind(path).map(Listener::Unix),
            Self::Tcp(address) => TcpListener::bind(address).map(Listener::Tcp),
        }
    }

    /// `a Unix socket` or `TCP`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Unix(_) => "a Unix socket",
            Self::Tcp(_) => "TCP",
        }
    }
}

/// A listening socket.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Waits for the next connection.
    pub(super) fn accept(&self) -> io::Result<Connection> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(it, _)| Connection::Unix(it)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Connection::Tcp(stream))
            }
        }
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(super) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Read for Connection {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(from),
            Self::Tcp(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}
