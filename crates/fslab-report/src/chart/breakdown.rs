//! Where the time of requests went: one stacked bar a subject.

use fslab_model::definitions::ELAPSED;
use fslab_model::{TimeParts, format_ns};

use super::scale::{AxisUnit, Scale};
use super::svg::{Anchor, Svg};
use super::{Label, Names};
use crate::wording;

/// Twice as wide as other charts: it stands alone in its row.
const WIDTH: f64 = 2.0 * super::WIDTH;
const LEFT: f64 = 6.0;
const RIGHT: f64 = WIDTH - 14.0;
const ROW: f64 = 36.0;
const BAR: f64 = 13.0;
const AXIS: f64 = 36.0;
/// Letters of a subject's name that fit beside its figure.
const NAME_LETTERS: usize = 60;

/// Class and name of each part, in their order in a bar.
pub(crate) const PARTS: [(&str, &str); 6] = [
    ("p-command", "command"),
    ("p-seek", "seek"),
    ("p-rotation", "rotation"),
    ("p-transfer", "transfer"),
    ("p-cache", "cache"),
    ("p-other", "waiting inside the disk"),
];

/// A subject's bar.
pub(crate) struct Bar<'a> {
    /// Whose it is.
    pub(crate) label: &'a Label,
    /// What it shows.
    pub(crate) time: TimeParts,
}

fn parts(time: &TimeParts) -> [u64; 6] {
    [
        time.command_ns,
        time.seek_ns,
        time.rotation_ns,
        time.transfer_ns,
        time.cache_ns,
        time.other_ns,
    ]
}

/// Draws the bars; `None` where there is none.
pub(crate) fn breakdown(names: &Names, bars: &[Bar]) -> Option<String> {
    let high = bars.iter().map(|bar| bar.time.service_ns()).max()?;
    if high == 0 {
        return None;
    }
    let x = Scale::from_zero(high as f64, LEFT, RIGHT);
    let bottom = ROW * bars.len() as f64 + 2.0;
    let mut svg = Svg::with_width(WIDTH, bottom + AXIS);
    let unit = AxisUnit::of(&ELAPSED, high as f64);
    for tick in x.ticks(6) {
        let at = x.at(tick);
        svg.line("grid", (at, 18.0), (at, bottom));
        let label = unit.label(tick);
        svg.text("tick", Anchor::Middle, (at, bottom + 13.0), &label);
    }
    let title = format!("{} of device time, all requests together", unit.name);
    svg.text("axis", Anchor::End, (RIGHT + 8.0, bottom + 30.0), &title);
    for (row, bar) in bars.iter().enumerate() {
        let (words, top) = (ROW * row as f64 + 13.0, ROW * row as f64 + 18.0);
        svg.open(bar.label.look);
        svg.mark("key", bar.label.look, (LEFT + 4.0, words - 4.0));
        svg.short_text("label", (LEFT + 14.0, words), &bar.label.name, NAME_LETTERS);
        let total = format_ns(bar.time.service_ns() as f64);
        svg.text("value", Anchor::End, (RIGHT + 8.0, words), &total);
        let mut before = 0;
        for (ns, (class, _)) in parts(&bar.time).into_iter().zip(PARTS) {
            let (from, to) = (x.at(before as f64), x.at((before + ns) as f64));
            if ns > 0 {
                svg.rectangle(class, (from, top), (to, top + BAR));
            }
            before += ns;
        }
        svg.close();
    }
    Some(svg.finish(names, &description(bars)))
}

fn description(bars: &[Bar]) -> String {
    let line = |bar: &Bar| {
        let told: Vec<String> = parts(&bar.time)
            .into_iter()
            .zip(PARTS)
            .filter(|(ns, _)| *ns > 0)
            .map(|(ns, (_, name))| format!("{name} {}", format_ns(ns as f64)))
            .collect();
        format!("{}: {}.", bar.label.name, wording::list(&told))
    };
    bars.iter().map(line).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_bar_stand_one_after_another_up_to_its_total() {
        let label = Label {
            name: "ext4".into(),
            look: 0,
        };
        let time = TimeParts {
            waiting_ns: 9_000,
            command_ns: 250,
            seek_ns: 500,
            transfer_ns: 250,
            ..TimeParts::default()
        };
        let names = Names {
            id: "x",
            title: "t",
        };
        let bar = Bar {
            label: &label,
            time,
        };
        let svg = breakdown(&names, &[bar]).expect("a bar");
        let of = |class: &str| {
            let path = svg.split(&format!("<path class=\"{class}\" d=\"")).nth(1);
            path.and_then(|rest| rest.split('"').next())
                .map(str::to_owned)
        };
        assert_eq!(of("p-command").as_deref(), Some("M6 18H191V31H6z"));
        assert_eq!(of("p-seek").as_deref(), Some("M191 18H561V31H191z"));
        assert_eq!(of("p-transfer").as_deref(), Some("M561 18H746V31H561z"));
        assert_eq!(of("p-rotation"), None);
        assert!(svg.contains("ext4: command 250 ns, seek 500 ns and transfer 250 ns."));
        assert!(breakdown(&names, &[]).is_none());
    }
}
