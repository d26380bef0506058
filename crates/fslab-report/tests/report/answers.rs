//! The answer of a run: which file system to take, by how much, with which reservations.

use fslab_compare::{Analysis, Choice, GroundFigure, Recommendation, Shortfall, WhyNone};
use fslab_model::{
    LatencyHistogram, OperationLatency, PhaseOutcome, PhaseRecord, Reservation, ReservationKind,
    RunRecord, StudyQuestion, VenuePlan,
};
use fslab_report::{Answer, Reservations, answer};

use crate::exact::several;
use crate::fixture::{fail_trial, run_of, skip_phase, trial_mut, usual};
use crate::sweep_story::swept;

fn reservations() -> Reservations {
    let stated = |text, source| vec![Reservation::stated(ReservationKind::Limit, text, source)];
    Reservations::from([
        (
            "xfs".into(),
            stated("It can hardly be made smaller.", "xfs_growfs(8)"),
        ),
        (
            "ext4".into(),
            stated("A file has at most 16 TiB.", "ext4(5)"),
        ),
    ])
}

fn answer_of(run: &RunRecord) -> Answer {
    answer(&Analysis::of(run), &reservations()).expect("an answer")
}

fn remark(answer: &Answer, label: &str) -> String {
    let found = answer.remarks.iter().find(|remark| remark.label == label);
    found
        .unwrap_or_else(|| panic!("{label}: {answer:?}"))
        .text
        .clone()
}

/// Sets the time of every phase; the rates follow.
fn set_seconds(run: &mut RunRecord, seconds: &dyn Fn(u32, u32) -> f64) {
    for trial in &mut run.trials {
        let seconds = seconds(trial.trial.cell.0, trial.trial.repeat);
        for phase in &mut trial.phases {
            phase.elapsed_ns = Some((seconds * 1e9) as u64);
        }
    }
}

fn ask(run: &mut RunRecord, phases: &[&str]) {
    run.header.plan.question = Some(StudyQuestion {
        text: "Which file system for this disk?".into(),
        phases: Some(phases.iter().map(|phase| (*phase).to_owned()).collect()),
    });
}

#[test]
fn the_certain_winner_is_taken_with_its_lead_its_drawback_and_its_reservations() {
    let mut run = run_of(&["ext4", "xfs", "btrfs"], 5);
    ask(&mut run, &["write", "read", "create", "append"]);
    // XFS creates files 1.15 times as slowly as ext4, not 1.5 times.
    let of_xfs = run
        .trials
        .iter_mut()
        .filter(|trial| trial.trial.cell.0 == 1);
    let phases = of_xfs.flat_map(|trial| &mut trial.phases);
    for phase in phases.filter(|phase| phase.name == "create") {
        phase.elapsed_ns = phase.elapsed_ns.map(|ns| ns * 77 / 100);
    }
    let answer = answer_of(&run);
    assert_eq!(
        answer.question.as_deref(),
        Some("Which file system for this disk?")
    );
    assert!(
        answer
            .text
            .starts_with("Take XFS. Over 4 of 9 phases (geometric mean), it is 1."),
        "{}",
        answer.text
    );
    for part in [
        " times as fast as ext4 (95 % interval 1.",
        "the next",
        "as fast as Btrfs, the last.",
    ] {
        assert!(answer.text.contains(part), "{}", answer.text);
    }
    assert!(remark(&answer, "But").starts_with("XFS is behind in create (ext4 is 1."));
    let reserved = answer
        .remarks
        .iter()
        .find(|it| it.label == "Reservations")
        .expect("one");
    assert_eq!(reserved.text, "XFS: It can hardly be made smaller.");
    assert_eq!(reserved.sources, ["xfs_growfs(8)"]);
}

#[test]
fn a_subject_that_failed_or_was_not_measured_is_not_taken_even_if_it_is_ahead() {
    let mut run = run_of(&["ext4", "xfs", "btrfs"], 5);
    fail_trial(&mut run, 1, 2);
    skip_phase(&mut run, 1, "stat", "no cold metadata here");
    let answer = answer_of(&run);
    assert!(answer.text.starts_with("Take ext4. "), "{}", answer.text);
    assert!(!answer.text.contains("XFS"), "{}", answer.text);
    let passed = remark(&answer, "Takes no part");
    for part in [
        "XFS: 1 of 5 trials failed (cannot write data-0003",
        "it was not fully measured in ",
        "In what was measured it is ahead of the best candidate, 1.",
    ] {
        assert!(passed.contains(part), "{passed}");
    }
}

