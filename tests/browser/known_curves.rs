//! Curves whose every point is known, read off their axes when the largest subjects are hidden: an
//! axis that is drawn anew without its curves, or curves without their axis, is a lie.

use std::fs;
use std::sync::OnceLock;

use fslab_model::LatencyHistogram;
use serde_json::{Value, json};

use super::small_screen::{copy, devtools, hide, open_whole};
use super::{Browser, number, page_of};
use crate::harness::Desk;

const CURVES: &str = include_str!("curves.js");

/// Of a subject: MB/s in each second, and nanoseconds at each of [`PERCENTILES`].
struct Known {
    name: &'static str,
    rates: &'static [f64],
    latencies: [u64; 7],
}

/// The first is the largest, the slowest to answer and the last to end; the units of the axes are
/// others without it. No three rates lie on a line, so that all are drawn.
const KNOWN: [Known; 3] = [
    Known {
        name: "giant",
        rates: &[
            1000.0, 400.0, 1900.0, 300.0, 800.0, 500.0, 1000.0, 200.0, 700.0, 600.0,
        ],
        latencies: [
            2_000_000,
            3_000_000,
            7_000_000,
            20_000_000,
            60_000_000,
            150_000_000,
            900_000_000,
        ],
    },
    Known {
        name: "quick",
        rates: &[80.0, 20.0, 60.0, 40.0, 90.0, 30.0],
        latencies: [20_000, 30_000, 80_000, 200_000, 700_000, 900_000, 3_000_000],
    },
    Known {
        name: "brisk",
        rates: &[0.4, 0.1, 0.3, 0.2],
        latencies: [700, 1_000, 2_000, 5_000, 8_000, 20_000, 40_000],
    },
];
const PERCENTILES: [&str; 7] = ["0", "50", "90", "99", "99.9", "99.99", "max"];
/// Of 100,000 operations, how many are no slower than the latency of that percentile.
const COUNTS: [u64; 7] = [10, 60_000, 95_000, 99_500, 99_950, 99_995, 100_000];
/// Places are written to a tenth of a pixel, and a path's are sums of such.
const PIXEL_MAX: f64 = 0.35;
const SECOND_NS: u64 = 1_000_000_000;

/// A report of [`KNOWN`]: an import of rates, to which series and latencies are added.
fn report() -> &'static str {
    static REPORT: OnceLock<String> = OnceLock::new();
    REPORT.get_or_init(|| {
        let desk = Desk::new();
        let mut rows = "subject,phase,repeat,metric,value,unit\n".to_owned();
        for known in &KNOWN {
            rows.push_str(&format!("{},write,0,throughput,50,MB/s\n", known.name));
        }
        fs::write(desk.path("rates.csv"), rows).expect("a file");
        desk.run(&["import", "rates.csv"]).expect_code(0);
        let mut run = desk.last_run();
        run["run"] = json!("20240101-000000-abcd");
        for (trial, known) in KNOWN.iter().enumerate() {
            let phase = &mut run["trials"][trial]["phases"][0];
            let bytes = known.rates.iter().map(|rate| (rate * 1e6) as u64);
            let bytes: Vec<u64> = bytes.collect();
            let mut histogram = LatencyHistogram::default();
            let mut before = 0;
            for (ns, count) in known.latencies.iter().zip(COUNTS) {
                histogram.record_many(*ns, count - before);
                before = count;
            }
            // The rate follows from the bytes and the time.
            phase["figures"] = json!({});
            phase["elapsed_ns"] = json!(bytes.len() as u64 * SECOND_NS);
            phase["operations"] = json!(before);
            phase["bytes"] = json!(bytes.iter().sum::<u64>());
            phase["series"] = json!({
                "interval_ns": SECOND_NS, "operations": vec![1; bytes.len()], "bytes": bytes,
            });
            phase["latencies"] = json!([{ "operation": "write", "histogram": histogram }]);
        }
        fs::write(desk.path("run.json"), run.to_string()).expect("a file");
        desk.run(&["import", "run.json"]).expect_code(0);
        page_of(&desk, "20240101-000000-abcd")
    })
}

fn list(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"))
}

fn points(value: &Value) -> Vec<[f64; 2]> {
    let points = list(value).iter();
    points
        .map(|point| [number(&point[0]), number(&point[1])])
        .collect()
}

