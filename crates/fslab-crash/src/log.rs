//! The log of a disk.

use fslab_model::{Failure, FailureKind, Subject};
use serde::{Deserialize, Serialize};

use super::contents::SECTOR_BYTES;
use crate::{BLOCK_BYTES, BlockId, BlockList, Contents, LogDatabase, LogError, LogScript};

/// The longest write: more than any disk profile has.
pub(crate) const WRITE_SECTORS_MAX: u32 = 1 << 17;
/// The largest disk, whose bytes a file can have.
const DISK_SECTORS_MAX: u64 = i64::MAX as u64 / SECTOR_BYTES;

/// What a log says of its trial and its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    /// The subject, as text.
    pub subject: String,
    /// The digest of the lab in which it was recorded.
    pub lab: String,
    /// The name of the disk's profile.
    pub disk: String,
    /// Size of the disk.
    pub sectors: u64,
    /// Whether the disk has a volatile cache.
    pub volatile_cache: bool,
    /// The phases with their windows, in order.
    pub phases: Vec<PhaseWindow>,
    /// The scripts of operations among them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<LogScript>,
    /// The databases among them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<LogDatabase>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseWindow {
    pub name: String,
    /// From its first operation.
    pub begin_ns: u64,
    /// To the end of its last.
    pub end_ns: u64,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Writes its blocks, one after the other; the last may be shorter.
    Write,
    /// Makes earlier writes durable.
    Flush,
    /// Makes sectors read as zeros.
    Discard,
}

/// A request to the disk. Times are virtual, as those of the trace. A log has millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRequest {
    /// What it does.
    pub kind: RequestKind,
    /// The blocks of a write, in the contents of its log; of other requests none.
    pub blocks: BlockList,
    /// First sector; 0 for a flush.
    pub sector: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u32,
    /// When it was submitted.
    pub submit_ns: u64,
    /// When it completed.
    pub done_ns: u64,
    /// Whether it was to be durable when it completes (FUA).
    pub fua: bool,
}

/// Everything that changed a disk, in the order of submission.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskLog {
    /// Of the trial and the disk.
    pub head: LogHead,
    /// The requests without reads, by the time of their submission.
    pub requests: Vec<LogRequest>,
    /// The data of all writes.
    pub contents: Contents,
}

impl LogRequest {
    /// The sector after the last.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// True if it changes what sectors hold.
    pub fn changes(&self) -> bool {
        self.kind != RequestKind::Flush
    }
}

/// A log without the data of its writes, for users of its requests and times alone.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOutline {
    /// Of the trial and the disk.
    pub head: LogHead,
    /// The requests without reads, by the time of their submission.
    pub requests: Vec<LogRequest>,
}

impl LogHead {
    /// The subject.
    ///
    /// # Errors
    /// Bad input: a log is untrusted.
    pub fn parsed_subject(&self) -> Result<Subject, Failure> {
        let subject = self.subject.parse();
        subject.map_err(|error| Failure::of_error(FailureKind::BadInput, &error))
    }

    /// From the begin to the end of the phase, or of all `requests`.
    pub fn window(
        &self,
        phase: Option<&str>,
        requests: &[LogRequest],
    ) -> Result<(u64, u64), String> {
        let Some(name) = phase else {
            let end = requests.iter().map(|it| it.done_ns).max();
            return Ok((0, end.unwrap_or(0)));
        };
        let found = self.phases.iter().find(|phase| phase.name == name);
        let found = found.ok_or_else(|| {
            let names = self.phases.iter().map(|it| it.name.as_str());
            let names: Vec<&str> = names.collect();
            format!(
                "the log has no phase '{name}'; its phases are {}",
                names.join(", ")
            )
        })?;
        Ok((found.begin_ns, found.end_ns))
    }

    pub fn disk_cache(&self) -> DiskCache {
        match self.volatile_cache {
            true => DiskCache::Volatile,
            false => DiskCache::Durable,
        }
    }
}

impl DiskLog {
    /// Checks what every user of a log relies on.
    ///
    /// # Errors
    /// `Request` for the first request that cannot be; `TooLarge` for a disk that cannot be.
    pub fn ensure_sound(&self) -> Result<(), LogError> {
        let data = |request: &LogRequest| {
            let blocks = self.contents.list(request.blocks);
            has_bytes_of(request, blocks, |block| {
                self.contents.get(block).map_or(0, <[u8]>::len)
            })
        };
        ensure_sound(&self.head, &self.requests, data)
    }
}

/// Checks what every user of a log relies on; `has_data` says whether the data of a write is there
/// and as long as the write.
pub(crate) fn ensure_sound(
    head: &LogHead,
    requests: &[LogRequest],
    has_data: impl Fn(&LogRequest) -> bool,
) -> Result<(), LogError> {
    if head.sectors > DISK_SECTORS_MAX {
        return Err(LogError::TooLarge {
            what: "more sectors of its disk",
            limit: DISK_SECTORS_MAX,
        });
    }
    let mut last_ns = 0;
    for (number, request) in (0..).zip(requests) {
        let fault = |problem| Err(LogError::Request { number, problem });
        if request.submit_ns < last_ns {
            return fault("was submitted before the previous one");
        }
        if request.done_ns < request.submit_ns {
            return fault("ends before it began");
        }
        last_ns = request.submit_ns;
        let end = request.sector.checked_add(u64::from(request.sectors));
        if end.is_none_or(|end| end > head.sectors) {
            return fault("lies beyond the end of the disk");
        }
        match request.kind {
            RequestKind::Flush if request.sectors > 0 => return fault("is a flush with sectors"),
            RequestKind::Write | RequestKind::Discard if request.sectors == 0 => {
                return fault("has no sectors");
            }
            RequestKind::Write if request.sectors > WRITE_SECTORS_MAX => {
                return fault("is too long");
            }
            RequestKind::Write if !has_data(request) => {
                return fault("has data of the wrong length");
            }
            _ => {}
        }
    }
    Ok(())
}

/// True if the blocks exist, are all full but the last, and are as long as the request.
pub(crate) fn has_bytes_of(
    request: &LogRequest,
    blocks: &[BlockId],
    bytes_of: impl Fn(BlockId) -> usize,
) -> bool {
    let mut left = u64::from(request.sectors) * SECTOR_BYTES;
    for block in blocks {
        let bytes = bytes_of(*block) as u64;
        if bytes != left.min(BLOCK_BYTES as u64) || bytes == 0 {
            return false;
        }
        left -= bytes;
    }
    left == 0
}

/// Whether the disk loses what its cache holds when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskCache {
    /// It does.
    Volatile,
    /// It does not: what has completed is durable.
    Durable,
}
