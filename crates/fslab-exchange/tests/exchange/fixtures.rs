//! Every output of a real tool gives the figures that stand in it.

use fslab_model::{PhaseOutcome, VenueKind, VenuePlan};

use crate::fixture::{names, read, run_of, source, text, told};

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
        insta::assert_snapshot!(name.replace('.', "_"), told(run) + &notes);
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

/// A rate that was withheld is no figure, and none is made up.
#[test]
fn what_bonnie_withholds_is_not_measured() {
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
fn an_output_tells_the_tool_and_its_version() {
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
    ] {
        let expected = VenuePlan::Imported { tool: tool.into() };
        assert_eq!(run_of(text(name)).header.plan.venue, expected);
    }
}