/// An axis as a reader takes it from its ticks.
struct Axis {
    /// Where each stands, and what it says.
    ticks: Vec<(f64, f64)>,
    is_log: bool,
    /// Its ends, in pixels.
    ends: [f64; 2],
}

impl Axis {
    /// Of a chart's ticks, whose `lines` have their places at `index`; `unit` is that of the title.
    fn read(chart: &Value, index: usize, unit: f64, is_log: bool) -> Self {
        let (name, lines, across) = match index {
            0 => ("x", "upright", "level"),
            _ => ("y", "level", "upright"),
        };
        let ticks = list(&chart[name]).iter().map(|tick| {
            let text = tick["text"].as_str().expect("text");
            let (value, of) = text.split_once(' ').unwrap_or((text, ""));
            let of = match of {
                "" => unit,
                "ns" => 1.0,
                "µs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                other => panic!("{other} is no unit"),
            };
            let value: f64 = value.parse().expect("a tick is a number");
            // Text stands so much lower than what it belongs to.
            let down = if index == 1 { 3.5 } else { 0.0 };
            (number(&tick["at"]) - down, value * of)
        });
        let ticks: Vec<(f64, f64)> = ticks.collect();
        let lines = list(&chart[lines]).iter();
        let lines: Vec<f64> = lines.map(|line| number(&line[0][index])).collect();
        assert!(ticks.len() >= 2, "{name} of {chart}");
        assert_eq!(lines.len(), ticks.len(), "{name} of {chart}");
        let ends = &list(&chart[across])[0];
        let axis = Self {
            ticks,
            is_log,
            ends: [0, 1].map(|end| number(&ends[end][index])),
        };
        for ((at, value), line) in axis.ticks.iter().zip(lines) {
            assert!((at - line).abs() < 0.1, "{name} {value} in {chart}");
            axis.demand(*at, *value, "a tick");
        }
        axis
    }

    fn at(&self, value: f64) -> f64 {
        let place = |value: f64| if self.is_log { value.ln() } else { value };
        let (first, last) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        let share = (place(value) - place(first.1)) / (place(last.1) - place(first.1));
        first.0 + share * (last.0 - first.0)
    }

    fn demand(&self, pixel: f64, value: f64, whose: &str) {
        let right = self.at(value);
        assert!(
            (pixel - right).abs() < PIXEL_MAX,
            "{whose}: {value} stands at {pixel} and not at {right}: {:?}",
            self.ticks
        );
    }

    /// What share of the axis lies between its lower end and `value`.
    fn share(&self, value: f64) -> f64 {
        let [one, other] = self.ends;
        let (low, high) = match self.ticks[0].0 < self.ticks[1].0 {
            true => (one.min(other), one.max(other)),
            false => (one.max(other), one.min(other)),
        };
        (self.at(value) - low) / (high - low)
    }
}

/// Demands that rates over time say what is known, on axes that are full of them.
fn demand_series(chart: &Value, shown: &[&Known], hidden: &[&str]) {
    let title = |index: usize| chart["titles"][index].as_str().expect("text");
    let unit = match title(0) {
        "GB/s" => 1e3,
        "MB/s" => 1.0,
        "kB/s" => 1e-3,
        other => panic!("{other} is no rate"),
    };
    assert_eq!(title(1), "s since the phase began");
    let (x, y) = (
        Axis::read(chart, 0, 1.0, false),
        Axis::read(chart, 1, unit, false),
    );
    let mut largest: f64 = 0.0;
    for (subject, known) in list(&chart["subjects"]).iter().zip(shown) {
        let whose = format!("{} without {hidden:?}", known.name);
        let drawn = points(&subject["curve"]);
        assert_eq!(drawn.len(), known.rates.len(), "{whose}: {chart}");
        let seconds = (0..).map(|second| f64::from(second) + 0.5);
        for (([left, top], rate), second) in drawn.iter().zip(known.rates).zip(seconds) {
            x.demand(*left, second, &whose);
            y.demand(*top, *rate, &whose);
            largest = largest.max(*rate);
        }
        let marks = points(&subject["marks"]);
        assert_eq!(marks.len(), 1, "{whose}: {chart}");
        let (mark, end) = (marks[0], drawn[drawn.len() - 1]);
        assert!((mark[0] - end[0]).abs() < PIXEL_MAX, "{whose}: {chart}");
        assert!((mark[1] - end[1]).abs() < PIXEL_MAX, "{whose}: {chart}");
    }
    let seconds = shown.iter().map(|known| known.rates.len());
    let last = seconds.max().expect("a subject") as f64 - 0.5;
    assert!((0.85..1.01).contains(&x.share(last)), "{hidden:?}: {chart}");
    assert!(
        (0.9..0.97).contains(&y.share(largest)),
        "{hidden:?}: {chart}"
    );
}

