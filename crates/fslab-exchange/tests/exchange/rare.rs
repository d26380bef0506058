//! Rare forms of outputs, most written by hand: read with the right figures, or refused with the
//! cause. Those of fio and bonnie++ have their own files.

use fslab_model::{PhaseRecord, PointValue};

use crate::fixture::{imported, phase, read, run, source, written};

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

/// Two executions of a suite were refused with a hint that one file cannot follow.
#[test]
fn tests_of_one_file_that_differ_in_a_setting_are_phases_of_one_trial() {
    let run = run("ior-two-kinds-in-one-file.txt");
    assert_eq!(run.trials.len(), 1);
    let mib = 1_048_576.0;
    for (name, throughput) in [
        ("write file-per-process", 400.0 * mib),
        ("read file-per-process", 800.0 * mib),
        ("write single-shared-file", 300.0 * mib),
        ("read single-shared-file", 600.0 * mib),
    ] {
        let phase = phase(&run, 0, name);
        assert_eq!(phase.figures["throughput"], throughput, "{name}");
        assert_eq!(phase.swept, None);
    }
    assert_eq!(run.trials[0].phases.len(), 4);
}

/// A setting that is a number makes a sweep; a suite that ran twice has two repeats.
#[test]
fn a_suite_over_sizes_is_a_sweep_with_its_repeats() {
    let whole = String::from_utf8(written("ior-two-kinds-in-one-file.txt")).expect("text");
    let second = whole.rfind("IOR-3.3.0").expect("two executions");
    let small = &whole[second..];
    let large = small.replace("xfersize            : 1 MiB", "xfersize            : 4 MiB");
    let later = |text: &str| text.replace("10:00:00 2024", "11:00:00 2024");
    let suite = [small, &large, &later(small), &later(&large)].concat();
    let imported = read(&[source("f", suite)]).expect("a suite");
    let run = &imported.runs[0];
    assert_eq!((run.trials.len(), run.header.plan.repeats), (2, 2));
    for trial in &run.trials {
        let names: Vec<&str> = trial.phases.iter().map(|phase| &*phase.name).collect();
        let expected = [
            "write 1048576",
            "read 1048576",
            "write 4194304",
            "read 4194304",
        ];
        assert_eq!(names, expected);
        let swept = trial.phases[2].swept.as_ref().expect("a point");
        assert_eq!(swept.phase, "write");
        assert_eq!(swept.point["transfer_size"], PointValue::Bytes(4 << 20));
    }
    assert_eq!(imported.notes, Vec::<String>::new());
}

/// "GB/s" of the scripts of 2018 and 2019 was refused.
#[test]
fn gigabytes_of_the_scripts_of_io500_are_gibibytes() {
    let run = run("io500-2019-summary.txt");
    assert_eq!(run.trials[0].phases.len(), 12);
    let gib = 1_073_741_824.0;
    for (name, metric, value, seconds) in [
        ("ior-easy-write", "throughput", 2.5 * gib, 300.0),
        ("ior-hard-read", "throughput", 0.5 * gib, 70.0),
        ("mdtest-hard-write", "operation_rate", 5000.0, 305.0),
        ("find", "operation_rate", 100_000.0, 40.0),
    ] {
        let phase = phase(&run, 0, name);
        assert_eq!(phase.figures[metric], value, "{name}");
        assert_eq!(phase.figures["elapsed_ns"], seconds * 1e9, "{name}");
        assert_eq!(phase.notes, Vec::<String>::new());
    }
    assert_eq!(run.trials[0].facts["io500 score"], "3.76");
}

/// The marks of 2020 were passed over in silence.
#[test]
fn older_marks_of_an_invalid_run_of_io500_are_kept() {
    let imported = imported("io500-result-invalid.txt");
    let expected = "io500-result-invalid.txt: IO500 marks its run as invalid: stonewall-time is \
                    not 300s; the line [SCORE-invalid]";
    assert_eq!(imported.notes, [expected]);
    let run = &imported.runs[0];
    assert_eq!(run.trials[0].facts["io500 validity"], "invalid");
    let write = phase(run, 0, "ior-easy-write");
    assert_eq!(write.figures["throughput"], 1.5 * 1_073_741_824.0);
    assert_eq!(write.notes[0], "IO500: invalid: result.txt says why");
    let others = run.trials[0]
        .phases
        .iter()
        .filter(|it| it.name != "ior-easy-write");
    for other in others {
        assert!(other.notes.iter().all(|note| !note.contains("invalid")));
    }
    let text = String::from_utf8(written("io500-result-invalid.txt")).expect("text");
    let later = text.replace("[SCORE-invalid]", "[SCORE INVALID]");
    let later = read(&[source("f", later)]).expect("a summary");
    assert!(later.notes[0].ends_with("the line [SCORE INVALID]"));
}

/// A script prints each result twice, and phases stood twice in the trial.
#[test]
fn results_of_io500_that_are_listed_twice_count_once() {
    let once = String::from_utf8(written("io500-2019-summary.txt")).expect("text");
    let (results, score) = once.split_at(once.find("[SCORE]").expect("a score"));
    let twice = format!("{results}[Summary]\n{results}{score}");
    let trials = |text: &str| read(&[source("f", text)]).map(|it| it.runs[0].trials.clone());
    assert_eq!(trials(&twice), trials(&once));
    let again = format!("{once}{once}");
    assert_eq!(trials(&again), trials(&once));
    let other = results.replace("100.000 kiops", "101.000 kiops");
    let error = trials(&format!("{results}{other}{score}")).expect_err("two results");
    let expected = "line 17: \"find\" is not a phase that has one result";
    assert_eq!(error.causes.concat(), expected);
}

#[test]
fn a_control_character_in_a_path_changes_no_figure() {
    let run = run("mdtest-control-byte.txt");
    let created = phase(&run, 0, "file-creation");
    assert_eq!(created.figures["operation_rate"], 1000.0);
    assert_eq!(run.trials[0].facts["mdtest path"], "\u{fffd}");
}

/// Lines of pdsh begin with their host.
#[test]
fn lines_that_begin_with_a_host_are_the_output_of_that_host() {
    let prefixed = |host: &str, name: &str| -> Vec<String> {
        let text = String::from_utf8(written(name)).expect("text");
        text.lines()
            .map(|line| format!("{host}: {line}\n"))
            .collect()
    };
    for name in ["fio-one-name.json", "mdtest-time-only-in-ms-per-op.txt"] {
        let alone = read(&[source("f", prefixed("n1", name).concat())]).expect("one host");
        let plain = read(&[source("f", written(name))]).expect(name);
        assert_eq!(alone.runs[0].trials, plain.runs[0].trials, "{name}");
        let (one, two) = (prefixed("n1", name), prefixed("n2.x", name));
        let mixed: String = one
            .iter()
            .zip(&two)
            .map(|(a, b)| format!("{a}{b}"))
            .collect();
        let both = read(&[source("f", mixed)]).expect("two hosts");
        let subjects = both.runs[0]
            .trials
            .iter()
            .map(|trial| trial.subject.to_string());
        assert_eq!(subjects.collect::<Vec<_>>(), ["n1", "n2.x"]);
        for trial in &both.runs[0].trials {
            let figures = |phases: &[PhaseRecord]| -> Vec<_> {
                phases
                    .iter()
                    .map(|it| (it.name.clone(), it.figures.clone()))
                    .collect()
            };
            assert_eq!(
                figures(&trial.phases),
                figures(&plain.runs[0].trials[0].phases)
            );
        }
    }
}
