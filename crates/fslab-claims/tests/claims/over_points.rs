//! `trend`, `where`, the memory, `spread`.

use fslab_claims::ClaimOutcome::{Fails, Holds, NotApplicable, NotMeasured, Undecided};
use fslab_claims::{FurtherRun, evaluate};

use crate::run_builder::{PhaseBuilder, RunBuilder, claim, outcome, verdict};

const MIB: u64 = 1 << 20;

/// A phase with its seconds at 1 MiB, 2 MiB, ...
fn over_size(seconds: &[f64]) -> Vec<PhaseBuilder> {
    let sizes = (0..).map(|power| MIB << power);
    sizes
        .zip(seconds)
        .map(|(size, seconds)| PhaseBuilder::new("w", *seconds).at(&[("file_size", size)]))
        .collect()
}

fn trend(shape: &str) -> String {
    format!("kind = 'trend'\nphase = 'w'\nsubject = 'a'\nover = 'file_size'\n{shape}")
}

#[test]
fn a_trend_is_of_rates_over_one_dimension() {
    let run = RunBuilder::virtual_time(512)
        .subject("a", vec![over_size(&[4.0, 3.0, 2.0, 1.0])])
        .build();
    assert_eq!(outcome(&run, &trend("shape = 'rises'")), Holds);
    assert_eq!(outcome(&run, &trend("shape = 'falls'")), Fails);
    assert_eq!(outcome(&run, &trend("shape = 'levels'")), Fails);
    assert_eq!(
        outcome(&run, &trend("shape = 'cliff'\nat = '8MiB'")),
        NotMeasured
    );
    let result = verdict(&run, &trend("shape = 'rises'"));
    assert_eq!(result.findings[0].points.len(), 4);
    assert!(
        result.sentence.contains("rank correlation 1.00"),
        "{}",
        result.sentence
    );
    let elsewhere = trend("shape = 'rises'").replace("file_size", "record");
    assert_eq!(outcome(&run, &elsewhere), NotMeasured);
}

#[test]
fn a_trend_leaves_out_points_without_measurable_time() {
    let run = |untimed: usize| {
        let mut phases = over_size(&[8.0, 6.0, 4.0, 3.0, 2.0, 1.0]);
        for (at, phase) in phases.iter_mut().enumerate().take(untimed) {
            *phase = PhaseBuilder::untimed("w").at(&[("file_size", MIB << at)]);
        }
        RunBuilder::virtual_time(512)
            .subject("a", vec![phases])
            .build()
    };
    let rises = trend("shape = 'rises'");
    let result = verdict(&run(2), &rises);
    assert_eq!(result.outcome, Holds, "{}", result.sentence);
    assert!(
        result.sentence.contains("over the 4 of 6 points at which"),
        "{}",
        result.sentence
    );
    assert_eq!(result.findings[0].points.len(), 4);
    assert_eq!(outcome(&run(4), &rises), NotMeasured);
}

#[test]
fn repeats_must_agree_on_a_trend() {
    let rising = || over_size(&[4.0, 3.0, 2.0, 1.0]);
    let falling = || over_size(&[1.0, 2.0, 3.0, 4.0]);
    let run = |repeats| RunBuilder::real().subject("a", repeats).build();
    let rises = trend("shape = 'rises'");
    assert_eq!(outcome(&run(vec![rising(), rising()]), &rises), Holds);
    assert_eq!(outcome(&run(vec![falling(), falling()]), &rises), Fails);
    assert_eq!(outcome(&run(vec![rising(), falling()]), &rises), Undecided);
    assert_eq!(outcome(&run(vec![rising()]), &rises), Undecided);
}

#[test]
fn a_trend_uses_only_combinations_with_every_value_of_the_dimension() {
    // Large records exist for the large file alone, which is slow at every record.
    let phase = |size: u64, record: u64, seconds: f64| {
        PhaseBuilder::new("w", seconds).at(&[("file_size", size * MIB), ("record", record * MIB)])
    };
    let phases = vec![
        phase(1, 1, 0.1),
        phase(8, 1, 8.0),
        phase(8, 2, 8.0),
        phase(8, 4, 8.0),
        phase(8, 8, 8.0),
    ];
    let run = RunBuilder::virtual_time(512)
        .subject("a", vec![phases])
        .build();
    let over = |shape: &str| trend(shape).replace("file_size", "record");
    assert_eq!(outcome(&run, &over("shape = 'falls'")), Fails);
    assert_eq!(outcome(&run, &over("shape = 'levels'")), Holds);
}

