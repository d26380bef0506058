//! The SVG document of a chart: marks with classes, numbers to a tenth of a pixel, text escaped.

use std::fmt::Write;

use super::WIDTH;
use super::drawing::Drawing;
use super::outline::{Outline, Point, simplified};
use crate::palette;

/// A drawing, [`WIDTH`] wide unless told otherwise.
pub(super) struct Svg {
    width: f64,
    height: f64,
    /// Height of each subject's row, where subjects stand below one another.
    row: Option<f64>,
    body: String,
}

/// How text stands at its point.
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

    /// Says that each subject has a row of that height, in their order, above what [`Self::foot`]
    /// begins: a page that hides subjects closes the gaps.
    pub(super) fn in_rows(mut self, height: f64) -> Self {
        self.row = Some(height);
        self
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.lines(class, &[(from, to)]);
    }

    /// Straight lines of one class; nothing where there is none.
    pub(super) fn lines(&mut self, class: &str, lines: &[(Point, Point)]) {
        let mut outline = Outline::default();
        for (from, to) in lines {
            outline.segment(*from, *to);
        }
        self.outline(class, outline);
    }

    pub(super) fn path(&mut self, class: &str, data: &str) {
        self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
    }

    fn outline(&mut self, class: &str, outline: Outline) {
        let data = outline.finish();
        if !data.is_empty() {
            self.path(class, &data);
        }
    }

    /// A line through `points`, broken nowhere.
    pub(super) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut outline = Outline::default();
        outline.line(points);
        self.outline(class, outline);
    }

    /// Lines without the points that nobody would see.
    pub(super) fn curves(&mut self, class: &str, lines: &[Vec<(f64, f64)>]) {
        let mut outline = Outline::default();
        for points in lines {
            outline.line(&simplified(points));
        }
        self.outline(class, outline);
    }

    pub(super) fn rectangle(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((left, top), (right, bottom)) = (from, to);
        let (left, top, right, bottom) = (at(left), at(top), at(right), at(bottom));
        self.path(class, &format!("M{left} {top}H{right}V{bottom}H{left}z"));
    }

    /// A field that shows its colour where an image, PNG in base64, is bright. The image begins at
    /// the field's left edge, is as high as the field and `width` wide.
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

    /// Text that is cut to `letters`, in full as its tooltip.
    pub(super) fn short_text(
        &mut self,
        class: &str,
        at_point: (f64, f64),
        text: &str,
        letters: usize,
    ) {
        if text.chars().count() <= letters {
            return self.text(class, Anchor::Start, at_point, text);
        }
        let short: String = text.chars().take(letters.saturating_sub(1)).collect();
        self.push(format_args!("<g><title>{}</title>", escape(text)));
        self.text(class, Anchor::Start, at_point, &format!("{short}…"));
        self.close();
    }

    /// Begins what belongs to one subject.
    pub(super) fn open(&mut self, subject: usize) {
        self.push(format_args!("<g class=\"of {}\">", palette::class(subject)));
    }

    /// Begins what stands below the rows of the subjects.
    pub(super) fn foot(&mut self) {
        self.body.push_str("<g class=\"foot\">");
    }

    pub(super) fn close(&mut self) {
        self.body.push_str("</g>");
    }

    /// The drawing, to be shown wherever it is wanted.
    pub(super) fn into_drawing(self, description: &str) -> Drawing {
        Drawing {
            width: self.width,
            height: self.height,
            row: self.row,
            body: self.body,
            description: description.to_owned(),
        }
    }

    fn push(&mut self, text: std::fmt::Arguments) {
        self.body.write_fmt(text).expect("writes to memory");
    }
}

/// About how wide a text is in the size of labels.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.9
}

/// A coordinate to a tenth of a pixel.
pub(super) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Text as it may stand in HTML and SVG, attributes included.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
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
        <svg viewBox="0 0 380 20" role="img" aria-labelledby="x-t x-d">
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
