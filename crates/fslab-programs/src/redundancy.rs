//! The jobs `fail-disk`, `rebuild` and `scrub`: what redundancy is there for.
//!
//! An array of md is the one below the measured directory; Btrfs scrubs itself. A subject without
//! either skips the phase.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use fslab_engine::{EngineKind, RunContext};
use fslab_job::{Finished, Job, RunError};
use fslab_model::{Bytes, FAILED_DISK_FACT, Facts, Failure, FailureKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{Account, synthetic_program};
use super::locate;
use super::md_array::MdArray;

/// Synthetic duration of the null engine, and the bytes of a job that moves data.
const SYNTHETIC_NS: u64 = 1_000_000;
const SYNTHETIC_BYTES: u64 = 1 << 20;
/// How often the progress of an array is read.
const POLL: Duration = Duration::from_millis(10);

/// The name of the job that takes a disk out.
pub const FAIL_DISK: &str = "fail-disk";

/// Takes the last member out of the array below the file system, as a disk that has died.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FailDiskParameters {}

/// Gives a member that was taken out back to the array as an empty disk, and waits until the array
/// has all its redundancy.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RebuildParameters {}

/// Reads everything and compares it with its redundancy or its checksums.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScrubParameters {}

impl Job for FailDiskParameters {
    const NAME: &'static str = FAIL_DISK;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(0)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_timed(context, None, |array| {
            let Some(array) = array else {
                return Err(no_array());
            };
            let disk = array.fail_last()?;
            let facts = Facts::from([(FAILED_DISK_FACT.to_owned(), disk)]);
            Ok(Done { bytes: None, facts })
        })
    }
}

impl Job for RebuildParameters {
    const NAME: &'static str = "rebuild";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(0)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_timed(context, Some(SYNTHETIC_BYTES), |array| {
            let Some(array) = array else {
                return Err(no_array());
            };
            let Some(missing) = array.missing(&context.devices)? else {
                let reason = "the array has all its members: fail-disk comes before rebuild";
                return Err(RunError::Impossible(reason.to_owned()));
            };
            let (array_path, disk) = (array.path(), missing.display().to_string());
            run_program("mdadm", &["--zero-superblock", &disk])?;
            run_program("mdadm", &["--manage", &array_path, "--add", &disk])?;
            wait_until(context, || array.is_whole())?;
            Ok(Done::bytes(array.member_bytes()?))
        })
    }
}

impl Job for ScrubParameters {
    const NAME: &'static str = "scrub";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(0)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        run_timed(context, Some(SYNTHETIC_BYTES), |array| match array {
            Some(array) => {
                array.start_check()?;
                wait_until(context, || array.is_idle())?;
                let mismatches = array.mismatches()?;
                if mismatches > 0 {
                    let text = format!(
                        "the scrub found {mismatches} sectors that differ from their redundancy"
                    );
                    return Err(Failure::new(FailureKind::Check, text).into());
                }
                Ok(Done::bytes(array.member_bytes()?))
            }
            None => scrub_btrfs(&context.outer_path(&context.root)),
        })
    }
}

/// What a job has done.
struct Done {
    bytes: Option<u64>,
    facts: Facts,
}

impl Done {
    fn bytes(bytes: u64) -> Self {
        Self {
            bytes: Some(bytes),
            facts: Facts::new(),
        }
    }
}

fn no_array() -> RunError {
    RunError::Impossible("the file system lies on no array of md".to_owned())
}

/// Runs and times `work` on the array below the directory of the phase, outside of the confinement.
/// On the null engine it has the bytes `synthetic`.
fn run_timed(
    context: &RunContext,
    synthetic: Option<u64>,
    work: impl FnOnce(Option<MdArray>) -> Result<Done, RunError>,
) -> Result<Finished, RunError> {
    if context.engine == EngineKind::Null {
        return Ok(synthetic_program(context.seed, 1, synthetic, SYNTHETIC_NS).into());
    }
    context.outside(|| {
        let array = MdArray::below(&context.outer_path(&context.root));
        let start_ns = fslab_sys::monotonic_ns();
        let done = work(array)?;
        let account = Account {
            start_ns,
            elapsed_ns: fslab_sys::monotonic_ns() - start_ns,
            operations: 1,
            bytes: done.bytes,
            used: None,
        };
        Ok(Finished {
            facts: done.facts,
            ..account.measured().into()
        })
    })
}

/// Waits until `is_done`, or until the trial is to stop.
fn wait_until(
    context: &RunContext,
    mut is_done: impl FnMut() -> Result<bool, Failure>,
) -> Result<(), RunError> {
    while !is_done()? {
        if context.stop.is_raised() {
            let text = "the array was still busy when the trial was to stop";
            return Err(Failure::new(FailureKind::Interrupted, text).into());
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// Btrfs's own scrub, which waits until it is done.
fn scrub_btrfs(root: &Path) -> Result<Done, RunError> {
    let is_btrfs = fslab_fs::recognise(root).is_ok_and(|it| it.fs_type == "btrfs");
    if !is_btrfs {
        let reason = "it lies on no array of md, and is not Btrfs: nothing scrubs it";
        return Err(RunError::Impossible(reason.to_owned()));
    }
    let place = root.display().to_string();
    let said = run_program("btrfs", &["scrub", "start", "-B", "-R", &place])?;
    let scrubbed = ["data_bytes_scrubbed:", "tree_bytes_scrubbed:"].map(|name| {
        let value = said.lines().find_map(|line| line.trim().strip_prefix(name));
        value.and_then(|value| value.trim().parse::<u64>().ok())
    });
    match scrubbed {
        [Some(data), Some(tree)] => Ok(Done::bytes(data + tree)),
        _ => {
            let text = "cannot read what btrfs scrub prints";
            Err(Failure::new(FailureKind::Check, text).into())
        }
    }
}

/// Runs a program to its end and returns its output.
fn run_program(program: &str, arguments: &[&str]) -> Result<String, RunError> {
    let path: PathBuf = locate::program(program).ok_or_else(|| {
        let text = format!("cannot find the program {program}");
        Failure::new(FailureKind::MissingTool, text)
    })?;
    let mut command = Command::new(path);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", fslab_sys::PLAIN_PATH)
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null());
    let output = command.output().map_err(|error| {
        Failure::new(FailureKind::MissingTool, format!("cannot start {program}")).because(&error)
    })?;
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        return Ok(said);
    }
    let text = format!(
        "{program} {} failed: {}",
        arguments.join(" "),
        said.trim().replace('\n', "; ")
    );
    Err(Failure::new(FailureKind::Check, text).into())
}
