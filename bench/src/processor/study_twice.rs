//! Runs the study twice in a store of the bench.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_model::RunRecord;
use fslab_store::{RunSelector, Store};

use super::agreement::Agreement;
use super::{Findings, ProcessorArgs, STUDY};
use crate::error::BenchError;

/// Status of a run of which some trials failed: their subjects are left out.
const SOME_FAILED: i32 = 3;

/// Measures in real time, then with instructions counted.
pub(crate) fn measure(
    args: &ProcessorArgs,
    fslab: &Path,
    stop: &AtomicBool,
) -> Result<Findings, BenchError> {
    let processor = last_processor()?;
    let (real, counted) = run(args, (fslab, processor), stop)?;
    let agreement = Agreement::of(&real, &counted);
    Ok(Findings {
        real,
        processor,
        counted,
        agreement,
    })
}

/// The last of the processors that the bench may use: interrupts tend to be on the first.
fn last_processor() -> Result<usize, BenchError> {
    let failed = |error| BenchError::io("find the processors of", Path::new("the bench"), error);
    let last = fslab_sys::processors().map_err(failed)?.pop();
    last.ok_or_else(|| BenchError::Input("no processor is allowed".to_owned()))
}

/// The run in real time, on images in memory behind loop devices; then the counted one.
fn run(
    args: &ProcessorArgs,
    (fslab, processor): (&Path, usize),
    stop: &AtomicBool,
) -> Result<(RunRecord, RunRecord), BenchError> {
    let failed = |task: &'static str, error: std::io::Error| {
        BenchError::io(task, Path::new("the bench's directory"), error)
    };
    let folder = tempfile::tempdir().map_err(|error| failed("make", error))?;
    let store = folder.path().join("store.db");
    let repeats = args.repeats.to_string();
    let real = ["--venue", "loop", "--repeats", &repeats];
    let mut counted = vec![
        "--venue",
        "sim",
        "--machine",
        &args.machine,
        "--disk",
        "ram-2024",
        "--repeats",
        "3",
    ];
    if let Some(lab) = &args.lab {
        counted.extend(["--lab", lab]);
    }
    // The counted machine has one processor. With two a file system in user space and its caller
    // work at the same time.
    for (words, on) in [(&real[..], Some(processor)), (&counted[..], None)] {
        if stop.load(Ordering::Relaxed) {
            return Err(BenchError::Interrupted);
        }
        let mut command = Command::new(fslab);
        command
            .arg("compare")
            .args(&args.subjects)
            .args(["--study", STUDY])
            .args(words)
            .arg("--images")
            .arg(&args.tmpfs)
            .arg("--store")
            .arg(&store)
            .arg("--out")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
        if let Some(number) = on {
            fslab_sys::run_on_processor(&mut command, number);
        }
        let status = command
            .status()
            .map_err(|e| BenchError::io("start", fslab, e))?;
        if !status.success() && status.code() != Some(SOME_FAILED) {
            return Err(BenchError::Command {
                command: format!("fslab compare --study {STUDY} {}", words.join(" ")),
                status: status.to_string(),
                output: String::new(),
            });
        }
    }
    let unreadable = |error| BenchError::output("fslab", format!("its store: {error}"));
    let opened = Store::open_read_only(&store).map_err(unreadable)?;
    let read = |selector: RunSelector| opened.run(&selector).map_err(unreadable);
    Ok((read(RunSelector::Before(1))?, read(RunSelector::Last)?))
}
