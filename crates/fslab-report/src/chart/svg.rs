//! SVG output of a chart: marks with classes, numbers to a tenth of a pixel, escaped text.

use std::fmt::Write;

use super::WIDTH;
use super::drawing::Drawing;
use super::numbers::at;
use super::outline::{Outline, Point};
use crate::palette;
use crate::xml::escape;

/// A drawing, by default [`WIDTH`] wide.
pub(super) struct Svg {
    width: f64,
    height: f64,
    /// Height of each subject's row, if subjects have rows.
    row: Option<f64>,
    body: String,
}

/// Alignment of text at its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(height: f64) -> Self {
        Self::with_width(WIDTH, height)
    }

    pub(super) fn with_width(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            row: None,
            body: String::new(),
        }
    }

    /// Declares that each subject has a row of that height, in order, above the [`Self::foot`]: a
    /// page that hides subjects removes their rows.
    pub(super) fn in_rows(mut self, height: f64) -> Self {
        self.row = Some(height);
        self
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.lines(class, &[(from, to)]);
    }

    /// Straight lines of one class; nothing if empty.
    pub(super) fn lines(&mut self, class: &str, lines: &[(Point, Point)]) {
        let mut outline = Outline::default();
        for (from, to) in lines {
            outline.segment(*from, *to);
        }
        self.outline(class, outline);
    }

    /// The lines at the ticks of the axis `name`, from the first to the second place of `ends`.
    pub(super) fn grid(&mut self, name: &str, ends: (f64, f64), lines: &[(Point, Point)]) {
        let mut outline = Outline::default();
        for (from, to) in lines {
            outline.segment(*from, *to);
        }
        let (from, to) = (at(ends.0), at(ends.1));
        self.push(format_args!(
            "<path class=\"grid {name}\" data-ends=\"{from} {to}\" d=\"{}\"/>",
            outline.finish()
        ));
    }

    pub(super) fn path(&mut self, class: &str, data: &str) {
        self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
    }

    /// A surface inside the line through points.
    pub(super) fn surface(&mut self, class: &str, points: &[Point]) {
        let mut outline = Outline::default();
        outline.line(points);
        self.outline(class, outline);
    }

    fn outline(&mut self, class: &str, outline: Outline) {
        let data = outline.finish();
        if !data.is_empty() {
            self.path(class, &data);
        }
    }

    pub(super) fn rectangle(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.rectangles(class, &[(from, to)]);
    }

    /// Rectangles of one class; nothing if empty.
    pub(super) fn rectangles(&mut self, class: &str, rectangles: &[(Point, Point)]) {
        let mut outline = Outline::default();
        for (from, to) in rectangles {
            outline.rectangle(*from, *to);
        }
        self.outline(class, outline);
    }

    /// A field masked by an image, PNG in base64: its colour shows where the image is bright. The
    /// image begins at the field's left edge, is as high as the field and `width` wide.
    pub(super) fn stencil(
        &mut self,
        id: &str,
        class: &str,
        [from, to]: [(f64, f64); 2],
        (width, image): (f64, &str),
    ) {
        self.push(format_args!(
            "<mask id=\"{id}\"><image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
             preserveAspectRatio=\"none\" href=\"data:image/png;base64,{image}\"/></mask>\
             <g mask=\"url(#{id})\">",
            at(from.0),
            at(from.1),
            at(width),
            at(to.1 - from.1),
        ));
        self.rectangle(class, from, to);
        self.close();
    }

    /// The subject's mark at a point.
    pub(super) fn mark(&mut self, class: &str, subject: usize, point: (f64, f64)) {
        self.marks(class, subject, &[point]);
    }

    /// The subject's mark at each of the points.
    pub(super) fn marks(&mut self, class: &str, subject: usize, points: &[(f64, f64)]) {
        let mut outline = Outline::default();
        for point in points {
            outline.shape(*point, palette::shape(subject));
        }
        self.outline(class, outline);
    }

    pub(super) fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>{}</text>",
            at(x),
            at(y),
            escape(text)
        ));
    }

    /// Begins a subject's group.
    pub(super) fn open(&mut self, subject: usize) {
        let class = palette::class(subject);
        self.push(format_args!("<g class=\"of {class}\">"));
    }

    /// Begins a group with a subject's colour that the page neither fades nor hides.
    pub(super) fn open_coloured(&mut self, look: usize) {
        let class = palette::class(look);
        self.push(format_args!("<g class=\"{class}\">"));
    }

    /// Begins what is below the rows of the subjects.
    pub(super) fn foot(&mut self) {
        self.body.push_str("<g class=\"foot\">");
    }

    /// Ends the innermost group.
    pub(super) fn close(&mut self) {
        self.body.push_str("</g>");
    }

    /// The finished drawing.
    pub(super) fn into_drawing(self, description: &str) -> Drawing {
        Drawing {
            width: self.width,
            height: self.height,
            row: self.row,
            body: self.body,
            description: description.to_owned(),
        }
    }

    pub(super) fn push(&mut self, text: std::fmt::Arguments) {
        self.body.write_fmt(text).expect("writes to memory");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_is_titled_described_and_escaped() {
        let mut svg = Svg::new(20.0);
        svg.open(1);
        svg.line("grid", (0.0, 1.25), (10.04, -0.01));
        svg.text("tick", Anchor::End, (5.0, 5.0), "<&>");
        svg.close();
        let names = super::super::Names {
            id: "x",
            title: "a \"b\"",
        };
        let lines = svg.into_drawing("d").on_page(&names).replace("><", ">\n<");
        insta::assert_snapshot!(lines, @r#"
        <svg viewBox="0 0 340 20" role="img" aria-labelledby="x-t x-d">
        <title id="x-t">a &quot;b&quot;</title>
        <desc id="x-d">d</desc>
        <g class="of s1">
        <path class="grid" d="M0 1.3l10-1.3"/>
        <text class="tick" x="5" y="5" text-anchor="end">&lt;&amp;&gt;</text>
        </g>
        </svg>
        "#);
    }
}
