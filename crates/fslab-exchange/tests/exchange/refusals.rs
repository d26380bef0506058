//! Refused inputs and their errors.

use fslab_model::{Failure, PhaseRecord};

use crate::fixture::{names, read, source, text};

fn refused(content: impl Into<Vec<u8>>) -> Failure {
    read(&[source("f.txt", content)]).expect_err("must be refused")
}

#[test]
fn what_is_empty_or_no_text_says_so() {
    let error = refused("");
    assert_eq!(error.message, "cannot import f.txt");
    assert_eq!(error.causes.concat(), "it is empty");
    let binary = refused(b"\x7fELF\x02\x01\0\0".to_vec());
    assert_eq!(
        binary.causes.concat(),
        "it is not text: the byte at offset 6 is invalid"
    );
    let foreign = refused("Dear Sir or Madam\n");
    let cause = foreign.causes.concat();
    let expected = "it is not the output of a known tool: not output of IOR, because ";
    assert!(cause.starts_with(expected), "{cause}");
    assert!(
        cause.contains("; not output of mdtest, because "),
        "{cause}"
    );
    assert!(
        foreign
            .hint
            .is_some_and(|hint| hint.contains("bonnie++, iozone"))
    );
}

#[test]
fn outputs_of_two_tools_are_refused_by_the_names_of_both_files() {
    let sources = [
        source("a.csv", text("bonnie-2.00a.txt")),
        source("b.json", text("fio-3.33-grouped.json")),
    ];
    let error = read(&sources).expect_err("mixed");
    assert_eq!(error.message, "cannot import b.json as output of fio");
    let expected = "a.csv is an output of another kind: output of bonnie++";
    assert_eq!(error.causes.concat(), expected);
    let both = text("iozone-3.489-table.txt") + &text("mdtest-4.0.0.txt");
    assert!(
        refused(both)
            .causes
            .concat()
            .contains("is an output of another kind: ")
    );
}

#[test]
fn repeats_that_measured_something_else_are_refused() {
    let other = text("bonnie-2.00a.txt").replace(",300M,", ",600M,");
    let sources = [source("a", text("bonnie-2.00a.txt")), source("b", other)];
    let error = read(&sources).expect_err("another size");
    let shown = error.causes.concat();
    let expected = "not a repeat of the phase 'per-char-write': file_size is 629145600, but \
                    314572800 in an earlier one (a)";
    assert_eq!(shown, expected);
    assert!(
        error
            .hint
            .is_some_and(|hint| hint.contains("--subject NAME=FILE"))
    );
}

/// An output cut off before its last figure is refused, or the rest of it is complete in itself,
/// with unchanged figures.
#[test]
fn an_output_that_is_cut_off_is_refused_or_has_no_other_figures() {
    // Between two snapshots of fio the file has the complete first one.
    let names = names()
        .into_iter()
        .filter(|name| !name.contains("intervals"));
    for name in names {
        let whole = text(&name);
        let run = read(&[source("f", whole.clone())])
            .expect(&name)
            .runs
            .remove(0);
        for share in 1..40 {
            let mut end = whole.len() * share / 40;
            while !whole.is_char_boundary(end) {
                end += 1;
            }
            let Ok(imported) = read(&[source("f", &whole[..end])]) else {
                continue;
            };
            for trial in &imported.runs[0].trials {
                let original = run.trials.iter().find(|it| it.trial == trial.trial);
                let original = original.expect("a trial of the whole");
                for phase in &trial.phases {
                    let known = original.phases.iter().any(|it| has_figures_of(it, phase));
                    assert!(known, "{name} to {end}: {phase:?}");
                }
            }
        }
    }
}

/// True if a phase has the figures of another one: of bonnie++ the tables, which round, have fewer
/// than the line of CSV.
fn has_figures_of(whole: &PhaseRecord, part: &PhaseRecord) -> bool {
    if part.workload != "bonnie++" {
        return whole.figures == part.figures;
    }
    whole.name == part.name
        && part.figures.iter().all(|(name, value)| {
            let known = whole.figures.get(name);
            known.is_some_and(|known| (known - value).abs() <= 0.005 * known)
        })
}

