//! `faster`, `best`, `worst`, `order`, `wins`.

use fslab_claims::ClaimOutcome::{Fails, Holds, NotApplicable, NotMeasured, Undecided};
use fslab_claims::evaluate;
use proptest::prelude::*;

use crate::run_builder::{PhaseBuilder, RunBuilder, claim, outcome, verdict};

const AB: &str = "kind = 'faster'\nphase = 'w'\nsubject = 'a'\nthan = ['b']\n";
const BA: &str = "kind = 'faster'\nphase = 'w'\nsubject = 'b'\nthan = ['a']\n";

fn exact(a: f64, b: f64) -> fslab_model::RunRecord {
    let builder = RunBuilder::virtual_time(512);
    builder
        .times("a", &[("w", &[a])])
        .times("b", &[("w", &[b])])
        .build()
}

#[test]
fn faster_is_exact_in_virtual_time_and_its_inverse_fails() {
    let run = exact(1.0, 1.5);
    assert_eq!((outcome(&run, AB), outcome(&run, BA)), (Holds, Fails));
    for (limits, expected) in [
        ("at_least = 1.25\nat_most = 1.75", Holds),
        ("at_least = 1.6", Fails),
        ("at_most = 1.4", Fails),
        ("at_least = 1.5", Holds),
    ] {
        assert_eq!(
            outcome(&run, &format!("{AB}{limits}")),
            expected,
            "{limits}"
        );
    }
    let result = verdict(&run, AB);
    assert_eq!(
        result.findings[0].value.map(|value| (value * 1e6).round()),
        Some(1.5e6)
    );
    assert_eq!(result.sentence, "a / b by rate 1.50, wanted more than 1.");
}

#[test]
fn of_equal_subjects_neither_is_faster_and_neither_is_behind() {
    let run = exact(1.5, 1.5);
    assert_eq!((outcome(&run, AB), outcome(&run, BA)), (Fails, Fails));
    let not_behind = format!("{AB}at_least = 1");
    assert_eq!(outcome(&run, &not_behind), Holds);
}

#[test]
fn a_shorter_time_is_better() {
    let run = exact(1.0, 1.5);
    let elapsed = format!("{AB}metric = 'elapsed'");
    assert_eq!(outcome(&run, &elapsed), Holds);
    assert_eq!(outcome(&run, &format!("{BA}metric = 'elapsed'")), Fails);
}

#[test]
fn repeats_decide_only_if_their_interval_excludes_the_limit() {
    let run = |a: &[f64], b: &[f64]| {
        RunBuilder::real()
            .times("a", &[("w", a)])
            .times("b", &[("w", b)])
            .build()
    };
    let clear = run(&[1.0, 1.01, 1.02], &[1.5, 1.52, 1.49]);
    assert_eq!((outcome(&clear, AB), outcome(&clear, BA)), (Holds, Fails));
    let wide = run(&[1.0, 2.0, 1.5], &[1.5, 2.5, 1.4]);
    assert_eq!(
        (outcome(&wide, AB), outcome(&wide, BA)),
        (Undecided, Undecided)
    );
    let single = verdict(&run(&[1.0], &[1.5]), AB);
    assert_eq!(single.outcome, Undecided);
    assert!(
        single.sentence.contains("a single repeat has no interval"),
        "{}",
        single.sentence
    );
}

#[test]
fn a_claim_about_a_subject_that_the_run_lacks_is_not_applicable() {
    let run = exact(1.0, 1.5);
    let holds = "kind = 'faster'\nphase = 'w'\nsubject = 'a'\nthan = ['z']";
    let result = verdict(&run, holds);
    assert_eq!(result.outcome, NotApplicable);
    assert_eq!(result.sentence, "a / z: the run has no subject z.");
    let best = "kind = 'best'\nphase = 'w'\nsubject = 'z'";
    assert_eq!(
        verdict(&run, best).sentence,
        "The run has no subject z.",
        "a sentence without a comparison begins with a capital"
    );
    // One of several subjects is there, and is not as claimed: that decides.
    let faster = "kind = 'faster'\nphase = 'w'\nsubject = 'b'\nthan = ['a', 'z']";
    assert_eq!(outcome(&run, faster), Fails);
    // What the run lacks outweighs what it did not measure.
    let both = "kind = 'faster'\nphase = 'v'\nsubject = 'a'\nthan = ['b', 'z']";
    assert_eq!(outcome(&run, both), NotApplicable);
}

