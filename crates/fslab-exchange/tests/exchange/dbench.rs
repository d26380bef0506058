//! dbench's summary.

use fslab_model::{Headline, definitions};

use crate::fixture::{metric, phase, read, run_of, source, text};

#[test]
fn the_load_of_dbench_and_its_operations_are_phases() {
    let run = run_of(text("dbench-4.00.txt"));
    assert_eq!(run.header.plan.title, "Imported from dbench 4.00");
    let trial = &run.trials[0];
    assert_eq!(trial.phases.len(), 17);
    assert_eq!(trial.facts["dbench load"], "/usr/share/dbench/client.txt");
    let whole = phase(&run, 0, "dbench");
    assert_eq!(metric(whole, "throughput"), Some(326.895 * 1e6));
    assert_eq!(metric(whole, "latency_ns_max"), Some(184.815 * 1e6));
    assert_eq!(whole.headline, Headline::Throughput);
    assert_eq!(whole.parameters["clients"], 2);
    assert_eq!(whole.parameters["processes"], 2);
    assert_eq!(whole.parameters["seconds"], 4);
    assert!(!whole.parameters.contains_key("sync_open"));
    let flush = phase(&run, 0, "dbench-flush");
    assert_eq!(metric(flush, "operations"), Some(2959.0));
    assert_eq!(metric(flush, "latency_ns_max"), Some(118.883 * 1e6));
    assert_eq!(metric(flush, "operation_rate"), None);
    assert_eq!(flush.notes, ["The mean latency is 0.836 ms."]);
    let headline = Headline::Figure(&definitions::LATENCY_MAX);
    assert_eq!(flush.headline, headline);
}

/// The tables of the clients follow the sums, with the same rows.
#[test]
fn results_of_each_client_are_not_the_sums() {
    let whole = text("dbench-4.00-clients.txt");
    let row = whole
        .lines()
        .find(|line| line.trim().starts_with("ReadX"))
        .expect("a row");
    let count: u64 = row
        .split_whitespace()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .expect("a count");
    let run = run_of(whole.as_str());
    assert_eq!(phase(&run, 0, "dbench-readx").operations, Some(count));
    let rate = metric(phase(&run, 0, "dbench"), "throughput");
    assert_eq!(rate, Some(351.131 * 1e6));
}

#[test]
fn executions_of_dbench_with_other_numbers_of_clients_are_points_of_a_sweep() {
    let run = run_of(text("dbench-4.00-sync.txt"));
    let phases = run.trials.iter().flat_map(|trial| &trial.phases);
    let is_whole = |phase: &&fslab_model::PhaseRecord| {
        let swept = phase.swept.as_ref();
        swept.is_some_and(|swept| swept.phase == "dbench")
    };
    let whole: Vec<_> = phases.filter(is_whole).collect();
    assert_eq!(whole.len(), 2);
    assert_eq!(metric(whole[0], "throughput"), Some(21.4811 * 1e6));
    assert_eq!(metric(whole[1], "throughput"), Some(114.182 * 1e6));
    for phase in whole {
        assert_eq!(phase.parameters["sync_open"], true);
        assert_eq!(phase.parameters["sync_dirs"], true);
    }
}

#[test]
fn the_last_line_of_dbench_is_enough() {
    let line = "Throughput 326.895 MB/sec  2 clients  2 procs  max_latency=184.815 ms\n";
    let run = run_of(line);
    assert_eq!(run.trials[0].phases.len(), 1);
    let rate = metric(phase(&run, 0, "dbench"), "throughput");
    assert_eq!(rate, Some(326.895 * 1e6));
}

#[test]
fn an_output_of_dbench_that_is_cut_off_or_damaged_is_refused() {
    let whole = text("dbench-4.00.txt");
    let end = whole.find("Throughput").expect("a summary");
    for (text, cause) in [
        (
            whole[..end].to_owned(),
            "it is cut off: there is no line 'Throughput",
        ),
        (
            whole[..end].repeat(2) + &whole,
            "execution at line 1: it is cut off",
        ),
        (
            whole.replace("0.836", "0.8.36"),
            "\"0.8.36\" is not a figure from 0",
        ),
        (
            whole.replace(" ReadX ", " WriteX "),
            "is not an operation of one row",
        ),
        (whole.replace("   118.883", ""), "3 fields instead of 4"),
        (
            "Throughput 255.9 MB/sec 4 procs\n".to_owned(),
            "N clients  N procs",
        ),
    ] {
        let error = read(&[source("f", text)]).expect_err(cause);
        assert_eq!(error.message, "cannot import f as output of dbench");
        assert!(error.causes.concat().contains(cause), "{:?}", error.causes);
        assert!(error.hint.is_some(), "{cause}");
    }
}
