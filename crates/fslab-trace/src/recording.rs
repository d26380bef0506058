//! Runs a command under strace and traces its operations below a directory.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Instant;

use fslab_model::Failure;

use crate::{Header, Trace, TracePath, translate};
use crate::{error, folder_listing::FolderListing};

/// Traced calls: those with a path or a descriptor (mmap included), and those that create, change
/// and end processes.
const CALLS: &str = "trace=%file,%desc,%process,fchdir";
/// Vectors are printed in full, since they hold the requested lengths; other structures are
/// abbreviated.
const WRITTEN_OUT: &str = "abbrev=!readv,writev,preadv,pwritev,preadv2,pwritev2";

/// What to record.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The directory; operations elsewhere are left out.
    pub root: PathBuf,
    /// A directory outside of the directory for strace's output.
    pub scratch: PathBuf,
    /// File system of the directory, for the header.
    pub file_system: String,
}

/// A finished recording.
#[derive(Debug)]
pub struct Recorded {
    pub trace: Trace,
    /// The command's exit status.
    pub status: ExitStatus,
}

/// Runs the command in the current directory and returns its trace.
///
/// # Errors
/// A command that fails is no error: the trace holds its exit status.
pub fn record(request: &RecordRequest) -> Result<Recorded, Failure> {
    let root = canonical(&request.root)?;
    let directory =
        std::env::current_dir().map_err(|e| error::of_file("find", Path::new("."), &e))?;
    let directory = canonical(&directory)?;
    let recorder = version()?;
    if request.command.is_empty() {
        return Err(nothing_recorded("no command is given"));
    }
    let before = FolderListing::read(&root)?;
    let output = request.scratch.join("strace");
    let (clock, started_unix_s) = (Instant::now(), fslab_sys::unix_seconds());
    let status = run_strace(request, &output)?;
    let took = clock.elapsed();
    let after = FolderListing::read(&root)?;
    let text = std::fs::read(&output).map_err(|e| error::of_file("read", &output, &e))?;
    if text.is_empty() {
        let program = &request.command[0];
        return Err(nothing_recorded(&format!("{program} was not started")));
    }
    // Strings are hexadecimal, all else of strace's output is ASCII.
    let text = String::from_utf8_lossy(&text);
    let translation = translate(&text, &root, &directory)?;
    let header = Header {
        command: request.command.clone(),
        root: root.to_string_lossy().into_owned(),
        directory: below(&root, &directory),
        file_system: request.file_system.clone(),
        kernel: fslab_sys::kernel_release(),
        started_unix_s,
        took_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        recorder,
        exit: status.to_string(),
        threads: translation.threads,
        handles: translation.handles,
        unseen: translation.unseen,
    };
    let mut names: BTreeSet<TracePath> = translation.touched.clone();
    let files = before.required_entries(&translation.touched, &translation.listed);
    names.extend(files.iter().map(|file| file.path.clone()));
    let trace = Trace {
        header,
        final_files: after.final_files(&names),
        files,
        events: translation.events,
    };
    Ok(Recorded { trace, status })
}

fn run_strace(request: &RecordRequest, output: &Path) -> Result<ExitStatus, Failure> {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-y", "-xx", "-s", "0", "-q"])
        .args(["-e", CALLS, "-e", WRITTEN_OUT, "-e", "signal=none"])
        .args([
            "--absolute-timestamps=format:unix,precision:ns",
            "--syscall-times=ns",
        ])
        // Calls that are not traced then cost nothing.
        .arg("--seccomp-bpf")
        .arg("-o")
        .arg(output)
        .arg("--")
        .args(&request.command);
    strace.status().map_err(|error| no_strace(&error))
}

/// The first line of `strace --version`.
fn version() -> Result<String, Failure> {
    let output = Command::new("strace")
        .arg("--version")
        .output()
        .map_err(|error| no_strace(&error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .lines()
        .next()
        .unwrap_or("strace")
        .replace(" -- version", ""))
}

fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    let found = std::fs::canonicalize(path).and_then(|path| {
        if path.is_dir() {
            Ok(path)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    });
    found.map_err(|error| error::of_root(path, error))
}

fn nothing_recorded(why: &str) -> Failure {
    Failure::unsupported(format!("strace recorded nothing: {why}"))
        .hint("tracing may be forbidden here: see ptrace(2), and yama/ptrace_scope")
}

fn no_strace(error: &io::Error) -> Failure {
    let failure = Failure::missing_tool("cannot start strace").because(error);
    failure.hint("install strace (package strace)")
}

fn below(root: &Path, path: &Path) -> Option<TracePath> {
    use fslab_sys::os::OsStrExt;
    TracePath::below(root.as_os_str().as_bytes(), path.as_os_str().as_bytes())
}