#[test]
fn a_claim_is_not_measured_if_the_run_lacks_a_part_and_the_sentence_names_it() {
    let run = exact(1.0, 1.5);
    for (holds, reason) in [
        (
            "kind = 'faster'\nphase = 'v'\nsubject = 'a'\nthan = ['b']",
            "the run has no phase 'v'",
        ),
        (
            "kind = 'faster'\nphase = 'w'\nsubject = 'a'\nthan = ['b']\nmetric = 'total'",
            "'w' of a has no figure 'total'",
        ),
        (
            "kind = 'faster'\nphase = 'w'\nsubject = 'a'\nthan = ['b']\n\
             where = { record = '8KiB' }",
            "'w' did not run at record 8 KiB",
        ),
    ] {
        let result = verdict(&run, holds);
        assert_eq!(result.outcome, NotMeasured, "{holds}");
        assert!(result.sentence.contains(reason), "{}", result.sentence);
    }
    let failed = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[1.0])])
        .subject("b", vec![vec![PhaseBuilder::failed("w")]])
        .build();
    let result = verdict(&failed, AB);
    assert_eq!(result.outcome, NotMeasured);
    assert!(
        result.sentence.contains("b failed in 'w': no space"),
        "{}",
        result.sentence
    );
}

#[test]
fn points_without_measurable_time_are_left_out_and_counted_and_half_of_all_are_needed() {
    const PLACES: u64 = 4;
    // Of `a`, the first points took no time; of `b`, each took as long as three of `a`.
    let run = |untimed: u64| {
        let a = |at: u64| match at < untimed {
            true => PhaseBuilder::untimed("w"),
            false => PhaseBuilder::new("w", 1.0),
        };
        let b = |_| PhaseBuilder::new("w", 3.0);
        let swept = |of: &dyn Fn(u64) -> PhaseBuilder| {
            let points = (0..PLACES).map(|at| of(at).at(&[("record", 4096 << at)]));
            vec![points.collect::<Vec<_>>()]
        };
        RunBuilder::virtual_time(512)
            .subject("a", swept(&a))
            .subject("b", swept(&b))
            .build()
    };
    let sentence = |untimed: u64| verdict(&run(untimed), AB).sentence;
    assert_eq!(outcome(&run(0), AB), Holds);
    assert!(
        sentence(0).contains("3.00 over 4 points"),
        "{}",
        sentence(0)
    );
    for untimed in [1, 2] {
        let left = PLACES - untimed;
        assert_eq!(
            (outcome(&run(untimed), AB), outcome(&run(untimed), BA)),
            (Holds, Fails)
        );
        let words = format!("3.00 over the {left} of 4 points at which the disk");
        assert!(sentence(untimed).contains(&words), "{}", sentence(untimed));
    }
    for untimed in [3, 4] {
        assert_eq!(outcome(&run(untimed), AB), NotMeasured);
        assert_eq!(outcome(&run(untimed), BA), NotMeasured);
    }
    assert!(sentence(3).contains("at 1 of 4 points"), "{}", sentence(3));
}

#[test]
fn a_phase_without_measurable_time_has_no_ratio() {
    let run = RunBuilder::virtual_time(512)
        .subject("a", vec![vec![PhaseBuilder::untimed("w")]])
        .subject("b", vec![vec![PhaseBuilder::new("w", 1.0)]])
        .build();
    for claim in [AB, BA] {
        let verdict = verdict(&run, claim);
        assert_eq!(verdict.outcome, NotMeasured);
        let why = "the disk did less than half of the work";
        assert!(verdict.sentence.contains(why), "{}", verdict.sentence);
    }
}

fn four() -> fslab_model::RunRecord {
    let builder = RunBuilder::virtual_time(512);
    let builder = builder
        .times("a", &[("w", &[1.0])])
        .times("b", &[("w", &[1.02])]);
    builder
        .times("c", &[("w", &[2.0])])
        .times("d", &[("w", &[3.0])])
        .build()
}

