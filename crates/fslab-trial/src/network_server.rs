//! The server of a network file system: the kernel's, a program, or the kernel's with a program.
//! Only in a guest, which has no network but the loopback interface.
//!
//! ```text
//!     NetworkServer
//!       Nfs       the kernel's server, through its files below /proc
//!       Program   diod; or ksmbd.mountd, which configures the kernel's server
//! ```
//!
//! Invariant: a dropped server is stopped.

use std::fs;
use std::io;
use std::path::Path;

use fslab_fs::{NetworkMounting, ServerProgram};
use fslab_model::{Failure, FailureKind};

use crate::nfs_server::{NfsServer, NfsSettings};
use crate::server::Server;

/// Flags of the loopback interface: IFF_UP and IFF_LOOPBACK.
const LOOPBACK_FLAGS: &str = "/sys/class/net/lo/flags";
const UP: &str = "0x9";
/// The tables of sockets: a server may listen on either protocol.
const SOCKETS: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The state of a socket that listens, in these tables.
const LISTENS: &str = "0A";

/// A running server.
pub(crate) enum NetworkServer {
    Nfs(NfsServer),
    Program(ProgramServer),
}

impl NetworkServer {
    /// Serves what is mounted at the mounting's local mount point; returns once it answers.
    pub(crate) fn start(mounting: &NetworkMounting) -> Result<Self, Failure> {
        fs::write(LOOPBACK_FLAGS, UP).map_err(|error| {
            let text = "cannot switch on the loopback interface";
            Failure::new(FailureKind::Mount, text).because(&error)
        })?;
        match &mounting.server {
            &fslab_fs::NetworkServer::Nfs {
                is_async,
                threads,
                request_bytes,
            } => NfsServer::start(NfsSettings {
                folder: &mounting.served_at,
                is_async,
                threads,
                request_bytes,
            })
            .map(Self::Nfs),
            fslab_fs::NetworkServer::Program(program) => {
                ProgramServer::start(program).map(Self::Program)
            }
        }
    }

    /// Ends it: it has nothing open then.
    pub(crate) fn stop(&mut self) -> Result<(), Failure> {
        match self {
            Self::Nfs(server) => server.stop(),
            Self::Program(server) => server.stop(),
        }
    }
}

/// A server's program.
pub(crate) struct ProgramServer {
    server: Server,
    kernel_stop: Option<(&'static str, &'static str)>,
}

impl ProgramServer {
    fn start(program: &ServerProgram) -> Result<Self, Failure> {
        for (path, text) in &program.files {
            let path = Path::new(path);
            let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
            folder
                .and_then(|()| fs::write(path, text))
                .map_err(|error| Failure::at(FailureKind::Mount, "write", path, &error))?;
        }
        let mut started = Self {
            server: Server::start(&program.line)?,
            kernel_stop: program.kernel_stop,
        };
        started
            .server
            .wait_until(FailureKind::Mount, || listens(program.port))?;
        Ok(started)
    }

    fn stop(&mut self) -> Result<(), Failure> {
        if let Some((path, text)) = self.kernel_stop {
            fs::write(path, text).map_err(|error| {
                Failure::at(FailureKind::Unmount, "write", Path::new(path), &error)
            })?;
        }
        self.server.terminate()
    }
}

impl Drop for ProgramServer {
    fn drop(&mut self) {
        // Before the program is killed, which the kernel's part would not notice.
        if let Some((path, text)) = self.kernel_stop {
            let _ = fs::write(path, text);
        }
    }
}

/// Whether a socket listens on `port`.
fn listens(port: u16) -> Result<bool, Failure> {
    for path in SOCKETS {
        match fs::read_to_string(path) {
            Ok(table) if has_listener(&table, port) => return Ok(true),
            Ok(_) => {}
            // A kernel without IPv6.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::at(
                    FailureKind::Mount,
                    "read",
                    Path::new(path),
                    &error,
                ));
            }
        }
    }
    Ok(false)
}

/// A line has a number, the local address with the port, the remote one, and the state: proc(5).
fn has_listener(table: &str, port: u16) -> bool {
    let ending = format!(":{port:04X}");
    table.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        matches!(words[..], [_, local, _, LISTENS, ..] if local.ends_with(&ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_found_by_its_port_and_a_connection_is_none() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
                     0: 0100007F:01BD 00000000:0000 0A 00000000:00000000 00:00000000\n   \
                     1: 0100007F:0234 0100007F:8000 01 00000000:00000000 00:00000000\n";
        assert!(has_listener(table, 445));
        assert!(!has_listener(table, 564), "it is connected");
        assert!(!has_listener(table, 0x8000));
    }

    #[test]
    fn a_socket_of_this_machine_listens_while_it_is_open() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        assert!(listens(port).expect("read"));
        drop(listener);
        assert!(!listens(port).expect("read"));
    }
}
