//! The rulings and outcomes of a gate.

use fslab_compare::{Diff, Gate, GateOutcome, GateRule, Question, Ruling};
use fslab_model::{
    Disturbance, DisturbanceKind, Failure, FailureKind, Percent, PhaseOutcome, RunRecord,
};
use fslab_report::{Cells, GateDocument, annotations, gate_table, junit};

use crate::chance::Chance;
use crate::story::run;

fn gate(base: &RunRecord, new: &RunRecord, percent: &str) -> Gate {
    let diff = Diff::of(base, new, &Question::default()).expect("comparable");
    let limit: Percent = percent.parse().expect("a percentage");
    Gate::judge(&diff, GateRule::of(limit))
}

fn of(name: &str, reads: Vec<f64>, writes: Vec<f64>) -> RunRecord {
    run(name, &[("ext4", vec![("read", reads), ("write", writes)])])
}

fn rulings(gate: &Gate) -> Vec<Ruling> {
    gate.checks.iter().map(|check| check.ruling).collect()
}

#[test]
fn it_fails_only_where_the_complete_interval_is_past_the_limit() {
    let mut chance = Chance::of(21);
    let base = of(
        "base",
        chance.rates(8, 4e8, 0.02),
        chance.rates(8, 2e8, 0.02),
    );
    let new = of(
        "new",
        chance.rates(8, 3.2e8, 0.02),
        chance.rates(8, 2e8, 0.02),
    );
    let found = gate(&base, &new, "5%");
    assert_eq!(rulings(&found), [Ruling::Slower, Ruling::Passed]);
    assert!(!found.passes());
    let check = &found.checks[0];
    assert!(check.interval.expect("repeats").high < 0.95);
    // A fifth is lost: the complete interval is past a limit of 15 %, but not past one of 20 %.
    assert_eq!(rulings(&gate(&base, &new, "15%"))[0], Ruling::Slower);
    assert_eq!(rulings(&gate(&base, &new, "20%"))[0], Ruling::Undecided);
    assert!(gate(&base, &new, "25%").passes());
}

#[test]
fn its_interval_is_wider_than_the_figures_own_where_checks_are_many() {
    let mut chance = Chance::of(22);
    let base = of(
        "base",
        chance.rates(5, 4e8, 0.05),
        chance.rates(5, 2e8, 0.05),
    );
    let new = of(
        "new",
        chance.rates(5, 4e8, 0.05),
        chance.rates(5, 2e8, 0.05),
    );
    let found = gate(&base, &new, "5%");
    for check in &found.checks {
        let own = check
            .contrast
            .speed
            .expect("values")
            .interval
            .expect("repeats");
        let held = check.interval.expect("repeats");
        assert!(
            held.low < own.low && held.high > own.high,
            "{held:?} {own:?}"
        );
    }
    assert!(found.passes());
}

#[test]
fn a_figure_that_is_lost_fails_unless_it_is_let_through() {
    let rates = || vec![4e8, 4.1e8, 4.2e8];
    let base = of("base", rates(), rates());
    let mut new = of("new", rates(), rates());
    for trial in &mut new.trials {
        trial.phases[1].outcome = PhaseOutcome::Failed {
            failure: Failure::new(FailureKind::Io, "write failed"),
        };
        trial.phases[1].figures.clear();
    }
    let found = gate(&base, &new, "50%");
    assert_eq!(rulings(&found), [Ruling::Passed, Ruling::Lost]);
    assert!(!found.passes());
    let diff = Diff::of(&base, &new, &Question::default()).expect("comparable");
    let lenient = GateRule {
        lost_passes: true,
        ..found.rule
    };
    assert!(Gate::judge(&diff, lenient).passes());
    // With base and new exchanged there is nothing to compare with.
    assert_eq!(rulings(&gate(&new, &base, "50%"))[1], Ruling::NotJudged);
}

#[test]
fn a_rate_of_zero_where_there_was_one_is_lost() {
    let base = of("base", vec![4e8; 3], vec![4e8; 3]);
    let new = of("new", vec![4e8; 3], vec![0.0; 3]);
    assert_eq!(
        rulings(&gate(&base, &new, "5%")),
        [Ruling::Passed, Ruling::Lost]
    );
}