#[test]
fn best_and_worst_are_at_their_ends_or_within_a_distance() {
    let run = four();
    let of = |kind: &str, subjects: &str, more: &str| {
        outcome(
            &run,
            &format!("kind = '{kind}'\nphase = 'w'\nsubjects = [{subjects}]\n{more}"),
        )
    };
    for (kind, subjects, more, expected) in [
        ("best", "'a'", "", Holds),
        ("best", "'a', 'b'", "", Holds),
        ("best", "'b'", "", Fails),
        ("best", "'a', 'c'", "", Fails),
        ("best", "'b'", "within = 0.05", Holds),
        ("best", "'a', 'b'", "within = 0.01", Fails),
        ("best", "'c'", "among = ['c', 'd']", Holds),
        ("best", "'c'", "among = ['c', 'd', 'z']", NotApplicable),
        ("best", "'z'", "", NotApplicable),
        ("worst", "'d'", "", Holds),
        ("worst", "'d', 'c'", "", Holds),
        ("worst", "'c'", "", Fails),
        ("worst", "'b'", "among = ['a', 'b']", Holds),
        ("worst", "'a'", "among = ['a', 'b']\nwithin = 0.05", Holds),
        ("worst", "'c'", "within = 0.3", Fails),
    ] {
        assert_eq!(
            of(kind, subjects, more),
            expected,
            "{kind} {subjects} {more}"
        );
    }
}

#[test]
fn all_subjects_of_a_run_may_be_near_each_other() {
    let all = "kind = 'best'\nphase = 'w'\nsubjects = ['a', 'b', 'c', 'd']";
    assert_eq!(outcome(&four(), &format!("{all}\nwithin = 0.99")), Holds);
    assert_eq!(outcome(&four(), &format!("{all}\nwithin = 0.01")), Fails);
    assert_eq!(outcome(&four(), all), NotMeasured);
}

#[test]
fn a_failed_subject_is_left_out_and_reported() {
    let run = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[1.0])])
        .times("b", &[("w", &[2.0])])
        .subject("c", vec![vec![PhaseBuilder::failed("w")]])
        .build();
    let result = verdict(&run, "kind = 'best'\nphase = 'w'\nsubject = 'a'");
    assert_eq!(result.outcome, Holds);
    assert!(
        result.sentence.contains("left out: c failed in 'w'"),
        "{}",
        result.sentence
    );
    let alone = verdict(
        &run,
        "kind = 'best'\nphase = 'w'\nsubject = 'a'\namong = ['a', 'c']",
    );
    assert_eq!(alone.outcome, NotMeasured);
}

#[test]
fn an_order_holds_with_ties_and_fails_with_a_swap() {
    let run = four();
    let of = |list: &str| {
        outcome(
            &run,
            &format!("kind = 'order'\nphase = 'w'\nsubjects = {list}"),
        )
    };
    assert_eq!(of("['a', 'b', 'c', 'd']"), Holds);
    assert_eq!(of("['b', 'a', 'c', 'd']"), Fails);
    assert_eq!(of("['a', 'z']"), NotApplicable);
    let noisy = RunBuilder::real()
        .times("a", &[("w", &[1.0, 2.0, 1.5])])
        .times("b", &[("w", &[1.1, 1.9, 1.7])])
        .build();
    let holds = "kind = 'order'\nphase = 'w'\nsubjects = ['a', 'b']";
    assert_eq!(outcome(&noisy, holds), Undecided);
}

#[test]
fn several_phases_are_their_geometric_mean_and_a_subject_that_lacks_one_is_left_out() {
    let run = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[1.0]), ("r", &[9.0])])
        .times("b", &[("w", &[2.0]), ("r", &[2.0])])
        .times("c", &[("w", &[0.1])])
        .build();
    let both = "kind = 'best'\nphase = ['w', 'r']\nsubject = 'b'";
    assert_eq!(outcome(&run, both), Holds);
    assert_eq!(
        outcome(&run, "kind = 'best'\nphase = 'w'\nsubject = 'b'"),
        Fails
    );
    let sum = "kind = 'faster'\nphase = ['w', 'r']\nmetric = 'run-sum'\n";
    let sum = verdict(&run, &format!("{sum}subject = 'b'\nthan = ['a']"));
    assert_eq!(
        sum.findings[0].value.map(|value| (value * 100.0).round()),
        Some(250.0)
    );
}

