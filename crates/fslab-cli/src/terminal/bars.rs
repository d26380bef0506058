//! A bar chart for a terminal: ratios with their intervals, one line each.
//!
//! ```text
//!     xfs     ████████████████████████████████  1.00  fastest
//!     ext4    ████████████████████████├──┼──┤   0.83  (0.76 to 0.91) slower
//! ```

use fslab_compare::{Analysis, Comparison};
use fslab_report::wording;
use unicode_width::UnicodeWidthStr;

use crate::terminal::screen::{Lines, plain};

/// The most columns of the chart; a longer bar shows nothing more.
const WIDTH_MAX: usize = 80;
/// The fewest columns of a bar.
const BAR_MIN: usize = 12;
/// The widest name that is on the line of its bar.
const NAME_MAX: usize = 24;

/// The characters of a chart.
struct Shapes {
    full: char,
    /// Parts of a full one, in equal steps; empty if there are none.
    parts: &'static [char],
    low: char,
    between: char,
    middle: char,
    high: char,
}

const BLOCKS: Shapes = Shapes {
    full: '█',
    parts: &['▏', '▎', '▍', '▌', '▋', '▊', '▉'],
    low: '├',
    between: '─',
    middle: '┼',
    high: '┤',
};
const ASCII: Shapes = Shapes {
    full: '#',
    parts: &[],
    low: '|',
    between: '-',
    middle: '+',
    high: '|',
};

/// A bar of the chart.
struct Bar {
    name: String,
    ratio: f64,
    interval: Option<(f64, f64)>,
    /// Interval and verdict in words.
    words: String,
}

/// The chart of a run's overall result: the geometric mean over all phases, or the only phase.
/// `None` if there are not two subjects to compare.
pub(crate) fn overall(analysis: &Analysis, lines: Lines) -> Option<String> {
    let (of, comparison) = match (&analysis.overall, analysis.phases.as_slice()) {
        (Some(overall), _) => (
            "geometric mean over the phases".to_owned(),
            &overall.comparison,
        ),
        (None, [phase]) => (wording::phase(phase.name), phase.comparison.as_ref()?),
        (None, _) => return None,
    };
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let bars = bars(comparison, &names);
    if bars.len() < 2 {
        return None;
    }
    let has_intervals = bars.iter().any(|bar| bar.interval.is_some());
    let interval = if has_intervals { ", 95 % interval" } else { "" };
    let title = format!("Speed relative to the best: {of}{interval}");
    let missing = (0..names.len()).filter(|subject| comparison.entries[*subject].to_best.is_none());
    let missing: Vec<String> = missing.map(|subject| names[subject].clone()).collect();
    let mut text = lines.wrap(&plain(&title));
    text.push_str(&draw(&bars, lines));
    if !missing.is_empty() {
        text.push_str(&lines.wrap(&plain(&format!("No figure: {}.", missing.join(", ")))));
    }
    Some(text)
}

/// The bars, best first.
fn bars(comparison: &Comparison, names: &[String]) -> Vec<Bar> {
    let order = comparison.order().into_iter();
    let bar = |subject: usize| {
        let speed = comparison.entries[subject].to_best?;
        let best = comparison.best?;
        let interval = speed.interval.filter(|_| subject != best);
        let verdict = wording::verdict_on(comparison, subject)?;
        let words = match interval {
            Some(interval) => format!("({}) {verdict}", wording::ratio_interval(interval)),
            None => verdict,
        };
        Some(Bar {
            name: plain(&names[subject]).into_owned(),
            ratio: speed.value,
            interval: interval.map(|interval| (interval.low, interval.high)),
            words,
        })
    };
    order.filter_map(bar).collect()
}

