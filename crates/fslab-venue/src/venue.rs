//! An open venue: runs trials, one after the other or in parallel.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fslab_model::{
    Bytes, DeviceIdentity, DeviceSpec, Event, Facts, Failure, FailureKind, Placement, RankSpec,
    TrialOutcome, TrialRecord, TrialRun, TrialSpec, TrialTask, VenuePlan,
};
use fslab_sys::LoopDevice;

use super::ended::Ending;
use super::trial_request::TrialRequest;
use crate::child::{Launch, Transport, trial_command};
use crate::control::Control;
use crate::ended::{Ended, append_cleanup_error, outcome_after_release, record_of};
use crate::expected::ExpectedRecord;
use crate::guest::{Clock, Guest, GuestSettings, GuestTask, LogKeeping, Recorded, keep_log};
use crate::host_failure::of_preparation;
use crate::lease::{Lease, Leases};
use crate::placement::{hand_over, placement};
use crate::places::{
    Block, Directory, Fake, GuestDisk, Image, Place, Places, Prepared, Preparing, Start,
};
use crate::room_watch::RoomWatch;
use crate::time_limit::STALL_LIMIT;

/// The engine whose times pass nowhere.
const NULL_ENGINE: &str = "null";

/// Settings of a venue besides the plan.
#[derive(Clone, Debug)]
pub struct VenueSettings {
    /// The program started as `PROGRAM trial`.
    pub program: PathBuf,
    /// The directory of leases.
    pub leases: Leases,
    /// Directory of the mount points of the `block` venue.
    pub mount_folder: PathBuf,
    /// Upper limit of the bytes that a trial's files take, for venues with sparse disks.
    pub footprint: Bytes,
    /// The guests of the venues `guest` and `sim`: one for all subjects, or one for each.
    pub guests: Vec<GuestSettings>,
    /// Where each trial's log of its simulated disk is kept; `None` if none is.
    pub record_disk: Option<LogKeeping>,
    /// This rank of a load of several.
    pub ranks: Option<RankSpec>,
}

impl VenueSettings {
    /// The guests with disks of `size` in `folder`.
    fn guest_disks(
        &self,
        folder: &Path,
        size: Bytes,
        memory: Bytes,
        clock: &Clock,
    ) -> Result<Places, Failure> {
        if self.guests.is_empty() {
            let text = "no guest kernel was chosen";
            return Err(Failure::new(FailureKind::BadInput, text));
        }
        Places::each(&self.guests, |chosen| {
            let guest = Guest::new(chosen, memory, clock.clone())?;
            let guest = guest.recorded(self.record_disk.is_some());
            GuestDisk::open(folder.to_owned(), size, self.footprint, guest)
        })
    }
}

/// An open venue.
pub struct Venue {
    places: Places,
    /// Facts of the plan for every record: the layers over a guest's root.
    facts: Facts,
    settings: VenueSettings,
    /// True if a trial's time passes for this process, too.
    is_in_real_time: bool,
    lost: OnceLock<Failure>,
}

impl Venue {
    /// Opens the venue of a plan and makes all checks possible before the first trial.
    ///
    /// # Errors
    /// A [`Failure`] of kind `Permission`, `NoSpace`, `BadInput` or `Device`, with a hint.
    pub fn open(plan: &VenuePlan, size: Bytes, settings: VenueSettings) -> Result<Self, Failure> {
        settings.leases.ensure_writable()?;
        if let Some(keeping) = &settings.record_disk {
            prepare_recording(plan, keeping)?;
        }
        let places = match plan {
            VenuePlan::Dir { dir } => Places::each(dir.as_slice(), |dir| {
                Directory::open(dir.clone(), settings.footprint.0)
            })?,
            VenuePlan::Loop { folder } => Places::one(Image::open(folder.clone(), size)?),
            VenuePlan::Block { device, others } => {
                let devices: Vec<_> = std::iter::once(device).chain(others).cloned().collect();
                let mount_folder = settings.mount_folder.clone();
                Places::one(Block::open(&devices, mount_folder, size)?)
            }
            VenuePlan::Guest {
                folder,
                memory_bytes,
                ..
            } => settings.guest_disks(folder, size, *memory_bytes, &Clock::real())?,
            VenuePlan::Sim {
                folder,
                memory_bytes,
                disk,
                machine,
                ..
            } => {
                let clock = Clock::Virtual {
                    disk: disk.clone(),
                    machine: machine.clone(),
                };
                settings.guest_disks(folder, size, *memory_bytes, &clock)?
            }
            VenuePlan::Fake => Places::one(Fake),
            VenuePlan::Imported { tool } => {
                let text = format!("cannot resume an imported run (measured by {tool})");
                return Err(Failure::new(FailureKind::BadInput, text));
            }
        };
        let layers = plan.layers().iter();
        let facts = layers.map(|layer| (format!("layer.{}", layer.name), layer.digest.clone()));
        Ok(Self {
            places,
            facts: facts.collect(),
            settings,
            is_in_real_time: !plan.kind().is_virtual() && *plan != VenuePlan::Fake,
            lost: OnceLock::new(),
        })
    }

