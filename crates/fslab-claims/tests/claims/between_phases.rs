//! `phases` and `gain`.

use fslab_claims::ClaimOutcome::{Fails, Holds, NotApplicable, NotMeasured, Undecided};
use fslab_claims::{FurtherRun, evaluate};
use fslab_model::StepRecord;

use crate::run_builder::{PhaseBuilder, RunBuilder, claim, outcome, verdict};

fn step_of_mkfs(seconds: f64) -> StepRecord {
    StepRecord {
        step: "mkfs".into(),
        command: Vec::new(),
        elapsed_ns: (seconds * 1e9) as u64,
        exit_code: Some(0),
        output: String::new(),
    }
}

const READ_WRITE: &str = "kind = 'phases'\nphase = 'read'\nthan = 'write'\nsubject = 'a'\n";

#[test]
fn a_phase_against_another_of_the_same_subject() {
    let run = RunBuilder::virtual_time(512)
        .times("a", &[("read", &[1.0]), ("write", &[2.0])])
        .build();
    for (limits, expected) in [
        ("", Holds),
        ("at_least = 2", Holds),
        ("at_least = 2.1", Fails),
        ("at_most = 1.9", Fails),
        ("at_least = 0\nat_most = 2", Holds),
    ] {
        assert_eq!(
            outcome(&run, &format!("{READ_WRITE}{limits}")),
            expected,
            "{limits}"
        );
    }
    let swapped = "kind = 'phases'\nphase = 'write'\nthan = 'read'\nsubject = 'a'";
    assert_eq!(outcome(&run, swapped), Fails);
    let lacking = "kind = 'phases'\nphase = 'read'\nthan = 'x'\nsubject = 'a'";
    assert_eq!(outcome(&run, lacking), NotMeasured);
}

#[test]
fn effects_common_to_all_phases_of_a_repeat_cancel() {
    // The repeats differ by a factor of four, the two phases of each by little.
    let run = RunBuilder::real()
        .times(
            "a",
            &[("read", &[1.0, 2.0, 4.0]), ("write", &[1.2, 2.42, 4.78])],
        )
        .build();
    assert_eq!(outcome(&run, READ_WRITE), Holds);
    assert_eq!(
        outcome(&run, &format!("{READ_WRITE}at_least = 1.2")),
        Undecided
    );
    let single = RunBuilder::real()
        .times("a", &[("read", &[1.0]), ("write", &[2.0])])
        .build();
    assert_eq!(outcome(&single, READ_WRITE), Undecided);
}

#[test]
fn a_gain_is_a_ratio_of_ratios() {
    let run = RunBuilder::virtual_time(512)
        .times(
            "a",
            &[("w", &[4.0]), ("rw", &[1.0]), ("r", &[3.0]), ("rr", &[1.0])],
        )
        .build();
    let of = |more: &str| {
        outcome(
            &run,
            &format!(
                "kind = 'gain'\nsubject = 'a'\nphase = 'rw'\nthan = 'w'\n\
                 against = {{ phase = 'rr', than = 'r' }}\n{more}"
            ),
        )
    };
    assert_eq!(of("at_least = 1.3\nat_most = 1.4"), Holds);
    assert_eq!(of("at_most = 1"), Fails);
    let lacking = "kind = 'gain'\nsubject = 'a'\nphase = 'rw'\nthan = 'w'\n\
                   against = { phase = 'rr', than = 'x' }";
    assert_eq!(outcome(&run, lacking), NotMeasured);
    let noisy: &[(&str, &[f64])] = &[
        ("w", &[4.0, 2.0]),
        ("rw", &[1.0, 2.0]),
        ("r", &[3.0, 1.0]),
        ("rr", &[1.0, 3.0]),
    ];
    let noisy = RunBuilder::real().times("a", noisy).build();
    let gain = "kind = 'gain'\nsubject = 'a'\nphase = 'rw'\nthan = 'w'\n\
                against = { phase = 'rr', than = 'r' }";
    assert_eq!(outcome(&noisy, gain), Undecided);
}

