//! Judges states of a disk after a power loss, many in one boot of a guest kernel.
//!
//! A state leaves no trace for the next: the host records which sectors the guest writes, and
//! writes
//! into the image what differs between what it holds and the next state.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fslab_crash::{
    CrashState, DiskLog, Examination, JudgedState, LogRequest, LogScript, RequestKind,
    StateOutcome, StateTask,
};
use fslab_model::{Bytes, Failure, FailureKind, SimulatedDisk};

use super::boot::{Boot, Started};
use crate::guest::{Clock, Guest, GuestSettings};
use crate::guest::{MOUNT_POINT, STATUS, simulated_disk_path};
use crate::lease::Leases;

/// Time for a state; the slowest repairs take seconds.
pub const STATE_LIMIT: Duration = Duration::from_secs(120);

/// States of a boot: bounds what a guest kernel gathers, and makes what is found in a state
/// independent of how many are judged in parallel.
const STATES_PER_BOOT: usize = 200;

/// Most sectors that the writes of a log have, each of which is in memory: 8 GiB.
const SECTORS_MAX: u64 = 1 << 24;

#[derive(Clone, Debug)]
pub struct StateJudgeSettings {
    /// The guest kernel.
    pub guest: GuestSettings,
    /// The guest's memory.
    pub memory: Bytes,
    /// The disk of the states, for the time that recovery takes.
    pub disk: SimulatedDisk,
    /// The subject, as text; its mount options are those of recovery.
    pub subject: String,
    /// Parent of the guest's directory.
    pub folder: PathBuf,
    /// The directory of leases.
    pub leases: Leases,
    /// The time for one state, after which it hangs.
    pub limit: Duration,
    /// Number among the judges that work in parallel.
    pub slot: usize,
}

/// A guest that judges states of a log.
pub struct StateJudge<'a> {
    log: &'a DiskLog,
    settings: StateJudgeSettings,
    guest: Guest,
    boot: Option<Boot<'a>>,
}

impl<'a> StateJudge<'a> {
    /// A judge of states of `log`; boots with its first state.
    ///
    /// # Errors
    /// A [`Failure`] if the guest cannot have this memory, or is no User-Mode Linux.
    pub fn new(log: &'a DiskLog, settings: StateJudgeSettings) -> Result<Self, Failure> {
        let guest = guest_of(log, &settings)?;
        Ok(Self {
            log,
            settings,
            guest,
            boot: None,
        })
    }

    /// Judges a state. If the guest kernel dies of it or hangs, the next state has a new guest.
    ///
    /// # Errors
    /// A [`Failure`] if no guest can be booted, or if it cannot judge states of this file system.
    pub fn judge(&mut self, state: &CrashState) -> Result<StateOutcome, Failure> {
        let mut boot = match self.boot.take() {
            Some(boot) => boot,
            None => self.boot(state)?,
        };
        let found = boot
            .show(state)
            .and_then(|()| boot.outcome(self.settings.limit));
        let outcome = match found {
            Ok(outcome) => outcome,
            Err(failure) => {
                // Its own failure says more.
                let _ = boot.end();
                return Err(failure);
            }
        };
        let goes_on = match &outcome {
            StateOutcome::Judged(report) => report.unmount_error.is_none() && boot.has_more(),
            StateOutcome::Died(..) | StateOutcome::Hung(_) => false,
        };
        match goes_on {
            true => self.boot = Some(boot),
            false => boot.end()?,
        }
        Ok(outcome)
    }

    /// Ends the guest and removes its directory.
    ///
    /// # Errors
    /// A [`Failure`] if something is left.
    pub fn end(mut self) -> Result<(), Failure> {
        self.boot.take().map_or(Ok(()), Boot::end)
    }

    fn boot(&self, state: &CrashState) -> Result<Boot<'a>, Failure> {
        let task = task_of(self.log, &self.settings.subject, None);
        let started = Started {
            guest: &self.guest,
            folder: &self.settings.folder,
            leases: &self.settings.leases,
            slot: self.settings.slot,
            written: Vec::new(),
        };
        Boot::start(&started, self.log, &task, state)
    }
}

pub(super) fn guest_of(log: &DiskLog, settings: &StateJudgeSettings) -> Result<Guest, Failure> {
    if settings.guest.pc.is_some() {
        let text = "crash states need a User-Mode Linux lab; this one is for a PC";
        return Err(Failure::new(FailureKind::BadInput, text));
    }
    let holds_data = |it: &&LogRequest| it.kind == RequestKind::Write;
    let data = log.requests.iter().filter(holds_data);
    let sectors = data.map(|it| u64::from(it.sectors)).sum::<u64>();
    if sectors > SECTORS_MAX {
        let text = format!(
            "the log has {} of writes, but only states of up to {} can be judged",
            Bytes(sectors * 512),
            Bytes(SECTORS_MAX * 512)
        );
        return Err(Failure::new(FailureKind::BadInput, text));
    }
    let clock = Clock::Virtual {
        disk: settings.disk.clone(),
        machine: None,
    };
    Ok(Guest::new(&settings.guest, settings.memory, clock)?.recorded(true))
}

