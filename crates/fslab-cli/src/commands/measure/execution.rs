//! Executes a study from plan to report, for `compare`, `run` and `trace replay`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use fslab_lab::TakenBundle;
use fslab_model::{
    Bytes, Failure, FailureKind, Plan, RunHeader, RunId, RunRecord, Study, VenueKind,
};
use fslab_run::{
    Assignment, Conductor, ConductorError, Executor, NamedKernels, Request, Resolved, RunBegin,
    RunLock, RunOutcome, StudySource, SurvivalJudge, TrialWorkers, VenueChoice, resolve_failure,
};
use fslab_store::{RunSelector, Store};
use fslab_venue::{Control, LogKeeping, Venue, VenueSettings};

use crate::commands::measure::plan_args::{OutputArgs, PlanArgs};
use crate::commands::measure::vary::VaryArg;
use crate::commands::measure::venue_args::VenueArgs;
use crate::commands::measure::{
    bundled, guest_lab, layers, pilot, plan_text, precision_text, vary,
};
use crate::commands::report::show;
use crate::commands::store::args::StoreArgs;
use crate::commands::{clean, report};
use crate::defaults::{self, canonical_path};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::signals;
use crate::terminal::output_file::put_file;
use crate::terminal::progress::Progress;
use crate::terminal::screen;

/// The default seed of a run in virtual time, fixed so that all users get the same figures.
const SIM_SEED: u64 = 1;

/// The options of a command that executes a study.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExecutionArgs {
    #[command(flatten)]
    pub(super) venue: VenueArgs,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Vary a condition: run the comparison once for each level, or for each combination if
    /// repeated, and show who is first where and what decides (see docs/experiments.md). Factors:
    /// disk, memory, lab, machine, size, full, age, mount, mkfs, and keys of --set
    #[arg(
        long,
        value_name = "FACTOR=LEVEL,...",
        help_heading = "Plan",
        conflicts_with_all = ["workers", "record_disk", "survival", "results"]
    )]
    pub(super) vary: Vec<VaryArg>,
    /// Also run on DISKS (8) disks drawn within the uncertainty of the disk profile, and say
    /// whether the answer holds on all (venue sim only). The same as --vary
    /// disk=NAME,NAME+draw1,...
    #[arg(
        long,
        value_name = "DISKS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "8",
        value_parser = clap::value_parser!(u32).range(1..=100),
        help_heading = "Plan",
        conflicts_with_all = ["workers", "record_disk", "survival", "results", "destroy", "dir"]
    )]
    pub(super) tolerance: Option<u32>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    /// Run the trials on --jobs workers, connected through this socket
    #[arg(long, value_name = "SOCKET", hide = true, requires = "jobs")]
    workers: Option<PathBuf>,
    /// Number of processes that run each trial together, behind one worker
    #[arg(
        long,
        value_name = "N",
        hide = true,
        requires = "workers",
        default_value_t = 1
    )]
    ranks: u32,
    /// Log each trial's disk to this directory (venue sim only): every write with its data, every
    /// flush and every discard, with virtual times. The figures do not change
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Output",
        conflicts_with = "workers"
    )]
    record_disk: Option<PathBuf>,
    /// Also test what survives a power loss (venue sim only): run each subject's scripts, or those
    /// of the study `survival`, on the same disk; then mount, read and check up to STATES (300)
    /// crash states, and compare them with what was synced. The figures do not change
    #[arg(
        long,
        value_name = "STATES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "300",
        help_heading = "Output",
        conflicts_with = "workers"
    )]
    survival: Option<usize>,
    /// The study of a program on the command line.
    #[arg(skip)]
    own_study: Option<Study>,
}

/// A plan that can be run.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) jobs: NonZeroUsize,
    /// Differences from the original.
    pub(super) differences: Vec<String>,
    /// The expected time.
    pub(super) time: Option<String>,
    /// What the user should know of the plan.
    pub(super) notices: Vec<String>,
}

