//! The tables of bonnie++ without its line of CSV.

use fslab_model::{PhaseRecord, RunRecord};

use crate::fixture::{imported, phase, read, run_of, source, text};

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
