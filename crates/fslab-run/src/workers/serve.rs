//! The side of a worker.

use std::io::{self, BufRead, Write};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

use fslab_model::{Event, EventBody, Failure, FailureKind, Plan};
use fslab_venue::Control;

use super::protocol::{Assignment, FromWorker, ToWorker, receive, send};
use crate::executor::{Executor, trial_request};

/// Bytes of a line of the conductor, which this side trusts: the largest has the plan.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// Runs the trials that a conductor sends on `input`, one at a time, until that ends. `open` opens
/// the venue of a plan.
pub fn serve<E: Executor>(
    fslab: &str,
    mut input: impl BufRead + Send,
    output: impl Write + Send,
    open: impl FnOnce(&Plan) -> Result<E, Failure>,
) -> io::Result<()> {
    let output = Mutex::new(output);
    let tell = |message: &FromWorker| {
        let mut output = output.lock().expect("no writer panics");
        send(&mut *output, message)
    };
    let Some(ToWorker::Begin(assignment)) = receive(&mut input, LINE_BYTES_MAX)? else {
        return Err(io::Error::other("the first message is not `begin`"));
    };
    let host = fslab_sys::host_name();
    let opened = ensure_same_version(fslab, &assignment).and_then(|()| open(&assignment.plan));
    let executor = match opened {
        Ok(executor) => executor,
        Err(failure) => return tell(&FromWorker::Refused { host, failure }),
    };
    tell(&FromWorker::Ready { host: host.clone() })?;
    let control = Control::new();
    thread::scope(|scope| {
        let (sender, trials) = mpsc::channel();
        let stops = control.clone();
        let reader = scope.spawn(move || {
            let ended = loop {
                match receive(&mut input, LINE_BYTES_MAX) {
                    Ok(Some(ToWorker::Trial { trial, position })) => {
                        // The other side ends after an error of writing.
                        let _ = sender.send((trial, position));
                    }
                    Ok(Some(ToWorker::Stop)) => stops.request_stop(),
                    Ok(Some(ToWorker::Begin(_))) => {
                        break Err(io::Error::other("a second message `begin`"));
                    }
                    Ok(None) => break Ok(()),
                    Err(unreadable) => break Err(unreadable.into()),
                }
            };
            // No one waits for the running trial any more: it is killed.
            stops.request_stop();
            stops.request_stop();
            ended
        });
        for (trial, position) in trials {
            let Assignment {
                run,
                plan,
                allow_commands,
                ..
            } = &*assignment;
            let Some(request) = trial_request(run, plan, *allow_commands, position, trial) else {
                // The conductor closes the connection at this answer.
                let text = format!("the plan has no trial {trial}");
                let failure = Failure::new(FailureKind::Protocol, text);
                tell(&FromWorker::Refused {
                    host: host.clone(),
                    failure,
                })?;
                continue;
            };
            let mut on_event = |event: &Event| {
                // The record has all others. An error is seen again when that is written.
                if matches!(event.body, EventBody::StepStarted { .. }) {
                    let _ = tell(&FromWorker::Event {
                        body: event.clone(),
                    });
                }
            };
            let record = executor.run_trial(&request, &control, &mut on_event);
            tell(&FromWorker::Record {
                record: Box::new(record),
            })?;
        }
        reader.join().expect("the reader does not panic")
    })
}

/// Refuses a conductor of another version, whose records could differ.
fn ensure_same_version(own: &str, assignment: &Assignment) -> Result<(), Failure> {
    if assignment.fslab == own {
        return Ok(());
    }
    let text = format!(
        "fslab is {own} here and {} at the conductor",
        assignment.fslab
    );
    Err(Failure::new(FailureKind::BadInput, text)
        .hint("install the same version of fslab on all machines"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::tests::plan;

    /// What a worker of version `own` says to these lines.
    fn answer(own: &str, lines: &str) -> (io::Result<()>, String) {
        let mut output = Vec::new();
        let refused = |_: &Plan| -> Result<fslab_venue::Venue, Failure> {
            Err(Failure::new(FailureKind::Device, "there is no lab"))
        };
        let ended = serve(own, lines.as_bytes(), &mut output, refused);
        (ended, String::from_utf8(output).expect("text"))
    }

    fn begin() -> String {
        let assignment = Assignment {
            fslab: "1.0".into(),
            run: "20260101-000000-abcd".parse().expect("an ID"),
            plan: plan(),
            allow_commands: false,
        };
        let mut line = Vec::new();
        send(&mut line, &ToWorker::Begin(Box::new(assignment))).expect("written");
        String::from_utf8(line).expect("text")
    }

    #[test]
    fn another_version_and_a_venue_that_cannot_be_opened_are_refused_with_the_reason() {
        let (ended, said) = answer("2.0", &begin());
        ended.expect("an orderly end");
        assert!(
            said.contains("fslab is 2.0 here and 1.0 at the conductor"),
            "{said}"
        );
        let (_, said) = answer("1.0", &begin());
        assert!(said.contains("there is no lab"), "{said}");
    }

    #[test]
    fn a_connection_that_does_not_begin_with_the_run_is_an_error() {
        for lines in ["", "{\"message\":\"stop\"}\n", "no JSON\n"] {
            let (ended, said) = answer("1.0", lines);
            assert!(ended.is_err(), "{lines}");
            assert_eq!(said, "");
        }
    }
}
