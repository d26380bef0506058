//! The file with which a host plans the faults of a guest's disk, and in which it counts accesses.
//! The format is that of `crates/fslab-venue/preload/faults.c`.

use serde::Serialize;

use crate::faults::{AccessKind, DiskFault};

/// Bytes of the head and of a rule.
const HEAD_BYTES: usize = 64;
/// Where the list of accesses begins.
const LIST_OFFSET: usize = 4096;
/// Bytes of an access in the list.
const ACCESS_BYTES: usize = 24;
/// Most rules of a plan.
const RULES_MAX: usize = (LIST_OFFSET - HEAD_BYTES) / HEAD_BYTES;
/// Place of the word that arms a plan, and of the counters of a rule in it.
const ARMED_AT: usize = 8;
const COUNTERS_AT: usize = 48;

/// An access while a plan was armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DiskAccess {
    /// What it was.
    pub kind: AccessKind,
    /// True if a fault of the plan was done to it.
    pub is_faulty: bool,
    /// First sector; 0 for a flush.
    pub sector: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u64,
}

/// What a disk counted of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCounts {
    /// Accesses of the kind that the fault happens to, to its sectors.
    pub accesses: u64,
    /// Those that failed.
    pub hits: u64,
}

/// What a disk did while a plan was armed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanResult {
    /// Of each fault of the plan, in order.
    pub counts: Vec<FaultCounts>,
    /// The accesses, in order.
    pub accesses: Vec<DiskAccess>,
    /// True if there were more accesses than the list has room for.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// The faults; the first that is due is done to an access.
    pub faults: Vec<DiskFault>,
}

impl FaultPlan {
    /// Accesses that are listed: of more, only the number is known.
    pub const LISTED_MAX: usize = 1 << 16;
    /// Bytes of a plan's file.
    pub const FILE_BYTES: u64 = (LIST_OFFSET + Self::LISTED_MAX * ACCESS_BYTES) as u64;

    /// The beginning of the file, armed or not, with all counters at 0.
    ///
    /// # Panics
    /// With more faults than a plan has room for.
    pub fn bytes(&self, is_armed: bool) -> Vec<u8> {
        assert!(self.faults.len() <= RULES_MAX, "a plan has room for 63");
        let mut bytes = b"FSLFAULT".to_vec();
        bytes.extend(u32::from(is_armed).to_ne_bytes());
        bytes.extend((self.faults.len() as u32).to_ne_bytes());
        bytes.extend(0_u64.to_ne_bytes());
        bytes.extend((Self::LISTED_MAX as u64).to_ne_bytes());
        bytes.resize(HEAD_BYTES, 0);
        for fault in &self.faults {
            bytes.extend(u64::from(fault.kind.code()).to_le_bytes());
            let times = u64::from(!fault.is_permanent);
            let end = fault.sector + fault.sectors;
            for number in [fault.sector, end, fault.after, times] {
                bytes.extend(number.to_ne_bytes());
            }
            bytes.extend(fault.argument.to_ne_bytes());
            bytes.extend([0; 16]);
        }
        bytes.resize(LIST_OFFSET, 0);
        bytes
    }

    /// The place and the bytes of the word that disarms a plan.
    pub fn disarmed() -> (u64, [u8; 4]) {
        (ARMED_AT as u64, [0; 4])
    }

    /// What a disk has written into the file of this plan.
    pub fn result(&self, file: &[u8]) -> PlanResult {
        let counts = (0..self.faults.len()).map(|rule| {
            let at = HEAD_BYTES * (1 + rule) + COUNTERS_AT;
            FaultCounts {
                accesses: number(file, at),
                hits: number(file, at + 8),
            }
        });
        let all = number(file, 16);
        let listed = usize::try_from(all).unwrap_or(usize::MAX);
        let listed = listed.min(Self::LISTED_MAX);
        PlanResult {
            counts: counts.collect(),
            accesses: (0..listed).filter_map(|it| access(file, it)).collect(),
            is_cut: all > listed as u64,
        }
    }
}

/// The number at a place; 0 beyond the end.
fn number(file: &[u8], at: usize) -> u64 {
    let bytes = file.get(at..at + 8).and_then(|it| it.try_into().ok());
    bytes.map_or(0, u64::from_ne_bytes)
}

fn access(file: &[u8], index: usize) -> Option<DiskAccess> {
    let at = LIST_OFFSET + index * ACCESS_BYTES;
    let word = |at: usize| {
        let bytes = file.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let kind = match word(at)? {
        0 => AccessKind::Read,
        1 => AccessKind::Write,
        2 => AccessKind::Flush,
        3 => AccessKind::Discard,
        _ => return None,
    };
    Some(DiskAccess {
        kind,
        is_faulty: word(at + 4)? > 0,
        sector: number(file, at + 8),
        sectors: number(file, at + 16),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_accesses_are_read_from_where_the_disk_writes_them() {
        let plan = FaultPlan {
            faults: vec![
                "read-error@8+8#0".parse().expect("a fault"),
                "flush-error#2!".parse().expect("a fault"),
            ],
        };
        let mut file = plan.bytes(true);
        assert_eq!(file.len(), LIST_OFFSET);
        file[16] = 2;
        file[64 + 64 + 48] = 7;
        file[64 + 64 + 56] = 5;
        file.extend([1, 0, 0, 0, 2, 0, 0, 0]);
        file.extend(24_u64.to_ne_bytes());
        file.extend(8_u64.to_ne_bytes());
        file.extend([2, 0, 0, 0, 0, 0, 0, 0]);
        file.extend([0; 16]);
        let found = plan.result(&file);
        assert_eq!(found.counts[0], FaultCounts::default());
        assert_eq!((found.counts[1].accesses, found.counts[1].hits), (7, 5));
        assert_eq!(found.accesses.len(), 2);
        assert_eq!(
            found.accesses[0],
            DiskAccess {
                kind: AccessKind::Write,
                is_faulty: true,
                sector: 24,
                sectors: 8,
            }
        );
        assert!(!found.is_cut);
        assert_eq!(
            plan.result(&[]),
            PlanResult {
                counts: vec![FaultCounts::default(); 2],
                ..PlanResult::default()
            }
        );
    }
}
