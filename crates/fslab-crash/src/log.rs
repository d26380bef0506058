//! The log of a disk.

use serde::{Deserialize, Serialize};

use crate::{BLOCK_BYTES, BlockId, Contents, DiskCache, LogDatabase, LogError, LogScript};

/// Bytes of a sector, which a disk writes entirely or not at all.
pub(crate) const SECTOR_BYTES: u64 = 512;

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

/// The window of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseWindow {
    /// Its name.
    pub name: String,
    /// From its first operation.
    pub begin_ns: u64,
    /// To the end of its last.
    pub end_ns: u64,
}

/// What a request does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Writes these blocks, one after the other; the last may be shorter.
    Write(Vec<BlockId>),
    /// Makes earlier writes durable.
    Flush,
    /// Makes sectors read as zeros.
    Discard,
}

/// A request to the disk. Times are virtual, as those of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest {
    /// What it does.
    pub kind: RequestKind,
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
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// True if it changes what sectors hold.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.kind != RequestKind::Flush
    }
}

impl DiskLog {
    /// From the begin to the end of the phase, or of everything.
    ///
    /// # Errors
    /// A phase that is not there, in words.
    pub fn window(&self, phase: Option<&str>) -> Result<(u64, u64), String> {
        let Some(name) = phase else {
            let end = self.requests.iter().map(|it| it.done_ns).max();
            return Ok((0, end.unwrap_or(0)));
        };
        let found = self.head.phases.iter().find(|phase| phase.name == name);
        let found = found.ok_or_else(|| {
            let names = self.head.phases.iter().map(|it| it.name.as_str());
            let names: Vec<&str> = names.collect();
            format!("the log has no phase '{name}', but {}", names.join(", "))
        })?;
        Ok((found.begin_ns, found.end_ns))
    }

    /// The cache of the disk.
    #[must_use]
    pub fn disk_cache(&self) -> DiskCache {
        match self.head.volatile_cache {
            true => DiskCache::Volatile,
            false => DiskCache::Durable,
        }
    }

    /// Checks what every user of a log relies on.
    ///
    /// # Errors
    /// `Request` for the first request that cannot be.
    pub fn ensure_sound(&self) -> Result<(), LogError> {
        let mut last_ns = 0;
        for (number, request) in (0..).zip(&self.requests) {
            let fault = |problem| Err(LogError::Request { number, problem });
            if request.submit_ns < last_ns {
                return fault("was submitted before the one before it");
            }
            if request.done_ns < request.submit_ns {
                return fault("ends before it began");
            }
            last_ns = request.submit_ns;
            let end = request.sector.checked_add(u64::from(request.sectors));
            if end.is_none_or(|end| end > self.head.sectors) {
                return fault("lies beyond the end of the disk");
            }
            match &request.kind {
                RequestKind::Flush if request.sectors > 0 => {
                    return fault("is a flush of sectors");
                }
                RequestKind::Write(_) | RequestKind::Discard if request.sectors == 0 => {
                    return fault("has no sectors");
                }
                RequestKind::Write(blocks) if !self.has_bytes_of(request, blocks) => {
                    return fault("has data of another length than its own");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// True if the blocks exist, are all full but the last, and are as long as the request.
    fn has_bytes_of(&self, request: &LogRequest, blocks: &[BlockId]) -> bool {
        let mut left = u64::from(request.sectors) * SECTOR_BYTES;
        for block in blocks {
            let bytes = self.contents.get(*block).map_or(0, <[u8]>::len) as u64;
            if bytes != left.min(BLOCK_BYTES as u64) || bytes == 0 {
                return false;
            }
            left -= bytes;
        }
        left == 0
    }
}
