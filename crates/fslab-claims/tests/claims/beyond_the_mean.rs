//! What a mean hides: leads that change, figures of memory, disks that decide otherwise, processors
//! that are missing.

use fslab_claims::ClaimOutcome::{Fails, Holds, NotApplicable, NotMeasured, Undecided};
use fslab_claims::{ClaimVerdict, FurtherRun, evaluate};
use fslab_model::RunRecord;

use crate::run_builder::{PhaseBuilder, RunBuilder, claim, outcome, verdict};

const KIB: u64 = 1024;
const A_BEFORE_B: &str = "kind = 'faster'\nphase = 'w'\nsubject = 'a'\nthan = ['b']\n";

/// One repeat of a phase with these seconds at sizes that double.
fn swept(seconds: &[f64]) -> Vec<Vec<PhaseBuilder>> {
    let sizes = (0..).map(|index| KIB << index);
    let at =
        |(size, seconds): (u64, &f64)| PhaseBuilder::new("w", *seconds).at(&[("file_size", size)]);
    vec![sizes.zip(seconds).map(at).collect()]
}

#[test]
fn a_lead_that_changes_along_a_sweep_decides_nothing_and_its_place_is_named() {
    let run = |b: &[f64]| {
        RunBuilder::virtual_time(512)
            .subject("a", swept(&[1.0, 1.0, 1.0]))
            .subject("b", swept(b))
            .build()
    };
    assert_eq!(outcome(&run(&[3.0, 2.0, 1.0]), A_BEFORE_B), Holds);
    let turned = verdict(&run(&[3.0, 2.0, 0.9]), A_BEFORE_B);
    assert_eq!(turned.outcome, Undecided, "{}", turned.sentence);
    let words = "a leads at 2 of 3 points and b at 1, and the lead changes between file_size 2 KiB \
                 and 4 KiB";
    assert!(turned.sentence.contains(words), "{}", turned.sentence);
    let alike = format!("{A_BEFORE_B}at_least = 0.5\nat_most = 3.0\n");
    assert_eq!(outcome(&run(&[3.0, 2.0, 0.9]), &alike), Holds);
}

#[test]
fn a_point_that_memory_served_or_timers_filled_is_left_out_of_a_sweep_only() {
    let run = |share: [f64; 2]| {
        let phases = |seconds: f64| {
            let own = PhaseBuilder::read("w", seconds, share).at(&[("file_size", KIB)]);
            let others = [2, 4].map(|size| {
                PhaseBuilder::read("w", 1.0, [1.0, 1.0]).at(&[("file_size", size * KIB)])
            });
            let mut phases = vec![own];
            phases.extend(others);
            vec![phases]
        };
        RunBuilder::virtual_time(512)
            .subject("a", phases(1.0))
            .subject("b", phases(8.0))
            .build()
    };
    let ratio = |share| {
        let found = verdict(&run(share), A_BEFORE_B).findings.remove(0);
        (found.value.map(f64::round), found.places, found.left_out)
    };
    assert_eq!(ratio([1.0, 1.0]), (Some(2.0), 3, 0));
    assert_eq!(ratio([0.4, 1.0]), (Some(1.0), 2, 1));
    assert_eq!(ratio([1.0, 0.4]), (Some(1.0), 2, 1));
    let once = |seconds| vec![vec![PhaseBuilder::read("w", seconds, [1.0, 0.4])]];
    let run = RunBuilder::virtual_time(512)
        .subject("a", once(1.0))
        .subject("b", once(2.0))
        .build();
    let read = verdict(&run, A_BEFORE_B);
    assert_eq!(read.outcome, Holds);
    let words = "not on bytes from the disk only: 60 % of what a read came from memory, and a part \
                 of what one other read";
    assert!(read.sentence.contains(words), "{}", read.sentence);
}

/// The verdict of the claim for a run on `disk-a`, with others on disks drawn within its
/// uncertainty on which `b` takes so long.
fn with_draws(drawn: &[f64], scale: &str) -> ClaimVerdict {
    let run = |disk: &str, b: f64, scale: &str| {
        RunBuilder::virtual_time(512)
            .on_disk(disk)
            .scale(scale)
            .times("a", &[("w", &[1.0])])
            .times("b", &[("w", &[b])])
            .build()
    };
    let stated = run("disk-a", 1.5, "1");
    let draws: Vec<RunRecord> = (1..)
        .zip(drawn)
        .map(|(number, b)| run(&format!("disk-a+draw{number}"), *b, scale))
        .collect();
    let further = draws.iter().map(|run| FurtherRun {
        run,
        platform: None,
    });
    let further: Vec<FurtherRun<'_>> = further.collect();
    let card = evaluate(&claim("", A_BEFORE_B), &stated, &further);
    card.verdicts.into_iter().next().expect("one claim")
}

