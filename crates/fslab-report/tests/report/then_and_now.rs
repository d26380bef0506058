//! An original's figures against a run's: pictures, and the table of the single factors.

use fslab_claims::{NamedText, Original, then_and_now};
use fslab_compare::Analysis;
use fslab_model::{DeviceInsight, PhaseKind, RunRecord};
use fslab_report::{
    Cells, Chapter, Exhibit, charts, html_of, table_files, tables, then_and_now_pictures,
};

use crate::fixture;
use crate::sweep_story::plain;

const SUBJECTS: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "jfs", "btrfs"];

/// In the run ext2 writes 120,000 KiB/s, ext3 half of it, ext4 a third, and so on. The original
/// printed half of each, but for btrfs fifty times its rate.
const PUBLISHED: &str = "place,subject,phase,parameter,value,metric,unit,note\n\
    \"table, row a\",ext2,write,,60000,rate,K/sec,\n\
    \"table, row a\",ext2,read,,1000,rate,K/sec,\n\
    \"table, row a\",ext2,seeks,,100,operations,/sec,\n\
    \"table, row b\",ext3,write,,30000,rate,K/sec,\n\
    \"table, row b\",ext3,read,,2000,rate,K/sec,\n\
    \"table, row b\",ext3,seeks,,200,operations,/sec,\n\
    \"table, row c\",ext4,write,,20000,rate,K/sec,\n\
    \"table, row c\",ext4,read,,3000,rate,K/sec,\n\
    \"table, row d\",xfs,write,,15000,rate,K/sec,\n\
    \"table, row e\",jfs,write,,12000,rate,K/sec,\n\
    \"table, row f\",btrfs,write,,1000000,rate,K/sec,\n\
    table 2 (hash),ext2,hash,,50000,rate,K/sec,\n\
    table 2 (hash),ext3,hash,,25000,rate,K/sec,\n\
    table 2 (hash),ext4,hash,,40000,rate,K/sec,\n\
    table 2 (hash),xfs,hash,,12500,rate,K/sec,\n\
    table 3,ext2,copy,,1,rate,K/sec,\n\
    table 3,ext3,copy,,2,rate,K/sec,\n";

fn run() -> RunRecord {
    use PhaseKind::{Metadata, Read, Write};
    let kib = |kib: f64| kib * 1024.0;
    let phases = [
        ("write", Write, kib(120_000.0)),
        ("read", Read, kib(1e9)),
        ("seeks", Metadata, 900.0),
        ("hash", Read, kib(100_000.0)),
        ("copy", Write, kib(100_000.0)),
    ];
    let mut run = plain(&SUBJECTS, 1, &phases);
    for trial in &mut run.trials {
        // A read that the disk had no part in, where the processor takes no time.
        trial.phases[1].insight = Some(DeviceInsight::default());
        trial.phases[1].cpu = None;
    }
    fixture::skip_phase(&mut run, 2, "hash", "this one cannot");
    run
}

fn original(published: &str) -> Original {
    let named = |text| NamedText { file: "test", text };
    let claims = "study = 's'\n[[claim]]\nid = 'c'\ntext = 't'\nsource = 'p'\nrequired = false\n\
        [claim.holds]\nkind = 'faster'\nphase = 'write'\nsubject = 'ext2'\nthan = ['ext3']\n";
    Original::read(named(claims), named(published)).expect("the original reads")
}

fn shown() -> Vec<Exhibit> {
    then_and_now_pictures(&Analysis::of(&run()), &original(PUBLISHED))
}

/// The numbers of a path's data.
fn numbers(data: &str) -> Vec<f64> {
    let spaced = data
        .replace('-', " -")
        .replace(['M', 'l', 'm', 'a', 'z'], " ");
    let words = spaced.split_whitespace();
    words.map_while(|word| word.parse().ok()).collect()
}

/// The data of the paths of a class.
fn paths<'a>(svg: &'a str, class: &str) -> Vec<&'a str> {
    let start = format!("<path class=\"{class}\" d=\"");
    let found = svg.split(start.as_str()).skip(1);
    found
        .map(|rest| rest.split('"').next().unwrap_or_default())
        .collect()
}

