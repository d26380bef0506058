//! Import and export again give the same content.

use std::collections::BTreeMap;

use fslab_exchange::{csv_wide, fio_json, ior_json, mdtest_text};
use fslab_model::{
    Failure, FailureKind, Headline, METRICS, PhaseKind, Rounds, RunRecord, Swept, phase_metrics,
};
use fslab_report::{bonnie_csv, csv_long, iozone_report, json};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::fixture::{names, run_of, text};
use crate::own::own_run;

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
        let again = run_of(csv_long(&run).expect("CSV"));
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
    let again = run_of(csv_long(&run).expect("CSV"));
    assert_eq!(again.header.plan.rounds, run.header.plan.rounds);
    let figures = |run: &RunRecord| {
        let phases = run.trials.iter().flat_map(|trial| &trial.phases);
        let figures = phases.map(|phase| (phase.round, phase.figures["throughput"]));
        figures.collect::<Vec<_>>()
    };
    assert_eq!(figures(&again).len(), 12);
    assert_eq!(figures(&again), figures(&run));
    let wide = csv_wide(&run).expect("CSV");
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
    let text = csv_wide(&run).expect("CSV");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let place = |name: &str| heads.iter().position(|head| head == name).expect(name);
    assert_eq!(heads.len(), 25 + METRICS.len());
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
    let csv = csv_long(&run).expect("CSV");
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

/// Figures, parameters and places of each phase, as far as IOR's form holds them.
fn of_ior(run: &RunRecord) -> Vec<String> {
    let mut found = Vec::new();
    for trial in &run.trials {
        for phase in trial.phases.iter().filter(|it| it.name != "remove") {
            let figures = serde_json::to_string(&phase.figures).expect("JSON");
            let mut parameters = phase.parameters.clone();
            // Settings that stand in one of the forms alone.
            for name in ["type", "fsync_per_write", "existing_file", "wear_out"] {
                parameters.shift_remove(name);
            }
            let parameters: BTreeMap<&String, &Value> = parameters.iter().collect();
            found.push(format!(
                "{} {} {} {figures} {parameters:?}",
                trial.trial.repeat, trial.subject, phase.name
            ));
        }
    }
    found
}

#[test]
fn the_json_of_ior_has_the_same_figures_again() {
    for name in [
        "ior-4.1.0-each.json",
        "ior-4.1.0-tests.json",
        "ior-4.1.0-stonewall.json",
        "ior-4.1.0-parameters.txt",
    ] {
        let run = run_of(text(name));
        let (again, left_out) = ior_json(&run).expect("tests");
        let removed = left_out.iter().all(|note| note.contains("'remove'"));
        assert!(removed, "{name}: {left_out:?}");
        let again = run_of(again);
        assert!(of_ior(&run).len() >= 4, "{name}");
        assert_eq!(of_ior(&again), of_ior(&run), "{name}");
    }
}

/// Keys of a document of the real tool, by section.
fn keys(document: &str, path: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(document).expect("JSON");
    let object = value.pointer(path).and_then(Value::as_object).expect(path);
    object.keys().cloned().collect()
}

#[test]
fn the_json_of_ior_has_the_keys_of_ior() {
    let real = text("ior-4.1.0-each.json");
    let (ours, _) = ior_json(&run_of(real.as_str())).expect("tests");
    for path in ["", "/tests/0/Results/0", "/summary/0"] {
        let known = keys(&ours, path);
        for key in keys(&real, path).iter().filter(|key| *key != "Finished") {
            assert!(known.contains(key), "{path} has no {key}");
        }
    }
    for path in ["/tests/0", "/tests/0/Options", "/tests/0/Parameters"] {
        let real = keys(&real, path);
        for key in keys(&ours, path).iter().filter(|key| *key != "fslab") {
            assert!(real.contains(key), "{path} has {key}, and IOR does not");
        }
    }
    let summary = |text: &str, key: &str| {
        let value: Value = serde_json::from_str(text).expect("JSON");
        value["summary"][0][key].as_f64().expect("a figure")
    };
    for key in [
        "bwMaxMIB",
        "bwMinMIB",
        "bwMeanMIB",
        "bwStdMIB",
        "OPsMean",
        "OPsSD",
    ] {
        let (real, ours) = (summary(&real, key), summary(&ours, key));
        assert!((real - ours).abs() <= 1e-4 * real, "{key}: {real} {ours}");
    }
}

#[test]
fn phases_of_fslab_that_ior_could_have_run_are_its_tests() {
    let run = own_run(2);
    let (exported, left_out) = ior_json(&run).expect("tests");
    let expected = [
        "the phase 'random-part' is left out: IOR accesses each record once, or for a time in \
         seconds, and this is of 62.5 MiB",
        "the phase 'mixed' is left out: IOR has no sequential reads and writes",
        "the phase 'uring' is left out: IOR has no engine like uring",
        "the phase 'own-create' is left out: IOR has no creation of files",
        "the phase 'own-read' is left out: IOR has no open(2) and close(2) of files",
        "the phase 'shared-create' is left out: IOR has no creation of files",
    ];
    assert_eq!(left_out, expected);
    let document: Value = serde_json::from_str(&exported).expect("JSON");
    let parameters = &document["tests"][2]["Parameters"];
    assert_eq!(document["tests"][2]["fslab"]["phase"], "interleaved-write");
    assert_eq!(parameters["segmentCount"], 4000);
    assert_eq!(parameters["blockSize"], 47008);
    assert_eq!(document["tests"][2]["Options"]["tasks"], 2);
    let again = run_of(exported);
    let figures = |run: &RunRecord, names: &[&str]| {
        let mut found = Vec::new();
        for trial in &run.trials {
            for phase in trial
                .phases
                .iter()
                .filter(|it| names.contains(&it.name.as_str()))
            {
                for metric in phase_metrics(phase) {
                    if ["throughput", "elapsed_ns"].contains(&metric.definition.name) {
                        let name = metric.definition.name;
                        let (repeat, value) = (trial.trial.repeat, metric.value);
                        found.push(format!("{repeat} {} {name} {value}", phase.name));
                    }
                }
            }
        }
        found.sort();
        found
    };
    let names = ["file-each-write", "shared-read", "interleaved-write"];
    assert_eq!(figures(&again, &names).len(), 2 * 3 * 2);
    assert_eq!(figures(&again, &names), figures(&run, &names));
    assert_eq!(again.trials[0].subject.to_string(), "ext4");
    assert_eq!(again.header.plan.ranks, 2);
    let only_names = run_of(text("mdtest-4.1.0.txt"));
    assert_eq!(
        ior_json(&only_names).expect_err("names").to_string(),
        "the form of IOR needs phases that write or read files, with bandwidth and duration"
    );
}

