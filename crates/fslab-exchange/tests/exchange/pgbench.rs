//! pgbench's text.

use fslab_model::Headline;

use crate::fixture::{metric, phase, read, run_of, source, text};

#[test]
fn each_script_of_pgbench_is_a_phase_with_its_rate() {
    let run = run_of(text("pgbench-15.18-scripts.txt"));
    assert_eq!(run.header.plan.title, "Imported from pgbench 15.18");
    let durable = phase(&run, 0, "pgbench-tpcb-like");
    assert_eq!(metric(durable, "operation_rate"), Some(514.632_015));
    assert_eq!(durable.operations, Some(1544));
    assert_eq!(durable.headline, Headline::OperationRate);
    assert_eq!(durable.notes, ["pgbench: latency average = 3.886 ms."]);
    let parameter = |name: &str| durable.parameters[name].clone();
    assert_eq!(parameter("scale"), 2);
    assert_eq!(parameter("clients"), 2);
    assert_eq!(parameter("threads"), 2);
    assert_eq!(parameter("query_mode"), "simple");
    assert_eq!(parameter("duration"), "3 s");
    let select = phase(&run, 0, "pgbench-select-only");
    assert_eq!(metric(select, "operation_rate"), Some(11_742.326_390));
    assert_eq!(select.operations, Some(500));
    assert_eq!(select.parameters["transactions"], 500);
    assert_eq!(select.parameters["query_mode"], "prepared");
}

#[test]
fn progress_and_latencies_of_statements_are_no_results() {
    let run = run_of(text("pgbench-15.18-progress.txt"));
    let update = phase(&run, 0, "pgbench-simple-update");
    assert_eq!(metric(update, "operation_rate"), Some(483.870_413));
    assert_eq!(update.operations, Some(1408));
    let expected = [
        "pgbench: latency average = 4.110 ms.",
        "pgbench: latency stddev = 11.101 ms.",
    ];
    assert_eq!(update.notes, expected);
}

/// The rate of each script has the same words as the rate of all.
#[test]
fn several_scripts_are_one_phase() {
    let run = run_of(text("pgbench-15.18-several.txt"));
    assert_eq!(run.trials[0].phases.len(), 1);
    let all = phase(&run, 0, "pgbench-multiple-scripts");
    assert_eq!(metric(all, "operation_rate"), Some(1_504.689_858));
    assert_eq!(all.operations, Some(3013));
}

#[test]
fn what_changes_the_meaning_of_a_rate_of_pgbench_is_noted() {
    let connect = run_of(text("pgbench-15.18-connect.txt"));
    let select = phase(&connect, 0, "pgbench-select-only");
    assert_eq!(metric(select, "operation_rate"), Some(89.815_304));
    assert_eq!(select.notes[0], "The rate includes the time to connect.");
    let rate = run_of(text("pgbench-15.18-rate.txt"));
    let notes = phase(&rate, 0, "pgbench-tpcb-like").notes.join(" ");
    for words in [
        "number of transactions skipped: 12 (6.218%)",
        "above the 20.0 ms latency limit: 11/181",
        "rate limit schedule lag: avg 1.783 (max 37.102) ms",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
}

/// Versions before 14 print both rates, and no version.
#[test]
fn the_rate_without_connecting_is_preferred() {
    let old = text("pgbench-15.18-rate.txt").replace(
        "tps = 90.694631 (without initial connection time)",
        "tps = 80.5 (including connections establishing)\n\
         tps = 90.5 (excluding connections establishing)",
    );
    let old: String = old
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    let run = run_of(old);
    assert_eq!(run.header.plan.title, "Imported from pgbench");
    let rate = metric(phase(&run, 0, "pgbench-tpcb-like"), "operation_rate");
    assert_eq!(rate, Some(90.5));
}

#[test]
fn an_output_of_pgbench_that_is_not_complete_is_refused() {
    let whole = text("pgbench-15.18-rate.txt");
    let end = whole.find("tps = ").expect("a rate");
    for (text, cause) in [
        (
            whole[..end].to_owned(),
            "it is cut off: there is no line 'tps ='",
        ),
        (
            format!("{whole}Run was aborted; the above results are incomplete.\n"),
            "pgbench says: Run was aborted",
        ),
        (
            whole.replace("processed: 181", "processed: many"),
            "\"many\" is not a count",
        ),
        (
            whole.replace("tps = 90.694631", "tps = 90,694631"),
            "\"90,694631\" is not a rate from 0",
        ),
        (
            "pgbench (15.18 (Debian 15.18-0+deb12u1))\nstarting vacuum...end.\n".to_owned(),
            "no line is 'transaction type: ...'",
        ),
    ] {
        let error = read(&[source("f", text)]).expect_err(cause);
        assert_eq!(error.message, "cannot import f as output of pgbench");
        assert!(error.causes.concat().contains(cause), "{:?}", error.causes);
        assert!(error.hint.is_some(), "{cause}");
    }
}
