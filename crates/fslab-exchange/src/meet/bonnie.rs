//! bonnie++: what its columns do.

use fslab_model::PhaseSpec;

use super::activity::Activity::{self, *};
use super::condition::{Condition, WHOLE_FILE};
use super::phase_content::{self, PhaseContent};

/// The columns, with the call that closes each: bonnie++ syncs what it wrote within the time.
const PHASES: [(&str, (Activity, &str)); 12] = [
    ("per-char-write", (PutChar, "fsync")),
    ("block-write", (Write, "fsync")),
    ("rewrite", (Update, "fsync")),
    ("per-char-read", (GetChar, "")),
    ("block-read", (Read, "")),
    ("seeks", (Seeks, "")),
    ("create-seq", (Create, "")),
    ("read-seq", (Stat, "")),
    ("delete-seq", (Unlink, "")),
    ("create-rand", (CreateRandom, "")),
    ("read-rand", (StatRandom, "")),
    ("delete-rand", (UnlinkRandom, "")),
];

/// bonnie++'s chunk unless given.
const CHUNK_BYTES: u64 = 8192;

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let Some((activity, sync)) = phase_content::look_up(&PHASES, spec) else {
        return PhaseContent::default();
    };
    let mut content = PhaseContent::of(Some(activity));
    let number = |name: &str| phase_content::number(&spec.parameters, name);
    let conditions = &mut content.conditions;
    let is_data = !matches!(
        activity,
        Create | Stat | Unlink | CreateRandom | StatRandom | UnlinkRandom
    );
    if is_data {
        conditions.set_bytes(Condition::FileSize, number("file_size"));
        let record = number("record").or(Some(CHUNK_BYTES));
        conditions.set_bytes(Condition::RecordSize, record);
        if activity != Seeks {
            conditions.set(Condition::Amount, WHOLE_FILE);
        }
        conditions.set(Condition::Direct, "no");
        conditions.set(Condition::QueueDepth, "1");
    } else {
        conditions.set_count(Condition::Files, number("files"));
        let largest = number("max_size").unwrap_or(0);
        // Without sizes its files are empty.
        if !spec.parameters.contains_key("min_size") {
            conditions.set_bytes(Condition::FilesEach, Some(largest));
        }
    }
    let threads = match activity {
        Seeks => number("seekers"),
        _ => number("concurrency").or(Some(1)),
    };
    conditions.set_count(Condition::Threads, threads);
    if activity == Seeks {
        let seeks = number("seeks").map(|seeks| format!("{seeks} operations"));
        conditions.set_known(Condition::Amount, seeks);
    }
    if !sync.is_empty() {
        conditions.set(Condition::Sync, sync);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_bonnie_has_an_activity() {
        let columns: Vec<&str> = crate::read::bonnie_line::phase_names().collect();
        let known: Vec<&str> = PHASES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(known, columns);
    }
}
