//! fio's terse output in the versions other than its default, 3.

use crate::fixture::{metric, phase, read, run_of, source, text};

/// The same job file, run once for each version; what is printed differs by place only.
#[test]
fn versions_2_4_and_5_of_the_terse_output_have_the_figures_that_they_print() {
    for (version, first, width) in [(2, 4, 41), (4, 5, 41), (5, 5, 47)] {
        let whole = text(&format!("fio-3.33-terse-{version}.txt"));
        let run = run_of(&*whole);
        let names: Vec<&str> = run.trials[0].phases.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["j-read", "j-write", "w"], "{version}");
        let lines: Vec<Vec<&str>> = whole.lines().map(|it| it.split(';').collect()).collect();
        let number = |field: &str| -> f64 { field.parse().expect("a number") };
        for (name, line, side) in [("j-read", 0, 0), ("j-write", 0, 1), ("w", 1, 1)] {
            let fields = &lines[line][first + side * width..];
            let phase = phase(&run, 0, name);
            assert_eq!(phase.bytes, Some(number(fields[0]) as u64 * 1024), "{name}");
            let rate = metric(phase, "operation_rate").expect("a rate");
            assert!((rate - number(fields[2])).abs() < 1.0, "{name}: {rate}");
            let max = metric(phase, "latency_ns_max").expect("a latency");
            assert_eq!(max, number(fields[9]) * 1e3, "{name}");
        }
    }
}

#[test]
fn the_directions_of_unified_reporting_are_refused() {
    let whole = text("fio-3.33-terse-4.txt");
    let line = whole.lines().next().expect("a job");
    let fields: Vec<&str> = line.split(';').collect();
    let both = [&fields[..128], &fields[5..46], &fields[128..]]
        .concat()
        .join(";");
    let error = read(&[source("f", both + "\n")]).expect_err("both");
    let cause = error.causes.concat();
    assert!(cause.contains("with unified_rw_reporting"), "{cause}");
}
