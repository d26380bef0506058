//! One boot of a guest that judges states.
//!
//! ```text
//!     share/events   a pipe: the guest's messages
//!     share/status   a pipe of one page, which is full: a page that the guest writes blocks the
//!                    guest kernel until the host has read another
//!     disk.writes    what the guest has written: the host undoes it, and empties the file
//! ```
//!
//! Invariant: the image is written only before the boot and while the guest waits with nothing
//! mounted.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fslab_crash::faults::{FaultPlan, PlanResult};
use fslab_crash::{
    CrashState, DiskLog, LogError, RecordedEntry, Recording, StateMessage, StateOutcome, StateTask,
    StateView,
};
use fslab_model::{Bytes, Failure, FailureKind, Subject};
use fslab_sys::ProcessGroup;

use super::files::{PAGE_BYTES, Writes, make_pipes, messages_of, write_entries, write_piece};
use super::guest::{JudgingGuest, Waited};
use super::plan_file::PlanFile;
use crate::guest::{Guest, GuestTask, Share, WRITES};
use crate::lease::{Lease, Leases};
use crate::leased_resources::LeasedResources;
use crate::places::make_marked_folder;
use crate::trial_output::console_of;
use crate::undo::folder_of;
use crate::venue::pin_to_processor;

/// Most sectors that a guest may write in a state: 8 GiB.
const TOUCHED_MAX: u64 = 1 << 24;
/// The seed of the guest: all boots are alike.
const SEED: u64 = 1;

/// What a boot needs.
pub(super) struct Started<'a> {
    pub(super) guest: &'a Guest,
    pub(super) folder: &'a Path,
    pub(super) leases: &'a Leases,
    pub(super) slot: usize,
    /// What a guest that has ended had written into its state.
    pub(super) written: Vec<RecordedEntry>,
}

/// A running guest with its lease.
pub(super) struct Boot<'a> {
    lease: Lease,
    running: Running<'a>,
}

/// Boots of this process, which name their directories.
static BOOTS: AtomicU32 = AtomicU32::new(0);

struct Running<'a> {
    share: Share,
    guest: JudgingGuest,
    turn: File,
    image: File,
    view: StateView<'a>,
    trace: File,
    writes: Option<Writes>,
    /// The plan of the disk's faults, if it may fail.
    plan: Option<PlanFile>,
    /// States that the guest takes.
    left: u64,
    /// True until the first state was shown, which the boot does.
    is_first: bool,
    /// True if the guest has written since the last state was shown, by its own account.
    has_written: bool,
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::new(FailureKind::Device, what).because(&error)
}

fn unread(error: &LogError) -> Failure {
    let text = "cannot read what a guest wrote";
    Failure::new(FailureKind::Device, text).because(error)
}

impl<'a> Boot<'a> {
    /// Boots a guest whose disk is in `state`.
    pub(super) fn start(
        started: &Started,
        log: &'a DiskLog,
        task: &StateTask,
        state: &CrashState,
    ) -> Result<Self, Failure> {
        // What is too large is refused before anything is made.
        let view = StateView::new(log).map_err(|error| {
            let text = "the states of the log cannot be written";
            Failure::new(FailureKind::BadInput, text).because(&error)
        })?;
        // What one boot cannot remove must not be in the way of the next.
        let serial = BOOTS.fetch_add(1, Ordering::Relaxed);
        let name = format!("states-{serial}-{}", std::process::id());
        let resources = LeasedResources {
            scratch: Some(folder_of(&name, started.folder)),
            ..LeasedResources::default()
        };
        let mut lease = started.leases.take(&name, resources)?;
        match Running::start(started, view, task, state, &mut lease) {
            Ok(running) => Ok(Self { lease, running }),
            Err(failure) => {
                // Its own failure says more.
                let _ = lease.undo();
                Err(failure)
            }
        }
    }

