//! DiskSpd: what its time spans do. The file exists before them, so that a write is over it.

use fslab_model::PhaseSpec;
use serde_json::Value;

use super::activity::Activity::{self, *};
use super::condition::Condition;
use super::phase_content::{self, PhaseContent};

/// The phases; a stride other than the block size is not sequential.
const PHASES: [(&str, Activity); 8] = [
    ("read", Read),
    ("write", Rewrite),
    ("random-read", RandomRead),
    ("random-write", RandomWrite),
    ("mix-read", Mix),
    ("mix-write", Mix),
    ("random-mix-read", RandomMix),
    ("random-mix-write", RandomMix),
];

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let number = |name: &str| phase_content::number(&spec.parameters, name);
    let has = |name: &str| spec.parameters.contains_key(name);
    let base = spec.name.split(' ').next().unwrap_or_default();
    let activity = PHASES.iter().find(|(known, _)| *known == base);
    let block = number("block_size");
    let is_strided = number("stride").is_some() && number("stride") != block;
    let Some((_, activity)) = activity.filter(|_| !is_strided) else {
        return PhaseContent::default();
    };
    let mut content = PhaseContent::of(Some(*activity));
    let conditions = &mut content.conditions;
    conditions.set_bytes(Condition::FileSize, number("file_size"));
    conditions.set_bytes(Condition::RecordSize, block);
    conditions.set_count(Condition::Files, number("targets"));
    conditions.set_count(Condition::Threads, number("threads"));
    conditions.set_count(Condition::QueueDepth, number("requests"));
    conditions.set(
        Condition::Direct,
        if has("no_cache") { "yes" } else { "no" },
    );
    if let Some(seconds) = number("seconds") {
        conditions.set(Condition::Amount, format!("{seconds} s"));
    }
    if has("mapped") {
        conditions.set(Condition::Engine, "mmap");
    }
    if has("write_through") {
        conditions.set(Condition::Sync, "write-through");
    }
    let writes = spec.parameters.get("write_percent").and_then(Value::as_u64);
    let reads = writes.and_then(|percent| 100_u64.checked_sub(percent));
    if matches!(activity, Mix | RandomMix) {
        conditions.set_known(Condition::ReadShare, reads.map(|it| format!("{it} %")));
    }
    content
}
