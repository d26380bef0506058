//! `cargo xtask fuzz [TARGET]`: the search, with what it found.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use fslab_fuzz::{Campaign, Fault, Target, find, targets, work};

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
    /// Runs the target in this process
    #[arg(long, hide = true)]
    worker: Option<String>,
    /// How long that searches
    #[arg(long, hide = true, default_value_t = 1000)]
    time_ms: u64,
    /// Where that keeps its input
    #[arg(long, hide = true)]
    folder: Option<PathBuf>,
    /// It runs the input that is there, and no other
    #[arg(long, hide = true)]
    once: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = match (&arguments.worker, &arguments.folder) {
        (Some(name), Some(folder)) => as_worker(&arguments, name, folder),
        _ => search(&arguments),
    };
    ended.unwrap_or_else(|why| {
        eprintln!("fuzz: {why}");
        ExitCode::from(2)
    })
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

fn named(name: &str) -> Result<&'static Target, String> {
    find(name).ok_or_else(|| {
        let names: Vec<_> = targets().iter().map(|target| target.name).collect();
        format!(
            "there is no target '{name}'; known are {}",
            names.join(", ")
        )
    })
}

fn as_worker(arguments: &Arguments, name: &str, folder: &Path) -> Result<ExitCode, String> {
    let target = named(name)?;
    let failed = |error: std::io::Error| error.to_string();
    if arguments.once {
        let input = std::fs::read(folder.join("current")).map_err(failed)?;
        return Ok(match work(target, &input) {
            Ok(()) => ExitCode::SUCCESS,
            Err(Fault::Panic(_) | Fault::Hang) => ExitCode::FAILURE,
        });
    }
    let campaign = Campaign {
        root: root(),
        seed: arguments.seed.unwrap_or(0),
        time: Duration::from_millis(arguments.time_ms),
    };
    Ok(match campaign.work(target, folder).map_err(failed)? {
        Some(count) => {
            println!("{count}");
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    })
}

fn search(arguments: &Arguments) -> Result<ExitCode, String> {
    let chosen: Vec<&Target> = match &arguments.target {
        Some(name) => vec![named(name)?],
        None => targets().iter().collect(),
    };
    let chance = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| now.as_nanos() as u64)
    };
    let campaign = Campaign {
        root: root(),
        seed: arguments.seed.unwrap_or_else(chance),
        time: Duration::from_secs(arguments.seconds) / chosen.len().max(1) as u32,
    };
    println!("fuzz: seed {}", campaign.seed);
    let mut tried = 0;
    for round in 0.. {
        let campaign = Campaign {
            seed: campaign.seed.wrapping_add(round),
            ..campaign.clone()
        };
        let (inputs, found) = search_all(&chosen, &campaign)?;
        tried += inputs;
        if found > 0 {
            return Ok(ExitCode::FAILURE);
        }
        if tried >= arguments.inputs.unwrap_or(0) {
            break;
        }
    }
    println!("fuzz: {tried} inputs, none failed");
    Ok(ExitCode::SUCCESS)
}

/// Searches each target once, one on each processor; how many inputs ran, and how many targets
/// failed.
fn search_all(chosen: &[&Target], campaign: &Campaign) -> Result<(u64, usize), String> {
    let next = AtomicUsize::new(0);
    let found = AtomicUsize::new(0);
    let tried = AtomicU64::new(0);
    let search_next = || -> Result<(), String> {
        while let Some(target) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            match campaign.search(target).map_err(|error| error.to_string())? {
                Ok(count) => {
                    tried.fetch_add(count, Ordering::Relaxed);
                    println!("fuzz: {}: {count} inputs", target.name);
                }
                Err(finding) => {
                    found.fetch_add(1, Ordering::Relaxed);
                    println!(
                        "fuzz: {}: {}\n  kept as {}",
                        target.name,
                        finding.fault,
                        finding.file.display()
                    );
                }
            }
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        let searches: Vec<_> = (0..threads).map(|_| scope.spawn(search_next)).collect();
        let mut ends = searches
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join);
        ends.try_for_each(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok((tried.into_inner(), found.into_inner()))
}
