//! The table of subcommands; a new one is a file, and a line in each list here.

use clap::Subcommand;
use fslab_sys::Ability;

use crate::commands::crash::faults;
use crate::commands::diff::gate;
use crate::commands::measure::{bundle, compare, run};
use crate::commands::report::{experiment, show};
use crate::commands::store::{delete, export, import, list};
use crate::commands::{
    clean, completions, config, crash, diff, disk, fs, lab, layer, machine, man, mkfs, platform,
    report, schema, store, study, trace, trial, worker, workload,
};
use crate::exit::CommandResult;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare file systems: run a study on each, print a table, write a report
    Compare(compare::CompareArgs),
    /// Run a study with its own subjects, sweeps and figures
    Run(run::RunArgs),
    /// Pack a study and everything it needs into one file, for machines without compiler or network
    Bundle(bundle::BundleArgs),
    /// List and show the supported file systems, and probe which of them work on this machine
    Fs(fs::FsArgs),
    /// List and show studies; check the claims of a publication against a run
    Study(study::StudyArgs),
    /// List, show and test the profiles of simulated disks
    Disk(disk::DiskArgs),
    /// List and show simulated machines (processor, memory and disk) for the venue sim
    Machine(machine::MachineArgs),
    /// List and show the layers of stacks: encryption, arrays, volumes
    Layer(layer::LayerArgs),
    /// List what fslab supports on each platform, with the reason for anything missing
    Platform(platform::PlatformArgs),
    /// List and show the workloads and their parameters
    Workload(workload::WorkloadArgs),
    /// Build, list, export and import labs: guest kernels with their root images
    Lab(lab::LabArgs),
    /// Print the JSON Schema of a format, or list the formats
    Schema(schema::SchemaArgs),
    /// List the runs in the store
    List(list::ListArgs),
    /// Show one run
    Show(show::ShowArgs),
    /// Show an experiment made by --vary: who is first in which condition, and what decides
    Experiment(experiment::ExperimentArgs),
    /// Write the report of one or more runs
    Report(report::ReportArgs),
    /// Compare two runs: what became faster or slower, with confidence intervals
    Diff(diff::DiffArgs),
    /// Fail if a run is significantly slower than a base run (for CI)
    Gate(gate::GateArgs),
    /// List and judge the states in which a power loss may leave a recorded disk
    Crash(crash::CrashArgs),
    /// Replay recorded scripts with injected disk faults and report the damage
    Faults(faults::FaultsArgs),
    /// Export a run: JSON, CSV, Parquet, or the formats of bonnie++, Iozone, fio, IOR, mdtest and
    /// IO500
    Export(export::ExportArgs),
    /// Import another tool's results as a run
    Import(import::ImportArgs),
    /// Delete runs from the store; `--undo` restores them
    Delete(delete::DeleteArgs),
    /// Check the store for damage
    Store(store::StoreCommandArgs),
    /// Remove mounts, loop devices and images that a killed run left behind
    Clean(clean::CleanArgs),
    /// Format a device or image with a file system whose mkfs no distribution ships
    Mkfs(mkfs::MkfsArgs),
    /// Show the defaults of options, and where each comes from
    Config(config::ConfigArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages, one per command
    Man(man::ManArgs),
    /// Run the trials that a conductor sends; `fslab-mpi` starts a worker on each machine
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
    /// Record, show and replay the file operations of a program
    Trace(trace::TraceArgs),
    /// Run one trial: read its specification (JSON) from stdin, write events to stdout
    Trial(trial::TrialArgs),
}

impl Command {
    /// True for a command that another fslab starts: it has no settings of the user.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self, Self::Trial(_) | Self::Worker(_))
    }

    /// What the command needs of the platform, if not every one has it.
    fn demands(&self) -> Option<Ability> {
        match self {
            Self::Lab(_) | Self::Bundle(_) | Self::Worker(_) => Some(Ability::Guests),
            Self::Mkfs(_) => Some(Ability::Volumes),
            _ => None,
        }
    }

    pub(crate) fn exec(self) -> CommandResult {
        if let Some(ability) = self.demands() {
            platform::demand(ability)?;
        }
        match self {
            Self::Compare(args) => args.exec(),
            Self::Run(args) => args.exec(),
            Self::Bundle(args) => args.exec(),
            Self::Fs(args) => args.exec(),
            Self::Study(args) => args.exec(),
            Self::Disk(args) => args.exec(),
            Self::Machine(args) => args.exec(),
            Self::Layer(args) => args.exec(),
            Self::Platform(args) => args.exec(),
            Self::Workload(args) => args.exec(),
            Self::Lab(args) => args.exec(),
            Self::Schema(args) => args.exec(),
            Self::List(args) => args.exec(),
            Self::Show(args) => args.exec(),
            Self::Experiment(args) => args.exec(),
            Self::Report(args) => args.exec(),
            Self::Diff(args) => args.exec(),
            Self::Gate(args) => args.exec(),
            Self::Export(args) => args.exec(),
            Self::Import(args) => args.exec(),
            Self::Crash(args) => args.exec(),
            Self::Faults(args) => args.exec(),
            Self::Delete(args) => args.exec(),
            Self::Store(args) => args.exec(),
            Self::Clean(args) => args.exec(),
            Self::Mkfs(args) => args.exec(),
            Self::Config(args) => args.exec(),
            Self::Completions(args) => args.exec(),
            Self::Man(args) => args.exec(),
            Self::Worker(args) => args.exec(),
            Self::Trace(args) => args.exec(),
            Self::Trial(args) => args.exec(),
        }
    }
}
