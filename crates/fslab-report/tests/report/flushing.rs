//! Phases that make data durable without a flush of the disk.

use fslab_compare::Analysis;
use fslab_model::{LatencyHistogram, OperationLatency, RunRecord, Traffic, VenuePlan};
use fslab_report::{html, json, sentences, tables};

use crate::exact;

const APPEND: &str = "append";

/// A run in which `append` makes records durable by fsync, and the subject of that number gets no
/// flush and no FUA write.
fn run(unflushed: u32) -> RunRecord {
    let mut run = exact::several();
    for trial in &mut run.trials {
        let is_unflushed = trial.trial.cell.0 == unflushed;
        for phase in trial.phases.iter_mut().filter(|it| it.name == APPEND) {
            let mut histogram = LatencyHistogram::default();
            histogram.record(1_000_000);
            phase.latencies.retain(|it| it.operation != "fsync");
            phase.latencies.push(OperationLatency {
                operation: "fsync".into(),
                histogram,
            });
            let insight = phase.insight.as_mut().expect("a trace");
            if is_unflushed {
                insight.flushes = fslab_model::KindInsight::default();
                insight.fua_writes = Traffic::default();
            }
        }
    }
    run
}

/// JFS appended with fsync 25 times as fast as XFS, and the report could not say why that is a bad
/// bargain.
#[test]
fn a_speed_without_a_flush_is_marked_in_text_page_and_json_and_no_other_is() {
    let run = run(1);
    let analysis = Analysis::of(&run);
    let overview = tables::overview(&analysis);
    let marked = |cell: &&fslab_report::TableCell| cell.text.ends_with(" ‡");
    assert_eq!(overview.rows.iter().flatten().filter(marked).count(), 1);
    let row = overview.rows.iter().find(|row| row[0].text == "Append");
    assert!(marked(&&row.expect("the phase")[2]), "{row:?}");
    let explained = |note: &String| note.starts_with("‡ does not flush");
    assert!(overview.notes.iter().any(explained), "{:?}", overview.notes);
    let phase = analysis.phases.iter().find(|it| it.name == APPEND);
    let table = tables::phase(phase.expect("the phase"), analysis.subjects());
    assert_eq!(table.rows.iter().flatten().filter(marked).count(), 1);
    let is_said = |it: &fslab_report::Sentence| it.text.contains("Does not flush: XFS in append.");
    let sentences = sentences(&analysis);
    assert!(sentences.iter().any(is_said), "{sentences:?}");
    let page = html(std::slice::from_ref(&run)).expect("a report");
    assert!(page.contains("‡ does not flush"));
    let text = json(&run).expect("JSON");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = serde_json::json!([{ "subject": "xfs", "phase": APPEND, "records": [2, 2] }]);
    assert_eq!(found["does_not_flush"], expected);
    assert!(serde_json::from_str::<RunRecord>(&text).is_ok());
}

/// On a device that counts flushes the mark was only in virtual time.
#[test]
fn a_device_that_counts_flushes_is_evidence_where_another_subject_flushes() {
    let real = |others: u64| {
        let mut run = run(1);
        run.header.plan.venue = VenuePlan::Loop {
            folder: "/var/tmp/fslab".into(),
        };
        for trial in &mut run.trials {
            let is_unflushed = trial.trial.cell.0 == 1;
            for phase in &mut trial.phases {
                phase.insight = None;
                phase.settle_insight = None;
                let device = phase.device.get_or_insert_default();
                device.flushes = Some(if is_unflushed { 0 } else { others });
            }
        }
        run
    };
    let is_marked = |run: &RunRecord| {
        let analysis = Analysis::of(run);
        let phase = analysis.phases.iter().find(|it| it.name == APPEND);
        phase.expect("the phase").does_not_flush(1)
    };
    assert!(is_marked(&real(3)));
    // Nobody's syncs sent a flush: the kernel takes the cache for durable.
    assert!(!is_marked(&real(0)));
}

#[test]
fn a_disk_without_a_volatile_cache_needs_no_flush() {
    let mut run = run(1);
    if let VenuePlan::Sim { disk, .. } = &mut run.header.plan.venue {
        disk.queue.write_cache = false;
    }
    let page = html(std::slice::from_ref(&run)).expect("a report");
    assert!(!page.contains('‡'));
    assert!(!json(&run).expect("JSON").contains("does_not_flush"));
}
