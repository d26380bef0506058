//! Rates by the number of ranks.

use fslab_compare::{Scaling, merge_gathered};
use fslab_model::RunRecord;
use fslab_report::{Chapter, charts, html_of, tables};

use crate::fixture::run_of;

/// A run of so many ranks that do as much together as one with a perfect efficiency, times `share`.
fn run(ranks: u32, share: f64) -> RunRecord {
    let mut run = run_of(&["ext4", "xfs"], 2);
    run.header.run = format!("20261118-110640-k3f{ranks}")
        .parse()
        .expect("a name");
    run.header.plan.ranks = ranks;
    for phase in run.trials.iter_mut().flat_map(|it| &mut it.phases) {
        let rate = 1e6 * f64::from(ranks) * share;
        phase.elapsed_ns = Some(1_000_000_000);
        phase.operations = Some(rate as u64);
        phase.bytes = phase.bytes.map(|_| (rate * 4096.0) as u64);
    }
    run
}

#[test]
fn efficiency_is_the_rate_of_a_rank_by_that_with_the_fewest() {
    let runs = [run(8, 0.5), run(2, 1.0), run(4, 0.75)];
    let scaling = Scaling::of(&runs).expect("differ in ranks");
    assert_eq!(scaling.rows.len(), 2 * 9);
    let table = tables::scaling(&scaling);
    let texts = |row: usize| -> Vec<String> {
        let cells = table.rows[row].iter().map(|cell| cell.text.clone());
        cells.take(6).collect()
    };
    assert_eq!(texts(0)[..4], ["ext4", "write", "2", "8.19 GB/s"]);
    assert_eq!(texts(1)[2..4], ["4", "12.3 GB/s"]);
    assert_eq!(
        (texts(1)[5].as_str(), texts(2)[5].as_str()),
        ("75 %", "50 %")
    );
    let merged = merge_gathered(&runs);
    let subjects = merged.run.header.plan.subjects.iter();
    let names: Vec<String> = subjects.map(|it| it.subject.to_string()).collect();
    assert_eq!(
        names[..3],
        ["ext4 (8 ranks)", "xfs (8 ranks)", "ext4 (2 ranks)"]
    );
}

/// The two first phases of a run, as one activity in own and in shared directories.
fn shared_and_own(mut run: RunRecord) -> RunRecord {
    let names = ["own-create", "shared-create"];
    for (spec, name) in run.header.plan.phases.iter_mut().zip(names) {
        name.clone_into(&mut spec.name);
    }
    for trial in &mut run.trials {
        for (phase, name) in trial.phases.iter_mut().zip(names) {
            name.clone_into(&mut phase.name);
        }
    }
    run
}

#[test]
fn each_phase_has_a_picture_beside_ideal_scaling_with_shared_and_own_in_one() {
    let runs = [run(8, 0.5), run(2, 1.0), run(4, 0.75)].map(shared_and_own);
    let scaling = Scaling::of(&runs).expect("differ in ranks");
    let pictures = scaling.pictures();
    let rows = |name: &str| {
        let found = pictures.iter().find(|it| it.name == name).expect(name);
        let rows = found.rows.iter();
        rows.map(|row| format!("{} {}", row.subject, row.phase))
            .collect::<Vec<String>>()
    };
    let of_create = [
        "ext4 own-create",
        "ext4 shared-create",
        "xfs own-create",
        "xfs shared-create",
    ];
    assert_eq!(rows("create")[..], of_create[..rows("create").len()]);
    assert!(rows("create").len() >= 2, "{:?}", rows("create"));
    let row = pictures[0].rows[0];
    let of_two = row.points[0].rate.value;
    assert_eq!(row.ideal(8), Some(of_two * 4.0));
    let merged = merge_gathered(&runs);
    let chapter = Chapter::of(&merged.run).with_scaling(Some(&scaling));
    let files = charts(&chapter).expect("charts");
    let found = files.iter().find(|file| file.kind == "scaling-create");
    let picture = &found.expect("a picture").svg;
    for part in [
        "Create by the number of ranks",
        "ext4, own create: 50 % of ideal scaling with 8 ranks.",
        // Two logarithmic axes, on which ideal scaling is straight, and a line of it for each row.
        "more is better · log axis",
        "class=\"border\"",
    ] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    assert_eq!(
        picture.matches("class=\"border\"").count(),
        rows("create").len()
    );
    let latency = files
        .iter()
        .find(|file| file.kind == "scaling-create-latency");
    assert!(latency.expect("a picture").svg.contains("99th percentile"));
    let page = html_of(&[chapter]).expect("a page");
    assert!(page.contains("Create by the number of ranks"));
}

#[test]
fn runs_of_equal_ranks_or_of_other_studies_have_none() {
    assert!(Scaling::of(&[run(2, 1.0), run(2, 0.9)]).is_none());
    let mut other = run(4, 1.0);
    other.header.plan.study = "other".to_owned();
    assert!(Scaling::of(&[run(2, 1.0), other]).is_none());
}