    /// Brings the disk from the last state to `state`, and lets the guest go on; does nothing for
    /// the state of the boot.
    pub(super) fn show(&mut self, state: &CrashState) -> Result<(), Failure> {
        self.running.show(state)
    }

    /// What the guest finds in the state that its disk shows.
    pub(super) fn outcome(&mut self, limit: Duration) -> Result<StateOutcome, Failure> {
        self.running.outcome(limit)
    }

    /// What the guest says next, before it waits for the host.
    pub(super) fn wait(&mut self, limit: Duration) -> Result<Waited, Failure> {
        self.running.guest.wait(limit)
    }

    /// Arms a plan of faults, and lets the guest go on.
    pub(super) fn arm(&mut self, plan: &FaultPlan) -> Result<(), Failure> {
        let arming = failed("cannot arm the faults of a guest's disk");
        let running = &mut self.running;
        let file = running.plan.as_mut();
        file.map_or(Ok(()), |file| file.arm(plan))
            .map_err(&arming)?;
        running.go_on().map_err(&arming)
    }

    /// Disarms it; what the disk counted. The guest waits, or has ended.
    pub(super) fn disarm(&mut self, plan: &FaultPlan) -> Result<PlanResult, Failure> {
        let disarming = failed("cannot disarm the faults of a guest's disk");
        match &mut self.running.plan {
            Some(file) => file.disarm(plan).map_err(disarming),
            None => Ok(PlanResult::default()),
        }
    }

    /// Lets a guest go on that waits.
    pub(super) fn go_on(&mut self) -> Result<(), Failure> {
        let going = failed("cannot continue a guest");
        self.running.go_on().map_err(going)
    }

    /// The image of the disk, of a guest that waits.
    pub(super) fn image(&mut self) -> &mut File {
        &mut self.running.image
    }

    /// Ends the guest; everything that it had written since its state was shown.
    pub(super) fn written(&mut self) -> Result<Vec<RecordedEntry>, Failure> {
        self.running.guest.kill();
        self.running.entries().map_err(|error| unread(&error))
    }

    /// True if the guest takes another state.
    pub(super) fn has_more(&self) -> bool {
        self.running.left > 0
    }

    /// Kills the guest and removes its directory.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.running.guest.kill();
        self.running.share.remove_exchange();
        self.lease.undo().map(drop)
    }
}

impl<'a> Running<'a> {
    fn start(
        started: &Started,
        mut view: StateView<'a>,
        task: &StateTask,
        state: &CrashState,
        lease: &mut Lease,
    ) -> Result<Self, Failure> {
        let preparing = failed("cannot prepare a guest's directory");
        let starting = failed("cannot start the guest kernel");
        let folder = lease.resources().scratch.clone().unwrap_or_default();
        make_marked_folder(&folder, lease.resources())?;
        let size = Bytes(task.bytes);
        let mut share = started.guest.share(&folder, size).map_err(&preparing)?;
        started
            .guest
            .provide(&share, Some((size, 1)))
            .map_err(&preparing)?;
        let pipes = make_pipes(&share).map_err(&preparing)?;
        let text = serde_json::to_vec(task).map_err(io::Error::from);
        text.and_then(|text| share.write_spec(&text))
            .map_err(&preparing)?;
        let image = File::options().read(true).write(true).open(share.image());
        let mut image = image.map_err(&preparing)?;
        let trace = File::create_new(share.trace()).map_err(&preparing)?;
        view.show(state, &[], &mut |piece| write_piece(&mut image, piece))
            .map_err(&preparing)?;
        write_entries(&mut image, &started.written).map_err(&preparing)?;
        let may_fail = task.faulty.is_some();
        let plan = may_fail.then(|| PlanFile::make(share.folder())).transpose();
        let plan = plan.map_err(&preparing)?;
        let subject: Option<Subject> = task.subject.parse().ok();
        let mut command =
            started
                .guest
                .command(&share, GuestTask::States, subject.as_ref(), SEED, &|| true)?;
        pin_to_processor(&mut command, started.slot);
        lease.share_with(&mut command);
        let (reader, writer) = io::pipe().map_err(&starting)?;
        command
            .stdout(writer.try_clone().map_err(&starting)?)
            .stderr(writer);
        let group = ProcessGroup::spawn(command).map_err(&starting)?;
        let mut running = Self {
            share,
            guest: JudgingGuest {
                group,
                messages: messages_of(pipes.reader),
                holder: Some(pipes.holder),
                console: console_of(reader),
                part: None,
                is_booting: true,
            },
            turn: pipes.turn,
            image,
            view,
            trace,
            writes: None,
            plan,
            left: task.states,
            is_first: true,
            has_written: false,
        };
        if let Err(error) = lease.set_trial(running.guest.group.identity()) {
            running.guest.kill();
            return Err(starting(error));
        }
        Ok(running)
    }

