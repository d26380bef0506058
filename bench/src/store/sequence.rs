//! The sequence: fill, list and show, add.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fslab_store::{RunFilter, Store};

use super::args::StoreArgs;
use super::commands::{Desk, commands};
use super::filling::{Model, TRIALS_A_RUN, failed, fill};
use super::findings::{Added, Findings};
use crate::contenders::Programs;
use crate::error::BenchError;
use crate::machine;
use crate::series::Spread;

/// Measures what `args` ask for.
pub(crate) fn measure(
    args: &StoreArgs,
    fslab: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Findings, BenchError> {
    let scratch = tempfile::tempdir()
        .map_err(|e| BenchError::io("make a directory in", &std::env::temp_dir(), e))?;
    let programs = Programs::compile(scratch.path())?;
    let mut folder = tempfile::Builder::new()
        .prefix("fslab-bench-")
        .tempdir_in(&args.folder)
        .map_err(|e| BenchError::io("make a directory in", &args.folder, e))?;
    folder.disable_cleanup(args.keep);
    let mut findings = Findings {
        machine: machine::facts(),
        times: args.times(),
        quick: args.quick,
        ..Findings::default()
    };
    let empty = add_one_by_one(&folder.path().join("empty.db"), 0)?;
    let store = prepare(args, folder.path(), stop, &mut findings)?;
    let desk = Desk {
        fslab,
        store: &store,
        programs: &programs,
        scratch: scratch.path(),
        times: args.times(),
        may_drop_caches: fslab_sys::is_superuser(),
    };
    if !desk.may_drop_caches {
        let note = "not root: nothing was measured with an empty page cache";
        findings.notes.push(note.to_owned());
    }
    let runs = u32::try_from(findings.runs).unwrap_or(u32::MAX);
    for words in commands(runs) {
        if stop.load(Ordering::Relaxed) {
            return Err(BenchError::Interrupted);
        }
        if !is_known(fslab, &words[0]) {
            let note = format!("not measured: this fslab has no command `{}`", words[0]);
            findings.notes.push(note);
            continue;
        }
        eprintln!("bench: fslab {}", words.join(" "));
        findings.commands.push(desk.measure(&words)?);
    }
    let full: Added = add_one_by_one(&store, runs + 1)?;
    findings.adding = Some((empty, full));
    if args.keep {
        eprintln!("bench: the store is kept: {}", store.display());
    }
    Ok(findings)
}

/// Whether the command has such a subcommand: its help shows it.
fn is_known(fslab: &Path, word: &str) -> bool {
    let help = std::process::Command::new(fslab)
        .args([word, "--help"])
        .output();
    help.is_ok_and(|help| help.status.success())
}

/// The store that was named, or a new one.
fn prepare(
    args: &StoreArgs,
    folder: &Path,
    stop: &Arc<AtomicBool>,
    findings: &mut Findings,
) -> Result<PathBuf, BenchError> {
    let path = match &args.store {
        Some(path) => path.clone(),
        None => {
            let path = folder.join("store.db");
            let began = Instant::now();
            fill(&path, args.runs(), stop)?;
            findings.filling_s = Some(began.elapsed().as_secs_f64());
            path
        }
    };
    let store = Store::open_read_only(&path).map_err(|error| failed(&error))?;
    let runs = store.count_runs(&RunFilter::default());
    findings.runs = runs.map_err(|error| failed(&error))?;
    findings.trials = findings.runs * u64::from(TRIALS_A_RUN);
    let metadata = std::fs::metadata(&path).map_err(|e| BenchError::io("look at", &path, e))?;
    findings.store_bytes = metadata.len();
    Ok(path)
}

/// Stores the trials of one run one by one, and takes the run away again.
pub(crate) fn add_one_by_one(path: &Path, number: u32) -> Result<Added, BenchError> {
    let model = Model::new()?;
    let (header, trials) = (model.header(number), model.trials(number));
    let mut store = Store::open(path).map_err(|error| failed(&error))?;
    store.begin_run(&header).map_err(|error| failed(&error))?;
    let mut took_ms = Vec::new();
    for trial in &trials {
        let began = Instant::now();
        store
            .add_trial(&header.run, trial)
            .map_err(|error| failed(&error))?;
        took_ms.push(began.elapsed().as_secs_f64() * 1e3);
    }
    store
        .delete_run(&header.run)
        .map_err(|error| failed(&error))?;
    let spread = Spread::of(&took_ms)
        .ok_or_else(|| BenchError::output("the store", "no trial was stored"))?;
    Ok(Added { spread })
}
