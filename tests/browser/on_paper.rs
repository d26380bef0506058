//! The report of as many subjects as the catalogue has, laid out for a sheet of paper: nothing on
//! it may be wider or higher than the sheet, for that is cut or torn into two pages.

use std::fs;

use serde_json::json;

use super::devtools::Screen;
use super::{Browser, number, page_of_figures};

/// A4 landscape without margins of 14 mm, in CSS pixels.
const SHEET: (u32, u32) = (1017, 687);
/// What stands above a phase's charts on their sheet: titles, verdict, setting.
const ABOVE: u32 = 150;
const SUBJECTS: usize = 26;
const PHASES: [&str; 3] = ["write", "read", "create"];

/// A report of many subjects with long names, as an import of their figures gives it.
fn report_of_many() -> String {
    let mut rows = "subject,phase,repeat,metric,value,unit\n".to_owned();
    for subject in 0..SUBJECTS {
        for (place, phase) in PHASES.iter().enumerate() {
            for repeat in 0..3 {
                let rate = (subject + 1) * (place + 2) * 7 + repeat;
                rows.push_str(&format!(
                    "filesystem-{subject}-as-mounted,{phase},{repeat},throughput,{rate},MB/s\n"
                ));
            }
        }
    }
    page_of_figures(&rows)
}

#[test]
fn on_paper_no_table_of_many_subjects_is_cut_and_no_chart_is_torn() {
    let report = report_of_many();
    for browser in Browser::with_each_font_set("on_paper_no_table") {
        expect_fit_for_paper(&browser, &report);
    }
}

fn expect_fit_for_paper(browser: &Browser, report: &str) {
    let page = browser.folder.path().join("paper.html");
    fs::write(&page, report).expect("a copy");
    let mut devtools = super::small_screen::devtools(browser);
    let day = Screen {
        width: 1280,
        mobile: false,
        dark: false,
    };
    devtools.open(&page, day);
    devtools.on_paper(SHEET);
    let found = devtools.ask(&format!(
        "(() => {{
          const tables = [...document.querySelectorAll('table')]
            .filter((table) => table.offsetHeight);
          const all = [...document.querySelectorAll('figure.chart')];
          // The chart of all phases has a panel for each, and names beside a row of panels.
          const charts = all.filter((chart) => !chart.id.endsWith('.ratios'));
          const letters = [...document.querySelectorAll('.heat .text, .heat .detail')]
            .map((part) => parseFloat(getComputedStyle(part).fontSize));
          const box = (part) => part.getBoundingClientRect();
          const rows = charts.flatMap((chart) => [...chart.querySelectorAll('g.of')]);
          // A chart is shrunk in one piece: its letters are read as large as they come out.
          const size = (text) => parseFloat(getComputedStyle(text).fontSize);
          const words = charts.flatMap((chart) => [...chart.querySelectorAll('text')]);
          return {{
            width: innerWidth,
            tables: tables.length, charts: charts.length,
            columns: document.querySelector('.heat thead tr:last-child').cells.length,
            cut: tables.filter((table) => box(table).right > innerWidth + 1)
              .map((table) => table.closest('figure').id),
            pictures: all.length - charts.length,
            torn: all
              .filter((chart) => box(chart).height > {} || box(chart).right > innerWidth + 1)
              .map((chart) => [chart.id, box(chart).height]),
            least: Math.min(...letters),
            rows: rows.length,
            words: Math.min(...words.map((text) => size(text) * text.getScreenCTM().a)),
            touching: rows.filter((row) =>
              box(row.querySelector('.label')).right > box(row.querySelector('.value')).left)
              .map((row) => row.textContent),
          }};
        }})()",
        SHEET.1 - ABOVE
    ));
    assert_eq!(found["width"], json!(SHEET.0), "{found}");
    assert!(number(&found["tables"]) > 4.0, "{found}");
    assert_eq!(found["charts"], json!(PHASES.len()), "{found}");
    assert_eq!(found["pictures"], json!(1), "{found}");
    assert_eq!(found["columns"], json!(SUBJECTS + 2), "{found}");
    assert_eq!(found["cut"], json!([]), "{found}");
    assert_eq!(found["torn"], json!([]), "{found}");
    // Of 5 points, which is what a footnote on paper has at the least.
    assert!(number(&found["least"]) > 6.6, "{found}");
    assert_eq!(found["rows"], json!(PHASES.len() * SUBJECTS), "{found}");
    assert_eq!(found["touching"], json!([]), "{found}");
    // 5.2 points, where all of a chart's rows stand on one sheet.
    assert!(number(&found["words"]) > 6.9, "{found}");
    assert_eq!(devtools.complaints, Vec::<String>::new());
}
