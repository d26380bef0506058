//! The report on a telephone, and for some of its subjects: the browser is the device itself here,
//! and what charts show is read off their axes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::devtools::{Devtools, Screen};
use super::{Browser, number, page_of_figures, words};

const SMALL: &str = include_str!("small.js");
const AXES: &str = include_str!("axes.js");

/// Rates in MB/s of each repeat that a report is made of. The axis of all has to be logarithmic.
const RATES: [(&str, [f64; 4]); 4] = [
    ("giant", [1000.0, 1010.0, 990.0, 1004.0]),
    ("quick", [100.0, 104.0, 97.0, 101.0]),
    ("brisk", [90.0, 88.5, 91.0, 90.4]),
    ("tiny", [1.0, 1.01, 0.98, 1.02]),
];
/// Pixels by which a reader may be wrong, as a share of the axis.
const WRONG_MAX: f64 = 0.004;

const DAY: Screen = Screen {
    width: 1280,
    mobile: false,
    dark: false,
};

/// A report whose figures are known, as an import of them gives it.
fn known_report() -> &'static str {
    static REPORT: OnceLock<String> = OnceLock::new();
    REPORT.get_or_init(|| {
        let mut rows = "subject,phase,repeat,metric,value,unit\n".to_owned();
        for (name, rates) in RATES {
            for (repeat, rate) in rates.iter().enumerate() {
                for (phase, times) in [("write", 1.0), ("read", 3.0)] {
                    let rate = rate * times;
                    rows.push_str(&format!("{name},{phase},{repeat},throughput,{rate},MB/s\n"));
                }
            }
        }
        page_of_figures(&rows)
    })
}

/// A copy of a page that the browser may open.
pub(super) fn copy(browser: &Browser, page: &str) -> PathBuf {
    let path = browser.folder.path().join("small.html");
    fs::write(&path, page).expect("a copy");
    path
}

pub(super) fn devtools(browser: &Browser) -> Devtools {
    Devtools::start(browser)
}

/// Opens a page by day, with all of its parts laid out at once.
pub(super) fn open_whole(devtools: &mut Devtools, page: &Path) {
    devtools.open(page, DAY);
    devtools.ask(
        "for (const part of document.querySelectorAll('.phase'))
           part.style.contentVisibility = 'visible';",
    );
}

/// Hides the subjects of these names, or shows them again.
pub(super) fn hide(devtools: &mut Devtools, names: &[&str]) {
    let names = json!(names);
    devtools.ask(&format!(
        "for (const box of document.querySelectorAll('input[id^=show-]')) {{
           box.checked = !{names}.includes(box.value);
           box.dispatchEvent(new Event('change', {{ bubbles: true }}));
         }}"
    ));
}

/// Where the fonts were those of the machine, a link of four letters was 24 pixels wide with one
/// machine's and 21 with another's.
#[test]
fn on_a_telephone_nothing_is_too_wide_too_small_to_read_or_too_small_to_touch() {
    for browser in Browser::with_each_font_set("on_a_telephone") {
        expect_fit_for_a_finger(&browser);
    }
}

fn expect_fit_for_a_finger(browser: &Browser) {
    let page = copy(browser, &browser.report.page);
    let mut devtools = devtools(browser);
    let fonts = browser.fonts.sans;
    let screens: &[(u32, bool)] = match browser.fonts.is_usual() {
        true => &[(320, false), (360, true), (768, false)],
        false => &[(320, false)],
    };
    for &(width, dark) in screens {
        let screen = Screen {
            width,
            mobile: true,
            dark,
        };
        devtools.open(&page, screen);
        let found = devtools.ask(SMALL);
        let (width, page) = (&found["width"], &found["page"]);
        assert_eq!(devtools.families(".kicker"), [fonts], "the set is not used");
        assert_eq!(
            (width, page),
            (&json!(screen.width), width),
            "{fonts}: {found}"
        );
        assert!(number(&found["texts"]) > 1000.0, "{}", found["texts"]);
        assert!(number(&found["targets"]) > 300.0, "{}", found["targets"]);
        for wrong in ["small", "narrow", "unhinted"] {
            assert_eq!(found[wrong], json!([]), "{wrong} at {width} in {fonts}");
        }
        assert!(number(&found["boxes"]) > 10.0, "{}", found["boxes"]);
        let moved = &found["moved"];
        assert_eq!(moved[0], moved[1], "the first column leaves its place");
        assert_eq!(moved[2], 60, "the table does not move");
        assert_eq!(found["atEnd"], false, "there is nothing more at the end");
    }
    assert_eq!(devtools.complaints, Vec::<String>::new());
}

