//! `fslab compare`: a study over some subjects, from plan to report.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fslab_fs::Host;
use fslab_lab::Kernel;
use fslab_model::{
    Bytes, Failure, FailureKind, Plan, RunHeader, RunId, RunRecord, VenueKind, VenuePlan,
};
use fslab_run::{
    Conductor, GuestChoice, Outcome, Request, Resolved, Resumption, RunLock, VenueChoice,
};
use fslab_store::{RunSelector, Store};
use fslab_venue::{Control, GuestSettings, Venue, VenueSettings};

use super::store_args::StoreArgs;
use super::{clean, guest_kernel, plan_text, report, show};
use crate::defaults::{self, absolute_path, true_path};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::progress::Progress;
use crate::{screen, signals};

/// The seed of a run in virtual time where none is named: the same for everybody, so that figures
/// can be compared to the last digit.
const SIM_SEED: u64 = 1;

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
    /// Where trials run [default: loop; guest or dir where loop cannot be had]
    #[arg(long, value_enum)]
    venue: Option<VenueName>,
    /// Folder for the images of the venues loop, guest and sim [default: /var/tmp]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Directory for the venue dir; a fresh one is made in it for each trial [default: .]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Memory of the guest, like 512MiB [default: the study's, or 1GiB]
    #[arg(long, value_parser = parse_size, allow_hyphen_values = true)]
    memory: Option<Bytes>,
    /// The guest kernel, by the name that `fslab lab build` gave it [default: default]
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The disk of the venue sim: a profile's name (see `fslab disk list`) or file [default: the
    /// study's, or hdd-7200-ata100-2002]
    #[arg(long, value_name = "PROFILE")]
    disk: Option<String>,
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
    /// A guest kernel with an image file as its disk; needs `fslab lab build` once, and no
    /// privileges
    Guest,
    /// A guest kernel in virtual time with a simulated disk: the same figures on every machine
    Sim,
    /// A directory, on whatever is mounted there; nothing is formatted
    Dir,
}

/// What is done, and how often.
#[derive(Debug, Args)]
#[command(next_help_heading = "What")]
struct PlanArgs {
    /// Size of each file system, like 1GiB; the study's files take their share of it [default: the
    /// study's]
    #[arg(long, value_parser = parse_size, allow_hyphen_values = true)]
    size: Option<Bytes>,
    /// Repeats, each on a fresh file system [default: the study's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    repeats: Option<u32>,
    /// Seconds after which a trial is ended and counts as failed [default: the study's]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    trial_limit: Option<u32>,
    /// Trials at a time, in the venue sim alone [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Decides the order of trials and the data written [default: chance; 1 in the venue sim]
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Go on with the last run of this plan: do what is missing, and what failed; with the same
    /// fslab, on the same machine, under the same kernel
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
        let Resolved {
            plan,
            notices,
            is_whole_catalogue,
        } = fslab_run::resolve(&self.request()?)?;
        notices.iter().for_each(|notice| screen::notice(notice));
        if self.plan.dry_run {
            if self.output.json {
                screen::print_json(&plan)?;
            } else {
                screen::print(&plan_text::plan_text(&plan))?;
            }
            return Ok(Exit::Done);
        }
        if !is_whole_catalogue {
            self.place.demand_what_it_takes(&plan)?;
        }
        let jobs = self.plan.jobs(&plan.venue)?;
        report::prepare_folder(&self.output.out)?;
        let mut store = self.store.open()?;
        tidy_up();
        let venue = open_venue(&plan)?;
        let (header, _lock) = self.header(plan, &mut store)?;
        let outcome = conduct(&header, &mut store, &venue, jobs)?;
        let record = store.run(&RunSelector::from(header.run.clone()))?;
        self.tell(&record, outcome)
    }

    fn request(&self) -> Result<Request, CommandError> {
        let (study, _) = fslab_run::load_study(&self.study)?;
        let venue = self.place.choice()?;
        let of_venue = || match venue {
            VenueChoice::Sim(..) => SIM_SEED,
            _ => fslab_run::fresh_seed(),
        };
        Ok(Request {
            seed: self.plan.seed.unwrap_or_else(of_venue),
            study,
            subjects: self.subjects.clone(),
            venue,
            size: self.plan.size,
            repeats: self.plan.repeats,
            trial_limit_s: self.plan.trial_limit,
        })
    }

    /// The header of the run that is resumed, or of a new one, which is in the store from now on;
    /// and the lock that makes it ours.
    fn header(&self, plan: Plan, store: &mut Store) -> Result<(RunHeader, RunLock), CommandError> {
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
        let lock = RunLock::take(&defaults::state()?, &header.run)?;
        store.begin_run(&header)?;
        Ok((header, lock))
    }

    /// Everything that may refuse comes before the store is changed.
    fn resumed(
        &self,
        run: &RunId,
        repeats: u32,
        store: &mut Store,
    ) -> Result<(RunHeader, RunLock), CommandError> {
        let lock = RunLock::take(&defaults::state()?, run)?;
        let machine = fslab_run::machine_facts();
        let now = Resumption {
            fslab: env!("CARGO_PKG_VERSION"),
            host: machine.host.as_deref(),
            kernel: machine.kernel.as_deref(),
            seed: self.plan.seed,
        };
        now.demand_alike(&store.header(run)?)?;
        store.raise_repeats(run, repeats)?;
        let mut header = store.header(run)?;
        // Patience is no dimension of a result: the limit asked for now holds for what is missing.
        if let Some(limit_s) = self.plan.trial_limit {
            header.plan.trial_limit_s = limit_s;
        }
        Ok((header, lock))
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
        let complete = outcome.missing == 0 && record.trials_done() == record.trials_planned();
        Ok(if complete {
            Exit::Done
        } else {
            Exit::TrialsFailed
        })
    }
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

