//! The figures of every real output are read as printed.

use fslab_model::{PhaseOutcome, PhaseRecord, VenueKind, VenuePlan};

use crate::fixture::{lines, names, read, run_of, source, text};

#[test]
fn every_output_is_read_as_it_stands_there() {
    let names = names();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let imported = read(&[source(&name, text(&name))]).expect(&name);
        let run = &imported.runs[0];
        assert_eq!(run.header.plan.venue.kind(), VenueKind::Imported);
        let notes: String = imported
            .notes
            .iter()
            .map(|note| format!("note: {note}\n"))
            .collect();
        insta::assert_snapshot!(name.replace('.', "_"), lines(run) + &notes);
    }
}

#[test]
fn line_ends_of_other_systems_and_names_of_files_change_nothing() {
    for name in names() {
        let crlf = text(&name).replace('\n', "\r\n");
        assert_eq!(run_of(crlf).trials, run_of(text(&name)).trials, "{name}");
    }
}

#[test]
fn comments_and_prompts_around_an_output_change_no_figure() {
    for name in names() {
        let around = format!("# measured on Sunday\n\n{}\n\n", text(&name));
        assert_eq!(run_of(around).trials, run_of(text(&name)).trials, "{name}");
    }
}

#[test]
fn a_rate_that_bonnie_does_not_give_is_not_measured() {
    let run = run_of(text("bonnie-2.00a.txt"));
    let phases = &run.trials[0].phases;
    let read = phases
        .iter()
        .find(|phase| phase.name == "block-read")
        .expect("block-read");
    assert_eq!(read.outcome, PhaseOutcome::Done);
    assert!(
        !read.figures.contains_key("throughput"),
        "{:?}",
        read.figures
    );
    assert!(read.figures.contains_key("latency_ns_max"));
    assert!(read.notes[0].contains("less than half a second"));
}

/// Up to 1.96 bonnie++ prints a comma too few for tests that are left out, and the line was refused
/// as truncated.
#[test]
fn tests_left_out_of_bonnie_move_no_figure() {
    let phase = |file: &str, name: &str| {
        let run = run_of(text(file));
        let mut phases = run.trials[0].phases.iter();
        phases.find(|phase| phase.name == name).expect(name).clone()
    };
    let created = phase("bonnie-1.96-files.txt", "create-seq");
    assert_eq!(created.parameters["files"], 48 * 1024);
    assert_eq!(created.figures["latency_ns_max"], 12_128_000.0);
    let deleted = phase("bonnie-1.91b-files.csv", "delete-rand");
    assert_eq!(deleted.figures["operation_rate"], 88_768.0);
    assert_eq!(deleted.figures["latency_ns_max"], 11_951_000.0);
    let seeks = phase("bonnie-1.91b-data.txt", "seeks");
    assert_eq!(seeks.figures["operation_rate"], 2523.9);
    assert_eq!(seeks.figures["latency_ns_max"], 36_070_000.0);
    for name in ["bonnie-1.96-files.txt", "bonnie-1.91b-data.txt"] {
        let whole = text(name);
        let (cut, _) = whole.trim_end().rsplit_once(',').expect("fields");
        read(&[source(name, cut)]).expect_err("a line that is cut off");
    }
}

/// The table of all tests has more columns, that of mapped files fewer: both were refused. Values
/// of eight digits touch in it.
#[test]
fn a_table_of_iozone_may_have_other_columns_than_thirteen() {
    for (name, tests, last) in [
        ("iozone-3.489-all-tests.txt", 17, "repread"),
        ("iozone-3.489-mmap.txt", 4, "reread"),
    ] {
        let run = run_of(text(name));
        let phases = &run.trials[0].phases;
        let of_record = |record: u64| {
            let at = |phase: &&PhaseRecord| phase.parameters["record"] == record;
            phases.iter().filter(at).count()
        };
        assert_eq!(of_record(65_536), tests, "{name}");
        let swept = phases.last().and_then(|phase| phase.swept.as_ref());
        assert_eq!(swept.expect("a sweep").phase, last);
        assert!(phases.iter().all(|it| it.figures["throughput"] > 1e7));
    }
}

/// The shares of `-+u` were ignored; in a report alone they were read as rates.
#[test]
fn iozone_gives_the_share_of_a_processor() {
    for (name, phases) in [
        ("iozone-3.489-processor.txt", 6),
        ("iozone-3.420-processor.txt", 4),
    ] {
        let run = run_of(text(name));
        let shares = run.trials[0].phases.iter();
        let shares: Vec<f64> = shares.map(|phase| phase.figures["cpu_share"]).collect();
        assert_eq!(shares.len(), phases, "{name}");
        assert!(
            shares.iter().all(|share| (0.1..=2.0).contains(share)),
            "{shares:?}"
        );
    }
    let whole = text("iozone-3.420-processor.txt");
    let begin = whole.find("\"Throughput report").expect("a report");
    let (report, whole) = (run_of(&whole[begin..]), run_of(whole.as_str()));
    for (part, all) in report.trials[0].phases.iter().zip(&whole.trials[0].phases) {
        assert_eq!((&part.name, &part.figures), (&all.name, &all.figures));
    }
}

#[test]
fn processes_of_one_job_of_fio_are_put_together_and_keep_their_own() {
    let run = run_of(text("fio-3.33-plus.json"));
    let many = run.trials[0]
        .phases
        .iter()
        .find(|phase| phase.name == "many")
        .expect("many");
    assert_eq!(many.threads.len(), 3);
    assert_eq!(
        many.operations,
        Some(many.threads.iter().map(|it| it.operations).sum())
    );
    assert_eq!(
        many.latency().map(|latency| latency.count()),
        many.operations
    );
}

