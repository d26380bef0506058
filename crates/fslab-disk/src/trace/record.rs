//! A record of a trace and its binary format.

/// The first bytes of a trace.
pub(super) const MAGIC: [u8; 8] = *b"simdisk\0";
/// The supported version.
pub(super) const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 16;
pub(super) const RECORD_BYTES: usize = 96;

/// The operation; traces have the model's numbers.
pub use fslab_simdisk_sys::DiskOp as Op;

/// The flags of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// A FUA write: on the media when it completes.
    pub const FUA: Self = Self(1);
    /// A read from the disk's cache, or a write that completed in it.
    pub const CACHED: Self = Self(1 << 8);
    /// Metadata, as flagged by the file system.
    pub const METADATA: Self = Self(1 << 16);
    /// Synchronous: a thread waits for it.
    pub const SYNC: Self = Self(1 << 17);
    pub const READAHEAD: Self = Self(1 << 18);
    /// A flush before a write.
    pub const PREFLUSH: Self = Self(1 << 19);

    /// Whether all flags of `others` are set.
    pub fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A completed request, or background work of the disk. Times are those of CLOCK_MONOTONIC in the
/// guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// When it was submitted.
    pub submit_ns: u64,
    /// When the disk began to serve it.
    pub start_ns: u64,
    /// When it completed.
    pub done_ns: u64,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// The operation.
    pub op: Op,
    /// The member of an array that served it; 255 for several.
    pub member: u8,
    /// Queue depth at submission, this request included; 0 for background work.
    pub depth: u16,
    pub flags: Flags,
    /// Parts of the time from start to completion: command, seek, rotation, transfer, cache; the
    /// rest is waiting.
    pub part_ns: [u64; 5],
}

impl Record {
    /// The sector after the last.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// The record in the file's format.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        let times = [self.submit_ns, self.start_ns, self.done_ns, self.sector];
        for (index, value) in times.iter().enumerate() {
            put(8 * index, &value.to_le_bytes());
        }
        put(32, &self.sectors.to_le_bytes());
        put(36, &[self.op.code(), self.member]);
        put(38, &self.depth.to_le_bytes());
        put(40, &self.flags.0.to_le_bytes());
        for (index, value) in self.part_ns.iter().enumerate() {
            put(48 + 8 * index, &value.to_le_bytes());
        }
        bytes
    }

    /// Reads what [`Record::to_bytes`] wrote.
    pub(super) fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Result<Self, &'static str> {
        let op = Op::from_code(bytes[36]).ok_or("is of an unknown kind")?;
        let record = Self {
            submit_ns: number(bytes, 0),
            start_ns: number(bytes, 8),
            done_ns: number(bytes, 16),
            sector: number(bytes, 24),
            sectors: u32::from_le_bytes(part(bytes, 32)),
            op,
            member: bytes[37],
            depth: u16::from_le_bytes(part(bytes, 38)),
            flags: Flags(u32::from_le_bytes(part(bytes, 40))),
            part_ns: std::array::from_fn(|index| number(bytes, 48 + 8 * index)),
        };
        if record.submit_ns > record.start_ns || record.start_ns > record.done_ns {
            return Err("ends before it began");
        }
        let parts = record
            .part_ns
            .iter()
            .try_fold(0_u64, |sum, part| sum.checked_add(*part));
        if parts.is_none_or(|parts| parts > record.done_ns - record.start_ns) {
            return Err("has parts that take longer than the request");
        }
        if record
            .sector
            .checked_add(u64::from(record.sectors))
            .is_none()
        {
            return Err("has a sector beyond the 64-bit range");
        }
        Ok(record)
    }
}

fn part<const N: usize>(bytes: &[u8; RECORD_BYTES], at: usize) -> [u8; N] {
    let part = bytes[at..at + N].try_into();
    part.expect("a slice of N bytes is an array of N bytes")
}

fn number(bytes: &[u8; RECORD_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(part(bytes, at))
}