#[test]
fn with_one_full_subject_or_one_subject_or_one_repeat_nothing_is_recommended() {
    let choice = |run: &RunRecord| {
        let analysis = Analysis::of(run);
        Recommendation::of(&analysis).expect("a judgement").choice
    };
    let mut failed = run_of(&["ext4", "xfs"], 3);
    fail_trial(&mut failed, 0, 0);
    assert_eq!(choice(&failed), Choice::None(WhyNone::OneCandidate(1)));
    fail_trial(&mut failed, 1, 1);
    assert_eq!(choice(&failed), Choice::None(WhyNone::NoCandidate));
    assert_eq!(
        choice(&run_of(&["xfs"], 3)),
        Choice::None(WhyNone::OneSubject)
    );
    let single = run_of(&["ext4", "xfs"], 1);
    assert_eq!(choice(&single), Choice::None(WhyNone::TooFewRepeats));
    let next = remark(&answer_of(&single), "Next");
    assert!(
        next.ends_with("the same command with --resume --repeats 3."),
        "{next}"
    );
    // `fslab import` resumes nothing.
    let mut imported = single;
    imported.header.plan.venue = VenuePlan::Imported {
        tool: "bonnie++ 1.97".to_owned(),
    };
    let next = remark(&answer_of(&imported), "Next");
    assert!(
        next.ends_with("import the outputs of that many executions in one command."),
        "{next}"
    );
    // `usual` has a failed trial of Btrfs, and the other two take part.
    assert!(!matches!(choice(&usual()), Choice::None(_)));
}

#[test]
fn a_close_race_is_undecided_and_says_how_many_repeats_would_decide_it() {
    let mut run = run_of(&["ext4", "xfs"], 4);
    let noise = [0.0, 0.04, -0.03, 0.02];
    set_seconds(&mut run, &|cell, repeat| {
        let place = (repeat as usize + cell as usize) % 4;
        (1.0 + noise[place]) * if cell == 0 { 1.03 } else { 1.0 }
    });
    let answer = answer_of(&run);
    assert!(
        answer
            .text
            .starts_with("Not decided between XFS and ext4: over "),
        "{answer:?}"
    );
    assert!(
        answer
            .text
            .contains("XFS is 1.030 times as fast as ext4 (95 % interval 0.9")
    );
    let next = remark(&answer, "Next");
    let repeats: u32 = next
        .strip_prefix("About ")
        .and_then(|rest| rest.split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{next}"));
    assert!((8..60).contains(&repeats), "{next}");
    assert!(
        next.contains(&format!("--resume --repeats {repeats}.")),
        "{next}"
    );
    // What speaks for or against both helps to choose.
    let reserved = answer
        .remarks
        .iter()
        .filter(|it| it.label == "Reservations");
    assert_eq!(reserved.count(), 2);
}

#[test]
fn equals_are_named_together_and_a_small_certain_lead_is_called_small() {
    let mut run = run_of(&["ext4", "xfs", "btrfs"], 4);
    set_seconds(&mut run, &|cell, repeat| {
        let noise = 1.0 + f64::from((repeat + cell) % 2) * 0.004;
        noise * if cell == 2 { 2.0 } else { 1.0 }
    });
    let same = answer_of(&run).text;
    assert!(
        same.starts_with("Take ext4 or XFS. Over 8 of 9 phases"),
        "{same}"
    );
    assert!(same.contains("the same within 5 %"), "{same}");
    assert!(same.contains("times as fast as Btrfs"), "{same}");
    set_seconds(&mut run, &|cell, repeat| {
        let noise = 1.0 + f64::from(repeat % 2) * 0.001;
        noise * [1.03, 1.0, 2.0][cell as usize]
    });
    let small = answer_of(&run).text;
    assert!(small.starts_with("Take XFS. "), "{small}");
    assert!(small.contains("certain, but smaller than 5 %"), "{small}");
}

/// Its syncs were as fast as no others.
#[test]
fn a_subject_whose_syncs_send_no_flush_is_not_taken() {
    let mut run = run_of(&["ext4", "xfs", "btrfs"], 5);
    let mut histogram = LatencyHistogram::new();
    histogram.record(1_000);
    for trial in &mut run.trials {
        let flushes = u64::from(trial.trial.cell.0 != 1) * 400;
        for phase in trial
            .phases
            .iter_mut()
            .filter(|phase| phase.name == "append")
        {
            phase.latencies.push(OperationLatency {
                operation: "fsync".into(),
                histogram: histogram.clone(),
            });
            if let Some(device) = &mut phase.device {
                device.flushes = Some(flushes);
            }
        }
    }
    let analysis = Analysis::of(&run);
    let found = Recommendation::of(&analysis).expect("a judgement");
    let append = analysis
        .phases
        .iter()
        .position(|phase| phase.name == "append");
    let expected = Shortfall::NoFlush {
        phase: append.expect("the story has it"),
        phases: 1,
    };
    assert_eq!(found.passed_over[0].shortfalls, [expected]);
    let passed = remark(&answer_of(&run), "Takes no part");
    assert!(
        passed.contains("XFS: it does not flush: in append"),
        "{passed}"
    );
}

/// Lets the disk work for `share` of each phase that `fits`.
fn set_share(run: &mut RunRecord, share: f64, fits: &dyn Fn(&PhaseRecord) -> bool) {
    for phase in run.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        if fits(phase)
            && let Some(insight) = &mut phase.insight
        {
            insight.depth.busy_ns = (insight.window.length_ns() as f64 * share) as u64;
        }
    }
}