/// Rates over sizes of 64 MiB to 2 GiB, with a cliff after 512 MiB at full memory.
fn with_cliff(memory_mib: u64) -> fslab_model::RunRecord {
    let phases = [1.0, 1.0, 1.0, 2.0, 6.0, 6.0];
    let first = memory_mib / 8;
    let sizes = (0..).map(|power| (first << power) * MIB);
    let phases = sizes.zip(phases);
    let phases =
        phases.map(|(size, seconds)| PhaseBuilder::new("w", seconds).at(&[("file_size", size)]));
    RunBuilder::virtual_time(memory_mib)
        .subject("a", vec![phases.collect()])
        .build()
}

#[test]
fn sizes_scale_with_the_memory_by_the_memory_rule() {
    let head = "[memory]\ndimension = 'file_size'\noriginal = '512MiB'\nfrom = '256MiB'";
    let cliff = trend("shape = 'cliff'\nat = '512MiB'");
    let of = |head: &str, memory, holds: &str| {
        evaluate(&claim(head, holds), &with_cliff(memory), &[]).verdicts[0].outcome
    };
    assert_eq!(of(head, 512, &cliff), Holds);
    assert_eq!(of(head, 128, &cliff), Holds);
    assert_eq!(
        of("", 128, &cliff),
        NotMeasured,
        "nothing was measured from 1 GiB on"
    );
    // 2 GiB are four times the memory: the largest size of each run.
    let largest = "kind = 'value'\nphase = 'w'\nsubject = 'a'\nmetric = 'elapsed'\n\
                   at_least = '5 s'\nwhere = { file_size = '2GiB' }";
    assert_eq!(of(head, 512, largest), Holds);
    assert_eq!(of(head, 128, largest), Holds);
    assert_eq!(of("", 128, largest), NotMeasured);
    // Sizes below `from` are not scaled.
    let small = largest
        .replace("2GiB", "64MiB")
        .replace("at_least", "at_most");
    assert_eq!(of(head, 512, &small), Holds);
    assert_eq!(of(head, 128, &small), Holds);
}

#[test]
fn a_phase_parameter_counts_if_the_sweep_lacks_the_dimension() {
    let mut run = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[1.0])])
        .build();
    for phase in &mut run.trials[0].phases {
        phase
            .parameters
            .insert("file_size".into(), (2 * MIB).into());
    }
    let holds = |size: &str| {
        format!(
            "kind = 'value'\nphase = 'w'\nsubject = 'a'\nmetric = 'elapsed'\nat_most = '2 s'\n\
             where = {{ file_size = '{size}' }}"
        )
    };
    assert_eq!(outcome(&run, &holds("2MiB")), Holds);
    assert_eq!(outcome(&run, &holds("4MiB..")), NotMeasured);
}

#[test]
fn ratios_between_groups_exceed_those_inside_them() {
    let run = |c: f64| {
        let builder = RunBuilder::virtual_time(512).times("a", &[("w", &[1.0])]);
        builder
            .times("b", &[("w", &[1.2])])
            .times("c", &[("w", &[c])])
            .build()
    };
    let holds = "kind = 'spread'\nphase = 'w'\ngroups = [['a', 'b'], ['c']]\nat_least = 1";
    assert_eq!(outcome(&run(5.0), holds), Holds);
    assert_eq!(outcome(&run(1.1), holds), Fails);
    let lacking = "kind = 'spread'\nphase = 'w'\ngroups = [['a', 'b'], ['z']]\nat_least = 1";
    assert_eq!(outcome(&run(1.1), lacking), NotApplicable);
    let noisy = RunBuilder::real()
        .times("a", &[("w", &[1.0, 2.0])])
        .times("b", &[("w", &[1.2, 1.0])])
        .times("c", &[("w", &[1.5, 1.0])])
        .build();
    assert_eq!(outcome(&noisy, holds), Undecided);
}

#[test]
fn one_group_is_compared_on_two_disks_and_needs_both_runs() {
    let run = |disk: &str, b: f64| {
        let builder = RunBuilder::virtual_time(512).on_disk(disk);
        builder
            .times("a", &[("w", &[1.0])])
            .times("b", &[("w", &[b])])
            .build()
    };
    let (hard, flash) = (run("disk-a", 4.0), run("disk-b", 1.2));
    let claims = claim(
        "",
        "kind = 'spread'\nphase = 'w'\ngroups = [['a', 'b']]\n\
         venue_disks = ['disk-a', 'disk-b']\nat_least = 1.5",
    );
    let further = |run| FurtherRun {
        run,
        platform: None,
    };
    let of = |run, others: &[FurtherRun<'_>]| evaluate(&claims, run, others).verdicts[0].outcome;
    assert_eq!(of(&hard, &[further(&flash)]), Holds);
    assert_eq!(of(&flash, &[further(&hard)]), Holds);
    assert_eq!(of(&hard, &[]), NotMeasured);
    let third = run("disk-c", 1.0);
    assert_eq!(of(&hard, &[further(&third), further(&flash)]), Holds);
    assert_eq!(of(&hard, &[further(&run("disk-b", 4.0))]), Fails);
}