/// What is named with a letter is a link of a letter, in every list of links.
#[test]
fn what_has_a_name_of_one_letter_is_large_enough_to_touch() {
    let mut rows = "subject,phase,repeat,metric,value,unit\n".to_owned();
    for (subject, rate) in [("i", 100.0), ("l", 90.0), ("j", 9.0)] {
        for phase in ["i", "l", "t"] {
            for repeat in 0..4 {
                let rate = rate + f64::from(repeat);
                rows.push_str(&format!(
                    "{subject},{phase},{repeat},throughput,{rate},MB/s\n"
                ));
            }
        }
    }
    let report = page_of_figures(&rows);
    for browser in Browser::with_each_font_set("what_has_a_name_of_one_letter") {
        let page = copy(&browser, &report);
        let mut devtools = devtools(&browser);
        let screen = Screen {
            width: 320,
            mobile: true,
            dark: false,
        };
        devtools.open(&page, screen);
        let found = devtools.ask(SMALL);
        assert!(number(&found["targets"]) > 40.0, "{}", found["targets"]);
        assert_eq!(found["page"], json!(320), "{found}");
        for wrong in ["small", "narrow"] {
            assert_eq!(found[wrong], json!([]), "{wrong} in {}", browser.fonts.sans);
        }
    }
}

#[test]
fn a_link_leads_to_a_place_that_the_bar_does_not_cover() {
    for browser in Browser::with_each_font_set("a_link_leads_to_a_place") {
        expect_links_beside_the_bar(&browser);
    }
}

fn expect_links_beside_the_bar(browser: &Browser) {
    let page = copy(browser, &browser.report.page);
    let mut devtools = devtools(browser);
    let screen = Screen {
        width: 360,
        mobile: true,
        dark: false,
    };
    devtools.open(&page, screen);
    // The bar is highest where it says what is hidden.
    hide(&mut devtools, &["xfs"]);
    for id in ["r1-phase-read", "r1-phase-write.table", "r1-conditions"] {
        let places = devtools.ask(&format!(
            "location.hash = '#{id}';
             new Promise((done) => setTimeout(() => done([
               document.getElementById('{id}').getBoundingClientRect().top,
               document.querySelector('.bar').getBoundingClientRect().bottom, innerHeight,
             ]), 400))"
        ));
        let [top, bar, height] = [0, 1, 2].map(|index| number(&places[index]));
        assert!(bar > 30.0 && bar < height / 3.0, "the bar is {bar} high");
        assert!(
            (bar - 1.0..height / 2.0).contains(&top),
            "{id} is at {top}, the bar at {bar}"
        );
    }
    // A finger opens a menu, and another place closes it.
    let summary = "document.querySelector('#menu-subjects summary').getBoundingClientRect()";
    let place = devtools.ask(&format!("(({{ x, y }}) => [x + 9, y + 9])({summary})"));
    devtools.tap(number(&place[0]), number(&place[1]));
    let open = "new Promise((done) => setTimeout(() => done(
        [...document.querySelectorAll('.menu[open]')].map((menu) => menu.id)), 400))";
    assert_eq!(devtools.ask(open), json!(["menu-subjects"]));
    devtools.tap(180.0, 630.0);
    assert_eq!(devtools.ask(open), json!([]));
}

/// What a reader takes from a chart of repeats.
#[derive(Debug)]
struct Drawn {
    id: String,
    is_log: bool,
    /// By subject, with its name.
    values: Vec<(String, Vec<f64>)>,
}

