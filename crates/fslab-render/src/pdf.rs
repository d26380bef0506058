//! Writes a drawing as PDF: one page of the drawing's size, with its lines as vectors and its text
//! in the embedded fonts.
//!
//! There is no date and nothing of the machine in it, so a drawing gives the same bytes everywhere.
//! What no chart has (gradients, patterns, filters, clip paths) is an error and never left out.

use std::collections::BTreeMap;

use krilla::blend::BlendMode;
use krilla::color::rgb;
use krilla::configure::{ConfigurationBuilder, PdfVersion};
use krilla::geom::{Path, PathBuilder, Point, Size, Transform};
use krilla::image::Image;
use krilla::mask::{Mask, MaskType};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, LineCap, LineJoin, Stroke, StrokeDash};
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use krilla::{Document, SerializeSettings};
use resvg::tiny_skia::{PathSegment, Pixmap};
use resvg::usvg::layout::{PositionedGlyph, Span};
use resvg::usvg::{self, ImageKind, Node, Opacity, PaintOrder, Tree, fontdb};

/// Points of PDF in a pixel of CSS.
const POINTS: f32 = 0.75;

/// The document under `title`, or the reason why it cannot be written.
pub(crate) fn pdf(tree: &Tree, title: &str) -> Result<Vec<u8>, String> {
    if let Some(what) = unsupported(tree) {
        return Err(format!("it has {what}"));
    }
    let configuration = ConfigurationBuilder::new()
        .with_version(PdfVersion::Pdf14)
        .finish()
        .map_err(|error| format!("{error:?}"))?;
    let mut document = Document::new_with(SerializeSettings {
        xmp_metadata: false,
        enable_tagging: false,
        configuration,
        ..SerializeSettings::default()
    });
    document.set_metadata(Metadata::new().title(title.to_owned()));
    let (width, height) = (tree.size().width(), tree.size().height());
    let settings = PageSettings::from_wh(width * POINTS, height * POINTS);
    let mut page = document.start_page_with(settings.ok_or("it has no extent")?);
    let mut surface = page.surface();
    surface.push_transform(&Transform::from_scale(POINTS, POINTS));
    let mut writer = Writer {
        fontdb: tree.fontdb(),
        fonts: BTreeMap::new(),
    };
    writer.group(&mut surface, tree.root());
    surface.pop();
    surface.finish();
    page.finish();
    document.finish().map_err(|error| format!("{error:?}"))
}

/// What the drawing has that is not written.
fn unsupported(tree: &Tree) -> Option<&'static str> {
    let has = [
        (!tree.linear_gradients().is_empty(), "a linear gradient"),
        (!tree.radial_gradients().is_empty(), "a radial gradient"),
        (!tree.patterns().is_empty(), "a pattern"),
        (!tree.filters().is_empty(), "a filter"),
        (!tree.clip_paths().is_empty(), "a clip path"),
        (!is_readable(tree.root()), "an image that is no PNG"),
    ];
    has.into_iter().find_map(|(has, what)| has.then_some(what))
}

/// Whether all images are PNG, those of masks included.
fn is_readable(group: &usvg::Group) -> bool {
    let in_mask = group.mask().is_none_or(|mask| is_readable(mask.root()));
    in_mask
        && group.children().iter().all(|node| match node {
            Node::Group(group) => is_readable(group),
            Node::Image(image) => pixels(image).is_some(),
            Node::Path(_) | Node::Text(_) => true,
        })
}

fn pixels(image: &usvg::Image) -> Option<Pixmap> {
    match image.kind() {
        ImageKind::PNG(data) => Pixmap::decode_png(data).ok(),
        _ => None,
    }
}

/// Draws a tree, with the fonts that it needs.
struct Writer<'a> {
    fontdb: &'a fontdb::Database,
    fonts: BTreeMap<fontdb::ID, Option<Font>>,
}

