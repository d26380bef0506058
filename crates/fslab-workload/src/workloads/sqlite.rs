//! Transactions of a real SQLite. What is timed: from the first BEGIN to the end of the last
//! COMMIT; the latencies are those of COMMIT. The table is filled before, and checked after.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::applications::{self, DatabaseParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Sqlite;

impl Definition for Sqlite {
    type Parameters = DatabaseParameters;
    const NAME: &'static str = "sqlite";
    const TITLE: &'static str = "transactions of SQLite, each committed";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &DatabaseParameters, context: &RunContext) -> Result<Finished, RunError> {
        applications::commit_transactions(parameters, context)
    }
}
