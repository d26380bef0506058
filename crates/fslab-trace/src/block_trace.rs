//! The text of blkparse(1) as a trace: the requests of a block device become reads and writes of
//! one file for each device.
//!
//! Requests count once: when they are queued (`Q`), or if there is no such line, when they are
//! issued (`D`) or completed (`C`). The file has only the parts of the device that were accessed,
//! in units of 1 MiB: gaps between them are left out, so that a trace of a large device needs no
//! large file, and what was adjacent stays adjacent. All requests are of one thread, in order.

use std::collections::{BTreeMap, BTreeSet};

use crate::iolog::entry;
use crate::{CallOutcome, EntryKind, Header, Operation, Trace, TraceEvent, TracePath};

const SECTOR_BYTES: u64 = 512;
const UNIT_BYTES: u64 = 1 << 20;
/// No request is larger: the kernel splits them.
const REQUEST_BYTES_MAX: u64 = 64 << 20;
/// The actions that a request has, the first that is there counts.
const ACTIONS: [&str; 3] = ["Q", "D", "C"];

/// A line of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request<'t> {
    device: &'t str,
    at_ns: u64,
    action: &'t str,
    kind: &'t str,
    /// First byte and length; none for a flush.
    range: Option<(u64, u64)>,
}

/// True for a line of blkparse's default format:
/// `  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [program]`.
pub(crate) fn is_line(line: &str) -> bool {
    request(line).is_some_and(|request| ACTIONS.contains(&request.action))
}

fn request(line: &str) -> Option<Request<'_>> {
    let mut words = line.split_whitespace();
    let device = words.next()?;
    let (major, minor) = device.split_once(',')?;
    let is_device = major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok();
    words.next()?.parse::<u32>().ok().filter(|_| is_device)?;
    words.next()?.parse::<u64>().ok()?;
    let at_ns = crate::line::nanoseconds(words.next()?)?;
    words.next()?.parse::<u32>().ok()?;
    let (action, kind) = (words.next()?, words.next()?);
    let is_kind = |c: char| c.is_ascii_uppercase();
    if !kind.chars().all(is_kind) || !action.starts_with(is_kind) {
        return None;
    }
    let first = words.next().and_then(|word| word.parse::<u64>().ok());
    let count = match words.next() {
        Some("+") => words.next().and_then(|word| word.parse::<u64>().ok()),
        _ => None,
    };
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES);
    let range = match first.zip(count) {
        Some((first, count)) => Some((bytes(first)?, bytes(count)?)),
        None => None,
    };
    Some(Request {
        device,
        at_ns,
        action,
        kind,
        range: range.filter(|(_, length)| *length > 0),
    })
}

/// The trace of blkparse's text; an error in words.
pub(crate) fn trace(text: &str) -> Result<Trace, String> {
    let all: Vec<Request> = text.lines().filter_map(request).collect();
    let action = ACTIONS
        .iter()
        .find(|it| all.iter().any(|request| request.action == **it));
    let action = action.ok_or("it has no request that was queued, issued or completed")?;
    let mut requests: Vec<&Request> = all.iter().filter(|it| it.action == *action).collect();
    requests.sort_by_key(|request| request.at_ns);
    let mut units: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for request in &requests {
        let units = units.entry(request.device).or_default();
        if let Some((first, length)) = request.range.filter(|_| is_transfer(request)) {
            let end = first
                .checked_add(length)
                .filter(|_| length <= REQUEST_BYTES_MAX);
            let end = end.ok_or_else(|| {
                let most = REQUEST_BYTES_MAX >> 20;
                format!("a request has {length} bytes; at most {most} MiB are possible")
            })?;
            units.extend(first / UNIT_BYTES..=(end - 1) / UNIT_BYTES);
        }
    }
    let mut places: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
    for (device, units) in units {
        places.insert(device, units.into_iter().zip(0..).collect());
    }
    Ok(of_requests(&requests, &places, action))
}

/// True for reads and writes of data.
fn is_transfer(request: &Request) -> bool {
    !request.kind.contains('D') && request.kind.contains(['R', 'W'])
}

/// The events of the requests, in order.
struct Player<'t> {
    start_ns: u64,
    /// The place of each unit of a device in its file.
    places: &'t BTreeMap<&'t str, BTreeMap<u64, u64>>,
    handles: BTreeMap<&'t str, u32>,
    events: Vec<TraceEvent>,
    unseen: BTreeMap<String, u64>,
}

impl Player<'_> {
    fn add(&mut self, at_ns: u64, operation: Operation, result: u64) {
        self.events.push(TraceEvent {
            thread: 0,
            at_ns: at_ns.saturating_sub(self.start_ns),
            took_ns: 0,
            operation,
            outcome: CallOutcome::Result(result),
        });
    }

    fn request(&mut self, request: &Request) {
        let handle = self.handles[request.device];
        let range = request.range.filter(|_| is_transfer(request));
        let Some((first, length)) = range else {
            if request.kind.contains('F') {
                let call = "fdatasync".to_owned();
                self.add(request.at_ns, Operation::Sync { handle, call }, 0);
            } else {
                let what = match request.kind.contains('D') {
                    true => "discard",
                    false => "request without data",
                };
                *self.unseen.entry(what.to_owned()).or_default() += 1;
            }
            return;
        };
        let place = self.places[request.device][&(first / UNIT_BYTES)];
        let offset = Some(place * UNIT_BYTES + first % UNIT_BYTES);
        let operation = match request.kind.contains('R') {
            true => Operation::Read {
                handle,
                length,
                offset,
            },
            false => Operation::Write {
                handle,
                length,
                offset,
            },
        };
        self.add(request.at_ns, operation, length);
    }
}

fn of_requests(
    requests: &[&Request],
    places: &BTreeMap<&str, BTreeMap<u64, u64>>,
    action: &str,
) -> Trace {
    let start_ns = requests.first().map_or(0, |request| request.at_ns);
    let mut player = Player {
        start_ns,
        places,
        handles: places.keys().copied().zip(0..).collect(),
        events: Vec::new(),
        unseen: BTreeMap::new(),
    };
    let mut files = Vec::new();
    for (handle, (device, units)) in (0..).zip(places) {
        let name = format!("/device-{}", device.replace(',', "-"));
        let path = TracePath::below(b"/", name.as_bytes()).unwrap_or_default();
        let bytes = units.len() as u64 * UNIT_BYTES;
        files.push(entry(path.clone(), EntryKind::File, bytes));
        let open = Operation::Open {
            path,
            real: None,
            flags: "O_RDWR".to_owned(),
            mode: 0,
            handle: Some(handle),
        };
        player.add(start_ns, open, 0);
    }
    requests.iter().for_each(|request| player.request(request));
    let end_ns = requests.last().map_or(start_ns, |last| last.at_ns);
    for handle in (0..).take(places.len()) {
        player.add(end_ns, Operation::Close { handle }, 0);
    }
    Trace {
        header: Header {
            root: "/".to_owned(),
            directory: Some(TracePath::default()),
            recorder: format!("blkparse, requests {action}"),
            took_ns: end_ns.saturating_sub(start_ns),
            threads: 1,
            handles: u32::try_from(places.len()).unwrap_or(u32::MAX),
            unseen: player.unseen,
            ..Header::default()
        },
        files,
        events: player.events,
        final_files: Vec::new(),
    }
}