/// What a reader takes from the charts of repeats.
fn read_off(devtools: &mut Devtools) -> Vec<Drawn> {
    let charts = devtools.ask(AXES);
    let charts = charts.as_array().expect("charts").iter();
    charts
        .map(|chart| {
            let ticks = chart["ticks"].as_array().expect("ticks");
            assert!(ticks.len() >= 2, "{chart}");
            assert_eq!(chart["lines"], json!(ticks.len()), "{chart}");
            let subjects = chart["subjects"].as_array().expect("subjects").iter();
            let subjects = subjects.map(|subject| {
                let dots = subject["dots"].as_array().expect("dots").iter();
                let values = dots.map(|dot| number(&dot["value"]));
                (
                    subject["name"].as_str().expect("a name").to_owned(),
                    values.collect(),
                )
            });
            Drawn {
                id: chart["id"].as_str().expect("an id").to_owned(),
                is_log: chart["isLog"] == true,
                values: subjects.collect(),
            }
        })
        .collect()
}

#[test]
fn where_subjects_are_hidden_every_axis_is_that_of_the_others_and_says_the_truth() {
    let Some(browser) = Browser::new("where_subjects_are_hidden") else {
        return;
    };
    let page = copy(&browser, known_report());
    let mut devtools = devtools(&browser);
    open_whole(&mut devtools, &page);
    let before = devtools.ask("document.querySelector('main').innerHTML");
    let cases: [(&[&str], bool); 5] = [
        (&[], true),
        (&["tiny"], false),
        (&["tiny", "giant"], false),
        (&["giant", "quick", "brisk"], false),
        (&["giant"], true),
    ];
    for (hidden, is_log) in cases {
        hide(&mut devtools, hidden);
        let charts = read_off(&mut devtools);
        assert_eq!(charts.len(), 2, "{charts:?}");
        for chart in charts {
            let (id, subjects) = (&chart.id, &chart.values);
            assert_eq!(chart.is_log, is_log, "{id} without {hidden:?}");
            let times = if id.contains("read") { 3e6 } else { 1e6 };
            let shown = RATES.iter().filter(|(name, _)| !hidden.contains(name));
            let shown: Vec<_> = shown.collect();
            let most = shown.iter().flat_map(|(_, rates)| rates);
            let most = times * most.copied().fold(0.0, f64::max);
            assert_eq!(subjects.len(), shown.len(), "{id} without {hidden:?}");
            for ((name, values), (known, rates)) in subjects.iter().zip(shown) {
                assert_eq!((name.as_str(), values.len()), (*known, rates.len()));
                for (value, rate) in values.iter().zip(rates) {
                    let rate = rate * times;
                    // A logarithmic axis is read to a share of the figure, over three decades.
                    let room = if is_log {
                        0.03 * rate
                    } else {
                        WRONG_MAX * most
                    };
                    assert!(
                        (value - rate).abs() < room,
                        "{name} in {id} without {hidden:?}: {value} and not {rate}"
                    );
                }
            }
        }
    }
    hide(&mut devtools, &[]);
    let after = devtools.ask("document.querySelector('main').innerHTML");
    let plain = |page: &Value| {
        let page = page.as_str().expect("a page");
        [" style=\"\"", " class=\"\""]
            .iter()
            .fold(page.to_owned(), |page, empty| page.replace(empty, ""))
    };
    let (before, after) = (plain(&before), plain(&after));
    let differs = before.bytes().zip(after.bytes()).position(|(a, b)| a != b);
    let around = differs.map(|at| {
        let end = |page: &str| {
            page[at.saturating_sub(80)..]
                .chars()
                .take(200)
                .collect::<String>()
        };
        (end(&before), end(&after))
    });
    assert_eq!(around, None, "the page is not as it was");
    assert_eq!(devtools.complaints, Vec::<String>::new());
}

