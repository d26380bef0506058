//! `fslab crash requests`: what reached a recorded disk, and the operations that it was for.

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use fslab_crash::{LogOperation, LogOutline, LogRequest, RequestKind};
use fslab_model::Bytes;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::commands::crash::logs::load_outline;
use crate::commands::crash::replay::SECTOR_BYTES;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// Arguments of `fslab crash requests`.
#[derive(Debug, Args)]
pub(crate) struct RequestsArgs {
    /// Disk log, from --record-disk
    log: PathBuf,
    /// List only requests and operations of this phase [default: the entire trial]
    #[arg(long)]
    phase: Option<String>,
    /// List only flushes, and writes and discards of these sectors, for example 2048-4095
    #[arg(long, value_name = "FIRST[-LAST]", value_parser = sectors_of)]
    sectors: Option<(u64, u64)>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Something with a time.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event<'a> {
    Write(Request),
    Discard(Request),
    Flush(Request),
    Begin(Operation<'a>),
    End(Operation<'a>),
}

#[derive(Serialize)]
struct Request {
    at_ns: u64,
    /// Its number, as in a state.
    request: usize,
    sector: u64,
    sectors: u32,
    done_ns: u64,
    fua: bool,
}

#[derive(Serialize)]
struct Operation<'a> {
    at_ns: u64,
    phase: &'a str,
    folder: &'a str,
    operation: String,
    has_failed: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    subject: &'a str,
    disk: &'a str,
    lab: &'a str,
    events: &'a Events<'a>,
}

/// The events of a log, by time, each made when it is asked for: a log has millions of requests.
/// Of one time, the start of an operation comes before its requests, and its end after them.
struct Events<'a> {
    requests: &'a [LogRequest],
    /// The number of the first of them.
    first: usize,
    sectors: Option<(u64, u64)>,
    /// Begins and ends of operations, in order.
    operations: Vec<Event<'a>>,
}

impl RequestsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let log = load_outline(&self.log)?;
        let events = self.events(&log)?;
        match self.json {
            true => screen::print_long_json(&Document {
                subject: &log.head.subject,
                disk: &log.head.disk,
                lab: &log.head.lab,
                events: &events,
            })?,
            false => screen::print_as_made(|output| write_lines(&events, output))?,
        }
        Ok(Exit::Done)
    }

    fn events<'a>(&self, log: &'a LogOutline) -> Result<Events<'a>, CommandError> {
        let (begin_ns, end_ns) = log
            .head
            .window(self.phase.as_deref(), &log.requests)
            .map_err(CommandError::bad_input)?;
        let mut operations = Vec::new();
        for script in &log.head.scripts {
            for operation in &script.operations {
                let of = |at_ns| operation_at(at_ns, &script.phase, &script.folder, operation);
                operations.push(Event::Begin(of(operation.begin_ns)));
                operations.push(Event::End(of(operation.end_ns)));
            }
        }
        operations.retain(|it| (begin_ns..=end_ns).contains(&it.order().0));
        operations.sort_by_key(Event::order);
        let first = log.requests.partition_point(|it| it.submit_ns < begin_ns);
        let end = log.requests.partition_point(|it| it.submit_ns <= end_ns);
        Ok(Events {
            requests: log.requests.get(first..end).unwrap_or_default(),
            first,
            sectors: self.sectors,
            operations,
        })
    }
}

impl Events<'_> {
    fn is_wanted(&self, request: &LogRequest) -> bool {
        let Some((first, last)) = self.sectors else {
            return true;
        };
        !request.changes() || (request.sector <= last && first < request.end())
    }

    /// Hands all events to `take`, in order.
    fn each<E>(&self, mut take: impl FnMut(&Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut operations = self.operations.iter().peekable();
        for (number, request) in (self.first..).zip(self.requests) {
            if !self.is_wanted(request) {
                continue;
            }
            let event = event(number, request);
            while let Some(earlier) = operations.next_if(|it| it.order() <= event.order()) {
                take(earlier)?;
            }
            take(&event)?;
        }
        operations.try_for_each(take)
    }
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        self.each(|event| list.serialize_element(event))?;
        list.end()
    }
}

impl Event<'_> {
    fn order(&self) -> (u64, u8, usize) {
        match self {
            Self::Begin(it) => (it.at_ns, 0, 0),
            Self::Write(it) | Self::Discard(it) | Self::Flush(it) => (it.at_ns, 1, it.request),
            Self::End(it) => (it.at_ns, 2, 0),
        }
    }
}

fn event(number: usize, request: &LogRequest) -> Event<'static> {
    let it = Request {
        at_ns: request.submit_ns,
        request: number,
        sector: request.sector,
        sectors: request.sectors,
        done_ns: request.done_ns,
        fua: request.fua,
    };
    match request.kind {
        RequestKind::Write => Event::Write(it),
        RequestKind::Discard => Event::Discard(it),
        RequestKind::Flush => Event::Flush(it),
    }
}

fn operation_at<'a>(
    at_ns: u64,
    phase: &'a str,
    folder: &'a str,
    operation: &LogOperation,
) -> Operation<'a> {
    Operation {
        at_ns,
        phase,
        folder,
        operation: operation.step.to_string(),
        has_failed: operation.has_failed,
    }
}

/// A line an event: when, the request's number, what.
fn write_lines(events: &Events<'_>, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{:>16} {:>8}", "ns", "request")?;
    // One write for each line: each costs a call and a look for control characters.
    let mut line = String::new();
    events.each(|event| {
        line.clear();
        match event {
            Event::Write(it) => request_line(&mut line, "write", it),
            Event::Discard(it) => request_line(&mut line, "discard", it),
            Event::Flush(it) => request_line(&mut line, "flush", it),
            Event::Begin(it) => {
                let (at_ns, what, folder) = (it.at_ns, &it.operation, it.folder);
                writeln!(line, "{at_ns:>16} {:>8}  begin {what} in {folder}", "")
            }
            Event::End(it) => {
                let failed = if it.has_failed { ", with an error" } else { "" };
                let (at_ns, what, folder) = (it.at_ns, &it.operation, it.folder);
                writeln!(
                    line,
                    "{at_ns:>16} {:>8}  end {what} in {folder}{failed}",
                    ""
                )
            }
        }
        .map_err(io::Error::other)?;
        output.write_all(line.as_bytes())
    })
}

fn request_line(line: &mut String, name: &str, it: &Request) -> fmt::Result {
    write!(line, "{:>16} {:>8}  {name}", it.at_ns, it.request)?;
    if it.sectors > 0 {
        let bytes = Bytes(u64::from(it.sectors) * SECTOR_BYTES);
        write!(line, " {bytes} at sector {}", it.sector)?;
    }
    let fua = if it.fua { ", FUA" } else { "" };
    writeln!(line, "{fua}, done at {} ns", it.done_ns)
}

fn sectors_of(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |it: &str| {
        let parsed = it.trim().parse::<u64>();
        parsed.map_err(|_| {
            format!(
                "'{it}' is not a range of sectors; expected FIRST or \
                                    FIRST-LAST, for example 2048-4095"
            )
        })
    };
    let (first, last) = (number(first)?, number(last)?);
    match first <= last {
        true => Ok((first, last)),
        false => Err(format!(
            "the last sector, {last}, is before the first, {first}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_one_or_a_range() {
        assert_eq!(sectors_of("7"), Ok((7, 7)));
        assert_eq!(sectors_of("7-9"), Ok((7, 9)));
        assert!(sectors_of("9-7").is_err());
        assert!(sectors_of("").is_err());
        assert!(sectors_of("a-b").is_err());
    }
}
