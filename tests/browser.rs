//! The report in a real browser: a driver is appended to a copy of the page, works its controls and
//! leaves what it saw in the document, which headless Chromium prints.
//!
//! Without a browser the tests are skipped with that reason; where FSLAB_TEST_BROWSER is
//! `required`, that is a failure.

mod devtools;
mod drawings;
mod driver;
mod fonts;
mod known_curves;
mod on_paper;
mod small_screen;

use std::fs;
use std::sync::OnceLock;

use serde_json::{Value, json};

use self::driver::{Browser, left_in};
use crate::harness::Desk;

/// The place of the ratio to the best in a phase's table.
const OF_BEST: usize = 3;

/// A report of the real command, and a table of it as the command writes it.
struct Report {
    page: String,
    csv: String,
    markdown: String,
}

/// Three directories measured and compared under the names of file systems: real figures wherever
/// the tests run.
fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| {
        let desk = Desk::new();
        let (mut runs, mut labels) = (Vec::new(), Vec::new());
        for name in ["ext4", "xfs", "btrfs"] {
            fs::create_dir(desk.path(name)).expect("a directory");
            let venue = ["--venue", "dir", "--dir", name, "--size", "320MiB"];
            let study = [
                "compare",
                "--study",
                "./small.toml",
                "--out",
                "out",
                "--json",
            ];
            let ended = desk.run(&[&study[..], &venue[..]].concat());
            ended.expect_code(0);
            let run: Value = serde_json::from_str(&ended.out).expect("JSON");
            let run = run["run"].as_str().expect("a name").to_owned();
            labels.push(format!("--label={run}={name}"));
            runs.push(run);
        }
        let mut words = vec!["report", "--across-machines", "--out", "merged"];
        words.extend(["--tables", "tables"]);
        words.extend(runs.iter().chain(&labels).map(String::as_str));
        let ended = desk.run(&words);
        ended.expect_code(0);
        let read = |name: &str| fs::read_to_string(desk.path(name)).expect(name);
        let index = read("tables/index.md");
        let table = |ending: &str| {
            let links = index.split(['(', ')']);
            let found = links.into_iter().find(|link| link.ends_with(ending));
            read(&format!("tables/{}", found.expect("a link to the table")))
        };
        Report {
            page: read(ended.out.lines().next().expect("the report's path")),
            csv: table("/write/figures.csv"),
            markdown: table("/write/figures.md"),
        }
    })
}

/// The page of a run at a desk.
fn page_of(desk: &Desk, run: &str) -> String {
    let ended = desk.run(&["report", run, "--out", "out"]);
    ended.expect_code(0);
    let path = ended.out.lines().next().expect("the report's path");
    fs::read_to_string(desk.path(path)).expect("a report")
}

/// The page of a run that an import of figures gives.
fn page_of_figures(table: &str) -> String {
    let desk = Desk::new();
    fs::write(desk.path("rates.csv"), table).expect("a file");
    desk.run(&["import", "rates.csv"]).expect_code(0);
    page_of(&desk, "last")
}

