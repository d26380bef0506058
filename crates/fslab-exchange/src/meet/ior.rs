//! IOR and IO500: what their phases do. Sizes are those of one task, as fslab's are those of one
//! rank.

use fslab_model::{Bytes, Parameters, PhaseSpec};
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::{Condition, Conditions, WHOLE_FILE};
use super::mdtest;
use super::phase_content::{self, PhaseContent};
use super::sharing::Sharing;
use crate::read::ior_options::FILE_EACH;

/// The phases of mdtest and find in IO500, by the end of their names.
const NAMES: [(&str, Activity); 4] = [
    ("-write", Create),
    ("-stat", Stat),
    ("-read", ReadFiles),
    ("-delete", Unlink),
];

/// A phase of IOR.
pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let direction = text(&spec.parameters, "direction").unwrap_or_default();
    let mut content = PhaseContent::of(activity(&spec.parameters, direction));
    if content.activity.is_some() {
        conditions(&spec.parameters, direction, true, &mut content.conditions);
    }
    content
}

/// A phase of IO500. How much it wrote until its time was up is not known.
pub(super) fn content_of_io500(spec: &PhaseSpec) -> PhaseContent {
    let name = spec.study_phase();
    if let Some(name) = name.strip_prefix("mdtest") {
        let found = NAMES.iter().find(|(end, _)| name.ends_with(end));
        return found.map_or_else(PhaseContent::default, |(_, activity)| {
            mdtest::of(*activity, &spec.parameters, false)
        });
    }
    let direction = match (name.starts_with("ior"), name.ends_with("-write")) {
        (false, _) => return PhaseContent::default(),
        (true, true) => "write",
        (true, false) => "read",
    };
    let mut content = PhaseContent::of(activity(&spec.parameters, direction));
    if content.activity.is_some() {
        conditions(&spec.parameters, direction, false, &mut content.conditions);
    }
    content
}

/// Only a summary of IO500 leaves the order out: it has two phases in order, and one that is not.
fn activity(parameters: &Parameters, direction: &str) -> Option<Activity> {
    let is_over = flag(parameters, "existing_file") == Some(true);
    let order = text(parameters, "order").unwrap_or("sequential");
    Some(match (direction, order) {
        ("write", "random") => RandomWrite,
        ("read", "random") => RandomRead,
        ("write", "sequential") if is_over => Rewrite,
        ("write", "sequential") => Write,
        ("read", "sequential") => Read,
        _ => return None,
    })
}

fn conditions(
    parameters: &Parameters,
    direction: &str,
    has_sizes: bool,
    conditions: &mut Conditions,
) {
    let number = |name: &str| phase_content::number(parameters, name);
    let block = number("block_size");
    let segments = number("segments");
    let transfer = number("transfer_size");
    if has_sizes {
        let bytes = block.zip(segments);
        let bytes = bytes.and_then(|(block, segments)| block.checked_mul(segments));
        conditions.set_bytes(Condition::FileSize, bytes);
        let amount = match number("stonewall_s") {
            Some(seconds) if flag(parameters, "wear_out") == Some(true) => {
                format!("time {seconds}s, then what the fastest has done")
            }
            Some(seconds) => format!("time {seconds}s"),
            None => WHOLE_FILE.to_owned(),
        };
        conditions.set(Condition::Amount, amount);
    }
    conditions.set_bytes(Condition::RecordSize, transfer);
    conditions.set_count(Condition::Threads, number("tasks"));
    let is_of_many = number("tasks").is_some_and(|tasks| tasks > 1);
    let access = text(parameters, "access").filter(|_| is_of_many);
    let sharing = access.and_then(|access| match (access == FILE_EACH, segments) {
        (true, _) => Some(Sharing::Own.words().to_owned()),
        (false, Some(1)) => Some(Sharing::Shared.words().to_owned()),
        (false, _) if block.is_some() && block == transfer => {
            Some(Sharing::Interleaved.words().to_owned())
        }
        (false, Some(_)) => Some(format!("one file, {} of each in turn", Bytes(block?))),
        (false, None) => None,
    });
    conditions.set_known(Condition::Sharing, sharing);
    if direction == "read" && is_of_many {
        let offset = parameters.get("task_offset");
        let offset = offset.map(|offset| offset.as_str().map_or(offset.to_string(), str::to_owned));
        conditions.set_known(Condition::RankShift, offset);
    }
    // Only POSIX has one call for each record, and one of them in flight.
    match text(parameters, "api") {
        Some("POSIX") => {
            conditions.set(Condition::Engine, "psync");
            conditions.set(Condition::QueueDepth, "1");
        }
        Some("MMAP") => conditions.set(Condition::Engine, "mmap"),
        Some(other) => conditions.set(Condition::Engine, other),
        None => {}
    }
    if flag(parameters, "direct") == Some(true) {
        conditions.set(Condition::Direct, "yes");
    }
    if direction == "write" {
        let sync = match (
            flag(parameters, "fsync_per_write"),
            flag(parameters, "fsync"),
        ) {
            (Some(true), _) => Some("fsync every 1 writes"),
            (_, Some(true)) => Some("fsync"),
            (_, Some(false)) => Some("none"),
            (_, None) => None,
        };
        conditions.set_known(Condition::Sync, sync.map(str::to_owned));
    }
}

