//! The picture of all phases at the head of a report.

use fslab_report::{Chapter, ChartFile, charts, html};

use crate::big_story;
use crate::fixture::{run_of, usual};

fn picture(run: &fslab_model::RunRecord) -> Option<ChartFile> {
    let charts = charts(&Chapter::of(run)).expect("charts");
    charts.into_iter().find(|chart| chart.kind == "ratios")
}

/// Places of texts in a drawing.
fn places(svg: &str, words: &[&str]) -> Vec<usize> {
    let place = |word: &&str| svg.find(&format!(">{word}</text>"));
    let places: Option<Vec<usize>> = words.iter().map(place).collect();
    places.unwrap_or_else(|| panic!("one of {words:?} is missing: {svg}"))
}

#[test]
fn phases_are_ordered_by_meaning_whatever_the_order_of_the_plan() {
    let mut run = usual();
    run.header.plan.phases.reverse();
    let picture = picture(&run).expect("a picture");
    let words = [
        "All phases",
        "Geometric mean",
        "Data writes",
        "Append",
        "Write",
        "Data reads",
        "Read",
        "Creating files",
        "Create",
        "Reading metadata",
        "Stat",
    ];
    assert!(places(&picture.svg, &words).is_sorted(), "{}", picture.svg);
    assert!(picture.svg.contains("95 % interval"), "{}", picture.svg);
}

#[test]
fn the_picture_stands_before_the_table_and_is_the_first_chart() {
    let run = usual();
    let page = html(std::slice::from_ref(&run)).expect("a report");
    let place = |id: &str| page.find(&format!("id=\"{id}\"")).expect("an id");
    assert!(place("r1-overview.ratios") < place("r1-overview.table"));
    let charts = charts(&Chapter::of(&run)).expect("charts");
    assert_eq!(charts[0].kind, "ratios");
    // Its places are not redrawn by the script, which reads axes from these attributes.
    let svg = &charts[0].svg;
    assert!(
        !svg.contains("data-x") && !svg.contains("data-row"),
        "{svg}"
    );
}

#[test]
fn one_subject_has_no_picture_and_one_repeat_no_filled_point() {
    assert_eq!(picture(&run_of(&["ext4"], 3)), None);
    let single = picture(&run_of(&["ext4", "xfs", "btrfs"], 1)).expect("a picture");
    let body = single.svg.split("</style>").nth(1).expect("a body");
    assert!(!body.contains("class=\"dot\""), "{body}");
    assert!(body.contains("which has no interval"), "{body}");
    let several = picture(&run_of(&["ext4", "xfs", "btrfs"], 5)).expect("a picture");
    assert!(several.svg.contains("class=\"dot\""), "{}", several.svg);
}

#[test]
fn many_subjects_have_a_panel_for_each_phase_with_their_names_beside() {
    let picture = picture(&big_story::of(20, 16, 3)).expect("a picture");
    let count = |word: &str| picture.svg.matches(&format!(">{word}</text>")).count();
    assert_eq!(count("Random write 4k 2"), 1);
    // 17 panels in shelves of up to four.
    assert_eq!(count("reiserfs"), 5);
    assert_eq!(count("zfs"), 5);
    assert!(
        count("Data writes") >= 2,
        "a shelf that continues a group names it again"
    );
}

#[test]
fn every_drawing_stays_within_its_box() {
    for (subjects, phases, repeats) in [(2, 16, 5), (6, 16, 3), (8, 40, 2), (20, 16, 3), (25, 3, 1)]
    {
        let picture = picture(&big_story::of(subjects, phases, repeats)).expect("a picture");
        let size = picture.svg.split("viewBox=\"0 0 ").nth(1).expect("a box");
        let size: Vec<f64> = size
            .split(['\"', ' '])
            .take(2)
            .map(|n| n.parse().expect("a number"))
            .collect();
        for text in picture.svg.split("<text ").skip(1) {
            let number = |name: &str| {
                let value = text.split(&format!("{name}=\"")).nth(1)?;
                value.split('\"').next()?.parse::<f64>().ok()
            };
            let (x, y) = (number(" x"), number(" y"));
            assert!(x.is_none_or(|x| (0.0..=size[0]).contains(&x)), "{text}");
            assert!(y.is_none_or(|y| (0.0..=size[1]).contains(&y)), "{text}");
        }
    }
}
