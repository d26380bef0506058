//! Summaries of smaller tools: fs_mark, Filebench, smallfile, elbencho, DiskSpd, Phoronix.

use fslab_model::{Headline, PhaseOutcome, TimeSeries};

use crate::fixture::{metric, phase, read, run, run_of, source, text};

const MIB: f64 = 1_048_576.0;

fn refused(content: impl Into<Vec<u8>>) -> String {
    let error = read(&[source("f", content)]).expect_err("must be refused");
    assert!(error.hint.is_some(), "{:?}", error.causes);
    error.causes.concat()
}

#[test]
fn iterations_of_fs_mark_are_repeats_unless_the_files_stay() {
    let run = run_of(text("fs_mark-3.3-verbose.txt"));
    assert_eq!(run.trials.len(), 3);
    let whole = phase(&run, 1, "fs_mark");
    assert_eq!(metric(whole, "operation_rate"), Some(2087.7));
    assert_eq!(metric(whole, "operations"), Some(400.0));
    assert_eq!(metric(whole, "bytes"), Some(400.0 * 10240.0));
    assert_eq!(whole.parameters["sync"], "INBAND FSYNC");
    let fsync = phase(&run, 1, "fs_mark-fsync");
    assert_eq!(metric(fsync, "latency_ns_max"), Some(6_701_000.0));
    let kept = run_of(text("fs_mark-3.3-kept.txt"));
    assert_eq!(kept.trials.len(), 1);
    let last = phase(&kept, 0, "fs_mark 1500");
    assert_eq!(last.parameters["files_in_all"], 1500);
    assert_eq!(metric(last, "operation_rate"), Some(8225.4));
}

#[test]
fn the_breakdown_of_filebench_has_the_rates_of_its_counts() {
    let run = run_of(text("filebench-1.5-alpha3.txt"));
    let whole = phase(&run, 0, "filebench");
    assert_eq!(metric(whole, "operation_rate"), Some(5848.888));
    assert_eq!(metric(whole, "throughput"), Some(12.2 * MIB));
    let create = phase(&run, 0, "filebench-createfile2");
    let rate = metric(create, "operation_rate").expect("a rate");
    assert!((rate - 2197.0 * 5848.888 / 17_566.0).abs() < 1e-9, "{rate}");
    assert_eq!(metric(create, "latency_ns_max"), Some(6_920_000.0));
}

#[test]
fn the_older_form_of_filebench_has_commas_and_the_process_before_its_lines() {
    let run = run("filebench-1.4.txt");
    let whole = phase(&run, 0, "filebench");
    assert_eq!(metric(whole, "elapsed_ns"), Some(30e9));
    assert_eq!(metric(whole, "throughput"), Some(37.5 * MIB));
    let create = phase(&run, 0, "filebench-createfile2");
    assert_eq!(metric(create, "operation_rate"), Some(100.0));
    assert_eq!(metric(create, "latency_ns_max"), Some(40e6));
}

#[test]
fn smallfile_has_the_rates_of_all_threads() {
    let run = run_of(text("smallfile-3.2-create.json"));
    let create = phase(&run, 0, "create");
    assert_eq!(metric(create, "operation_rate"), Some(2_797.602_213_967_7));
    assert_eq!(metric(create, "operations"), Some(895.0));
    assert_eq!(create.threads.len(), 2);
    assert!(create.notes[0].starts_with("89.5 % of the files"));
}

/// A thread that failed has 100,000,000 s.
#[test]
fn an_operation_of_smallfile_that_failed_has_no_figures() {
    let run = run_of(text("smallfile-3.2-failed.json"));
    let create = phase(&run, 0, "create");
    assert!(matches!(create.outcome, PhaseOutcome::Failed { .. }));
    assert_eq!(metric(create, "elapsed_ns"), None);
}

#[test]
fn the_three_forms_of_elbencho_have_the_same_phases() {
    let of = |name: &str| run_of(text(name));
    let json = of("elbencho-3.0-37.json");
    assert_eq!(json.trials.len(), 1);
    let random = phase(&json, 0, "rwmix30-read");
    assert_eq!(metric(random, "throughput"), Some(51_415_221.0));
    assert_eq!(metric(random, "operation_rate"), Some(12_552.0));
    assert_eq!(random.headline, Headline::OperationRate);
    let created = phase(&json, 0, "write-files");
    assert_eq!(metric(created, "operation_rate"), Some(7461.0));
    assert_eq!(created.first_done_ns, Some(16_000_000));
    for name in ["elbencho-3.0-37.csv", "elbencho-3.0-37.txt"] {
        let other = of(name);
        let phases = &other.trials[0].phases;
        assert_eq!(phases.len(), json.trials[0].phases.len(), "{name}");
        for (exact, rounded) in json.trials[0].phases.iter().zip(phases) {
            assert_eq!(metric(exact, "elapsed_ns"), metric(rounded, "elapsed_ns"));
            let rates = [exact, rounded].map(|it| metric(it, "throughput"));
            if let [Some(exact), Some(rounded)] = rates {
                assert!((exact - rounded).abs() <= MIB, "{name}: {exact} {rounded}");
            }
            assert_eq!(metric(rounded, "bytes"), None, "whole MiB are no bytes");
        }
    }
}

