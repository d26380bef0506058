//! One state, and its form as text.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::{DiskLog, LogRequest};

/// Most losses in the text of a state.
const LOSSES_MAX: usize = 1 << 20;

/// A write that was lost, or of which only the first sectors were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loss {
    /// Its request, by number in the log.
    pub request: usize,
    /// The sectors that were kept; 0 if none.
    pub kept_sectors: u32,
}

/// A state of a disk after a power loss: everything that was submitted by `at_ns` but the losses.
///
/// As text, which is how a state is named: `AT_NS`, or `AT_NS-LOSS,LOSS...`, a loss being
/// `REQUEST`, a range of them `FIRST..LAST`, or `REQUEST/KEPT` with the number of sectors kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrashState {
    /// When power failed.
    pub at_ns: u64,
    /// What was lost, by request.
    pub lost: Vec<Loss>,
}

/// The text of no state.
#[derive(Debug, thiserror::Error)]
#[error("invalid crash state '{text}', expected AT_NS or AT_NS-REQUEST,FIRST..LAST,REQUEST/KEPT")]
pub struct ParseStateError {
    text: String,
}

impl CrashState {
    /// The number of requests that were submitted by its time.
    pub(crate) fn submitted(&self, requests: &[LogRequest]) -> usize {
        requests.partition_point(|it| it.submit_ns <= self.at_ns)
    }

    /// What it keeps of requests.
    pub(crate) fn kept(&self) -> Kept {
        let mut lost = self.lost.clone();
        lost.sort_by_key(|it| it.request);
        // Of one that was typed twice, the last counts.
        lost.reverse();
        lost.dedup_by_key(|it| it.request);
        lost.reverse();
        Kept { lost }
    }

    /// Checks that the losses of a state that someone typed are requests of the log.
    pub fn ensure_of(&self, log: &DiskLog) -> Result<(), String> {
        for loss in &self.lost {
            let found = log.requests.get(loss.request);
            if !found.is_some_and(|it| it.changes() && it.submit_ns <= self.at_ns) {
                return Err(format!(
                    "request {} is not a write submitted by {} ns",
                    loss.request, self.at_ns
                ));
            }
        }
        Ok(())
    }
}

/// What a state keeps of requests that were submitted by its time.
pub(crate) struct Kept {
    /// By request, each once.
    lost: Vec<Loss>,
}

impl Kept {
    /// The first sectors that are kept of a request; 0 if nothing is.
    pub(crate) fn sectors_of(&self, number: usize, request: &LogRequest) -> u32 {
        let found = self.lost.binary_search_by_key(&number, |it| it.request);
        found.map_or(request.sectors, |place| {
            self.lost[place].kept_sectors.min(request.sectors)
        })
    }
}

impl Display for CrashState {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        write!(out, "{}", self.at_ns)?;
        let follows = |one: &Loss, next: &Loss| {
            one.kept_sectors == 0 && next.kept_sectors == 0 && next.request == one.request + 1
        };
        for (number, run) in self.lost.chunk_by(follows).enumerate() {
            out.write_str(if number == 0 { "-" } else { "," })?;
            let (first, last) = (run[0], run[run.len() - 1]);
            match (run.len(), first.kept_sectors) {
                (1, 0) => write!(out, "{}", first.request)?,
                (1, kept) => write!(out, "{}/{kept}", first.request)?,
                _ => write!(out, "{}..{}", first.request, last.request)?,
            }
        }
        Ok(())
    }
}

impl FromStr for CrashState {
    type Err = ParseStateError;

    fn from_str(text: &str) -> Result<Self, ParseStateError> {
        parse(text).ok_or_else(|| ParseStateError {
            text: text.chars().take(80).collect(),
        })
    }
}

fn parse(text: &str) -> Option<CrashState> {
    let (at, losses) = match text.split_once('-') {
        Some((at, losses)) => (at, Some(losses)),
        None => (text, None),
    };
    let mut state = CrashState {
        at_ns: at.parse().ok()?,
        lost: Vec::new(),
    };
    for part in losses.into_iter().flat_map(|losses| losses.split(',')) {
        let (range, kept_sectors) = match part.split_once('/') {
            Some((request, kept)) => ((request, request), kept.parse().ok()?),
            None => (part.split_once("..").unwrap_or((part, part)), 0),
        };
        let (first, last): (usize, usize) = (range.0.parse().ok()?, range.1.parse().ok()?);
        let count = last.checked_sub(first)?;
        if count >= LOSSES_MAX - state.lost.len().min(LOSSES_MAX) {
            return None;
        }
        state.lost.extend((first..=last).map(|request| Loss {
            request,
            kept_sectors,
        }));
    }
    Some(state)
}
