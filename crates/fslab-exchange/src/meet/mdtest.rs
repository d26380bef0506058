//! mdtest: what the rows of its summary do.

use fslab_compare::study_phase;
use fslab_model::PhaseSpec;
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::Condition;
use super::content::PhaseContent;

/// The rows. A tree is its directories alone. stat(2) of directories is not one of fslab's jobs.
pub(super) const ROWS: [(&str, Option<Activity>); 11] = [
    ("directory-creation", Some(MakeDirectories)),
    ("directory-stat", None),
    ("directory-rename", None),
    ("directory-removal", Some(RemoveDirectories)),
    ("file-creation", Some(Create)),
    ("file-stat", Some(Stat)),
    ("file-read", Some(ReadFiles)),
    ("file-rename", Some(Rename)),
    ("file-removal", Some(Unlink)),
    ("tree-creation", None),
    ("tree-removal", None),
];

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let name = study_phase(spec);
    let known = ROWS.iter().find(|(known, _)| *known == name);
    let Some(activity) = known.and_then(|(_, activity)| *activity) else {
        return PhaseContent::default();
    };
    let mut content = PhaseContent {
        activity: Some(activity),
        ..PhaseContent::default()
    };
    let number = |name: &str| spec.parameters.get(name).and_then(Value::as_u64);
    let conditions = &mut content.conditions;
    conditions.set_count(Condition::Threads, number("tasks"));
    conditions.set_count(Condition::Files, number("items"));
    content
}
