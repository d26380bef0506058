//! The report of a simulated disk.

use fslab_compare::Analysis;
use fslab_model::PictureLayer;
use fslab_report::{ReportError, html, tables};

use crate::disk_story::simulated;
use crate::fixture::usual;

#[test]
fn a_run_on_a_real_disk_shows_nothing_of_a_simulated_one() {
    let run = usual();
    let analysis = Analysis::of(&run);
    let table = |phase| tables::disk(phase, analysis.subjects());
    assert!(analysis.phases.iter().all(|phase| table(phase).is_none()));
    let page = html(std::slice::from_ref(&run)).expect("a report");
    assert!(!page.contains("What the disk did"));
    assert!(!page.contains("<mask"));
}

#[test]
fn the_table_of_a_disk_has_both_clocks_and_no_empty_column() {
    let run = simulated();
    let analysis = Analysis::of(&run);
    let of = |name: &str| {
        let phase = analysis.phases.iter().find(|phase| phase.name == name);
        tables::disk(phase.expect("a phase"), analysis.subjects()).expect("a table")
    };
    insta::assert_snapshot!("disk_table_of_a_write", of("write").to_markdown());
    insta::assert_snapshot!("disk_table_of_creates", of("create").to_markdown());
}

#[test]
fn every_phase_has_a_picture_of_each_subject_and_its_bars() {
    let run = simulated();
    let page = html(std::slice::from_ref(&run)).expect("a report");
    // Eight phases and the trial; one phase has no request, hence no bars either.
    assert_eq!(page.matches("class=\"field\"").count(), 3 * (8 + 1));
    assert_eq!(
        page.matches(".breakdown-t\">Where the time goes").count(),
        8
    );
    let images = page.matches("data:image/png;base64,").count();
    let layers = |insight: &fslab_model::DeviceInsight| {
        let drawn = PictureLayer::ALL
            .iter()
            .filter(|layer| !insight.picture.is_blank(**layer));
        drawn.count()
    };
    let first = run.trials.iter().filter(|trial| trial.trial.repeat == 0);
    let expected: usize = first
        .flat_map(|trial| {
            let phases = trial
                .phases
                .iter()
                .filter_map(|phase| phase.insight.as_ref());
            phases.chain(&trial.insight).map(layers)
        })
        .sum();
    assert_eq!(images, expected);
    assert!(page.contains("GiB of the disk") && page.contains("s of device time"));
}

#[test]
fn the_page_of_a_simulated_run_is_the_same_each_time_and_small() {
    let (first, second) = (html(&[simulated()]), html(&[simulated()]));
    let (first, second) = (first.expect("a report"), second.expect("a report"));
    assert_eq!(first, second);
    assert!(first.len() < 700_000, "{}", first.len());
}

#[test]
fn a_phase_takes_few_kilobytes_in_the_store() {
    let run = simulated();
    let mut sizes: Vec<usize> = run.trials[0]
        .phases
        .iter()
        .filter_map(|phase| phase.insight.as_ref())
        .map(|insight| serde_json::to_string(insight).expect("serialises").len())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes.len(), 9);
    let (median, most) = (sizes[4], sizes[8]);
    assert!(median < 3_000 && most < 6_000, "{sizes:?}");
}

#[test]
fn a_damaged_picture_is_an_error_and_not_a_blank() {
    let mut run = simulated();
    let phase = &mut run.trials[0].phases[0];
    let text = serde_json::to_string(&phase.insight).expect("serialises");
    let damaged = text.replacen("\"written\":\"", "\"written\":\"AAAA", 1);
    assert_ne!(damaged, text);
    phase.insight = serde_json::from_str(&damaged).expect("reads");
    assert!(matches!(html(&[run]), Err(ReportError::Picture(_))));
}