#[test]
fn time_spans_of_diskspd_are_phases_of_each_direction() {
    let run = run_of(text("diskspd-2.2.xml"));
    let read = phase(&run, 0, "random-mix-read");
    assert_eq!(read.operations, Some(21_000));
    assert_eq!(metric(read, "operation_rate"), Some(7000.0));
    assert_eq!(metric(read, "latency_ns_p999"), Some(2_010_000.0));
    assert_eq!(metric(read, "latency_ns_max"), Some(5_250_000.0));
    let series = TimeSeries {
        interval_ns: 1_000_000_000,
        operations: vec![7000, 7100, 6900],
        bytes: Vec::new(),
    };
    assert_eq!(read.series, Some(series));
    let write = phase(&run, 0, "random-mix-write");
    assert_eq!(write.parameters["write_percent"], 30);
    assert_eq!(write.parameters["threads"], 2);
    assert_eq!(phase(&run, 0, "read").headline, Headline::Throughput);
}

#[test]
fn systems_of_phoronix_are_subjects_and_its_runs_repeats() {
    let whole = text("phoronix-10.8.6.xml");
    let run = run_of(&*whole);
    let subjects: Vec<String> = run.trials.iter().map(|it| it.subject.to_string()).collect();
    let expected = ["disk-a", "disk-a", "disk-a", "disk-b", "disk-b", "disk-b"];
    assert_eq!(subjects, expected);
    let third = phase(&run, 5, "fs-mark-test-300-files-no-sync");
    assert_eq!(metric(third, "operation_rate"), Some(1586.4));
    for (from, to, reason) in [
        (
            "<Scale>Files/s",
            "<Scale>Final Score",
            "neither a rate nor a time in seconds",
        ),
        (
            "local/fs-mark",
            "pts/x264",
            "it is no test of storage that is known",
        ),
        (
            "<Scale>Files/s",
            "<Scale>MB/s",
            "how many bytes an MB of fs-mark is",
        ),
    ] {
        let cause = refused(whole.replace(from, to));
        assert!(cause.contains(reason), "{cause}");
        let part = whole.replacen(from, to, 1);
        let imported = read(&[source("f", part)]).expect("the other result");
        assert!(imported.notes[0].contains(reason), "{:?}", imported.notes);
    }
}

#[test]
fn what_is_cut_off_damaged_or_failed_is_refused_by_its_place() {
    let fs_mark = text("fs_mark-3.3-verbose.txt");
    let filebench = text("filebench-1.5-alpha3.txt");
    let diskspd = text("diskspd-2.2.xml");
    let elbencho = text("elbencho-3.0-37.csv");
    let table = text("elbencho-3.0-37-screen.txt");
    for (text, cause) in [
        (
            fs_mark.replace("        400        10240", "        400x       10240"),
            "\"400x\"",
        ),
        (
            fs_mark[..fs_mark.find("FSUse").expect("a head")].to_owned(),
            "its table has no line",
        ),
        (
            filebench[..filebench.find("4.096: IO").expect("a summary")].to_owned(),
            "there is no line 'IO Summary: ...'",
        ),
        (
            filebench.replace("mb/s", "MB"),
            "is not a line with a number before 'mb/s'",
        ),
        (
            diskspd.replace(
                "<TestTimeSeconds>2.01",
                "<Error>interrupted</Error><TestTimeSeconds>2",
            ),
            "DiskSpd says: interrupted",
        ),
        (diskspd.replace("</Results>", ""), "it is cut off"),
        (
            diskspd.replace("<ReadCount>10500", "<ReadCount>-1"),
            "\"-1\" is not an integer",
        ),
        (
            elbencho.replacen(",MKDIRS,", ",MKBUCKETS,", 1),
            "is not a phase on files",
        ),
        (
            elbencho.replacen(",MKDIRS,", ",MKDIRS,,", 1),
            "fields instead of",
        ),
        (
            table.trim_end().trim_end_matches('-').to_owned(),
            "there is no line '---'",
        ),
    ] {
        let shown = refused(text);
        assert!(shown.contains(cause), "{shown}");
    }
}
