//! Does cases of faults one after the other: a script on a disk that fails by a plan, and what is
//! left after that.
//!
//! ```text
//!     show --> prepared --arm--> faulty report --disarm--> outcome of the state that it left
//! ```

use std::ops::Range;

use fslab_crash::faults::{
    AccessKind, BlockMap, BlockUnit, CaseOutcome, DiskImage, FaultPlan, KernelEnd, units_of,
};
use fslab_crash::{CrashState, DiskLog, FaultyReport, LogScript, StateMessage, StateOutcome};
use fslab_model::{Failure, FailureKind};

use super::boot::{Boot, Started};
use super::guest::Waited;
use super::states::{StateJudgeSettings, Stopped, guest_of, in_groups, task_of};
use crate::guest::Guest;

/// Cases of a boot: bounds what a guest kernel gathers, and makes what is found in a case
/// independent of how many are done in parallel.
const CASES_PER_BOOT: usize = 20;

/// A guest whose disk fails by plan.
pub struct FaultJudge<'a> {
    log: &'a DiskLog,
    script: LogScript,
    base: CrashState,
    settings: StateJudgeSettings,
    guest: Guest,
    boot: Option<Boot<'a>>,
}

/// A run without faults.
pub struct FaultlessRun {
    /// What was seen and left.
    pub outcome: CaseOutcome,
    /// What its reads and writes were about, in order, with the kinds of accesses.
    pub units: Vec<(BlockUnit, Vec<AccessKind>)>,
    /// True if only data is recognised among them.
    pub is_plain: bool,
}

impl<'a> FaultJudge<'a> {
    /// A judge of faults while `script` of `log` is done.
    ///
    /// # Errors
    /// A [`Failure`] if the guest cannot have this memory, if it is no User-Mode Linux, or if the
    /// script cannot be done.
    pub fn new(
        log: &'a DiskLog,
        script: LogScript,
        settings: StateJudgeSettings,
    ) -> Result<Self, Failure> {
        let plan = script
            .plan()
            .map_err(|text| Failure::new(FailureKind::BadInput, text))?;
        let base = CrashState {
            at_ns: script.window(&plan).0,
            lost: Vec::new(),
        };
        let guest = guest_of(log, &settings)?;
        Ok(Self {
            log,
            script,
            base,
            settings,
            guest,
            boot: None,
        })
    }

    /// Does the script without a fault, and finds out what its accesses are about.
    ///
    /// # Errors
    /// A [`Failure`] if no guest can be booted, or if the kernel ends or hangs without a fault.
    pub fn run_without_faults(&mut self, fs: &str) -> Result<FaultlessRun, Failure> {
        let mut found = (Vec::new(), true);
        let outcome = self.run(&FaultPlan::default(), &mut |boot, accesses| {
            let image = boot.image();
            let mut image = DiskImage::new(image);
            let map = BlockMap::read(fs, &mut image)?;
            found = (units_of(&map, &mut image, accesses)?, map.is_plain());
            Ok(())
        })?;
        if let Some(end) = &outcome.ended {
            let text = format!("without a fault {end}");
            return Err(Failure::new(FailureKind::Crash, text));
        }
        Ok(FaultlessRun {
            outcome,
            units: found.0,
            is_plain: found.1,
        })
    }

    /// Does the script while the disk fails by a plan.
    ///
    /// # Errors
    /// A [`Failure`] if no guest can be booted, or if what it says cannot be understood.
    pub fn judge(&mut self, plan: &FaultPlan) -> Result<CaseOutcome, Failure> {
        self.run(plan, &mut |_, _| Ok(()))
    }

    /// Ends the guest and removes its directory.
    ///
    /// # Errors
    /// A [`Failure`] if something is left.
    pub fn end(mut self) -> Result<(), Failure> {
        self.boot.take().map_or(Ok(()), Boot::end)
    }

    fn run(&mut self, plan: &FaultPlan, look: &mut Look) -> Result<CaseOutcome, Failure> {
        let mut boot = match self.boot.take() {
            Some(boot) => boot,
            None => self.boot(Some(self.script.clone()), Vec::new())?,
        };
        let case = Case {
            base: &self.base,
            plan,
            settings: &self.settings,
        };
        let outcome = match case.run(&mut boot, look) {
            Ok(outcome) => outcome,
            Err(failure) => {
                // Its own failure says more.
                let _ = boot.end();
                return Err(failure);
            }
        };
        if outcome.ended.is_some() {
            return self.judge_what_is_left(boot, outcome);
        }
        let goes_on = match &outcome.state {
            Some(StateOutcome::Judged(report)) => report.unmount_error.is_none() && boot.has_more(),
            _ => false,
        };
        match goes_on {
            true => self.boot = Some(boot),
            false => boot.end()?,
        }
        Ok(outcome)
    }

