//! Rare forms of outputs, written by hand: read with the right figures, or refused with the cause.

use fslab_exchange::{Imported, Source};
use fslab_model::{Headline, PhaseRecord, PointValue, RunRecord, Subject, phase_metrics};

use crate::fixture::{read, run_of, source, text, written};

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

/// A metric that the store has of a phase.
fn metric(phase: &PhaseRecord, name: &str) -> Option<f64> {
    let metrics = phase_metrics(phase);
    let mut of_name = metrics.iter().filter(|it| it.definition.name == name);
    of_name.next().map(|it| it.value)
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

/// The phases of a run with a figure, by name.
fn figures_of(run: &RunRecord, metric: &str) -> Vec<(String, f64)> {
    let phases = run.trials[0].phases.iter();
    let figure = |phase: &PhaseRecord| Some((phase.name.clone(), *phase.figures.get(metric)?));
    phases.filter_map(figure).collect()
}

/// Most people keep the table of bonnie++, and its line of CSV scrolls away.
#[test]
fn the_tables_of_bonnie_are_read_without_its_csv() {
    let imported = imported("bonnie-table-only.txt");
    let run = &imported.runs[0];
    assert_eq!(run.trials[0].subject.to_string(), "box");
    assert_eq!(run.header.plan.title, "Imported from bonnie++ 1.97");
    let kib = |rate: f64| rate * 1024.0;
    for (name, metric, value, share, latency_ns) in [
        ("per-char-write", "throughput", kib(700.0), 0.97, 12e6),
        ("block-write", "throughput", kib(90_000.0), 0.12, 900e6),
        ("rewrite", "throughput", kib(45_000.0), 0.06, 1200e6),
        ("per-char-read", "throughput", kib(2000.0), 0.96, 15e6),
        ("block-read", "throughput", kib(105_000.0), 0.08, 120e6),
        ("seeks", "operation_rate", 310.5, 0.09, 500e6),
        ("create-seq", "operation_rate", 20_000.0, 0.60, 500e3),
        ("delete-seq", "operation_rate", 25_000.0, 0.55, 400e3),
        ("create-rand", "operation_rate", 21_000.0, 0.61, 600e3),
        ("delete-rand", "operation_rate", 24_000.0, 0.54, 350e3),
    ] {
        let phase = phase(run, 0, name);
        assert_eq!(phase.figures[metric], value, "{name}");
        assert_eq!(phase.figures["cpu_share"], share, "{name}");
        assert_eq!(phase.figures["latency_ns_max"], latency_ns, "{name}");
    }
    let read = phase(run, 0, "read-seq");
    assert!(!read.figures.contains_key("operation_rate"));
    assert_eq!(phase(run, 0, "seeks").parameters["file_size"], 4_u64 << 30);
    assert_eq!(read.parameters["files"], 16 * 1024);
}

/// In real outputs the tables have the figures of the line of CSV below them.
#[test]
fn the_tables_of_bonnie_have_the_figures_of_its_csv() {
    for (name, is_rounded) in [
        ("bonnie-1.00h.txt", false),
        ("bonnie-1.03e.txt", false),
        ("bonnie-1.91b-data.txt", false),
        ("bonnie-1.93c.txt", false),
        ("bonnie-1.96-files.txt", false),
        ("bonnie-1.97.3.txt", false),
        ("bonnie-2.00a.txt", true),
    ] {
        let whole = text(name);
        let (tables, _) = whole.trim_end().rsplit_once('\n').expect("lines");
        let (of_csv, of_tables) = (run_of(whole.as_str()), run_of(tables));
        let subject = |run: &RunRecord| run.trials[0].subject.clone();
        if name != "bonnie-1.96-files.txt" {
            assert_eq!(subject(&of_tables), subject(&of_csv), "{name}");
        }
        for metric in ["throughput", "cpu_share", "latency_ns_max"] {
            let (of_csv, of_tables) = (figures_of(&of_csv, metric), figures_of(&of_tables, metric));
            assert_eq!(of_csv.len(), of_tables.len(), "{name} {metric}");
            for ((phase, csv), (same, table)) in of_csv.iter().zip(&of_tables) {
                assert_eq!(phase, same, "{name}");
                let rounding = if is_rounded { 0.005 } else { 0.0 };
                assert!(
                    (csv - table).abs() <= rounding * csv,
                    "{name} {phase} {csv} {table}"
                );
            }
        }
        let of_csv = figures_of(&of_csv, "operation_rate");
        let of_tables = figures_of(&of_tables, "operation_rate");
        for (phase, rate) in &of_tables {
            let (_, csv) = of_csv.iter().find(|(name, _)| name == phase).expect(phase);
            assert!((csv - rate).abs() <= 0.5, "{name} {phase} {csv} {rate}");
        }
        // The tables of 2.00 have the number of files instead of their rates.
        let expected = if is_rounded { 1 } else { of_csv.len() };
        assert_eq!(of_tables.len(), expected, "{name}");
    }
}

/// Without a name, with a chunk size and without some tests; indented, as in a message.
#[test]
fn a_table_of_bonnie_in_a_message_is_read() {
    let table = [
        "Version  2.00       ------Sequential Output------ --Sequential Input- --Random-",
        "                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--",
        "Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP",
        "64G:4k                        15.5m  19 60.5m  26            218m  31 279.1  13",
        "Latency                         659ms     517ms             61146us    3052ms",
    ];
    let table = table.map(|line| format!("  {line}\n")).concat();
    let imported = read(&[source("f", table)]).expect("a table");
    let run = &imported.runs[0];
    let names: Vec<String> = figures_of(run, "latency_ns_max")
        .into_iter()
        .map(|it| it.0)
        .collect();
    assert_eq!(names, ["block-write", "rewrite", "block-read", "seeks"]);
    let write = phase(run, 0, "block-write");
    assert_eq!(write.figures["throughput"], 15.5 * 1_048_576.0);
    assert_eq!(write.figures["latency_ns_max"], 659e6);
    assert_eq!(write.parameters["record"], 4096);
    assert_eq!(phase(run, 0, "seeks").figures["operation_rate"], 279.1);
    assert!(
        imported.notes[1].contains("round rates"),
        "{:?}",
        imported.notes
    );
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
