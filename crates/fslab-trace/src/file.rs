//! The trace file: JSON lines.
//!
//! ```text
//!     {"fslab_trace":1, ...}              the header
//!     {"before":{...}}                    each used path that existed before
//!     {"event":{...}}                     each call, in the order of their start
//!     {"after":{...}}                     each used path, afterwards
//!     {"end":{"lines":N}}                 detects a truncated file
//! ```

use std::io::{BufWriter, Write};
use std::path::Path;

use fslab_sys::AtomicFile;
use serde::{Deserialize, Serialize};

use fslab_model::Failure;

use crate::{FinalFile, ForeignTrace, Header, Trace, TraceEvent, TreeEntry, error};

/// Version of the format that is written.
pub const TRACE_FORMAT: u32 = 1;
/// Size limit of a trace file: in memory it takes several times as much.
pub const TRACE_BYTES_MAX: u64 = 1 << 30;
/// Limit of threads: each has an entry in tables, even without events.
const THREADS_MAX: u32 = 1 << 16;
/// Limit of open files over the duration of a trace, for the same reason.
const HANDLES_MAX: u32 = 1 << 22;

#[derive(Serialize, Deserialize)]
struct FirstLine {
    fslab_trace: u32,
    #[serde(flatten)]
    header: Header,
}

/// The version in the first line, read before the rest is interpreted.
#[derive(Deserialize)]
struct Version {
    fslab_trace: u32,
}

/// Any line after the first.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BodyLine {
    Before(TreeEntry),
    Event(TraceEvent),
    After(FinalFile),
    End { lines: usize },
}

impl Trace {
    /// Writes the trace to `path`. The file is replaced atomically.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let failed = |e| error::of_file("write", path, &e);
        let mut file = BufWriter::new(AtomicFile::create(path).map_err(failed)?);
        for line in self.lines() {
            file.write_all(line.as_bytes()).map_err(failed)?;
            file.write_all(b"\n").map_err(failed)?;
        }
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.commit().map_err(failed)
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        let text =
            |line: &BodyLine| serde_json::to_string(line).expect("numbers and paths serialize");
        let first = FirstLine {
            fslab_trace: TRACE_FORMAT,
            header: self.header.clone(),
        };
        let first = serde_json::to_string(&first).expect("a header serializes");
        let count = self.files.len() + self.events.len() + self.final_files.len();
        let before = self.files.iter().cloned().map(BodyLine::Before);
        let events = self.events.iter().cloned().map(BodyLine::Event);
        let after = self.final_files.iter().cloned().map(BodyLine::After);
        let end = std::iter::once(BodyLine::End { lines: count });
        let rest = before.chain(events).chain(after).chain(end);
        std::iter::once(first).chain(rest.map(move |line| text(&line)))
    }

    /// Reads the trace at `path`.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = fslab_sys::read_regular_file(path, TRACE_BYTES_MAX)
            .map_err(|e| error::of_file("read", path, &e))?;
        Self::parse(&text, path)
    }

    /// Parses `bytes`, the content of `path`.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, Failure> {
        let shape = |problem: &str| {
            let text = format!("{} is not a trace: {problem}", path.display());
            Failure::bad_input(text).hint(
                "traces are made by `fslab trace record`; iologs of fio, texts of blkparse and \
                 outputs of strace are read, too",
            )
        };
        // Messages of serde name types of this program.
        let syntax = |line: usize, error: serde_json::Error| {
            let problem = match error.is_data() {
                true => "is not readable: a field is missing or has another value than expected",
                false => "is not JSON",
            };
            shape(&format!(
                "line {line} {problem}, at column {}",
                error.column()
            ))
        };
        let text = std::str::from_utf8(bytes).map_err(|_| shape("it is not UTF-8"))?;
        if let Some(foreign) = ForeignTrace::of(text) {
            let refused = |problem: String| {
                let (path, title) = (path.display(), foreign.title());
                let text = format!("cannot read {path} as {title}: {problem}");
                Failure::bad_input(text).hint(foreign.hint())
            };
            let trace = foreign.trace(text).map_err(refused)?;
            trace.validate().map_err(refused)?;
            return Ok(trace);
        }
        let mut lines = text.lines();
        let first = lines.next().ok_or_else(|| shape("it is empty"))?;
        let header = |_| shape("its first line is not the header of a trace");
        let version: Version = serde_json::from_str(first).map_err(header)?;
        if version.fslab_trace > TRACE_FORMAT {
            let (path, found) = (path.display(), version.fslab_trace);
            return Err(Failure::bad_input(format!(
                "{path} has trace format {found}; this fslab reads up to {TRACE_FORMAT}"
            )));
        }
        let first: FirstLine = serde_json::from_str(first).map_err(|e| syntax(1, e))?;
        let mut trace = Self {
            header: first.header,
            ..Self::default()
        };
        let mut end = None;
        for (number, line) in (2..).zip(lines) {
            match serde_json::from_str(line).map_err(|e| syntax(number, e))? {
                BodyLine::Before(entry) => trace.files.push(entry),
                BodyLine::Event(event) => trace.events.push(event),
                BodyLine::After(file) => trace.final_files.push(file),
                BodyLine::End { lines } => end = Some(lines),
            }
        }
        let found = trace.files.len() + trace.events.len() + trace.final_files.len();
        if end != Some(found) {
            return Err(shape("it was cut, or lines of it are missing"));
        }
        trace.validate().map_err(|problem| shape(&problem))?;
        Ok(trace)
    }

    /// Checks that threads and open files exist and times ascend: later code indexes by them.
    fn validate(&self) -> Result<(), String> {
        let (threads, handles) = (self.header.threads, self.header.handles);
        for (what, found, most) in [
            ("threads", threads, THREADS_MAX),
            ("open files", handles, HANDLES_MAX),
        ] {
            if found > most {
                return Err(format!(
                    "it has {found} {what}; at most {most} are possible"
                ));
            }
        }
        for event in &self.events {
            let wrong_handle = event.operation.handles().find(|handle| *handle >= handles);
            if let Some(handle) = wrong_handle {
                return Err(format!("there is no open file {handle}"));
            }
            let wrong_thread = event.operation.child().into_iter().chain([event.thread]);
            if let Some(thread) = wrong_thread.into_iter().find(|thread| *thread >= threads) {
                return Err(format!("there is no thread {thread}"));
            }
        }
        if self.events.is_sorted_by_key(|event| event.at_ns) {
            Ok(())
        } else {
            Err("its events are not sorted by time".into())
        }
    }
}
