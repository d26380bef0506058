//! Iozone: what its tests do.

use fslab_model::PhaseSpec;

use super::activity::Activity::{self, *};
use super::condition::{Condition, WHOLE_FILE};
use super::phase_content::{self, PhaseContent};

/// The tests. fslab has no phases like the vectored calls and the mixed workload, whose share of
/// reads the output does not have.
const TESTS: [(&str, Option<Activity>); 22] = [
    ("write", Some(Write)),
    ("rewrite", Some(Rewrite)),
    ("read", Some(Read)),
    ("reread", Some(Read)),
    ("random-read", Some(RandomRead)),
    ("random-write", Some(RandomWrite)),
    ("backward-read", Some(BackwardRead)),
    ("record-rewrite", Some(RecordRewrite)),
    ("strided-read", Some(StridedRead)),
    ("fwrite", Some(StreamWrite)),
    ("refwrite", Some(StreamRewrite)),
    ("fread", Some(StreamRead)),
    ("refread", Some(StreamRead)),
    ("pwrite", Some(Write)),
    ("repwrite", Some(Rewrite)),
    ("pread", Some(Read)),
    ("repread", Some(Read)),
    ("pwritev", None),
    ("repwritev", None),
    ("preadv", None),
    ("repreadv", None),
    ("mixed-workload", None),
];

pub(super) fn content(spec: &PhaseSpec) -> PhaseContent {
    let Some(activity) = phase_content::look_up(&TESTS, spec).flatten() else {
        return PhaseContent::default();
    };
    let mut content = PhaseContent::of(Some(activity));
    let number = |name: &str| phase_content::number(&spec.parameters, name);
    let has = |name: &str| spec.parameters.contains_key(name);
    let conditions = &mut content.conditions;
    conditions.set_bytes(Condition::FileSize, number("file_size"));
    conditions.set_bytes(Condition::RecordSize, number("record"));
    conditions.set_count(Condition::Threads, number("processes").or(Some(1)));
    conditions.set(Condition::Amount, WHOLE_FILE);
    conditions.set(Condition::QueueDepth, "1");
    conditions.set(Condition::Direct, if has("direct") { "yes" } else { "no" });
    if has("mmap") {
        conditions.set(Condition::Engine, "mmap");
    }
    if has("purge") {
        conditions.set(Condition::Cache, "dropped");
    }
    if activity == StridedRead {
        // Iozone's default.
        let stride = number("stride_records").or(Some(17));
        conditions.set_count(Condition::Stride, stride);
    }
    let writes = [
        Write,
        Rewrite,
        RandomWrite,
        RecordRewrite,
        StreamWrite,
        StreamRewrite,
    ];
    if writes.contains(&activity) {
        let sync = match (has("o_sync"), has("fsync")) {
            (true, _) => "O_SYNC",
            (false, true) => "fsync",
            (false, false) => "none",
        };
        conditions.set(Condition::Sync, sync);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{iozone_test, iozone_throughput};

    #[test]
    fn every_test_of_iozone_is_in_the_table() {
        let read = iozone_test::TESTS.iter().map(|test| test.phase);
        for name in read.chain(iozone_throughput::phase_names()) {
            assert!(TESTS.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
