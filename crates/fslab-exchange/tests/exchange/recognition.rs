//! A text is recognised by what only its format has, or refused: never as the output of another
//! tool.

use fslab_model::{Failure, RunRecord};

use crate::fixture::{names, read, source, text, written};

/// The tool of an output, which its phases have as their workload.
fn tool_of(name: &str) -> &'static str {
    let tools = [
        "bonnie",
        "dbench",
        "diskspd",
        "elbencho",
        "filebench",
        "fio",
        "fs_mark",
        "io500",
        "ior",
        "iozone",
        "mdtest",
        "pgbench",
        "phoronix",
        "smallfile",
        "sysbench",
    ];
    let tool = tools.into_iter().find(|tool| name.starts_with(tool));
    match tool.expect("a file begins with its tool") {
        "bonnie" => "bonnie++",
        "pgbench" => "pgbench-output",
        tool => tool,
    }
}

fn imported(content: impl Into<Vec<u8>>) -> Result<RunRecord, Failure> {
    let mut imported = read(&[source("f", content)])?;
    assert_eq!(imported.runs.len(), 1);
    Ok(imported.runs.remove(0))
}

/// Panics if a text is read as the output of another tool than `tools`.
fn ensure_of(content: String, tools: &[&str], what: &str) {
    let Ok(run) = imported(content) else {
        return;
    };
    for phase in run.trials.iter().flat_map(|trial| &trial.phases) {
        assert!(tools.contains(&&*phase.workload), "{what}: {phase:?}");
    }
}

/// The same order each time.
fn shuffled(text: &str, seed: u64) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..lines.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        lines.swap(last, (state % (last as u64 + 1)) as usize);
    }
    lines.join("\n") + "\n"
}

#[test]
fn an_output_cut_at_any_line_is_of_its_tool_or_of_none() {
    for name in names() {
        let whole = text(&name);
        let lines: Vec<&str> = whole.lines().collect();
        let step = lines.len().div_ceil(12).max(1);
        for at in (0..lines.len()).step_by(step) {
            let halves = [lines[..at].join("\n"), lines[at..].join("\n")];
            for half in halves {
                ensure_of(half, &[tool_of(&name)], &format!("{name} at {at}"));
            }
        }
    }
}

#[test]
fn an_output_with_its_lines_in_any_order_is_of_its_tool_or_of_none() {
    for name in names() {
        for seed in 1..4 {
            let mixed = shuffled(&text(&name), seed);
            ensure_of(mixed, &[tool_of(&name)], &format!("{name}, order {seed}"));
        }
    }
}

/// The columns of a table of figures in any order and number, without the marks of their tool.
#[test]
fn figures_without_the_marks_of_a_tool_are_of_none() {
    for name in names() {
        for fields in [3, 8, 20, 26, 27, 28, 40, 46, 48, 50, 60] {
            let whole = text(&name);
            let is_number = |word: &&str| word.parse::<f64>().is_ok();
            let words = whole.split([' ', ',', '\n', '\t', ':']).filter(is_number);
            let words: Vec<&str> = words.take(6 * fields).collect();
            let rows: Vec<String> = words.chunks(fields).map(|row| row.join(",")).collect();
            let table = rows.join("\n") + "\n";
            assert!(imported(table.clone()).is_err(), "{name}: {table}");
        }
    }
}

#[test]
fn outputs_of_two_tools_in_one_file_are_refused() {
    let names = names();
    for (first, second) in names.iter().zip(names.iter().cycle().skip(names.len() / 2)) {
        let (a, b) = (tool_of(first), tool_of(second));
        let joined = text(first) + "\n" + &text(second);
        // A log of IO500 has the outputs of the tools that it runs.
        match a == b || [a, b].contains(&"io500") {
            true => ensure_of(joined, &[a, b], &format!("{first} and {second}")),
            false => {
                let error = imported(joined).expect_err(first);
                let cause = error.causes.concat();
                assert!(cause.contains(" is an output of another kind: "), "{cause}");
            }
        }
    }
}

/// Every table of 27 or more numbers was read as bonnie++ 1.03.
#[test]
fn a_table_of_numbers_is_refused_with_the_nearest_formats() {
    let error = imported(written("numbers-28.csv")).expect_err("numbers");
    assert_eq!(error.message, "cannot import f");
    let cause = error.causes.concat();
    let expected = "it is not the output of a known tool: not output of bonnie++, because no line \
                    has its versions, or a machine with a size and its unit, or is the head of its \
                    table; not CSV with a row for each value, because the first line does not name \
                    the columns phase, metric and value";
    assert_eq!(cause, expected);
    for count in [27, 28, 46, 48, 50] {
        for first in ["1", "1.97", "1.97,1.97", "a", "2024-01-01"] {
            let row = format!("{first},{}\n", vec!["17"; count].join(","));
            assert!(imported(row.clone()).is_err(), "{row}");
        }
    }
}

/// Files of known tools that hold no results.
#[test]
fn files_that_hold_no_results_are_refused_by_name() {
    for (name, cause, hint) in [
        (
            "iolog-v2.txt",
            "it is an iolog of fio (write_iolog), which lists operations and has no figure",
            "import the JSON of the same execution",
        ),
        (
            "strace-ttt.txt",
            "it is an output of strace, which lists system calls",
            "fslab trace record",
        ),
        (
            "job.fio",
            "it is a job file of fio, not its output",
            "fio --output-format=json+ --output=OUT.json FILE",
        ),
    ] {
        let error = imported(written(name)).expect_err(name);
        assert_eq!(error.message, "cannot import f");
        assert_eq!(error.causes.concat(), cause, "{name}");
        let given = error.hint.expect("a hint");
        assert!(given.contains(hint), "{given}");
    }
}
