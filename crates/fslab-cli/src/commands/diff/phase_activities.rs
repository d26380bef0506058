//! What the phases of an import do, as `fslab import --dry-run` prints it.

use fslab_exchange::{Activity, PhaseContent, content};
use fslab_model::RunRecord;
use fslab_report::{Column, Table, TableCell};
use schemars::JsonSchema;
use serde::Serialize;

/// A run that is not stored.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseActivities {
    run: String,
    title: String,
    subjects: Vec<String>,
    trials: usize,
    phases: Vec<PhaseActivity>,
}

/// A phase; points of a sweep with the same conditions but size and number are one.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct PhaseActivity {
    phase: String,
    points: usize,
    /// Null if there is no common word for it: it meets a phase of its name, or by --map.
    does: Option<&'static str>,
    /// The workload of fslab that does it.
    workload: Option<&'static str>,
    conditions: Vec<String>,
}

impl PhaseActivities {
    pub(crate) fn of(run: &RunRecord) -> Self {
        let compared = fslab_exchange::as_compared(run);
        let plan = &compared.header.plan;
        let mut phases: Vec<PhaseActivity> = Vec::new();
        for spec in &plan.phases {
            let name = spec.study_phase();
            if let Some(known) = phases.iter_mut().find(|known| known.phase == name) {
                known.points += 1;
                known.conditions.clear();
                continue;
            }
            let PhaseContent {
                activity,
                conditions,
            } = content(plan, spec);
            phases.push(PhaseActivity {
                phase: name.to_owned(),
                points: 1,
                does: activity.map(Activity::title),
                workload: activity.map(Activity::workload),
                conditions: conditions.in_words(),
            });
        }
        let subjects = plan.subjects.iter();
        Self {
            run: run.header.run.to_string(),
            title: plan.title.clone(),
            subjects: subjects.map(|it| it.subject.to_string()).collect(),
            trials: run.trials.len(),
            phases,
        }
    }

    pub(crate) fn table(&self) -> Table {
        let rows = self.phases.iter().map(|phase| {
            let name = TableCell::new(&phase.phase);
            vec![
                match phase.points {
                    1 => name,
                    points => name.detail(format!("{points} points")),
                },
                TableCell::optional(phase.does),
                TableCell::optional(phase.workload),
                TableCell::new(phase.conditions.join("; ")),
            ]
        });
        Table {
            caption: format!(
                "{}, not stored: {} of {}",
                self.title,
                crate::terminal::screen::counted(self.trials, "trial"),
                self.subjects.join(", ")
            ),
            columns: vec![
                Column::left("Phase"),
                Column::left("What it does"),
                Column::left("Workload that does the same"),
                Column::left("Known conditions"),
            ],
            rows: rows.collect(),
            notes: vec![
                "A phase is compared with the phase of fslab that does the same; `fslab diff \
                 IMPORT RUN --dry-run` shows it. If it is not known what a phase does, it is \
                 compared with the phase of its name, or by --map."
                    .to_owned(),
            ],
        }
    }
}