#[test]
fn wins_are_counted_by_phase_and_from_either_end() {
    let run = RunBuilder::virtual_time(512)
        .times("a", &[("p", &[1.0]), ("q", &[1.0]), ("r", &[5.0])])
        .times("b", &[("p", &[2.0]), ("q", &[1.0]), ("r", &[1.0])])
        .build();
    let of = |subject: &str, at_least: u32, more: &str| {
        outcome(
            &run,
            &format!(
                "kind = 'wins'\nsubject = '{subject}'\nphases = ['p', 'q', 'r']\n\
                 at_least = {at_least}\n{more}"
            ),
        )
    };
    // The same figure in q counts for both.
    assert_eq!((of("a", 2, ""), of("a", 3, "")), (Holds, Fails));
    assert_eq!((of("b", 2, ""), of("b", 3, "")), (Holds, Fails));
    assert_eq!(of("a", 3, "position = 'last'"), Fails);
    assert_eq!(of("a", 2, "position = 'last'"), Holds);
    assert_eq!(of("z", 2, ""), NotApplicable);
    let lacking = "kind = 'wins'\nsubject = 'a'\nphases = ['p', 'x', 'y']\nat_least = 2";
    assert_eq!(outcome(&run, lacking), NotMeasured);
    let lost = "kind = 'wins'\nsubject = 'a'\nphases = ['r', 'x']\nat_least = 2";
    assert_eq!(outcome(&run, lost), Fails);
    let noisy = RunBuilder::real()
        .times("a", &[("p", &[1.0, 2.0])])
        .times("b", &[("p", &[1.1, 1.9])])
        .build();
    let one = "kind = 'wins'\nsubject = 'a'\nphases = ['p']\nat_least = 1";
    assert_eq!(outcome(&noisy, one), Undecided);
}

#[test]
fn a_stand_in_is_reported_and_the_original_itself_takes_precedence() {
    let claims = claim(
        "[stand_in]\nntfs = 'ntfs3'",
        "kind = 'faster'\nphase = 'w'\nsubject = 'ext4'\nthan = ['ntfs']",
    );
    let run = |name: &str| {
        let builder = RunBuilder::virtual_time(512).times("ext4:noatime", &[("w", &[1.0])]);
        builder.times(name, &[("w", &[2.0])]).build()
    };
    let card = evaluate(&claims, &run("ntfs3"), &[]);
    let result = &card.verdicts[0];
    assert_eq!(result.outcome, Holds);
    assert!(
        result.sentence.ends_with("with ntfs3 in place of ntfs."),
        "{}",
        result.sentence
    );
    assert_eq!(result.stand_ins[0].measured, "ntfs3");
    let card = evaluate(&claims, &run("ntfs"), &[]);
    assert_eq!(
        (card.verdicts[0].outcome, card.verdicts[0].stand_ins.len()),
        (Holds, 0)
    );
    assert_eq!(card.count(Holds), 1);
}

#[test]
fn the_deviation_of_repeats_is_compared_by_their_variances() {
    let run = RunBuilder::real()
        .times("a", &[("w", &[1.0, 1.001, 0.999, 1.0005, 0.9995])])
        .times("b", &[("w", &[1.0, 1.5, 0.5, 1.2, 0.8])])
        .build();
    let sd = |text: &str, more: &str| outcome(&run, &format!("{text}metric = 'sd'\n{more}"));
    assert_eq!((sd(AB, ""), sd(BA, "")), (Holds, Fails));
    // 486 times, but with five repeats the interval contains 400.
    assert_eq!(sd(AB, "at_least = 400"), Undecided);
    let single = RunBuilder::real()
        .times("a", &[("w", &[1.0])])
        .times("b", &[("w", &[2.0])]);
    for (run, reason) in [
        (single.build(), "a deviation needs two repeats"),
        (exact(1.0, 2.0), "in virtual time without perturbation"),
    ] {
        let result = verdict(&run, &format!("{AB}metric = 'sd'"));
        assert_eq!(result.outcome, NotMeasured);
        assert!(result.sentence.contains(reason), "{}", result.sentence);
    }
}