impl Writer<'_> {
    fn group(&mut self, surface: &mut Surface, group: &usvg::Group) {
        let mut pushed = 1;
        surface.push_transform(&transform(group.transform()));
        if let Some(mask) = group.mask() {
            let mut stream = surface.stream_builder();
            let mut shape = stream.surface();
            self.group(&mut shape, mask.root());
            shape.finish();
            let kind = match mask.kind() {
                usvg::MaskType::Luminance => MaskType::Luminosity,
                usvg::MaskType::Alpha => MaskType::Alpha,
            };
            let mask = Mask::new(stream.finish(), kind);
            surface.push_mask(mask);
            pushed += 1;
        }
        if group.opacity() != Opacity::ONE {
            surface.push_blend_mode(BlendMode::Normal);
            surface.push_opacity(share(group.opacity()));
            surface.push_isolated();
            pushed += 3;
        }
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(surface, group),
                Node::Path(path) => draw_path(surface, path),
                Node::Image(image) => draw_image(surface, image),
                Node::Text(text) => self.text(surface, text),
            }
        }
        for _ in 0..pushed {
            surface.pop();
        }
    }

    fn text(&mut self, surface: &mut Surface, text: &usvg::Text) {
        for span in text.layouted().iter().filter(|span| span.visible) {
            for line in [&span.overline, &span.underline].into_iter().flatten() {
                draw_path(surface, line);
            }
            let glyphs = &span.positioned_glyphs;
            for run in glyphs.chunk_by(continues) {
                self.run(surface, span, run);
            }
            if let Some(line) = &span.line_through {
                draw_path(surface, line);
            }
        }
    }

    /// Glyphs of one font on one line, as one text that can be searched and copied.
    fn run(&mut self, surface: &mut Surface, span: &Span, run: &[PositionedGlyph]) {
        let Some(font) = self.font(run[0].font) else {
            return;
        };
        let size = span.font_size.get();
        // A glyph's transform scales from the units of the font, which krilla does by the size.
        let units = font.units_per_em() / size;
        let place = run[0].transform().pre_scale(units, units);
        let (mut text, mut glyphs) = (String::new(), Vec::new());
        for (index, glyph) in run.iter().enumerate() {
            let next = run.get(index + 1).map(|next| next.transform().tx);
            let step = next.map_or(0.0, |next| next - glyph.transform().tx);
            let from = text.len();
            text.push_str(&glyph.text);
            glyphs.push(KrillaGlyph::new(
                GlyphId::new(glyph.id.0),
                step / (place.sx * size),
                0.0,
                0.0,
                0.0,
                from..text.len(),
                None,
            ));
        }
        surface.push_transform(&transform(place));
        surface.set_fill(span.fill.as_ref().and_then(fill));
        surface.set_stroke(span.stroke.as_ref().and_then(stroke));
        if span.fill.is_some() || span.stroke.is_some() {
            let start = Point::from_xy(0.0, 0.0);
            surface.draw_glyphs(start, &glyphs, font, &text, size, false);
        }
        surface.pop();
    }

    fn font(&mut self, id: fontdb::ID) -> Option<Font> {
        let read = || {
            let read = |data: &[u8], index| Font::new(data.to_vec().into(), index);
            self.fontdb.with_face_data(id, read).flatten()
        };
        self.fonts.entry(id).or_insert_with(read).clone()
    }
}

/// Whether a glyph stands on the line of the one before it, in its font.
fn continues(before: &PositionedGlyph, glyph: &PositionedGlyph) -> bool {
    let (a, b) = (before.transform(), glyph.transform());
    let is_level = a.ky == 0.0 && a.kx == 0.0 && a.ty == b.ty;
    before.font == glyph.font && is_level && (a.sx, a.ky, a.kx, a.sy) == (b.sx, b.ky, b.kx, b.sy)
}

fn draw_path(surface: &mut Surface, path: &usvg::Path) {
    let Some(outline) = outline(path).filter(|_| path.is_visible()) else {
        return;
    };
    let (fill, stroke) = (path.fill().and_then(fill), path.stroke().and_then(stroke));
    let layers = match path.paint_order() {
        PaintOrder::FillAndStroke => [(fill, stroke), (None, None)],
        PaintOrder::StrokeAndFill => [(None, stroke), (fill, None)],
    };
    for (fill, stroke) in layers {
        // Without both, black would be filled.
        if fill.is_some() || stroke.is_some() {
            surface.set_fill(fill);
            surface.set_stroke(stroke);
            surface.draw_path(&outline);
        }
    }
}

fn draw_image(surface: &mut Surface, image: &usvg::Image) {
    let size = Size::from_wh(image.size().width(), image.size().height());
    if let Some((pixels, size)) = pixels(image).zip(size).filter(|_| image.is_visible()) {
        let (width, height) = (pixels.width(), pixels.height());
        let drawn = Image::from_rgba8(pixels.take(), width, height);
        surface.draw_image(drawn, size);
    }
}

fn outline(path: &usvg::Path) -> Option<Path> {
    let mut outline = PathBuilder::new();
    for segment in path.data().segments() {
        match segment {
            PathSegment::MoveTo(to) => outline.move_to(to.x, to.y),
            PathSegment::LineTo(to) => outline.line_to(to.x, to.y),
            PathSegment::QuadTo(a, to) => outline.quad_to(a.x, a.y, to.x, to.y),
            PathSegment::CubicTo(a, b, to) => outline.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y),
            PathSegment::Close => outline.close(),
        }
    }
    outline.finish()
}

fn transform(of: usvg::Transform) -> Transform {
    Transform::from_row(of.sx, of.ky, of.kx, of.sy, of.tx, of.ty)
}

fn share(opacity: Opacity) -> NormalizedF32 {
    NormalizedF32::new(opacity.get()).unwrap_or(NormalizedF32::ONE)
}

