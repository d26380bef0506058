//! Rare forms of fio's output: read with the right figures, or refused with the cause.

use fslab_exchange::Source;
use fslab_model::{Headline, RunRecord, Subject};

use crate::fixture::{metric, phase, read, run, run_of, source, text, written};

/// Executions with other jobs were repeats of which each lacked the phases of the other.
#[test]
fn executions_of_fio_with_other_jobs_are_one_trial() {
    let ensure = |run: &RunRecord| {
        assert_eq!(run.trials.len(), 1);
        let throughput = |name: &str| metric(phase(run, 0, name), "throughput");
        assert_eq!(throughput("first"), Some(536_870_912.0));
        assert_eq!(throughput("second"), Some(268_435_456.0));
    };
    ensure(&run("fio-two-executions.json"));
    let whole = String::from_utf8(written("fio-two-executions.json")).expect("text");
    let (first, second) = whole.split_at(whole.rfind("\n{").expect("two") + 1);
    let sources = [source("a.json", first), source("b.json", second)];
    let run = read(&sources).expect("two files").runs.remove(0);
    ensure(&run);
    assert_eq!(run.trials[0].facts["imported from"], "a.json, b.json");
}

#[test]
fn a_copy_of_an_output_counts_once() {
    let [a, b] = ["fio-no-subject-copy-1.json", "fio-no-subject-copy-2.json"];
    let two = [source(a, written(a)), source(b, written(b))];
    let imported = read(&two).expect("one execution");
    assert_eq!(imported.runs[0].trials.len(), 1);
    let expected =
        format!("{b}: the same execution as in {a}, with equal figures and time: it counts once");
    assert_eq!(imported.notes, [expected]);
    for name in [
        "mdtest-time-only-in-ms-per-op.txt",
        "ior-two-kinds-in-one-file.txt",
    ] {
        let once = read(&[source("f", written(name))]).expect(name);
        let twice = read(&[source("f", written(name).repeat(2))]).expect(name);
        assert_eq!(twice.runs[0].trials, once.runs[0].trials, "{name}");
        assert_eq!(twice.notes.len(), 1, "{:?}", twice.notes);
    }
}

/// Copies under two names were two subjects that are "the same".
#[test]
fn one_execution_as_two_subjects_is_reported() {
    let named = |name: &str, subject: &str| Source {
        subject: Some(Subject::plain(subject)),
        ..source(name, written("fio-no-subject-copy-1.json"))
    };
    let imported = read(&[named("a", "ext4"), named("b", "xfs")]).expect("two subjects");
    assert_eq!(imported.runs[0].trials.len(), 2);
    let expected = "b: the same execution as in a, with equal figures and time, and given as \
                    another subject: xfs and ext4 have one measurement";
    assert_eq!(imported.notes, [expected]);
}

/// Jobs of one name were joined as the processes of one job, whatever their options.
#[test]
fn jobs_of_fio_with_one_name_and_other_options_are_told_apart() {
    let run = run("fio-one-name.json");
    assert_eq!(run.trials.len(), 1);
    let phases = &run.trials[0].phases;
    let names: Vec<&str> = phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["j 4k", "j 64k"]);
    assert_eq!(phases[0].operations, Some(200));
    assert_eq!(phases[1].operations, Some(10));
    assert_eq!(phases[0].threads.len(), 2, "numjobs=2");
    assert_eq!(metric(&phases[0], "throughput"), Some(819_200.0));
    assert_eq!(metric(&phases[1], "throughput"), Some(655_360.0));
}

/// fio before 2.1.14 does not count operations: the phase had no figure.
#[test]
fn fio_without_a_count_of_operations_has_its_rates() {
    let run = run("fio-2.1-without-total-ios.json");
    let write = phase(&run, 0, "seqwrite");
    assert_eq!(write.headline, Headline::Throughput);
    assert_eq!(metric(write, "throughput"), Some(20_971_520.0));
    assert_eq!(metric(write, "operation_rate"), Some(40.0));
    assert_eq!(write.operations, None);
    assert_eq!(metric(write, "latency_ns_p99"), Some(9e6));
    assert!(write.notes[0].contains("has no number of operations"));
}

#[test]
fn a_list_of_documents_of_fio_is_read_as_its_documents() {
    let run = run("fio-array.json");
    assert_eq!(run.trials.len(), 1);
    let first = phase(&run, 0, "first");
    assert_eq!(metric(first, "throughput"), Some(536_870_912.0));
}

#[test]
fn fio_without_jobs_is_refused_by_what_is_empty() {
    let error = read(&[source("f.json", written("fio-no-jobs.json"))]).expect_err("no job");
    assert_eq!(error.message, "cannot import f.json as output of fio");
    let expected = "document at line 1, jobs: it is empty: fio ran no job";
    assert_eq!(error.causes.concat(), expected);
}

