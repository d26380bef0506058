//! sysbench's test fileio.

use fslab_exchange::{Activity, content};
use fslab_model::Headline;

use crate::fixture::{metric, phase, read, run_of, source, text};

const MODES: &str = "sysbench-1.0.20-modes.txt";

/// Six executions in one file have no phase in common: they are one trial.
#[test]
fn each_mode_of_sysbench_is_a_phase_that_meets_by_what_it_does() {
    let run = run_of(text(MODES));
    assert_eq!(run.header.plan.title, "Imported from sysbench 1.0.20");
    assert_eq!(run.trials.len(), 1);
    let expected = [
        ("seqwr", Activity::Write),
        ("seqrewr", Activity::Rewrite),
        ("seqrd", Activity::Read),
        ("rndrd", Activity::RandomRead),
        ("rndwr", Activity::RandomWrite),
        ("rndrw", Activity::RandomMix),
    ];
    let plan = &run.header.plan;
    let done = plan.phases.iter().map(|spec| {
        let activity = content(plan, spec).activity;
        (spec.name.as_str(), activity.expect("an activity"))
    });
    assert_eq!(done.collect::<Vec<_>>(), expected);
}

#[test]
fn rates_and_latencies_of_sysbench_are_read_as_printed() {
    let run = run_of(text(MODES));
    let mixed = phase(&run, 0, "rndrw");
    let rate = metric(mixed, "operation_rate").expect("a rate");
    assert!((rate - (30_755.97 + 20_503.98)).abs() < 1e-6, "{rate}");
    let bytes = metric(mixed, "throughput").expect("a throughput");
    let expected = (480.56 + 320.37) * 1_048_576.0;
    assert!((bytes - expected).abs() < 1.0, "{bytes}");
    assert_eq!(metric(mixed, "elapsed_ns"), Some(2_001_900_000.0));
    assert_eq!(metric(mixed, "latency_ns_max"), Some(91.49 * 1e6));
    assert_eq!(metric(mixed, "latency_ns_p95"), Some(0.01 * 1e6));
    assert_eq!(mixed.headline, Headline::OperationRate);
    let notes = mixed.notes.join(" ");
    assert!(notes.contains("The mean latency is 0.0182 ms"), "{notes}");
    assert!(notes.contains("2052.38 fsync(2) a second"), "{notes}");
    assert_eq!((mixed.operations, mixed.bytes), (None, None));

    let sequential = phase(&run, 0, "seqrd");
    assert_eq!(metric(sequential, "operation_rate"), Some(347_651.90));
    assert_eq!(sequential.headline, Headline::Throughput);
    // Printed as 0.00 ms.
    assert_eq!(metric(sequential, "latency_ns_p95"), None);
}

#[test]
fn options_that_sysbench_prints_are_parameters() {
    let run = run_of(text("sysbench-1.0.20-direct.txt"));
    let mixed = phase(&run, 0, "rndrw");
    let parameter = |name: &str| mixed.parameters[name].clone();
    assert_eq!(parameter("threads"), 2);
    assert_eq!(parameter("block_size"), 4096);
    assert_eq!(parameter("file_size"), 16 << 20);
    assert_eq!(parameter("files"), 4);
    assert_eq!(parameter("open_flags"), "directio");
    assert_eq!(parameter("read_write_ratio"), 1.5);
    assert_eq!(parameter("fsync_every_write"), true);
    assert_eq!(metric(mixed, "latency_ns_p99"), Some(0.54 * 1e6));
    assert_eq!(metric(mixed, "latency_ns_p95"), None);
}

#[test]
fn what_is_no_result_of_fileio_is_refused_by_its_reason() {
    let whole = text("sysbench-1.0.20-direct.txt");
    let head = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n";
    for (text, cause) in [
        (
            format!("{head}CPU speed:\n    events per second:  2931.60\n"),
            "it is not of the test fileio",
        ),
        (
            format!("{head}FATAL: Cannot open file 'test_file.0' errno = 2\n"),
            "sysbench failed: FATAL: Cannot open file",
        ),
        (
            format!("{head}\nRemoving test files...\n"),
            "sysbench only prepared or removed its files",
        ),
        (
            whole.replace("1.0.20", "1.1.0"),
            "\"1.1.0\" is not version 1.0",
        ),
        (
            whole
                .split("Throughput:")
                .next()
                .unwrap_or_default()
                .to_owned(),
            "there is no line 'read, MiB/s:'",
        ),
        (
            whole.replace("random r/w", "random trim"),
            "\"random trim\" is not a mode",
        ),
        (
            whole.replace("352.82", "35-2.82"),
            "max: \"35-2.82\" is not a figure from 0",
        ),
        (
            "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n".to_owned(),
            "\"0.4.12\" is not version 1.0",
        ),
    ] {
        let error = read(&[source("f", text)]).expect_err(cause);
        assert_eq!(error.message, "cannot import f as output of sysbench");
        assert!(error.causes.concat().contains(cause), "{:?}", error.causes);
        assert!(error.hint.is_some(), "{cause}");
    }
}
