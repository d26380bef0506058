//! fs_mark: it creates files, and writes each of them.

use fslab_model::PhaseSpec;
use serde_json::Value;

use super::activity::Activity;
use super::condition::Condition;
use super::phase_content::{self, PhaseContent};

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    // The phases of its system calls have only times, and no workload of fslab is one call.
    if spec.study_phase() != "fs_mark" {
        return PhaseContent::default();
    }
    let number = |name: &str| phase_content::number(&spec.parameters, name);
    let mut content = PhaseContent::of(Some(Activity::Create));
    let conditions = &mut content.conditions;
    conditions.set_bytes(Condition::FilesEach, number("file_size"));
    conditions.set_count(Condition::Threads, number("threads"));
    let sync = match spec.parameters.get("sync").and_then(Value::as_str) {
        Some("NO SYNC") => Some("none"),
        Some("INBAND FSYNC") => Some("fsync of each"),
        Some(other) => Some(other),
        None => None,
    };
    conditions.set_known(Condition::Sync, sync.map(str::to_owned));
    content
}