    /// Why no further trial can run here: the device is gone, has changed, or hangs.
    pub fn lost(&self) -> Option<&Failure> {
        self.lost.get()
    }

    /// Identity of the device that all trials share; empty if each has a separate one.
    pub fn device_identity(&self) -> DeviceIdentity {
        self.places.identity()
    }

    /// Runs a trial and undoes its resources, whether it succeeds or fails.
    pub fn run_trial(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: impl FnMut(&Event),
    ) -> TrialRecord {
        let started_unix_s = fslab_sys::unix_seconds();
        let run = |elapsed, console| request.ran(started_unix_s, elapsed, console);
        let failed = |failure| request.failed(started_unix_s, failure);
        let place = match self.places.of(request.task.trial.cell) {
            Ok(place) => place,
            Err(failure) => return failed(failure),
        };
        let record = self
            .try_trial(place, request, &run, control, on_event)
            .unwrap_or_else(|failure| failed(self.of_unbegun(failure)));
        if matches!(record.outcome, TrialOutcome::Failed { .. })
            && let Err(failure) = place.check()
        {
            let _ = self.lost.set(failure);
        }
        record
    }

    /// The failure of a trial that has not begun.
    fn of_unbegun(&self, failure: Failure) -> Failure {
        match self.lost() {
            Some(lost) if *lost == failure => failure,
            _ => of_preparation(failure),
        }
    }

    fn try_trial(
        &self,
        place: &dyn Place,
        request: &TrialRequest,
        run: &dyn Fn(Duration, String) -> TrialRun,
        control: &Control,
        on_event: impl FnMut(&Event),
    ) -> Result<TrialRecord, Failure> {
        let expected = self.expected(&request.task)?;
        let name = request.name_of_attempt();
        let disks = request.task.subject.disks() as usize;
        let resources = place.resources(&name, disks);
        let mut lease = self.settings.leases.take(&name, resources)?;
        let began = Instant::now();
        let go_on = || !control.is_stopping() && began.elapsed() < request.limit;
        let preparing = Preparing {
            disks,
            resources: lease.resources(),
            lease: lease.file(),
            go_on: &go_on,
        };
        let prepared = match place.prepare(&preparing) {
            Ok(prepared) => prepared,
            Err(failure) => {
                let failure = self.over_limit(place, failure, request.limit, control);
                return Err(append_cleanup_error(failure, lease.undo().err()));
            }
        };
        let Prepared {
            device,
            facts,
            holders,
            start,
        } = prepared;
        let placement = Placement {
            ranks: self.settings.ranks.clone(),
            ..placement(device, &start)
        };
        let spec = request.task.clone().placed(placement);
        let start = hand_over(start, &spec)?;
        let room = place.images().map(RoomWatch::begin);
        let task = (request, &spec, &expected);
        let ending = self.launch(task, &start, &mut lease, control, on_event);
        release(holders);
        // A process that cannot be killed keeps the lock on its lease, so the lease stays.
        let is_stuck = ending.as_ref().is_ok_and(|ending| ending.is_stuck);
        if is_stuck && !place.identity().is_empty() {
            self.lose_hanging(&spec, &start);
        }
        // The trace is read before its directory is removed.
        let record = ending.map(|ending| {
            let ended = Ended {
                spec: &spec,
                expected: &expected,
                start: &start,
                images: place.images(),
                room,
                is_stopping: control.is_stopping(),
            };
            let mut record = record_of(&ended, run, ending);
            self.keep_log(request, &spec, &start, &mut record);
            record
        });
        if let (Start::InGuest(_, share), false) = (&start, is_stuck) {
            share.remove_exchange();
        }
        let left = if is_stuck { None } else { lease.undo().err() };
        let mut record = match record {
            Ok(record) => record,
            Err(failure) => return Err(append_cleanup_error(failure, left)),
        };
        record.facts.extend(facts);
        record.facts.extend(self.facts.clone());
        record.outcome = outcome_after_release(record.outcome, left);
        Ok(record)
    }