impl PlanArgs {
    /// How many trials run at a time: in real time they would disturb each other.
    fn jobs(&self, venue: &VenuePlan) -> Result<NonZeroUsize, CommandError> {
        if venue.kind() == VenueKind::Sim {
            let processors = fslab_sys::processors().map_or(1, |processors| processors.len());
            let of_machine = NonZeroUsize::new(processors).unwrap_or(NonZeroUsize::MIN);
            return Ok(self.jobs.unwrap_or(of_machine));
        }
        if self.jobs.is_some_and(|jobs| jobs > NonZeroUsize::MIN) {
            let text = format!(
                "trials of the venue '{}' take real time, and would disturb each other",
                venue.kind().as_str()
            );
            let failure = Failure::new(FailureKind::BadInput, text)
                .hint("leave out --jobs, or measure in virtual time with --venue sim");
            return Err(failure.into());
        }
        Ok(NonZeroUsize::MIN)
    }
}

impl PlaceArgs {
    fn choice(&self) -> Result<VenueChoice, CommandError> {
        let Some(venue) = self.named()? else {
            return Ok(VenueChoice::Auto {
                folder: self.true_folder()?,
                guest: guest_kernel::find(None)
                    .ok()
                    .map(|k| self.guest(&k))
                    .transpose()?,
                dir: self.true_dir()?,
            });
        };
        Ok(VenueChoice::Named(match venue {
            VenueName::Guest => {
                let kernel = guest_kernel::find(self.kernel.as_deref())?;
                return Ok(VenueChoice::Guest(self.guest(&kernel)?));
            }
            VenueName::Sim => {
                let kernel = guest_kernel::find_with_simdisk(self.kernel.as_deref())?;
                return Ok(VenueChoice::Sim(self.guest(&kernel)?, self.disk.clone()));
            }
            VenueName::Loop => VenuePlan::Loop {
                folder: self.true_folder()?,
            },
            VenueName::Dir => VenuePlan::Dir {
                dir: self.true_dir()?,
            },
            VenueName::Block => VenuePlan::Block {
                device: self.device()?,
            },
        }))
    }

    fn guest(&self, kernel: &Kernel) -> Result<GuestChoice, Failure> {
        Ok(GuestChoice {
            folder: self.true_folder()?,
            kernel: guest_kernel::identity(kernel),
            memory: self.memory,
        })
    }