#[test]
fn an_output_names_the_tool_and_its_version() {
    for (name, tool) in [
        ("bonnie-1.03e.txt", "bonnie++ 1.03"),
        ("bonnie-1.93c.txt", "bonnie++ 1.93c"),
        ("bonnie-2.00a-twice.csv", "bonnie++ 2.00a"),
        ("fio-2.2.10.json", "fio 2.2.10"),
        ("fio-2.21-plus.json", "fio 2.21"),
        ("fio-3.33-client.json", "fio 3.33"),
        ("iozone-3.471-table.txt", "iozone 3.471"),
        ("mdtest-1.8.4-verbose.txt", "mdtest 1.8.4"),
        ("mdtest-1.9.3.txt", "mdtest 1.9.3"),
        ("mdtest-3.3.0.txt", "mdtest 3.3.0"),
        ("mdtest-4.1.0-tasks.txt", "mdtest 4.1.0+dev"),
        ("ior-3.0.1.txt", "ior 3.0.1"),
        ("ior-3.2.1.txt", "ior 3.2.1"),
        ("ior-3.3.0.json", "ior 3.3.0"),
        ("ior-4.0.0.json", "ior 4.0.0"),
        ("ior-4.1.0-verbose.txt", "ior 4.1.0+dev"),
        ("io500-result.txt", "io500 sc25"),
        ("io500-summary.txt", "io500 sc25"),
    ] {
        let expected = VenuePlan::Imported { tool: tool.into() };
        assert_eq!(run_of(text(name)).header.plan.venue, expected);
    }
}

/// Figures, settings and the number of ranks, as they stand in the outputs.
#[test]
fn each_repetition_of_ior_is_a_trial_and_each_test_has_its_settings() {
    let run = run_of(text("ior-4.1.0-tests.txt"));
    assert_eq!((run.trials.len(), run.header.plan.repeats), (2, 2));
    assert_eq!(run.header.plan.ranks, 2);
    let phases = &run.trials[1].phases;
    let names: Vec<&str> = phases.iter().map(|it| it.name.as_str()).collect();
    let expected = [
        "test-0-write",
        "test-0-read",
        "test-1-write",
        "test-1-read",
        "test-2-write",
        "test-2-read",
    ];
    assert_eq!(names, expected);
    assert_eq!(phases[4].figures["throughput"], 21.68 * 1_048_576.0);
    assert_eq!(phases[4].figures["elapsed_ns"], 23_064_000.0);
    assert_eq!(phases[4].parameters["access"], "file-per-process");
    assert_eq!(phases[4].parameters["order"], "random");
    assert_eq!(phases[4].parameters["transfer_size"], 131_072);
    assert_eq!(phases[0].parameters["access"], "single-shared-file");
    let json = run_of(text("ior-4.1.0-tests.json"));
    assert_eq!(json.trials.len(), 2);
    let settings = |name: &str, value: serde_json::Value| {
        assert_eq!(json.trials[0].phases[2].parameters[name], value, "{name}");
    };
    settings("fsync", true.into());
    settings("block_size", 262_144.into());
    let timed = run_of(text("ior-4.1.0-stonewall.txt"));
    let write = &timed.trials[0].phases[0];
    assert_eq!(write.parameters["stonewall_s"], 1);
    assert_eq!(write.parameters["wear_out"], true);
    assert!(
        write.notes[0].contains("pairs accessed min: 1024"),
        "{:?}",
        write.notes
    );
}

#[test]
fn a_number_of_tasks_that_no_machine_has_is_not_the_number_of_ranks() {
    for (tasks, ranks) in [("4", 4), ("4294967295", 1), ("0", 1)] {
        let many = text("ior-4.1.0-of-io500.txt");
        let many = many.replace("tasks               : 2", &format!("tasks : {tasks}"));
        assert_eq!(run_of(many).header.plan.ranks, ranks, "{tasks}");
    }
}

/// What IO500 marks is read with its marks.
#[test]
fn marks_of_an_invalid_run_of_io500_are_kept() {
    let imported = read(&[source("f", text("io500-result.txt"))]).expect("a result");
    assert!(
        imported.notes[0].contains("SCORE 2.555614 [INVALID]"),
        "{:?}",
        imported.notes
    );
    let trial = &imported.runs[0].trials[0];
    assert_eq!(trial.facts["io500 score"], "2.555614");
    assert_eq!(trial.facts["io500 validity"], "invalid");
    let phase = |name: &str| trial.phases.iter().find(|it| it.name == name).expect(name);
    let write = phase("mdtest-easy-write");
    assert_eq!(write.figures["operation_rate"], 11_956.959);
    assert!(write.notes[0].contains("smaller than expected minimum runtime"));
    let read = phase("ior-easy-read");
    assert!(
        read.notes.iter().all(|note| !note.contains("invalid")),
        "{:?}",
        read.notes
    );
    assert_eq!(read.parameters["tasks"], 2);
    let valid = text("io500-result.txt").replace(" [INVALID]", "");
    let valid: String = valid
        .lines()
        .filter(|line| !line.starts_with("; ERROR"))
        .map(|line| format!("{line}\n"))
        .collect();
    let imported = read_notes(&valid);
    assert_eq!(imported, Vec::<String>::new());
}

fn read_notes(text: &str) -> Vec<String> {
    read(&[source("f", text)]).expect("a result").notes
}
