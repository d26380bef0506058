//! The curves of a disk as one self-contained SVG file, in light and dark, which needs no network.

use std::fmt::Write;

use fslab_disk::Profile;
use fslab_disk::bench::{Bench, Curve, SheetFigure};
use fslab_report::escape;

use super::disk;
use super::disk_axis::Scale;

/// Width and height of a panel in pixels.
const PANEL: (f64, f64) = (480.0, 330.0);
const GAP: f64 = 28.0;
const MARGIN: f64 = 36.0;
const PANELS_PER_ROW: usize = 2;
/// The drawing area inside a panel.
const LEFT: f64 = 74.0;
const RIGHT: f64 = PANEL.0 - 14.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = PANEL.1 - 46.0;
/// Height of the title.
const HEAD: f64 = 64.0;
/// Height of a row of the data sheet, which is below the panels.
const SHEET_ROW: f64 = 19.0;

/// The marker of each line, in a box of ten by ten around the origin, so that lines differ without
/// colours, too.
const SHAPES: [&str; 4] = [
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    "M-3-3h6v6h-6z",
    "M0-4L4 0L0 4L-4 0z",
    "M0-3.9L3.9 3.1h-7.8z",
];

/// The palette of reports, for light and dark backgrounds.
const STYLE: &str = "\
svg{color-scheme:light dark;background:light-dark(#fffefb,#1b1e22);\
font-family:Inter,'Helvetica Neue','Segoe UI',Roboto,Arial,'Liberation Sans',sans-serif}\
text{font-size:11px;fill:light-dark(#635e55,#a5a198);font-variant-numeric:tabular-nums}\
text.head{font-size:21px;font-weight:600;fill:light-dark(#1e1c19,#e9e6df)}\
text.title{font-size:13.5px;font-weight:600;fill:light-dark(#1e1c19,#e9e6df)}\
text.name,text.value{font-size:11.5px;fill:light-dark(#1e1c19,#e9e6df)}\
text.bad{font-weight:600;fill:light-dark(#a8280f,#ff8f75)}\
.grid{stroke:light-dark(#e4dfd4,#33363b);stroke-width:1;fill:none}\
.edge{stroke:light-dark(#8d877b,#77736a);stroke-width:1;fill:none}\
.course{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}\
.mark{fill:var(--c);stroke:light-dark(#fffefb,#1b1e22);stroke-width:.8}\
.l0{--c:light-dark(#0b6aa8,#62b4ee)}.l1{--c:light-dark(#c24a06,#f58b54)}\
.l2{--c:light-dark(#067a5b,#3fc79e)}.l3{--c:light-dark(#a03f7d,#e79bc9)}";

/// The drawing of all curves, with the data sheet below.
pub(super) fn draw(profile: &Profile, bench: &Bench) -> String {
    let rows = bench.curves.len().div_ceil(PANELS_PER_ROW);
    let columns = PANELS_PER_ROW as f64;
    let width = 2.0 * MARGIN + columns * PANEL.0 + (columns - 1.0) * GAP;
    let sheet_top = MARGIN + HEAD + rows as f64 * (PANEL.1 + GAP);
    let sheet_rows = bench.data_sheet.len() as f64 + 2.0;
    let height = sheet_top + sheet_rows * SHEET_ROW + MARGIN;
    let mut body = String::new();
    // Writing to a string does not fail.
    let _ = head(&mut body, profile, bench);
    for (index, curve) in bench.curves.iter().enumerate() {
        let (row, column) = (index / PANELS_PER_ROW, index % PANELS_PER_ROW);
        let x = MARGIN + column as f64 * (PANEL.0 + GAP);
        let y = MARGIN + HEAD + row as f64 * (PANEL.1 + GAP);
        let _ = write!(body, "<g transform=\"translate({x} {y})\">");
        let _ = panel(&mut body, curve);
        body.push_str("</g>\n");
    }
    let _ = sheet(&mut body, &bench.data_sheet, sheet_top);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n\
         <style>{STYLE}</style>\n{body}</svg>\n",
        escape(&format!("Curves of the disk {}", profile.name))
    )
}

fn head(body: &mut String, profile: &Profile, bench: &Bench) -> std::fmt::Result {
    let (x, y) = (MARGIN, MARGIN + 18.0);
    text(body, "head", "start", (x, y), &profile.title)?;
    let line = format!(
        "{} · {} · model {} · seed {} · virtual time, the same on every machine",
        profile.name,
        disk::size(profile.capacity()),
        bench.digest,
        bench.seed
    );
    text(body, "", "start", (x, y + 21.0), &line)
}

