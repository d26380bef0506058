//! Performs operations on files as arrays of system calls, where the kernel executes such arrays:
//! the same calls in the same order, with the same times, as [`super::names_loop`] issues one by
//! one.

use std::ops::Range;

use fslab_sys::CallArray;

use super::names_loop::{Acts, NamesLoop, failed_name};
use super::target::NamesTarget;
use crate::EngineError;
use crate::recording::Clock;

impl<T: NamesTarget, C: Clock> NamesLoop<'_, '_, T, C> {
    /// Performs `acts` in the order of `turns`; returns the turn after the last one done.
    pub(super) fn act_on(
        &mut self,
        acts: &Acts<'_>,
        turns: Range<u64>,
    ) -> Result<u64, EngineError> {
        let gathers = self.worker.single_step && self.target.gathers(acts.operation);
        let mut calls = gathers.then(|| self.group.call_array()).flatten();
        let mut turn = turns.start;
        while turn < turns.end && self.end_ns < acts.until_ns {
            let together = match &mut calls {
                Some(calls) => self.act_together(acts, turn..turns.end, calls)?,
                None => 0,
            };
            turn += together;
            if together == 0 {
                self.act(acts.operation, acts.slot, (acts.number)(turn))?;
                turn += 1;
            }
        }
        Ok(turn)
    }

    /// Performs the next operations that an array has room for; returns their number.
    fn act_together(
        &mut self,
        acts: &Acts<'_>,
        turns: Range<u64>,
        calls: &mut CallArray,
    ) -> Result<u64, EngineError> {
        self.check_stop()?;
        let (worker, target) = (&mut self.worker, &mut self.target);
        let mut ahead = turns.clone();
        let ran = target.perform_together(calls, acts.until_ns, &mut |put| {
            let mut put = |turn| put(&worker.task(acts.operation, (acts.number)(turn)));
            while ahead.next().is_some_and(&mut put) {}
        });
        if let Err(source) = ran {
            let name = self.worker.task(acts.operation, (acts.number)(turns.start));
            let name = name.name.to_owned();
            return Err(self
                .worker
                .failure("make an array of calls on", &name, source));
        }
        let mut done = 0;
        for operation in calls.done() {
            let recorder = &mut self.worker.recorder;
            recorder.operation(
                acts.slot,
                operation.start_ns,
                operation.end_ns,
                operation.count,
            );
            self.end_ns = operation.end_ns;
            done += 1;
        }
        if let Some(stopped) = calls.stopped() {
            let start_ns = stopped.start_ns;
            let task = (self.worker).task(acts.operation, (acts.number)(turns.start + done));
            let completed = self.target.complete(&task, stopped);
            let end_ns = self.clock.now_ns();
            let bytes = match completed {
                Ok(bytes) => bytes,
                Err(source) => {
                    let (step, name) = (task.operation.as_str(), failed_name(&task));
                    return Err(self.worker.failure(step, &name, source));
                }
            };
            (self.worker.recorder).operation(acts.slot, start_ns, end_ns, bytes);
            self.end_ns = end_ns;
            done += 1;
        }
        Ok(done)
    }
}
