//! A run of fslab with phases of the studies `ior` and `mdtest`, on several ranks.

use fslab_model::{
    Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PhaseSpec, RunRecord, Subject,
    VenuePlan,
};
use serde_json::{Value, json};

use crate::fixture::{run_of, text};

/// The phases: name, workload and parameters.
fn phases() -> Vec<(&'static str, &'static str, Value)> {
    let fsync = json!({ "closing": "fsync" });
    vec![
        (
            "file-each-write",
            "io",
            json!({ "file": "each", "file_size": 1 << 30, "record": 1 << 20, "direction": "write",
                "open": "replace", "sync": fsync }),
        ),
        (
            "shared-read",
            "io",
            json!({ "file": "shared", "file_size": 1 << 30, "record": 1 << 20,
                "direction": "read", "open": "existing", "sharing": "shared", "rank_shift": 1 }),
        ),
        (
            "interleaved-write",
            "io",
            json!({ "file": "interleaved", "file_size": 188_032_000, "record": 47008,
                "direction": "write", "open": "replace", "sharing": "interleaved",
                "sync": fsync }),
        ),
        (
            "random-part",
            "io",
            json!({ "file": "shared", "file_size": 1 << 30, "record": 65536, "direction": "read",
                "open": "existing", "sharing": "shared", "access": "random-once",
                "amount": { "operations": 1000 } }),
        ),
        (
            "mixed",
            "io",
            json!({ "file_size": 1 << 20, "record": 4096,
                "direction": { "mix": { "read_percent": 50 } } }),
        ),
        (
            "uring",
            "io",
            json!({ "file_size": 1 << 20, "record": 4096, "direction": "write",
                "engine": "uring" }),
        ),
        (
            "own-create",
            "files",
            json!({ "operation": "create", "directory": "own", "files": 10000,
                "files_per_directory": 0, "base_per_worker": true }),
        ),
        (
            "own-read",
            "files",
            json!({ "operation": "open", "directory": "own", "files": 10000,
                "files_per_directory": 0, "base_per_worker": true, "rank_shift": 1 }),
        ),
        (
            "shared-create",
            "files",
            json!({ "operation": "create", "directory": "shared", "files": 10000,
                "files_per_directory": 0, "file_size": 3901 }),
        ),
    ]
}

/// Two trials of `ranks` ranks on ext4, named `own`.
pub(crate) fn own_run(ranks: u32) -> RunRecord {
    let mut run = run_of(text("fio-3.33-four-jobs.json"));
    run.header.run = "own".parse().expect("a name");
    run.header.plan.venue = VenuePlan::Dir {
        dir: serde_json::from_value(json!("/mnt/test")).expect("a directory"),
    };
    run.header.plan.ranks = ranks;
    run.header.plan.engine = "psync".to_owned();
    let specs = phases().into_iter().map(|(name, workload, parameters)| {
        let parameters: Parameters = serde_json::from_value(parameters).expect("parameters");
        PhaseSpec::new(name, workload, parameters)
    });
    run.header.plan.phases = specs.collect();
    fslab_compare::relabel(&mut run, &Subject::plain("ext4")).expect("one subject");
    assert_eq!(run.trials.len(), 2);
    for (repeat, trial) in (1_u64..).zip(&mut run.trials) {
        let specs = (1_u64..).zip(&run.header.plan.phases);
        trial.phases = specs
            .map(|(at, spec)| record(spec, at * 7919 * repeat))
            .collect();
    }
    run
}

/// A phase with figures that follow from `odd`.
fn record(spec: &PhaseSpec, odd: u64) -> PhaseRecord {
    let (kind, headline) = match spec.parameters.get("direction").map(Value::as_str) {
        Some(Some("read")) => (PhaseKind::Read, Headline::Throughput),
        Some(Some(_)) => (PhaseKind::Write, Headline::Throughput),
        Some(None) => (PhaseKind::Mixed, Headline::Throughput),
        None => (PhaseKind::Metadata, Headline::OperationRate),
    };
    let mut record = PhaseRecord::empty(spec, kind, headline, PhaseOutcome::Done);
    record.elapsed_ns = Some(1_000_000_000 + odd);
    record.operations = Some(2000 + odd);
    record.bytes = (kind != PhaseKind::Metadata).then_some(2_147_483_648);
    record
}
