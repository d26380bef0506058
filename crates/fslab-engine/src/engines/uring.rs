//! The engine that keeps many reads and writes in flight with io_uring.

use std::io;

use fslab_model::FailureKind;
use fslab_sys::{Ring, RingOptions};

use super::refusals::{refuse_moving, refuse_msync};
use crate::drive::{DataThread, DataWorker, ReadyWorker, open_data_file, run_queue_loop};
use crate::engine::{DataEngine, Engine};
use crate::jobs::Pace;
use crate::limits::QUEUE_DEPTH_MAX;
use crate::recording::MonotonicClock;
use crate::{DataJob, EngineError, EngineKind};

pub(crate) const URING: Engine = Engine {
    kind: EngineKind::Uring,
    data: DataEngine {
        keeps_files: true,
        check,
        prepare,
    },
    run_metadata: None,
};

/// Limit of a thread's buffers in bytes.
const BUFFERS_BYTES_MAX: u64 = 4 << 30;

fn prepare(of: DataThread<'_>) -> Result<ReadyWorker<'_>, EngineError> {
    let worker = DataWorker::new(of, true);
    let ring = set_up(of)?;
    Ok(Box::new(move |group| {
        run_queue_loop(worker, ring, &MonotonicClock, group)
    }))
}

fn check(job: &DataJob) -> Result<(), EngineError> {
    refuse_msync(job)?;
    refuse_moving(job, EngineKind::Uring)?;
    if job.updates() {
        return Err(EngineError::unsupported(format!(
            "the engine {} cannot update records; the engine psync can",
            EngineKind::Uring
        )));
    }
    if matches!(job.pace, Pace::Pause { .. }) {
        return Err(EngineError::unsupported(format!(
            "the engine {} cannot pause between operations in flight; the engine psync can",
            EngineKind::Uring
        )));
    }
    if job.segment.is_some() {
        return Err(EngineError::unsupported(format!(
            "the engine {} cannot use segmented files; the engine psync can",
            EngineKind::Uring
        )));
    }
    validate(job)
}

fn validate(job: &DataJob) -> Result<(), EngineError> {
    let depth = job.uring.queue_depth;
    if !(1..=QUEUE_DEPTH_MAX).contains(&depth) {
        let message = format!("a queue depth of {depth} is not one of 1 to {QUEUE_DEPTH_MAX}");
        return Err(EngineError::bad_input(message));
    }
    if !(1..=depth).contains(&job.uring.batch) {
        let batch = job.uring.batch;
        let message = format!("a batch of {batch} is not one of 1 to the queue depth, {depth}");
        return Err(EngineError::bad_input(message));
    }
    let buffers_bytes = u64::from(depth) * job.record.0.next_multiple_of(4096);
    if buffers_bytes > BUFFERS_BYTES_MAX {
        return Err(EngineError::bad_input(format!(
            "a queue depth of {depth} with records of {} bytes needs {buffers_bytes} bytes of \
             buffers, more than 4 GiB",
            job.record.0
        )));
    }
    if job.uring.completion_poll && !job.direct {
        return Err(EngineError::unsupported(
            "polling for completions needs O_DIRECT: the page cache has nothing to poll",
        ));
    }
    Ok(())
}

fn set_up(of: DataThread) -> Result<Ring, EngineError> {
    let DataThread {
        context,
        job,
        thread,
        ..
    } = of;
    let path = context.root.join(job.file_of(thread));
    let file = open_data_file(&path, job, false)?;
    let options = RingOptions {
        depth: job.uring.queue_depth,
        buffer_bytes: job.record.0.min(job.file_size.bytes()) as usize,
        registered_buffers: job.uring.registered_buffers,
        registered_file: job.uring.registered_file,
        submission_poll_ms: job.uring.submission_poll_ms,
        completion_poll: job.uring.completion_poll,
    };
    Ring::new(file, options).map_err(|source| refused(&path, source))
}

/// The error of a failed ring setup.
fn refused(path: &std::path::Path, source: io::Error) -> EngineError {
    let kind = source.kind();
    let error = EngineError::io("set up an io_uring for", path, source);
    match kind {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => error
            .of_kind(FailureKind::Unsupported)
            .hint("Linux 6.1 or newer with io_uring is needed; the engine psync needs neither"),
        io::ErrorKind::PermissionDenied => error
            .of_kind(FailureKind::Unsupported)
            .hint("io_uring is forbidden here: see the sysctl kernel.io_uring_disabled"),
        io::ErrorKind::OutOfMemory => error.of_kind(FailureKind::Permission).hint(
            "registered buffers count as locked memory: raise `ulimit -l`, lower the queue depth, \
             or do without registered buffers",
        ),
        _ => error,
    }
}
