//! Options of every run of a study: its plan, repeats and output.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use fslab_model::{
    Bytes, Failure, FailureKind, Percent, Scale, VenueKind, VenuePlan, parse_seconds,
};
use fslab_run::{Repeats, Repetition};

use crate::commands::report::answer_args::AnswerArgs;
use crate::exit::CommandError;

/// Options of the plan.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Plan")]
pub(crate) struct PlanArgs {
    /// Size of each file system, for example 1GiB; file sizes given as a share scale with it
    /// [default: the study's]
    #[arg(long, value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// Scale of the study, for example 1/20: multiplies the numbers of files and operations, the
    /// file sizes and the size of the file system [default: the study's]
    #[arg(long, value_name = "FRACTION")]
    pub(crate) scale: Option<Scale>,
    /// Run each subject twice: fresh, and aged with this profile (`churn` if none is given; see
    /// docs/ageing.md)
    #[arg(
        long,
        value_name = "PROFILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "churn"
    )]
    pub(crate) aged: Option<String>,
    /// Override a value of the study: repeats=5, phase.NAME.PARAMETER=VALUE or
    /// sweep.NAME.DIMENSION=VALUES; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Time limit per trial, in seconds or with a unit, for example 10min; a trial that exceeds it
    /// fails [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) trial_limit: Option<u32>,
    /// Advance the guest's wall clock by this much before each cold phase, for example 25h, so that
    /// relatime updates times of access (venues guest and sim) [default: 0]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) cold_after: Option<u32>,
    /// Most memory of the guest that waits to be written, for example 64MiB: vm.dirty_bytes.
    /// Writing back begins at half of it (venues guest and sim) [default: the study's, or a fifth
    /// of the memory]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) dirty_limit: Option<Bytes>,
    /// Number of parallel trials (venue sim only) [default: one per processor]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Seed for the order of trials and for the data written [default: random; 1 in the venue sim]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Resume the last run of this plan: run its missing and failed trials. Requires the same
    /// fslab, machine and kernel
    #[arg(long)]
    pub(crate) resume: bool,
    /// Allow a study file to start the programs that it names
    #[arg(long)]
    pub(crate) allow_commands: bool,
    /// Print the plan with all values resolved, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Flattened last, since its heading would also apply to later options.
    #[command(flatten)]
    pub(crate) repetition: RepetitionArgs,
}

/// Options of repeats and rounds.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Repeats")]
pub(crate) struct RepetitionArgs {
    /// Number of repeats per subject, each on a fresh file system: 5, or 3..20 to repeat until
    /// --target is reached (see docs/repeats.md). Default: the study's, but 3 instead of 1 in the
    /// venue sim; in real time with several subjects up to 30, until the differences are decided or
    /// --budget is used up
    #[arg(
        long,
        alias = "runs",
        value_name = "N|N..M",
        allow_hyphen_values = true
    )]
    pub(crate) repeats: Option<Repeats>,
    /// Half-width of the 95 % confidence interval of key figures at which repeats stop, with
    /// --repeats N..M [default: the study's, or 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    target: Option<Percent>,
    /// Key phase, whose headline figure must reach --target; may be repeated [default: the study's,
    /// or all phases]
    #[arg(long, value_name = "PHASE")]
    key: Vec<String>,
    /// Time budget for a run in real time, for example 5min: no repeat starts that would exceed it,
    /// but the minimum number of repeats always runs [default: 5min without --repeats]
    #[arg(long, value_name = "TIME", value_parser = parse_budget, allow_negative_numbers = true)]
    budget: Option<u32>,
    /// Mounts per repeat; all phases run after each mount [default: the study's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    mounts: Option<u32>,
    /// Iterations of all phases per mount, each in a new directory [default: the study's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    iterations: Option<u32>,
    /// Perturb the guest's start state in each repeat of the venue sim, by a seed; `off` yields one
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
    /// Fixes the number of repeats, so that every condition has as many.
    pub(crate) fn fix(&mut self) {
        self.budget = None;
        if self.repeats.is_none() {
            // One exact result has no repeats.
            let repeats = if self.perturb == Some(Switch::Off) {
                "1"
            } else {
                "3"
            };
            self.repeats = repeats.parse().ok();
        }
    }

    /// The time budget, in seconds.
    pub(crate) fn budget(&self) -> Option<u32> {
        self.budget
    }

    pub(crate) fn repetition(&self) -> Repetition {
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
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Directory for the report
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
    /// Also write the run with all records to this file, for `fslab import` on another machine
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Print JSON: the plan with --dry-run, otherwise the run with all records
    #[arg(long)]
    pub(crate) json: bool,
}

/// The shortest budget that is taken in seconds without a unit.
const BUDGET_MIN_S: u32 = 10;

/// A budget: `2` may mean minutes.
fn parse_budget(text: &str) -> Result<u32, String> {
    let seconds = parse_seconds(text).map_err(|error| error.to_string())?;
    let is_number = text.trim().parse::<u32>().is_ok();
    match is_number && (1..BUDGET_MIN_S).contains(&seconds) {
        true => Err(format!("it has no unit: write {seconds}min or {seconds}s")),
        false => Ok(seconds),
    }
}

pub(crate) fn parse_size(text: &str) -> Result<Bytes, fslab_model::ParseBytesError> {
    text.parse()
}

impl PlanArgs {
    /// Number of parallel trials: one in real time, where they would disturb each other. The venue
    /// for tests may have several on workers.
    pub(crate) fn jobs(
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
