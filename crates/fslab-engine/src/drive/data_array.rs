//! Issues reads and writes as arrays of system calls, where the kernel executes such arrays: the
//! same calls in the same order, with the same times, as [`super::data_loop`] issues one by one.
//!
//! Only where an operation does not depend on the results of those before it.

use std::io;

use fslab_sys::{CallArray, StoppedOperation};

use super::budget::Budget;
use super::data_worker::{Action, DataWorker, Step};
use super::target::DataTarget;
use crate::EngineError;
use crate::access::Extent;
use crate::jobs::Pace;
use crate::recording::Clock;

/// Operations of an array, so that a stop is not seen much later.
const OPERATIONS_MAX: u64 = 256;
/// The longest record: for longer ones a single call costs more than the way to the kernel.
const RECORD_BYTES_MAX: u64 = 64 << 10;
/// Calls of an operation: it, and a copy for each block's stamp; a record may begin and end within
/// blocks.
const CALLS_OF_OPERATION: usize = 1 + (RECORD_BYTES_MAX >> 12) as usize + 1;

/// True if operations of the job can be issued together.
pub(super) fn may_gather<T: DataTarget>(worker: &DataWorker<'_>) -> bool {
    let job = worker.job;
    T::GATHERS
        && job.pace == Pace::AsFastAsPossible
        && !job.verify
        && job.record.0 <= RECORD_BYTES_MAX
}

/// Issues the next operations, the first of which was taken from `budget`, and takes those after
/// it; returns the end of the last one. `None` if the next one must be issued by itself.
pub(super) fn issue_together<T: DataTarget, C: Clock>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    clock: &C,
    calls: &mut CallArray,
    budget: &mut Budget<'_>,
) -> Result<Option<u64>, EngineError> {
    let most = (budget.operations_left().saturating_add(1))
        .min(worker.until_sync)
        .min(OPERATIONS_MAX);
    let until_ns = budget.deadline_ns();
    if let Err(source) = run(worker, target, calls, most as usize, until_ns) {
        return Err(worker.failure("make an array of calls on", source));
    }
    let (mut done, mut last_ns) = (0, None);
    for operation in calls.done() {
        let step = worker.next_step();
        worker.record(step, operation.start_ns, operation.end_ns);
        (done, last_ns) = (done + 1, Some(operation.end_ns));
    }
    if let Some(stopped) = calls.stopped() {
        let step = worker.next_step();
        let start_ns = stopped.start_ns;
        complete(worker, target, step, stopped)?;
        let end_ns = clock.now_ns();
        worker.record(step, start_ns, end_ns);
        (done, last_ns) = (done + 1, Some(end_ns));
    }
    budget.take_all(u64::saturating_sub(done, 1));
    Ok(last_ns)
}

/// Makes the calls of the next `count` operations, as far as they can be made together.
fn run<T: DataTarget>(
    worker: &mut DataWorker<'_>,
    target: &T,
    calls: &mut CallArray,
    count: usize,
    until_ns: u64,
) -> io::Result<()> {
    let planned = worker.plan(count);
    let mut batch = calls.batch();
    for step in planned.steps.iter().take(count) {
        if !batch.begin(CALLS_OF_OPERATION, 0) {
            break;
        }
        let Some(transfer) = planned.transfer(*step, &mut batch) else {
            break;
        };
        target.gather(&mut batch, step.extent, transfer);
        batch.end(step.extent.length as u64);
    }
    if batch.operations() < 2 {
        return Ok(());
    }
    batch.run(until_ns)
}

/// Ends the operation of `step`, of which a call has moved other than all bytes or failed.
#[cold]
fn complete<T: DataTarget>(
    worker: &mut DataWorker<'_>,
    target: &mut T,
    step: Step,
    stopped: StoppedOperation,
) -> Result<(), EngineError> {
    let Extent { offset, length } = step.extent;
    let moved = stopped.moved as usize;
    let rest = Extent {
        offset: offset + stopped.moved,
        length: length - moved,
    };
    let (name, done) = match (step.action, stopped.result, &mut worker.pool) {
        (Action::Read, Err(error), _) => ("read", Err(error)),
        (Action::Read, Ok(0), _) => ("read", Err(io::ErrorKind::UnexpectedEof.into())),
        (Action::Read, Ok(_), _) => {
            let into = &mut worker.buffer[moved..length];
            ("read", target.read(rest, into))
        }
        (_, Err(error), _) => ("write", Err(error)),
        (_, Ok(0), _) | (_, Ok(_), None) => ("write", Err(io::ErrorKind::WriteZero.into())),
        (_, Ok(_), Some(pool)) => {
            let data = pool.slice(worker.identity, offset, length);
            ("write", target.write(rest, &data[moved..]))
        }
    };
    done.map_err(|e| worker.failure_at(step.extent, name, e))
}
