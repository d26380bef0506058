//! Rates by the number of ranks.

use fslab_compare::{Scaling, merge_gathered};
use fslab_model::RunRecord;
use fslab_report::tables;

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

#[test]
fn runs_of_equal_ranks_or_of_other_studies_have_none() {
    assert!(Scaling::of(&[run(2, 1.0), run(2, 0.9)]).is_none());
    let mut other = run(4, 1.0);
    other.header.plan.study = "other".to_owned();
    assert!(Scaling::of(&[run(2, 1.0), other]).is_none());
}
