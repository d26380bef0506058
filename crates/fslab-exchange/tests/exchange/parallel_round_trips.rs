//! Runs go out in the forms of IOR and mdtest, and come back with the same figures.

use std::collections::BTreeMap;

use fslab_exchange::{ior_json, mdtest_text};
use fslab_model::{Failure, FailureKind, Rounds, RunRecord, phase_metrics};
use serde_json::Value;

use crate::fixture::{run_of, text};
use crate::own::own_run;

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
         seconds, but this phase is of 62.5 MiB",
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
        "IOR's format needs phases that write or read files, with bandwidth and duration"
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
        "the phase 'shared-read' is left out: it has no bandwidth, which IOR's format needs",
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
