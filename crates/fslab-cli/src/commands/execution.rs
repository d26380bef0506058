//! The way of a study over some subjects, from plan to report: what `compare` and `run` share.

use std::num::NonZeroUsize;

use fslab_model::{Failure, FailureKind, Plan, RunHeader, RunId, RunRecord, VenueKind};
use fslab_run::{Conductor, Outcome, Request, Resolved, Resumption, RunLock, VenueChoice};
use fslab_store::{RunSelector, Store};
use fslab_venue::{Control, Venue, VenueSettings};

use super::place_args::PlaceArgs;
use super::plan_args::{OutputArgs, PlanArgs};
use super::store_args::StoreArgs;
use super::{clean, guest_lab, layers, plan_text, precision_text, report, show};
use crate::defaults::{self, true_path};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::progress::Progress;
use crate::{screen, signals};

/// The seed of a run in virtual time where none is named: the same for everybody, so that figures
/// can be compared to the last digit.
const SIM_SEED: u64 = 1;

/// A study, the subjects that were named, and the options.
pub(super) struct Execution<'a> {
    /// The study, by name or file.
    pub(super) study: &'a str,
    /// Subjects; none for the study's own.
    pub(super) subjects: &'a [String],
    pub(super) place: &'a PlaceArgs,
    pub(super) plan: &'a PlanArgs,
    pub(super) output: &'a OutputArgs,
    pub(super) store: &'a StoreArgs,
}

