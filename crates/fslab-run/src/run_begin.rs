//! Begins a run, or goes on with one of the store.

use std::path::Path;

use fslab_model::{Failure, FailureKind, Plan, RunHeader, RunId};
use fslab_store::{RunSelector, Store};
use fslab_venue::Venue;

use crate::machine::machine_facts;
use crate::resume::{Resumption, ensure_same_device, ensure_same_mounts};
use crate::run_lock::RunLock;
use crate::run_name::fresh_run_id;

/// What a run begins with, next to its plan.
#[derive(Clone, Copy, Debug)]
pub struct RunBegin<'a> {
    /// The directory of locks.
    pub state: &'a Path,
    /// The seed that was asked for.
    pub seed: Option<u64>,
    /// The time limit of trials that was asked for.
    pub trial_limit_s: Option<u32>,
    /// True if a resumed run continues as it was begun, adaptively if it was.
    pub keeps_repeats: bool,
    /// True if programs of the study may run.
    pub allow_commands: bool,
}

impl RunBegin<'_> {
    /// The header and the lock of a new run, which is added to the store.
    pub fn anew(self, plan: Plan, store: &mut Store) -> Result<(RunHeader, RunLock), Failure> {
        let started_unix_s = fslab_sys::unix_seconds();
        let header = RunHeader {
            run: fresh_run_id(started_unix_s),
            plan_hash: plan.hash(),
            plan,
            fslab: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine_facts(),
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            started_unix_s,
        };
        let lock = RunLock::take(self.state, &header.run)?;
        store.begin_run(&header)?;
        Ok((header, lock))
    }

    /// The header and the lock of the run to resume. The store is changed after all checks.
    pub fn again(
        self,
        run: &RunId,
        asked: &Plan,
        venue: &Venue,
        store: &mut Store,
    ) -> Result<(RunHeader, RunLock), Failure> {
        let lock = RunLock::take(self.state, run)?;
        let machine = machine_facts();
        let now = Resumption {
            fslab: env!("CARGO_PKG_VERSION"),
            machine: &machine,
            seed: self.seed,
        };
        let begun = store.header(run)?;
        now.ensure_alike(&begun)?;
        ensure_same_mounts(&begun, asked)?;
        // The stored plan is run, and the store may come from another user.
        ensure_same_plan(&begun, asked)?;
        ensure_same_survival(&begun, asked)?;
        if !self.allow_commands {
            fslab_workload::ensure_programs_allowed(&begun.plan.phases)?;
        }
        let device = venue.device_identity();
        if !device.is_empty() {
            let so_far = store.metrics(&RunSelector::from(run.clone()))?;
            ensure_same_device(&so_far, &device)?;
        }
        let adaptive = match self.keeps_repeats {
            true => asked.adaptive.as_ref().or(begun.plan.adaptive.as_ref()),
            false => asked.adaptive.as_ref(),
        };
        store.ask_repeats(run, asked.repeats, adaptive)?;
        let mut header = store.header(run)?;
        // A time limit is not a dimension of a result: the new one applies to the missing trials.
        if let Some(limit_s) = self.trial_limit_s {
            header.plan.trial_limit_s = limit_s;
        }
        Ok((header, lock))
    }
}

/// Refuses a stored plan that differs from the requested one although the store has it under the
/// same hash.
fn ensure_same_plan(begun: &RunHeader, asked: &Plan) -> Result<(), Failure> {
    if begun.plan.hash() == asked.hash() {
        return Ok(());
    }
    let text = format!(
        "the plan of the run {} in the store does not match its hash",
        begun.run
    );
    Err(Failure::new(FailureKind::BadInput, text)
        .hint("the store was modified; leave out --resume to start a new run"))
}

/// Refuses to judge the states of a run's trials if it was begun without that: those of the trials
/// that are done would be missing.
fn ensure_same_survival(begun: &RunHeader, asked: &Plan) -> Result<(), Failure> {
    if asked.survival.is_none() || asked.survival == begun.plan.survival {
        return Ok(());
    }
    let text = format!(
        "the run {} was begun without --survival, or with a different one",
        begun.run
    );
    Err(Failure::new(FailureKind::BadInput, text).hint("leave out --resume to start a new run"))
}
