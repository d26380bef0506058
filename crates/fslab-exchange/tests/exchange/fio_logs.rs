//! Logs of fio, which their files' names tell apart.

use std::fs;
use std::path::Path;

use fslab_exchange::Source;
use fslab_model::{Failure, PhaseRecord, RunRecord};
use proptest::prelude::*;

use crate::fixture::{labels, metric, phase, read, source, written};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/logs");

fn log(name: &str) -> Source {
    source(name, fs::read(Path::new(LOGS).join(name)).expect(name))
}

fn run(name: &str) -> RunRecord {
    read(&[log(name)]).expect(name).runs.remove(0)
}

fn series(phase: &PhaseRecord) -> (u64, Vec<u64>, Vec<u64>) {
    let series = phase.series.clone().expect("a series");
    (series.interval_ns, series.operations, series.bytes)
}

#[test]
fn means_of_windows_are_a_course_and_its_rate() {
    let bandwidth = run("avg_bw.1.log");
    let read = phase(&bandwidth, 0, "avg-1-bw-read");
    let mean = (1992.0 * 500.0 + 2016.0 * 500.0 + 2000.0 * 517.0) / 1517.0 * 1024.0;
    let rate = metric(read, "throughput").expect("a rate");
    assert!((rate - mean).abs() < 1.0, "{rate} {mean}");
    assert_eq!(metric(read, "elapsed_ns"), Some(1517e6));
    assert_eq!(metric(read, "bytes"), None);
    let (interval_ns, operations, bytes) = series(read);
    assert_eq!((interval_ns, operations), (500_000_000, Vec::new()));
    assert_eq!(bytes, [1992 * 512, 2016 * 512, 2000 * 1024 * 517 / 1000]);
    let rates = run("avg_iops.1.log");
    let write = phase(&rates, 0, "avg-1-iops-write");
    assert_eq!(series(write).1, [250, 251, 259]);
    let rate = metric(write, "operation_rate").expect("a rate");
    assert!((rate - (500.0 * 500.0 + 502.0 * 500.0 + 500.0 * 517.0) / 1517.0).abs() < 1e-6);
}

/// fio's JSON of the same execution has 256 operations in 82 ms, the largest latency of 38.07 ms.
#[test]
fn a_log_of_each_operation_has_counts_and_latencies() {
    let clat = run("each_clat.1.log");
    let read = phase(&clat, 0, "each-1-clat");
    assert_eq!(metric(read, "operations"), Some(256.0));
    assert_eq!(metric(read, "bytes"), Some(1_048_576.0));
    assert_eq!(metric(read, "elapsed_ns"), Some(81e6));
    let max = metric(read, "latency_ns_max").expect("a latency");
    assert!((max - 38_071_695.0).abs() < 38_071.0, "{max}");
    let median = metric(read, "latency_ns_p50").expect("a median");
    assert!((79_000.0..80_500.0).contains(&median), "{median}");
    for name in ["each_bw.1.log", "each_iops.1.log"] {
        let run = run(name);
        assert_eq!(run.trials[0].phases[0].operations, Some(256), "{name}");
        assert!(run.trials[0].phases[0].latencies.is_empty(), "{name}");
    }
}

#[test]
fn a_log_of_histograms_has_latencies_of_all_its_windows() {
    let hist = run("avg_clat_hist.1.log");
    let write = phase(&hist, 0, "avg-1-hist-write");
    let latency = write.latency().expect("latencies");
    assert_eq!(Some(latency.count()), write.operations);
    let (interval_ns, operations, _) = series(write);
    assert_eq!(interval_ns, 507_000_000);
    assert_eq!(operations.iter().sum::<u64>(), latency.count());
    assert!(write.notes.iter().any(|note| note.contains("16 of fio's")));
}

#[test]
fn logs_of_one_job_are_parts_of_one_trial() {
    let names = ["avg_bw.1.log", "avg_iops.1.log", "avg_clat_hist.1.log"];
    let run = read(&names.map(log)).expect("three logs").runs.remove(0);
    assert_eq!((run.trials.len(), run.trials[0].phases.len()), (1, 6));
}

fn refused(name: &str, content: impl Into<Vec<u8>>) -> Failure {
    let error = read(&[source(name, content)]).expect_err(name);
    assert!(error.hint.is_some(), "{name}");
    error
}

#[test]
fn what_a_log_does_not_say_is_refused_by_name() {
    let each = log("each_clat.1.log").content;
    for (name, content, cause) in [
        (
            "f",
            written("fio-histogram-log.txt"),
            "the name of the file does not say which",
        ),
        (
            "some.txt",
            each.clone(),
            "the name of the file does not say which",
        ),
        ("j_slat.1.log", each.clone(), "submission latencies"),
        (
            "j_clat.1.log",
            log("avg_clat.1.log").content,
            "the means of windows (log_avg_msec)",
        ),
        (
            "j_clat.1.log",
            b"1, 90, 0, 4096\n".to_vec(),
            "fio 2 logs microseconds",
        ),
        (
            "j_bw.1.log",
            b"1, 9, 0, 0, 0\n1, 9, 0, 4096, 0\n".to_vec(),
            "as before",
        ),
        (
            "j_bw.1.log",
            log("avg_clat_hist.1.log").content,
            "integers, of which the third",
        ),
    ] {
        let causes = refused(name, content).causes.concat();
        assert!(causes.contains(cause), "{causes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn no_damage_to_a_log_makes_its_reader_panic(
        name in prop::sample::select(vec![
            "avg_bw.1.log", "avg_iops.1.log", "avg_clat_hist.1.log", "each_lat.1.log",
        ]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12), 0..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut source = log(name);
        for (place, byte) in damage {
            let place = place.index(source.content.len());
            source.content[place] = b"0123456789, "[byte];
        }
        source.content.truncate(end.index(source.content.len()) + 1);
        if let Err(error) = fslab_exchange::import(&[source], None, &labels()) {
            prop_assert!(!error.causes.concat().is_empty());
        }
    }
}