#[test]
fn only_points_that_both_phases_have_are_compared() {
    let sizes = [1 << 20, 2 << 20, 4 << 20];
    let mut phases: Vec<PhaseBuilder> = sizes
        .iter()
        .flat_map(|size| {
            let at = [("file_size", *size)];
            [
                PhaseBuilder::new("write", 1.0).at(&at),
                PhaseBuilder::new("read", 0.5).at(&at),
            ]
        })
        .collect();
    // A point that only one of them has, which would reverse the order of the means.
    phases.push(PhaseBuilder::new("read", 1000.0).at(&[("file_size", 8 << 20)]));
    let run = RunBuilder::virtual_time(512)
        .subject("a", vec![phases])
        .build();
    let result = verdict(&run, READ_WRITE);
    assert_eq!((result.outcome, result.findings[0].places), (Holds, 3));
    let one = format!("{READ_WRITE}where = {{ file_size = '2MiB' }}");
    assert_eq!(verdict(&run, &one).findings[0].places, 1);
}

#[test]
fn a_swept_phase_is_compared_with_one_that_runs_once() {
    let phases = vec![
        PhaseBuilder::new("read", 1.0).at(&[("file_size", 1 << 20)]),
        PhaseBuilder::new("read", 4.0).at(&[("file_size", 2 << 20)]),
        PhaseBuilder::new("random-read", 8.0),
    ];
    let run = RunBuilder::virtual_time(512)
        .subject("a", vec![phases])
        .build();
    let holds = "kind = 'phases'\nphase = 'read'\nthan = 'random-read'\nsubject = 'a'\n";
    let result = verdict(&run, holds);
    assert_eq!(
        result.findings[0].value.map(|value| (value * 1e6).round()),
        Some(4e6)
    );
    let small = verdict(&run, &format!("{holds}where = {{ file_size = '1MiB' }}"));
    assert_eq!(
        small.findings[0].value.map(|value| (value * 1e6).round()),
        Some(8e6)
    );
}

#[test]
fn the_time_of_mkfs_can_be_compared_with_a_phase() {
    let holds = "kind = 'phases'\nphase = 'mkfs'\nthan = 'clear'\nsubject = 'a'\n\
                 metric = 'elapsed'\nat_least = 2";
    let run = |mkfs_s: Option<f64>| {
        let mut run = RunBuilder::virtual_time(512)
            .times("a", &[("clear", &[4.0])])
            .build();
        for trial in &mut run.trials {
            trial.steps = mkfs_s.map(step_of_mkfs).into_iter().collect();
        }
        run
    };
    let quick = verdict(&run(Some(1.0)), holds);
    assert_eq!(quick.outcome, Holds, "{}", quick.sentence);
    assert_eq!(quick.findings[0].value.map(f64::round), Some(4.0));
    assert_eq!(outcome(&run(Some(3.0)), holds), Fails);
    let none = verdict(&run(None), holds);
    assert_eq!(none.outcome, NotMeasured);
    let words = "the run does not have the time of mkfs of a";
    assert!(none.sentence.contains(words), "{}", none.sentence);
}

#[test]
fn an_aged_phase_is_that_of_the_aged_file_system() {
    let holds = "kind = 'phases'\nphase = 'aged-read'\nthan = 'read'\nsubject = 'ext4'\n\
                 at_least = 0\nat_most = 1";
    let fresh = || RunBuilder::virtual_time(512).times("ext4", &[("read", &[1.0])]);
    let aged = |seconds: f64| {
        fresh()
            .times("ext4:age=churn", &[("read", &[seconds])])
            .build()
    };
    assert_eq!(outcome(&aged(1.5), holds), Holds);
    assert_eq!(outcome(&aged(0.5), holds), Fails);
    let result = verdict(&fresh().build(), holds);
    assert_eq!(result.outcome, NotApplicable);
    assert!(
        result.sentence.contains("the run has no aged ext4"),
        "{}",
        result.sentence
    );
    // A further run decides it, with its own fresh file system.
    let further = aged(1.5);
    let further = FurtherRun {
        run: &further,
        platform: None,
    };
    let slow = RunBuilder::virtual_time(512).times("ext4", &[("read", &[9.0])]);
    let card = evaluate(&claim("", holds), &slow.build(), &[further]);
    assert_eq!(card.verdicts[0].outcome, Holds);
    let words = "by the run with aged file systems, at scale 1";
    assert!(card.verdicts[0].sentence.contains(words));
    // The aged subject does not count among all that were measured.
    let best = "kind = 'best'\nphase = 'read'\nsubject = 'ext4'";
    assert_eq!(outcome(&aged(0.5), best), NotMeasured);
}
