//! mdtest: what the rows of its summary do.

use fslab_model::PhaseSpec;

use super::activity::Activity::{self, *};
use super::condition::Condition;
use super::content::{self, PhaseContent};

/// The rows. A tree is its directories alone. stat(2) of directories is not one of fslab's jobs.
const ROWS: [(&str, Option<Activity>); 11] = [
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
    let Some(activity) = content::look_up(&ROWS, spec).flatten() else {
        return PhaseContent::default();
    };
    let mut content = PhaseContent::of(Some(activity));
    let number = |name: &str| content::number(&spec.parameters, name);
    let conditions = &mut content.conditions;
    conditions.set_count(Condition::Threads, number("tasks"));
    conditions.set_count(Condition::Files, number("items"));
    content
}
