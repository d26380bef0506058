//! Checks the events of a running trial, one by one.

use fslab_model::{Event, EventBody};

use super::record::ExpectedRecord;

/// What has been reported so far.
#[derive(Debug)]
pub(crate) struct EventCheck<'a> {
    expected: &'a ExpectedRecord,
    greeted: bool,
    ended: bool,
    phases: usize,
}

impl<'a> EventCheck<'a> {
    pub(crate) fn of(expected: &'a ExpectedRecord) -> Self {
        Self {
            expected,
            greeted: false,
            ended: false,
            phases: 0,
        }
    }

    /// Takes the next event; an error says why it is none of this trial.
    pub(crate) fn admit(&mut self, event: &Event) -> Result<(), String> {
        if self.ended {
            return Err("an event after the last".to_owned());
        }
        let is_greeting = matches!(event.body, EventBody::Hello { .. });
        if is_greeting == self.greeted {
            return Err(match self.greeted {
                true => "a second greeting".to_owned(),
                false => "an event before the greeting".to_owned(),
            });
        }
        match &event.body {
            EventBody::Hello { .. } => self.greeted = true,
            EventBody::Phase(phase) => {
                self.expected.ensure_phase(self.phases, phase)?;
                self.phases += 1;
            }
            EventBody::Withdrawn { from, .. } if *from > self.phases => {
                return Err("figures withdrawn that were never reported".to_owned());
            }
            EventBody::End => self.ended = true,
            _ => {}
        }
        Ok(())
    }
}