    /// Of a guest that has ended on the failing disk, what another finds on it.
    fn judge_what_is_left(
        &self,
        mut boot: Boot,
        mut outcome: CaseOutcome,
    ) -> Result<CaseOutcome, Failure> {
        let written = boot.written();
        boot.end()?;
        let mut next = self.boot(None, written?)?;
        match next.outcome(self.settings.limit) {
            Ok(state) => outcome.state = Some(state),
            Err(failure) => {
                // Its own failure says more.
                let _ = next.end();
                return Err(failure);
            }
        }
        next.end()?;
        Ok(outcome)
    }

    fn boot(
        &self,
        faulty: Option<LogScript>,
        written: Vec<fslab_crash::RecordedEntry>,
    ) -> Result<Boot<'a>, Failure> {
        let task = task_of(self.log, &self.settings.subject, faulty);
        let started = Started {
            guest: &self.guest,
            folder: &self.settings.folder,
            leases: &self.settings.leases,
            slot: self.settings.slot,
            written,
        };
        Boot::start(&started, self.log, &task, &self.base)
    }
}

/// Looks at the disk after the script, with the accesses to it.
type Look<'l> =
    dyn FnMut(&mut Boot, &[fslab_crash::faults::DiskAccess]) -> std::io::Result<()> + 'l;

struct Case<'a> {
    base: &'a CrashState,
    plan: &'a FaultPlan,
    settings: &'a StateJudgeSettings,
}

impl Case<'_> {
    fn run(&self, boot: &mut Boot, look: &mut Look) -> Result<CaseOutcome, Failure> {
        let limit = self.settings.limit;
        boot.show(self.base)?;
        match boot.wait(limit)? {
            Waited::Message(StateMessage::Prepared) => {}
            Waited::Message(_) => return Err(unexpected()),
            Waited::Died(part, words) => {
                let text = format!("the kernel died in the {}: {words}", part.as_str());
                return Err(Failure::new(FailureKind::Crash, text));
            }
            Waited::Hung(part) => {
                let text = format!("the kernel hangs in the {}", part.as_str());
                return Err(Failure::new(FailureKind::Crash, text));
            }
        }
        boot.arm(self.plan)?;
        let waited = boot.wait(limit)?;
        let counted = boot.disarm(self.plan)?;
        let mut outcome = CaseOutcome {
            report: FaultyReport::default(),
            ended: None,
            counted,
            state: None,
        };
        match waited {
            Waited::Message(StateMessage::Faulty(report)) => {
                let sound = report.ensure_sound();
                sound.map_err(|text| Failure::new(FailureKind::Protocol, text))?;
                outcome.report = *report;
            }
            Waited::Message(_) => return Err(unexpected()),
            Waited::Died(part, words) => {
                outcome.ended = Some(KernelEnd::Died(part, words));
                return Ok(outcome);
            }
            Waited::Hung(part) => {
                outcome.ended = Some(KernelEnd::Hung(part));
                return Ok(outcome);
            }
        }
        look(boot, &outcome.counted.accesses).map_err(|error| {
            let text = "cannot identify the blocks of a disk";
            Failure::new(FailureKind::Device, text).because(&error)
        })?;
        boot.go_on()?;
        outcome.state = Some(boot.outcome(limit)?);
        Ok(outcome)
    }
}

/// Does cases with one guest for each of `settings`, and hands each outcome to `take` with its
/// number. Ends early once `is_stopped` is true.
pub fn judge_faults(
    log: &DiskLog,
    script: &LogScript,
    plans: &[FaultPlan],
    settings: &[StateJudgeSettings],
    is_stopped: &(dyn Fn() -> bool + Sync),
    take: &(dyn Fn(usize, CaseOutcome) + Sync),
) -> Result<(), Failure> {
    let judge = |settings: &StateJudgeSettings, numbers: Range<usize>, is_stopped: &Stopped| {
        let mut judge = FaultJudge::new(log, script.clone(), settings.clone())?;
        for number in numbers {
            if is_stopped() {
                break;
            }
            take(number, judge.judge(&plans[number])?);
        }
        judge.end()
    };
    in_groups(plans.len(), CASES_PER_BOOT, settings, is_stopped, &judge)
}

fn unexpected() -> Failure {
    let text = "a guest on a failing disk sent an unexpected message";
    Failure::new(FailureKind::Protocol, text)
}