#[test]
fn a_ratio_is_to_the_best_that_is_shown() {
    let Some(browser) = Browser::new("a_ratio_is_to_the_best") else {
        return;
    };
    let page = copy(&browser, known_report());
    let mut devtools = devtools(&browser);
    open_whole(&mut devtools, &page);
    let look = "(() => {
        const seen = (part) => !part || getComputedStyle(part).display !== 'none' && seen(part.parentElement);
        const text = (cell) => (cell.querySelector('.text') ?? cell).textContent;
        const cells = (id) => [...document.getElementById(id).querySelectorAll('td[data-ratio]')];
        const row = document.getElementById('r1-overview.table').querySelector('tbody tr');
        return {
          heat: [...row.querySelectorAll('td[data-ratio]')].filter(seen).map(text),
          shades: [...row.querySelectorAll('td[data-ratio]')].filter(seen).map((cell) => cell.className[1]),
          table: cells('r1-phase-write.table').filter(seen).map(text),
          status: document.getElementById('status').textContent,
          other: row.classList.contains('other'),
          part: [...document.querySelectorAll('.note.part')].filter(seen).length,
        };
      })()";
    let all = devtools.ask(look);
    assert_eq!(words(&all["heat"]), ["1.00", "0.10", "0.0899", "0.0010"]);
    hide(&mut devtools, &["tiny"]);
    let without_worst = devtools.ask(look);
    assert_eq!(words(&without_worst["heat"]), ["1.00", "0.10", "0.0899"]);
    assert_eq!(without_worst["other"], false);
    // The mean over phases and the chart of all phases are of all subjects, and say so as soon as
    // one is hidden.
    assert_eq!(
        (&all["part"], &without_worst["part"]),
        (&json!(0), &json!(2))
    );
    hide(&mut devtools, &["giant"]);
    let without_best = devtools.ask(look);
    // Of geometric means: 100.47, 89.99 and 1.0024.
    assert_eq!(words(&without_best["heat"]), ["1.00", "0.90", "0.0100"]);
    assert_eq!(without_best["table"], without_best["heat"]);
    assert_eq!(words(&without_best["shades"]), ["9", "8", "0"]);
    assert_eq!(without_best["other"], true);
    let status = without_best["status"].as_str().expect("text");
    assert!(status.contains("to the best shown"), "{status}");
    hide(&mut devtools, &[]);
    assert_eq!(devtools.ask(look), all);
}

#[test]
fn curves_over_time_and_of_latencies_are_drawn_again_without_what_is_hidden() {
    let Some(browser) = Browser::new("curves_over_time") else {
        return;
    };
    let page = copy(&browser, &browser.report.page);
    let mut devtools = devtools(&browser);
    open_whole(&mut devtools, &page);
    let look = "(() => {
        const seen = (part) => !part || getComputedStyle(part).display !== 'none' && seen(part.parentElement);
        const fields = [...document.querySelectorAll('svg [data-y]')].filter(seen);
        const places = (field, name) => [...field.querySelectorAll(name)].filter(seen)
          .map((path) => path.getAttribute('d'));
        return {
          count: fields.length,
          curves: fields.map((field) => places(field, '.course, .curve, .dot').join()),
          odd: fields.filter((field) => /NaN|Infinity|undefined/.test(field.outerHTML)).length,
          few: fields.filter((field) => field.querySelectorAll('.tick.y').length < 2).length,
          bare: fields.filter((field) => !field.querySelector('.grid.y').getAttribute('d')).length,
        };
      })()";
    let before = devtools.ask(look);
    // How many there are depends on which phases took long enough for a course over time.
    assert!(number(&before["count"]) > 8.0, "{before}");
    for hidden in [["xfs", "btrfs"], ["ext4", "btrfs"], ["ext4", "xfs"]] {
        hide(&mut devtools, &hidden);
        let found = devtools.ask(look);
        assert_eq!(found["count"], before["count"]);
        for wrong in ["odd", "few", "bare"] {
            assert_eq!(found[wrong], json!(0), "{wrong} without {hidden:?}");
        }
        assert_ne!(found["curves"], before["curves"]);
    }
    hide(&mut devtools, &[]);
    assert_eq!(devtools.ask(look), before);
    assert_eq!(devtools.complaints, Vec::<String>::new());
}
