//! The search over targets: a process for each, with a limit of its memory, and what it left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::minimise::minimise;
use crate::worker::{self, CURRENT, FAULT, FOUND, Search};
use crate::{Target, corpus_of, seeds_of};

/// Address space of a process that runs a target, in KiB: far more than any honest input needs.
const MEMORY_KIB: u64 = 4 << 20;
const MEMORY_FOLDER: &str = "/dev/shm";
/// Processes that are started to make an input shorter which ends them.
const MINIMISE_BUDGET: usize = 60;

/// What is searched.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The root of the workspace.
    pub root: PathBuf,
    /// Decides every input.
    pub seed: u64,
    /// For each target.
    pub time: Duration,
}

/// An input that failed.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Where it is kept.
    pub file: PathBuf,
    /// What it did.
    pub fault: String,
}

impl Campaign {
    /// Searches `target` in a separate process; how many inputs ran, or the one that failed.
    pub fn search(&self, target: &Target) -> io::Result<Result<u64, Finding>> {
        let folder = scratch()?;
        let (seed, time_ms) = (self.seed.to_string(), self.time.as_millis().to_string());
        let words = [
            "--worker",
            target.name,
            "--seed",
            &seed,
            "--time-ms",
            &time_ms,
        ];
        let ended = limited(&words, folder.path())?;
        if ended.status.success() {
            let count = String::from_utf8_lossy(&ended.stdout);
            return Ok(Ok(count.trim().parse().unwrap_or(0)));
        }
        let fault = fs::read_to_string(folder.path().join(FAULT)).unwrap_or_else(|_| {
            let said = String::from_utf8_lossy(&ended.stderr);
            let last = said.lines().last().unwrap_or_default().to_owned();
            format!("end of the process, {}: {last}", ended.status)
        });
        let input = match fs::read(folder.path().join(FOUND)) {
            Ok(input) => input,
            Err(_) => shortened(target, &fs::read(folder.path().join(CURRENT))?)?,
        };
        let file = self.keep(target, &input)?;
        Ok(Err(Finding { file, fault }))
    }

    /// The work of the process that [`Campaign::search`] starts; `false` where an input failed.
    pub fn work(&self, target: &'static Target, folder: &Path) -> io::Result<Option<u64>> {
        let seeds = seeds_of(&self.root, target);
        let mut inputs: Vec<Vec<u8>> = seeds.into_iter().map(|(_, bytes)| bytes).collect();
        if inputs.is_empty() {
            inputs.push(Vec::new());
        }
        let search = Search {
            seed: self.seed,
            time: self.time,
        };
        worker::search(target, &inputs, search, folder)
    }

    fn keep(&self, target: &Target, input: &[u8]) -> io::Result<PathBuf> {
        let folder = corpus_of(&self.root, target);
        fs::create_dir_all(&folder)?;
        let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let file = folder.join(format!("found-{hash:016x}"));
        fs::write(&file, input)?;
        Ok(file)
    }
}

/// A directory in memory where there is one: the input that runs is written each time, and ext4
/// writes a file that was emptied and filled to the disk when it is closed.
fn scratch() -> io::Result<tempfile::TempDir> {
    tempfile::tempdir_in(MEMORY_FOLDER).or_else(|_| tempfile::tempdir())
}

/// The input made shorter, as long as a separate process still fails with it.
fn shortened(target: &Target, input: &[u8]) -> io::Result<Vec<u8>> {
    let folder = scratch()?;
    let file = folder.path().join(CURRENT);
    let began = Instant::now();
    let words = ["--worker", target.name, "--once"];
    let fails = |shorter: &[u8]| {
        // An input that hangs costs its limit each time.
        began.elapsed() < 6 * worker::INPUT_LIMIT
            && fs::write(&file, shorter).is_ok()
            && limited(&words, folder.path()).is_ok_and(|ended| !ended.status.success())
    };
    Ok(minimise(input, MINIMISE_BUDGET, fails))
}

/// This program, with those words and the directory, and with no more memory than the limit.
fn limited(words: &[&str], folder: &Path) -> io::Result<Output> {
    let script = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"");
    Command::new("/bin/sh")
        .args(["-c", &script])
        .arg(std::env::current_exe()?)
        .args(words)
        .arg("--folder")
        .arg(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // Files of targets, too.
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .output()
}