/// What a guest does with states of `log`; with `faulty`, after that script on a failing disk.
pub(super) fn task_of(log: &DiskLog, subject: &str, faulty: Option<LogScript>) -> StateTask {
    let folders = log.head.scripts.iter().map(|it| top_of(&it.folder));
    let mut folders: Vec<String> = folders.collect();
    folders.sort_unstable();
    folders.dedup();
    StateTask {
        subject: subject.to_owned(),
        device: simulated_disk_path(0).into(),
        mount_point: MOUNT_POINT.into(),
        bytes: log.head.sectors * 512,
        folders,
        databases: log
            .head
            .databases
            .iter()
            .map(|it| it.file.clone())
            .collect(),
        turn: STATUS.into(),
        states: STATES_PER_BOOT as u64,
        faulty,
    }
}

/// Judges states with one guest for each of `settings`, and hands each outcome to `take` with the
/// number of its state. Ends early once `is_stopped` is true.
fn judge_all(
    examination: &Examination,
    left: &[usize],
    settings: &[StateJudgeSettings],
    is_stopped: &(dyn Fn() -> bool + Sync),
    take: &(dyn Fn(usize, StateOutcome) + Sync),
) -> Result<(), Failure> {
    let judge = |settings: &StateJudgeSettings, numbers: Range<usize>, is_stopped: &Stopped| {
        let mut judge = StateJudge::new(examination.log(), settings.clone())?;
        for place in numbers {
            if is_stopped() {
                break;
            }
            let (_, state) = examination.states().get(left[place]);
            take(place, judge.judge(&state)?);
        }
        judge.end()
    };
    in_groups(left.len(), STATES_PER_BOOT, settings, is_stopped, &judge)
}

/// True once no more states are wanted.
pub(super) type Stopped<'s> = dyn Fn() -> bool + Sync + 's;

/// Works on a group of numbers.
type Work<'w> =
    dyn Fn(&StateJudgeSettings, Range<usize>, &Stopped) -> Result<(), Failure> + Sync + 'w;

/// Hands groups of numbers below `count` to `work`, with one thread for each of `settings`.
pub(super) fn in_groups(
    count: usize,
    group: usize,
    settings: &[StateJudgeSettings],
    is_stopped: &Stopped,
    work: &Work,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let ends = || is_stopped() || failure.lock().is_ok_and(|it| it.is_some());
    let all = |settings: &StateJudgeSettings| -> Result<(), Failure> {
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed) * group;
            let numbers = first..count.min(first + group);
            if numbers.is_empty() || ends() {
                return Ok(());
            }
            work(settings, numbers, &ends)?;
        }
    };
    std::thread::scope(|scope| {
        for settings in settings {
            scope.spawn(|| {
                if let (Err(error), Ok(mut kept)) = (all(settings), failure.lock()) {
                    kept.get_or_insert(error);
                }
            });
        }
    });
    failure.into_inner().unwrap_or(None).map_or(Ok(()), Err)
}

/// Judges the states of an examination with one guest for each of `settings`. Those that `known`
/// has, by name, are not judged again; each of the others is handed to `take`. `None` if
/// `is_stopped` ended it early.
pub fn examine(
    examination: &Examination,
    known: &BTreeMap<String, JudgedState>,
    settings: &[StateJudgeSettings],
    is_stopped: &(dyn Fn() -> bool + Sync),
    take: &(dyn Fn(&JudgedState) + Sync),
) -> Result<Option<Vec<JudgedState>>, Failure> {
    let judge = examination.judge().map_err(|error| {
        let text = format!("invalid scripts in the log: {error}");
        Failure::new(FailureKind::BadInput, text)
    })?;
    // A state can have millions of losses, and so can its name: one of each at a time.
    let states = examination.states();
    let before = |number: usize| {
        if known.is_empty() {
            return None;
        }
        let (kind, state) = states.get(number);
        let state = known.get(&examination.name(&state))?.clone();
        Some(JudgedState { kind, ..state })
    };
    let mut judged: Vec<Option<JudgedState>> = (0..states.len()).map(before).collect();
    let left: Vec<usize> = (0..states.len())
        .filter(|it| judged[*it].is_none())
        .collect();
    let found: Mutex<Vec<(usize, JudgedState)>> = Mutex::default();
    let each = |place: usize, outcome: StateOutcome| {
        let number = left[place];
        let (kind, state) = states.get(number);
        let judged = judge.judge(kind, &state, examination.name(&state), &outcome);
        take(&judged);
        if let Ok(mut found) = found.lock() {
            found.push((number, judged));
        }
    };
    judge_all(examination, &left, settings, is_stopped, &each)?;
    if is_stopped() {
        return Ok(None);
    }
    // In the order of the states, however many guests judged them.
    for (number, state) in found.into_inner().unwrap_or_default() {
        judged[number] = Some(state);
    }
    Ok(Some(judged.into_iter().flatten().collect()))
}

/// The first component of a directory.
fn top_of(folder: &str) -> String {
    let first = folder.split('/').next();
    first.unwrap_or_default().to_owned()
}
