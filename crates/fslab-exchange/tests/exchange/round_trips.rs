//! Import and export again give the same content.

use std::collections::BTreeMap;

use fslab_exchange::{csv_wide, fio_json};
use fslab_model::{Headline, METRICS, PhaseKind, Rounds, RunRecord, Swept, phase_metrics};
use fslab_report::{Cells, bonnie_csv, csv_long, iozone_report, json};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::fixture::{names, run_of, text};

/// The fields of a line of bonnie++ from the rate of putc on, without those about files.
fn figures_of(line: &str, first: usize, files: usize) -> Vec<Option<f64>> {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |field: &&str| {
        field
            .trim_end_matches(|c: char| c.is_alphabetic())
            .parse()
            .ok()
    };
    let data = fields[first..first + 12].iter().map(number);
    data.chain(fields[files..files + 12].iter().map(number))
        .collect()
}

#[test]
fn the_csv_of_bonnie_has_the_same_figures_again() {
    for (name, first, files) in [
        ("bonnie-1.03e.txt", 2, 15),
        ("bonnie-1.93c.txt", 7, 24),
        ("bonnie-1.97.3.txt", 7, 24),
        ("bonnie-2.00a.txt", 9, 26),
    ] {
        let text = text(name);
        let line = text
            .lines()
            .rfind(|line| line.contains(",+++++,"))
            .expect("a line");
        let again = bonnie_csv(&run_of(text.as_str())).expect("phases of bonnie++");
        let again = again.lines().next().expect("a line");
        assert_eq!(again.split(',').count(), 50);
        assert_eq!(
            figures_of(line, first, files),
            figures_of(again, 9, 26),
            "{name}"
        );
        let numbers = figures_of(line, first, files);
        assert!(numbers.iter().flatten().count() > 8, "{name}");
    }
    let text = text("bonnie-2.00a.txt");
    let line = text.lines().last().expect("a line");
    let again = bonnie_csv(&run_of(text.as_str())).expect("phases of bonnie++");
    let without_chunk = |line: &str| line.trim().replace(",300M,,", ",300M,8192,");
    assert_eq!(
        without_chunk(&again),
        without_chunk(line),
        "every field of its own format"
    );
}

