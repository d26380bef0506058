//! The table of subcommands: a new one is a file and a line here.

use clap::Subcommand;

use super::{
    clean, compare, delete, diff, disk, export, fs, gate, guest_init, import, lab, list, mkfs,
    report, run, show, store, study, trace, trial, workload,
};
use crate::exit::CommandResult;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare file systems: run a study over them, print a table, write a report
    Compare(compare::CompareArgs),
    /// Run a study as it stands: its subjects, its sweeps, its figures
    Run(run::RunArgs),
    /// The catalogue of file systems, and what works on this machine
    Fs(fs::FsArgs),
    /// The studies that come with the program
    Study(study::StudyArgs),
    /// The profiles of simulated disks, and what their disks do
    Disk(disk::DiskArgs),
    /// The built-in workloads and their parameters
    Workload(workload::WorkloadArgs),
    /// Guest kernels, which bring the file systems that this machine's kernel lacks
    Lab(lab::LabArgs),
    /// List the runs in the store
    List(list::ListArgs),
    /// Show one run
    Show(show::ShowArgs),
    /// Write the report of one or more runs
    Report(report::ReportArgs),
    /// Hold one run against another: what became faster or slower, and how sure that is
    Diff(diff::DiffArgs),
    /// Fail where a run is slower than another by more than is allowed, with certainty
    Gate(gate::GateArgs),
    /// Write a run's records for other programs: JSON, CSV, Parquet, forms of other tools
    Export(export::ExportArgs),
    /// Take the output of another tool into the store as a run
    Import(import::ImportArgs),
    /// Delete runs from the store; a deleted run can be brought back
    Delete(delete::DeleteArgs),
    /// The store itself: check it for damage
    Store(store::StoreCommandArgs),
    /// Remove mounts, loop devices and images that a killed run left
    Clean(clean::CleanArgs),
    /// Make one of the file systems for which no other formatter is shipped
    Mkfs(mkfs::MkfsArgs),
    /// Be the first process of a guest kernel
    #[command(hide = true)]
    GuestInit(guest_init::GuestInitArgs),
    /// Record what a program does to files, and issue it again
    Trace(trace::TraceArgs),
    /// Run one trial: specification on standard input, events on standard output
    Trial(trial::TrialArgs),
}

impl Command {
    pub(crate) fn exec(self) -> CommandResult {
        match self {
            Self::Compare(args) => args.exec(),
            Self::Run(args) => args.exec(),
            Self::Fs(args) => args.exec(),
            Self::Study(args) => args.exec(),
            Self::Disk(args) => args.exec(),
            Self::Workload(args) => args.exec(),
            Self::Lab(args) => args.exec(),
            Self::List(args) => args.exec(),
            Self::Show(args) => args.exec(),
            Self::Report(args) => args.exec(),
            Self::Diff(args) => args.exec(),
            Self::Gate(args) => args.exec(),
            Self::Export(args) => args.exec(),
            Self::Import(args) => args.exec(),
            Self::Delete(args) => args.exec(),
            Self::Store(args) => args.exec(),
            Self::Clean(args) => args.exec(),
            Self::Mkfs(args) => args.exec(),
            Self::GuestInit(args) => args.exec(),
            Self::Trace(args) => args.exec(),
            Self::Trial(args) => args.exec(),
        }
    }
}
