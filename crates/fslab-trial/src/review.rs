//! What is found out about a step or a phase when it is over: what the kernel said of the device,
//! and whether earlier writes were lost. Either takes figures back that were reported before.

use std::io::Write;

use fslab_model::{EventBody, Facts, Failure, PhaseRecord};
use fslab_sys::KernelLog;

use crate::events::EventWriter;
use crate::kernel_watch::{KernelWatch, failure_of};
use crate::target::Target;

/// The name of the fact that says what of the kernel's log was not read.
const LOG_FACT: &str = "kernel_log";

/// Looks back on what a trial has done so far.
///
/// In virtual time it looks once, when all is over: what is read between phases would move the
/// clock of those that follow, and a sync more would be in the figures. The log of a guest is the
/// trial's alone, and is read whole then.
pub(crate) struct Review {
    /// `None` where there is no device, and in virtual time until the end.
    kernel: Option<KernelWatch>,
    virtual_time: bool,
    /// Phases that have a record.
    recorded: usize,
}

impl Review {
    /// From now on.
    pub(crate) fn of(target: &Target, virtual_time: bool) -> Self {
        let kernel = || target.kernel_watch(KernelLog::mark());
        Self {
            kernel: (!virtual_time).then(kernel).flatten(),
            virtual_time,
            recorded: 0,
        }
    }

    /// Whether a sync at the end would be in figures.
    pub(crate) fn is_of_virtual_time(&self) -> bool {
        self.virtual_time
    }

    /// Before the last look.
    pub(crate) fn come_to_the_end(&mut self, target: &Target) {
        if self.virtual_time {
            self.kernel = target.kernel_watch(KernelLog::from_start());
        }
    }

    /// What of the kernel's log cannot be known; empty where all is read.
    pub(crate) fn facts(&self) -> Facts {
        let lack = self.kernel.as_ref().and_then(KernelWatch::lack);
        lack.map(|lack| (LOG_FACT.to_owned(), lack))
            .into_iter()
            .collect()
    }

    /// How many phases have a record.
    pub(crate) fn recorded(&self) -> usize {
        self.recorded
    }

    /// Reports a phase.
    pub(crate) fn record<W: Write>(&mut self, record: PhaseRecord, events: &mut EventWriter<W>) {
        self.recorded += 1;
        events.emit(EventBody::Phase(Box::new(record)));
    }

    /// Reports what the kernel said since the last look; gives the failure that this is, if any.
    pub(crate) fn look<W: Write>(
        &mut self,
        during: &str,
        events: &mut EventWriter<W>,
    ) -> Option<Failure> {
        let messages = self.kernel.as_mut()?.look(during);
        let failure = failure_of(&messages);
        if !messages.is_empty() {
            events.emit(EventBody::Kernel { messages });
        }
        failure
    }

    /// As [`Self::look`], for a step after which the trial cannot go on.
    pub(crate) fn demand<W: Write>(
        &mut self,
        during: &str,
        events: &mut EventWriter<W>,
    ) -> Result<(), Failure> {
        self.look(during, events).map_or(Ok(()), Err)
    }
}

/// Takes the figures back of all phases from `from` on.
pub(crate) fn withdraw<W: Write>(from: usize, failure: Failure, events: &mut EventWriter<W>) {
    events.emit(EventBody::Withdrawn { from, failure });
}
