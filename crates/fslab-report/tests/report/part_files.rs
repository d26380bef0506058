//! The charts and tables of a report as files.

use std::collections::BTreeSet;

use fslab_report::{Chapter, charts, html, table_files};

use crate::disk_story::simulated;
use crate::fixture::usual;
use crate::sweep_story::{SUBJECTS, bonnie, swept};

#[test]
fn every_chart_and_every_table_of_the_page_is_a_file() {
    for run in [usual(), simulated(), swept(&SUBJECTS, (5, 3), 2), bonnie()] {
        let chapter = Chapter::of(&run);
        let page = html(std::slice::from_ref(&run)).expect("a report");
        let charts = charts(&chapter).expect("charts");
        // A table of the study is also drawn as a file, but not on the page.
        let is_on_page = |svg: &str| {
            page.contains(
                svg.split("<desc>")
                    .nth(1)
                    .map_or("", |rest| rest.split("</desc>").next().unwrap_or_default()),
            )
        };
        let drawn = charts.iter().filter(|chart| is_on_page(&chart.svg)).count();
        assert!(drawn >= page.matches("role=\"img\"").count(), "{drawn}");
        let tables = table_files(&chapter);
        assert_eq!(tables.len(), page.matches("<table>").count());
        let names: BTreeSet<_> = charts.iter().map(|c| (&c.phase, &c.kind)).collect();
        assert_eq!(names.len(), charts.len(), "a name is used twice");
        let names: BTreeSet<_> = tables.iter().map(|t| (&t.phase, &t.kind)).collect();
        assert_eq!(names.len(), tables.len(), "a name is used twice");
    }
}

#[test]
fn a_chart_alone_is_on_white_paper_with_its_own_colours_and_says_whose_lines_there_are() {
    let run = simulated();
    let charts = charts(&Chapter::of(&run)).expect("charts");
    let of = |kind: &str| {
        let found = charts.iter().find(|chart| chart.kind == kind);
        found.unwrap_or_else(|| panic!("no chart {kind}"))
    };
    for chart in &charts {
        assert!(chart.svg.starts_with("<svg xmlns="), "{}", chart.title);
        assert!(
            chart.svg.contains(".paper { fill: #fff; }"),
            "{}",
            chart.title
        );
        assert!(
            !chart.svg.contains("prefers-color-scheme"),
            "{}",
            chart.title
        );
        for class in chart.svg.split("class=\"").skip(1) {
            let class = class.split('"').next().unwrap_or_default();
            for word in class.split(' ').filter(|word| !SILENT.contains(word)) {
                let rule = format!(".{word}");
                let style = chart.svg.split("</style>").next().unwrap_or_default();
                assert!(
                    style.contains(&rule),
                    "{}: {word} has no style",
                    chart.title
                );
            }
        }
    }
    assert!(of("latency").svg.contains(">ext4</text>"), "a legend");
    assert!(
        of("breakdown").svg.contains(">rotation</text>"),
        "a key of the parts"
    );
    assert!(
        of("disk-ext4").svg.contains(">metadata written</text>"),
        "a key of the layers"
    );
}

/// Classes that need no rule in a separate drawing.
const SILENT: [&str; 11] = [
    "of", "foot", "label", "over", "small", "bar", "x", "y", "end", "beyond", "",
];
