//! Clients that request every file of a site, in an order derived from the seed.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

use fslab_engine::{RunContext, ThreadMeasured, cpu_use};
use fslab_model::{LatencyCounts, OperationLatency};
use fslab_sys::ResourceUse;

use super::connection::{Connection, Endpoint};
use super::http::{HEAD_MAX, head_length, parse_response, request};
use super::parameters::ServeParameters;
use super::site::{self, Site};
use crate::error::ProgramError;
use fslab_stats::CounterRandom;

/// Name of a request's latency.
pub(super) const OPERATION: &str = "request";
/// Random stream of the order.
const PURPOSE: u64 = 0x00c1_1e47;
/// Bytes per read(2) of a client.
const PART_BYTES: usize = 256 << 10;
/// Interval at which a waiting client checks for a stop.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// All clients of a phase.
pub(super) struct Clients<'a> {
    pub(super) parameters: &'a ServeParameters,
    pub(super) site: &'a Site,
    pub(super) context: &'a RunContext,
    pub(super) endpoint: &'a Endpoint,
}

#[derive(Debug)]
pub(super) struct ClientResult {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) bytes: u64,
    pub(super) latency: LatencyCounts,
    pub(super) used: ResourceUse,
    /// The server's header `Server`.
    pub(super) server: Option<String>,
}

impl ClientResult {
    /// The figures of one of several clients.
    pub(super) fn thread(&self) -> ThreadMeasured {
        let histogram = self.latency.histogram();
        ThreadMeasured {
            elapsed_ns: self.end_ns - self.start_ns,
            operations: histogram.count(),
            bytes: self.bytes,
            latencies: vec![OperationLatency {
                operation: OPERATION.into(),
                histogram,
            }],
            cpu: Some(cpu_use(self.used)),
        }
    }
}

impl Clients<'_> {
    /// Starts all clients together, and waits for the last.
    pub(super) fn run(&self) -> Result<Vec<ClientResult>, ProgramError> {
        let count = self.parameters.clients;
        let shares = self.shares();
        let barrier = Barrier::new(count as usize);
        std::thread::scope(|scope| {
            let barrier = &barrier;
            let threads: Vec<_> = shares
                .iter()
                .map(|share| scope.spawn(move || Client::new(self).run(share, barrier)))
                .collect();
            let ended = threads.into_iter().map(|thread| {
                let panicked = |_| Err(ProgramError::other("a client panicked"));
                thread.join().unwrap_or_else(panicked)
            });
            // All are joined before the first error is returned.
            let ended: Vec<_> = ended.collect();
            ended.into_iter().collect()
        })
    }

    /// The files of each client: all files in random order, distributed round-robin.
    fn shares(&self) -> Vec<Vec<u64>> {
        let count = self.parameters.clients as usize;
        let mut draw = CounterRandom::counter(self.context.seed, PURPOSE);
        let mut shares = vec![Vec::new(); count];
        let mut next = 0;
        for _ in 0..self.parameters.passes {
            let mut files: Vec<_> = (0..self.site.files).collect();
            draw.shuffle(&mut files);
            for file in files {
                shares[next % count].push(file);
                next += 1;
            }
        }
        shares
    }
}

/// One client with its buffers.
struct Client<'a> {
    clients: &'a Clients<'a>,
    connection: Option<Connection>,
    part: Vec<u8>,
    /// Expected content; empty unless it is compared.
    expected: Vec<u8>,
    served: ClientResult,
}

impl<'a> Client<'a> {
    fn new(clients: &'a Clients<'a>) -> Self {
        let expected = if clients.parameters.verify {
            PART_BYTES
        } else {
            0
        };
        Self {
            clients,
            connection: None,
            part: vec![0; PART_BYTES],
            expected: vec![0; expected],
            served: ClientResult {
                start_ns: 0,
                end_ns: 0,
                bytes: 0,
                latency: LatencyCounts::default(),
                used: ResourceUse::default(),
                server: None,
            },
        }
    }