fn panel(body: &mut String, curve: &Curve) -> std::fmt::Result {
    let (x, y) = (Scale::of_x(curve), Scale::of_y(curve));
    write!(body, "<desc>{}</desc>", escape(&curve.about))?;
    text(body, "title", "start", (0.0, 13.0), curve.title)?;
    legend(body, curve)?;
    for (value, label) in y.ticks(5) {
        let at = BOTTOM - y.at(value) * (BOTTOM - TOP);
        path(body, "grid", &[(LEFT, at), (RIGHT, at)])?;
        text(body, "", "end", (LEFT - 7.0, at + 3.8), &label)?;
    }
    let mut free_from = f64::NEG_INFINITY;
    for (value, label) in x.ticks(7) {
        let at = LEFT + x.at(value) * (RIGHT - LEFT);
        path(body, "grid", &[(at, TOP), (at, BOTTOM)])?;
        let half = 3.1 * label.chars().count() as f64;
        if at - half > free_from {
            text(body, "", "middle", (at, BOTTOM + 15.0), &label)?;
            free_from = at + half + 4.0;
        }
    }
    path(body, "edge", &[(LEFT, BOTTOM), (RIGHT, BOTTOM)])?;
    text(body, "", "end", (RIGHT, BOTTOM + 33.0), curve.x.title)?;
    for (index, line) in curve.lines.iter().enumerate() {
        let positions: Vec<_> = line
            .points
            .iter()
            .map(|point| {
                let across = LEFT + x.at(point.x) * (RIGHT - LEFT);
                (across, BOTTOM - y.at(point.y) * (BOTTOM - TOP))
            })
            .collect();
        write!(body, "<g class=\"l{}\">", index % SHAPES.len())?;
        path(body, "course", &positions)?;
        // At most about 34 marks, since touching ones would hide the line.
        let step = positions.len().div_ceil(34).max(1);
        for position in positions.iter().step_by(step) {
            mark(body, index, *position)?;
        }
        body.push_str("</g>");
    }
    Ok(())
}

fn legend(body: &mut String, curve: &Curve) -> std::fmt::Result {
    let mut x = 4.0;
    for (index, line) in curve.lines.iter().enumerate() {
        write!(body, "<g class=\"l{}\">", index % SHAPES.len())?;
        mark(body, index, (x, 30.0))?;
        body.push_str("</g>");
        text(body, "name", "start", (x + 8.0, 34.0), line.name)?;
        x += 26.0 + 6.3 * line.name.chars().count() as f64;
    }
    Ok(())
}

/// The figures of the data sheet and of the model.
fn sheet(body: &mut String, figures: &[SheetFigure], top: f64) -> std::fmt::Result {
    let columns = [MARGIN, MARGIN + 380.0, MARGIN + 500.0, MARGIN + 600.0];
    text(
        body,
        "title",
        "start",
        (MARGIN, top + 12.0),
        "The data sheet and the model",
    )?;
    for (column, title) in columns
        .into_iter()
        .skip(1)
        .zip(["data sheet", "model", "difference"])
    {
        text(body, "", "end", (column, top + 12.0), title)?;
    }
    for (index, figure) in figures.iter().enumerate() {
        let y = top + 12.0 + (index + 1) as f64 * SHEET_ROW;
        text(body, "name", "start", (columns[0], y), &figure.about)?;
        text(
            body,
            "value",
            "end",
            (columns[1], y),
            &figure.sheet.to_string(),
        )?;
        text(
            body,
            "value",
            "end",
            (columns[2], y),
            &figure.model.to_string(),
        )?;
        let class = if figure.difference.abs() > super::disk_test::TOLERANCE {
            "bad"
        } else {
            "value"
        };
        let difference = format!("{:+.1} %", figure.difference * 100.0);
        text(body, class, "end", (columns[3], y), &difference)?;
    }
    Ok(())
}

fn mark(body: &mut String, line: usize, (x, y): (f64, f64)) -> std::fmt::Result {
    let shape = SHAPES[line % SHAPES.len()];
    write!(
        body,
        "<path class=\"mark\" transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\"/>"
    )
}

fn path(body: &mut String, class: &str, points: &[(f64, f64)]) -> std::fmt::Result {
    write!(body, "<path class=\"{class}\" d=\"")?;
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        write!(body, "{command}{x:.1} {y:.1}")?;
    }
    body.write_str("\"/>")
}

fn text(
    body: &mut String,
    class: &str,
    anchor: &str,
    (x, y): (f64, f64),
    words: &str,
) -> std::fmt::Result {
    let words = escape(words);
    write!(
        body,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_profile_is_escaped() {
        let mut body = String::new();
        text(&mut body, "head", "start", (1.0, 2.0), "<script>\"&").expect("written");
        assert_eq!(
            body,
            "<text class=\"head\" x=\"1.0\" y=\"2.0\" text-anchor=\"start\">\
             &lt;script&gt;&quot;&amp;</text>"
        );
    }
}