impl Execution<'_> {
    /// Plans, runs, stores, tells.
    pub(super) fn exec(&self) -> CommandResult {
        let Resolved {
            mut plan,
            notices,
            is_whole_catalogue,
        } = fslab_run::resolve(&self.request()?)?;
        notices.iter().for_each(|notice| screen::notice(notice));
        self.bring_layers(&mut plan)?;
        if self.plan.dry_run {
            if self.output.json {
                screen::print_json(&plan)?;
            } else {
                screen::print(&plan_text::plan_text(&plan))?;
            }
            return Ok(Exit::Done);
        }
        if !is_whole_catalogue {
            self.place.ensure_what_it_takes(&plan)?;
        }
        let jobs = self.plan.jobs(&plan.venue)?;
        report::prepare_folder(&self.output.out)?;
        let mut store = self.store.open()?;
        tidy_up();
        let venue = open_venue(&plan, jobs)?;
        let (header, _lock) = self.header(plan, &venue, &mut store)?;
        let outcome = self.conduct(&header, &mut store, &venue, jobs)?;
        let record = store.run(&RunSelector::from(header.run.clone()))?;
        self.tell(&record, outcome)
    }

    fn request(&self) -> Result<Request, CommandError> {
        let (study, _) = fslab_run::load_study(self.study)?;
        let study = fslab_run::override_study(&study, &self.plan.settings)?;
        let venue = self.place.choice()?;
        let of_venue = || match venue {
            VenueChoice::Sim(..) => SIM_SEED,
            _ => fslab_run::fresh_seed(),
        };
        Ok(Request {
            seed: self.plan.seed.unwrap_or_else(of_venue),
            study,
            subjects: self.subjects.to_vec(),
            venue,
            size: self.plan.size,
            aged: self.plan.aged.clone(),
            scale: self.plan.scale,
            repetition: self.plan.repetition.repetition(),
            trial_limit_s: self.plan.trial_limit,
        })
    }

    /// What a guest does not have of itself. Without leave nothing is looked for that a study
    /// names: its plan can be seen then, and not run.
    fn bring_layers(&self, plan: &mut Plan) -> Result<(), CommandError> {
        match self.ensure_leave(plan) {
            Ok(()) => layers::bring(plan),
            Err(_) if self.plan.dry_run => {
                screen::notice(
                    "without --allow-commands the plan is shown without layers for a guest, and \
                     has another hash than with them",
                );
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// A study from elsewhere may start anything: whoever runs it must have said that it may.
    fn ensure_leave(&self, plan: &Plan) -> Result<(), CommandError> {
        match self.plan.allow_commands {
            true => Ok(()),
            false => Ok(fslab_workload::ensure_programs_allowed(&plan.phases)?),
        }
    }

    /// The header of the run that is resumed, or of a new one, which is in the store from now on;
    /// and the lock that makes it ours.
    fn header(
        &self,
        plan: Plan,
        venue: &Venue,
        store: &mut Store,
    ) -> Result<(RunHeader, RunLock), CommandError> {
        let plan_hash = plan.hash();
        if self.plan.resume {
            match store.latest_with_hash(&plan_hash)? {
                Some(run) => return self.resumed(&run, &plan, venue, store),
                None => screen::notice("there is no run of this plan to resume; this is a new one"),
            }
        }
        let started_unix_s = fslab_run::unix_seconds();
        let header = RunHeader {
            run: fslab_run::fresh_run_id(started_unix_s),
            plan,
            plan_hash,
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            machine: fslab_run::machine_facts(),
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            started_unix_s,
        };
        let lock = RunLock::take(&defaults::state()?, &header.run)?;
        store.begin_run(&header)?;
        Ok((header, lock))
    }

    /// Everything that may refuse comes before the store is changed.
    fn resumed(
        &self,
        run: &RunId,
        asked: &Plan,
        venue: &Venue,
        store: &mut Store,
    ) -> Result<(RunHeader, RunLock), CommandError> {
        let lock = RunLock::take(&defaults::state()?, run)?;
        let machine = fslab_run::machine_facts();
        let now = Resumption {
            fslab: env!("CARGO_PKG_VERSION"),
            machine: &machine,
            seed: self.plan.seed,
        };
        let begun = store.header(run)?;
        now.ensure_alike(&begun)?;
        // What is run is the stored plan, and a store may come from elsewhere.
        ensure_same_plan(&begun, asked)?;
        self.ensure_leave(&begun.plan)?;
        let device = venue.device_identity();
        if !device.is_empty() {
            let so_far = store.run(&RunSelector::from(run.clone()))?;
            fslab_run::ensure_same_device(&so_far, &device)?;
        }
        // Who names no number goes on as the run was begun, until its figures are known if it was.
        let adaptive = match self.plan.repetition.repeats {
            None => asked.adaptive.as_ref().or(begun.plan.adaptive.as_ref()),
            Some(_) => asked.adaptive.as_ref(),
        };
        store.ask_repeats(run, asked.repeats, adaptive)?;
        let mut header = store.header(run)?;
        // Patience is no dimension of a result: the limit asked for now holds for what is missing.
        if let Some(limit_s) = self.plan.trial_limit {
            header.plan.trial_limit_s = limit_s;
        }
        Ok((header, lock))
    }

    fn conduct(
        &self,
        header: &RunHeader,
        store: &mut Store,
        venue: &Venue,
        jobs: NonZeroUsize,
    ) -> Result<Outcome, CommandError> {
        let control = Control::new();
        signals::stop_on_signals(&control)
            .map_err(|error| CommandError::io("cannot listen to signals", &error))?;
        let mut progress = Progress::new();
        let outcome = Conductor {
            header,
            store,
            venue,
            control: &control,
            jobs,
            allow_commands: self.plan.allow_commands,
        }
        .run(&mut progress);
        progress.finish();
        Ok(outcome?)
    }

    fn tell(&self, record: &RunRecord, outcome: Outcome) -> CommandResult {
        let shown = if self.output.json {
            screen::print(&fslab_report::json(record)?)
        } else {
            show::print_summary(record)
        };
        // The figures first: they are worth more than the page.
        let path = report::write(std::slice::from_ref(record), &self.output.out)
            .map_err(|error| report_is_missing(record, error))?;
        shown?;
        let line = format!("report: {}", path.display());
        if self.output.json {
            screen::say(&line);
        } else {
            screen::print(&format!("\n{line}\n"))?;
        }
        if outcome.missing > 0 {
            screen::warn(&format!(
                "stopped with {} missing; the same command with --resume does what is missing",
                screen::counted(outcome.missing, "trial")
            ));
        }
        self.tell_precision(record, outcome);
        let complete = outcome.missing == 0 && record.trials_done() == record.trials_planned();
        Ok(if complete {
            Exit::Done
        } else {
            Exit::TrialsFailed
        })
    }
}

impl Execution<'_> {
    /// Which subjects are not known as well as they were to be, or as one would like; in one line.
    fn tell_precision(&self, record: &RunRecord, outcome: Outcome) {
        let plan = &record.header.plan;
        let is_exact = plan.venue.kind() == VenueKind::Sim && !plan.perturb;
        if outcome.missing > 0 || is_exact {
            return;
        }
        if let Some(line) = precision_text::at_the_end(record) {
            screen::notice(&line);
        }
    }
}

/// Demands that the plan of the run `begun` is the one that is asked for, and not only noted under
/// its hash.
fn ensure_same_plan(begun: &RunHeader, asked: &Plan) -> Result<(), Failure> {
    if begun.plan.hash() == asked.hash() {
        return Ok(());
    }
    let text = format!(
        "the plan of the run {} in the store is not the one under whose hash it is noted",
        begun.run
    );
    Err(Failure::new(FailureKind::BadInput, text)
        .hint("the store was changed; leave out --resume for a new run"))
}

/// A report that could not be written takes nothing from its run.
fn report_is_missing(record: &RunRecord, error: CommandError) -> CommandError {
    let run = &record.header.run;
    let mut failure = error.failure;
    let cause = std::mem::replace(
        &mut failure.message,
        format!("the run {run} is stored, and its report is not written"),
    );
    failure.causes.insert(0, cause);
    failure.hint = Some(format!(
        "make room, or name another folder: fslab report {run} --out DIR"
    ));
    CommandError {
        failure,
        exit: Exit::CannotHere,
    }
}

/// Removes what a killed run has left; a failure there does not stop this run.
fn tidy_up() {
    match clean::reclaim() {
        Ok(reclaimed) => {
            for path in &reclaimed.undone {
                screen::notice(&format!(
                    "undone what a killed run left: {}",
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

fn open_venue(plan: &Plan, jobs: NonZeroUsize) -> Result<Venue, CommandError> {
    let settings = VenueSettings {
        // By this name even a binary that was replaced meanwhile starts itself.
        program: "/proc/self/exe".into(),
        leases: defaults::leases()?,
        mount_folder: true_path(&std::env::temp_dir())?,
        footprint: fslab_run::footprint(&plan.phases)?,
        guest: guest_lab::settings_of(plan, jobs)?,
    };
    Ok(Venue::open(&plan.venue, plan.size_bytes, settings)?)
}
