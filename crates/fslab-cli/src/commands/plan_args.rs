//! Options of every run of a study: its plan, repeats and output.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use fslab_model::{
    Bytes, Failure, FailureKind, Percent, Scale, VenueKind, VenuePlan, parse_seconds,
};
use fslab_run::{Repeats, Repetition};

use crate::exit::CommandError;

/// Options of the plan.
#[derive(Debug, Args)]
#[command(next_help_heading = "Plan")]
pub(super) struct PlanArgs {
    /// Size of each file system, like 1GiB; file sizes given as shares follow it [default: the
    /// study's]
    #[arg(long, value_parser = parse_size, allow_hyphen_values = true)]
    pub(super) size: Option<Bytes>,
    /// Scale of the study, like 1/20: multiplies numbers of files and operations, file
    /// sizes, and the size of the file system [default: the study's]
    #[arg(long, value_name = "FRACTION")]
    pub(super) scale: Option<Scale>,
    /// Run each subject twice, fresh and aged with this profile (see docs/ageing.md)
    #[arg(
        long,
        value_name = "PROFILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "churn"
    )]
    pub(super) aged: Option<String>,
    /// Override a value of the study: repeats=5, phase.NAME.PARAMETER=VALUE,
    /// sweep.NAME.DIMENSION=VALUES
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) settings: Vec<String>,
    /// Time limit of a trial, in seconds or like 10min; a trial that exceeds it fails [default: the
    /// study's]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(super) trial_limit: Option<u32>,
    /// Parallel trials, in the venue sim only [default: one per processor]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Seed of the order of trials and of the data written [default: random; 1 in the venue sim]
    #[arg(long, allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,
    /// Resume the last run of this plan: run missing and failed trials; needs the same fslab,
    /// machine and kernel
    #[arg(long)]
    pub(super) resume: bool,
    /// Allow a study from a file to start the programs that it names
    #[arg(long)]
    pub(super) allow_commands: bool,
    /// Print the plan with every value resolved; run nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Flattened last, since its heading would also apply to later options.
    #[command(flatten)]
    pub(super) repetition: RepetitionArgs,
}

/// Options of repeats and rounds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Repeats")]
pub(super) struct RepetitionArgs {
    /// Repeats, each on a fresh file system: 5; or 3..20, to repeat each subject 3 to 20 times
    /// until --target is reached (see docs/repeats.md) [default: the study's; in the venue sim 3
    /// instead of 1; in real time with several subjects up to 30, until the differences are decided
    /// or --budget is used up]
    #[arg(long, value_name = "N|N..M", allow_hyphen_values = true)]
    pub(super) repeats: Option<Repeats>,
    /// Largest half-width of the 95 % interval of a key figure, with --repeats N..M [default: the
    /// study's, or 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    target: Option<Percent>,
    /// Key phase: subjects are repeated until its headline figure reaches --target [default: the
    /// study's, or all phases]
    #[arg(long, value_name = "PHASE")]
    key: Vec<String>,
    /// Time for the run in real time, like 5min: no further repeat begins that would end later; the
    /// minimum of repeats is run in any case [default: 5min without --repeats]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, allow_negative_numbers = true)]
    budget: Option<u32>,
    /// Mounts per repeat; the phases run after each [default: the study's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    mounts: Option<u32>,
    /// Iterations of the phases per mount, each in a fresh folder [default: the study's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    iterations: Option<u32>,
    /// Whether repeats in the venue sim differ by a seeded perturbation of the guest; off gives one
    /// exact result (see docs/virtual-time.md) [default: on in the venue sim]
    #[arg(long, value_name = "ON|OFF", value_enum)]
    perturb: Option<Switch>,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

impl RepetitionArgs {
    pub(super) fn repetition(&self) -> Repetition {
        Repetition {
            repeats: self.repeats,
            target: self.target,
            key: self.key.clone(),
            budget_s: self.budget,
            mounts: self.mounts,
            iterations: self.iterations,
            perturb: self.perturb.map(|switch| switch == Switch::On),
        }
    }
}

/// Options of the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) out: PathBuf,
    /// Also write the run with all records to this file, which `fslab import` reads elsewhere
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    /// Print JSON: the plan with --dry-run, else the run with all records
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn parse_size(text: &str) -> Result<Bytes, fslab_model::ParseBytesError> {
    text.parse()
}

impl PlanArgs {
    /// Number of parallel trials: one in real time, where they would disturb each other. The venue
    /// for tests may have several on workers.
    pub(super) fn jobs(
        &self,
        venue: &VenuePlan,
        has_workers: bool,
    ) -> Result<NonZeroUsize, CommandError> {
        let kind = venue.kind();
        if kind.is_virtual() || (has_workers && kind == VenueKind::Fake) {
            let processors = fslab_sys::processors().map_or(1, |processors| processors.len());
            let of_machine = NonZeroUsize::new(processors).unwrap_or(NonZeroUsize::MIN);
            return Ok(self.jobs.unwrap_or(of_machine));
        }
        if self.jobs.is_some_and(|jobs| jobs > NonZeroUsize::MIN) {
            let text = format!(
                "trials in the venue '{}' run in real time and would disturb each other",
                venue.kind().as_str()
            );
            let failure = Failure::new(FailureKind::BadInput, text)
                .hint("leave out --jobs, or measure in virtual time with --venue sim");
            return Err(failure.into());
        }
        Ok(NonZeroUsize::MIN)
    }
}