    /// Gives up a device that no process that uses it can be ended for.
    fn lose_hanging(&self, spec: &TrialSpec, start: &Start) {
        if let (DeviceSpec::Block { path, .. }, Start::Here) = (&spec.device, start) {
            let text = format!("{} hangs: a trial on it cannot be ended", path.display());
            let _ = self.lost.set(Failure::new(FailureKind::Timeout, text));
        }
    }

    /// Keeps the log of the trial's simulated disk, if that was asked for.
    fn keep_log(
        &self,
        request: &TrialRequest,
        spec: &TrialSpec,
        start: &Start,
        record: &mut TrialRecord,
    ) {
        let (Some(keeping), Start::InGuest(guest, share)) = (&self.settings.record_disk, start)
        else {
            return;
        };
        let Clock::Virtual { disk, .. } = guest.clock() else {
            return;
        };
        let recorded = Recorded {
            share,
            disk,
            lab: guest.lab(),
            size: spec.size_bytes,
            seed: spec.seed,
        };
        keep_log(&recorded, keeping, &request.run, record);
    }

    /// Converts a failed preparation. If it ran into the trial's limit, the device hangs, and would
    /// for the next trial, too.
    fn over_limit(
        &self,
        place: &dyn Place,
        failure: Failure,
        limit: Duration,
        control: &Control,
    ) -> Failure {
        if failure.kind != FailureKind::Interrupted || control.is_stopping() {
            return failure;
        }
        let text = format!(
            "{} within the limit of a trial, {} s: it hangs",
            failure.message,
            limit.as_secs()
        );
        let is_shared = !place.identity().is_empty();
        let kind = match is_shared {
            true => FailureKind::Timeout,
            false => FailureKind::Host,
        };
        let failure = Failure::new(kind, text)
            .hint("see the kernel's log; raise the limit with --trial-limit");
        if is_shared {
            let _ = self.lost.set(failure.clone());
        }
        failure
    }

    /// What a trial may report.
    fn expected(&self, task: &TrialTask) -> Result<ExpectedRecord, Failure> {
        let ranks = self.settings.ranks.as_ref().map_or(1, |ranks| ranks.count);
        let is_virtual = !self.is_in_real_time || task.engine == NULL_ENGINE;
        ExpectedRecord::of(&task.phases, task.rounds, ranks, is_virtual)
    }

    fn launch(
        &self,
        (request, spec, expected): (&TrialRequest, &TrialSpec, &ExpectedRecord),
        start: &Start,
        lease: &mut Lease,
        control: &Control,
        on_event: impl FnMut(&Event),
    ) -> Result<Ending, Failure> {
        let (mut command, transport) = match start {
            Start::Here => (trial_command(&self.settings.program), Transport::Pipes),
            Start::InGuest(guest, share) => {
                let seed = spec.perturbation.guest_seed(spec.seed);
                let subject = Some(&spec.subject);
                let go_on = || !control.kill_requested();
                let task = GuestTask::Trial;
                let mut command = guest.command(share, task, subject, seed, &go_on)?;
                if spec.virtual_time {
                    pin_to_processor(&mut command, request.slot);
                }
                (command, Transport::Shared(share))
            }
        };
        lease.share_with(&mut command);
        let launch = Launch {
            spec,
            expected,
            transport,
            limit: request.limit,
            control,
        };
        launch.run(command, |trial| lease.set_trial(trial), on_event)
    }
}

/// Refuses venues without a disk that can be recorded.
pub fn ensure_disk_can_be_recorded(plan: &VenuePlan) -> Result<(), Failure> {
    if !matches!(plan, VenuePlan::Sim { machine: None, .. }) {
        let text = "only a simulated disk can be recorded, and only without a counted machine";
        let failure = Failure::new(FailureKind::BadInput, text);
        return Err(failure.hint("use --venue sim without --machine"));
    }
    Ok(())
}

/// Makes the directory of logs, and refuses venues without a disk that can be recorded.
fn prepare_recording(plan: &VenuePlan, keeping: &LogKeeping) -> Result<(), Failure> {
    ensure_disk_can_be_recorded(plan)?;
    let LogKeeping::Folder(folder) = keeping else {
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::at(FailureKind::Device, "make the directory", folder, &error))
}

/// Closes loop devices in a thread, which is abandoned if the close hangs with the file below.
fn release(holders: Vec<LoopDevice>) {
    if holders.is_empty() {
        return;
    }
    let (sender, released) = channel();
    std::thread::spawn(move || {
        drop(holders);
        let _ = sender.send(());
    });
    let _ = released.recv_timeout(STALL_LIMIT);
}

