//! Writes events as JSON lines, unbuffered.

use std::io::{self, Write};
use std::time::Instant;

use fslab_engine::StopFlag;
use fslab_model::{Event, EventBody, Facts, Failure};

/// The writer of a trial's events. If the reader closes the pipe, the trial is stopped.
pub struct EventWriter<W> {
    output: W,
    began: Instant,
    stop: StopFlag,
    broken: Option<io::Error>,
}

impl<W: Write> EventWriter<W> {
    /// Time stamps of events count from this call.
    pub fn new(output: W, stop: StopFlag) -> Self {
        Self {
            output,
            began: Instant::now(),
            stop,
            broken: None,
        }
    }

    /// Writes and flushes one event.
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

    /// Reports the start of a step.
    pub fn begin(&mut self, step: impl Into<String>) {
        self.emit(EventBody::StepStarted { step: step.into() });
    }

    /// Reports facts, if there are any.
    pub(crate) fn add_facts(&mut self, facts: Facts) {
        if !facts.is_empty() {
            self.emit(EventBody::Facts { facts });
        }
    }

    /// Reports a failure outside the phases.
    pub fn fail(&mut self, failure: Failure) {
        self.emit(EventBody::Failed { failure });
    }

    /// Checks that every event was written.
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
    fn a_trial_whose_reader_is_gone_is_stopped() {
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
