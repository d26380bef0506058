//! Rare forms of outputs, written by hand: read with the right figures, or refused with the cause.

use fslab_exchange::Imported;
use fslab_model::{PhaseRecord, RunRecord};

use crate::fixture::{read, source, written};

fn imported(name: &str) -> Imported {
    read(&[source(name, written(name))]).expect(name)
}

fn run(name: &str) -> RunRecord {
    let mut runs = imported(name).runs;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn phase<'r>(run: &'r RunRecord, trial: usize, name: &str) -> &'r PhaseRecord {
    let mut phases = run.trials[trial].phases.iter();
    phases.find(|phase| phase.name == name).expect(name)
}

/// Times under "(in ms/op)" were taken for milliseconds of one operation, and those under "(in
/// ops/sec)" for no table.
#[test]
fn times_of_mdtest_are_seconds_of_the_phase_whatever_their_head_says() {
    for name in [
        "mdtest-time-only-in-ms-per-op.txt",
        "mdtest-time-only-in-ops-per-sec.txt",
    ] {
        let run = run(name);
        for (name, rate, elapsed_ns) in [
            ("file-removal", 1000.0, 4e9),
            ("file-creation", 2000.0, 2e9),
            ("file-stat", 8000.0, 5e8),
            ("file-read", 4000.0, 1e9),
        ] {
            let phase = phase(&run, 0, name);
            assert_eq!(phase.figures["operation_rate"], rate, "{name}");
            assert_eq!(phase.figures["elapsed_ns"], elapsed_ns, "{name}");
        }
        let tree = phase(&run, 0, "tree-removal");
        assert_eq!(tree.figures["elapsed_ns"], 2e6);
        assert!(!tree.figures.contains_key("operation_rate"));
    }
    let run = run("mdtest-rate-and-time-in-ms-per-op.txt");
    let removal = phase(&run, 0, "file-removal");
    assert_eq!(removal.figures["operation_rate"], 1000.0);
    assert_eq!(removal.figures["elapsed_ns"], 4e9);
    assert_eq!(removal.notes, Vec::<String>::new());
}

/// `mdtest -v` prints what the summary has only the mean of.
#[test]
fn each_iteration_that_mdtest_prints_is_a_repeat() {
    let run = run("mdtest-verbose-iterations.txt");
    assert_eq!((run.trials.len(), run.header.plan.repeats), (3, 3));
    for (trial, factor) in [1.0, 2.0, 4.0].into_iter().enumerate() {
        for (name, rate, seconds) in [
            ("directory-creation", 2000.0, 1.0),
            ("directory-stat", 8000.0, 0.25),
            ("directory-removal", 4000.0, 0.5),
        ] {
            let phase = phase(&run, trial, name);
            assert_eq!(phase.figures["operation_rate"], rate * factor, "{name}");
            let elapsed_ns = (seconds / factor * 1e3_f64).round_ties_even() * 1e6;
            assert_eq!(phase.figures["elapsed_ns"], elapsed_ns, "{name}");
            assert_eq!(phase.notes, Vec::<String>::new());
        }
        let tree = phase(&run, trial, "tree-creation");
        assert_eq!(tree.figures["operation_rate"], 1000.0 * factor);
    }
    let other = String::from_utf8(written("mdtest-verbose-iterations.txt")).expect("text");
    let other = other.replace("8000.000       2000.000", "8000.000       1900.000");
    let imported = read(&[source("f", other)]).expect("a summary");
    assert_eq!(imported.runs[0].trials.len(), 1);
    let expected = "f: mdtest -v prints 3 iterations as the first task measured them, and those of \
                    'directory-creation' are not the ones of its summary: the means of the summary \
                    count";
    assert_eq!(imported.notes, [expected]);
    let created = phase(&imported.runs[0], 0, "directory-creation");
    assert_eq!(created.figures["operation_rate"], 4666.667);
}
