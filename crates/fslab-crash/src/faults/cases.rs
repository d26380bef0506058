//! Which faults are tried: of each kind of block and each kind of fault a few, among the blocks
//! that a run without faults has read or written.

use schemars::JsonSchema;
use serde::Serialize;

use crate::faults::{AccessKind, BlockKind, BlockUnit, DiskAccess, DiskFault, DiskFaultKind};

/// Blocks of a layout that is not known, which are tried by the order of their first access.
const ORDINALS_MAX: usize = 8;

/// Which cases are wanted.
#[derive(Clone, Debug)]
pub struct CaseChoice {
    /// Kinds of faults; empty for all.
    pub faults: Vec<DiskFaultKind>,
    /// Kinds of blocks; empty for all.
    pub blocks: Vec<BlockKind>,
    /// Different blocks of a cell.
    pub blocks_per_cell: usize,
    /// The most cases.
    pub cases: usize,
    pub disk_sectors: u64,
    /// True if the layout of the file system is not known.
    pub is_plain: bool,
}

/// A case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultCase {
    /// What the block is for.
    pub block: BlockKind,
    /// The row of the matrix: the kind, or the place in the order of access.
    pub row: String,
    /// The name that the format has for the block.
    pub detail: String,
    /// The fault.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub fault: DiskFault,
    /// Accesses that the fault could happen to in the run without faults.
    pub expected_accesses: u64,
}

fn as_text<S: serde::Serializer>(fault: &DiskFault, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(fault)
}

impl FaultCase {
    /// The case of a fault that was named; its block is that of the run without faults.
    pub fn of_fault(
        fault: DiskFault,
        units: &[(BlockUnit, Vec<AccessKind>)],
        accesses: &[DiskAccess],
    ) -> Self {
        let end = fault.sector.saturating_add(fault.sectors);
        let has = |unit: &&(BlockUnit, Vec<AccessKind>)| {
            unit.0.sector < end && fault.sector < unit.0.sector + unit.0.sectors
        };
        let (block, detail) = match units.iter().find(has) {
            _ if fault.kind == DiskFaultKind::FlushError => (BlockKind::Cache, "flush"),
            Some((unit, _)) => (unit.kind, unit.detail),
            None => (BlockKind::Other, "not accessed"),
        };
        Self {
            block,
            row: block.as_str().to_owned(),
            detail: detail.to_owned(),
            expected_accesses: expected(fault.kind, fault.sector, end, accesses),
            fault,
        }
    }
}

/// Accesses that a fault of sectors could happen to.
fn expected(kind: DiskFaultKind, first: u64, end: u64, accesses: &[DiskAccess]) -> u64 {
    let is_about = |it: &&DiskAccess| {
        let is_there = it.sector < end && first < it.sector.saturating_add(it.sectors);
        it.kind == kind.access() && (is_there || it.kind == AccessKind::Flush)
    };
    accesses.iter().filter(is_about).count() as u64
}

/// A block with its row.
struct Candidate<'a> {
    unit: &'a BlockUnit,
    accesses: &'a [AccessKind],
    row: String,
}

/// The cases that were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenCases {
    pub cases: Vec<FaultCase>,
    /// How many more there are than [`CaseChoice::cases`].
    pub left_out: usize,
}

