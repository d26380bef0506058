//! A finished chart: part of a page, in its style, or a separate document with title, legend and
//! colours.

use std::fmt::Write;

use super::numbers::text_width;
use super::{Label, Names};
use crate::palette;
use crate::xml::{self, escape};

const MARGIN: f64 = 14.0;
/// Height of the title, and of a line of the legend or of the notes.
const HEAD: f64 = 30.0;
const LINE: f64 = 18.0;
/// Letters of a line of notes per 100 pixels.
const LETTERS: f64 = 17.0;

/// The style of charts outside a page, equivalent to `templates/report.css`.
const STYLE: &str = include_str!("../../templates/figure.css");
const DARK: &str = include_str!("../../templates/figure-dark.css");
/// The band around a scatter's line, in light and dark colours; only where there is one, so that
/// other drawings do not change with it.
const BAND: &str = ".band { fill: #8b877e; opacity: .2; }\n";
const WHITE: &str = ".paper { fill: #fff; }\n.dot, .cut { stroke: #fff; }\n";

/// A finished chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) row: Option<f64>,
    pub(super) body: String,
    pub(super) description: String,
}

/// What a chart needs outside a page.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    /// The subjects with their colours.
    pub(crate) labels: &'a [Label],
    /// True if the chart itself does not name them.
    pub(crate) needs_legend: bool,
    /// Classes and names of other colours.
    pub(crate) key: &'a [(&'static str, &'static str)],
    pub(crate) notes: &'a [String],
}

impl Drawing {
    /// The chart as an element of a page.
    pub(crate) fn on_page(&self, names: &Names) -> String {
        let id = names.id;
        // On paper, the height of a row is needed to enlarge letters of a shrunk chart.
        let row = self.row.map_or_else(String::new, |row| {
            let (row, high) = (super::numbers::at(row), super::numbers::at(self.height));
            format!(" data-row=\"{row}\" style=\"--high: {high};\"")
        });
        format!(
            "<svg viewBox=\"0 0 {} {}\"{row} role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{}</svg>",
            super::numbers::at(self.width),
            super::numbers::at(self.height),
            escape(names.title),
            escape(&self.description),
            self.body
        )
    }

    /// The chart under a title.
    pub(crate) fn titled(self, title: &str) -> Self {
        let top = HEAD - 6.0;
        Self {
            height: self.height + top,
            body: format!(
                "<text class=\"head\" x=\"0\" y=\"14\">{}</text>\
                 <g transform=\"translate(0 {top:.1})\">{}</g>",
                escape(title),
                self.body
            ),
            description: format!("{title}. {}", self.description),
            ..self
        }
    }

    /// Stacks charts, each under its title; a single one has none. `None` if there are none.
    pub(crate) fn stacked(mut drawings: Vec<(String, Self)>) -> Option<Self> {
        if drawings.len() < 2 {
            return drawings.pop().map(|(_, drawing)| drawing);
        }
        let drawings = drawings.into_iter();
        let drawings: Vec<Self> = drawings
            .map(|(title, drawing)| drawing.titled(&title))
            .collect();
        Self::in_rows(&drawings, 1, (0.0, 12.0))
    }

    /// Charts in rows of as many `columns`, with gaps across and downwards. `None` if there are
    /// none.
    pub(crate) fn in_rows(drawings: &[Self], columns: usize, gap: (f64, f64)) -> Option<Self> {
        let widths = drawings.iter().map(|drawing| drawing.width);
        let step = widths.reduce(f64::max)? + gap.0;
        let (mut body, mut description, mut height) = (String::new(), Vec::new(), 0.0);
        for row in drawings.chunks(columns) {
            let top = if height > 0.0 { height + gap.1 } else { 0.0 };
            for (column, drawing) in row.iter().enumerate() {
                write!(
                    body,
                    "<g transform=\"translate({:.1} {top:.1})\">{}</g>",
                    step * column as f64,
                    drawing.body
                )
                .expect("writes to memory");
                description.push(drawing.description.clone());
                height = f64::max(height, top + drawing.height);
            }
        }
        Some(Self {
            width: step * columns as f64 - gap.0,
            height,
            row: None,
            body,
            description: description.join(" "),
        })
    }

    /// The chart with the marks and names of its subjects above it.
    pub(crate) fn under_legend(self, labels: &[Label]) -> Self {
        // A subject that the page hides has no mark and no name.
        self.under(labels, "<g class=\"of s")
    }

    /// The chart with the marks and names of its lines above it, which are no subjects of the page.
    pub(crate) fn under_names(self, labels: &[Label]) -> Self {
        self.under(labels, "<g class=\"s")
    }