fn words(value: &Value) -> Vec<&str> {
    let list = value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"));
    list.iter()
        .map(|word| word.as_str().expect("a word"))
        .collect()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn every_chart_has_axes_and_numbers_and_every_table_a_caption_and_heads() {
    let Some(browser) = Browser::new("every_chart_has_axes_and_numbers") else {
        return;
    };
    let found = browser.drive("", 1280, "charts").found;
    assert_eq!(
        (&found["lacking"], &found["bare"]),
        (&json!([]), &json!([]))
    );
    assert!(number(&found["charts"]) > 25.0, "{}", found["charts"]);
    assert!(number(&found["tables"]) > 15.0, "{}", found["tables"]);
    assert!(number(&found["smallest"]) >= 11.0, "{}", found["smallest"]);
    let nines = words(&found["nines"]);
    for percentile in ["50", "90", "99", "99.9", "99.99", "max"] {
        assert!(nines.contains(&percentile), "{percentile}: {nines:?}");
    }
}

#[test]
fn a_subject_that_is_hidden_is_in_no_table_and_no_chart() {
    let Some(browser) = Browser::new("a_subject_that_is_hidden") else {
        return;
    };
    let found = browser.drive("", 1280, "hiding").found;
    let (before, hidden) = (&found["before"], &found["hidden"]);
    assert!(number(&before["named"]) > 20.0, "{found}");
    assert_eq!(number(&hidden["named"]), 0.0, "a name is left: {found}");
    assert!(number(&before["lines"]) > 20.0, "{found}");
    assert_eq!(number(&hidden["lines"]), 0.0, "its colour is left: {found}");
    assert!(
        number(&hidden["height"]) < number(&before["height"]),
        "the gap stays: {found}"
    );
    assert_eq!(found["after"], found["before"]);
    let status = hidden["status"].as_str().expect("text");
    assert!(status.starts_with("2 of 3 subjects shown"), "{status}");
}

#[test]
fn phases_are_filtered_by_name_cache_kind_and_workload() {
    let Some(browser) = Browser::new("phases_are_filtered") else {
        return;
    };
    let found = browser.drive("", 1280, "phases").found;
    let phases = |which: &str| -> Vec<&str> {
        let ids = words(&found[which]["phases"]).into_iter();
        ids.filter_map(|id| id.strip_prefix("r1-phase-")).collect()
    };
    assert_eq!(phases("text"), ["random-read", "random-write"]);
    assert_eq!(
        words(&found["text"]["rows"]),
        ["Random read", "Random write"]
    );
    assert_eq!(found["text"]["status"], "2 of 14 phases shown.");
    assert_eq!(
        phases("cache:cold"),
        ["read", "random-read", "strided-read", "list"]
    );
    assert_eq!(
        phases("kind:metadata"),
        ["create", "list", "stat", "read-files", "chmod", "unlink"]
    );
    assert_eq!(phases("workload:read"), ["read", "reread"]);
    assert!(phases("none").is_empty());
    assert_eq!(phases("reset").len(), 14);
    assert_eq!(found["reset"]["status"], "");
}

#[test]
fn a_table_is_sorted_by_the_value_of_a_column_both_ways_and_back() {
    let Some(browser) = Browser::new("a_table_is_sorted") else {
        return;
    };
    let found = browser.drive("", 1280, "sorting").found;
    let columns = found.as_array().expect("columns");
    assert!(columns.len() > 150, "{}", columns.len());
    let (mut mixed, mut count) = (0, 0);
    for column in columns {
        let name = &column["name"];
        let sort = ["before", "up", "down", "after"].map(|turn| &column[turn][1]);
        let (up, down) = (&json!("ascending"), &json!("descending"));
        assert_eq!(sort, [&Value::Null, up, down, &Value::Null], "{name}");
        assert_eq!(column["before"], column["after"], "{name}: not as before");
        if column["isText"] == true {
            continue;
        }
        let [up, down] = ["up", "down"].map(|turn| words(&column[turn][0]));
        let values: Vec<f64> = up.iter().map_while(|text| worth(text)).collect();
        assert!(values.is_sorted(), "{name}: {up:?}");
        let holes = &up[values.len()..];
        assert!(holes.iter().all(|text| worth(text).is_none()), "{up:?}");
        let falling: Vec<f64> = down.iter().map_while(|text| worth(text)).collect();
        assert!(falling.is_sorted_by(|a, b| a >= b), "{name}: {down:?}");
        assert_eq!(falling.len(), values.len(), "{name}: holes are last");
        count += values.len();
        let units = up.iter().filter_map(|text| text.split(' ').nth(1));
        mixed += usize::from(units.clone().max() != units.min());
    }
    assert!(
        count > 500 && mixed > 5,
        "{count} values, {mixed} columns of units"
    );
}

/// A figure's value, read from its text once more: its first number and the unit of it. An interval
/// has its unit at its end.
fn worth(text: &str) -> Option<f64> {
    let text = text.trim_start_matches(['≈', '±', ' ', '<', '+']);
    // An `e` is a power of ten.
    let is_number = |c: char| c.is_ascii_digit() || ".,-e".contains(c);
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let number: f64 = number.replace(',', "").parse().ok()?;
    let rest = match rest.strip_prefix('–') {
        Some(second) => second.trim_start_matches(is_number),
        None => rest,
    };
    let unit = rest.split([' ', '–']).nth(1).unwrap_or_default();
    let factor = match unit {
        "µs" | "kB/s" | "kop/s" => 1e3,
        "ms" | "MB/s" | "Mop/s" => 1e6,
        "s" | "GB/s" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => 1.0,
    };
    Some(number * factor)
}

#[test]
fn one_subject_is_highlighted_everywhere() {
    let Some(browser) = Browser::new("one_subject_is_highlighted") else {
        return;
    };
    let found = browser.drive("", 1280, "highlight").found;
    let opacities = |which: &str| -> Vec<f64> {
        let list = found[which].as_array().expect("opacities");
        list.iter().map(number).collect()
    };
    let (chosen, other) = (opacities("chosen"), opacities("other"));
    assert!(chosen.len() > 50 && other.len() > 50, "{found}");
    assert!(chosen.iter().all(|opacity| *opacity == 1.0), "{chosen:?}");
    assert!(other.iter().all(|opacity| *opacity < 0.3), "{other:?}");
    assert_eq!(found["hash"], "#&only=btrfs");
}

#[test]
fn a_copied_table_is_the_one_that_the_command_writes_without_what_is_hidden() {
    let Some(browser) = Browser::new("a_copied_table") else {
        return;
    };
    let driven = browser.drive("", 1280, "copying");
    let copied = words(&driven.copied);
    assert_eq!(format!("{}\n", copied[0]), browser.report.csv);
    let rows = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with('|'));
        // What is best is bold in the file alone.
        lines.map(|line| line.replace("**", "")).collect()
    };
    assert_eq!(rows(copied[1]), rows(&browser.report.markdown));
    assert!(
        copied[1].starts_with("**All figures of write**\n\n| "),
        "{}",
        copied[1]
    );
    // Where the best is hidden, ratios are to the best that is left.
    let without_ratio = |table: &str| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).from_reader(table.as_bytes());
        let rows = reader.records().map(|row| {
            let row = row.expect("a row of CSV");
            let others = row.iter().enumerate();
            let others = others.filter(|(place, _)| *place != OF_BEST);
            others.map(|(_, field)| field.to_owned()).collect()
        });
        rows.collect()
    };
    let mut others = without_ratio(copied[0]);
    others.retain(|row: &Vec<String>| row[0] != "ext4");
    assert_eq!(without_ratio(copied[2]), others);
    assert_eq!(copied[3].lines().next(), Some("Phase,Fastest,xfs,btrfs"));
}