#[test]
fn a_phase_in_which_the_disk_hardly_worked_counts_by_twice_that_share_and_by_disk_time() {
    let mut run = several();
    set_share(&mut run, 0.9, &|_| true);
    let weights = |run: &RunRecord| {
        let analysis = Analysis::of(run);
        let found = Recommendation::of(&analysis).expect("a judgement");
        let of = |ground: &fslab_compare::Ground| {
            let name = analysis.phases[ground.phase].name.to_owned();
            (name, (ground.figure, (ground.weight * 100.0).round()))
        };
        found
            .grounds
            .iter()
            .map(of)
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let full = (GroundFigure::Headline, 100.0);
    assert!(weights(&run).values().all(|weight| *weight == full));
    set_share(&mut run, 0.1, &|phase| phase.name == "write");
    let some = weights(&run);
    assert_eq!(some["write"], (GroundFigure::DiskTime, 20.0));
    assert_eq!(
        some.values().filter(|weight| **weight == full).count(),
        some.len() - 1
    );
    // The mean over phases weighs as the recommendation does.
    let analysis = Analysis::of(&run);
    let overall = analysis.overall.as_ref().expect("several phases");
    let recommendation = Recommendation::of(&analysis).expect("a judgement");
    let grounds = recommendation.grounds.iter();
    let grounds: Vec<_> = grounds.map(|it| (it.phase, it.weight)).collect();
    let is_left_out = |place: &usize| {
        recommendation
            .left_out
            .iter()
            .any(|(phase, _)| phase == place)
    };
    let mut weighed = overall.phases.clone();
    weighed.retain(|(place, _)| !is_left_out(place));
    assert_eq!(weighed, grounds);
    let less = remark(&answer_of(&run), "Counts less");
    assert!(less.ends_with("twice its share: write (20.0 %)."), "{less}");
    set_share(&mut run, 0.1, &|_| true);
    let text = answer_of(&run);
    assert!(!text.text.contains("as fast"), "{text:?}");
    assert!(text.text.contains("disk time"), "{text:?}");
}

#[test]
fn a_study_without_an_answer_recommends_nothing_and_the_page_has_no_such_part() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    let page = |run: &RunRecord| fslab_report::html(std::slice::from_ref(run)).expect("a page");
    assert!(page(&run).contains(">Recommendation</h2>"));
    ask(&mut run, &[]);
    assert_eq!(answer(&Analysis::of(&run), &reservations()), None);
    assert!(!page(&run).contains(">Recommendation</h2>"));
}

#[test]
fn the_subjects_of_a_sweep_are_candidates_where_all_its_points_were_run() {
    let mut run = swept(&["ext2", "ext3"], (3, 2), 3);
    // Enough work to count.
    for phase in run.trials.iter_mut().flat_map(|trial| &mut trial.phases) {
        phase.elapsed_ns = phase.elapsed_ns.map(|ns| ns * 1_000);
    }
    let analysis = Analysis::of(&run);
    let recommendation = Recommendation::of(&analysis).expect("a recommendation");
    assert_eq!(recommendation.passed_over, []);
    assert_ne!(recommendation.choice, Choice::None(WhyNone::NoCandidate));

    let phases = &mut trial_mut(&mut run, 1, 0).phases;
    let point = phases
        .iter_mut()
        .find(|phase| phase.study_phase() == "write");
    point.expect("a point").outcome = PhaseOutcome::Skipped {
        reason: "no room".into(),
    };
    let analysis = Analysis::of(&run);
    let recommendation = Recommendation::of(&analysis).expect("a recommendation");
    let passed_over: Vec<_> = recommendation.passed_over.iter().collect();
    assert_eq!(passed_over.len(), 1);
    assert_eq!(passed_over[0].subject, 1);
    let expected = Shortfall::NotMeasured {
        phase: 0,
        phases: 1,
        reason: "few points: 5 of 6 were run to the end".into(),
    };
    assert_eq!(passed_over[0].shortfalls, [expected]);
}
