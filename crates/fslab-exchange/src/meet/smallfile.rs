//! smallfile: what its operations do.

use fslab_model::PhaseSpec;
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::Condition;
use super::phase_content::{self, PhaseContent};

/// The operations with a common word.
const OPERATIONS: [(&str, Activity); 7] = [
    ("create", Create),
    ("stat", Stat),
    ("read", ReadFiles),
    ("rename", Rename),
    ("delete", Unlink),
    ("mkdir", MakeDirectories),
    ("rmdir", RemoveDirectories),
];

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let Some(activity) = phase_content::look_up(&OPERATIONS, spec) else {
        return PhaseContent::default();
    };
    let number = |name: &str| phase_content::number(&spec.parameters, name);
    let is_set = |name: &str| {
        let value = spec.parameters.get(name).and_then(Value::as_str);
        value.is_some_and(|value| value.eq_ignore_ascii_case("y"))
    };
    let mut content = PhaseContent::of(Some(activity));
    let conditions = &mut content.conditions;
    let threads = number("threads");
    let files = number("files_per_thread").zip(threads);
    let files = files.and_then(|(files, threads)| files.checked_mul(threads));
    conditions.set_count(Condition::Files, files);
    // In KiB; with a distribution it is the mean.
    let is_fixed = spec
        .parameters
        .get("file_size_distr")
        .and_then(Value::as_i64)
        == Some(-1);
    let each = number("file_size").and_then(|kib| kib.checked_mul(1024));
    conditions.set_bytes(Condition::FilesEach, each.filter(|_| is_fixed));
    conditions.set_count(Condition::Threads, threads);
    let sync = match is_set("fsync_after_modify") {
        true => "fsync of each",
        false => "none",
    };
    conditions.set(Condition::Sync, sync);
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_in_the_table_is_one_of_smallfile() {
        let known = crate::read::smallfile::OPERATIONS_KNOWN;
        for (name, _) in OPERATIONS {
            assert!(known.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