impl ExecutionArgs {
    /// The same options for a program that the user typed, and so allowed.
    pub(super) fn of_own_program(&self, study: Study) -> Self {
        let mut args = self.clone();
        args.own_study = Some(study);
        args.plan.allow_commands = true;
        args
    }

    fn load(
        &self,
        study: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<(Study, StudySource), Failure> {
        match &self.own_study {
            Some(study) => Ok((study.clone(), StudySource::CommandLine)),
            None => fslab_run::load_study_with(study, variables),
        }
    }

    /// Resolves the plan of `study`, a name or a file, runs it, stores and reports the results.
    /// Without `subjects`, those of the study are measured.
    pub(crate) fn exec(&self, study: &str, subjects: &[String]) -> CommandResult {
        if !self.vary.is_empty() || self.tolerance.is_some() {
            return vary::exec(self, study, subjects);
        }
        let (request, source) = self.request(study, subjects, &self.venue, &[])?;
        self.exec_request(&request, &source, &self.venue, None)
    }

    /// The same for the study of a bundle, with its lab, its disk and its layers.
    pub(crate) fn exec_bundle(&self, bundle: &TakenBundle, subjects: &[String]) -> CommandResult {
        let study = bundle.study();
        let venue = self.venue.of_bundle(bundle)?;
        let settings = bundled::settings(bundle);
        let (request, source) =
            self.request(&study.to_string_lossy(), subjects, &venue, &settings)?;
        self.exec_request(&request, &source, &venue, Some(bundle))
    }

    fn exec_request(
        &self,
        request: &Request,
        source: &StudySource,
        venue_args: &VenueArgs,
        bundle: Option<&TakenBundle>,
    ) -> CommandResult {
        let began = Instant::now();
        let at_scale = |scale| {
            let request = Request {
                scale,
                ..request.clone()
            };
            self.prepared(&request, source, venue_args, bundle)
        };
        let prepared = at_scale(request.scale)?;
        let prepared = match fslab_run::is_scaled_by_budget(request, &prepared.plan) {
            true => {
                let at_scale = |scale| at_scale(Some(scale));
                pilot::at_fitting_scale(self, prepared, began, &at_scale)?
            }
            false => prepared,
        };
        let Prepared {
            plan,
            jobs,
            differences,
            time,
            notices,
        } = prepared;
        notices.iter().for_each(|notice| screen::notice(notice));
        if self.plan.dry_run {
            self.ensure_runnable(&plan, jobs)?;
            if self.output.json {
                screen::print_json(&plan)?;
            } else {
                let text = plan_text::plan_text(&plan, &differences, time.as_deref());
                screen::print(&(plan_text::notes(source) + &text))?;
            }
            return Ok(Exit::Done);
        }
        if let Some(time) = &time {
            screen::notice(&format!("time: {time}"));
        }
        if let Some(count) = plan_text::count_of_notes(source) {
            screen::notice(&format!(
                "{count} of the job file left out or expressed otherwise: --dry-run lists them"
            ));
        }
        for difference in &differences {
            screen::notice(&format!("differs from the original: {difference}"));
        }
        let mut store = self.open_output()?;
        let settings = venue_settings(&plan, self.jobs_here(jobs), self.record_disk.clone())?;
        let venue = Venue::open(&plan.venue, plan.size_bytes, settings.clone())?;
        let (header, _lock) = self.header(plan, &venue, &mut store)?;
        let workers = self.connect_workers(&header, jobs)?;
        let executor: &dyn Executor = match &workers {
            Some(workers) => workers,
            None => &venue,
        };
        let judge = SurvivalJudge::of(&header.plan, executor, settings)?;
        let executor = judge.as_ref().map_or(executor, |judge| judge);
        let outcome = self.conduct(&header, &mut store, executor, (jobs, began))?;
        store.ensure_in_place()?;
        let record = store.run(&RunSelector::from(header.run.clone()))?;
        self.report(&record, outcome)
    }

    /// The plan of `request`, checked, with layers.
    pub(super) fn prepared(
        &self,
        request: &Request,
        source: &StudySource,
        venue_args: &VenueArgs,
        bundle: Option<&TakenBundle>,
    ) -> Result<Prepared, CommandError> {
        let Resolved {
            mut plan,
            notices,
            is_whole_catalogue,
        } = fslab_run::resolve(request)
            .map_err(|error| resolve_failure(error, request, source, &self.plan.settings))?;
        self.add_layers(&mut plan, bundle)?;
        let jobs = self.plan.jobs(&plan.venue, self.workers.is_some())?;
        let differences = fslab_run::differences(&request.study, &plan);
        let time = fslab_run::expected_time(&request.study, &plan, jobs.get())
            .map(|expected| plan_text::time(&plan, expected, jobs.get()));
        if !is_whole_catalogue {
            venue_args.ensure_requirements(&plan)?;
        }
        fslab_run::ensure_recordable(&plan)?;
        ensure_ranks_have_a_directory(&plan)?;
        Ok(Prepared {
            plan,
            jobs,
            differences,
            time,
            notices,
        })
    }

    /// The subjects named, or those of the study.
    pub(super) fn subjects_of(
        &self,
        study: &str,
        subjects: &[String],
    ) -> Result<Vec<String>, CommandError> {
        match subjects {
            [] => {
                let (variables, _) = fslab_run::split_variables(&self.plan.settings)?;
                Ok(self.load(study, &variables)?.0.subjects)
            }
            named => Ok(named.to_vec()),
        }
    }

    pub(super) fn prints_json(&self) -> bool {
        self.output.json
    }

    /// The directory of the report.
    pub(super) fn out(&self) -> &Path {
        &self.output.out
    }

    /// Makes the directory of the report, and opens the store.
    pub(super) fn open_output(&self) -> Result<Store, CommandError> {
        report::prepare_folder(&self.output.out)?;
        let store = self.store.open()?;
        clean_up();
        Ok(store)
    }

    /// Workers have separate venues: here no trial needs room.
    fn jobs_here(&self, jobs: NonZeroUsize) -> NonZeroUsize {
        match self.workers {
            Some(_) => NonZeroUsize::MIN,
            None => jobs,
        }
    }

    /// The checks of a run that is not a dry one: its report, its store, and its venue with the
    /// device. Nothing is made or changed.
    pub(super) fn ensure_runnable(
        &self,
        plan: &Plan,
        jobs: NonZeroUsize,
    ) -> Result<(), CommandError> {
        report::ensure_folder(&self.output.out)?;
        self.store.ensure_usable()?;
        if self.record_disk.is_some() {
            fslab_venue::ensure_disk_can_be_recorded(&plan.venue)?;
            fslab_run::ensure_one_disk(plan)?;
        }
        let settings = venue_settings(plan, self.jobs_here(jobs), None)?;
        Venue::open(&plan.venue, plan.size_bytes, settings)?;
        Ok(())
    }

    /// The request for `study` in `venue`, with `settings` before those of `--set`.
    pub(super) fn request(
        &self,
        study: &str,
        subjects: &[String],
        venue: &VenueArgs,
        settings: &[String],
    ) -> Result<(Request, StudySource), CommandError> {
        let (variables, typed) = fslab_run::split_variables(&self.plan.settings)?;
        let (study, source) = self.load(study, &variables)?;
        let settings = [settings, &typed].concat();
        let mut study = fslab_run::override_study(&study, &settings)?;
        self.plan.answer.apply_to_study(&mut study)?;
        let kernels = NamedKernels::of(&study, subjects);
        let venue = venue.choice(&kernels)?;
        let default_seed = || match venue {
            VenueChoice::Sim(..) => SIM_SEED,
            _ => fslab_run::fresh_seed(),
        };
        let request = Request {
            seed: self.plan.seed.unwrap_or_else(default_seed),
            study,
            subjects: subjects.to_vec(),
            venue,
            size: self.plan.size,
            aged: self.plan.aged.clone(),
            scale: self.plan.scale,
            repetition: self.plan.repetition.repetition(),
            trial_limit_s: self.plan.trial_limit,
            cold_after_s: self.plan.cold_after.map_or(0, u64::from),
            dirty_limit: self.plan.dirty_limit,
            survival: self.survival,
            ranks: self.ranks,
        };
        Ok((request, source))
    }

    /// Adds layers with the programs and files that a guest lacks. Without --allow-commands,
    /// nothing that the study names is searched for, so that the plan can only be shown.
    fn add_layers(
        &self,
        plan: &mut Plan,
        bundle: Option<&TakenBundle>,
    ) -> Result<(), CommandError> {
        match (self.ensure_commands_allowed(plan), bundle) {
            (Ok(()), Some(bundle)) => bundled::set_layers(plan, bundle),
            (Ok(()), None) => layers::add(plan),
            (Err(_), _) if self.plan.dry_run => {
                if layers::takes_layers(plan) {
                    screen::notice(
                        "without --allow-commands, the plan is shown without guest layers, so its \
                         hash differs from the hash with them",
                    );
                }
                Ok(())
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Refuses to run commands of a study from a file without --allow-commands.
    fn ensure_commands_allowed(&self, plan: &Plan) -> Result<(), CommandError> {
        match self.plan.allow_commands {
            true => Ok(()),
            false => Ok(fslab_workload::ensure_programs_allowed(&plan.phases)?),
        }
    }

    /// The header and the lock of the resumed run, or of a new one, which is added to the store.
    fn header(
        &self,
        plan: Plan,
        venue: &Venue,
        store: &mut Store,
    ) -> Result<(RunHeader, RunLock), CommandError> {
        let earlier = match self.plan.resume {
            true => store.latest_with_hash(&plan.hash())?,
            false => None,
        };
        if self.plan.resume && earlier.is_none() {
            screen::notice("there is no run of this plan to resume; starting a new one");
        }
        self.begin(plan, earlier.as_ref(), venue, store)
    }

    /// The header and the lock of the run that is resumed, or of a new one.
    pub(super) fn begin(
        &self,
        plan: Plan,
        resumed: Option<&RunId>,
        venue: &Venue,
        store: &mut Store,
    ) -> Result<(RunHeader, RunLock), CommandError> {
        let begin = RunBegin {
            state: &defaults::state()?,
            seed: self.plan.seed,
            trial_limit_s: self.plan.trial_limit,
            keeps_repeats: self.plan.repetition.repeats.is_none(),
            allow_commands: self.plan.allow_commands,
        };
        Ok(match resumed {
            Some(run) => begin.again(run, &plan, venue, store)?,
            None => begin.anew(plan, store)?,
        })
    }

    pub(super) fn conduct(
        &self,
        header: &RunHeader,
        store: &mut Store,
        executor: &dyn Executor,
        (jobs, began): (NonZeroUsize, Instant),
    ) -> Result<RunOutcome, CommandError> {
        let control = stoppable()?;
        let mut progress = Progress::new();
        let outcome = Conductor {
            header,
            store,
            executor,
            control: &control,
            jobs,
            allow_commands: self.plan.allow_commands,
            began,
        }
        .run(&mut progress);
        progress.finish();
        outcome.map_err(|error| match error {
            ConductorError::Store(error) => error.into(),
            ConductorError::Lost(failure) => CommandError {
                failure,
                exit: Exit::CannotHere,
            },
        })
    }

    /// The workers of `--workers`.
    fn connect_workers(
        &self,
        header: &RunHeader,
        jobs: NonZeroUsize,
    ) -> Result<Option<TrialWorkers>, CommandError> {
        let Some(socket) = &self.workers else {
            return Ok(None);
        };
        let assignment = Assignment {
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            run: header.run.clone(),
            plan: header.plan.clone(),
            allow_commands: self.plan.allow_commands,
        };
        Ok(Some(TrialWorkers::connect(socket, jobs.get(), assignment)?))
    }

    fn report(&self, record: &RunRecord, outcome: RunOutcome) -> CommandResult {
        let shown = if self.output.json {
            screen::print(&fslab_report::json(record)?)
        } else {
            show::print_summary(record)
        };
        if let Some(file) = &self.output.results {
            put_file(fslab_report::json(record)?.as_bytes(), file)?;
        }
        // The figures are printed first, in case the report cannot be written.
        let path = report::write(std::slice::from_ref(record), &self.output.out)
            .map_err(|error| report_failed(record, error))?;
        shown?;
        let line = format!("report: {}", path.display());
        if self.output.json {
            screen::say(&line);
        } else {
            screen::print(&format!("\n{line}\n"))?;
        }
        if outcome.missing > 0 {
            screen::warn(&format!(
                "ended with {} missing; run the same command with --resume to run them",
                screen::counted(outcome.missing, "trial")
            ));
        }
        self.note_precision(record, outcome);
        let complete = outcome.missing == 0 && record.trials_done() == record.trials_planned();
        Ok(if complete {
            Exit::Done
        } else {
            Exit::TrialsFailed
        })
    }

    /// Names in one line the subjects whose intervals are wider than the target.
    fn note_precision(&self, record: &RunRecord, outcome: RunOutcome) {
        let plan = &record.header.plan;
        let is_exact = plan.venue.kind().is_virtual() && !plan.perturb;
        if outcome.missing > 0 || is_exact {
            return;
        }
        if let Some(line) = precision_text::at_the_end(record) {
            screen::notice(&line);
        }
    }
}

/// A control that stops at the next signal.
pub(super) fn stoppable() -> Result<Control, CommandError> {
    let control = Control::new();
    signals::stop_on_signals(&control)
        .map_err(|error| CommandError::io("cannot handle signals", &error))?;
    Ok(control)
}

/// Refuses several ranks where they have no common directory.
fn ensure_ranks_have_a_directory(plan: &Plan) -> Result<(), Failure> {
    if plan.ranks == 1 || plan.venue.kind() == VenueKind::Dir {
        return Ok(());
    }
    let text = "several ranks can only load a directory that all of them can access";
    Err(Failure::new(FailureKind::BadInput, text).hint("name it with --dir"))
}

/// The error for a report that could not be written; the run itself is stored.
fn report_failed(record: &RunRecord, error: CommandError) -> CommandError {
    let run = &record.header.run;
    let mut failure = error.failure;
    let cause = std::mem::replace(
        &mut failure.message,
        format!("the run {run} is stored, but its report cannot be written"),
    );
    failure.causes.insert(0, cause);
    failure.hint = Some(format!(
        "free space, or use another directory: fslab report {run} --out DIR"
    ));
    CommandError {
        failure,
        exit: Exit::CannotHere,
    }
}

/// Removes what killed runs left; a failure does not stop this run.
fn clean_up() {
    match clean::reclaim() {
        Ok(reclaimed) => {
            for path in &reclaimed.undone {
                screen::notice(&format!(
                    "removed what a killed run left: {}",
                    path.display()
                ));
            }
            for failure in &reclaimed.failures {
                screen::warn(&format!("{failure}; see `fslab clean`"));
            }
        }
        Err(error) => screen::warn(&error.failure.to_string()),
    }
}

/// The settings of a plan's venue on this machine.
pub(crate) fn venue_settings(
    plan: &Plan,
    jobs: NonZeroUsize,
    record_disk: Option<PathBuf>,
) -> Result<VenueSettings, CommandError> {
    let of_one = fslab_run::footprint(&plan.phases)?;
    Ok(VenueSettings {
        // Starts the running binary even if its file was replaced.
        program: fslab_sys::own_program(),
        leases: defaults::leases()?,
        mount_folder: canonical_path(&std::env::temp_dir())?,
        footprint: Bytes(of_one.0.saturating_mul(plan.ranks.into())),
        guests: guest_lab::settings_of(plan, jobs)?,
        record_disk: record_disk.map(LogKeeping::Folder),
        ranks: None,
    })
}