#[test]
fn a_value_of_zero_among_others_has_no_ratio_and_says_so() {
    let base = of("base", vec![4e8; 3], vec![4e8, 0.0, 4e8]);
    let new = of("new", vec![4e8; 3], vec![4e8; 3]);
    let found = gate(&base, &new, "5%");
    assert_eq!(rulings(&found), [Ruling::Passed, Ruling::NoRatio]);
    assert_eq!(found.outcome(), GateOutcome::Passed);
    let text = annotations(&found);
    assert!(text.contains("::warning title=Write of ext4::"), "{text}");
    assert!(text.contains("a value of 0 has no ratio"), "{text}");
}

#[test]
fn single_repeats_are_not_judged_and_strict_lets_nothing_undecided_through() {
    let single = |name| of(name, vec![4e8], vec![2e8]);
    let found = gate(&single("base"), &single("new"), "5%");
    assert_eq!(rulings(&found), [Ruling::TooFew, Ruling::TooFew]);
    assert!(found.passes() && !found.judges());
    assert_eq!(found.outcome(), GateOutcome::CannotJudge);
    let strict = GateRule {
        undecided_fails: true,
        ..found.rule
    };
    let (base, new) = (single("base"), single("new"));
    let diff = Diff::of(&base, &new, &Question::default()).expect("comparable");
    assert!(!Gate::judge(&diff, strict).passes());
}

#[test]
fn the_losses_that_it_would_miss_are_reported() {
    let mut chance = Chance::of(23);
    let base = of(
        "base",
        chance.rates(4, 4e8, 0.01),
        chance.rates(4, 2e8, 0.15),
    );
    let new = of(
        "new",
        chance.rates(4, 4e8, 0.01),
        chance.rates(4, 2e8, 0.15),
    );
    let found = gate(&base, &new, "5%");
    let [(least, finest), (most, coarsest)] = found.detectable_losses().expect("intervals");
    assert_eq!(
        (&*finest.contrast.phase, &*coarsest.contrast.phase),
        ("read", "write")
    );
    assert!(least < 0.1 && most > 0.15 && most < 1.0, "{least} {most}");
    assert_eq!(found.outcome(), GateOutcome::Passed);
    let document = serde_json::to_value(GateDocument::of(&found)).expect("JSON");
    assert_eq!(document["checks"][1]["sees_from"], most);
}

#[test]
fn a_gate_that_decides_nothing_is_undecided_and_reports_what_it_could_have_seen() {
    let mut chance = Chance::of(26);
    let mut loud = |name| {
        let (reads, writes) = (chance.rates(3, 4e8, 0.2), chance.rates(3, 2e8, 0.2));
        of(name, reads, writes)
    };
    let found = gate(&loud("base"), &loud("new"), "5%");
    assert_eq!(rulings(&found), [Ruling::Undecided, Ruling::Undecided]);
    assert_eq!(
        (found.passes(), found.outcome()),
        (true, GateOutcome::Undecided)
    );
    let [(least, _), _] = found.detectable_losses().expect("intervals");
    let stated = format!("a loss of less than {:.1} % was", least * 100.0);
    assert!(found.summary().contains(&stated), "{}", found.summary());
    let text = annotations(&found);
    let last = text.lines().last().expect("lines");
    assert!(
        last.starts_with("::warning title=fslab gate undecided::0 of 2"),
        "{text}"
    );
}

#[test]
fn figures_without_spread_are_exact_and_a_coarse_clock_is_named() {
    let base = of("base", vec![7e8; 3], vec![7e8; 3]);
    let new = of("new", vec![6e8; 3], vec![5e8; 3]);
    let found = gate(&base, &new, "5%");
    assert_eq!(rulings(&found), [Ruling::Slower, Ruling::Slower]);
    let notes = gate_table(&found).notes.join("\n");
    assert!(notes.contains("In Read of ext4 no value varies"), "{notes}");
}

#[test]
fn an_interval_as_wide_as_all_figures_is_unknown() {
    let base = of("base", vec![1e6, 1e9], vec![4e8; 2]);
    let found = gate(&base, &of("new", vec![1e3, 1e9], vec![4e8; 2]), "5%");
    let csv = gate_table(&found).to_csv(Cells::Guarded).expect("CSV");
    assert!(csv.contains(" (unknown),") && !csv.contains("e-"), "{csv}");
}