#[test]
fn each_table_of_the_original_is_a_picture_with_a_name_for_files() {
    let shown = shown();
    let names: Vec<(&str, &str)> = shown.iter().map(|it| (&*it.id, &*it.title)).collect();
    assert_eq!(
        names,
        [
            ("then-and-now-table", "Then and now: table of s, scale 1"),
            (
                "then-and-now-table-2-hash",
                "Then and now: table 2 (hash) of s, scale 1"
            ),
            (
                "then-and-now-table-3",
                "Then and now: table 3 of s, scale 1"
            ),
        ]
    );
}

#[test]
fn a_panel_has_its_points_its_line_its_correlation_and_the_names_of_outliers() {
    let svg = shown()[0].svg().expect("a picture");
    assert_eq!(svg.matches("class=\"head\"").count(), 1, "one panel");
    assert!(svg.contains(">Write</text>"));
    // The ranks differ by 1 five times and by 5 once; the factor is 2 times the sixth root of 0.01.
    assert!(svg.contains(">ρ 0.14 (−0.76 to 0.86)</text>"), "{svg}");
    assert!(svg.contains(">n 6, now = 0.93 × then</text>"), "{svg}");
    for axis in [">then, MB/s</text>", ">now, MB/s</text>"] {
        assert!(svg.contains(axis), "{axis}");
    }
    // Every subject is in the legend, and the outlier beside its point.
    for name in SUBJECTS {
        let expected = if name == "btrfs" { 2 } else { 1 };
        assert_eq!(
            svg.matches(&format!(">{name}</text>")).count(),
            expected,
            "{name}"
        );
    }
    let dots = paths(&svg, "dot");
    assert_eq!(dots.len(), 6);
    let lines = paths(&svg, "border");
    assert_eq!(lines.len(), 1);
    let line = numbers(lines[0]);
    assert!((line[2] + line[3]).abs() < 0.15, "45 degrees: {line:?}");
    // Above the line are five subjects, each by the same factor; the sixth is five times as far
    // below it, so that the line is the mean on a scale that is as long on both axes.
    let above = |dot: &&str| {
        let dot = numbers(dot);
        (line[1] - (dot[0] - line[0])) - dot[1]
    };
    let heights: Vec<f64> = dots.iter().map(above).collect();
    for height in &heights[..5] {
        assert!(
            *height > 5.0 && (height - heights[0]).abs() < 0.5,
            "{heights:?}"
        );
    }
    assert!((heights[5] + 5.0 * heights[0]).abs() < 2.0, "{heights:?}");
}

#[test]
fn figures_that_spread_more_now_than_then_have_each_its_height() {
    let mut published = "place,subject,phase,parameter,value,metric,unit,note\n".to_owned();
    for (subject, rate) in SUBJECTS.into_iter().zip(100..) {
        published.push_str(&format!("t,{subject},write,,{rate},rate,K/sec,\n"));
    }
    let shown = then_and_now_pictures(&Analysis::of(&run()), &original(&published));
    let svg = shown[0].svg().expect("a picture");
    let heights: Vec<f64> = paths(&svg, "dot")
        .iter()
        .map(|dot| numbers(dot)[1])
        .collect();
    // The rates are 1, 1/2, 1/3 and so on of the first.
    let factor_of_two = heights[1] - heights[0];
    for (index, height) in heights.iter().enumerate() {
        let expected = (index as f64 + 1.0).log2() * factor_of_two;
        assert!(
            (height - heights[0] - expected).abs() < 0.5,
            "{index}: {heights:?}"
        );
    }
}

