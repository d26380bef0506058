//! Plays a script: each recorded thread or process is a thread, started by the same operation; each
//! operation is issued as soon as what it waits for is done.
//!
//! Processes become threads with a common table of open files, whose numbers are unique.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;

use fslab_engine::{EngineError, Filler, Measured, OperationKind, RunContext, ThreadRecorder};
use fslab_sys::{Descriptors, ResourceUse};
use fslab_trace::Trace;

use super::deviations::Deviations;
use super::gate::Gate;
use super::parameters::ReplayPace;
use super::prepared_calls::{Script, ScriptStep, Syscall};
use super::syscalls::{CALL_BYTES_MAX, Worker};

/// Interval at which a sleeping thread checks for a stop.
const STOP_POLL_NS: u64 = 100_000_000;
/// Least size of a buffer, which also limits reads of mapped files.
const BUFFER_BYTES_MIN: u64 = 128 << 10;

/// State shared by the threads.
pub(super) struct Player<'a> {
    context: &'a RunContext,
    base: &'a Path,
    script: &'a Script,
    pace: ReplayPace,
    files: Descriptors,
    gates: Vec<Gate>,
    buffer_bytes: usize,
    /// States of ended threads, reused by new ones.
    idle: Mutex<Vec<ThreadState>>,
    start_ns: u64,
    stopped: AtomicBool,
    deviations: Deviations,
    /// Operations that were refused and substituted.
    substituted: AtomicU64,
}

/// Recorder and buffers of a thread.
struct ThreadState {
    book: ThreadRecorder,
    kinds: Vec<OperationKind>,
    buffer: Vec<u8>,
    filler: Filler,
}

/// Result of a replay.
pub(super) struct Played {
    pub(super) measured: Measured,
    pub(super) deviations: Deviations,
    pub(super) substituted: u64,
}

impl<'a> Player<'a> {
    /// Opens the directory and prepares the shared state.
    pub(super) fn new(
        context: &'a RunContext,
        base: &'a Path,
        trace: &Trace,
        script: &'a Script,
        pace: ReplayPace,
    ) -> Result<Self, EngineError> {
        let handles = trace.header.handles as usize;
        let files = Descriptors::below(base, handles)
            .map_err(|error| EngineError::io("open", base, error))?;
        let longest = trace.longest_transfer_bytes();
        let buffer_bytes = longest.clamp(BUFFER_BYTES_MIN, CALL_BYTES_MAX) as usize;
        Ok(Self {
            context,
            base,
            script,
            pace,
            files,
            gates: script.lanes.iter().map(|_| Gate::default()).collect(),
            buffer_bytes,
            idle: Mutex::default(),
            start_ns: 0,
            stopped: AtomicBool::new(false),
            deviations: Deviations::default(),
            substituted: AtomicU64::new(0),
        })
    }

    /// Plays the script to its end.
    pub(super) fn play(mut self) -> Result<Played, EngineError> {
        let first = self.state(0);
        let used = ResourceUse::of_process();
        self.start_ns = ThreadRecorder::now_ns();
        let this = &self;
        std::thread::scope(|scope| this.lane(scope, 0, first));
        let used = ResourceUse::of_process().since(used);
        if self.stopped.load(Ordering::Relaxed) {
            return Err(EngineError::interrupted(self.base));
        }
        let states = self
            .idle
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let books = states.into_iter().map(|state| state.book).collect();
        Ok(Played {
            measured: ThreadRecorder::measured(books, used, true),
            deviations: self.deviations,
            substituted: self.substituted.into_inner(),
        })
    }

    fn state(&self, number: u64) -> ThreadState {
        let mut book = ThreadRecorder::new(self.context);
        let kinds = self
            .script
            .kinds
            .iter()
            .map(|name| book.kind(name))
            .collect();
        let seed = fslab_engine::mix(self.context.seed, number);
        ThreadState {
            book,
            kinds,
            buffer: vec![0; self.buffer_bytes],
            filler: Filler::new(seed, self.buffer_bytes),
        }
    }

    /// Plays the operations of recorded thread `number`.
    fn lane<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        number: usize,
        mut state: ThreadState,
    ) {
        if state.book.operations() == 0 {
            state.book.begin(self.start_ns);
        }
        let mut worker = Worker {
            files: &self.files,
            base: self.base,
            buffer: &mut state.buffer,
            filler: &mut state.filler,
            turn: (number as u64) << 32,
        };
        for (done, step) in (1..).zip(&self.script.lanes[number]) {
            if self.must_stop() || !self.wait(step) {
                self.stop();
                break;
            }
            if let Syscall::Spawn { child, inherited } = &step.operation {
                self.spawn(scope, *child, inherited);
            } else {
                let start_ns = ThreadRecorder::now_ns();
                let found = self.issue(&mut worker, step);
                let end_ns = ThreadRecorder::now_ns();
                if let Some(kind) = step.kind {
                    let moved = match &found {
                        Ok(moved) if step.operation.moves_data() => *moved,
                        _ => 0,
                    };
                    state
                        .book
                        .operation(state.kinds[kind], start_ns, end_ns, moved);
                    if !step.expected.is(&found) {
                        let name = self.script.kinds[kind];
                        self.deviations.add(name, &step.expected, &found);
                    }
                }
            }
            self.gates[number].advance(done);
        }
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(state);
    }

    /// Issues an operation; if it is refused although it succeeded when recorded, its substitute.
    #[inline]
    fn issue(&self, worker: &mut Worker<'_>, step: &ScriptStep) -> std::io::Result<u64> {
        let found = worker.perform(&step.operation);
        let Err(refused) = &found else {
            return found;
        };
        if step.expected.is_failure() {
            return found;
        }
        let other = worker.substitute(&step.operation, refused);
        if other.is_some() {
            self.substituted.fetch_add(1, Ordering::Relaxed);
        }
        other.unwrap_or(found)
    }

    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        child: u32,
        inherited: &[(u32, u32)],
    ) {
        for (old, new) in inherited {
            // Fails if the open failed here, which was counted as a deviation.
            let _ = self.files.duplicate(*old, *new);
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let state = idle.pop();
        drop(idle);
        let state = state.unwrap_or_else(|| self.state(u64::from(child)));
        scope.spawn(move || self.lane(scope, child as usize, state));
    }

    /// Waits for the step's dependences and its think time; false on a stop.
    #[inline]
    fn wait(&self, step: &ScriptStep) -> bool {
        for wait in &step.waits {
            let gate = &self.gates[wait.thread as usize];
            if !gate.wait_for(wait.steps, || self.must_stop()) {
                return false;
            }
        }
        match self.pace {
            ReplayPace::Fast => true,
            ReplayPace::Recorded => self.think(step.think_ns),
        }
    }

    fn think(&self, think_ns: u64) -> bool {
        let until_ns = ThreadRecorder::now_ns() + think_ns;
        loop {
            let now_ns = ThreadRecorder::now_ns();
            if now_ns >= until_ns {
                return true;
            }
            ThreadRecorder::wait_until_ns(until_ns.min(now_ns + STOP_POLL_NS));
            if self.must_stop() {
                return false;
            }
        }
    }

    #[inline]
    fn must_stop(&self) -> bool {
        self.context.stop.is_raised() || self.stopped.load(Ordering::Relaxed)
    }

    /// Stops all threads, waiting ones included.
    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.gates.iter().for_each(Gate::wake);
    }
}