/// The colour; `None` for what [`unsupported`] refuses.
fn colour(paint: &usvg::Paint) -> Option<rgb::Color> {
    match paint {
        usvg::Paint::Color(colour) => Some(rgb::Color::new(colour.red, colour.green, colour.blue)),
        _ => None,
    }
}

fn fill(of: &usvg::Fill) -> Option<Fill> {
    Some(Fill {
        paint: colour(of.paint())?.into(),
        opacity: share(of.opacity()),
        rule: match of.rule() {
            usvg::FillRule::NonZero => FillRule::NonZero,
            usvg::FillRule::EvenOdd => FillRule::EvenOdd,
        },
    })
}

fn stroke(of: &usvg::Stroke) -> Option<Stroke> {
    Some(Stroke {
        paint: colour(of.paint())?.into(),
        width: of.width().get(),
        miter_limit: of.miterlimit().get(),
        line_cap: match of.linecap() {
            usvg::LineCap::Butt => LineCap::Butt,
            usvg::LineCap::Round => LineCap::Round,
            usvg::LineCap::Square => LineCap::Square,
        },
        line_join: match of.linejoin() {
            usvg::LineJoin::Miter | usvg::LineJoin::MiterClip => LineJoin::Miter,
            usvg::LineJoin::Round => LineJoin::Round,
            usvg::LineJoin::Bevel => LineJoin::Bevel,
        },
        opacity: share(of.opacity()),
        dash: of.dasharray().map(|dash| StrokeDash {
            array: dash.to_vec(),
            offset: of.dashoffset(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use crate::renderer::{DrawingFormat, Renderer};

    /// A drawing with all that charts have: a style, an opacity, dashes, a mask of an image.
    fn drawing() -> String {
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR4nGNg\
                     +A8AAQIBAEK+vGgAAAAASUVORK5CYII=";
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 120 80\" width=\"120\" \
             height=\"80\"><style>.a {{ opacity: .5; stroke-dasharray: 4 3; stroke: #00f; }} \
             .b {{ font-weight: 700; }}</style><path class=\"a\" d=\"M0 0L90 20\"/>\
             <mask id=\"m\"><image x=\"0\" y=\"0\" width=\"10\" height=\"10\" \
             preserveAspectRatio=\"none\" href=\"data:image/png;base64,{image}\"/></mask>\
             <g mask=\"url(#m)\"><path d=\"M0 0H10V10H0z\"/></g>\
             <text x=\"4\" y=\"40\">write ±3 µs</text>\
             <text class=\"b\" x=\"4\" y=\"60\" text-anchor=\"start\">bold</text></svg>"
        )
    }

    fn pdf(svg: &str) -> Result<Vec<u8>, String> {
        let formats = Renderer::with_built_in_fonts().formats(svg, "A title (of a chart)");
        let found = formats
            .into_iter()
            .find(|(format, _)| *format == DrawingFormat::Pdf);
        found.expect("a format").1
    }

    #[test]
    fn a_document_has_the_size_of_its_drawing_its_fonts_and_nothing_of_the_machine() {
        let document = pdf(&drawing()).expect("a document");
        let text = String::from_utf8_lossy(&document);
        assert!(text.starts_with("%PDF-1.4"), "{text}");
        assert!(text.trim_end().ends_with("%%EOF"));
        // 120 and 80 pixels of 96 to the inch.
        assert!(text.contains("/MediaBox[0 0 90 60]"), "{text}");
        for font in ["+LiberationSans/", "+LiberationSans-Bold/"] {
            assert!(text.contains(font), "{font}: {text}");
        }
        assert_eq!(text.matches("/FontFile2").count(), 2, "{text}");
        assert!(text.contains("/ToUnicode"), "text can be searched");
        for date in ["/CreationDate", "/ModDate", "/Producer", "/Metadata"] {
            assert!(!text.contains(date), "{date}");
        }
        assert!(pdf(&drawing()) == Ok(document), "the bytes differ");
    }

    #[test]
    fn lines_are_vectors_and_only_a_mask_is_an_image() {
        let images = |svg: &str| {
            let document = pdf(svg).expect("a document");
            let text = String::from_utf8_lossy(&document).into_owned();
            text.matches("/Subtype/Image").count()
        };
        assert_eq!(images(&drawing()), 1);
        let without = drawing().replace("mask=\"url(#m)\"", "");
        assert_eq!(images(&without), 0);
    }

    #[test]
    fn what_is_not_written_is_refused_by_name() {
        let shaded = drawing().replace(
            "<style>",
            "<linearGradient id=\"g\"><stop stop-color=\"#f00\"/><stop offset=\"1\" \
             stop-color=\"#00f\"/></linearGradient><path fill=\"url(#g)\" \
             d=\"M0 0H9V9H0z\"/><style>",
        );
        assert_eq!(pdf(&shaded), Err("it has a linear gradient".to_owned()));
    }
}
