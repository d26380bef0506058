//! An original's figures beside a run's.

use fslab_claims::{NamedText, Original, then_and_now};

use crate::run_builder::{PhaseBuilder, RunBuilder};

const PUBLISHED: &str = "place,subject,phase,parameter,value,metric,unit,note\n\
    t,a,w,run,00:10.00,mean,mm:ss,\n\
    t,b,w,run,00:20.00,mean,mm:ss,\n\
    t,c,w,run,00:40.00,mean,mm:ss,\n\
    t,mean,w,run,00:23.33,mean,mm:ss,\n\
    t,a,w,run,25.00,loser-percent,%,\n\
    t,a,w,run,1,rank,,\n\
    t,a,w,file_size=2000M,100,rate,K/sec,\n\
    t,b,w,file_size=2000M,400,rate,K/sec,\n\
    t,c,w,file_size=2000M,,rate,K/sec,failed\n\
    t,a,elsewhere,,5,rate,K/sec,\n";

fn original() -> Original {
    let named = |text| NamedText { file: "f", text };
    Original::read(named("study = 's'"), named(PUBLISHED)).expect("an original")
}

#[test]
fn figures_are_relative_to_the_same_reference_on_both_sides() {
    let run = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[3.0])])
        .times("b", &[("w", &[2.0])])
        .subject("c", vec![vec![PhaseBuilder::failed("w")]])
        .build();
    let both = then_and_now(&original(), &run);
    let named: Vec<_> = both.groups.iter().map(|group| &*group.metric).collect();
    assert_eq!(
        named,
        ["mean", "rate"],
        "percentages and ranks repeat other figures"
    );
    let mean = &both.groups[0];
    assert_eq!(mean.reference.as_deref(), Some("a"));
    let ratios: Vec<_> = mean
        .rows
        .iter()
        .map(|row| (row.then_ratio, row.now_ratio))
        .collect();
    assert_eq!(ratios[0], (Some(1.0), Some(1.0)));
    assert_eq!(ratios[1], (Some(2.0), Some(2.0 / 3.0)));
    assert_eq!(ratios[2], (Some(4.0), None));
    let gap = mean.rows[2].gap.as_deref();
    assert_eq!(gap, Some("c failed in 'w': no space"));
    let agreement = mean.agreement.expect("two subjects");
    assert_eq!((agreement.rho, agreement.n), (-1.0, 2));
    // b has the highest rate on both sides.
    let rate = &both.groups[1];
    assert_eq!(rate.reference.as_deref(), Some("b"));
    assert_eq!(rate.agreement.expect("two subjects").rho, 1.0);
    assert_eq!(
        rate.rows.len(),
        2,
        "a row without a value has nothing to compare"
    );
    assert_eq!(both.compared(), 4);
}

#[test]
fn an_infinite_rate_has_a_rank_and_no_ratio() {
    let run = RunBuilder::virtual_time(512)
        .times("a", &[("w", &[3.0])])
        .subject("b", vec![vec![PhaseBuilder::untimed("w")]])
        .build();
    let both = then_and_now(&original(), &run);
    let rate = &both.groups[1];
    assert_eq!(rate.rows[1].now, Some(f64::INFINITY));
    assert_eq!(rate.agreement.expect("two subjects").rho, 1.0);
    assert_eq!(
        rate.reference.as_deref(),
        Some("a"),
        "the reference has a rate"
    );
}
