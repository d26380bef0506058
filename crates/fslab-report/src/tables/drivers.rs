//! The note below a table that names a subject which another file system's driver mounted.

use fslab_compare::Analysis;
use fslab_model::{CellId, DRIVER_FACT, DRIVER_OWNER_FACT, Subject};

use crate::{Table, wording};

/// The subjects of a run that another file system's driver mounted.
#[derive(Clone, Debug, Default)]
pub struct ForeignDrivers {
    /// By index in the plan: the subject, the driver, and the file system it was written for.
    by_subject: Vec<Option<(String, String, String)>>,
}

impl ForeignDrivers {
    /// Those that the trials recorded.
    pub fn of(analysis: &Analysis) -> Self {
        let of_subject = |(place, subject): (usize, &Subject)| {
            let trials = &analysis.run.trials;
            let own = trials
                .iter()
                .filter(|it| it.trial.cell == CellId::at(place));
            own.filter_map(|trial| {
                let of = |name: &str| trial.facts.get(name).cloned();
                let driver = (of(DRIVER_FACT)?, of(&format!("{DRIVER_FACT}.origin"))?);
                let owner = of(DRIVER_OWNER_FACT)?;
                let driver = format!("{} ({})", driver.0, driver.1);
                Some((subject.to_string(), driver, owner))
            })
            .next()
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
        let found = self.by_subject.iter().enumerate();
        let found = found.filter(|(place, _)| named.contains(place));
        let sentences: Vec<String> = found
            .filter_map(|(_, it)| it.as_ref())
            .map(|(subject, driver, owner)| {
                format!("{subject} is mounted by the driver {driver} of {owner}")
            })
            .collect();
        (!sentences.is_empty()).then(|| format!("{}.", wording::list(&sentences)))
    }
}