fn draw(bars: &[Bar], lines: Lines) -> String {
    let shapes = if lines.is_unicode { BLOCKS } else { ASCII };
    let width = lines.columns.min(WIDTH_MAX);
    let ratios: Vec<String> = bars.iter().map(|bar| wording::ratio(bar.ratio)).collect();
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(UnicodeWidthStr::width).max();
    let short = bars.iter().map(|bar| bar.name.as_str());
    let name = widest(&mut short.filter(|name| name.width() <= NAME_MAX)).unwrap_or(0);
    let ratio = widest(&mut ratios.iter().map(String::as_str)).unwrap_or(0);
    let words = widest(&mut bars.iter().map(|bar| bar.words.as_str())).unwrap_or(0);
    // Without room for the words, they are in the table above.
    let beside = width.saturating_sub(name + 2 + 2 + ratio);
    let (room, has_words) = match beside.checked_sub(words + 2) {
        Some(room) if room >= BAR_MIN => (room, true),
        _ => (beside.max(BAR_MIN), false),
    };
    // An interval far above 1 does not compress the bars.
    let reach = bars.iter().filter_map(|bar| bar.interval);
    let high = reach.map(|(_, high)| high.min(1.25)).fold(1.0, f64::max);
    let mut text = String::new();
    for (bar, ratio_text) in bars.iter().zip(&ratios) {
        let label = if bar.name.width() > NAME_MAX {
            text.push_str(&format!("{}\n", bar.name));
            ""
        } else {
            &bar.name
        };
        let pad = " ".repeat(name.saturating_sub(label.width()));
        let drawn = shapes.bar(bar, room, high);
        let line = match has_words {
            true => format!("{label}{pad}  {drawn}  {ratio_text:>ratio$}  {}", bar.words),
            false => format!("{label}{pad}  {drawn}  {ratio_text:>ratio$}"),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

impl Shapes {
    /// A bar in `room` columns, of which `high` is the end. An interval of at least three columns
    /// is drawn; a shorter one is in the words only.
    fn bar(&self, bar: &Bar, room: usize, high: f64) -> String {
        let place = |value: f64| (value / high).clamp(0.0, 1.0) * room as f64;
        let cell = |value: f64| (place(value).round() as usize).clamp(1, room) - 1;
        let mut cells = vec![' '; room];
        let full = place(bar.ratio).floor() as usize;
        cells[..full].fill(self.full);
        let rest = place(bar.ratio) - full as f64;
        let steps = self.parts.len() + 1;
        let step = (rest * steps as f64).floor() as usize;
        if let Some((part, end)) = step.checked_sub(1).zip(cells.get_mut(full)) {
            *end = self.parts[part];
        }
        if let Some((low, up)) = bar.interval.map(|(low, high)| (cell(low), cell(high)))
            && up >= low + 2
        {
            cells[..low].fill(self.full);
            cells[low..=up].fill(self.between);
            (cells[low], cells[up]) = (self.low, self.high);
            let middle = cell(bar.ratio).clamp(low + 1, up - 1);
            cells[middle] = self.middle;
        }
        cells.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, ratio: f64, interval: Option<(f64, f64)>, words: &str) -> Bar {
        Bar {
            name: name.into(),
            ratio,
            interval,
            words: words.into(),
        }
    }

    fn chart() -> Vec<Bar> {
        vec![
            bar("xfs", 1.0, None, "best, not alone"),
            bar("ext4", 0.93, Some((0.84, 1.03)), "(0.84 to 1.03) undecided"),
            bar(
                "btrfs:mount=compress=zstd",
                0.5,
                Some((0.499, 0.501)),
                "(0.50 to 0.50) slower",
            ),
            bar("udf", 0.31, None, "slower"),
        ]
    }

    fn lines(columns: usize, is_unicode: bool) -> Lines {
        Lines {
            columns,
            is_unicode,
            wraps: true,
        }
    }

    #[test]
    fn a_chart_fits_80_columns_in_blocks_and_has_the_words() {
        let text = draw(&chart(), lines(80, true));
        assert_eq!(
            text,
            "\
xfs   ████████████████████████████████████████▊   1.00  best, not alone
ext4  █████████████████████████████████├───┼───┤  0.93  (0.84 to 1.03) undecided
btrfs:mount=compress=zstd
      ████████████████████▍                       0.50  (0.50 to 0.50) slower
udf   ████████████▋                               0.31  slower
"
        );
    }

    #[test]
    fn a_narrow_chart_in_ascii_keeps_the_ratios() {
        let text = draw(&chart(), lines(40, false));
        assert!(text.is_ascii(), "{text}");
        assert!(text.lines().all(|line| line.len() <= 40), "{text}");
        assert!(text.contains("|-+--|  0.93\n"), "{text}");
        assert!(!text.contains("undecided"), "{text}");
    }

    #[test]
    fn a_bar_has_no_more_columns_than_its_room_whatever_the_figures() {
        for ratio in [0.0, 1e-9, 0.5, 1.0, 7.0, f64::NAN] {
            for interval in [None, Some((0.0, 1e9)), Some((0.9, 1.1)), Some((1.0, 1.0))] {
                for room in [3, 12, 60] {
                    let bar = bar("x", ratio, interval, "");
                    for shapes in [&BLOCKS, &ASCII] {
                        let drawn = shapes.bar(&bar, room, 1.25);
                        assert_eq!(drawn.chars().count(), room, "{ratio} {interval:?}");
                    }
                }
            }
        }
    }
}