    /// Shows a state; the first is shown by the boot.
    fn show(&mut self, state: &CrashState) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_first) {
            return Ok(());
        }
        let showing = failed("cannot write a state into the image of a guest");
        let written = self.entries().map_err(|error| unread(&error))?;
        let range = |it: &RecordedEntry| (it.sector, it.sector.saturating_add(it.sectors));
        let touched: Vec<(u64, u64)> = written.iter().map(range).collect();
        if self.has_written && touched.is_empty() {
            // Else a state would show what another has left.
            let text = "recording of the guest's writes stopped (disk full?)";
            return Err(Failure::new(FailureKind::Device, text)
                .hint("free space in the directory of the guests, or use another with --images"));
        }
        let image = &mut self.image;
        let shown = self
            .view
            .show(state, &touched, &mut |piece| write_piece(image, piece));
        shown.map_err(&showing)?;
        self.go_on().map_err(&showing)
    }

    fn go_on(&mut self) -> io::Result<()> {
        self.turn.read_exact(&mut [0; PAGE_BYTES])
    }

    /// What the guest has written, and forgets it.
    fn entries(&mut self) -> Result<Vec<RecordedEntry>, LogError> {
        let reading = |source| LogError::Io {
            doing: "read",
            source,
        };
        // The trace of the disk is of no use here, and would grow.
        self.trace.set_len(0).map_err(reading)?;
        if self.writes.is_none() {
            let path = self.share.folder().join(WRITES);
            self.writes = match fslab_sys::open_regular(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                file => Some(file.and_then(Writes::of).map_err(reading)?),
            };
        }
        let mut written = Vec::new();
        if let Some(writes) = &mut self.writes {
            writes.reader.rewind().map_err(reading)?;
            let mut recording = Recording::new(BufReader::new(&writes.reader));
            let mut sectors = 0_u64;
            while let Some(entry) = recording.next_entry()? {
                sectors = sectors.saturating_add(entry.sectors);
                if sectors > TOUCHED_MAX {
                    return Err(LogError::TooLarge {
                        what: "more sectors written in a state",
                        limit: TOUCHED_MAX,
                    });
                }
                written.push(entry);
            }
            writes.emptier.set_len(0).map_err(reading)?;
        }
        Ok(written)
    }

    fn outcome(&mut self, limit: Duration) -> Result<StateOutcome, Failure> {
        match self.guest.wait(limit)? {
            Waited::Message(StateMessage::Done(report)) => {
                if let Err(text) = report.ensure_sound() {
                    return Err(Failure::new(FailureKind::Protocol, text));
                }
                self.left = self.left.saturating_sub(1);
                self.guest.part = None;
                self.has_written = report.mount_error.is_none() && report.write_error.is_none();
                Ok(StateOutcome::Judged(report))
            }
            Waited::Message(_) => {
                let text = "a judging guest sent an unexpected message";
                Err(Failure::new(FailureKind::Protocol, text))
            }
            Waited::Died(part, words) => Ok(StateOutcome::Died(part, words)),
            Waited::Hung(part) => Ok(StateOutcome::Hung(part)),
        }
    }
}