#[test]
fn a_claim_that_a_disk_within_the_uncertainty_decides_otherwise_is_undecided() {
    let same = with_draws(&[1.2, 2.0], "1");
    assert_eq!(same.outcome, Holds);
    let words = "the same on all 2 disks drawn within the uncertainty of disk-a";
    assert!(same.sentence.contains(words), "{}", same.sentence);
    let turned = with_draws(&[1.2, 0.9], "1");
    assert_eq!(turned.outcome, Undecided);
    let words = "a / b by rate 1.50, wanted more than 1; it fails on 1 of 2 disks drawn";
    assert!(turned.sentence.starts_with(words), "{}", turned.sentence);
    let other_scale = with_draws(&[0.9], "1/2");
    assert_eq!(other_scale.outcome, Holds);
    let words = "at scale 1 and run-1 at 1/2, and they do not compare";
    assert!(
        other_scale.sentence.contains(words),
        "{}",
        other_scale.sentence
    );
}

#[test]
fn a_claim_about_several_processors_needs_a_machine_that_has_them() {
    let claims = |least: u32| {
        let text = format!(
            "study = 's'\n[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = true\n\
             processors = {least}\n[claim.holds]\n{A_BEFORE_B}"
        );
        fslab_claims::Claims::from_toml(&text)
    };
    let of = |builder: RunBuilder| {
        let run = builder
            .times("a", &[("w", &[1.0, 1.0])])
            .times("b", &[("w", &[2.0, 2.0])])
            .build();
        let card = evaluate(&claims(2).expect("claims"), &run, &[]);
        card.verdicts.into_iter().next().expect("one claim")
    };
    let guest = of(RunBuilder::virtual_time(512));
    assert_eq!(guest.outcome, NotApplicable);
    let words = "It needs 2 processors or more, and the machine of the run has one.";
    assert_eq!(guest.sentence, words);
    assert_eq!(of(RunBuilder::real()).outcome, NotMeasured);
    assert_eq!(of(RunBuilder::real().processors(4)).outcome, Holds);
    let error = claims(1).expect_err("one processor").to_string();
    assert!(error.contains("processors: must be 2 or more"), "{error}");
}

#[test]
fn a_rank_counts_those_that_are_ahead() {
    let builder = RunBuilder::virtual_time(512);
    let run = [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)]
        .into_iter()
        .fold(builder, |builder, (name, seconds)| {
            builder.times(name, &[("w", &[seconds])])
        })
        .build();
    let rank = |subject: &str, at_most: u32| {
        let holds = format!(
            "kind = 'rank'\nphase = 'w'\nsubject = '{subject}'\n\
             among = ['a', 'b', 'c', 'd']\nat_most = {at_most}"
        );
        verdict(&run, &holds)
    };
    assert_eq!(rank("b", 2).outcome, Holds);
    let third = rank("c", 2);
    assert_eq!(third.outcome, Fails);
    assert_eq!(
        third.sentence,
        "c among 4 is by rate number 3, wanted at most 2."
    );
}

#[test]
fn a_trend_can_be_relative_to_other_subjects() {
    let times = |seconds: [f64; 3]| {
        let at = |(processes, seconds): (u64, f64)| {
            PhaseBuilder::new("w", seconds).at(&[("processes", processes)])
        };
        vec![[1, 2, 4].into_iter().zip(seconds).map(at).collect()]
    };
    let run = RunBuilder::virtual_time(512)
        .subject("a", times([1.0, 1.0, 1.0]))
        .subject("b", times([1.0, 0.5, 0.25]))
        .build();
    let trend = |more: &str| {
        let holds =
            format!("kind = 'trend'\nphase = 'w'\nsubject = 'a'\nover = 'processes'\n{more}");
        outcome(&run, &holds)
    };
    assert_eq!(trend("shape = 'levels'"), Holds);
    assert_eq!(trend("shape = 'falls'\nrelative_to = ['b']"), Holds);
    assert_eq!(trend("shape = 'levels'\nrelative_to = ['b']"), Fails);
    assert_eq!(trend("shape = 'falls'\nrelative_to = ['z']"), NotApplicable);
}