#[test]
fn junit_has_a_case_for_each_figure_and_names_what_failed() {
    let mut chance = Chance::of(24);
    let base = of(
        "base",
        chance.rates(6, 4e8, 0.02),
        chance.rates(6, 2e8, 0.2),
    );
    let new = of("new", chance.rates(6, 2e8, 0.02), chance.rates(6, 2e8, 0.2));
    let xml = junit(&gate(&base, &new, "5%")).expect("a document");
    for expected in [
        "tests=\"2\"",
        "failures=\"1\"",
        "testsuite name=\"ext4\"",
        "name=\"read throughput\" classname=\"ext4\"",
        "type=\"too slow\"",
        "the limit is 0.95",
        "<skipped",
    ] {
        assert!(xml.contains(expected), "{expected} in {xml}");
    }
}

#[test]
fn annotations_are_one_line_for_each_check_that_matters_and_one_in_sum() {
    let mut chance = Chance::of(25);
    let base = of(
        "base",
        chance.rates(6, 4e8, 0.02),
        chance.rates(6, 2e8, 0.02),
    );
    let slower = of(
        "new",
        chance.rates(6, 2e8, 0.02),
        chance.rates(6, 2e8, 0.02),
    );
    let text = annotations(&gate(&base, &slower, "5%"));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].starts_with("::error title=Read of ext4::"),
        "{text}"
    );
    assert!(
        lines[1].starts_with("::error title=fslab gate failed::1 of 2 figures"),
        "{text}"
    );
    let passed = annotations(&gate(&base, &base, "5%"));
    assert!(
        passed.starts_with("::notice title=fslab gate passed::"),
        "{passed}"
    );
}

#[test]
fn the_document_carries_every_figure() {
    let rates = || vec![4e8, 4.1e8, 4.2e8];
    let found = gate(
        &of("base", rates(), rates()),
        &of("new", rates(), rates()),
        "5%",
    );
    let document = serde_json::to_value(GateDocument::of(&found)).expect("JSON");
    assert_eq!(document["passed"], true);
    assert_eq!(document["checks"][0]["base"]["values"][2], 4.2e8);
    assert_eq!(document["checks"][1]["phase"], "write");
    let false_alarms = document["false_alarms"].as_f64().expect("a number");
    assert!((false_alarms - 0.025).abs() < 1e-12);
}

/// A stopped trial counted like any other: the gate did not report its disturbed repeats.
#[test]
fn it_says_how_many_of_the_measurements_that_it_rests_on_were_disturbed() {
    let mut chance = Chance::of(31);
    let (reads, writes) = (chance.rates(5, 4e8, 0.02), chance.rates(5, 2e8, 0.02));
    let base = of("base", reads.clone(), writes.clone());
    let mut new = of("new", reads, writes);
    let quiet = gate(&base, &new, "5%");
    assert_eq!(quiet.disturbed(), 0);
    assert!(!quiet.summary().contains("disturbed"));
    for trial in &mut new.trials[..2] {
        trial.phases[0].disturbances = vec![Disturbance {
            kind: DisturbanceKind::Stopped,
            amount: 3_000_000_000,
            share: 0.5,
            threshold: 0.1,
            text: "the trial did not run for 3 s of 6 s".into(),
        }];
    }
    let found = gate(&base, &new, "5%");
    assert_eq!(rulings(&found), rulings(&quiet), "they stay in the figures");
    assert_eq!(found.checks[0].contrast.new.disturbed, 2);
    assert_eq!(found.checks[0].contrast.base.disturbed, 0);
    assert_eq!(found.disturbed(), 2);
    let summary = found.summary();
    assert!(
        summary.contains("2 of 20 measurements were disturbed"),
        "{summary}"
    );
    let document = serde_json::to_value(GateDocument::of(&found)).expect("serialises");
    assert_eq!(document["disturbed"], 2);
    assert_eq!(document["checks"][0]["new"]["disturbed"], 2);
    let xml = junit(&found).expect("XML");
    assert!(xml.contains("2 of 5 in the new run"), "{xml}");
    let table = gate_table(&found);
    assert!(table.rows[0][3].text.ends_with('†'), "{:?}", table.rows[0]);
    assert!(
        table
            .notes
            .iter()
            .any(|note| note.contains("2 of 5 in the new run"))
    );
    assert!(annotations(&found).contains("disturbed"));
}