#[test]
fn the_summary_of_mdtest_has_the_same_rates_again() {
    for name in [
        "mdtest-4.1.0-hard.txt",
        "mdtest-4.1.0-rates-and-times.txt",
        "mdtest-4.0.0.txt",
    ] {
        let run = run_of(text(name));
        let (again, left_out) = mdtest_text(&run).expect("rows");
        assert_eq!(left_out, Vec::<String>::new(), "{name}");
        let again = run_of(again);
        let rates = |run: &RunRecord| {
            let phases = run.trials.iter().flat_map(|trial| &trial.phases);
            let rates =
                phases.map(|it| (it.name.clone(), it.figures["operation_rate"].to_string()));
            rates.collect::<BTreeMap<String, String>>()
        };
        assert_eq!(rates(&again), rates(&run), "{name}");
        let settings = |run: &RunRecord| run.trials[0].phases[0].parameters["read_bytes"].clone();
        assert_eq!(settings(&again), settings(&run));
    }
}

#[test]
fn phases_of_fslab_on_names_are_rows_of_mdtest() {
    let run = own_run(2);
    let (exported, left_out) = mdtest_text(&run).expect("rows");
    assert_eq!(left_out.len(), 6, "{left_out:?}");
    assert!(
        left_out[0].ends_with("mdtest has no sequential write of a new file"),
        "{left_out:?}"
    );
    assert_eq!(
        exported
            .matches("was launched with 2 total task(s)")
            .count(),
        2
    );
    assert!(
        exported.contains("SUMMARY rate (in ops/sec): (of 2 iterations)"),
        "{exported}"
    );
    assert!(
        exported.contains("2 tasks, 20000 files/directories"),
        "{exported}"
    );
    assert!(
        exported.contains("'-n' '10000' '-N' '1' '-u'"),
        "{exported}"
    );
    let again = run_of(exported);
    assert_eq!(again.trials.len(), 1);
    let phases = &again.trials[0].phases;
    let names: Vec<&str> = phases.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["own-create", "own-read", "shared-create"]);
    let mean = |name: &str| {
        let phases = run.trials.iter().flat_map(|trial| &trial.phases);
        let rates = phases.filter(|it| it.name == name).flat_map(phase_metrics);
        let rates = rates.filter(|it| it.definition.name == "operation_rate");
        let rates: Vec<f64> = rates.map(|it| it.value).collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    for phase in phases {
        let (read, wanted) = (phase.figures["operation_rate"], mean(&phase.name));
        assert!(
            (read - wanted).abs() <= 0.0005,
            "{}: {read} {wanted}",
            phase.name
        );
    }
    let data = run_of(text("ior-4.1.0-each.json"));
    assert!(mdtest_text(&data).is_err(), "IOR has no names");
}

/// IOR has repetitions alone: each round of a trial is one.
#[test]
fn rounds_of_a_trial_are_repetitions_of_ior() {
    let mut run = own_run(2);
    run.header.plan.rounds = Rounds {
        mounts: 2,
        iterations: 3,
    };
    for trial in &mut run.trials {
        let phases = std::mem::take(&mut trial.phases);
        for round in run.header.plan.rounds.each() {
            let mut phase = phases[0].clone();
            phase.round = Some(round);
            trial.phases.push(phase);
        }
    }
    let (exported, _) = ior_json(&run).expect("tests");
    let document: Value = serde_json::from_str(&exported).expect("JSON");
    let repeats: Vec<u64> = (0..12).collect();
    assert_eq!(
        document["tests"][0]["fslab"]["repeats"],
        serde_json::json!(repeats)
    );
    assert_eq!(run_of(exported).trials.len(), 12);
}

#[test]
fn a_phase_that_failed_or_has_no_duration_is_left_out_by_its_reason() {
    let mut run = own_run(2);
    let phases = &mut run.trials[0].phases;
    phases[0].withdraw(&Failure::new(FailureKind::Io, "no space"));
    phases[1].elapsed_ns = None;
    let (exported, left_out) = ior_json(&run).expect("tests");
    let expected = [
        "the phase 'file-each-write' is left out: it failed",
        "the phase 'shared-read' is left out: it has no bandwidth, which IOR's form needs",
    ];
    assert_eq!(left_out[..2], expected);
    let again = run_of(exported);
    assert_eq!(
        (again.trials[0].phases.len(), again.trials[1].phases.len()),
        (1, 3)
    );
    let phases = &mut run.trials[0].phases;
    phases[6].withdraw(&Failure::new(FailureKind::Io, "no space"));
    let (_, left_out) = mdtest_text(&run).expect("rows");
    assert!(left_out.contains(&"the phase 'own-create' is left out: it failed".to_owned()));
}
