//! The loop that issues single reads or writes.

use super::budget::Budget;
use super::data_array::{issue_together, may_gather};
use super::data_worker::{Action, DataWorker, Step};
use super::target::DataTarget;
use super::worker_group::WorkerGroup;
use crate::EngineError;
use crate::jobs::SyncCall;
use crate::recording::{Clock, Slot, ThreadOutcome};

/// Runs the worker's part of its job on `target`, including the ramp-up.
pub(crate) fn run_data_loop<T: DataTarget, C: Clock>(
    mut worker: DataWorker<'_>,
    mut target: T,
    clock: &C,
    group: &WorkerGroup<'_>,
) -> Result<ThreadOutcome, EngineError> {
    worker.wait_for_start(clock, group)?;
    if worker.job.ramp_up_ns > 0 {
        let now_ns = clock.now_ns();
        let ramp_up = worker.ramp_up(now_ns);
        worker.begin(now_ns);
        issue(&mut worker, &mut target, clock, group, ramp_up, now_ns)?;
    }
    let before = clock.thread_use();
    let start_ns = clock.now_ns();
    let budget = worker.budget(start_ns);
    worker.begin(start_ns);
    let mut end_ns = issue(&mut worker, &mut target, clock, group, budget, start_ns)?;
    if let Some((now_ns, budget)) = worker.wear_out(clock, group)? {
        end_ns = issue(&mut worker, &mut target, clock, group, budget, now_ns)?;
    }
    if T::BUFFERS {
        target.flush().map_err(|e| worker.failure("write", e))?;
        end_ns = clock.now_ns();
    }
    if let Some((call, slot)) = worker.closing {
        end_ns = sync(&mut worker, &mut target, clock, call, slot)?;
    }
    let used = clock
        .thread_use()
        .zip(before)
        .map(|(after, before)| after.since(before));
    target.close().map_err(|e| worker.failure("close", e))?;
    let recorder = worker.recorder;
    Ok(ThreadOutcome::new(start_ns, end_ns, recorder, used))
}

/// Issues operations until the budget is used up; returns the end of the last one.
fn issue<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    group: &WorkerGroup<'_>,
    mut budget: Budget<'_>,
    start_ns: u64,
) -> Result<u64, EngineError> {
    let mut now_ns = start_ns;
    let mut calls = may_gather::<T>(worker)
        .then(|| group.call_array())
        .flatten();
    while budget.take(now_ns) {
        if group.must_stop() {
            return Err(worker.interruption());
        }
        if let Some(calls) = &mut calls
            && let Some(end_ns) = issue_together(worker, target, clock, calls, &mut budget)?
        {
            now_ns = sync_if_due(worker, target, clock, end_ns)?;
            continue;
        }
        let step = worker.next_step();
        now_ns = match step.action {
            Action::Read => read(worker, target, clock, step)?,
            Action::Write => write(worker, target, clock, step)?,
            Action::Update => update(worker, target, clock, step)?,
        };
    }
    Ok(now_ns)
}

#[inline]
fn read<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    step: Step,
) -> Result<u64, EngineError> {
    let extent = step.extent;
    let into: &mut [u8] = if T::HOLDS_DATA {
        &mut worker.buffer[..extent.length]
    } else {
        &mut []
    };
    let start_ns = worker.pacer.start(clock);
    let done = target.read(extent, into);
    let end_ns = clock.now_ns();
    done.map_err(|e| worker.failure_at(extent, "read", e))?;
    worker.record(step, start_ns, end_ns);
    worker.verify(extent)?;
    Ok(end_ns)
}

#[inline]
fn write<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    step: Step,
) -> Result<u64, EngineError> {
    let extent = step.extent;
    let data: &[u8] = match &mut worker.pool {
        Some(pool) => pool.slice(worker.identity, extent.offset, extent.length),
        None => &[],
    };
    let start_ns = worker.pacer.start(clock);
    let done = target.write(extent, data);
    let end_ns = clock.now_ns();
    done.map_err(|e| worker.failure_at(extent, "write", e))?;
    worker.record(step, start_ns, end_ns);
    sync_if_due(worker, target, clock, end_ns)
}

/// Reads a record, changes one byte, and writes it back.
#[inline]
fn update<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    step: Step,
) -> Result<u64, EngineError> {
    let extent = step.extent;
    let length = if T::HOLDS_DATA { extent.length } else { 0 };
    let start_ns = worker.pacer.start(clock);
    target
        .read(extent, &mut worker.buffer[..length])
        .map_err(|e| worker.failure_at(extent, "read", e))?;
    if T::HOLDS_DATA {
        worker.change(extent);
    }
    let done = target.write(extent, &worker.buffer[..length]);
    let end_ns = clock.now_ns();
    done.map_err(|e| worker.failure_at(extent, "write", e))?;
    worker.record(step, start_ns, end_ns);
    sync_if_due(worker, target, clock, end_ns)
}

/// Syncs if a sync is due after what ended at `end_ns`.
#[inline]
fn sync_if_due<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    end_ns: u64,
) -> Result<u64, EngineError> {
    match worker.sync_due() {
        None => Ok(end_ns),
        Some(periodic) => sync(worker, target, clock, periodic.call, periodic.slot),
    }
}

fn sync<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    call: SyncCall,
    slot: Slot,
) -> Result<u64, EngineError> {
    let start_ns = clock.now_ns();
    let done = target.sync(call);
    let end_ns = clock.now_ns();
    done.map_err(|e| worker.failure(call.as_str(), e))?;
    worker.recorder.auxiliary(slot, start_ns, end_ns);
    Ok(end_ns)
}
