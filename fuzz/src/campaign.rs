//! The command: a process of libFuzzer for each target, with limits, and what it left.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;

use crate::{Target, corpus_of, find, seeds_of, targets};

/// Address space of a process that runs a target, in KiB: far more than any honest input needs.
const MEMORY_KIB: u64 = 4 << 20;
/// Inputs are no longer than this: what is long is slow, and finds the same.
const BYTES_MAX: usize = 64 << 10;
/// No input may take longer, on a busy machine either.
const INPUT_SECONDS: u64 = 60;
const MINIMISE_SECONDS: u64 = 30;
const MEMORY_FOLDER: &str = "/dev/shm";
/// The variable with the name of a process's target.
pub(crate) const TARGET: &str = "FSLAB_FUZZ_TARGET";
/// The length, in 8 bytes, and the bytes of the input that runs, in the directory of the process.
pub(crate) const CURRENT: &str = "current";
/// The paths of the seeds, with commas, there.
pub(crate) const SEEDS: &str = "seeds";
const MINIMISED: &str = "minimised";

/// Gives mutated texts to every reader of untrusted input, with a target on each processor
#[derive(Debug, Parser)]
struct Arguments {
    /// The target [default: all]
    target: Option<String>,
    /// Processor time, all targets together
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Search again, with other seeds, until all targets together have had so many inputs
    #[arg(long)]
    inputs: Option<u64>,
    /// Decides every input [default: chance, and printed]
    #[arg(long)]
    seed: Option<u64>,
}

/// The search over targets.
struct Campaign {
    root: PathBuf,
    /// In memory where there is one, with a directory for each target.
    folder: tempfile::TempDir,
    seconds: u64,
}

/// An input that failed.
struct Finding {
    file: PathBuf,
    /// What it did.
    fault: String,
}

/// Runs the command; returns its status.
pub(crate) fn command() -> i32 {
    match search(&Arguments::parse()) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(why) => {
            eprintln!("fuzz: {why}");
            2
        }
    }
}

/// False where an input failed.
fn search(arguments: &Arguments) -> Result<bool, String> {
    let named = |name: &String| {
        let names: Vec<_> = targets().iter().map(|target| target.name).collect();
        let known = names.join(", ");
        find(name).ok_or_else(|| format!("there is no target '{name}'; known are {known}"))
    };
    let chosen: Vec<&Target> = match &arguments.target {
        Some(name) => vec![named(name)?],
        None => targets().iter().collect(),
    };
    let chance = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| now.as_nanos() as u64)
    };
    let folder = tempfile::tempdir_in(MEMORY_FOLDER).or_else(|_| tempfile::tempdir());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let campaign = Campaign {
        root: here.parent().unwrap_or(here).to_owned(),
        folder: folder.map_err(|error| error.to_string())?,
        seconds: (arguments.seconds / chosen.len() as u64).max(1),
    };
    let seed = arguments.seed.unwrap_or_else(chance);
    println!("fuzz: seed {seed}");
    let mut tried = 0;
    for round in 0.. {
        let (inputs, found) = campaign.search_all(&chosen, seed.wrapping_add(round))?;
        tried += inputs;
        if found > 0 {
            return Ok(false);
        }
        if tried >= arguments.inputs.unwrap_or(0) {
            break;
        }
    }
    println!("fuzz: {tried} inputs, none failed");
    Ok(true)
}

impl Campaign {
    /// Searches each target once, one on each processor; how many inputs ran, and how many targets
    /// failed.
    fn search_all(&self, chosen: &[&Target], seed: u64) -> Result<(u64, usize), String> {
        let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let tried = AtomicU64::new(0);
        let search_next = || -> io::Result<()> {
            while let Some(target) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                match self.search(target, seed)? {
                    Ok(count) => {
                        tried.fetch_add(count, Ordering::Relaxed);
                        println!("fuzz: {}: {count} inputs", target.name);
                    }
                    Err(Finding { file, fault }) => {
                        found.fetch_add(1, Ordering::Relaxed);
                        let (name, file) = (target.name, file.display());
                        println!("fuzz: {name}: {fault}\n  kept as {file}");
                    }
                }
            }
            Ok(())
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        std::thread::scope(|scope| {
            let searches: Vec<_> = (0..threads).map(|_| scope.spawn(search_next)).collect();
            let join = std::thread::ScopedJoinHandle::join;
            searches.into_iter().map(join).try_for_each(|end| {
                end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    .map_err(|error| error.to_string())
            })
        })?;
        Ok((tried.into_inner(), found.into_inner()))
    }

