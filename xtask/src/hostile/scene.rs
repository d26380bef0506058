//! A directory with its own store, images, states and temporary files, in which fslab runs; and
//! what is left of a run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::processes;

/// Until the processes of a killed run have ended.
const END_LIMIT: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);
/// No command takes longer.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);
/// Address space of a command that reads damaged files, in KiB.
const MEMORY_KIB: u64 = 4 << 20;
const FOLDERS: [&str; 5] = ["images", "out", "state", "tmp", "data"];

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// The exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    pub(super) out: Vec<u8>,
    pub(super) err: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The last lines of what it said.
    pub(super) fn words(&self) -> String {
        let lines: Vec<&str> = self.err.lines().collect();
        let last = lines.len().saturating_sub(6);
        format!("exit {:?}: {}", self.code, lines[last..].join(" | "))
    }
}

/// The directory.
pub(super) struct Scene {
    pub(super) folder: PathBuf,
    fslab: PathBuf,
}

impl Scene {
    /// A new one below the directory of temporary files that survive.
    pub(super) fn new(name: &str, fslab: &Path) -> Result<Self, String> {
        let name = format!("fslab-hostile-{}-{name}", std::process::id());
        let folder = Path::new("/var/tmp").join(name);
        for inner in FOLDERS {
            fs::create_dir_all(folder.join(inner))
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        Ok(Self {
            folder,
            fslab: fslab.to_owned(),
        })
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// fslab with the directory's own state; the cache of labs is the user's.
    pub(super) fn command<W: AsRef<OsStr>>(&self, words: &[W]) -> Command {
        let mut command = Command::new(&self.fslab);
        command.args(words);
        self.dress(&mut command);
        command
    }

    fn dress(&self, command: &mut Command) {
        command
            .env("XDG_STATE_HOME", self.at("state"))
            .env("XDG_DATA_HOME", self.at("data"))
            .env("TMPDIR", self.at("tmp"))
            .current_dir(&self.folder)
            .stdin(Stdio::null());
    }

    /// Runs a command to its end.
    pub(super) fn run<W: AsRef<OsStr>>(&self, words: &[W]) -> Result<Ended, String> {
        self.command(words)
            .output()
            .map(Ended::of)
            .map_err(|error| format!("cannot start {}: {error}", self.fslab.display()))
    }

    /// Runs a command that reads a damaged file, with a limit of memory and time.
    pub(super) fn run_limited(&self, words: &[&str], limit: Duration) -> Result<Ended, String> {
        let script = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"");
        let seconds = limit.as_secs().to_string();
        // timeout(1) ends what hangs, with exit code 124 or a signal.
        let mut command = Command::new("timeout");
        command
            .args(["-k", "1", &seconds, "/bin/sh", "-c", &script])
            .arg(&self.fslab)
            .args(words);
        self.dress(&mut command);
        let ended = command.output();
        ended
            .map(Ended::of)
            .map_err(|error| format!("cannot start timeout: {error}"))
    }

    /// Starts a command; what it prints is in `out/said`.
    pub(super) fn start<W: AsRef<OsStr>>(&self, words: &[W]) -> Result<Child, String> {
        let said = self.at("out/said");
        let file = fs::File::create(&said)
            .map_err(|error| format!("cannot make {}: {error}", said.display()))?;
        let again = file.try_clone().map_err(|error| error.to_string())?;
        let mut command = self.command(words);
        command.stdout(file).stderr(again);
        command
            .spawn()
            .map_err(|error| format!("cannot start fslab: {error}"))
    }

    /// What a started command has printed last.
    pub(super) fn said(&self) -> String {
        let text = fs::read_to_string(self.at("out/said")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(6)..].join(" | ")
    }

    /// Waits for a started command.
    pub(super) fn wait(&self, child: &mut Child) -> Result<Option<i32>, String> {
        let until = Instant::now() + COMMAND_LIMIT;
        while Instant::now() < until {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status.code());
            }
            thread::sleep(STEP);
        }
        processes::signal(&processes::tree(child.id()), "KILL")?;
        let _ = child.wait();
        Err(format!(
            "a run did not end in {} s: {}",
            COMMAND_LIMIT.as_secs(),
            self.said()
        ))
    }

    /// What a run has left, after `fslab clean`; empty if nothing.
    pub(super) fn left(&self) -> Vec<String> {
        let until = Instant::now() + END_LIMIT;
        loop {
            let left = self.left_now();
            if left.is_empty() || Instant::now() >= until {
                return left;
            }
            thread::sleep(STEP);
        }
    }

    fn left_now(&self) -> Vec<String> {
        let text = self.folder.to_string_lossy().into_owned();
        let mut left = Vec::new();
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let ours = mounts.lines().filter(|line| line.contains(&text));
        left.extend(ours.map(|line| format!("mount {line}")));
        for device in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
            let behind = device.path().join("loop/backing_file");
            let behind = fs::read_to_string(behind).unwrap_or_default();
            if behind.contains(&text) {
                left.push(format!("{} on {behind}", device.path().display()));
            }
        }
        let processes = processes::with_words(&text);
        let own = std::process::id();
        let others = processes.into_iter().filter(|id| *id != own);
        left.extend(others.map(|id| format!("process {id}")));
        for folder in ["images", "tmp"] {
            let entries = fs::read_dir(self.at(folder))
                .into_iter()
                .flatten()
                .flatten();
            left.extend(entries.map(|entry| format!("file {}", entry.path().display())));
        }
        left
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
