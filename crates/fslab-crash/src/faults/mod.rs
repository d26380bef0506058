//! Failing disks: which accesses fail and how, what the blocks of a file system are for, and what
//! a file system made of a fault.
//!
//! ```text
//!     accesses of a run without faults --units_of--> kinds of blocks --choose_cases--> FaultCase
//!     DiskFault --FaultPlan--> a file that the guest's disk obeys and counts in
//!     FaultyReport + StateOutcome --judge--> JudgedCase --> cells of a matrix
//! ```
//!
//! Pure but for the image that is read: no guest, no file system. The disk itself is
//! `crates/fslab-venue/preload/faults.c`.

mod blocks;
mod case_outcome;
mod cases;
mod claims;
mod fault;
mod judge_case;
mod judged_case;
mod matrix;
mod plan;

pub use blocks::{BlockKind, BlockMap, BlockUnit, DiskImage, units_of};
pub use case_outcome::{Aftermath, CaseOutcome, Detection, KernelEnd, Recovery};
pub use cases::{CaseChoice, ChosenCases, FaultCase, choose_cases};
pub use claims::{CaseClaim, CaseClaims, CaseVerdict};
pub use fault::{AccessKind, DiskFault, DiskFaultKind, ParseFaultError};
pub use judge_case::judge_case;
pub use judged_case::JudgedCase;
pub use matrix::{Matrix, MatrixCell, matrix};
pub use plan::{DiskAccess, FaultCounts, FaultPlan, PlanResult};