    /// Searches `target` in a separate process; how many inputs ran, or the one that failed.
    fn search(&self, target: &Target, seed: u64) -> io::Result<Result<u64, Finding>> {
        let folder = self.folder.path().join(target.name);
        // What one round found is where the next one begins.
        fs::create_dir_all(folder.join("corpus"))?;
        let paths = seeds_of(&self.root, target);
        let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        fs::write(folder.join(SEEDS), paths.join(","))?;
        let words = [
            // 0 is by chance.
            format!("-seed={}", (seed as u32).max(1)),
            format!("-max_total_time={}", self.seconds),
            format!("-max_len={BYTES_MAX}"),
            format!("-timeout={INPUT_SECONDS}"),
            format!("-dict={}", self.root.join("fuzz/awkward.dict").display()),
            format!("-seed_inputs=@{SEEDS}"),
            "-rss_limit_mb=0".into(),
            "-detect_leaks=0".into(),
            "corpus".into(),
        ];
        let ended = limited(target, &folder, &words)?;
        let said = String::from_utf8_lossy(&ended.stderr);
        if ended.status.success() {
            ensure_searched(&said, paths.len())?;
            let count = said.lines().find_map(|line| {
                let (count, _) = line.strip_prefix("Done ")?.split_once(' ')?;
                count.parse().ok()
            });
            return Ok(Ok(count.unwrap_or(0)));
        }
        let mut lines = said.lines();
        let begins = ["panicked at", "memory allocation of", "ERROR: libFuzzer"];
        let fault = lines.find(|line| begins.iter().any(|begin| line.contains(begin)));
        let fault = match (fault, lines.next()) {
            (Some(fault), Some(next)) => format!("{fault} {next}"),
            _ => format!("end of the process, {}", ended.status),
        };
        let file = self.keep(target, &shortened(target, &folder)?)?;
        Ok(Err(Finding { file, fault }))
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

/// Fails where libFuzzer did not keep the seeds: it would search from nothing.
fn ensure_searched(said: &str, seeds: usize) -> io::Result<()> {
    let mut begun = said.lines().filter(|line| line.contains("INITED"));
    let kept = begun.find_map(|line| {
        let (count, _) = line.split_once("corp: ")?.1.split_once('/')?;
        count.parse::<usize>().ok()
    });
    match kept {
        Some(kept) if 2 * kept >= seeds => Ok(()),
        kept => Err(io::Error::other(format!(
            "libFuzzer kept {} of {seeds} seeds",
            kept.unwrap_or(0)
        ))),
    }
}

/// The input that ended the process, made shorter by libFuzzer as long as it ends one.
fn shortened(target: &Target, folder: &Path) -> io::Result<Vec<u8>> {
    let current = fs::read(folder.join(CURRENT))?;
    let (length, bytes) = current.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let length = u64::from_le_bytes(*length) as usize;
    let input = bytes.get(..length).unwrap_or(bytes);
    fs::write(folder.join("input"), input)?;
    let words = [
        "-minimize_crash=1".into(),
        format!("-max_total_time={MINIMISE_SECONDS}"),
        format!("-timeout={INPUT_SECONDS}"),
        format!("-exact_artifact_path={MINIMISED}"),
        "input".into(),
    ];
    limited(target, folder, &words)?;
    // Where libFuzzer found nothing shorter, or could not write it.
    Ok(fs::read(folder.join(MINIMISED)).unwrap_or_else(|_| input.to_vec()))
}

/// A process of `target` in `folder`, with no more memory than the limit.
fn limited(target: &Target, folder: &Path, words: &[String]) -> io::Result<Output> {
    let script = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"");
    Command::new("/bin/sh")
        .args(["-c", &script])
        .arg(std::env::current_exe()?)
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // Files of targets, too.
        .env("TMPDIR", folder)
        .env(TARGET, target.name)
        .stdin(Stdio::null())
        .output()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_begins_without_its_seeds_is_an_error() {
        let begun =
            |kept| format!("INFO: Seed: 3\n#30\tINITED ft: 29 corp: {kept}/119Kb rss: 38Mb");
        assert!(ensure_searched(&begun("29"), 29).is_ok());
        assert!(ensure_searched(&begun("14"), 29).is_err());
        assert!(ensure_searched("Done 10 runs", 29).is_err());
    }
}