    fn run(mut self, files: &[u64], barrier: &Barrier) -> Result<ClientResult, ProgramError> {
        let paths = files.iter().map(|file| self.clients.site.path(*file));
        let paths: Vec<_> = paths.collect();
        barrier.wait();
        let used = ResourceUse::of_thread();
        self.served.start_ns = fslab_sys::monotonic_ns();
        let mut began_ns = self.served.start_ns;
        for (file, path) in files.iter().zip(&paths) {
            if self.clients.context.stop.is_raised() {
                return Err(ProgramError::interrupted("web-server"));
            }
            self.fetch(*file, path)?;
            let now_ns = fslab_sys::monotonic_ns();
            self.served.latency.record(now_ns - began_ns);
            began_ns = now_ns;
        }
        self.served.end_ns = began_ns;
        self.served.used = ResourceUse::of_thread().since(used);
        Ok(self.served)
    }

    /// Requests a file and reads all of it.
    fn fetch(&mut self, file: u64, path: &Path) -> Result<(), ProgramError> {
        let failed = |error| ProgramError::io("get", path, &error);
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self
                .clients
                .endpoint
                .connect(READ_TIMEOUT)
                .map_err(failed)?,
        };
        let keep_alive = self.clients.parameters.keep_alive;
        let text = request(&path.to_string_lossy(), keep_alive);
        connection.write_all(text.as_bytes()).map_err(failed)?;
        let (head, mut filled) = self.read_head(&mut connection, path)?;
        let response = parse_response(&self.part[..head]).map_err(failed)?;
        let wanted = self.clients.site.file_bytes;
        if response.status != 200 || response.length != wanted {
            return Err(ProgramError::wrong(format!(
                "the server answered {} with {} bytes for {}, which has {wanted}",
                response.status,
                response.length,
                path.display()
            ))
            .hint("run `web-publish` with the same parameters before"));
        }
        if self.served.server.is_none() {
            self.served.server = response.server.map(str::to_owned);
        }
        let goes_on = keep_alive && response.keep_alive;
        self.part.copy_within(head..filled, 0);
        filled -= head;
        let mut taken = 0;
        loop {
            self.compare(file, path, taken, filled)?;
            taken += filled as u64;
            if taken >= wanted {
                break;
            }
            filled = self.read(&mut connection, 0, path)?;
        }
        if taken > wanted {
            let text = format!("the server sent more than {} has", path.display());
            return Err(ProgramError::wrong(text));
        }
        self.served.bytes += taken;
        self.connection = goes_on.then_some(connection);
        Ok(())
    }

    /// Reads until the head of a response is complete; returns its length and the bytes read.
    fn read_head(
        &mut self,
        connection: &mut Connection,
        path: &Path,
    ) -> Result<(usize, usize), ProgramError> {
        let mut filled = 0;
        loop {
            filled += self.read(connection, filled, path)?;
            if let Some(head) = head_length(&self.part[..filled]) {
                return Ok((head, filled));
            }
            if filled > HEAD_MAX {
                let text = format!("the server's answer for {} has no end", path.display());
                return Err(ProgramError::wrong(text));
            }
        }
    }

    /// Reads into the buffer from `at` on; returns the number of bytes, at least 1.
    fn read(
        &mut self,
        connection: &mut Connection,
        at: usize,
        path: &Path,
    ) -> Result<usize, ProgramError> {
        loop {
            let error = match connection.read(&mut self.part[at..]) {
                Ok(0) => io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the server closed the connection before the end of the file",
                ),
                Ok(count) => return Ok(count),
                Err(error) => error,
            };
            let waits = [
                io::ErrorKind::WouldBlock,
                io::ErrorKind::TimedOut,
                io::ErrorKind::Interrupted,
            ];
            if !waits.contains(&error.kind()) {
                return Err(ProgramError::io("get", path, &error));
            }
            if self.clients.context.stop.is_raised() {
                return Err(ProgramError::interrupted("web-server"));
            }
        }
    }

    /// Compares the bytes read with the expected content from `offset` on.
    fn compare(
        &mut self,
        file: u64,
        path: &Path,
        offset: u64,
        count: usize,
    ) -> Result<(), ProgramError> {
        if self.expected.is_empty() {
            return Ok(());
        }
        let expected = &mut self.expected[..count];
        site::content(self.clients.context.seed, file, offset, expected);
        let differs = |(one, other): (&u8, &u8)| one != other;
        match self.part.iter().zip(&*expected).position(differs) {
            None => Ok(()),
            Some(at) => Err(ProgramError::wrong(format!(
                "{} differs from what was published at offset {}",
                path.display(),
                offset + at as u64
            ))),
        }
    }
}
