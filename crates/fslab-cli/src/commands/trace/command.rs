//! `fslab trace`: records, shows and replays the file operations of programs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use fslab_model::{Bytes, Failure, FailureKind};
use fslab_trace::{RecordRequest, Trace, record};

use super::text;
use crate::commands::measure::execution::ExecutionArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// The study that replays a trace, and its phases.
const STUDY: &str = "replay";
const PHASES: [&str; 2] = ["prepare", "replay"];
/// Size of the file system as a multiple of the trace's files, for metadata and free space.
const SIZE_FACTOR: u64 = 2;
/// The least default size of a file system.
const SIZE_MIN: u64 = 1 << 30;

/// Arguments of `fslab trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    /// Run a command and record its file operations below a directory
    Record(RecordArgs),
    /// Show the contents of a trace
    Show(ShowArgs),
    /// Replay a trace on file systems
    Replay(Box<ReplayArgs>),
}

#[derive(Debug, Args)]
struct RecordArgs {
    /// Trace file
    #[arg(short, long, value_name = "FILE", default_value = "fslab.trace")]
    output: PathBuf,
    /// Directory to record; operations outside it are ignored
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// Trace file
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ReplayArgs {
    /// Trace file, or `sample` for the built-in one
    file: PathBuf,
    /// File systems with options: --fs ext4 --fs xfs [default: ext4, xfs, btrfs]
    #[arg(long = "fs", value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// Delay between operations
    #[arg(long, value_enum, default_value_t)]
    pace: PaceName,
    #[command(flatten)]
    options: ExecutionArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PaceName {
    /// None: each operation starts as soon as the operations that it depends on are done
    #[default]
    Fast,
    /// As recorded: each operation starts at its recorded time, after the operations that it
    /// depends on
    Recorded,
}

impl TraceArgs {
    pub(crate) fn exec(self) -> CommandResult {
        match self.command {
            TraceCommand::Record(args) => args.exec(),
            TraceCommand::Show(args) => args.exec(),
            TraceCommand::Replay(args) => args.exec(),
        }
    }
}

impl RecordArgs {
    fn exec(self) -> CommandResult {
        let scratch = Scratch::make()?;
        let file_system = fslab_fs::recognise(&self.root).map_or_else(
            |_| "an unknown file system".to_owned(),
            |found| found.fs_type,
        );
        let request = RecordRequest {
            command: self.command,
            root: self.root,
            scratch: scratch.0.clone(),
            file_system,
        };
        let recorded = record(&request)?;
        recorded.trace.write(&self.output)?;
        let header = &recorded.trace.header;
        if !recorded.status.success() {
            screen::warn(&format!("the command ended with {}", header.exit));
        }
        let operations = recorded.trace.events.iter();
        let count = operations
            .filter(|event| event.operation.is_file_operation())
            .count();
        if count == 0 {
            let text = format!("the command did no file operations below {}", header.root);
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("name the command's working directory with --root")
                .into());
        }
        screen::print(&format!(
            "{}: {} of {}\n",
            self.output.display(),
            screen::counted(count, "operation"),
            screen::counted(header.threads as usize, "thread"),
        ))?;
        Ok(Exit::Done)
    }
}

impl ShowArgs {
    fn exec(&self) -> CommandResult {
        let trace = Trace::read(&self.file)?;
        if self.json {
            screen::print_json(&text::TraceDetails::of(&trace))?;
        } else {
            screen::print(&text::text(&trace))?;
        }
        Ok(Exit::Done)
    }
}

impl ReplayArgs {
    fn exec(mut self) -> CommandResult {
        let name = self.file.to_str().ok_or_else(|| {
            let text = format!(
                "cannot use the path '{}': it is not UTF-8",
                self.file.display()
            );
            CommandError::bad_input(text)
        })?;
        if name != "sample" {
            let needed = Trace::read(&self.file)?.footprint_bytes();
            let enough = needed.saturating_mul(SIZE_FACTOR).max(SIZE_MIN);
            self.options
                .plan
                .size
                .get_or_insert(Bytes(enough.next_multiple_of(1 << 20)));
        }
        let pace = match self.pace {
            PaceName::Fast => "fast",
            PaceName::Recorded => "recorded",
        };
        let quoted = toml::Value::String(name.to_owned());
        let mut settings = vec![format!("phase.replay.pace=\"{pace}\"")];
        settings.extend(PHASES.map(|phase| format!("phase.{phase}.trace={quoted}")));
        settings.append(&mut self.options.plan.settings);
        self.options.plan.settings = settings;
        self.options.exec(STUDY, &self.subjects)
    }
}

/// A private directory for the output of strace, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, CommandError> {
        let folder = std::env::temp_dir();
        fslab_sys::private_folder(&folder, "fslab-trace-")
            .map(Self)
            .map_err(|error| {
                let what = format!("cannot create a directory in {}", folder.display());
                CommandError::io(what, &error)
            })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
