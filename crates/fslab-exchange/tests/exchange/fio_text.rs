//! fio's normal output, the one for people.

use fslab_exchange::{Activity, content};
use fslab_model::{Headline, PhaseOutcome};

use crate::fixture::{metric, phase, read, run_of, source, text};

const NORMAL: &str = "fio-3.33-normal.txt";

#[test]
fn the_jobs_of_the_normal_output_are_phases_with_their_figures() {
    let imported = read(&[source(NORMAL, text(NORMAL))]).expect(NORMAL);
    let run = &imported.runs[0];
    assert_eq!(run.header.plan.title, "Imported from fio 3.33");
    let names: Vec<&str> = run.trials[0].phases.iter().map(|it| &*it.name).collect();
    assert_eq!(
        names,
        ["w", "rr", "mix-read", "mix-write", "many", "grouped"]
    );
    let write = phase(run, 0, "w");
    assert_eq!((write.operations, write.bytes), (Some(128), Some(8 << 20)));
    assert_eq!(write.elapsed_ns, Some(17_000_000));
    assert_eq!(metric(write, "latency_ns_p50"), Some(13e3));
    assert_eq!(metric(write, "latency_ns_p99"), Some(996e3));
    assert_eq!(metric(write, "latency_ns_max"), Some(4060e3));
    assert_eq!(write.headline, Headline::Throughput);
    let read = phase(run, 0, "rr");
    assert_eq!(
        (read.operations, read.elapsed_ns),
        (Some(2048), Some(393_000_000))
    );
    assert_eq!(read.headline, Headline::OperationRate);
    assert!(
        imported.notes[0].contains("rounded figures"),
        "{:?}",
        imported.notes
    );
}

/// Units differ between the directions of one job; `4168.6k` are nanoseconds.
#[test]
fn directions_of_the_normal_output_have_separate_figures() {
    let run = run_of(text(NORMAL));
    let read = phase(&run, 0, "mix-read");
    // 1984KiB of 496 reads of 4096B, 3904KiB of 488 writes of 8192B.
    assert_eq!((read.operations, read.bytes), (Some(496), Some(1984 << 10)));
    assert_eq!(metric(read, "latency_ns_p50"), Some(80_384.0));
    assert_eq!(metric(read, "latency_ns_max"), Some(4_168_600.0));
    // fio gives 4177920 ns, and 4168.6k as the largest latency.
    assert_eq!(metric(read, "latency_ns_p999"), Some(4_168_600.0));
    let write = phase(&run, 0, "mix-write");
    assert_eq!(
        (write.operations, write.bytes),
        (Some(488), Some(3904 << 10))
    );
    assert_eq!(metric(write, "latency_ns_p50"), Some(7e3));
    assert_eq!(metric(write, "latency_ns_max"), Some(519e3));
}

/// Percentiles of fsync(2) follow those of the writes.
#[test]
fn latencies_of_fsync_are_not_those_of_writes() {
    let run = run_of(text(NORMAL));
    let grouped = phase(&run, 0, "grouped");
    assert_eq!(
        (grouped.operations, grouped.bytes),
        (Some(4096), Some(16 << 20))
    );
    assert_eq!(metric(grouped, "latency_ns_p99"), Some(63e3));
    assert_eq!(metric(grouped, "latency_ns_max"), Some(1386e3));
    assert_eq!(grouped.parameters["numjobs"], "2");
    let many = phase(&run, 0, "many");
    assert_eq!(many.threads.len(), 2);
    assert_eq!(many.elapsed_ns, Some(15_000_000));
    assert_eq!(metric(many, "latency_ns_max"), Some(7_090_300.0));
    assert_eq!(metric(many, "latency_ns_p50"), None, "of two processes");
}

#[test]
fn only_options_of_the_normal_output_are_conditions() {
    let run = run_of(text(NORMAL));
    let plan = &run.header.plan;
    let of = |name: &str| {
        let mut specs = plan.phases.iter();
        content(plan, specs.find(|spec| spec.name == name).expect(name))
    };
    let read = of("rr");
    assert_eq!(read.activity, Some(Activity::RandomRead));
    let expected = ["record size 4 KiB", "queue depth 4", "I/O engine libaio"];
    assert_eq!(read.conditions.in_words(), expected);
    let write = of("w");
    assert_eq!(write.activity, Some(Activity::Write));
    assert_eq!(write.conditions.in_words()[0], "record size 64 KiB");
}

/// `--status-interval` prints the results of a process again.
#[test]
fn the_last_snapshot_of_a_process_counts() {
    let whole = text(NORMAL);
    let from = whole.find("w: (groupid=0").expect("a job");
    let to = whole.find("rr: (groupid=1").expect("a job");
    let earlier = whole[from..to].replace("total=0,128,0,0", "total=0,64,0,0");
    let earlier = earlier.replace("8192KiB/17msec", "4096KiB/9msec");
    let both = format!("{}{earlier}{}", &whole[..from], &whole[from..]);
    assert_eq!(run_of(both).trials, run_of(whole).trials);
}

#[test]
fn a_job_with_an_error_is_a_failed_phase() {
    let failed = text(NORMAL).replace(
        "w: (groupid=0, jobs=1): err= 0: pid",
        "w: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, error=x): pid",
    );
    let run = run_of(failed);
    let outcome = &phase(&run, 0, "w").outcome;
    assert!(
        matches!(outcome, PhaseOutcome::Failed { .. }),
        "{outcome:?}"
    );
}

#[test]
fn what_the_normal_output_does_not_say_is_refused() {
    let whole = text(NORMAL);
    let first = whole.lines().next().expect("a line");
    for (text, cause) in [
        (
            whole[..whole.find("issued rwts").expect("a job")].to_owned(),
            "it is cut off: there is no line 'Run status group N'",
        ),
        (
            whole.replace("issued rwts: total=", "issued rwt: total="),
            "it is cut off: there is no line 'issued rwts: total=...'",
        ),
        (
            format!("{first}\n{whole}"),
            "\"w\" is not a name of one job",
        ),
        (
            whole.replace("fio-3.33", "fio-2.21"),
            "\"fio-2.21\" is not version 3",
        ),
        (
            whole.replace("w: (groupid=0", "<box> w: (groupid=0"),
            "it is of a client",
        ),
        (
            whole.replace("8192KiB/17msec", "8192Kib/17msec"),
            "is not 'IOPS=N, BW=N (N)(BYTES/Nmsec)'",
        ),
        (
            whole.replace("max=4060,", "max=40x60,"),
            "is not latencies of fio",
        ),
        (
            whole.replace("total=0,128,0,0", "total=0,-128,0,0"),
            "is not numbers of operations",
        ),
    ] {
        let error = read(&[source("f", text)]).expect_err(cause);
        assert_eq!(error.message, "cannot import f as output of fio");
        assert!(error.causes.concat().contains(cause), "{:?}", error.causes);
        assert!(error.hint.is_some(), "{cause}");
    }
}
