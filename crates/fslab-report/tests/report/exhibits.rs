//! The figures and tables that studies ask for.

use std::collections::BTreeMap;

use fslab_claims::{NamedText, Original};
use fslab_compare::Analysis;
use fslab_model::{FigureLayout, FigureSpec, RunRecord};
use fslab_report::{Cells, Exhibit, ReportError, bonnie_csv, exhibits, iozone_report};

use crate::fixture::usual;
use crate::sweep_story::{SUBJECTS, bonnie, figure, home_usb, swept};

fn shown(run: &RunRecord) -> Vec<Exhibit> {
    exhibits(&Analysis::of(run), None)
}

/// The exhibit of one figure.
fn only(run: &mut RunRecord, spec: FigureSpec) -> Exhibit {
    run.header.plan.figures = vec![spec];
    shown(run).remove(0)
}

fn original(claims: &str, published: &str) -> Original {
    let named = |text| NamedText { file: "test", text };
    Original::read(named(claims), named(published)).expect("the original reads")
}

#[test]
fn every_figure_is_text_numbers_and_a_drawing_that_stands_alone() {
    for run in [swept(&SUBJECTS, (9, 4), 2), bonnie(), home_usb()] {
        for exhibit in shown(&run) {
            assert_eq!(exhibit.absence, None, "{}", exhibit.id);
            assert!(!exhibit.tables.is_empty(), "{}", exhibit.id);
            for table in &exhibit.tables {
                assert!(
                    table
                        .rows
                        .iter()
                        .all(|row| row.len() == table.columns.len())
                );
            }
            let csv = exhibit.csv(Cells::Guarded).expect("numbers");
            assert!(csv.lines().count() > 4, "{csv}");
            let svg = exhibit.svg().expect("a drawing");
            assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
            for wrong in ["NaN", "inf", "var(", "light-dark"] {
                assert!(!svg.contains(wrong), "{wrong} in {}", exhibit.id);
            }
        }
    }
}

#[test]
fn a_curve_shows_the_points_that_its_figure_names() {
    let mut run = swept(&["ext2", "ext3"], (9, 3), 1);
    let spec = FigureSpec {
        over: Some("file_size".into()),
        condition: BTreeMap::from([
            ("record".to_owned(), "16KiB".to_owned()),
            ("file_size".to_owned(), "256KiB..2MiB".to_owned()),
        ]),
        ..figure("f", FigureLayout::Curves, &["read"])
    };
    let exhibit = only(&mut run, spec);
    let sizes: Vec<&str> = exhibit.tables[0]
        .rows
        .iter()
        .map(|row| row[0].text.as_str())
        .collect();
    assert_eq!(sizes, ["256 KiB", "512 KiB", "1 MiB", "2 MiB"]);
    assert!(exhibit.notes.is_empty(), "{:?}", exhibit.notes);
    let csv = exhibit.csv(Cells::Guarded).expect("numbers");
    assert_eq!(csv.lines().count(), 1 + 2 * 4);
    assert!(csv.contains("f,read,ext3,262144,throughput,"));
    // Without a record size, the mean over all is drawn, with a note.
    let spec = FigureSpec {
        over: Some("file_size".into()),
        ..figure("f", FigureLayout::Curves, &["read"])
    };
    assert!(only(&mut run, spec).notes[0].contains("geometric mean"));
}

#[test]
fn a_bar_beyond_the_cap_ends_there_and_bears_its_value() {
    let mut run = bonnie();
    let spec = FigureSpec {
        cap: Some("30 MB/s".into()),
        ..figure("f", FigureLayout::Bars, &["block-write", "block-read"])
    };
    let exhibit = only(&mut run, spec);
    let svg = exhibit.svg().expect("bars");
    // ext4 and xfs are beyond in both, jfs in reading alone; each with two slashes.
    assert_eq!(svg.matches("class=\"cut\"").count(), 2 * 5);
    assert!(svg.contains(">88.0 MB/s<") && svg.contains(">22.0 MB/s<"));
    assert!(exhibit.notes[0].contains("Bars end at 30.0 MB/s"));
}

