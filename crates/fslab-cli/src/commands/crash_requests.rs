//! `fslab crash requests`: what reached a recorded disk, and the operations that it was for.

use std::path::PathBuf;

use clap::Args;
use fslab_crash::{DiskLog, LogOperation, LogRequest, RequestKind};
use fslab_model::Bytes;
use serde::Serialize;

use super::crash::load;
use super::crash_replay::SECTOR_BYTES;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab crash requests`.
#[derive(Debug, Args)]
pub(crate) struct RequestsArgs {
    /// The log of a disk, from --record-disk
    log: PathBuf,
    /// Only requests and operations of this phase [default: the entire trial]
    #[arg(long)]
    phase: Option<String>,
    /// Only writes and discards of these sectors, and flushes
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
    events: Vec<Event<'a>>,
}

impl RequestsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let log = load(&self.log)?;
        let events = self.events(&log)?;
        match self.json {
            true => screen::print_json(&Document {
                subject: &log.head.subject,
                disk: &log.head.disk,
                lab: &log.head.lab,
                events,
            })?,
            false => screen::print(&text(&events))?,
        }
        Ok(Exit::Done)
    }

    /// All events, by time; of one time, the start of an operation comes before its requests, and
    /// its end after them.
    fn events<'a>(&self, log: &'a DiskLog) -> Result<Vec<Event<'a>>, CommandError> {
        let window = log
            .window(self.phase.as_deref())
            .map_err(CommandError::bad_input)?;
        let requests = log.requests.iter().enumerate();
        let requests = requests.filter(|(_, request)| self.is_wanted(request));
        let mut events: Vec<Event<'a>> = requests.map(|(number, it)| event(number, it)).collect();
        for script in &log.head.scripts {
            for operation in &script.operations {
                let of = |at_ns| operation_at(at_ns, &script.phase, &script.folder, operation);
                events.push(Event::Begin(of(operation.begin_ns)));
                events.push(Event::End(of(operation.end_ns)));
            }
        }
        events.retain(|it| (window.0..=window.1).contains(&it.order().0));
        events.sort_by_key(Event::order);
        Ok(events)
    }

    fn is_wanted(&self, request: &LogRequest) -> bool {
        let Some((first, last)) = self.sectors else {
            return true;
        };
        !request.changes() || (request.sector <= last && first < request.end())
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

fn event<'a>(number: usize, request: &LogRequest) -> Event<'a> {
    let it = Request {
        at_ns: request.submit_ns,
        request: number,
        sector: request.sector,
        sectors: request.sectors,
        done_ns: request.done_ns,
        fua: request.fua,
    };
    match request.kind {
        RequestKind::Write(_) => Event::Write(it),
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
fn text(events: &[Event<'_>]) -> String {
    let line =
        |at_ns: u64, number: String, what: String| format!("{at_ns:>16} {number:>8}  {what}\n");
    let request = |name: &str, it: &Request| {
        let place = match it.sectors {
            0 => String::new(),
            sectors => {
                let bytes = Bytes(u64::from(sectors) * SECTOR_BYTES);
                format!(" {bytes} at sector {}", it.sector)
            }
        };
        let fua = if it.fua { ", FUA" } else { "" };
        let what = format!("{name}{place}{fua}, done at {} ns", it.done_ns);
        line(it.at_ns, it.request.to_string(), what)
    };
    let mut text = format!("{:>16} {:>8}\n", "ns", "request");
    for event in events {
        text += &match event {
            Event::Write(it) => request("write", it),
            Event::Discard(it) => request("discard", it),
            Event::Flush(it) => request("flush", it),
            Event::Begin(it) => {
                let what = format!("begin {} in {}", it.operation, it.folder);
                line(it.at_ns, String::new(), what)
            }
            Event::End(it) => {
                let failed = if it.has_failed { ", with an error" } else { "" };
                let what = format!("end {} in {}{failed}", it.operation, it.folder);
                line(it.at_ns, String::new(), what)
            }
        };
    }
    text
}

fn sectors_of(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |it: &str| {
        let parsed = it.trim().parse::<u64>();
        parsed.map_err(|_| format!("'{it}' is no sector: give FIRST or FIRST-LAST, as 2048-4095"))
    };
    let (first, last) = (number(first)?, number(last)?);
    match first <= last {
        true => Ok((first, last)),
        false => Err(format!(
            "the last sector, {last}, lies before the first, {first}"
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
