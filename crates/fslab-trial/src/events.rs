//! Writes events as JSON lines, each at once.

use std::io::{self, Write};
use std::time::Instant;

use fslab_engine::StopFlag;
use fslab_model::{Event, EventBody, Facts, Failure};

/// Where a trial's events go. Once their reader is gone, the trial is stopped.
pub struct EventWriter<W> {
    output: W,
    began: Instant,
    stop: StopFlag,
    broken: Option<io::Error>,
}

impl<W: Write> EventWriter<W> {
    /// Events are stamped with the time since this call.
    pub fn new(output: W, stop: StopFlag) -> Self {
        Self {
            output,
            began: Instant::now(),
            stop,
            broken: None,
        }
    }

    /// Writes one event and flushes it.
    pub fn emit(&mut self, body: EventBody) {
        if self.broken.is_some() {
            return;
        }
        let at_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut line =
            serde_json::to_string(&Event { at_ns, body }).expect("every event serialises");
        line.push('\n');
        let written = self
            .output
            .write_all(line.as_bytes())
            .and_then(|()| self.output.flush());
        if let Err(error) = written {
            self.broken = Some(error);
            self.stop.raise();
        }
    }

    /// Says which step begins now.
    pub fn begin(&mut self, step: impl Into<String>) {
        self.emit(EventBody::StepStarted { step: step.into() });
    }

    /// Adds facts, where there are any.
    pub(crate) fn add_facts(&mut self, facts: Facts) {
        if !facts.is_empty() {
            self.emit(EventBody::Facts { facts });
        }
    }

    /// Reports a failure outside the phases.
    pub fn fail(&mut self, failure: Failure) {
        self.emit(EventBody::Failed { failure });
    }

    /// Whether every event was written.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<()> {
        self.broken.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_trial_that_nobody_listens_to_is_told_to_stop() {
        let stop = StopFlag::new();
        let mut events = EventWriter::new(Closed, stop.clone());
        events.emit(EventBody::End);
        assert!(stop.is_raised());
        assert!(events.finish().is_err());
    }

    #[test]
    fn each_event_is_one_line() {
        let mut output = Vec::new();
        let mut events = EventWriter::new(&mut output, StopFlag::new());
        events.begin("mkfs");
        events.emit(EventBody::End);
        events.finish().expect("memory takes everything");
        let text = String::from_utf8(output).expect("text");
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            serde_json::from_str::<Event>(line).expect("an event");
        }
    }
}
