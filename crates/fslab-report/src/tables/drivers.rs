//! The note below a table that names a subject which another file system's driver mounted.

use fslab_compare::Analysis;
use fslab_model::{CellId, DRIVER_FACT, DRIVER_OWNER_FACT, Subject};

use crate::{Table, wording};

/// The subjects of a run that another file system's driver mounted.
#[derive(Clone, Debug, Default)]
pub struct ForeignDrivers {
    /// By index in the plan: which driver mounted the subject, as a clause.
    by_subject: Vec<Option<String>>,
}

impl ForeignDrivers {
    /// Those that the trials recorded.
    pub fn of(analysis: &Analysis) -> Self {
        let of_subject = |(place, subject): (usize, &Subject)| {
            let trials = analysis.run.trials.iter();
            let mut own = trials.filter(|it| it.trial.cell == CellId::at(place));
            own.find_map(|trial| {
                let of = |name: &str| trial.facts.get(name);
                let (driver, owner) = (of(DRIVER_FACT)?, of(DRIVER_OWNER_FACT)?);
                let origin = of(&format!("{DRIVER_FACT}.origin"))?;
                Some(format!(
                    "{subject} is mounted by the driver {driver} ({origin}) of {owner}"
                ))
            })
        };
        let by_subject = analysis.subjects().enumerate().map(of_subject);
        Self {
            by_subject: by_subject.collect(),
        }
    }

    /// The table with a note on each such subject that it names.
    pub fn noted(&self, mut table: Table) -> Table {
        table.notes.extend(self.notes(&table));
        table
    }

    pub(crate) fn notes(&self, table: &Table) -> Option<String> {
        let cells = table.rows.iter().flatten().map(|cell| cell.subject);
        let named = table.columns.iter().map(|column| column.subject);
        let named: Vec<usize> = named.chain(cells).flatten().collect();
        let clauses = self.by_subject.iter().enumerate();
        let clauses: Vec<String> = clauses
            .filter(|(place, _)| named.contains(place))
            .filter_map(|(_, clause)| clause.clone())
            .collect();
        (!clauses.is_empty()).then(|| format!("{}.", wording::list(&clauses)))
    }
}