#[test]
fn the_loser_table_counts_complete_repeats_and_leaves_out_the_others() {
    let exhibit = shown(&home_usb()).remove(0);
    let table = &exhibit.tables[0];
    let row = |index: usize| -> Vec<&str> {
        table.rows[index]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect()
    };
    // 41.94 MB at 1 MB/s, and 1 % more each repeat; the sync and the unmount take 4.5 s.
    assert_eq!(
        row(0)[..6],
        ["ext4", "9 of 9", "00:43.62", "33.88", "00:01.15", "100.00"]
    );
    assert_eq!(row(0)[6..8], ["00:04.50", "100.00"]);
    assert_eq!(row(0)[10], "00:48.12");
    // Three of the repeats of nilfs2 are complete.
    assert_eq!(row(2)[..4], ["nilfs2", "3 of 9", "02:08.77", "100.00"]);
    assert_eq!(row(3)[..3], ["mean", "", "01:25.98"]);
    let csv = exhibit.csv(Cells::Guarded).expect("numbers");
    assert!(csv.contains("tables,write-files,nilfs2,unmount,mean_ns,4500000000,ns"));
}

#[test]
fn published_figures_stand_beside_ours_as_ratios_to_the_original_s_best() {
    let run = home_usb();
    let original = original(
        include_str!("../../../../studies/home-usb/claims.toml"),
        include_str!("../../../../studies/home-usb/published.csv"),
    );
    let exhibit = exhibits(&Analysis::of(&run), Some(&original)).remove(0);
    let svg = exhibit.svg().expect("bars");
    assert_eq!(svg.matches("class=\"then\"").count(), 4 * 3);
    assert!(exhibit.notes[0].contains("published"));
    let plain = shown(&run).remove(0).svg().expect("bars");
    assert!(!plain.contains("class=\"then\""));
}

#[test]
fn the_bonnie_table_has_a_rate_a_share_and_a_latency_for_each_phase() {
    let exhibit = shown(&bonnie()).remove(0);
    let captions: Vec<&str> = exhibit.tables.iter().map(|table| &*table.caption).collect();
    assert_eq!(captions, ["Data", "Files"]);
    let texts = |table: usize, row: usize| -> Vec<&str> {
        let cells = exhibit.tables[table].rows[row].iter();
        cells.map(|cell| cell.text.as_str()).collect()
    };
    assert_eq!(texts(0, 0)[..2], ["ext4", "85938  15"]);
    assert_eq!(texts(0, 1)[..2], ["latency", "4127us"]);
    assert_eq!(texts(0, 0)[4], "210.0  15");
    assert_eq!(texts(1, 6)[..3], ["affs", "skipped", "+++++ +++"]);
}

#[test]
fn the_csv_of_bonnie_has_its_fifty_fields() {
    let run = bonnie();
    let text = bonnie_csv(&run).expect("its phases");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|fields| fields.len() == 50), "{text}");
    assert_eq!(lines[0][..3], ["1.98", "fslab 0.1.0", "ext4"]);
    assert_eq!(
        (lines[0][5], lines[0][6], lines[0][21]),
        ("40M", "8192", "10")
    );
    assert_eq!(
        lines[0][9..13],
        ["", "", "85938", "15"],
        "no phase by character"
    );
    assert_eq!(lines[0][28..30], ["+++++", "+++"], "what took no time");
    assert_eq!(lines[3][26..28], ["", ""], "what was skipped");
    assert_eq!(lines[0][39], "4127us");
    let none = bonnie_csv(&swept(&["ext2"], (2, 1), 1)).expect("rewrite is a name of both");
    assert!(none.starts_with("1.98,"));
    let other = bonnie_csv(&home_usb());
    assert!(matches!(
        other,
        Err(ReportError::Layout {
            layout: "bonnie++",
            ..
        })
    ));
}

