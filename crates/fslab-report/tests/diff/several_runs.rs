//! Sides of several runs: the spread between runs counts.

use fslab_compare::{Diff, Dimension, Gate, GateRule, Question, Ruling};
use fslab_model::{Percent, RunRecord};
use fslab_report::GateDocument;

use crate::chance::Chance;
use crate::story::run;

/// A run of `ext4` in which each phase has five repeats about its rate, all multiplied by `state`.
fn of_state(chance: &mut Chance, name: &str, state: f64) -> RunRecord {
    let phase = |rate: f64, chance: &mut Chance| chance.rates(5, rate * state, 0.02);
    let phases = vec![("read", phase(4e8, chance)), ("write", phase(2e8, chance))];
    run(name, &[("ext4", phases)])
}

/// Runs whose states have a spread of `between`.
fn runs(chance: &mut Chance, side: &str, count: usize, between: f64) -> Vec<RunRecord> {
    let mut one = |number| {
        let state = chance.rates(1, 1.0, between)[0];
        of_state(chance, &format!("{side}{number}"), state)
    };
    (0..count).map(&mut one).collect()
}

fn gate(base: &[RunRecord], new: &[RunRecord], percent: &str) -> Gate {
    let diff = Diff::of_runs(base, new, &Question::default()).expect("comparable");
    let limit: Percent = percent.parse().expect("a percentage");
    Gate::judge(&diff, GateRule::of(limit))
}

/// The share of `gates` that fail, with `base` runs on one side and one new run, whose states are
/// multiplied by `change`.
fn failing(gates: u32, base: usize, change: f64) -> f64 {
    let mut chance = Chance::of(61);
    let mut fails = 0;
    for _ in 0..gates {
        let base = runs(&mut chance, "base", base, 0.05);
        let state = change * chance.rates(1, 1.0, 0.05)[0];
        let new = [of_state(&mut chance, "new", state)];
        fails += u32::from(!gate(&base, &new, "0%").passes());
    }
    f64::from(fails) / f64::from(gates)
}

#[test]
fn a_machine_in_another_state_alarms_a_gate_of_single_runs_and_none_of_several() {
    let (single, several, seen) = (
        failing(400, 1, 1.0),
        failing(400, 6, 1.0),
        failing(400, 6, 0.6),
    );
    println!(
        "states of 5 %, repeats of 2 %: single runs {:.1} %, six base runs {:.1} %; a loss of two \
         fifths is seen in {:.1} %",
        100.0 * single,
        100.0 * several,
        100.0 * seen
    );
    assert!(single > 0.2, "{single}");
    // Of 400 gates at exactly the stated 2.5 %, 20 or more fail in 1 of 200 cases.
    assert!(several < 0.05, "{several}");
    assert!(seen > 0.9, "{seen}");
}

#[test]
fn the_interval_is_that_of_the_runs_means() {
    let values = |value: f64| run("x", &[("ext4", vec![("read", vec![value; 3])])]);
    let named = |name: &str, value: f64| {
        let mut run = values(value);
        run.header.run = name.parse().expect("a name");
        run
    };
    let base = [named("a", 1e8), named("b", 2e8), named("c", 4e8)];
    let diff = Diff::of_runs(&base, &[named("d", 2e8)], &Question::default()).expect("comparable");
    let contrast = &diff.contrasts[0];
    let speed = contrast.speed.expect("values");
    assert!((speed.value - 1.0).abs() < 1e-12, "{speed:?}");
    // Logarithms ±ln 2 about their mean, so s² = ln² 2; the error is √(4 / 3) ln 2, t(2) = 4.3027.
    let reach = 4.302_653 * (4.0_f64 / 3.0).sqrt() * 2.0_f64.ln();
    let high = speed.interval.expect("several runs").high;
    assert!((high.ln() - reach).abs() < 1e-5, "{high}");
    assert_eq!(
        contrast.test.expect("a test").method.as_str(),
        "t test between runs"
    );
    assert_eq!(diff.base, ["a", "b", "c"]);
    let sizes: Vec<usize> = contrast.base.runs.iter().map(Vec::len).collect();
    assert_eq!((sizes, contrast.new.values().count()), (vec![3, 3, 3], 3));
}

#[test]
fn runs_of_one_side_are_the_same_measurement_or_are_refused() {
    let mut chance = Chance::of(62);
    let mut base = runs(&mut chance, "base", 3, 0.01);
    let new = runs(&mut chance, "new", 1, 0.01);
    base[1].header.machine.kernel = Some("6.13".into());
    let error = Diff::of_runs(&base, &new, &Question::default()).expect_err("two kernels");
    assert!(error.message.contains(" are on one side "), "{error}");
    assert!(
        error.to_string().contains("kernel: 6.13 against 6.12"),
        "{error}"
    );
    let waived = Question {
        waived: vec![Dimension::Kernel],
        ..Question::default()
    };
    assert!(Diff::of_runs(&base, &new, &waived).is_ok());
    base[1].header.machine.kernel = Some("6.12".into());
    base[2].header.plan.phases[0].workload = "seek".into();
    let diff = Diff::of_runs(&base, &new, &Question::default()).expect("write is the same");
    assert_eq!(diff.others.len(), 1, "{:?}", diff.others);
    assert!(
        diff.contrasts
            .iter()
            .all(|contrast| contrast.phase == "write")
    );
}

#[test]
fn a_run_without_the_subject_or_the_figure_is_one_less() {
    let mut chance = Chance::of(63);
    let phases = |chance: &mut Chance| vec![("read", chance.rates(3, 4e8, 0.02))];
    let both =
        |chance: &mut Chance, name| run(name, &[("ext4", phases(chance)), ("xfs", phases(chance))]);
    let base = [
        both(&mut chance, "a"),
        run("b", &[("xfs", phases(&mut chance))]),
        both(&mut chance, "c"),
    ];
    let new = [both(&mut chance, "d")];
    let found = gate(&base, &new, "50%");
    let sizes = |subject: &str| {
        let mut checks = found.checks.iter();
        let check = checks
            .find(|check| check.contrast.subject == subject)
            .expect("a check");
        (check.contrast.base.runs.len(), check.ruling)
    };
    assert_eq!((sizes("ext4").0, sizes("xfs").0), (2, 3));
    let document = serde_json::to_value(GateDocument::of(&found)).expect("JSON");
    assert_eq!(document["base"], "a,b,c");
    assert_eq!(
        document["checks"][0]["base"]["runs"],
        serde_json::json!([3, 3])
    );
    // With the subject in one run of each side only, its repeats decide.
    let base = [
        both(&mut chance, "a"),
        run("b", &[("xfs", phases(&mut chance))]),
    ];
    let found = gate(&base, &new, "50%");
    let ext4 = &found.checks[0];
    assert_eq!(
        (ext4.contrast.base.runs.len(), ext4.ruling),
        (1, Ruling::Passed)
    );
}