/// The cases, by block and fault: each access that fails once, then all.
pub fn choose_cases(
    units: &[(BlockUnit, Vec<AccessKind>)],
    accesses: &[DiskAccess],
    choice: &CaseChoice,
) -> ChosenCases {
    let mut cases = Vec::new();
    let candidates = candidates(units, choice);
    let wants = |kind: &DiskFaultKind| choice.faults.is_empty() || choice.faults.contains(kind);
    let mut rows: Vec<(BlockKind, &str)> = Vec::new();
    for candidate in &candidates {
        let row = (candidate.unit.kind, candidate.row.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row.0);
    for (kind, row) in rows {
        let own = candidates
            .iter()
            .filter(|it| (it.unit.kind, &*it.row) == (kind, row));
        let own: Vec<&Candidate> = own.collect();
        for fault in DiskFaultKind::ALL.iter().copied().filter(wants) {
            for candidate in chosen(&own, fault.access(), choice.blocks_per_cell) {
                cases.extend(of_block(candidate, fault, accesses, choice));
            }
        }
    }
    let wants_cache = choice.blocks.is_empty() || choice.blocks.contains(&BlockKind::Cache);
    if wants_cache && wants(&DiskFaultKind::FlushError) {
        cases.extend(of_cache(accesses));
    }
    let left_out = cases.len().saturating_sub(choice.cases);
    cases.truncate(choice.cases);
    ChosenCases { cases, left_out }
}

fn candidates<'a>(
    units: &'a [(BlockUnit, Vec<AccessKind>)],
    choice: &CaseChoice,
) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    let mut others = 0;
    for (unit, accesses) in units {
        if !choice.blocks.is_empty() && !choice.blocks.contains(&unit.kind) {
            continue;
        }
        let mut row = unit.kind.as_str().to_owned();
        if choice.is_plain && unit.kind == BlockKind::Other {
            others += 1;
            if others > ORDINALS_MAX {
                continue;
            }
            row = format!("block {others}");
        }
        found.push(Candidate {
            unit,
            accesses,
            row,
        });
    }
    found
}

/// Blocks of a row that are accessed so: of different names first, then by order.
fn chosen<'a, 'b>(
    own: &[&'a Candidate<'b>],
    access: AccessKind,
    count: usize,
) -> Vec<&'a Candidate<'b>> {
    let mut left = own.to_vec();
    left.retain(|it| it.accesses.contains(&access));
    let mut found: Vec<&Candidate> = Vec::new();
    for is_new_name in [true, false] {
        for candidate in &left {
            let is_known = found.iter().any(|it| it.unit == candidate.unit);
            let has_name = found
                .iter()
                .any(|it| it.unit.detail == candidate.unit.detail);
            if found.len() < count && !is_known && !(is_new_name && has_name) {
                found.push(candidate);
            }
        }
    }
    found
}

fn of_block(
    candidate: &Candidate,
    kind: DiskFaultKind,
    accesses: &[DiskAccess],
    choice: &CaseChoice,
) -> Vec<FaultCase> {
    let unit = candidate.unit;
    let end = unit.sector + unit.sectors;
    let length = unit.sectors.cast_signed();
    let argument = match kind {
        // To the next block, or to the one before it at the end of the disk.
        DiskFaultKind::MisdirectedWrite if end + unit.sectors <= choice.disk_sectors => length,
        DiskFaultKind::MisdirectedWrite => -length,
        // A block of one sector is not shorn: there it is as a lost write.
        DiskFaultKind::ShornWrite if unit.sectors == 1 => return Vec::new(),
        DiskFaultKind::ShornWrite => length / 2,
        _ => 0,
    };
    let expected = expected(kind, unit.sector, end, accesses);
    let case = |(after, is_permanent)| FaultCase {
        block: unit.kind,
        row: candidate.row.clone(),
        detail: unit.detail.to_owned(),
        fault: DiskFault {
            kind,
            sector: unit.sector,
            sectors: unit.sectors,
            after,
            is_permanent,
            argument,
        },
        expected_accesses: expected,
    };
    // The first access, the last, and all.
    let mut times = vec![(0, false)];
    times.extend((expected > 1).then(|| (expected - 1, false)));
    times.push((0, true));
    let cases = times.into_iter().map(case);
    let cases = cases.filter(|it| it.fault.ensure_within(choice.disk_sectors).is_ok());
    cases.collect()
}

