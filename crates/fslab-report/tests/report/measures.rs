//! What an answer counts and what it hangs on: measures, weights, phases that are left out, and
//! disturbances.

use fslab_compare::{Analysis, Choice, Recommendation, WhyLeftOut, WhyNone};
use fslab_model::{
    AnswerMeasure, AnswerSpec, Disturbance, DisturbanceKind, RunRecord, Settled, StudyQuestion,
};
use fslab_report::{AnswerDocument, Reservations, answer};

use crate::fixture::run_of;

fn counting(measure: AnswerMeasure) -> AnswerSpec {
    AnswerSpec {
        measure,
        ..AnswerSpec::default()
    }
}

fn recommend<T>(run: &RunRecord, look: impl Fn(&Recommendation) -> T) -> T {
    look(&Recommendation::of(&Analysis::of(run)).expect("a judgement"))
}

fn text(run: &RunRecord) -> String {
    let found = answer(&Analysis::of(run), &Reservations::new());
    found.expect("an answer").text
}

fn remark(run: &RunRecord, label: &str) -> Option<String> {
    let found = answer(&Analysis::of(run), &Reservations::new()).expect("an answer");
    let mut remarks = found.remarks.into_iter();
    Some(remarks.find(|remark| remark.label == label)?.text)
}

/// Sets the time of a phase in seconds, by subject, with a spread of 1 %.
fn set(run: &mut RunRecord, phase: &str, seconds: &[f64]) {
    for trial in &mut run.trials {
        let spread = 1.0 + 0.01 * f64::from(trial.trial.repeat % 3);
        let seconds = seconds[trial.trial.cell.0 as usize] * spread;
        let mut phases = trial.phases.iter_mut();
        if let Some(found) = phases.find(|it| it.name == phase) {
            found.elapsed_ns = Some((seconds * 1e9) as u64);
        }
    }
}

fn set_all(run: &mut RunRecord, seconds: &[f64]) {
    let names: Vec<String> = run
        .header
        .plan
        .phases
        .iter()
        .map(|it| it.name.clone())
        .collect();
    for name in names {
        set(run, &name, seconds);
    }
}

fn ask(run: &mut RunRecord, phases: &[&str]) {
    run.header.plan.question = Some(StudyQuestion {
        text: "Which?".into(),
        phases: Some(phases.iter().map(|phase| (*phase).to_owned()).collect()),
    });
}

fn settle(run: &mut RunRecord, phase: &str, unmount_ms: [u64; 2]) {
    let specs = run.header.plan.phases.iter_mut();
    specs
        .filter(|spec| spec.name == phase)
        .for_each(|spec| spec.settle = true);
    for trial in &mut run.trials {
        let unmount_ns = unmount_ms[trial.trial.cell.0 as usize] * 1_000_000;
        let phases = trial.phases.iter_mut().filter(|it| it.name == phase);
        phases.for_each(|it| {
            it.settled = Some(Settled {
                sync_ns: 0,
                unmount_ns,
            });
        });
    }
}

/// The shape of a published study: a phase of milliseconds, in which one subject is many times as
/// fast before its unmount, beside one of minutes.
#[test]
fn a_phase_of_milliseconds_does_not_outweigh_minutes_in_a_sum_of_times() {
    let mut run = run_of(&["ext4", "btrfs"], 5);
    ask(&mut run, &["write", "append"]);
    set(&mut run, "append", &[400.0, 500.0]);
    set(&mut run, "write", &[0.5, 0.02]);
    settle(&mut run, "write", [300, 900]);
    settle(&mut run, "append", [100, 100]);
    run.header.plan.answer = Some(counting(AnswerMeasure::Rate));
    let first = recommend(&run, |it| it.choice.clone());
    assert!(
        matches!(first, Choice::Depends { subject: 1, .. }),
        "{first:?}"
    );
    run.header.plan.answer = Some(counting(AnswerMeasure::Time));
    let first = recommend(&run, |it| it.choice.clone());
    assert!(
        matches!(first, Choice::Take { subject: 0, .. }),
        "{first:?}"
    );
    let words = text(&run);
    let expected = "Take ext4. In the time of 2 of 9 phases, sync and unmount included, it is 1.2";
    assert!(words.starts_with(expected), "{words}");
    // With the unmount in its time, the short phase turns round.
    run.header.plan.answer = Some(counting(AnswerMeasure::DurableRate));
    let first = recommend(&run, |it| it.choice.clone());
    assert!(
        !matches!(first, Choice::Depends { subject: 1, .. }),
        "{first:?}"
    );
}

