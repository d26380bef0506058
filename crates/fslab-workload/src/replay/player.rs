//! Plays a script: a thread for each recorded one, begun where it began, each operation as soon as
//! what it waits for is done.
//!
//! A recorded process is a thread here, so that what it inherited can be told by numbers; open
//! files have no more in common than they had.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;

use fslab_engine::{EngineError, Filler, Kind, Measured, RunContext, ThreadRecorder};
use fslab_sys::{Descriptors, ResourceUse};
use fslab_trace::Trace;

use super::deviations::Deviations;
use super::gate::Gate;
use super::moves::{CALL_BYTES_MAX, Worker};
use super::parameters::ReplayPace;
use super::script::{Cue, Move, Script};

/// How long a thread thinks before it looks whether it must stop.
const NAP_NS: u64 = 100_000_000;
/// What is read at once of a file that was mapped, and the least of a buffer.
const BUFFER_BYTES_MIN: u64 = 128 << 10;

/// All that the threads share.
pub(super) struct Player<'a> {
    context: &'a RunContext,
    base: &'a Path,
    script: &'a Script,
    pace: ReplayPace,
    files: Descriptors,
    gates: Vec<Gate>,
    buffer_bytes: usize,
    /// What threads worked with that have ended, for those that begin.
    idle: Mutex<Vec<Kit>>,
    start_ns: u64,
    stopped: AtomicBool,
    deviations: Deviations,
    /// Operations that were refused, and issued in another way.
    substituted: AtomicU64,
}

/// What a thread works with, one after the other.
struct Kit {
    book: ThreadRecorder,
    kinds: Vec<Kind>,
    buffer: Vec<u8>,
    filler: Filler,
}

/// What was played.
pub(super) struct Played {
    pub(super) measured: Measured,
    pub(super) deviations: Deviations,
    pub(super) substituted: u64,
}

impl<'a> Player<'a> {
    /// Opens the folder, and makes what the first thread works with.
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
        let first = self.kit(0);
        let used = ResourceUse::of_process();
        self.start_ns = ThreadRecorder::now_ns();
        let this = &self;
        std::thread::scope(|scope| this.lane(scope, 0, first));
        let used = ResourceUse::of_process().since(used);
        if self.stopped.load(Ordering::Relaxed) {
            return Err(EngineError::interrupted(self.base));
        }
        let kits = self
            .idle
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let books = kits.into_iter().map(|kit| kit.book).collect();
        Ok(Played {
            measured: ThreadRecorder::measured(books, used, true),
            deviations: self.deviations,
            substituted: self.substituted.into_inner(),
        })
    }

    fn kit(&self, number: u64) -> Kit {
        let mut book = ThreadRecorder::new(self.context);
        let kinds = self
            .script
            .kinds
            .iter()
            .map(|name| book.kind(name))
            .collect();
        let seed = fslab_engine::mix(self.context.seed, number);
        Kit {
            book,
            kinds,
            buffer: vec![0; self.buffer_bytes],
            filler: Filler::new(seed, self.buffer_bytes),
        }
    }

    /// Plays the operations of recorded thread `number`.
    fn lane<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, number: usize, mut kit: Kit) {
        if kit.book.operations() == 0 {
            kit.book.begin(self.start_ns);
        }
        let mut hands = Worker {
            files: &self.files,
            base: self.base,
            buffer: &mut kit.buffer,
            filler: &mut kit.filler,
            turn: (number as u64) << 32,
        };
        for (done, cue) in (1..).zip(&self.script.lanes[number]) {
            if self.must_stop() || !self.wait(cue) {
                self.stop();
                break;
            }
            if let Move::Spawn { child, inherited } = &cue.operation {
                self.spawn(scope, *child, inherited);
            } else {
                let start_ns = ThreadRecorder::now_ns();
                let found = self.issue(&mut hands, cue);
                let end_ns = ThreadRecorder::now_ns();
                if let Some(kind) = cue.kind {
                    let moved = match &found {
                        Ok(moved) if cue.operation.moves_data() => *moved,
                        _ => 0,
                    };
                    kit.book.operation(kit.kinds[kind], start_ns, end_ns, moved);
                    if !cue.expected.is(&found) {
                        let name = self.script.kinds[kind];
                        self.deviations.add(name, &cue.expected, &found);
                    }
                }
            }
            self.gates[number].advance(done);
        }
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(kit);
    }

    /// Issues an operation; where it is refused that was done then, in another way if there is one.
    #[inline]
    fn issue(&self, hands: &mut Worker<'_>, cue: &Cue) -> std::io::Result<u64> {
        let found = hands.perform(&cue.operation);
        let Err(refused) = &found else {
            return found;
        };
        if cue.expected.is_failure() {
            return found;
        }
        let other = hands.substitute(&cue.operation, refused);
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
            // What could not be opened here cannot be inherited either, and was counted then.
            let _ = self.files.duplicate(*old, *new);
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kit = idle.pop();
        drop(idle);
        let kit = kit.unwrap_or_else(|| self.kit(u64::from(child)));
        scope.spawn(move || self.lane(scope, child as usize, kit));
    }

    /// Waits for what `cue` waits for, and as long as the program thought; false where all is to
    /// end.
    #[inline]
    fn wait(&self, cue: &Cue) -> bool {
        for wait in &cue.waits {
            let gate = &self.gates[wait.thread as usize];
            if !gate.wait_for(wait.steps, || self.must_stop()) {
                return false;
            }
        }
        match self.pace {
            ReplayPace::Fast => true,
            ReplayPace::Recorded => self.think(cue.think_ns),
        }
    }

    fn think(&self, think_ns: u64) -> bool {
        let until_ns = ThreadRecorder::now_ns() + think_ns;
        loop {
            let now_ns = ThreadRecorder::now_ns();
            if now_ns >= until_ns {
                return true;
            }
            ThreadRecorder::wait_until_ns(until_ns.min(now_ns + NAP_NS));
            if self.must_stop() {
                return false;
            }
        }
    }

    #[inline]
    fn must_stop(&self) -> bool {
        self.context.stop.is_raised() || self.stopped.load(Ordering::Relaxed)
    }

    /// Ends all threads, those that wait as well.
    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.gates.iter().for_each(Gate::wake);
    }
}
