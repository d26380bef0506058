//! What can be asked of `fslab-bench sim`.

use std::path::PathBuf;

use crate::counts::counts;

/// The command line.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SimArgs {
    /// Parts to measure: model, phases, size, all [default: every part].
    #[arg(long, value_delimiter = ',', value_name = "PART,...")]
    pub(crate) parts: Vec<Part>,

    /// File systems.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "ext4,xfs,btrfs,ext2",
        value_name = "SUBJECT,..."
    )]
    pub(crate) subjects: Vec<String>,

    /// Hard disk profiles.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "hdd-7200-ata100-2002,sas-15k-raid10-2012",
        value_name = "PROFILE,..."
    )]
    pub(crate) disks: Vec<String>,

    /// Number of rounds.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = counts())]
    pub(crate) runs: u32,

    /// Run one round with the first file system and the first disk, without the part `all`, to
    /// check that everything works.
    #[arg(long)]
    pub(crate) quick: bool,

    /// fslab program [default: the one in this program's directory].
    #[arg(long, value_name = "FILE")]
    pub(crate) fslab: Option<PathBuf>,

    /// Directory for the images of simulated disks.
    #[arg(long, default_value = "/var/tmp", value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Directory for the results; with --quick, nothing is written unless this is given.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Something to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Only the disk model: time per request.
    Model,
    /// Long phases, one guest at a time.
    Phases,
    /// The same files on a small and a large file system.
    Size,
    /// The study `quick` on every file system, one guest per processor.
    All,
}

impl SimArgs {
    /// Whether `part` is to be measured.
    pub(crate) fn wants(&self, part: Part) -> bool {
        if self.parts.is_empty() {
            !(self.quick && part == Part::All)
        } else {
            self.parts.contains(&part)
        }
    }

    pub(crate) fn rounds(&self) -> u32 {
        if self.quick { 1 } else { self.runs }
    }

    /// The file systems.
    pub(crate) fn subjects(&self) -> &[String] {
        first_or_all(&self.subjects, self.quick)
    }

    pub(crate) fn disks(&self) -> &[String] {
        first_or_all(&self.disks, self.quick)
    }
}

fn first_or_all(all: &[String], is_quick: bool) -> &[String] {
    if is_quick {
        &all[..all.len().min(1)]
    } else {
        all
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: SimArgs,
    }

    fn parse(words: &[&str]) -> SimArgs {
        Command::parse_from([&["sim"], words].concat()).args
    }

    #[test]
    fn a_quick_bench_is_one_round_of_the_first_of_everything() {
        let args = parse(&["--quick", "--runs", "5"]);
        assert_eq!((args.rounds(), args.subjects().len()), (1, 1));
        assert_eq!(args.disks(), ["hdd-7200-ata100-2002"]);
        assert!(args.wants(Part::Size) && !args.wants(Part::All));
    }

    #[test]
    fn parts_that_are_named_are_measured_and_no_others() {
        let args = parse(&["--parts", "model,all"]);
        assert!(args.wants(Part::All) && args.wants(Part::Model));
        assert!(!args.wants(Part::Phases));
        assert_eq!(args.subjects().len(), 4);
    }
}