fn text<'p>(parameters: &'p Parameters, name: &str) -> Option<&'p str> {
    parameters.get(name).and_then(Value::as_str)
}

fn flag(parameters: &Parameters, name: &str) -> Option<bool> {
    parameters.get(name).and_then(Value::as_bool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(workload: &str, name: &str, parameters: Value) -> PhaseContent {
        let parameters = serde_json::from_value(parameters).expect("parameters");
        let spec = PhaseSpec::new(name, workload, parameters);
        match workload {
            "ior" => content(&spec),
            _ => content_of_io500(&spec),
        }
    }

    #[test]
    fn options_of_ior_are_conditions_of_one_task() {
        let content = of(
            "ior",
            "write",
            serde_json::json!({
                "direction": "write", "order": "sequential", "access": "single-shared-file",
                "segments": 4, "block_size": 47008, "transfer_size": 47008, "tasks": 8,
                "api": "POSIX", "fsync": true, "task_offset": 1, "stonewall_s": 30,
            }),
        );
        assert_eq!(content.activity, Some(Write));
        assert_eq!(
            content.conditions.in_words(),
            [
                "file size 183.6 KiB",
                "record size 45.9 KiB",
                "amount time 30s",
                "threads 8",
                "sharing one file, records in turn",
                "queue depth 1",
                "sync fsync",
                "I/O engine psync",
            ]
        );
    }

    #[test]
    fn readers_of_another_tasks_data_are_shifted() {
        let content = of(
            "ior",
            "read",
            serde_json::json!({
                "direction": "read", "order": "random", "access": "single-shared-file",
                "segments": 4, "block_size": 1 << 20, "transfer_size": 65536, "tasks": 2,
                "task_offset": 1,
            }),
        );
        assert_eq!(content.activity, Some(RandomRead));
        let words = content.conditions.in_words();
        assert!(words.contains(&"rank shift 1".to_owned()), "{words:?}");
        assert!(
            words.contains(&"sharing one file, 1 MiB of each in turn".to_owned()),
            "{words:?}"
        );
        assert_eq!(
            of("ior", "remove", serde_json::json!({"direction": "remove"})).activity,
            None
        );
    }

    #[test]
    fn phases_of_io500_are_known_by_their_names() {
        for (name, activity) in [
            ("ior-easy-write", Some(Write)),
            ("ior-hard-read", Some(Read)),
            ("mdtest-easy-write", Some(Create)),
            ("mdtest-hard-stat", Some(Stat)),
            ("mdtest-hard-read", Some(ReadFiles)),
            ("mdtest-easy-delete", Some(Unlink)),
            ("find", None),
        ] {
            let content = of("io500", name, serde_json::json!({}));
            assert_eq!(content.activity, activity, "{name}");
        }
        let random = of(
            "io500",
            "ior-rnd4k-easy-read",
            serde_json::json!({"order": "random"}),
        );
        assert_eq!(random.activity, Some(RandomRead));
        let words = random.conditions.in_words().join("; ");
        assert!(!words.contains("file size"), "{words}");
    }
}
