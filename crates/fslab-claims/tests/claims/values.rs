//! `value`, `sequence`, `fails`, and the venues of a claim.

use fslab_claims::ClaimOutcome::{Fails, Holds, NotMeasured, Undecided};
use fslab_claims::{Claims, evaluate};

use crate::run_builder::{PhaseBuilder, RunBuilder, outcome, verdict};

fn value(metric: &str, limits: &str) -> String {
    format!("kind = 'value'\nphase = 'w'\nsubject = 'a'\nmetric = '{metric}'\n{limits}")
}

#[test]
fn a_time_is_within_its_limits_at_full_scale_only() {
    let builder = |scale: &str| {
        let phases = vec![PhaseBuilder::new("w", 20.0).settled(120.0)];
        RunBuilder::virtual_time(512)
            .scale(scale)
            .subject("a", vec![phases])
            .build()
    };
    let run = builder("1");
    for (metric, limits, expected) in [
        ("total", "at_least = '2 min'\nat_most = '3 min'", Holds),
        ("unmount", "at_most = '2 min'", Holds),
        ("unmount", "at_least = '3 min'", Fails),
        ("run", "at_most = '1 s'", Fails),
    ] {
        assert_eq!(
            outcome(&run, &value(metric, limits)),
            expected,
            "{metric} {limits}"
        );
    }
    let result = verdict(&run, &value("total", "at_most = '3 min'"));
    assert_eq!(result.sentence, "a: w total 140 s, wanted at most 3 min.");
    let small = verdict(&builder("1/20"), &value("total", "at_most = '3 min'"));
    assert_eq!(small.outcome, NotMeasured);
    assert!(
        small.sentence.contains("at scale 1/20"),
        "{}",
        small.sentence
    );
}

#[test]
fn a_phase_without_measurable_time_has_no_figure() {
    let run = RunBuilder::virtual_time(512)
        .subject("a", vec![vec![PhaseBuilder::untimed("w")]])
        .build();
    for (metric, limits) in [
        ("throughput", "at_least = '1 MB/s'"),
        ("run", "at_most = '1 s'"),
    ] {
        let result = verdict(&run, &value(metric, limits));
        assert_eq!(result.outcome, NotMeasured, "{}", result.sentence);
    }
}

#[test]
fn a_mean_of_repeats_has_an_interval() {
    let run = RunBuilder::real()
        .times("a", &[("w", &[1.0, 1.1, 1.05])])
        .build();
    assert_eq!(outcome(&run, &value("run", "at_most = '2 s'")), Holds);
    assert_eq!(
        outcome(&run, &value("run", "at_most = '1.06 s'")),
        Undecided
    );
    assert_eq!(outcome(&run, &value("run", "at_least = '2 s'")), Fails);
    assert_eq!(outcome(&run, &value("sd", "at_most = '1 s'")), Holds);
    assert_eq!(
        outcome(&run, &value("sd-of-mean", "at_most = '50 %'")),
        Holds
    );
    assert_eq!(
        outcome(&run, &value("sd-of-mean", "at_most = '5 %'")),
        Undecided
    );
    let steady = RunBuilder::real().times("a", &[("w", &[1.0, 1.0])]).build();
    assert_eq!(
        outcome(&steady, &value("sd-of-mean", "at_most = '5 %'")),
        Holds
    );
}

#[test]
fn trials_that_failed_are_counted_and_left_out_of_means() {
    let good = |seconds: f64| vec![PhaseBuilder::new("w", seconds), PhaseBuilder::new("x", 1.0)];
    // The write completed slowly, and a later phase failed.
    let bad = || vec![PhaseBuilder::new("w", 100.0), PhaseBuilder::failed("x")];
    let repeats = vec![good(1.0), bad(), good(1.1), bad(), good(1.05)];
    let run = RunBuilder::real().subject("a", repeats).build();
    let both = value("run", "at_most = '2 s'").replace("'w'", "['w', 'x']");
    assert_eq!(outcome(&run, &both), Holds);
    // What fails behind all phases of the claims takes nothing away from these.
    let mean = verdict(&run, &value("run", "at_most = '2 s'")).findings[0].value;
    assert!(mean.is_some_and(|mean| mean > 40e9), "{mean:?}");
    let failed = |phase: &str, limit: &str| {
        let text = value("failed-percent", limit).replace("'w'", &format!("'{phase}'"));
        verdict(&run, &text)
    };
    assert_eq!(failed("x", "at_least = '10 %'").outcome, Undecided);
    assert_eq!(failed("x", "at_least = '90 %'").outcome, Fails);
    assert_eq!(failed("x", "at_least = '1 %'").outcome, Holds);
    assert_eq!(
        failed("x", "at_least = '1 %'").findings[0].value,
        Some(40.0)
    );
    assert_eq!(
        failed("w", "at_least = '60 %'").findings[0].value,
        Some(0.0)
    );
}