/// PowerShell writes UTF-16.
#[test]
fn utf_16_is_read() {
    let run = run("fio-utf16.json");
    let first = phase(&run, 0, "first");
    assert_eq!(metric(first, "throughput"), Some(536_870_912.0));
    assert_eq!(metric(first, "operation_rate"), Some(512.0));
}

/// fio's last bin has no upper end, and its value was the largest latency.
#[test]
fn latencies_at_the_end_of_fios_histogram_are_lower_bounds() {
    let end = 17_112_760_320.0;
    let run_of_bins = run("fio-bins-at-histogram-end.json");
    let phase_of_bins = phase(&run_of_bins, 0, "b");
    let about = |name: &str, expected: f64| {
        let value = metric(phase_of_bins, name).expect(name);
        assert!(
            (expected..expected * 1.001).contains(&value),
            "{name} {value}"
        );
    };
    about("latency_ns_max", 60e9);
    about("latency_ns_p50", 1000.0);
    let histogram = phase_of_bins.latency().expect("bins");
    assert_eq!(histogram.count(), 18);
    let at_end = histogram.percentile_ns(90.0).expect("counted") as f64;
    assert!((end..end * 1.001).contains(&at_end), "{at_end}");
    let expected = "fio's histogram ends at 17.1 s: percentiles above 83.3 % are lower bounds, \
                    except the largest latency.";
    assert_eq!(
        phase_of_bins.notes.last().map(String::as_str),
        Some(expected)
    );
    assert_eq!(
        phase_of_bins.bytes,
        Some(18 * 4096),
        "with bw_bytes, io_bytes is in bytes"
    );

    let run = run("fio-percentiles-at-histogram-end.json");
    let slow = phase(&run, 0, "slow");
    for name in ["p50", "p95", "p99", "p999"] {
        assert_eq!(metric(slow, &format!("latency_ns_{name}")), Some(end));
    }
    assert_eq!(metric(slow, "latency_ns_max"), Some(60e9));
    let expected = "fio's histogram ends at 17.1 s: p50, p95, p99, p99.9 are lower bounds.";
    assert_eq!(slow.notes.last().map(String::as_str), Some(expected));
}

/// A percentile has the value of its bin's middle, which can be above the largest latency.
#[test]
fn no_percentile_of_fio_is_above_the_largest_latency() {
    for name in [
        "fio-3.33-four-jobs.json",
        "fio-3.33-plus.json",
        "fio-2.21-plus.json",
    ] {
        for trial in &run_of(text(name)).trials {
            for phase in &trial.phases {
                let of = |name: &str| metric(phase, &format!("latency_ns_{name}"));
                let Some(max) = of("max") else { continue };
                for percentile in ["p50", "p95", "p99", "p999"] {
                    assert!(of(percentile) <= Some(max), "{name}: {}", phase.name);
                }
            }
        }
    }
    let write = &run_of(text("fio-3.33-four-jobs.json")).trials[0].phases[0];
    assert_eq!(metric(write, "latency_ns_max"), Some(16_134_610.0));
    assert_eq!(metric(write, "latency_ns_p99"), Some(16_134_610.0));
}

/// A randrw and a write, each a line of fio 3.33.
#[test]
fn the_terse_output_of_fio_is_read() {
    let name = "fio-3.33-terse.txt";
    let imported = read(&[source(name, text(name))]).expect(name);
    let run = &imported.runs[0];
    let names: Vec<&str> = run.trials[0].phases.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["j-read", "j-write", "w"]);
    let read_phase = phase(run, 0, "j-read");
    assert_eq!(read_phase.bytes, Some(528 << 10));
    assert_eq!(metric(read_phase, "elapsed_ns"), Some(18e6));
    assert_eq!(metric(read_phase, "operation_rate"), Some(7333.0));
    assert_eq!(metric(read_phase, "latency_ns_p50"), Some(75e3));
    assert_eq!(metric(read_phase, "latency_ns_p99"), Some(962e3));
    // fio gives 1269 us, and 1264 us as the largest latency.
    assert_eq!(metric(read_phase, "latency_ns_p999"), Some(1264e3));
    assert_eq!(metric(read_phase, "latency_ns_max"), Some(1264e3));
    assert_eq!(read_phase.headline, Headline::OperationRate);
    assert_eq!(phase(run, 0, "w").headline, Headline::Throughput);
    assert!(imported.notes[0].contains("no options of the jobs"));

    let twice = read(&[source("f", text(name).repeat(2))]).expect_err("processes or repeats");
    let cause = twice.causes.concat();
    assert!(
        cause.contains("its processes and its repeats look the same"),
        "{cause}"
    );
    let whole = text(name);
    let cut = whole
        .lines()
        .next()
        .and_then(|line| line.get(..400))
        .expect("a line");
    let cut = read(&[source("f", cut)]).expect_err("a line that is cut off");
    assert!(
        cut.causes
            .concat()
            .contains(" fields instead of at least 121")
    );
}
