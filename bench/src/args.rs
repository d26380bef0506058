//! The command line.

use std::path::PathBuf;

use clap::Parser;

use super::counts::counts;
use crate::contenders::PeerFile;
use crate::processor::ProcessorArgs;
use crate::sim::SimArgs;
use crate::store::StoreArgs;
use crate::work::Work;

/// Measure fslab against fio, sysbench, bonnie++, fs_mark, mdtest, elbencho and bare loops in C, on
/// tmpfs and, as root, on ext4 over a loop device. Peers that are not installed are skipped, with a
/// note.
#[derive(Debug, Parser)]
#[command(name = "fslab-bench", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Other measurement.
    #[command(subcommand)]
    pub(crate) other: Option<Other>,

    /// Rows to measure: pread, backward, mmap, ring, ring-direct, names, stream, files, seeks.
    #[arg(long, value_delimiter = ',', value_name = "ROW,...")]
    pub(crate) rows: Vec<Work>,

    /// Places to measure in: tmpfs, ext4, here (the current directory).
    #[arg(long, value_delimiter = ',', value_name = "PLACE,...")]
    pub(crate) places: Vec<PlaceKind>,

    /// Number of rounds, after one that is not counted.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = counts())]
    pub(crate) runs: u32,

    /// Run 3 rounds with small amounts, to check that everything works. The figures mean nothing,
    /// and no target is judged.
    #[arg(long)]
    pub(crate) quick: bool,

    /// fslab program [default: the one in this program's directory].
    #[arg(long, value_name = "FILE")]
    pub(crate) fslab: Option<PathBuf>,

    /// Program of a peer that is not in PATH, for example fs_mark=/opt/fs_mark/fs_mark.
    #[arg(long = "peer", value_name = "NAME=FILE")]
    pub(crate) peers: Vec<PeerFile>,

    /// Mount point of a tmpfs.
    #[arg(long, default_value = "/dev/shm", value_name = "DIR")]
    pub(crate) tmpfs: PathBuf,

    /// Directory for the results; with --quick, nothing is written unless this is given.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Do not count instructions and system calls.
    #[arg(long)]
    pub(crate) no_counts: bool,
}

/// What else can be measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Other {
    /// Measure how fast virtual time passes, and what the simulated disk costs.
    Sim(SimArgs),
    /// Measure how well the counted processor of the venue sim agrees with a processor of this
    /// machine, on file systems in memory: their order, their ratios, and what prices for system
    /// calls and bytes would improve. Needs root.
    Processor(ProcessorArgs),
    /// Measure the commands on a store of a million trials, and the cost of storing one more.
    Store(StoreArgs),
}

/// A place to measure in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlaceKind {
    /// A directory on tmpfs.
    Tmpfs,
    /// ext4 on a loop device; needs root.
    Ext4,
    /// A directory in the current directory.
    Here,
}

impl Args {
    /// The rows, all of them by default.
    pub(crate) fn rows(&self) -> Vec<Work> {
        if self.rows.is_empty() {
            Work::ALL.into()
        } else {
            self.rows.clone()
        }
    }

    /// The places: by default tmpfs and ext4, and for a user without privileges, who cannot mount,
    /// tmpfs and the current directory.
    pub(crate) fn places(&self, is_superuser: bool) -> Vec<PlaceKind> {
        if !self.places.is_empty() {
            return self.places.clone();
        }
        let mut places = Vec::new();
        if self.tmpfs.is_dir() {
            places.push(PlaceKind::Tmpfs);
        }
        places.push(if is_superuser {
            PlaceKind::Ext4
        } else {
            PlaceKind::Here
        });
        places
    }

    /// The rounds that count.
    pub(crate) fn rounds(&self) -> u32 {
        if self.quick {
            self.runs.min(3)
        } else {
            self.runs
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_places_are_lists_and_have_defaults() {
        let args = Args::parse_from(["bench", "--rows", "pread,files", "--places", "here"]);
        assert_eq!(args.rows(), [Work::Pread, Work::Files]);
        assert_eq!(args.places(true), [PlaceKind::Here]);
        let args = Args::parse_from(["bench", "--tmpfs", "/"]);
        assert_eq!(args.rows().len(), Work::ALL.len());
        assert_eq!(args.places(true), [PlaceKind::Tmpfs, PlaceKind::Ext4]);
        assert_eq!(args.places(false), [PlaceKind::Tmpfs, PlaceKind::Here]);
    }

    #[test]
    fn virtual_time_is_measured_by_a_command_of_its_own() {
        let args = Args::parse_from(["bench", "sim", "--parts", "model"]);
        assert!(matches!(args.other, Some(Other::Sim(_))));
        assert!(Args::try_parse_from(["bench", "--rows", "pread", "sim"]).is_err());
    }

    #[test]
    fn the_lab_of_the_counted_processor_is_that_of_fslab_unless_named() {
        let lab = |words: &[&str]| match Args::parse_from(words).other {
            Some(Other::Processor(args)) => args.lab,
            other => panic!("{other:?}"),
        };
        assert_eq!(lab(&["bench", "processor"]), None);
        let named = lab(&["bench", "processor", "--lab", "debian-6.12"]);
        assert_eq!(named.as_deref(), Some("debian-6.12"));
    }

    #[test]
    fn what_is_no_row_and_no_round_is_refused() {
        assert!(Args::try_parse_from(["bench", "--rows", "sleep"]).is_err());
        assert!(Args::try_parse_from(["bench", "--runs", "0"]).is_err());
    }
}