#[test]
fn a_link_restores_place_filters_order_highlight_and_theme() {
    let Some(browser) = Browser::new("a_link_restores") else {
        return;
    };
    let chosen = browser.drive("r1-phase-read", 1280, "choosing").found;
    let hash = chosen["hash"].as_str().expect("a hash");
    let hash = hash.trim_start_matches('#');
    let begin = "r1-phase-read&hide=ext4&only=xfs&phase=read&of=kind%3Aread&sort=";
    assert!(hash.starts_with(begin), "{hash}");
    let again = browser.drive(hash, 1280, "restored").found;
    for key in [
        "shown", "only", "phases", "rows", "sorted", "write", "theme", "status", "paper", "hash",
    ] {
        assert_eq!(again[key], chosen[key], "{key}");
    }
    assert_eq!(words(&again["sorted"]).len(), 2, "{again}");
    assert_eq!(words(&again["shown"]), ["xfs", "btrfs"]);
    let (top, bar) = (number(&again["top"]), number(&again["bar"]));
    assert!(
        (bar - 20.0..bar + 200.0).contains(&top),
        "the phase is at {top}"
    );
}

#[test]
fn a_link_with_words_that_nobody_knows_changes_nothing() {
    let Some(browser) = Browser::new("a_link_with_words_that_nobody_knows") else {
        return;
    };
    let odd = "nowhere&hide=nobody&sort=no:9:up,r1-overview.table:99:up&of=x:y&only=%E0%A4%A&%";
    let state = browser.drive(odd, 1280, "state").found;
    assert_eq!(words(&state["shown"]).len(), 3);
    assert_eq!(words(&state["phases"]).len(), 14);
    assert_eq!((&state["only"], &state["sorted"]), (&json!(""), &json!([])));
}