#[test]
fn what_is_not_drawn_and_who_is_left_out_is_said_below() {
    let shown = shown();
    let notes = shown[0].notes.join("\n");
    assert!(
        notes.contains(
            "Not drawn, with fewer than 3 points: Read (0 points, 3 without measurable time); \
             Seeks (2 points)."
        ),
        "{notes}"
    );
    let notes = shown[1].notes.join("\n");
    assert!(notes.contains("Left out: Hash: 1 not measured."), "{notes}");
    let svg = shown[1].svg().expect("a picture");
    assert!(svg.contains(">ρ 1.00</text>") && svg.contains(">n 3, now = 2.00 × then</text>"));
    let cells = |row: usize| -> Vec<&str> {
        let cells = shown[1].tables[0].rows[row].iter();
        cells.map(|cell| &*cell.text).collect()
    };
    assert_eq!(cells(1), ["ext3", "25.6 MB/s", "51.2 MB/s", "1.00×"]);
    assert_eq!(cells(2)[2..], ["–", "not measured"]);
    assert_eq!(
        shown[2].absence.as_deref(),
        Some("a panel needs 3 subjects that were measured then and now; Copy has 2")
    );
    // A picture that is not drawn still has its numbers.
    let csv = shown[2].csv(Cells::Guarded).expect("numbers");
    assert!(csv.contains("then-and-now-table-3,copy,ext3,,rate_then,2048,B/s"));
    assert!(csv.contains("copy,,,rate_points,2,"), "{csv}");
}

#[test]
fn times_and_latencies_of_one_table_are_two_pictures() {
    let mut published = "place,subject,phase,parameter,value,metric,unit,note\n".to_owned();
    for (subject, rate, latency) in [("ext2", 3, 7), ("ext3", 2, 8), ("ext4", 1, 9)] {
        published.push_str(&format!("t,{subject},write,,{rate},rate,K/sec,\n"));
        published.push_str(&format!("t,{subject},write,,{latency},latency,ms,\n"));
    }
    let shown = then_and_now_pictures(&Analysis::of(&run()), &original(&published));
    let ids: Vec<&str> = shown.iter().map(|it| &*it.id).collect();
    assert_eq!(ids, ["then-and-now-t", "then-and-now-t-latencies"]);
    assert!(shown[1].title.contains("t of s, latencies, scale 1"));
    let svg = shown[1].svg().expect("a picture");
    assert!(svg.contains(">then, ms</text>"), "{svg}");
}

#[test]
fn the_pictures_are_in_the_part_on_claims_and_are_files_of_the_report() {
    let (run, original) = (run(), original(PUBLISHED));
    let chapter = Chapter::of(&run).with_original(Some(&original));
    let page = html_of(&[chapter]).expect("a report");
    let claims = page.split("id=\"r1-claims\"").nth(1).expect("claims");
    let claims = claims.split("id=\"r1-phases\"").next().unwrap_or_default();
    for id in ["table", "table-2-hash", "table-3"] {
        let part = format!("id=\"r1-figure-then-and-now-{id}\"");
        assert!(claims.contains(&part), "{part}");
    }
    assert!(claims.contains("ρ 0.14 (−0.76 to 0.86)"));
    assert!(claims.contains("Not drawn: a panel needs 3 subjects"));
    assert!(!claims.contains("there is no picture"));
    let drawn: Vec<String> = charts(&chapter)
        .expect("charts")
        .into_iter()
        .map(|chart| chart.kind)
        .filter(|kind| kind.contains("then-and-now"))
        .collect();
    assert_eq!(
        drawn[..2],
        [
            "figure-then-and-now-table",
            "figure-then-and-now-table-2-hash"
        ]
    );
    assert_eq!(table_files(&chapter).len(), page.matches("<table>").count());
}

#[test]
fn an_original_without_numbers_has_no_picture_and_the_page_says_so() {
    let (run, original) = (
        run(),
        original("place,subject,phase,parameter,value,metric,unit,note\n"),
    );
    assert!(then_and_now_pictures(&Analysis::of(&run), &original).is_empty());
    let chapter = Chapter::of(&run).with_original(Some(&original));
    let page = html_of(&[chapter]).expect("a report");
    assert!(page.contains("there is no picture of then and now"));
}

#[test]
fn the_table_of_factors_has_a_row_for_each_figure() {
    let both = then_and_now(&original(PUBLISHED), &run());
    insta::assert_snapshot!(
        "factors_of_then_and_now",
        tables::one_factor(&both).to_markdown()
    );
}
