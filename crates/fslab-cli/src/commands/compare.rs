//! `fslab compare`: a study over some subjects, from plan to report.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fslab_fs::Host;
use fslab_model::{Bytes, Failure, FailureKind, Plan, RunHeader, RunRecord, VenueKind, VenuePlan};
use fslab_run::{Conductor, Outcome, Request, Resolved, VenueChoice};
use fslab_store::{RunSelector, Store};
use fslab_venue::{Control, Venue, VenueSettings};

use super::store_args::StoreArgs;
use super::{clean, plan_text, report, show};
use crate::defaults::{self, absolute_path};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::progress::Progress;
use crate::{screen, signals};

/// Arguments of `fslab compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// File systems with their options: ext4, ext4:data=journal, xfs:mkfs=-m reflink=0, or all
    /// [default: those of the study]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The study, by name or file
    #[arg(long, default_value = "quick")]
    study: String,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// Where trials run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where")]
struct PlaceArgs {
    /// Where trials run [default: loop; dir where loop cannot be had]
    #[arg(long, value_enum)]
    venue: Option<VenueName>,
    /// Folder for the images of the venue loop
    #[arg(long, value_name = "DIR", default_value = defaults::IMAGE_FOLDER)]
    folder: PathBuf,
    /// Directory for the venue dir; a fresh one is made in it for each trial
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The device of the venue block: EVERYTHING ON IT IS DESTROYED
    #[arg(long, value_name = "DEVICE")]
    destroy: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum VenueName {
    /// An image file behind a loop device with direct I/O (root)
    Loop,
    /// A block device, named with --destroy (root)
    Block,
    /// A directory, on whatever is mounted there; nothing is formatted
    Dir,
}

/// What is done, and how often.
#[derive(Debug, Args)]
#[command(next_help_heading = "What")]
struct PlanArgs {
    /// Size of each file system, like 1GiB; the study's files take their share of it [default: the
    /// study's]
    #[arg(long, value_parser = parse_size)]
    size: Option<Bytes>,
    /// Repeats, each on a fresh file system [default: the study's]
    #[arg(long, value_name = "N")]
    repeats: Option<u32>,
    /// Seconds after which a trial is ended and counts as failed [default: the study's]
    #[arg(long, value_name = "SECONDS")]
    trial_limit: Option<u32>,
    /// Decides the order of trials and the data written [default: chance]
    #[arg(long)]
    seed: Option<u64>,
    /// Go on with the last run of this plan: do what is missing, and what failed
    #[arg(long)]
    resume: bool,
    /// Print the plan, every value spelled out, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// What is written where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print a JSON document: the plan with --dry-run, else the run with all its records
    #[arg(long)]
    json: bool,
}

fn parse_size(text: &str) -> Result<Bytes, fslab_model::ParseBytesError> {
    text.parse()
}

impl CompareArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let Resolved { plan, notices } = fslab_run::resolve(&self.request()?)?;
        notices.iter().for_each(|notice| screen::notice(notice));
        if self.plan.dry_run {
            if self.output.json {
                screen::print_json(&plan)?;
            } else {
                screen::print(&plan_text::plan_text(&plan))?;
            }
            return Ok(Exit::Done);
        }
        demand_what_it_takes(&plan)?;
        report::prepare_folder(&self.output.out)?;
        let mut store = self.store.open()?;
        tidy_up();
        let venue = open_venue(&plan)?;
        let header = self.header(plan, &mut store)?;
        let outcome = conduct(&header, &mut store, &venue)?;
        let record = store.run(&RunSelector::from(header.run.clone()))?;
        self.tell(&record, outcome)
    }

    fn request(&self) -> Result<Request, CommandError> {
        let (study, _) = fslab_run::load_study(&self.study)?;
        Ok(Request {
            study,
            subjects: self.subjects.clone(),
            venue: self.place.choice()?,
            size: self.plan.size,
            repeats: self.plan.repeats,
            trial_limit_s: self.plan.trial_limit,
            seed: self.plan.seed.unwrap_or_else(fslab_run::fresh_seed),
        })
    }

    /// The header of the run that is resumed, or of a new one, which is in the store from now on.
    fn header(&self, plan: Plan, store: &mut Store) -> Result<RunHeader, CommandError> {
        let plan_hash = plan.hash();
        if self.plan.resume {
            match store.latest_with_hash(&plan_hash)? {
                Some(run) => return self.resumed(&run, plan.repeats, store),
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
        store.begin_run(&header)?;
        Ok(header)
    }

    fn resumed(
        &self,
        run: &fslab_model::RunId,
        repeats: u32,
        store: &mut Store,
    ) -> Result<RunHeader, CommandError> {
        store.raise_repeats(run, repeats)?;
        let header = store.header(run)?;
        let theirs = header.plan.seed;
        if let Some(seed) = self.plan.seed.filter(|seed| *seed != theirs) {
            let text = format!("the run {run} has the seed {theirs}, and {seed} was asked for");
            let failure = Failure::new(FailureKind::BadInput, text)
                .hint("leave out --seed, or leave out --resume to begin a new run");
            return Err(failure.into());
        }
        let now = fslab_run::machine_facts();
        if now.kernel != header.machine.kernel {
            screen::warn(&format!(
                "the run {run} was begun on another kernel ({}); its trials may not be alike",
                header.machine.kernel.as_deref().unwrap_or("unknown")
            ));
        }
        Ok(header)
    }

    fn tell(&self, record: &RunRecord, outcome: Outcome) -> CommandResult {
        let path = report::write(std::slice::from_ref(record), &self.output.out)?;
        if self.output.json {
            screen::print(&fslab_report::json(record)?)?;
            eprintln!("report: {}", path.display());
        } else {
            show::print_summary(record)?;
            screen::print(&format!("\nreport: {}\n", path.display()))?;
        }
        if outcome.missing > 0 {
            screen::warn(&format!(
                "stopped with {} trials missing; the same command with --resume does them",
                outcome.missing
            ));
        }
        let complete = outcome.missing == 0 && record.trials_done() == record.trials_planned();
        Ok(if complete {
            Exit::Done
        } else {
            Exit::TrialsFailed
        })
    }
}

impl PlaceArgs {
    fn choice(&self) -> Result<VenueChoice, CommandError> {
        let folder = absolute_path(&self.folder)?;
        let dir = absolute_path(&self.dir)?;
        let venue = match (self.venue, &self.destroy) {
            (None | Some(VenueName::Block), Some(device)) => Some(VenuePlan::Block {
                device: absolute_path(device)?,
            }),
            (Some(VenueName::Block), None) => {
                let text = "the venue 'block' formats a device, and none was named";
                let failure = Failure::new(FailureKind::BadInput, text)
                    .hint("name it with --destroy /dev/...; everything on it will be lost");
                return Err(failure.into());
            }
            (Some(_), Some(_)) => {
                return Err(CommandError::bad_input(
                    "--destroy goes with --venue block alone",
                ));
            }
            (Some(VenueName::Loop), None) => Some(VenuePlan::Loop {
                folder: folder.clone(),
            }),
            (Some(VenueName::Dir), None) => Some(VenuePlan::Dir { dir: dir.clone() }),
            (None, None) => None,
        };
        Ok(venue.map_or(VenueChoice::Auto { folder, dir }, VenueChoice::Named))
    }
}

/// Demands, before anything is touched, that this machine can run every subject.
fn demand_what_it_takes(plan: &Plan) -> Result<(), CommandError> {
    let kind = plan.venue.kind();
    if !matches!(kind, VenueKind::Loop | VenueKind::Block) {
        return Ok(());
    }
    let host = Host::gather()?;
    let text = format!(
        "this machine cannot run every subject in the venue '{}'",
        kind.as_str()
    );
    let mut failure = Failure::new(FailureKind::MissingTool, text);
    let mut hints = BTreeSet::new();
    for subject in &plan.subjects {
        let file_system = fslab_fs::find(subject.subject.fs())?;
        for venue in fslab_fs::probe(file_system, &host).venues {
            for obstacle in venue.obstacles.iter().filter(|_| venue.venue == kind) {
                failure
                    .causes
                    .push(format!("{}: {obstacle}", subject.subject));
                hints.extend(obstacle.hint().map(str::to_owned));
            }
        }
    }
    if failure.causes.is_empty() {
        return Ok(());
    }
    failure.hint = Some(hints.into_iter().collect::<Vec<_>>().join("; "));
    Err(failure.into())
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

fn open_venue(plan: &Plan) -> Result<Venue, CommandError> {
    let settings = VenueSettings {
        // By this name even a binary that was replaced meanwhile starts itself.
        program: "/proc/self/exe".into(),
        leases: defaults::leases()?,
        mount_folder: std::env::temp_dir(),
        footprint: fslab_run::footprint(&plan.phases)?,
    };
    Ok(Venue::open(&plan.venue, plan.size_bytes, settings)?)
}

fn conduct(header: &RunHeader, store: &mut Store, venue: &Venue) -> Result<Outcome, CommandError> {
    let control = Control::new();
    signals::stop_on_signals(&control)
        .map_err(|error| CommandError::io("cannot listen to signals", &error))?;
    let mut progress = Progress::new();
    let outcome = Conductor {
        header,
        store,
        venue,
        control: &control,
    }
    .run(&mut progress);
    progress.finish();
    Ok(outcome?)
}