#[test]
fn an_answer_that_one_phase_turns_depends_on_it_and_leaving_it_out_by_hand_agrees() {
    let mut run = run_of(&["ext4", "xfs"], 5);
    set_all(&mut run, &[1.1, 1.0]);
    set(&mut run, "stat", &[0.02, 1.0]);
    let document = AnswerDocument::of(&Analysis::of(&run)).expect("an answer");
    assert_eq!(
        (document.choice, document.subjects.as_slice()),
        ("depends", &["ext4".to_owned(), "xfs".to_owned()][..])
    );
    let turn = &document.turns[0];
    assert_eq!((turn.phase.as_str(), turn.then.as_str()), ("stat", "xfs"));
    let words = text(&run);
    assert!(
        words.starts_with("It depends on stat. Over 8 of 9 phases (geometric mean), ext4 is "),
        "{words}"
    );
    assert!(
        words.contains("; without stat, XFS is 1.100 times as fast as ext4"),
        "{words}"
    );
    // By hand.
    run.header.plan.answer = Some(AnswerSpec {
        weights: [("stat".to_owned(), 0.0)].into(),
        ..AnswerSpec::default()
    });
    let document = AnswerDocument::of(&Analysis::of(&run)).expect("an answer");
    assert_eq!(
        (document.choice, document.subjects[0].as_str()),
        ("take", "xfs")
    );
    assert!((turn.speed - 1.1).abs() < 0.005, "{turn:?}");
    assert!(document.phases.iter().all(|it| it.phase != "stat"));
    assert!(document.turns.is_empty());
}

#[test]
fn random_weightings_say_how_often_each_is_first_and_where_it_turns() {
    let mut run = run_of(&["ext4", "xfs"], 5);
    ask(&mut run, &["create", "stat"]);
    // In logarithms, create gives ext4 three times what stat gives XFS.
    set(&mut run, "create", &[1.0, 8.0]);
    set(&mut run, "stat", &[2.0, 1.0]);
    let document = AnswerDocument::of(&Analysis::of(&run)).expect("an answer");
    let first = &document.first_by_weighting;
    assert_eq!(first[0].subject, "ext4");
    assert!((first[0].share - 0.75).abs() < 0.015, "{first:?}");
    let threshold = &document.thresholds[0];
    assert_eq!(
        (threshold.phase.as_str(), threshold.then.as_str()),
        ("create", "xfs")
    );
    assert!(
        (threshold.at - 0.25).abs() < 0.01 && threshold.own == 0.5,
        "{threshold:?}"
    );
    let hangs = remark(&run, "Hangs on").expect("a remark");
    let begin = "Of random weightings of the phases, ext4 is first in 7";
    let end = " %. XFS is first where create counts less than 25.0 % of all (here 50.0 %).";
    assert!(hangs.starts_with(begin) && hangs.ends_with(end), "{hangs}");
}

#[test]
fn figures_of_the_page_cache_and_of_little_work_take_no_part_in_a_mean_of_rates() {
    let mut run = run_of(&["ext4", "xfs"], 5);
    set(&mut run, "stat", &[0.001, 0.009]);
    let left_out = recommend(&run, |it| it.left_out.clone());
    let names: Vec<_> = left_out
        .iter()
        .map(|(place, why)| (Analysis::of(&run).phases[*place].name.to_owned(), *why))
        .collect();
    let expected = [
        ("reread".to_owned(), WhyLeftOut::PageCache),
        ("stat".to_owned(), WhyLeftOut::LittleWork),
    ];
    assert_eq!(names, expected);
    let words = remark(&run, "Left out").expect("a remark");
    assert!(
        words.starts_with("reread: the page cache served them"),
        "{words}"
    );
    // In a sum of times both count for what they are.
    run.header.plan.answer = Some(counting(AnswerMeasure::Time));
    assert!(recommend(&run, |it| it.left_out.is_empty()));
}

fn disturb(run: &mut RunRecord, trials: usize) {
    let disturbance = Disturbance {
        kind: DisturbanceKind::Processor,
        amount: 400_000_000,
        share: 0.4,
        threshold: 0.1,
        text: "other processes took 40 % of the processors".into(),
    };
    for phase in run
        .trials
        .iter_mut()
        .take(trials)
        .flat_map(|trial| &mut trial.phases)
    {
        phase.disturbances.push(disturbance.clone());
    }
}

#[test]
fn disturbed_measurements_are_said_first_and_many_of_them_give_no_answer() {
    let mut run = run_of(&["ext4", "xfs"], 5);
    set_all(&mut run, &[1.0, 2.0]);
    assert!(text(&run).starts_with("Take ext4. "));
    disturb(&mut run, 1);
    let words = text(&run);
    assert!(
        words.starts_with("Take ext4 (8 of 80 measurements were disturbed). "),
        "{words}"
    );
    disturb(&mut run, 3);
    let none = recommend(&run, |it| it.choice.clone());
    assert_eq!(none, Choice::None(WhyNone::Disturbed));
    let words = text(&run);
    assert!(
        words.starts_with("No recommendation: 24 of 80 measurements were disturbed"),
        "{words}"
    );
}

#[test]
fn an_answer_that_hangs_on_its_disturbed_repeats_is_taken_back() {
    let mut run = run_of(&["ext4", "xfs"], 6);
    set_all(&mut run, &[1.0, 1.0]);
    // The lead of ext4 is that of one repeat.
    for trial in run.trials.iter_mut().take(1) {
        for phase in &mut trial.phases {
            phase.elapsed_ns = phase.elapsed_ns.map(|ns| ns / 100);
        }
    }
    disturb(&mut run, 1);
    let choice = recommend(&run, |it| it.choice.clone());
    assert!(!matches!(choice, Choice::Take { .. }), "{choice:?}");
}
