//! Checks after a step or phase: kernel messages about the device, and lost writes. Either
//! invalidates results that were reported before.

use std::io::Write;

use fslab_model::{EventBody, Facts, Failure, PhaseRecord};
use fslab_sys::KernelLog;

use crate::events::EventWriter;
use crate::kernel_watch::{KernelWatch, failure_of};
use crate::target::Target;

/// Name of the fact about missing parts of the kernel log.
const LOG_FACT: &str = "kernel_log";

/// Reviews what a trial has done so far.
///
/// In virtual time it reviews once, at the end: reads between phases would advance the clock of
/// later phases, and an additional sync would change their results. A guest's log belongs to the
/// trial alone and is read from its start.
pub(crate) struct Review {
    /// `None` if there is no device, and in virtual time until the end.
    kernel: Option<KernelWatch>,
    virtual_time: bool,
    /// Number of recorded phases.
    recorded: usize,
    /// The phase just done damaged the device on purpose.
    is_provoked: bool,
}

impl Review {
    /// Starts the review.
    pub(crate) fn of(target: &Target, virtual_time: bool) -> Self {
        let kernel = || target.kernel_watch(KernelLog::mark());
        Self {
            kernel: (!virtual_time).then(kernel).flatten(),
            virtual_time,
            recorded: 0,
            is_provoked: false,
        }
    }

    /// Watches the devices of the layers, too, once they are open.
    pub(crate) fn follow_layers(&mut self, target: &Target) {
        if self.kernel.is_some() {
            self.kernel = target.kernel_watch(KernelLog::mark());
        }
    }

    /// True if an additional sync would change results.
    pub(crate) fn is_of_virtual_time(&self) -> bool {
        self.virtual_time
    }

    /// Must be called before the last review.
    pub(crate) fn start_final(&mut self, target: &Target) {
        if self.virtual_time {
            self.kernel = target.kernel_watch(KernelLog::from_start());
        }
    }

    /// Missing parts of the kernel log; empty if it was read completely.
    pub(crate) fn facts(&self) -> Facts {
        let lack = self.kernel.as_ref().and_then(KernelWatch::lack);
        lack.map(|lack| (LOG_FACT.to_owned(), lack))
            .into_iter()
            .collect()
    }

    /// Number of recorded phases.
    pub(crate) fn recorded(&self) -> usize {
        self.recorded
    }

    /// Reports a phase.
    pub(crate) fn record<W: Write>(&mut self, record: PhaseRecord, events: &mut EventWriter<W>) {
        self.recorded += 1;
        events.emit(EventBody::Phase(Box::new(record)));
    }

    /// Takes what the kernel reports next as no failure: the phase damaged the device on purpose.
    pub(crate) fn expect_errors(&mut self) {
        self.is_provoked = true;
    }

    /// Reports kernel messages since the last call; returns the failure if there are errors.
    pub(crate) fn look<W: Write>(
        &mut self,
        during: &str,
        events: &mut EventWriter<W>,
    ) -> Option<Failure> {
        let kernel = self.kernel.as_mut()?;
        let mut messages = kernel.look(during);
        // In virtual time the errors of a phase are seen at the end.
        let is_provoked = std::mem::take(&mut self.is_provoked);
        if is_provoked {
            messages.iter_mut().for_each(|it| it.is_error = false);
        }
        let failure = failure_of(&messages);
        if !messages.is_empty() {
            events.emit(EventBody::Kernel { messages });
        }
        failure
    }

    /// As [`Self::look`], for a step after which the trial cannot continue.
    pub(crate) fn demand<W: Write>(
        &mut self,
        during: &str,
        events: &mut EventWriter<W>,
    ) -> Result<(), Failure> {
        self.look(during, events).map_or(Ok(()), Err)
    }
}

/// Invalidates the results of all phases from `from` on.
pub(crate) fn withdraw<W: Write>(from: usize, failure: Failure, events: &mut EventWriter<W>) {
    events.emit(EventBody::Withdrawn { from, failure });
}
