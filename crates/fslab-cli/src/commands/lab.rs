//! `fslab lab`: guest kernels.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use fslab_lab::{BuildRequest, BuildTool, Cache, Kernel, Shelf, SourceRequest};
use fslab_model::{Bytes, Failure, FailureKind};
use fslab_report::{Column, Table, TableCell, Tone};
use fslab_venue::{GuestSettings, ShellRequest};
use serde::Serialize;

use super::guest_kernel;
use super::lab_progress::BuildProgress;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::progress::minutes;
use crate::{defaults, screen, signals};

/// Arguments of `fslab lab`.
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Build a guest kernel that has every file system of the catalogue: 5 minutes, no root
    Build(BuildArgs),
    /// Boot a guest kernel with a shell on this terminal
    Shell(ShellArgs),
    /// List the guest kernels, and what is missing to build or run one
    Status {
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `fslab lab shell`.
#[derive(Debug, Args)]
struct ShellArgs {
    /// The kernel, by the name that it was given
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The guest's memory
    #[arg(long, default_value = "1GiB", allow_hyphen_values = true)]
    memory: Bytes,
    /// An image that is the guest's disk /dev/ubda; it may be written to
    #[arg(long, value_name = "IMAGE")]
    disk: Option<PathBuf>,
}

impl ShellArgs {
    fn run(&self) -> Result<(), CommandError> {
        let disk = self.disk.as_deref().map(defaults::true_path).transpose()?;
        if let Some(disk) = disk.as_ref().filter(|disk| !disk.exists()) {
            let text = format!("there is no image {}", disk.display());
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint(format!("truncate --size 1G {} makes one", disk.display()))
                .into());
        }
        let request = ShellRequest {
            guest: GuestSettings {
                kernel: guest_kernel::find_bootable(self.kernel.as_deref())?.binary,
                at_a_time: NonZeroUsize::MIN,
                layers: Vec::new(),
            },
            memory: self.memory,
            disk,
            folder: defaults::true_path(&std::env::temp_dir())?,
            leases: defaults::leases()?,
        };
        screen::notice(
            "the guest's root is this machine's, read-only; /tmp is memory, and /tmp/share a \
             folder of the host that is removed afterwards; `exit` switches the guest off",
        );
        fslab_venue::run_shell(&request)?;
        Ok(())
    }
}

/// Arguments of `fslab lab build`.
#[derive(Debug, Args)]
struct BuildArgs {
    /// What to call the kernel
    #[arg(long, default_value = "default")]
    name: String,
    /// A kernel's source tree or tarball; a tree must be clean, and stays so [default: Debian's
    /// linux-source-6.12]
    #[arg(long, value_name = "TREE|TARBALL")]
    source: Option<PathBuf>,
    /// Compilers at a time [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Build it also where it is there already; with Debian's source, from its newest version
    #[arg(long)]
    force: bool,
}

impl LabArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let cache = defaults::cache()?;
        match &self.command {
            LabCommand::Build(args) => args.build(&cache)?,
            LabCommand::Shell(args) => args.run()?,
            LabCommand::Status { json } => status(&cache, *json)?,
        }
        Ok(Exit::Done)
    }
}

impl BuildArgs {
    fn request(&self) -> Result<BuildRequest, Failure> {
        let source = match &self.source {
            Some(path) => SourceRequest::at(path)?,
            None => SourceRequest::Debian,
        };
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(BuildRequest {
            name: self.name.parse()?,
            source,
            jobs: self.jobs.unwrap_or_else(processors),
            force: self.force,
        })
    }

    fn build(&self, cache: &Cache) -> Result<(), CommandError> {
        let request = self.request()?;
        let stop = Arc::new(AtomicBool::new(false));
        signals::raise_on_signals(&stop)
            .map_err(|error| CommandError::io("cannot listen to signals", &error))?;
        let mut progress = BuildProgress::new();
        let built = fslab_lab::build(cache, &request, &stop, &mut |at| progress.show(at));
        progress.finish();
        let built = built.map_err(Failure::from)?;
        let facts = &built.kernel.facts;
        if !facts.config_ignored.is_empty() {
            screen::warn(&format!(
                "this source does not know {}",
                facts.config_ignored.join(", ")
            ));
        }
        let how = if built.was_there {
            "there already (--force builds it again)".to_owned()
        } else {
            let took = minutes(Duration::from_secs(facts.build_seconds));
            format!("built in {took} from {}", facts.source)
        };
        screen::print(&format!(
            "{}: {}, key {}, {}, {how}\n",
            built.kernel.name,
            facts.release,
            facts.key,
            Bytes(facts.binary_bytes)
        ))
    }
}