    /// The venue that was named, by itself or by its place; a place of another is refused.
    fn named(&self) -> Result<Option<VenueName>, CommandError> {
        const IMAGES: &[VenueName] = &[VenueName::Loop, VenueName::Guest, VenueName::Sim];
        const GUEST: &[VenueName] = &[VenueName::Guest, VenueName::Sim];
        let places = [
            ("--disk", &[VenueName::Sim][..], self.disk.is_some()),
            ("--memory", GUEST, self.memory.is_some()),
            ("--kernel", GUEST, self.kernel.is_some()),
            ("--folder", IMAGES, self.folder.is_some()),
            ("--dir", &[VenueName::Dir], self.dir.is_some()),
            ("--destroy", &[VenueName::Block], self.destroy.is_some()),
        ];
        let mut given = places.into_iter().filter(|(_, _, is_given)| *is_given);
        let first = given.clone().next().map(|(_, venues, _)| venues[0]);
        let Some(venue) = self.venue.or(first) else {
            return Ok(None);
        };
        let Some((option, its, _)) = given.find(|(_, its, _)| !its.contains(&venue)) else {
            return Ok(Some(venue));
        };
        let its: Vec<_> = its
            .iter()
            .map(|venue| format!("'{}'", venue.as_str()))
            .collect();
        let text = format!(
            "{option} goes with the venue {} alone, and the venue is '{}'",
            its.join(" or "),
            venue.as_str()
        );
        let failure = Failure::new(FailureKind::BadInput, text)
            .hint(format!("leave out {option}, or what names the other venue"));
        Err(failure.into())
    }

    /// Demands, before anything is touched, that this machine can run every subject.
    fn demand_what_it_takes(&self, plan: &Plan) -> Result<(), CommandError> {
        let kind = plan.venue.kind();
        // What a guest can do does not depend on its clock.
        let probed = match kind {
            VenueKind::Sim => VenueKind::Guest,
            VenueKind::Loop | VenueKind::Block | VenueKind::Guest => kind,
            VenueKind::Dir | VenueKind::Fake => return Ok(()),
        };
        let mut host = Host::gather()?;
        if probed == VenueKind::Guest {
            let kernel = guest_kernel::find(self.kernel.as_deref())?;
            host.guest = guest_kernel::for_probe(&kernel);
        }
        let text = format!(
            "this machine cannot run every subject in the venue '{}'",
            kind.as_str()
        );
        let mut failure = Failure::new(FailureKind::MissingTool, text);
        let mut hints = BTreeSet::new();
        for subject in &plan.subjects {
            let file_system = fslab_fs::find(subject.subject.fs())?;
            for venue in fslab_fs::probe(file_system, &host).venues {
                for obstacle in venue.obstacles.iter().filter(|_| venue.venue == probed) {
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

    fn true_folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.folder.as_deref();
        true_path(folder.unwrap_or(Path::new(defaults::IMAGE_FOLDER)))
    }

    fn true_dir(&self) -> Result<PathBuf, Failure> {
        true_path(self.dir.as_deref().unwrap_or(Path::new(".")))
    }

    fn device(&self) -> Result<PathBuf, Failure> {
        let Some(device) = &self.destroy else {
            let text = "the venue 'block' formats a device, and none was named";
            return Err(Failure::new(FailureKind::BadInput, text)
                .hint("name it with --destroy /dev/...; everything on it will be lost"));
        };
        absolute_path(device)
    }
}

impl VenueName {
    fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Block => "block",
            Self::Guest => "guest",
            Self::Sim => "sim",
            Self::Dir => "dir",
        }
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

fn open_venue(plan: &Plan) -> Result<Venue, CommandError> {
    let settings = VenueSettings {
        // By this name even a binary that was replaced meanwhile starts itself.
        program: "/proc/self/exe".into(),
        leases: defaults::leases()?,
        mount_folder: true_path(&std::env::temp_dir())?,
        footprint: fslab_run::footprint(&plan.phases)?,
        guest: guest_settings(plan)?,
    };
    Ok(Venue::open(&plan.venue, plan.size_bytes, settings)?)
}

/// The guest kernel that the plan names, and that very one: a plan is resumed under the kernel that
/// it was begun with.
fn guest_settings(plan: &Plan) -> Result<Option<GuestSettings>, CommandError> {
    let (VenuePlan::Guest { kernel, .. } | VenuePlan::Sim { kernel, .. }) = &plan.venue else {
        return Ok(None);
    };
    Ok(Some(GuestSettings {
        kernel: guest_kernel::binary_of(kernel)?,
    }))
}

fn conduct(
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
    }
    .run(&mut progress);
    progress.finish();
    Ok(outcome?)
}
