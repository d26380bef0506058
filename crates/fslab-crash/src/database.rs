//! What a database must have after a power loss: every transaction whose commit was acknowledged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::StateFault;
use fslab_model::{FaultKind, PromiseId};

/// The name of a phase's list of commits: when each began, and how long it took.
pub const COMMIT_TIMES: &str = "commit-times";

/// Most commits of a database.
const COMMITS_MAX: usize = 1 << 20;

/// A database of a trial, whose transactions insert rows and do nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogDatabase {
    pub phase: String,
    /// The database's file, below the root.
    pub file: String,
    /// Rows that were committed before the first of these transactions.
    pub rows_before: u64,
    /// Rows that each transaction inserts.
    pub rows: u64,
    /// Bytes of a row's data.
    pub row_bytes: u64,
    /// Whether an acknowledged commit is to be durable; otherwise only complete.
    pub is_durable: bool,
    /// Begin and end of each commit, in order.
    pub commits: Vec<(u64, u64)>,
}

/// A database as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseReport {
    /// Its rows; `None` if they cannot be counted.
    pub rows: Option<u64>,
    /// What is wrong with it; empty if nothing is.
    pub errors: String,
}

impl LogDatabase {
    /// Checks what its users rely on.
    pub fn ensure_sound(&self) -> Result<(), String> {
        let is_in_order = self.commits.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        let ends_after = self.commits.iter().all(|(begin, end)| begin <= end);
        let total = (self.commits.len() as u64)
            .checked_mul(self.rows)
            .and_then(|rows| rows.checked_add(self.rows_before))
            .and_then(|rows| rows.checked_mul(self.row_bytes));
        match () {
            () if self.commits.is_empty() || self.commits.len() > COMMITS_MAX => {
                Err(format!("the database {} has no commits", self.file))
            }
            () if !is_in_order || !ends_after => {
                Err(format!("commits of {} end before they began", self.file))
            }
            () if self.rows == 0 || total.is_none() => {
                Err(format!("the rows of {} cannot be counted", self.file))
            }
            () => Ok(()),
        }
    }

    /// The time in which power fails: from the first commit to the last.
    pub fn window(&self) -> (u64, u64) {
        let first = self.commits.first().map_or(0, |it| it.0);
        (first, self.commits.last().map_or(first, |it| it.1))
    }

    /// What is wrong with the database when power fails at `at_ns`; `found` is `None` if its file
    /// is gone.
    pub fn findings(&self, at_ns: u64, found: Option<&DatabaseReport>) -> Vec<StateFault> {
        if at_ns < self.window().0 {
            return Vec::new();
        }
        let acknowledged = self.commits.partition_point(|it| it.1 <= at_ns) as u64;
        let least = self.rows_before + acknowledged * self.rows;
        let fault = |fault, rows: u64, promise| StateFault {
            fault,
            promise,
            name: self.file.clone(),
            bytes: rows * self.row_bytes,
        };
        let Some(found) = found else {
            return vec![fault(FaultKind::Lost, least, PromiseId::Commit)];
        };
        let mut findings = Vec::new();
        let is_torn = found.rows.is_some_and(|rows| {
            rows > self.rows_before && !(rows - self.rows_before).is_multiple_of(self.rows)
        });
        if !found.errors.is_empty() || is_torn {
            findings.push(fault(FaultKind::Garbage, 0, PromiseId::AtomicCommit));
        }
        match found.rows {
            None => findings.push(fault(FaultKind::Unreadable, 0, PromiseId::AtomicCommit)),
            Some(rows) if rows < self.rows_before || self.is_durable && rows < least => {
                findings.push(fault(FaultKind::Lost, least - rows, PromiseId::Commit));
            }
            Some(_) => {}
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(is_durable: bool) -> LogDatabase {
        LogDatabase {
            phase: "commits".into(),
            file: "db".into(),
            rows_before: 10,
            rows: 2,
            row_bytes: 100,
            is_durable,
            commits: vec![(100, 110), (120, 130), (140, 150)],
        }
    }

    fn report(rows: u64) -> DatabaseReport {
        DatabaseReport {
            rows: Some(rows),
            errors: String::new(),
        }
    }

    fn kinds(of: &LogDatabase, at_ns: u64, found: Option<&DatabaseReport>) -> Vec<FaultKind> {
        let found = of.findings(at_ns, found);
        found.iter().map(|it| it.fault).collect()
    }

    #[test]
    fn an_acknowledged_commit_must_be_there_and_one_that_had_begun_may_be() {
        let of = database(true);
        assert_eq!(of.ensure_sound(), Ok(()));
        assert_eq!(kinds(&of, 99, None), [], "nothing had been promised");
        for rows in [12, 14] {
            assert_eq!(kinds(&of, 125, Some(&report(rows))), []);
        }
        assert_eq!(kinds(&of, 125, Some(&report(10))), [FaultKind::Lost]);
        assert_eq!(of.findings(135, Some(&report(10)))[0].bytes, 400);
        assert_eq!(kinds(&of, 125, None), [FaultKind::Lost]);
    }

    #[test]
    fn half_of_a_transaction_is_garbage_and_without_full_syncs_commits_may_be_lost() {
        let of = database(false);
        assert_eq!(kinds(&of, 135, Some(&report(10))), []);
        assert_eq!(kinds(&of, 135, Some(&report(13))), [FaultKind::Garbage]);
        assert_eq!(kinds(&of, 135, Some(&report(8))), [FaultKind::Lost]);
        let unreadable = DatabaseReport {
            rows: None,
            errors: "malformed".into(),
        };
        let found = kinds(&of, 135, Some(&unreadable));
        assert_eq!(found, [FaultKind::Garbage, FaultKind::Unreadable]);
    }

    #[test]
    fn commits_that_overlap_are_refused() {
        let mut of = database(true);
        of.commits[1].0 = 105;
        assert!(of.ensure_sound().is_err());
        of.commits.clear();
        assert!(of.ensure_sound().is_err());
    }
}