#[test]
fn day_and_night_have_each_their_paper_and_an_ink_that_can_be_read() {
    let Some(browser) = Browser::new("day_and_night") else {
        return;
    };
    let day = browser.drive("&theme=light", 1280, "contrast").found;
    let night = browser.drive("&theme=dark", 1280, "contrast").found;
    let both = |of: &Value| (number(&of["paper"]), number(&of["ink"]));
    let ((paper, ink), (dark, bright)) = (both(&day), both(&night));
    assert!(paper > 0.8 && ink < 0.1, "{paper} and {ink} by day");
    assert!(dark < 0.1 && bright > 0.6, "{dark} and {bright} by night");
    for of in [&day, &night] {
        assert!(number(&of["looked"]) > 1000.0, "{}", of["looked"]);
        assert_eq!(of["poor"], json!([]));
    }
}

#[test]
fn nothing_is_wider_than_a_small_screen_and_all_is_in_reach_of_the_keyboard() {
    for browser in Browser::with_each_font_set("nothing_is_wider_than_a_small_screen") {
        expect_in_reach(&browser);
    }
}

fn expect_in_reach(browser: &Browser) {
    let widths: &[u32] = match browser.fonts.is_usual() {
        true => &[360, 768, 1280],
        false => &[360],
    };
    for &width in widths {
        let found = browser.drive("", width, "reach").found;
        assert_eq!(
            (&found["width"], &found["closed"]),
            (&json!(width), &json!(0))
        );
        let menus = found["menus"].as_object().expect("menus");
        assert_eq!(menus.len(), 3);
        for (name, edges) in menus {
            let edges: Vec<f64> = edges
                .as_array()
                .expect("edges")
                .iter()
                .map(number)
                .collect();
            assert!(edges.iter().all(|edge| *edge >= 0.0), "{name}: {edges:?}");
        }
        assert!(number(&found["bar"]) < 130.0, "{found}");
        assert_eq!(
            (&found["open"], &found["focus"]),
            (&json!(0), &json!("menu-phases")),
            "Escape closes a menu and stays with it"
        );
        assert_eq!(found["folded"], 0, "on paper all is open");
        assert_eq!(found["first"], "skip");
        for wrong in ["jumps", "leaps", "unnamed"] {
            assert_eq!(found[wrong], 0, "{wrong}");
        }
    }
}

#[test]
fn without_a_script_all_is_there_and_subjects_can_be_hidden() {
    let Some(browser) = Browser::new("without_a_script") else {
        return;
    };
    let (content, _) = browser.report.page.split_once("<script>").expect("one");
    // The choice is made in the document: what shows is then the work of the style alone.
    let control = "id=\"show-s1\" value=\"xfs\"";
    assert!(content.contains(control));
    let content = content.replacen(&format!("{control} checked"), control, 1);
    let probe = r#"<script>
        const rows = document.getElementById("r1-phase-write.table").querySelectorAll("tbody tr");
        const many = (selector) => document.querySelectorAll(selector).length;
        document.title = JSON.stringify([...rows].map((row) => getComputedStyle(row).display)
            .concat(["section.phase", ".script:not([hidden])", "[data-phase][hidden]"].map(many)));
        </script>"#;
    let copy = browser.folder.path().join("plain.html");
    fs::write(&copy, format!("{content}{probe}</body></html>")).expect("a copy");
    let dom = browser.dom(&format!("file://{}", copy.display()), 1280);
    let title = dom.split("<title>").nth(1);
    let title = title.and_then(|rest| rest.split("</title>").next());
    assert_eq!(title, Some(r#"["table-row","none","table-row",14,0,0]"#));
}
