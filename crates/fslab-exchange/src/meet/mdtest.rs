//! mdtest: what the rows of its summary do.

use fslab_model::{Parameters, PhaseSpec};
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::Condition;
use super::phase_content::{self, PhaseContent};
use super::sharing;

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
    match phase_content::look_up(&ROWS, spec).flatten() {
        Some(activity) => of(activity, &spec.parameters, true),
        None => PhaseContent::default(),
    }
}

/// What mdtest does with these parameters. Without `has_number` the number of files is not known.
pub(super) fn of(activity: Activity, parameters: &Parameters, has_number: bool) -> PhaseContent {
    let number = |name: &str| phase_content::number(parameters, name);
    let flag = |name: &str| parameters.get(name).and_then(Value::as_bool);
    let is_random = flag("random_order") == Some(true);
    let activity = match activity {
        // Without a size mdtest reads nothing.
        ReadFiles if number("read_bytes") == Some(0) => OpenFiles,
        Stat if is_random => StatRandom,
        Unlink if is_random => UnlinkRandom,
        other => other,
    };
    let mut content = PhaseContent::of(Some(activity));
    let conditions = &mut content.conditions;
    conditions.set_count(Condition::Threads, number("tasks"));
    // Creation may have ended by time, and then there are fewer.
    let is_timed = number("stonewall_s").is_some();
    if has_number && !is_timed {
        conditions.set_count(Condition::Files, number("items"));
    }
    let is_of_many = number("tasks").is_some_and(|tasks| tasks > 1);
    if let Some(is_own) = flag("own_trees").filter(|_| is_of_many) {
        conditions.set(Condition::Sharing, sharing::of_directories(is_own));
    }
    match activity {
        Create => conditions.set_bytes(Condition::FilesEach, number("write_bytes")),
        ReadFiles => conditions.set_bytes(Condition::FilesEach, number("read_bytes")),
        _ => {}
    }
    if is_of_many
        && number("rank_shift").is_some()
        && matches!(activity, Stat | StatRandom | OpenFiles | ReadFiles)
    {
        conditions.set_count(Condition::RankShift, number("rank_shift"));
    }
    if activity == Create && flag("sync_file") == Some(true) {
        conditions.set(Condition::Sync, "fsync of each");
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(row: &str, parameters: Value) -> (Option<Activity>, Vec<String>) {
        let parameters = serde_json::from_value(parameters).expect("parameters");
        let content = content(&PhaseSpec::new(row, "mdtest", parameters));
        (content.activity, content.conditions.in_words())
    }

    #[test]
    fn options_of_mdtest_are_conditions_of_all_tasks() {
        let options = serde_json::json!({
            "tasks": 2, "items": 20, "own_trees": true, "write_bytes": 3901, "read_bytes": 0,
            "rank_shift": 1, "sync_file": true,
        });
        let (activity, conditions) = words("file-creation", options.clone());
        assert_eq!(activity, Some(Create));
        let expected = [
            "files 20",
            "size of each file 3901 B",
            "threads 2",
            "sharing a directory each",
            "sync fsync of each",
        ];
        assert_eq!(conditions, expected);
        let (activity, conditions) = words("file-read", options);
        assert_eq!(activity, Some(OpenFiles), "nothing is read");
        assert!(
            conditions.contains(&"rank shift 1".to_owned()),
            "{conditions:?}"
        );
    }

    #[test]
    fn the_number_of_files_is_not_known_where_time_ended_their_creation() {
        let options = serde_json::json!({"tasks": 2, "items": 4_000_000, "stonewall_s": 2});
        let (_, conditions) = words("file-creation", options);
        assert_eq!(conditions, ["threads 2"]);
    }
}
