//! Runs a command under strace, and makes a trace of what it did below a folder.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::{Census, Header, Trace, TraceError, TracePath, translate};

/// What is listened to: calls with a name or a descriptor, and those that make, change and end
/// processes. Memory maps of files are among the descriptors' calls.
const CALLS: &str = "trace=%file,%desc,%process,fchdir";
/// Vectors are written out, so that the lengths asked for are known; all else is cut short.
const WRITTEN_OUT: &str = "abbrev=!readv,writev,preadv,pwritev,preadv2,pwritev2";

/// What is to be recorded.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder below which operations are kept.
    pub root: PathBuf,
    /// A directory for what strace writes; it must not be below the folder.
    pub scratch: PathBuf,
    /// The name of the file system that holds the folder, for the header.
    pub file_system: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Recorded {
    /// The trace.
    pub trace: Trace,
    /// How the command ended.
    pub status: ExitStatus,
}

/// Runs the command, in the directory of the caller, and gives its trace.
///
/// # Errors
/// [`TraceError`]. A command that fails is no error: its trace says how it ended.
pub fn record(request: &RecordRequest) -> Result<Recorded, TraceError> {
    let root = canonical(&request.root)?;
    let directory = std::env::current_dir().map_err(|e| TraceError::io("find", ".", e))?;
    let directory = canonical(&directory)?;
    let recorder = version()?;
    if request.command.is_empty() {
        return Err(TraceError::Strace("there is no command".into()));
    }
    let before = Census::take(&root)?;
    let output = request.scratch.join("strace");
    let (clock, started) = (Instant::now(), SystemTime::now());
    let status = listen(request, &output)?;
    let took = clock.elapsed();
    let after = Census::take(&root)?;
    let text = std::fs::read(&output).map_err(|e| TraceError::io("read", &output, e))?;
    if text.is_empty() {
        let program = &request.command[0];
        return Err(TraceError::Strace(format!("{program} was not started")));
    }
    // All strings are hexadecimal; what else strace writes is ASCII.
    let text = String::from_utf8_lossy(&text);
    let translation = translate(&text, &root, &directory)?;
    let header = Header {
        command: request.command.clone(),
        root: root.to_string_lossy().into_owned(),
        directory: below(&root, &directory),
        file_system: request.file_system.clone(),
        kernel: fslab_sys::kernel_release(),
        started_unix_s: started
            .duration_since(UNIX_EPOCH)
            .map_or(0, |it| it.as_secs()),
        took_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        recorder,
        exit: status.to_string(),
        threads: translation.threads,
        handles: translation.handles,
        unseen: translation.unseen,
    };
    let mut names: BTreeSet<TracePath> = translation.touched.clone();
    let files = before.needed(&translation.touched, &translation.listed);
    names.extend(files.iter().map(|file| file.path.clone()));
    let trace = Trace {
        header,
        left: after.left(&names),
        files,
        events: translation.events,
    };
    Ok(Recorded { trace, status })
}

fn listen(request: &RecordRequest, output: &Path) -> Result<ExitStatus, TraceError> {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-y", "-xx", "-s", "0", "-q"])
        .args(["-e", CALLS, "-e", WRITTEN_OUT, "-e", "signal=none"])
        .args([
            "--absolute-timestamps=format:unix,precision:ns",
            "--syscall-times=ns",
        ])
        // Calls that are not listened to then cost nothing.
        .arg("--seccomp-bpf")
        .arg("-o")
        .arg(output)
        .arg("--")
        .args(&request.command);
    strace.status().map_err(TraceError::NoStrace)
}

/// The first line of what strace says of itself.
fn version() -> Result<String, TraceError> {
    let output = Command::new("strace")
        .arg("--version")
        .output()
        .map_err(TraceError::NoStrace)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .lines()
        .next()
        .unwrap_or("strace")
        .replace(" -- version", ""))
}

fn canonical(path: &Path) -> Result<PathBuf, TraceError> {
    let found = std::fs::canonicalize(path).and_then(|path| {
        if path.is_dir() {
            Ok(path)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    });
    found.map_err(|error| TraceError::Root {
        root: path.to_owned(),
        problem: error.to_string(),
    })
}

fn below(root: &Path, path: &Path) -> Option<TracePath> {
    use std::os::unix::ffi::OsStrExt;
    TracePath::below(root.as_os_str().as_bytes(), path.as_os_str().as_bytes())
}
