//! Experiments: runs in several conditions with planted effects.

use fslab_compare::Experiment;
use fslab_model::{Condition, FactorLevel, RunRecord};
use fslab_report::{experiment_html, model_sentence, tables};

use crate::fixture::run_of;

const DISKS: [&str; 3] = ["hdd", "ssd", "nvme"];
const MEMORY: [&str; 2] = ["512MiB", "2GiB"];

/// The run of a condition, in which every phase takes `seconds` of subject, disk and memory.
fn condition(
    disk: usize,
    memory: usize,
    seconds: &dyn Fn(usize, usize, usize) -> f64,
) -> RunRecord {
    let mut run = run_of(&["ext4", "xfs"], 3);
    run.header.run = format!("20261118-11064{disk}-k3f{memory}")
        .parse()
        .expect("a name");
    let factor = |name: &str, levels: &[&str], level| FactorLevel {
        name: name.into(),
        levels: levels.iter().map(|it| (*it).to_owned()).collect(),
        level,
    };
    run.header.plan.condition = Some(Condition {
        experiment: "0123456789ab".into(),
        factors: vec![
            factor("disk", &DISKS, disk),
            factor("memory", &MEMORY, memory),
        ],
    });
    for trial in &mut run.trials {
        let spread = 1.0 + 0.002 * f64::from(trial.trial.repeat);
        let seconds = seconds(trial.trial.cell.0 as usize, disk, memory) * spread;
        for phase in &mut trial.phases {
            phase.elapsed_ns = Some((seconds * 1e9) as u64);
        }
    }
    run
}

fn experiment(seconds: &dyn Fn(usize, usize, usize) -> f64) -> Experiment {
    let pairs = (0..3).flat_map(|disk| (0..2).map(move |memory| (disk, memory)));
    let mut runs: Vec<RunRecord> = pairs
        .map(|(disk, memory)| condition(disk, memory, seconds))
        .collect();
    // In any order.
    runs.reverse();
    Experiment::of(&runs).expect("an experiment")
}

#[test]
fn planted_effects_are_shown_with_their_shares() {
    // The disk by factors of e, memory not at all, XFS faster on the last disk only.
    let found = experiment(&|subject, disk, _| {
        let disk_s = (-(disk as f64)).exp();
        if subject == 1 && disk == 2 {
            disk_s / 2.0
        } else {
            disk_s
        }
    });
    assert_eq!((found.planned, found.conditions.len()), (6, 6));
    let of_all = &found.effects[0];
    assert_eq!(of_all.phase, None);
    let share = |name: &str| {
        let shares = of_all.shares.iter();
        let found = shares.filter(|it| found.effect_text(it) == name);
        found.map(|it| it.share).sum::<f64>()
    };
    // Logarithms: of the disks 0, 1, 2 + ln 2 / 2 on average, of the subjects 0, ln 2 / 3.
    let ln2 = 2.0_f64.ln();
    let disk = [0.0, 1.0, 2.0 + ln2 / 2.0];
    let mean = disk.iter().sum::<f64>() / 3.0;
    let disk = disk.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 3.0;
    let subject = (ln2 / 6.0).powi(2);
    let cross = [-ln2 / 6.0, -ln2 / 6.0, ln2 / 3.0]
        .iter()
        .map(|it| it * it)
        .sum::<f64>()
        / 3.0;
    let sum = disk + subject + cross;
    for (name, wanted) in [
        ("disk", disk / sum),
        ("file system", subject / sum),
        ("file system \u{d7} disk", cross / sum),
        ("memory", 0.0),
    ] {
        assert!(
            (share(name) - wanted).abs() < 0.002,
            "{name}: {} {wanted}",
            share(name)
        );
    }
    assert!(
        found
            .effects
            .iter()
            .any(|it| it.phase.as_deref() == Some("create"))
    );
}

#[test]
fn each_condition_has_its_first_and_each_subject_its_largest_loss() {
    let found = experiment(&|subject, disk, memory| match (subject, disk, memory) {
        (0, 2, 1) => 3.0,
        (1, 2, 1) => 1.0,
        (0, ..) => 1.0,
        _ => 1.5,
    });
    let firsts: Vec<&[usize]> = found
        .conditions
        .iter()
        .map(|it| it.first.as_slice())
        .collect();
    assert_eq!(firsts, [&[0][..], &[0], &[0], &[0], &[0], &[1]]);
    assert!(found.conditions.iter().all(|it| it.is_certain));
    let summaries = found.summaries();
    assert_eq!((summaries[0].subject, summaries[0].first_in), (0, 5));
    let (regret, condition) = summaries[0].regret.expect("a loss");
    assert!((regret - 2.0 / 3.0).abs() < 0.001, "{regret}");
    assert_eq!(found.condition_text(condition), "disk nvme, memory 2GiB");
    let text = tables::experiment(&found)
        .iter()
        .map(fslab_report::Table::to_markdown)
        .collect::<String>();
    assert!(
        text.contains("xfs (3.00\u{d7})") && text.contains("ext4 (1.50\u{d7})"),
        "{text}"
    );
    let page = experiment_html(&found, "quick").expect("a page");
    assert!(page.contains("Who is first, by condition") && page.contains("What decides"));
}