#[test]
fn in_virtual_time_deviations_are_those_of_perturbed_repeats_and_say_so() {
    let varied = || {
        RunBuilder::virtual_time(512)
            .times("a", &[("w", &[1.0, 1.004, 0.996])])
            .times("b", &[("w", &[1.0, 1.9, 0.1])])
    };
    let sd = format!("{AB}metric = 'sd'");
    let result = verdict(&varied().perturbed().build(), &sd);
    assert_eq!(result.outcome, Holds, "{}", result.sentence);
    let label = "over 3 perturbed runs in virtual time";
    assert!(result.sentence.contains(label), "{}", result.sentence);
    // Without perturbation, repeats differ in their data.
    assert_eq!(verdict(&varied().build(), &sd).outcome, NotMeasured);
    // Claims about means do not have the label.
    let faster = verdict(&varied().perturbed().build(), AB);
    assert!(!faster.sentence.contains(label), "{}", faster.sentence);
    // Deviations below the resolution are not compared.
    let still = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[1.0, 1.0, 1.0])])
        .times("b", &[("w", &[1.0, 1.000_001, 1.0])])
        .perturbed();
    let result = verdict(&still.build(), &sd);
    assert_eq!(result.outcome, NotMeasured);
    assert!(
        result.sentence.contains("neither varies"),
        "{}",
        result.sentence
    );
}

/// Differences below the resolution are undecided even if three perturbed runs are equal.
#[test]
fn equal_perturbed_repeats_do_not_make_a_millionth_certain() {
    let of = |b: f64| {
        RunBuilder::virtual_time(512)
            .times("a", &[("w", &[1.0; 3])])
            .times("b", &[("w", &[b; 3])])
            .perturbed()
            .build()
    };
    assert_eq!(outcome(&of(1.000_001), AB), Undecided);
    assert_eq!(outcome(&of(1.01), AB), Holds);
}

proptest! {
    #[test]
    fn faster_and_its_inverse_never_hold_both(
        a in prop::collection::vec(0.01_f64..100.0, 1..5),
        b in prop::collection::vec(0.01_f64..100.0, 1..5),
        virtual_time: bool,
        elapsed: bool,
        limit in prop::option::of(1.0_f64..3.0),
    ) {
        let builder = if virtual_time { RunBuilder::virtual_time(512) } else { RunBuilder::real() };
        let run = builder.times("a", &[("w", &a)]).times("b", &[("w", &b)]).build();
        let mut more = String::new();
        if elapsed {
            more += "metric = 'elapsed'\n";
        }
        // A limit of exactly 1 means "not behind", which holds for both of two equal subjects.
        if let Some(limit) = limit.filter(|limit| *limit > 1.0) {
            more += &format!("at_least = {limit:?}\n");
        }
        let one = outcome(&run, &format!("{AB}{more}"));
        let other = outcome(&run, &format!("{BA}{more}"));
        prop_assert!(!(one == Holds && other == Holds), "{one:?} {other:?}");
    }

    #[test]
    fn a_limit_and_its_reverse_never_both_hold(
        a in prop::collection::vec(0.01_f64..100.0, 1..5),
        b in prop::collection::vec(0.01_f64..100.0, 1..5),
        virtual_time: bool,
        limit in 0.1_f64..10.0,
    ) {
        let builder = if virtual_time { RunBuilder::virtual_time(512) } else { RunBuilder::real() };
        let run = builder.times("a", &[("w", &a)]).times("b", &[("w", &b)]).build();
        let least = verdict(&run, &format!("{AB}at_least = {limit:?}"));
        let most = outcome(&run, &format!("{AB}at_most = {limit:?}"));
        let is_tie = least.findings[0].value == Some(limit);
        prop_assert!(is_tie || !(least.outcome == Holds && most == Holds));
    }
}