#[test]
fn the_report_of_iozone_has_its_columns_and_its_matrices() {
    let mut run = swept(&["ext2"], (2, 2), 1);
    for phase in &mut run.trials[0].phases {
        let lost = phase.name == "read 128 KiB/8 KiB";
        phase.elapsed_ns = Some(if lost { 0 } else { 1_000_000 });
    }
    let text = iozone_report(&run).expect("a sweep");
    let first: Vec<&str> = text.lines().map(str::trim).take(24).collect();
    insta::assert_snapshot!("report_of_iozone", first.join("\n"));
    let none = iozone_report(&usual());
    assert!(matches!(
        none,
        Err(ReportError::Layout {
            layout: "Iozone",
            ..
        })
    ));
}

#[test]
fn a_list_is_drawn_for_each_subject_that_has_one() {
    let exhibit = shown(&home_usb()).remove(1);
    let svg = exhibit.svg().expect("lines");
    assert_eq!(svg.matches("class=\"curve\"").count(), 3);
    assert!(svg.contains("block read (4 KiB)") && svg.contains("blocks that came in"));
    assert_eq!(exhibit.tables[0].rows.len(), 5);
    assert!(
        exhibit
            .csv(Cells::Guarded)
            .expect("numbers")
            .contains("window,hash,ext4,28,readahead-window,32,")
    );
}

#[test]
fn what_cannot_be_shown_says_why() {
    let mut run = swept(&["ext2", "ext3"], (3, 2), 1);
    let curve = || figure("f", FigureLayout::Curves, &["read"]);
    let at = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let mut why = |spec: FigureSpec| only(&mut run, spec).absence.unwrap_or_default();
    let absent = figure("f", FigureLayout::Curves, &["sing"]);
    assert_eq!(why(absent), "The run has no phase 'sing'.");
    let metric = FigureSpec {
        metric: Some("beauty".into()),
        ..curve()
    };
    assert_eq!(why(metric), "there is no metric 'beauty'");
    let over = FigureSpec {
        over: Some("mood".into()),
        ..curve()
    };
    assert_eq!(why(over), "none of its phases is swept over 'mood'");
    let range = FigureSpec {
        condition: at("record", "much"),
        ..curve()
    };
    assert!(why(range).starts_with("where.record: 'much' is not a value"));
    let none = FigureSpec {
        condition: at("record", "1MiB"),
        ..curve()
    };
    assert_eq!(why(none), "No point of 'read' is asked for.");
    let bars = figure("f", FigureLayout::Bars, &["read"]);
    let cap = FigureSpec {
        cap: Some("450 furlongs".into()),
        ..bars
    };
    assert!(why(cap).contains("450 furlongs"));
    let list = FigureSpec {
        list: Some("guests".into()),
        ..figure("f", FigureLayout::Lists, &["read"])
    };
    assert_eq!(why(list), "no phase has a list 'guests'");
    // A missing phase does not hide the others.
    let half = only(
        &mut run,
        figure("f", FigureLayout::Curves, &["read", "sing"]),
    );
    assert_eq!((half.absence, half.notes.len()), (None, 2));
}

#[test]
fn at_a_smaller_scale_the_largest_point_stands_for_one_that_was_cut_off() {
    let mut run = swept(&["ext2", "ext3"], (4, 2), 1);
    let spec = FigureSpec {
        condition: BTreeMap::from([("file_size".to_owned(), "2GiB".to_owned())]),
        over: Some("record".into()),
        ..figure("f", FigureLayout::Bars, &["write"])
    };
    let largest = FigureSpec {
        condition: BTreeMap::from([("file_size".to_owned(), "max".to_owned())]),
        ..spec.clone()
    };
    let shown = only(&mut run, largest);
    assert_eq!(shown.notes[0], "The largest file size is 512 KiB.");
    assert_eq!(shown.tables[0].rows.len(), 2);
    assert!(
        only(&mut run, spec.clone()).absence.is_some(),
        "at full scale it is a mistake"
    );
    run.header.plan.scale = "1/4".parse().expect("a scale");
    let exhibit = only(&mut run, spec);
    assert_eq!(exhibit.absence, None);
    assert_eq!(
        exhibit.notes[0],
        "At this scale file size ends at 512 KiB, which stands for 2 GiB."
    );
    assert_eq!(exhibit.tables[0].rows.len(), 2);
}