#[test]
fn a_sequence_repeats_its_last_value() {
    let run = |lists: &[&[f64]]| {
        let phase =
            |list: &&[f64]| vec![PhaseBuilder::new("w", 1.0).list("readahead-window", list)];
        RunBuilder::real()
            .subject("a", lists.iter().map(phase).collect())
            .build()
    };
    let holds = "kind = 'sequence'\nphase = 'w'\nsubject = 'a'\nmetric = 'window-blocks'\n\
                 values = [4, 8, 16, 32]";
    let (good, bad): (&[f64], &[f64]) = (&[4.0, 8.0, 16.0, 32.0, 32.0], &[32.0, 32.0]);
    assert_eq!(outcome(&run(&[good]), holds), Holds);
    assert_eq!(outcome(&run(&[bad]), holds), Fails);
    assert_eq!(outcome(&run(&[good, bad]), holds), Undecided);
    let result = verdict(&run(&[bad]), holds).sentence;
    assert!(
        result.contains("it is 32, 32, and 4, 8, 16, 32 is expected"),
        "{result}"
    );
    let none = RunBuilder::real().times("a", &[("w", &[1.0])]).build();
    let result = verdict(&none, holds);
    assert_eq!(result.outcome, NotMeasured);
    assert!(
        result.sentence.contains("no list 'readahead-window'"),
        "{}",
        result.sentence
    );
}

const FAILS: &str = "kind = 'fails'\nphase = 'c'\nsubject = 'a'";

#[test]
fn a_failure_is_checked_at_full_scale_and_includes_skipped_phases_after_it() {
    let run = |phases: Vec<PhaseBuilder>, scale: &str| {
        RunBuilder::virtual_time(512)
            .scale(scale)
            .subject("a", vec![phases])
            .build()
    };
    assert_eq!(
        outcome(&run(vec![PhaseBuilder::failed("c")], "1"), FAILS),
        Holds
    );
    assert_eq!(
        outcome(&run(vec![PhaseBuilder::new("c", 1.0)], "1"), FAILS),
        Fails
    );
    assert_eq!(
        outcome(&run(vec![PhaseBuilder::failed("c")], "1/2"), FAILS),
        NotMeasured
    );
    let after = vec![
        PhaseBuilder::failed("b"),
        PhaseBuilder::skipped("c", "the phase 'b' before it failed"),
    ];
    assert_eq!(outcome(&run(after, "1"), FAILS), Holds);
    let for_another_reason = vec![
        PhaseBuilder::failed("b"),
        PhaseBuilder::skipped("c", "needs hard links, which a has not"),
    ];
    assert_eq!(outcome(&run(for_another_reason, "1"), FAILS), NotMeasured);
    let sometimes = RunBuilder::real()
        .subject(
            "a",
            vec![
                vec![PhaseBuilder::failed("c")],
                vec![PhaseBuilder::new("c", 1.0)],
            ],
        )
        .build();
    assert_eq!(outcome(&sometimes, FAILS), Undecided);
}

#[test]
fn a_claim_that_names_its_venues_is_not_measured_elsewhere() {
    let text = "study = 's'\n[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n\
                venues = ['sim', 'loop', 'block']\n[claim.holds]\nkind = 'faster'\nphase = 'w'\n\
                subject = 'a'\nthan = ['b']\n";
    let claims = Claims::from_toml(text).expect("claims");
    let result = |builder: RunBuilder| {
        let run = builder
            .times("a", &[("w", &[1.0])])
            .times("b", &[("w", &[2.0])])
            .build();
        evaluate(&claims, &run, &[]).verdicts.remove(0)
    };
    assert_eq!(result(RunBuilder::virtual_time(512)).outcome, Holds);
    let guest = result(RunBuilder::guest());
    assert_eq!(guest.outcome, NotMeasured);
    let expected = "It needs one of the venues sim, loop, block, and this is 'guest'.";
    assert_eq!(guest.sentence, expected);
}
