//! The time of a disk by part: two stacked bars per subject, for its requests and for the media.
//!
//! They may differ: a write that ends in the cache takes no time of the media, and a later
//! write-back takes none of a request.

use fslab_model::{DeviceInsight, TimeParts, Unit, format_ns};

use super::Label;
use super::axis::{Axis, TickUnit};
use super::drawing::Drawing;
use super::field::Field;
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use crate::wording;

/// Twice as wide as other charts, because it is alone in its row.
const WIDTH: f64 = 760.0;
/// Left of a bar is its name, right of it the total.
const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 66.0;
const BAR: f64 = 11.0;
/// Distance between the bars of a subject.
const STEP: f64 = 15.0;
/// Height of a subject's name above its bars.
const HEAD: f64 = 18.0;
/// Between a subject's bars and the next one's name.
const GAP: f64 = 7.0;
const AXIS: f64 = 36.0;
const TICKS: u32 = 6;

/// Class and name of each part, in the order of a bar.
pub(crate) const PARTS: [(&str, &str); 6] = [
    ("p-command", "command"),
    ("p-seek", "seek"),
    ("p-rotation", "rotation"),
    ("p-transfer", "transfer"),
    ("p-cache", "cache"),
    ("p-other", "waiting inside the disk"),
];

/// A subject's bars.
pub(crate) struct Bars<'a> {
    /// The subject.
    label: &'a Label,
    /// Name and length of each bar.
    bars: [(&'static str, TimeParts); 2],
}

impl<'a> Bars<'a> {
    /// The bars of a subject.
    pub(crate) fn of(label: &'a Label, insight: &DeviceInsight) -> Self {
        Self {
            label,
            bars: [
                ("requests", insight.time()),
                ("media", insight.media_time()),
            ],
        }
    }
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

/// Draws the bars; `None` if there are none.
pub(crate) fn breakdown(subjects: &[Bars]) -> Option<Drawing> {
    let lengths = subjects.iter().flat_map(|subject| &subject.bars);
    let high = lengths.map(|(_, time)| time.service_ns()).max()?;
    if high == 0 {
        return None;
    }
    let row = HEAD + 2.0 * STEP + GAP;
    let bottom = row * subjects.len() as f64 - GAP + 2.0;
    let mut svg = Svg::with_width(WIDTH, bottom + AXIS).in_rows(row);
    let axis = Axis {
        scale: Scale::from_zero(high as f64, LEFT, RIGHT),
        high: high as f64,
        ticks: TICKS,
        linear_factor_max: f64::INFINITY,
        room: (1.0, 1.0),
        unit: TickUnit::Common(Unit::Nanoseconds),
        title: "{} of device time, summed".to_owned(),
    };
    let mut field = Field::open(&mut svg, Some(axis), None);
    field.across((HEAD, bottom), RIGHT + 8.0);
    for (index, subject) in subjects.iter().enumerate() {
        draw(&mut field, subject, row * index as f64);
    }
    field.close();
    Some(svg.into_drawing(&description(subjects)))
}

fn draw(field: &mut Field, subject: &Bars, top: f64) {
    let (label, svg) = (subject.label, &mut *field.svg);
    svg.open(label.look);
    svg.mark("key", label.look, (10.0, top + 9.0));
    svg.text("label", Anchor::Start, (20.0, top + 13.0), &label.name);
    for (place, (name, time)) in subject.bars.iter().enumerate() {
        let top = top + HEAD + STEP * place as f64;
        let words = top + BAR - 1.5;
        let svg = &mut *field.svg;
        svg.text("tick", Anchor::End, (LEFT - 6.0, words), name);
        let total = format_ns(time.service_ns() as f64);
        svg.text("value", Anchor::End, (WIDTH - 6.0, words), &total);
        let mut before = 0;
        for (ns, (class, _)) in parts(time).into_iter().zip(PARTS) {
            let (from, to) = (before as f64, (before + ns) as f64);
            if ns > 0 {
                field.rectangle(class, ((from, top), (to, top + BAR)), 0.0);
            }
            before += ns;
        }
    }
    field.svg.close();
}

fn description(subjects: &[Bars]) -> String {
    let described = |(bar, time): &(&str, TimeParts)| {
        let parts = parts(time).into_iter().zip(PARTS);
        let parts: Vec<String> = parts
            .filter(|(ns, _)| *ns > 0)
            .map(|(ns, (_, name))| format!("{name} {}", format_ns(ns as f64)))
            .collect();
        let parts = match parts.is_empty() {
            true => "nothing".to_owned(),
            false => wording::list(&parts),
        };
        format!("{bar}: {parts}")
    };
    let line = |subject: &Bars| {
        let bars: Vec<String> = subject.bars.iter().map(described).collect();
        format!("{}, {}.", subject.label.name, bars.join("; "))
    };
    subjects.iter().map(line).collect::<Vec<_>>().join(" ")
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
        let mut insight = DeviceInsight::default();
        insight.reads.time = TimeParts {
            waiting_ns: 9_000,
            command_ns: 250,
            seek_ns: 500,
            transfer_ns: 250,
            ..TimeParts::default()
        };
        insight.background_write_time.rotation_ns = 250;
        let drawing = breakdown(&[Bars::of(&label, &insight)]).expect("bars");
        let svg = drawing.body;
        let of = |class: &str| -> Vec<&str> {
            let path = format!("<path class=\"{class}\" d=\"");
            let paths = svg.split(path.as_str()).skip(1);
            paths.filter_map(|rest| rest.split('"').next()).collect()
        };
        // 632 pixels for 1,000 ns; the media have no command, and rotate in the background.
        assert_eq!(of("p-command"), ["M62 18H220V29H62z"]);
        assert_eq!(of("p-seek"), ["M220 18H536V29H220z", "M62 33H378V44H62z"]);
        assert_eq!(of("p-rotation"), ["M378 33H536V44H378z"]);
        assert_eq!(
            of("p-transfer"),
            ["M536 18H694V29H536z", "M536 33H694V44H536z"]
        );
        assert!(drawing.description.contains(
            "ext4, requests: command 250 ns, seek 500 ns and transfer 250 ns; \
             media: seek 500 ns, rotation 250 ns and transfer 250 ns."
        ));
        assert!(breakdown(&[]).is_none());
        let idle = Bars::of(&label, &DeviceInsight::default());
        assert!(breakdown(&[idle]).is_none());
    }
}