/// The first, the second and the last flush, and all.
fn of_cache(accesses: &[DiskAccess]) -> Vec<FaultCase> {
    let flushes = expected(DiskFaultKind::FlushError, 0, 0, accesses);
    let mut faults = Vec::new();
    for after in [0, 1, flushes.saturating_sub(1)] {
        if after < flushes && !faults.contains(&(after, false)) {
            faults.push((after, false));
        }
    }
    faults.extend((flushes > 0).then_some((0, true)));
    let case = |(after, is_permanent)| FaultCase {
        block: BlockKind::Cache,
        row: BlockKind::Cache.as_str().to_owned(),
        detail: "flush".to_owned(),
        fault: DiskFault {
            kind: DiskFaultKind::FlushError,
            sector: 0,
            sectors: 0,
            after,
            is_permanent,
            argument: 0,
        },
        expected_accesses: flushes,
    };
    faults.into_iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(kind: BlockKind, detail: &'static str, sector: u64, sectors: u64) -> BlockUnit {
        BlockUnit {
            kind,
            detail,
            sector,
            sectors,
        }
    }

    fn choice() -> CaseChoice {
        CaseChoice {
            faults: Vec::new(),
            blocks: Vec::new(),
            blocks_per_cell: 2,
            cases: 1000,
            disk_sectors: 1000,
            is_plain: false,
        }
    }

    fn access(kind: AccessKind, sector: u64, sectors: u64) -> DiskAccess {
        DiskAccess {
            kind,
            is_faulty: false,
            sector,
            sectors,
        }
    }

    #[test]
    fn blocks_of_other_names_come_first_and_only_accesses_that_happen_fail() {
        let read = vec![AccessKind::Read];
        let units = [
            (
                unit(BlockKind::Journal, "commit", 8, 8),
                vec![AccessKind::Write],
            ),
            (
                unit(BlockKind::Journal, "commit", 16, 8),
                vec![AccessKind::Write],
            ),
            (
                unit(BlockKind::Journal, "descriptor", 24, 8),
                vec![AccessKind::Write],
            ),
            (unit(BlockKind::Superblock, "superblock", 0, 8), read),
        ];
        let accesses = [
            access(AccessKind::Write, 0, 32),
            access(AccessKind::Flush, 0, 0),
        ];
        let ChosenCases { cases, left_out } = choose_cases(&units, &accesses, &choice());
        assert_eq!(left_out, 0);
        let texts: Vec<String> = cases.iter().map(|it| it.fault.to_string()).collect();
        assert_eq!(texts[..2], ["read-error@0+8#0", "read-error@0+8#0!"]);
        assert!(texts.contains(&"lost-write@24+8#0".to_owned()));
        assert!(!texts.iter().any(|it| it.contains("@16+8")), "{texts:?}");
        assert!(!texts.iter().any(|it| it.starts_with("write-error@0+")));
        assert_eq!(
            texts[texts.len() - 2..],
            ["flush-error#0", "flush-error#0!"]
        );
        let lost = cases
            .iter()
            .find(|it| it.fault.kind == DiskFaultKind::LostWrite);
        assert_eq!(lost.map(|it| it.expected_accesses), Some(1));
    }

    #[test]
    fn blocks_of_an_unknown_layout_are_rows_by_their_order() {
        let other = |sector| {
            (
                unit(BlockKind::Other, "other", sector, 8),
                vec![AccessKind::Read],
            )
        };
        let units: Vec<_> = (0..20).map(|it| other(it * 8)).collect();
        let choice = CaseChoice {
            is_plain: true,
            faults: vec![DiskFaultKind::ReadError],
            ..choice()
        };
        let cases = choose_cases(&units, &[], &choice).cases;
        assert_eq!(cases.len(), 2 * ORDINALS_MAX);
        assert_eq!((&*cases[0].row, &*cases[2].row), ("block 1", "block 2"));
        let few = choose_cases(&units, &[], &CaseChoice { cases: 3, ..choice });
        assert_eq!((few.cases.len(), few.left_out), (3, 2 * ORDINALS_MAX - 3));
    }
}