/// What `fslab lab status --json` prints.
#[derive(Serialize)]
struct Status<'a> {
    cache: String,
    kernels: Vec<KernelStatus<'a>>,
    unreadable: Vec<String>,
    missing_to_build: Vec<BuildTool>,
    /// Why no guest runs here.
    obstacle: Option<String>,
}

#[derive(Serialize)]
struct KernelStatus<'a> {
    #[serde(flatten)]
    kernel: &'a Kernel,
    stale: bool,
}

fn status(cache: &Cache, json: bool) -> Result<(), CommandError> {
    let shelf = cache.kernels().map_err(Failure::from)?;
    let status = Status {
        cache: cache.folder().display().to_string(),
        kernels: shelf.kernels.iter().map(kernel_status).collect(),
        unreadable: shelf.unreadable.iter().map(ToString::to_string).collect(),
        missing_to_build: fslab_lab::missing_tools(),
        obstacle: fslab_lab::runs_here().err(),
    };
    if json {
        return screen::print_json(&status);
    }
    if shelf.kernels.is_empty() {
        let lines = [format!("no guest kernel in {}", status.cache)];
        let lines: Vec<_> = lines.into_iter().chain(notes(&status)).collect();
        return screen::print(&(lines.join("\n") + "\n"));
    }
    screen::print_styled(&screen::render(&table(&shelf, &status)))
}

fn kernel_status(kernel: &Kernel) -> KernelStatus<'_> {
    KernelStatus {
        kernel,
        stale: kernel.is_stale(),
    }
}

fn table(shelf: &Shelf, status: &Status<'_>) -> Table {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_unix_s = now.map_or(0, |since| since.as_secs());
    let columns = ["Name", "Release", "Key", "Built", "Source", "State"];
    Table {
        caption: format!(
            "{} in {}",
            screen::counted(shelf.kernels.len(), "guest kernel"),
            status.cache
        ),
        columns: columns.map(Column::left).into(),
        rows: shelf
            .kernels
            .iter()
            .map(|kernel| row(kernel, now_unix_s))
            .collect(),
        notes: notes(status),
    }
}

fn row(kernel: &Kernel, now_unix_s: u64) -> Vec<TableCell> {
    let facts = &kernel.facts;
    let age = Duration::from_secs(now_unix_s.saturating_sub(facts.built_unix_s));
    let state = if kernel.is_stale() {
        TableCell {
            tone: Tone::Bad,
            ..TableCell::new("stale: not this fslab's configuration")
        }
    } else if facts.config_ignored.is_empty() {
        TableCell::new("current")
    } else {
        TableCell::new(format!("without {}", facts.config_ignored.join(", ")))
    };
    vec![
        TableCell::new(&kernel.name),
        TableCell::new(&facts.release),
        TableCell::new(facts.key.as_str()),
        TableCell::new(format!("{} ago", in_one_unit(age))),
        TableCell::new(&facts.source),
        state,
    ]
}

fn notes(status: &Status<'_>) -> Vec<String> {
    let mut notes = status.unreadable.clone();
    if status.kernels.is_empty() {
        notes.push("`fslab lab build` makes one.".into());
    } else if status.kernels.iter().any(|kernel| kernel.stale) {
        notes.push("`fslab lab build` makes a stale kernel anew.".into());
    }
    if !status.missing_to_build.is_empty() {
        let missing = &status.missing_to_build;
        let programs: Vec<_> = missing.iter().map(|tool| tool.program).collect();
        let hint = fslab_lab::install_hint(missing);
        notes.push(format!(
            "Missing to build one: {}; {hint}",
            programs.join(", ")
        ));
    }
    if let Some(obstacle) = &status.obstacle {
        notes.push(format!("Cannot run one: {obstacle}"));
    }
    notes
}

/// An age, coarsely: `40 s`, `5 min`, `3 h`, `12 days`.
fn in_one_unit(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_largest_unit_that_says_something() {
        let told = |seconds| in_one_unit(Duration::from_secs(seconds));
        assert_eq!((told(59), told(60)), ("59 s".into(), "1 min".into()));
        assert_eq!((told(3_599), told(3_600)), ("59 min".into(), "1 h".into()));
        assert_eq!(
            (told(172_799), told(172_800)),
            ("47 h".into(), "2 days".into())
        );
    }
}
