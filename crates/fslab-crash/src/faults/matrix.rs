//! The matrix of kinds of blocks and kinds of faults.

use std::collections::BTreeMap;

use crate::faults::{BlockKind, DiskFaultKind, JudgedCase};

/// A cell: the worst of its cases, in words, and how many are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixCell {
    /// The worst, in words.
    pub words: String,
    /// Cases with these words, and all cases that were reached.
    pub alike: usize,
    /// All cases that were reached.
    pub cases: usize,
    /// True if the worst is a failing one.
    pub is_failing: bool,
}

/// The cells by row and fault; rows are in the order of the kinds of blocks.
pub type Matrix<'a> = BTreeMap<(BlockKind, &'a str), BTreeMap<DiskFaultKind, MatrixCell>>;

/// The matrix of cases. Those whose fault was not reached are left out.
pub fn matrix(cases: &[JudgedCase]) -> Matrix<'_> {
    let mut found: BTreeMap<(BlockKind, &str), BTreeMap<DiskFaultKind, Vec<&JudgedCase>>> =
        BTreeMap::new();
    for case in cases.iter().filter(|it| it.hits > 0) {
        let row = found.entry((case.case.block, &case.case.row)).or_default();
        row.entry(case.case.fault.kind).or_default().push(case);
    }
    let rows = found.into_iter().map(|(row, cells)| {
        let cells = cells.into_iter().filter_map(|(fault, cases)| {
            let worst = cases.iter().max_by_key(|it| it.badness())?;
            let words = worst.words();
            let alike = cases.iter().filter(|it| it.words() == words).count();
            let cell = MatrixCell {
                alike,
                cases: cases.len(),
                is_failing: worst.is_failing(),
                words,
            };
            Some((fault, cell))
        });
        (row, cells.collect())
    });
    rows.collect()
}
