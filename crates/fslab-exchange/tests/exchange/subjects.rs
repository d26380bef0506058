//! Assignment of figures to subjects and repeats.

use fslab_exchange::Source;
use fslab_model::Subject;

use crate::fixture::{labels, read, run_of, source, text};

fn cells(run: &fslab_model::RunRecord) -> Vec<String> {
    let cell =
        |trial: &fslab_model::TrialRecord| format!("{} {}", trial.subject, trial.trial.repeat);
    run.trials.iter().map(cell).collect()
}

#[test]
fn each_machine_of_bonnie_is_a_subject_and_its_lines_are_repeats() {
    let run = run_of(text("bonnie-1.96-two-machines.csv"));
    let expected = [
        "box-a 0", "box-a 1", "box-a 2", "box-b 0", "box-b 1", "box-b 2",
    ];
    assert_eq!(cells(&run), expected);
    assert_eq!(run.header.plan.repeats, 3);
}

#[test]
fn files_of_one_tool_are_repeats_of_one_subject() {
    let fio = text("fio-3.33-grouped.json");
    let later = fio.replace("\"timestamp\" : 1795", "\"timestamp\" : 1796");
    let sources = [source("a", fio), source("b", later)];
    let imported = read(&sources).expect("two repeats");
    assert_eq!(cells(&imported.runs[0]), ["fio 0", "fio 1"]);
    assert_eq!(imported.runs[0].trials[1].facts["imported from"], "b");
}

#[test]
fn outputs_behind_each_other_in_one_file_are_repeats() {
    for name in [
        "fio-3.33-grouped.json",
        "iozone-3.489-selected.txt",
        "mdtest-4.0.0.txt",
        "ior-4.1.0-of-io500.txt",
        "io500-result.txt",
        "io500-summary.txt",
    ] {
        let mut other = text(name);
        for (time, later) in [
            ("1795", "1796"),
            ("/2026 ", "/2027 "),
            (" 2026\n", " 2027\n"),
            (" 2026-", " 2027-"),
            (": time 0.", ": time 1."),
        ] {
            other = other.replace(time, later);
        }
        let run = run_of(format!("{}{other}", text(name)));
        assert_eq!(run.trials.len(), 2, "{name}");
        assert_eq!(
            run.trials[0].phases.len(),
            run.trials[1].phases.len(),
            "{name}"
        );
    }
}

#[test]
fn a_subject_that_is_given_outranks_the_one_in_the_file() {
    let named = |name: &str, subject: &str, seed: &str| Source {
        subject: Some(Subject::plain(subject)),
        ..source(name, text("bonnie-2.00a.txt").replace("1795293423", seed))
    };
    let sources = [
        named("a", "ext4", "1795293423"),
        named("b", "xfs", "1795293424"),
        named("c", "ext4", "1795293425"),
    ];
    let imported = read(&sources).expect("three files");
    assert_eq!(cells(&imported.runs[0]), ["ext4 0", "ext4 1", "xfs 0"]);
    assert_eq!(
        imported.runs[0].header.plan.repeats, 1,
        "what each of them has"
    );
    let labels = fslab_exchange::Labels {
        subject: Some("ext4:noatime".parse().expect("a subject")),
        ..labels()
    };
    let sources = [source("a", text("bonnie-1.96-two-machines.csv"))];
    let all = fslab_exchange::import(&sources, None, &labels).expect("one subject");
    assert_eq!(all.runs[0].trials.len(), 6);
    assert_eq!(cells(&all.runs[0])[5], "ext4:mount=noatime 5");
}

#[test]
fn a_machine_may_have_any_name() {
    for (name, subject) in [
        ("my box", "my-box"),
        ("a:", "a-"),
        ("ext4:noatime", "ext4:mount=noatime"),
        (":x", "-x"),
    ] {
        let renamed = text("bonnie-2.00a.txt").replace(",box-a,", &format!(",{name},"));
        let run = run_of(renamed);
        assert_eq!(run.trials[0].subject.to_string(), subject);
        let again: Result<Subject, _> = run.trials[0].subject.to_string().parse();
        assert_eq!(again.as_ref(), Ok(&run.trials[0].subject));
    }
}

#[test]
fn subjects_that_differ_in_a_setting_are_compared_with_a_warning() {
    let other = text("bonnie-2.00a.txt")
        .replace(",box-a,", ",box-b,")
        .replace(",300M,", ",600M,");
    let sources = [source("a", text("bonnie-2.00a.txt")), source("b", other)];
    let imported = read(&sources).expect("two subjects");
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.contains("subjects differ in file_size"))
    );
    assert!(
        !imported.runs[0].header.plan.phases[0]
            .parameters
            .contains_key("file_size")
    );
}