#[test]
fn a_number_that_is_none_is_refused_in_every_format() {
    for (name, from) in [
        ("bonnie-1.97.3.txt", "535702"),
        ("iozone-3.489-all.txt", ""),
        ("mdtest-4.0.0.txt", ""),
        ("fio-3.33-grouped.json", "\"io_bytes\" : 2097152"),
    ] {
        let whole = text(name);
        let figure = match name {
            "iozone-3.489-all.txt" => first_of_report(&whole),
            "mdtest-4.0.0.txt" => mean_of_first_row(&whole),
            _ => from.to_owned(),
        };
        let number: String = figure
            .chars()
            .filter(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        for wrong in ["-5", "nan"] {
            let bad = figure.replace(&number, wrong);
            let broken = whole.replace(&figure, &bad);
            assert_ne!(broken, whole, "{name} has no {figure}");
            let error = refused(broken);
            let shown = error.causes.concat();
            let is_named = shown.contains("line ") || shown.contains("job ");
            assert!(is_named && shown.contains(wrong), "{name}: {shown}");
        }
    }
}

/// "1e309" was read as infinity, and its run could not be read again.
#[test]
fn a_percentile_that_is_none_is_refused() {
    let sound = text("fio-3.33-grouped.json");
    for wrong in ["1e309", "101.0", "-1.0", "p99"] {
        let broken = sound.replacen("\"99.000000\" : ", &format!("\"{wrong}\" : "), 1);
        let shown = refused(broken).causes.concat();
        assert!(
            shown.contains(wrong) && shown.contains("0 to 100"),
            "{shown}"
        );
    }
}

fn first_of_report(text: &str) -> String {
    let row = text
        .split("\"Writer report\"")
        .nth(1)
        .and_then(|rest| rest.lines().nth(2));
    row.and_then(|row| row.split_whitespace().nth(1))
        .expect("a rate")
        .to_owned()
}

fn mean_of_first_row(text: &str) -> String {
    let row = text
        .lines()
        .find(|line| line.trim().starts_with("Directory creation"));
    row.and_then(|row| row.split_whitespace().nth(4))
        .expect("a mean")
        .to_owned()
}

#[test]
fn the_list_of_an_exact_export_is_no_run() {
    let error = refused("[{\"trial\": {\"cell\": 0}, \"phases\": []}]");
    assert!(
        error
            .hint
            .is_some_and(|hint| hint.contains("--format json"))
    );
    let error = refused("{\"run\": \"x\", \"plan\": {\"format\": 99}, \"trials\": []}");
    assert!(error.causes.concat().contains("it has the version "));
    let error = refused("{\"run\": \"x\", \"plan\": {");
    assert!(error.causes.concat().contains("it is cut off: "));
}

/// The store has one value of each metric, and reported a second one as a database error.
#[test]
fn a_figure_that_a_run_states_and_has_is_refused_by_name() {
    let run = read(&[source("fio.json", text("fio-3.25-plus.json"))]).expect("a run");
    let run = run.runs.into_iter().next().expect("a run");
    let mut document = serde_json::to_value(run).expect("JSON");
    let phase = &mut document["trials"][0]["phases"][0];
    phase["figures"] = serde_json::json!({ "throughput": 7.5 });
    let (bytes, name) = (phase["bytes"].as_u64(), phase["name"].clone());
    assert!(bytes.is_some_and(|bytes| bytes > 0), "it has a throughput");
    let shown = refused(document.to_string()).causes.concat();
    let place = format!(
        "trials[0], phase {}, figures.throughput",
        name.as_str().expect("text")
    );
    assert!(shown.contains(&place) && shown.contains("7.5"), "{shown}");
}

/// What is missing of an output of IOR, and where.
#[test]
fn an_output_of_ior_that_lacks_a_result_is_refused_by_its_place() {
    let whole = text("ior-4.1.0-shared.txt");
    let without = |start: &str| -> String {
        let kept = whole.lines().filter(|line| !line.starts_with(start));
        kept.map(|line| format!("{line}\n")).collect()
    };
    let shown = |content: String| refused(content).causes.concat();
    let last = "read      25041";
    assert_eq!(
        shown(without(last)),
        "line 5: it is cut off: test 0 has 2 results of 'read', and 3 repetitions"
    );
    assert_eq!(
        shown(without("read  ")),
        "line 5: it is cut off: IOR had to read, and has no result of it"
    );
    assert_eq!(
        shown(without("Finished")),
        "line 1: it is cut off: the line 'Finished' is not there"
    );
    let wrong = whole.replace("0.022133   0", "0.022133   1");
    assert_eq!(
        shown(wrong),
        "line 35, iter: \"1\" is not the iteration 0 of 'write'"
    );
    let short = whole.replace("0.022133   0", "0");
    assert_eq!(shown(short), "line 35: 10 fields instead of 11");
    let none = whole.replace("write     90.36", "write     nan  ");
    assert_eq!(
        shown(none),
        "line 35, bw(MiB/s): \"nan\" is not a figure from 0"
    );
    let started = "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nBegan : now\n";
    assert_eq!(
        shown(started.to_owned()),
        "line 1: it is cut off: ior 4.0.0 was started, and no test follows"
    );
}

#[test]
fn json_of_ior_that_lacks_a_key_or_a_result_is_refused_by_its_place() {
    let whole = text("ior-4.1.0-each.json");
    let shown = |from: &str, to: &str| {
        let broken = whole.replacen(from, to, 1);
        assert_ne!(broken, whole, "{from}");
        refused(broken).causes.concat()
    };
    let result = "line 1, test 0, result 0";
    assert_eq!(
        shown("\"bwMiB\": 182.3650, ", ""),
        format!("{result}: 'bwMiB' is missing")
    );
    assert_eq!(
        shown("\"bwMiB\": 182.3650", "\"bwMiB\": -1"),
        format!("{result}, bwMiB: \"-1\" is not a number from 0")
    );
    assert_eq!(
        shown("\"Results\"", "\"Result\""),
        "line 1, test 0: 'Results' is missing"
    );
    assert_eq!(
        shown("\"repetitions\": 3", "\"repetitions\": 4"),
        "line 1, test 0: it is cut off: test 0 has 3 results of 'write', and 4 repetitions"
    );
    let cut = refused(&whole[..whole.len() / 2]);
    assert!(cut.causes.concat().contains("it is cut off: "), "{cut:?}");
    assert!(
        cut.hint
            .is_some_and(|hint| hint.contains("summaryFormat=JSON"))
    );
    let csv = refused("access,bw(MiB/s),IOPS\nwrite,1.0,2.0\n");
    assert!(
        csv.hint
            .is_some_and(|hint| hint.contains("summaryFormat=JSON"))
    );
}

#[test]
fn results_of_io500_without_a_score_are_refused_with_what_to_give() {
    let whole = text("io500-result.txt");
    let at = |mark: &str| whole.find(mark).expect(mark);
    let shown = |content: &str| {
        let error = refused(content);
        assert!(
            error.hint.is_some_and(|hint| hint.contains("result.txt")),
            "{content}"
        );
        error.causes.concat()
    };
    let cut = shown(&whole[..at("[find]")]);
    assert!(
        cut.ends_with("it is cut off: the section [SCORE] is not there"),
        "{cut}"
    );
    let cut = shown(&whole[..at("found           = 8")]);
    assert!(
        cut.ends_with("[find]: it is cut off: it has no score"),
        "{cut}"
    );
    let cut = shown(&whole[..at("hash            = 4")]);
    assert!(
        cut.ends_with("[SCORE]: it is cut off: it has no hash"),
        "{cut}"
    );
    let configuration = "[global]\ndatadir = x\n[ior-easy]\nblockSize = 1m\n";
    assert!(shown(configuration).contains("it has no score"));
    let wrong = whole.replace("score           = 0.141945", "score           = -1");
    let wrong = refused(wrong).causes.concat();
    assert!(wrong.contains("ior-easy-write, score: \"-1\""), "{wrong}");
    let summary = text("io500-summary.txt");
    let cut = shown(&summary[..summary.find("[SCORE").expect("a score")]);
    assert!(cut.ends_with("no line [SCORE ] follows"), "{cut}");
}