/// The same of latencies by percentile.
fn demand_latencies(chart: &Value, shown: &[&Known], hidden: &[&str]) {
    // Each tick has its own unit.
    let y = Axis::read(chart, 1, f64::NAN, true);
    let columns = list(&chart["x"]).iter();
    let columns: Vec<f64> = columns.map(|tick| number(&tick["at"])).collect();
    let names = list(&chart["x"]).iter().map(|tick| &tick["text"]);
    assert!(names.eq(PERCENTILES.iter()), "{chart}");
    let extremes = |of: fn(&[u64; 7]) -> u64| shown.iter().map(move |known| of(&known.latencies));
    for (subject, known) in list(&chart["subjects"]).iter().zip(shown) {
        let whose = format!("{} without {hidden:?}", known.name);
        let marks = points(&subject["marks"]);
        assert_eq!(marks.len(), PERCENTILES.len(), "{whose}: {chart}");
        for (([left, top], ns), column) in marks.iter().zip(known.latencies).zip(&columns) {
            // The maximum's word is moved a little, into the drawing.
            assert!((left - column).abs() < 2.1, "{whose}: {chart}");
            y.demand(*top, ns as f64, &whose);
        }
        let curve = points(&subject["curve"]);
        assert!(curve.len() >= PERCENTILES.len() - 1, "{whose}: {chart}");
        for [_, top] in curve {
            let places = known.latencies.map(|ns| (y.at(ns as f64) - top).abs());
            let nearest = places.into_iter().fold(f64::INFINITY, f64::min);
            assert!(nearest < PIXEL_MAX, "{whose}: {nearest} beside: {chart}");
        }
    }
    let least = extremes(|of| of[0]).min().expect("a subject") as f64;
    let most = extremes(|of| of[6]).max().expect("a subject") as f64;
    assert!(y.share(least).abs() < 0.01, "{hidden:?}: {chart}");
    assert!((y.share(most) - 1.0).abs() < 0.01, "{hidden:?}: {chart}");
}

#[test]
fn every_point_of_a_curve_says_what_it_said_when_the_axes_are_drawn_anew() {
    let Some(browser) = Browser::new("every_point_of_a_curve") else {
        return;
    };
    let page = copy(&browser, report());
    let mut devtools = devtools(&browser);
    open_whole(&mut devtools, &page);
    let before = devtools.ask(CURVES);
    let cases: [&[&str]; 6] = [
        &[],
        &["giant"],
        &["giant", "quick"],
        &["brisk"],
        &["giant", "brisk"],
        &["quick", "brisk"],
    ];
    for hidden in cases {
        hide(&mut devtools, hidden);
        let charts = devtools.ask(CURVES);
        let shown = KNOWN.iter().filter(|known| !hidden.contains(&known.name));
        let shown: Vec<&Known> = shown.collect();
        let mut kinds = Vec::new();
        for chart in list(&charts) {
            let subjects = list(&chart["subjects"]).len();
            let id = chart["id"].as_str().expect("an id");
            let kind = id.rsplit('.').next().expect("a kind");
            match kind {
                "series" => demand_series(chart, &shown, hidden),
                "latency" => demand_latencies(chart, &shown, hidden),
                other => panic!("{other} has no known curve"),
            }
            assert_eq!(subjects, shown.len(), "{hidden:?}: {chart}");
            kinds.push(kind);
        }
        assert_eq!(kinds, ["latency", "series"], "without {hidden:?}");
    }
    hide(&mut devtools, &[]);
    assert_eq!(devtools.ask(CURVES), before, "the charts are not as before");
    assert_eq!(devtools.complaints, Vec::<String>::new());
}
