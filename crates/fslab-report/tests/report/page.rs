//! The HTML page.

use std::collections::BTreeSet;

use fslab_model::{RunRecord, VenuePlan};
use fslab_report::{ReportError, html};

use crate::big_story::big;
use crate::disk_story::simulated;
use crate::fixture::{run_of, usual};
use crate::sweep_story::{SUBJECTS, bonnie, home_usb, swept};

fn page(run: RunRecord) -> String {
    html(&[run]).expect("a report")
}

/// All values of an attribute.
fn attribute<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let needle = format!(" {name}=\"");
    page.match_indices(&needle)
        .filter_map(|(at, _)| page[at + needle.len()..].split('"').next())
        .collect()
}

#[test]
fn the_page_loads_nothing_from_anywhere() {
    let page = page(usual());
    assert!(attribute(&page, "src").is_empty());
    assert!(
        attribute(&page, "href")
            .iter()
            .all(|href| href.starts_with('#') || href.starts_with("data:image/png;base64,"))
    );
    for foreign in ["http:", "https:", "@import", "<link", "<iframe"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let inside = page.matches("url(#").count();
    assert_eq!(
        page.matches("url(").count(),
        inside,
        "masks of the page alone"
    );
}

#[test]
fn the_same_record_gives_the_same_bytes_and_few_of_them() {
    let (first, second) = (page(usual()), page(usual()));
    assert_eq!(first, second);
    assert!(first.len() < 1_500_000, "{}", first.len());
}

#[test]
fn unknown_facts_of_an_imported_run_are_left_out() {
    let (own, mut imported) = (usual(), usual());
    imported.header.plan.venue = VenuePlan::Imported {
        tool: "fio 3.33".into(),
    };
    let said = |run: RunRecord| {
        let page = page(run);
        let has = |words: &str| page.contains(words);
        [
            has("<dt>cache</dt>"),
            has("data-cache=\"cold\""),
            has("<dt>seed</dt>"),
        ]
    };
    assert_eq!(said(own), [true; 3]);
    assert_eq!(said(imported), [false; 3]);
}

#[test]
fn sizes_in_a_list_are_written_as_sizes() {
    let mut run = usual();
    for phase in &mut run.header.plan.phases {
        let sizes = serde_json::json!([1_048_576, 524_288]);
        phase.parameters.insert("sizes".into(), sizes);
    }
    assert!(page(run).contains("<dt>sizes</dt><dd>1 MiB, 512 KiB</dd>"));
}

#[test]
fn every_link_leads_somewhere_and_every_id_is_one_element() {
    let runs = [
        usual(),
        run_of(&["xfs", "ext4"], 2),
        simulated(),
        swept(&SUBJECTS, (5, 3), 2),
        bonnie(),
        home_usb(),
    ];
    let page = html(&runs).expect("a report");
    let ids = attribute(&page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id is used twice");
    let links = attribute(&page, "href").into_iter();
    for href in links.filter(|href| !href.starts_with("data:")) {
        assert!(unique.contains(&href[1..]), "{href} leads nowhere");
    }
    for label in attribute(&page, "aria-labelledby")
        .iter()
        .flat_map(|l| l.split(' '))
    {
        assert!(unique.contains(label), "{label} labels nothing");
    }
}

#[test]
fn elements_are_closed_in_the_order_in_which_they_were_opened() {
    const VOID: [&str; 2] = ["meta", "input"];
    let several = swept(&SUBJECTS, (5, 3), 2);
    for run in [
        usual(),
        run_of(&["xfs"], 1),
        simulated(),
        several,
        home_usb(),
    ] {
        let page = page(run);
        let body = &page[page.find("<body").expect("a body")..page.find("<script>").expect("js")];
        let mut open: Vec<&str> = Vec::new();
        for piece in body.split('<').skip(1) {
            let tag = piece.split('>').next().unwrap_or_default();
            let name = tag.split([' ', '/']).next().unwrap_or_default();
            if let Some(closed) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(closed), "near {piece:.60}");
            } else if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
        assert_eq!(open, ["body"]);
    }
}

#[test]
fn every_chart_is_named_and_described() {
    let page = page(usual());
    let charts = page.matches("role=\"img\"").count();
    // One of all phases, three a phase, one of durable throughput, four of steps.
    assert_eq!(charts, 1 + 9 * 3 + 1 + 4);
    assert_eq!(page.matches("<figure class=\"chart\"").count(), charts);
    assert_eq!(page.matches("<desc id=").count(), charts);
    assert!(page.contains("ext4: geometric mean 440 MB/s, 95 % interval"));
}

#[test]
fn every_single_repeat_is_a_point() {
    let page = page(run_of(&["ext4", "xfs"], 3));
    let chart = page
        .split("<svg ")
        .find(|svg| svg.contains("r1-phase-write.rate-t"))
        .expect("the chart of the first phase");
    let points = chart.split("<path class=\"dot\" d=\"").skip(1);
    let points = points.map(|path| path.split('"').next().unwrap_or_default());
    assert_eq!(
        points
            .map(|path| path.matches('M').count())
            .collect::<Vec<_>>(),
        [3, 3],
        "three repeats of each subject"
    );
}

#[test]
fn no_figure_is_ever_not_a_number() {
    let mut run = run_of(&["ext4", "xfs"], 3);
    for (index, trial) in run.trials.iter_mut().enumerate() {
        let phases = &mut trial.phases;
        phases[0].bytes = Some(0);
        phases[1].elapsed_ns = Some(0);
        phases[2].elapsed_ns = Some(1);
        phases[2].bytes = Some(u64::MAX);
        phases[3].elapsed_ns = Some(u64::MAX);
        phases[4].latencies.clear();
        phases[5].series = None;
        phases[6].operations = (index > 0).then_some(1);
    }
    let page = page(run);
    let page = page.split("<script>").next().expect("the content");
    for wrong in ["NaN", "inf ", ">inf", "-inf"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
}

#[test]
fn runs_without_trials_phases_or_subjects_have_a_page() {
    let mut empty = run_of(&["ext4", "xfs"], 3);
    empty.trials.clear();
    assert!(page(empty.clone()).contains("No trial of this run has a record yet."));
    empty.header.plan.phases.clear();
    assert!(page(empty.clone()).contains("Overview"));
    empty.header.plan.subjects.clear();
    assert!(page(empty).contains("No subject"));
    assert!(page(run_of(&["xfs"], 1)).contains("There is one subject"));
}

/// The largest allowed size of the largest report, with a margin.
const BYTES_MAX: usize = 5_000_000;

#[test]
fn a_report_of_many_subjects_phases_and_repeats_is_one_small_file() {
    let run = big();
    let (subjects, phases) = (run.header.plan.subjects.len(), run.header.plan.phases.len());
    let page = page(run);
    assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
    assert_eq!(page.matches("<section class=\"phase\"").count(), phases);
    for chart in ["rate", "latency", "series", "table"] {
        let part = format!("id=\"r1-phase-append-4.{chart}\"");
        assert!(page.contains(&part), "{part}");
    }
    let table = page.split("id=\"r1-phase-append-4.table\"").nth(1);
    let table = table.and_then(|rest| rest.split("</table>").next());
    let rows = table.map(|table| table.matches("<th scope=\"row\"").count());
    assert_eq!(rows, Some(subjects));
}

#[test]
fn a_table_knows_the_value_of_each_figure_the_subject_of_each_row_and_its_phase() {
    let page = page(usual());
    let row = |needle: &str| {
        let rows = page.split("<tr").skip(1).filter(|row| row.contains(needle));
        rows.map(str::to_owned)
            .next()
            .unwrap_or_else(|| panic!("{needle}"))
    };
    let of_phase = row(">440 MB/s</td>");
    assert!(of_phase.starts_with(" class=\"of s0\""), "{of_phase}");
    assert!(
        of_phase.contains("data-value=\"4.4e8\">440 MB/s</td>"),
        "{of_phase}"
    );
    let of_overview = row("href=\"#r1-phase-rewrite\">Rewrite");
    assert!(
        of_overview.starts_with(" data-phase=\"r1-phase-rewrite\""),
        "{of_overview}"
    );
    let fastest = of_overview
        .find("undecided: ext4 and xfs")
        .expect("the verdict");
    let first = of_overview.find("446 MB/s").expect("a figure");
    assert!(fastest < first, "the verdict stands beside the phase");
}

#[test]
fn a_report_of_no_run_is_an_error() {
    assert!(matches!(html(&[]), Err(ReportError::NoRun)));
}
