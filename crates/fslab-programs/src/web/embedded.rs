//! The embedded web server: each request is one open, fstat, sendfile and close.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::configuration::Task;
use super::connection::{Connection, Endpoint, Listener};
use super::http::{HEAD_MAX, Request, head_length, parse_request, response};
use super::parameters::Method;

/// Bytes per read(2) and write(2) without sendfile(2).
const PART_BYTES: usize = 64 << 10;

/// A server. It ends when it is stopped or dropped.
#[derive(Debug)]
pub(super) struct EmbeddedServer {
    shared: Arc<Shared>,
    endpoint: Endpoint,
    threads: Vec<JoinHandle<()>>,
}

/// State shared by the threads of a server.
#[derive(Debug)]
struct Shared {
    listener: Listener,
    /// The directory that no link may leave, and the site's root below it.
    base: PathBuf,
    site: PathBuf,
    /// `base`, opened by the first request: within the timed part, as with other servers.
    opened: OnceLock<File>,
    method: Method,
    stopping: AtomicBool,
    first_error: Mutex<Option<io::Error>>,
}

impl EmbeddedServer {
    /// Serves a task's site with one thread per worker; a thread serves one connection at a time.
    pub(super) fn start(task: &Task) -> io::Result<Self> {
        let outside = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let site = task.root.strip_prefix(task.base).map_err(outside)?;
        let shared = Arc::new(Shared {
            listener: task.endpoint.listen()?,
            base: task.base.to_owned(),
            site: site.to_owned(),
            opened: OnceLock::new(),
            method: task.parameters.method,
            stopping: AtomicBool::new(false),
            first_error: Mutex::new(None),
        });
        let mut server = Self {
            shared: Arc::clone(&shared),
            endpoint: task.endpoint.clone(),
            threads: Vec::new(),
        };
        for _ in 0..task.parameters.workers {
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().spawn(move || shared.serve())?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Ends the server; returns its first error.
    pub(super) fn stop(mut self) -> Option<io::Error> {
        self.end();
        self.shared.first_error().take()
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        for _ in &self.threads {
            // A thread that waits in accept(2) gets a connection, and sees the flag.
            let _ = self.endpoint.connect(Duration::from_secs(1));
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                let error = io::Error::other("a thread of the server panicked");
                self.shared.first_error().get_or_insert(error);
            }
        }
    }
}

impl Drop for EmbeddedServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn first_error(&self) -> std::sync::MutexGuard<'_, Option<io::Error>> {
        self.first_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        while !self.stopping.load(Ordering::SeqCst) {
            let served = self
                .listener
                .accept()
                .and_then(|connection| self.serve_connection(connection));
            if let Err(error) = served {
                // A client that disconnects early is no error of the server.
                let disconnects = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
                if !disconnects.contains(&error.kind()) {
                    self.first_error().get_or_insert(error);
                }
            }
        }
    }

    /// Answers the requests of one connection until it ends.
    fn serve_connection(&self, mut connection: Connection) -> io::Result<()> {
        let mut head = [0; HEAD_MAX];
        let mut filled = 0;
        loop {
            let length = loop {
                if let Some(length) = head_length(&head[..filled]) {
                    break length;
                }
                match connection.read(&mut head[filled..])? {
                    0 if filled == 0 => return Ok(()),
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    count => filled += count,
                }
            };
            let request = parse_request(&head[..length])?;
            let goes_on = request.keep_alive;
            self.answer(&mut connection, &request)?;
            if !goes_on {
                return Ok(());
            }
            head.copy_within(length..filled, 0);
            filled -= length;
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let base = match self.opened.get() {
            Some(base) => base,
            None => {
                let base = File::open(&self.base)?;
                self.opened.get_or_init(|| base)
            }
        };
        fslab_sys::open_to_send(base, &self.site.join(path))
    }

    fn answer(&self, connection: &mut Connection, request: &Request) -> io::Result<()> {
        let path = Path::new(request.path);
        let is_inside = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let opened = match is_inside {
            true => self.open(path),
            false => Err(io::ErrorKind::NotFound.into()),
        };
        let file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let head = response("404 Not Found", 0, request.keep_alive);
                return connection.write_all(head.as_bytes());
            }
            opened => opened?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            let head = response("404 Not Found", 0, request.keep_alive);
            return connection.write_all(head.as_bytes());
        }
        let length = metadata.len();
        let head = response("200 OK", length, request.keep_alive);
        connection.write_all(head.as_bytes())?;
        match self.method {
            Method::Sendfile => send(connection, &file, length),
            Method::Read => copy(connection, file),
        }
    }
}

fn send(connection: &Connection, file: &File, length: u64) -> io::Result<()> {
    let mut sent = 0;
    while sent < length {
        let left = usize::try_from(length - sent).unwrap_or(usize::MAX);
        match fslab_sys::send_file(connection, file, sent, left)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => sent += count as u64,
        }
    }
    Ok(())
}

fn copy(connection: &mut Connection, mut file: File) -> io::Result<()> {
    let mut part = vec![0; PART_BYTES];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(()),
            count => connection.write_all(&part[..count])?,
        }
    }
}