    fn under(self, labels: &[Label], group: &str) -> Self {
        let (legend, lines) = legend(labels, &[], self.width);
        let legend = legend.replace("<g class=\"s", group);
        let top = LINE * f64::from(lines) + 6.0;
        let body = self.body;
        Self {
            height: self.height + top,
            body: format!("{legend}<g transform=\"translate(0 {top:.1})\">{body}</g>"),
            ..self
        }
    }

    /// The chart with a sentence more for who does not see it.
    pub(crate) fn described(mut self, sentence: &str) -> Self {
        self.description.push(' ');
        self.description.push_str(sentence);
        self
    }

    /// The chart as a separate file, in light or dark colours.
    pub(crate) fn alone(&self, frame: &Frame) -> String {
        let looks = frame.labels.iter().map(|label| label.look);
        let colours = format!("{STYLE}{DARK}{}", palette::fixed_rules(looks));
        self.document(frame, &colours)
    }

    /// The chart as a separate file on white paper, regardless of the colour scheme.
    pub(crate) fn alone_on_white(&self, frame: &Frame) -> String {
        let looks = frame.labels.iter().map(|label| label.look);
        let colours = format!("{STYLE}{WHITE}{}", palette::light_rules(looks));
        self.document(frame, &colours)
    }

    fn document(&self, frame: &Frame, style: &str) -> String {
        let named = if frame.needs_legend {
            frame.labels
        } else {
            &[]
        };
        let (legend, lines) = legend(named, frame.key, self.width);
        let notes = notes(frame.notes, self.width);
        let band = match self.body.contains("class=\"band\"") {
            true => BAND,
            false => "",
        };
        let top = MARGIN + HEAD + LINE * f64::from(lines);
        let below = top + self.height + 10.0;
        let height = below + LINE * notes.len() as f64 + MARGIN;
        let width = self.width + 2.0 * MARGIN;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" \
             width=\"{width}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n\
             <desc>{}</desc>\n<style>\n{style}{band}</style>\n\
             <path class=\"paper\" d=\"M0 0H{width}V{height:.0}H0z\"/>\n",
            escape(frame.title),
            escape(&self.description),
        );
        let mut line = |line: std::fmt::Arguments| {
            text.write_fmt(line).expect("writes to memory");
            text.push('\n');
        };
        line(format_args!(
            "<text class=\"title\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
            MARGIN + 16.0,
            escape(frame.title)
        ));
        line(format_args!(
            "<g transform=\"translate({MARGIN} {})\">{legend}</g>",
            MARGIN + HEAD
        ));
        line(format_args!(
            "<g transform=\"translate({MARGIN} {top})\">{}</g>",
            self.body
        ));
        for (index, note) in notes.iter().enumerate() {
            line(format_args!(
                "<text class=\"tick\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>",
                below + LINE * index as f64 + 8.0,
                escape(note)
            ));
        }
        text.push_str("</svg>\n");
        xml::document(text)
    }
}

/// Marks and names in lines that fit, and the number of lines.
fn legend(labels: &[Label], key: &[(&str, &str)], width: f64) -> (String, u32) {
    const SQUARE: &str = "m-4-4h8v8h-8z";
    let (mut text, mut lines, mut x) = (String::new(), 0, width);
    let subjects = labels.iter().map(|label| {
        let (class, shape) = (palette::class(label.look), palette::shape(label.look));
        (class, "key", shape, label.name.as_str())
    });
    let others = key
        .iter()
        .map(|(class, name)| (String::new(), *class, SQUARE, *name));
    for (group, class, shape, name) in subjects.chain(others) {
        let room = text_width(name) + 34.0;
        if x + room > width {
            (lines, x) = (lines + 1, 0.0);
        }
        let y = LINE * f64::from(lines - 1);
        write!(
            text,
            "<g class=\"{group}\"><path class=\"{class}\" transform=\"translate({:.1} {:.1})\" \
             d=\"{shape}\"/><text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            x + 5.0,
            y + 6.0,
            x + 14.0,
            y + 10.0,
            escape(name)
        )
        .expect("writes to memory");
        x += room;
    }
    (text, lines)
}

/// Notes in lines that fit.
fn notes(notes: &[String], width: f64) -> Vec<String> {
    let letters = (width / 100.0 * LETTERS) as usize;
    let mut lines = Vec::new();
    for note in notes {
        let mut line = String::new();
        for word in note.split(' ') {
            if !line.is_empty() && line.chars().count() + word.chars().count() >= letters {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