#[test]
fn an_incomplete_experiment_has_its_winners_and_no_shares_and_foreign_runs_are_refused() {
    let runs = [
        condition(0, 0, &|_, _, _| 1.0),
        condition(2, 1, &|_, _, _| 1.0),
    ];
    let found = Experiment::of(&runs).expect("an experiment");
    assert_eq!((found.conditions.len(), found.planned), (2, 6));
    assert!(found.effects.is_empty());
    let mut foreign = runs.to_vec();
    if let Some(condition) = &mut foreign[1].header.plan.condition {
        condition.experiment = "other".into();
    }
    assert!(
        Experiment::of(&foreign)
            .expect_err("refused")
            .message
            .contains("not of one")
    );
    let mut level = runs.to_vec();
    if let Some(condition) = &mut level[1].header.plan.condition {
        condition.factors[0].level = 7;
    }
    assert!(
        Experiment::of(&level)
            .expect_err("refused")
            .message
            .contains("unknown level")
    );
    let plain = run_of(&["ext4", "xfs"], 2);
    assert!(
        Experiment::of(&[plain])
            .expect_err("refused")
            .message
            .contains("no experiment")
    );
}

/// An experiment on a disk and on draws of it, on which XFS takes `xfs_s` for the second of ext4.
fn of_draws(xfs_s: &[f64]) -> Experiment {
    let levels: Vec<String> = (0..xfs_s.len())
        .map(|draw| match draw {
            0 => "hdd".to_owned(),
            draw => format!("hdd+draw{draw}"),
        })
        .collect();
    let runs = xfs_s.iter().enumerate().map(|(level, seconds)| {
        let mut run = condition(0, 0, &|subject, _, _| match subject {
            0 => 1.0,
            _ => *seconds,
        });
        run.header.run = format!("20261118-11064{level}-k3f0")
            .parse()
            .expect("a name");
        let condition = run.header.plan.condition.as_mut().expect("a condition");
        condition.factors = vec![FactorLevel {
            name: "disk".into(),
            levels: levels.clone(),
            level,
        }];
        run
    });
    Experiment::of(&runs.collect::<Vec<_>>()).expect("an experiment")
}

#[test]
fn an_answer_of_a_model_is_one_on_every_disk_within_its_uncertainty_or_none() {
    let band = of_draws(&[1.5, 1.2, 1.4]).model_band().expect("a band");
    assert_eq!(
        (band.disk.as_str(), band.draws, band.subject, band.first_in),
        ("hdd", 2, 0, 2)
    );
    assert!((band.stated_lead - 1.5).abs() < 0.02, "{band:?}");
    let (least, most) = band.leads;
    assert!((least - 1.2).abs() < 0.02 && (most - 1.5).abs() < 0.02);
    for (xfs_s, begin, on) in [
        (
            [1.5, 1.2, 1.4],
            "Take ext4, whatever the disk within the uncertainty of hdd.",
            "first on all, and 1.20 to 1.50 times",
        ),
        (
            [1.5, 1.02, 1.4],
            "ext4 is first within the uncertainty of hdd, but not always by 5 %.",
            "and 1.02 to 1.50 times",
        ),
        (
            [1.5, 0.8, 1.4],
            "The same within the model: who is first depends on figures of hdd",
            "first on 1, and 0.80 to 1.50 times",
        ),
    ] {
        let found = of_draws(&xfs_s);
        let sentence = model_sentence(&found).expect("a sentence");
        assert!(sentence.starts_with(begin), "{sentence}");
        assert!(sentence.contains(on), "{sentence}");
        let page = experiment_html(&found, "quick").expect("a page");
        assert!(page.contains(begin), "the page has no {begin}");
    }
}

#[test]
fn other_experiments_say_nothing_of_a_model() {
    let found = experiment(&|subject, disk, _| (subject + disk + 1) as f64);
    assert_eq!(found.model_band(), None);
    assert_eq!(model_sentence(&found), None);
}