/// Runs parallel trials on separate processors; several runs start at different ones. In virtual
/// time this only affects speed: failures are ignored.
pub(crate) fn pin_to_processor(command: &mut Command, slot: usize) {
    let Ok(processors) = fslab_sys::processors() else {
        return;
    };
    let turn = slot + std::process::id() as usize;
    if let Some(processor) = processors.get(turn % processors.len().max(1)) {
        fslab_sys::run_on_processor(command, *processor);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use fslab_model::{CellId, ColdMethod, Perturbation, Subject, TrialId};

    use super::*;

    /// A venue in a fresh directory whose trials run `script` instead of fslab.
    struct Bench {
        folder: tempfile::TempDir,
        venue: Venue,
    }

    /// Writes an executable in a separate process: a child forked by another test meanwhile would
    /// inherit our file open for writing, and execve(2) fails while one exists.
    fn write_program(path: &Path, text: &str) {
        let write = r#"printf %s "$1" > "$2" && chmod 755 "$2""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", write, "sh", text]).arg(path);
        assert!(shell.status().expect("sh starts").success());
    }

    fn bench(script: &str) -> Bench {
        let folder = tempfile::tempdir().expect("a directory");
        let program = folder.path().join("trial.sh");
        write_program(&program, &format!("#!/bin/sh\n{script}\n"));
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("a directory");
        let settings = VenueSettings {
            program,
            leases: Leases::below(&folder.path().join("state")),
            mount_folder: work.clone(),
            footprint: Bytes::mib(1),
            guests: Vec::new(),
            record_disk: None,
            ranks: None,
        };
        let plan = VenuePlan::Dir { dir: work.into() };
        let venue = Venue::open(&plan, Bytes::mib(1), settings).expect("opens");
        Bench { folder, venue }
    }

    fn request(limit: Duration) -> TrialRequest {
        TrialRequest {
            run: "r".parse().expect("a run"),
            task: TrialTask {
                trial: TrialId {
                    cell: CellId(0),
                    repeat: 0,
                },
                subject: Subject::plain("ext4"),
                size_bytes: Bytes::mib(1),
                cold: ColdMethod::Evict,
                cold_after_s: 0,
                dirty_limit_bytes: None,
                engine: "psync".into(),
                phases: Vec::new(),
                rounds: fslab_model::Rounds::ONE,
                required_facts: std::collections::BTreeMap::new(),
                seed: 0,
                perturbation: Perturbation::of(1, 1),
                allow_commands: false,
            },
            limit,
            slot: 0,
            position: 0,
        }
    }

    fn failure(bench: &Bench, limit: Duration, control: &Control) -> Failure {
        let record = bench.venue.run_trial(&request(limit), control, |_| {});
        let left = fs::read_dir(bench.folder.path().join("work"))
            .expect("the directory")
            .count();
        assert_eq!(left, 0, "nothing may be left");
        match record.outcome {
            TrialOutcome::Failed { failure } => failure,
            TrialOutcome::Done => panic!("must fail: {record:?}"),
        }
    }

    const HELLO: &str = r#"echo '{"at_ns":0,"event":"hello","format":1,"fslab":"0"}'"#;
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_record_of_a_failed_trial_has_the_perturbation_of_its_guest() {
        for script in ["exit 1", "cat > /dev/null"] {
            let bench = bench(script);
            let record = bench
                .venue
                .run_trial(&request(LONG), &Control::new(), |_| {});
            assert_eq!(record.perturbation, Perturbation::of(1, 1));
        }
    }

    #[test]
    fn a_trial_that_reads_its_specification_and_sends_hello_and_end_is_done() {
        let end = r#"echo '{"at_ns":1,"event":"end"}'"#;
        let bench = bench(&format!(
            "grep -q '\"format\":1' || exit 9\n{HELLO}\n{end}\necho x >&2"
        ));
        let record = bench
            .venue
            .run_trial(&request(LONG), &Control::new(), |_| {});
        assert_eq!(record.outcome, TrialOutcome::Done);
        assert_eq!(record.console, "x\n");
        assert!(record.started_unix_s > 0 && record.elapsed_ns > 0);
    }

    #[test]
    fn a_crash_is_recorded_with_its_signal_and_its_place() {
        let step = r#"echo '{"at_ns":1,"event":"step-started","step":"mkfs"}'"#;
        let bench = bench(&format!("{HELLO}\n{step}\nkill -SEGV $$"));
        let failure = failure(&bench, LONG, &Control::new());
        assert_eq!(failure.kind, FailureKind::Crash);
        assert!(
            failure.message.contains("SIGSEGV during 'mkfs'"),
            "{failure}"
        );
    }

    #[test]
    fn a_hang_ends_at_the_limit_and_takes_its_children_with_it() {
        let bench = bench(&format!("{HELLO}\nsleep 1000 & sleep 1000"));
        let began = Instant::now();
        let failure = failure(&bench, Duration::from_millis(300), &Control::new());
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert!(began.elapsed() < Duration::from_secs(500));
    }

    #[test]
    fn a_stop_request_ends_a_trial_that_ignores_signals() {
        let bench = bench("trap '' TERM\nwhile :; do sleep 0.1; done");
        let control = Control::new();
        let asker = control.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            asker.request_stop();
            std::thread::sleep(Duration::from_millis(200));
            asker.request_stop();
        });
        assert_eq!(
            failure(&bench, LONG, &control).kind,
            FailureKind::Interrupted
        );
    }

    /// Its standard input had stayed open: the trial waited for its specification until its limit,
    /// and the timeout hid the error.
    #[test]
    fn a_trial_whose_process_cannot_be_recorded_ends_at_once_with_that_error() {
        let bench = bench("cat > /dev/null; sleep 1000");
        let task = request(LONG).task;
        let spec = task.placed(placement(DeviceSpec::Fake, &Start::Here));
        let control = Control::new();
        let expected = ExpectedRecord::of(&[], fslab_model::Rounds::ONE, 1, false);
        let launch = Launch {
            spec: &spec,
            expected: &expected.expect("no phase"),
            transport: Transport::Pipes,
            limit: LONG,
            control: &control,
        };
        let began = Instant::now();
        let command = trial_command(&bench.venue.settings.program);
        let ending = launch.run(
            command,
            |_| Err(std::io::ErrorKind::StorageFull.into()),
            |_| {},
        );
        let death = ending.expect("was started").death.expect("has failed");
        assert!(death.message.contains("cannot start"), "{death}");
        assert!(began.elapsed() < LONG / 2);
    }

    #[test]
    fn noise_on_standard_output_breaks_the_protocol() {
        let end = r#"echo '{"at_ns":1,"event":"end"}'"#;
        let bench = bench(&format!("{HELLO}\necho noise\n{end}"));
        let failure = failure(&bench, LONG, &Control::new());
        assert_eq!(failure.kind, FailureKind::Protocol);
        assert!(failure.to_string().contains("'noise'"), "{failure}");
    }

    #[test]
    fn a_missing_program_is_a_failed_trial() {
        let mut bench = bench("exit 0");
        bench.venue.settings.program = Path::new("/nonexistent/fslab").into();
        assert_eq!(failure(&bench, LONG, &Control::new()).errno, Some(2));
    }

    #[test]
    fn an_unwritable_folder_and_a_small_disk_are_reported_beforehand() {
        let bench = bench("exit 0");
        let open = |dir: &Path, footprint: Bytes| {
            let settings = VenueSettings {
                footprint,
                ..bench.venue.settings.clone()
            };
            let dir = dir.to_owned().into();
            Venue::open(&VenuePlan::Dir { dir }, footprint, settings)
                .err()
                .expect("must be refused")
        };
        let missing = open(&bench.folder.path().join("missing"), Bytes::mib(1));
        assert_eq!(missing.kind, FailureKind::BadInput);
        assert!(missing.hint.is_some());
        let full = open(bench.folder.path(), Bytes(1 << 60));
        assert_eq!(full.kind, FailureKind::NoSpace);
    }

    #[test]
    fn each_subject_has_its_directory_and_one_that_is_missing_is_reported_beforehand() {
        let bench = bench("exit 1");
        let dirs = ["a", "b"].map(|name| bench.folder.path().join(name));
        let open = || {
            let dir = fslab_model::Directories::Each(dirs.to_vec());
            let settings = bench.venue.settings.clone();
            Venue::open(&VenuePlan::Dir { dir }, Bytes::mib(1), settings)
        };
        fs::create_dir(&dirs[0]).expect("a directory");
        let missing = open().err().expect("must be refused");
        assert!(missing.message.ends_with("/b"), "{missing}");
        fs::create_dir(&dirs[1]).expect("a directory");
        let venue = open().expect("opens");
        for (cell, dir) in (0..).zip(&dirs) {
            let place = venue.places.of(CellId(cell)).expect("a place");
            let scratch = place.resources("r", 1).scratch.expect("a directory");
            assert!(scratch.starts_with(dir), "{}", scratch.display());
        }
        assert!(venue.places.of(CellId(2)).is_err());
        assert!(venue.device_identity().is_empty());
    }
}