/// The reports: each title, and its rows of numbers.
fn matrices(text: &str) -> Vec<String> {
    let reports = text
        .split_once("Excel output is below:")
        .expect("reports")
        .1;
    let lines = reports
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_reports_of_iozone_have_the_same_numbers_again() {
    for name in [
        "iozone-3.489-all.txt",
        "iozone-3.471-all.txt",
        "iozone-3.489-selected.txt",
    ] {
        let again = iozone_report(&run_of(text(name))).expect("a sweep");
        let (before, after) = (matrices(&text(name)), matrices(&again));
        assert!(before.len() >= 15, "{name}");
        assert_eq!(after, before, "{name}");
        assert_eq!(
            run_of(again).trials[0].phases.len(),
            run_of(text(name)).trials[0].phases.len()
        );
    }
}

/// Bytes, operations and bins of each job and direction, with processes of one job joined.
type Totals = BTreeMap<String, (u64, u64, BTreeMap<String, u64>)>;

fn totals(text: &str) -> Totals {
    let begin = text.find("{\n").expect("JSON");
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    let mut totals = Totals::new();
    for job in document["jobs"].as_array().expect("jobs") {
        for direction in ["read", "write", "trim"] {
            let side = &job[direction];
            let name = format!("{} {direction}", job["jobname"].as_str().expect("a name"));
            let total = totals.entry(name).or_default();
            total.0 += side["io_bytes"].as_u64().expect("bytes");
            total.1 += side["total_ios"].as_u64().expect("operations");
            for (bin, count) in side["clat_ns"]["bins"].as_object().into_iter().flatten() {
                *total.2.entry(bin.clone()).or_default() += count.as_u64().expect("a count");
            }
        }
    }
    totals
}

#[test]
fn the_json_of_fio_has_the_same_totals_and_bins_again() {
    for name in [
        "fio-3.33-plus.json",
        "fio-3.25-plus.json",
        "fio-3.33-grouped.json",
        "fio-3.33-fsync.json",
    ] {
        let run = run_of(text(name));
        let (again, left_out) = fio_json(&run).expect("jobs");
        assert_eq!(left_out, Vec::<String>::new());
        // The latencies of fsync are beside those of the writes, and are the job's latencies only
        // if they are more.
        if name != "fio-3.33-fsync.json" {
            assert_eq!(totals(&again), totals(&text(name)), "{name}");
        }
        let once_more = run_of(again);
        for (before, after) in run.trials[0].phases.iter().zip(&once_more.trials[0].phases) {
            assert_eq!((&before.name, before.bytes), (&after.name, after.bytes));
            assert_eq!(before.elapsed_ns, after.elapsed_ns);
        }
    }
}

#[test]
fn the_long_csv_of_every_run_has_the_same_figures_again() {
    let rows = |run: &RunRecord| {
        let mut rows = BTreeMap::new();
        for trial in &run.trials {
            for phase in &trial.phases {
                for metric in phase_metrics(phase) {
                    let key = (trial.trial, phase.name.clone(), metric.definition.name);
                    assert_eq!(rows.insert(key, metric.value.to_bits()), None, "given once");
                }
            }
        }
        rows
    };
    for name in names() {
        let run = run_of(text(&name));
        let before = rows(&run);
        if before.is_empty() {
            continue;
        }
        let again = run_of(csv_long(&run, Cells::Guarded).expect("CSV"));
        assert_eq!(rows(&again), before, "{name}");
        assert_eq!(known_by(&again), known_by(&run), "{name}");
    }
}

/// The headline, kind and sweep of each phase that has figures.
fn known_by(run: &RunRecord) -> BTreeMap<&str, (Headline, PhaseKind, Option<&Swept>)> {
    let phases = run.trials.iter().flat_map(|trial| &trial.phases);
    let measured = phases.filter(|phase| !phase_metrics(phase).is_empty());
    measured
        .map(|phase| {
            let of = (phase.headline, phase.kind, phase.swept.as_ref());
            (phase.name.as_str(), of)
        })
        .collect()
}

/// Only the mean of a trial's rounds was exported, so the variation between mounts was lost.
#[test]
fn the_long_csv_has_a_row_for_each_round_and_reads_them_back() {
    let mut run = run_of("phase,metric,value,unit\nw,bw,100,B/s\nw,bw,104,B/s\n");
    run.header.plan.rounds = Rounds {
        mounts: 2,
        iterations: 3,
    };
    for trial in &mut run.trials {
        let once = trial.phases.remove(0);
        for (number, round) in (0_u8..).zip(run.header.plan.rounds.each()) {
            let mut phase = once.clone();
            phase.round = Some(round);
            let value = phase.figures.get_mut("throughput").expect("a rate");
            *value += f64::from(number);
            trial.phases.push(phase);
        }
    }
    let again = run_of(csv_long(&run, Cells::Guarded).expect("CSV"));
    assert_eq!(again.header.plan.rounds, run.header.plan.rounds);
    let figures = |run: &RunRecord| {
        let phases = run.trials.iter().flat_map(|trial| &trial.phases);
        let figures = phases.map(|phase| (phase.round, phase.figures["throughput"]));
        figures.collect::<Vec<_>>()
    };
    assert_eq!(figures(&again).len(), 12);
    assert_eq!(figures(&again), figures(&run));
    let wide = csv_wide(&run, Cells::Guarded).expect("CSV");
    assert_eq!(
        wide.lines().count(),
        1 + 2 * (1 + 6),
        "steps, and six rounds"
    );
}

#[test]
fn a_run_as_json_is_the_same_to_the_byte_again() {
    for name in names() {
        let text = json(&run_of(text(&name))).expect("JSON");
        assert_eq!(json(&run_of(text.as_str())).expect("JSON"), text, "{name}");
    }
}

/// Figures derived from a run are beside it in its JSON, and an import reported them as lost.
#[test]
fn the_sensitivity_of_a_perturbed_run_is_no_loss() {
    let mut run = run_of(text("bonnie-1.96-two-machines.csv"));
    run.header.plan.perturb = true;
    let exported = json(&run).expect("JSON");
    assert!(exported.contains("\"sensitivity\": ["));
    let read = crate::fixture::read(&[crate::fixture::source("file", exported.as_str())]);
    let read = read.expect("a run");
    assert_eq!(read.notes, Vec::<String>::new());
    assert_eq!(json(&read.runs[0]).expect("JSON"), exported);
}

#[test]
fn the_wide_csv_has_a_row_for_each_trial_and_phase() {
    let run = run_of(text("bonnie-1.96-two-machines.csv"));
    let text = csv_wide(&run, Cells::Guarded).expect("CSV");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let place = |name: &str| heads.iter().position(|head| head == name).expect(name);
    assert_eq!(heads.len(), 33 + METRICS.len());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let phases = run.header.plan.phases.len();
    assert_eq!(rows.len(), 6 * (phases + 1));
    let row = rows
        .iter()
        .find(|row| &row[place("subject")] == "box-b" && &row[place("phase")] == "block-write");
    let expected = run.trials[3].phases[0].figures["throughput"].to_string();
    assert_eq!(&row.expect("a row")[place("throughput")], expected);
    assert_eq!(
        &row.expect("a row")[place("size_bytes")],
        "",
        "nobody knows it"
    );
}

#[test]
fn a_file_of_parquet_has_the_rows_of_the_long_csv() {
    let run = run_of(text("fio-3.33-plus.json"));
    let content = fslab_exchange::parquet(&run).expect("Parquet");
    let file = tempfile_of(&content);
    let reader = SerializedFileReader::new(file).expect("a file of Parquet");
    let csv = csv_long(&run, Cells::Guarded).expect("CSV");
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let heads = lines.headers().expect("heads").clone();
    let mut count = 0;
    let rows = reader.get_row_iter(None).expect("rows");
    for (row, line) in rows.zip(lines.records()) {
        let (row, line) = (row.expect("a row"), line.expect("a line"));
        for (index, (name, field)) in row.get_column_iter().enumerate() {
            assert_eq!(name, &heads[index]);
            let text = match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Int(number) => number.to_string(),
                Field::Long(number) => number.to_string(),
                Field::Double(number) => number.to_string(),
                other => panic!("{other:?}"),
            };
            assert_eq!(text, line[index], "{name}");
        }
        count += 1;
    }
    assert_eq!(count, csv.lines().count() - 1);
}

/// An unnamed file with `content`.
fn tempfile_of(content: &[u8]) -> std::fs::File {
    use std::io::{Seek, Write};
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(content).expect("written");
    file.rewind().expect("from its beginning");
    file
}
