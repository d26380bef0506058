//! Renders SVG to PNG and PDF.
//!
//! Only the built-in fonts are used, so that a drawing gives the same pixels and the same document
//! on every machine. A character that they lack is an empty box, and is reported by
//! [`Renderer::warning`].

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, FontResolver, fontdb};

use crate::pdf::pdf;

/// Scale of a picture, unless it would be too large.
const SCALE: f32 = 2.0;
/// The most pixels of a picture.
const PIXELS_MAX: f32 = 40e6;
/// Liberation Sans 2.1.5 from Debian's fonts-liberation2 2.1.5-1, in the two weights of charts. It
/// has the metrics of Arial, with Latin, Greek, Cyrillic and the symbols of figures. Its licence,
/// the SIL Open Font License 1.1, is beside the files.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../fonts/LiberationSans-Regular.ttf"),
    include_bytes!("../fonts/LiberationSans-Bold.ttf"),
];
/// The most colours of a palette with indices of one byte.
const COLOURS_MAX: usize = 256;
const FAMILY: &str = "Liberation Sans";
/// The most missing characters that are named.
const NAMED_MAX: usize = 5;

/// A format that a drawing is rendered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawingFormat {
    /// Pixels, at twice the size of the drawing.
    Png,
    /// Vectors, and text with its fonts.
    Pdf,
}

impl DrawingFormat {
    /// The extension of a file of this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

impl fmt::Display for DrawingFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Pdf => "PDF",
        })
    }
}

/// Renders drawings with the built-in fonts.
pub struct Renderer {
    options: usvg::Options<'static>,
    missing: Arc<Mutex<BTreeSet<char>>>,
}

impl Renderer {
    /// A renderer that has reported nothing.
    pub fn with_built_in_fonts() -> Self {
        let mut options = usvg::Options {
            font_family: FAMILY.to_owned(),
            ..usvg::Options::default()
        };
        let fonts = options.fontdb_mut();
        for font in FONTS {
            fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
        }
        // All families map to this one.
        fonts.set_serif_family(FAMILY);
        fonts.set_sans_serif_family(FAMILY);
        fonts.set_monospace_family(FAMILY);
        let missing = Arc::new(Mutex::new(BTreeSet::new()));
        let recorded = Arc::clone(&missing);
        options.font_resolver = FontResolver {
            select_font: FontResolver::default_font_selector(),
            select_fallback: Box::new(move |letter, _, _| {
                let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
                recorded.insert(letter);
                None
            }),
        };
        Self { options, missing }
    }

    /// The picture, or the reason why it cannot be rendered.
    fn png(&self, svg: &str) -> Result<Vec<u8>, String> {
        encode(&self.pixels(svg)?).map_err(|error| error.to_string())
    }

    /// The PDF under `title`, or the reason why it cannot be written.
    fn pdf(&self, svg: &str, title: &str) -> Result<Vec<u8>, String> {
        pdf(&self.tree(svg)?, title)
    }

    /// The drawing in each format, or the reason why it cannot be rendered; `title` is that of the
    /// PDF.
    pub fn formats(&self, svg: &str, title: &str) -> [(DrawingFormat, Result<Vec<u8>, String>); 2] {
        [
            (DrawingFormat::Png, self.png(svg)),
            (DrawingFormat::Pdf, self.pdf(svg, title)),
        ]
    }

    fn tree(&self, svg: &str) -> Result<usvg::Tree, String> {
        usvg::Tree::from_str(svg, &self.options).map_err(|error| error.to_string())
    }

    fn pixels(&self, svg: &str) -> Result<Pixmap, String> {
        let tree = self.tree(svg)?;
        let (width, height) = (tree.size().width(), tree.size().height());
        let scale = (PIXELS_MAX / (width * height)).sqrt().min(SCALE);
        // At most some thousands; the cast saturates.
        let (columns, rows) = (
            (width * scale).ceil() as u32,
            (height * scale).ceil() as u32,
        );
        let mut pixels = Pixmap::new(columns, rows).ok_or("it has no extent")?;
        pixels.fill(Color::WHITE);
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut pixels.as_mut());
        Ok(pixels)
    }

    /// A warning about characters that were rendered as empty boxes by this renderer.
    pub fn warning(&self) -> Option<String> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        // As code points, since they are untrusted and may be control characters.
        let named = missing.iter().take(NAMED_MAX);
        let named: Vec<String> = named.map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        let more = if missing.len() > NAMED_MAX {
            " and others"
        } else {
            ""
        };
        (!named.is_empty()).then(|| {
            let named = named.join(", ");
            format!(
                "the font of PNG and PDF has no {named}{more}: they are empty boxes there, and \
                 correct in the SVG"
            )
        })
    }
}

/// Encodes opaque pixels as a small PNG, since pictures are committed to the repository: without
/// the alpha channel, with a palette if the colours are few, and without a filter, which suits flat
/// areas and text.
fn encode(pixels: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let colours = pixels.pixels().iter();
    let colours = colours.map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
    let palette: BTreeSet<[u8; 3]> = colours.clone().collect();
    let palette: Vec<[u8; 3]> = palette.into_iter().collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixels.width(), pixels.height());
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let content: Vec<u8> = if palette.len() <= COLOURS_MAX {
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.as_flattened().to_vec());
        let indices = colours.filter_map(|colour| palette.binary_search(&colour).ok());
        // The palette has at most 256 entries.
        indices.map(|index| index as u8).collect()
    } else {
        encoder.set_color(png::ColorType::Rgb);
        colours.flatten().collect()
    };
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&content)?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn drawing(style: &str, text: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 90 20\" width=\"90\" \
             height=\"20\"><style>{style}</style><text x=\"4\" y=\"15\">{text}</text></svg>"
        )
    }

    fn ink(pixels: &Pixmap) -> u64 {
        let pixels = pixels.pixels().iter();
        pixels.map(|pixel| u64::from(255 - pixel.green())).sum()
    }

    #[test]
    fn pictures_of_few_and_of_many_colours_decode_to_their_pixels() {
        let renderer = Renderer::with_built_in_fonts();
        let shade = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 300 300\" \
                     width=\"300\" height=\"300\"><linearGradient id=\"g\"><stop \
                     stop-color=\"#f00\"/><stop offset=\".5\" stop-color=\"#0f0\"/><stop \
                     offset=\"1\" stop-color=\"#00f\"/></linearGradient>\
                     <path fill=\"url(#g)\" d=\"M0 0H300V300H0z\"/></svg>";
        for (svg, colour_type) in [(drawing("", "few"), 3), (shade.to_owned(), 2)] {
            let png = renderer.png(&svg).expect("a picture");
            // The colour type in the PNG header.
            assert_eq!(png[25], colour_type);
            let unpacked = Pixmap::decode_png(&png).expect("a PNG");
            assert!(unpacked == renderer.pixels(&svg).expect("pixels"));
        }
    }

    #[test]
    fn a_drawing_becomes_a_picture_of_twice_its_size() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10\" width=\"20\" \
                   height=\"10\"><style>.a { fill: #f00; } @media (prefers-color-scheme: dark) \
                   { .a { fill: #0f0; } }</style><path class=\"a\" d=\"M0 0H20V10H0z\"/></svg>";
        let png = Renderer::with_built_in_fonts().png(svg).expect("a picture");
        let picture = Pixmap::decode_png(&png).expect("a PNG");
        assert_eq!((picture.width(), picture.height()), (40, 20));
        let colour = picture.pixel(5, 5).expect("inside");
        assert_eq!(
            (colour.red(), colour.green()),
            (255, 0),
            "the light colours are drawn"
        );
    }

    /// Fonts came from the machine, so that pictures differed, or were missing without fonts.
    #[test]
    fn every_font_family_is_rendered_in_the_built_in_font() {
        let renderer = Renderer::with_built_in_fonts();
        let pixels = |family: &str| {
            let svg = drawing(&format!("text {{ font-family: {family} }}"), "12.5 ±3 µs");
            renderer.pixels(&svg).expect("a picture")
        };
        let ours = pixels("'Liberation Sans'");
        assert!(ink(&ours) > 10_000, "{} of ink", ink(&ours));
        for family in ["'DejaVu Sans'", "Arial", "serif", "monospace", "cursive"] {
            assert!(pixels(family).data() == ours.data(), "{family}");
        }
        let bold = drawing("text { font-weight: 700 }", "12.5 ±3 µs");
        let bold = renderer.pixels(&bold).expect("a picture");
        assert!(ink(&bold) > ink(&ours) * 11 / 10, "bold is no bolder");
        let other = drawing("", "12.6 ±3 µs");
        let other = renderer.pixels(&other).expect("a picture");
        assert!(other.data() != ours.data(), "the label makes no difference");
    }

    #[test]
    fn the_fonts_have_the_symbols_of_charts_and_european_letters() {
        let text =
            "µ μ × ± − – … · ≈ ≤ ≥ → ← ↑ ↓ ∞ √ Σ λ ● ○ ■ □ ▲ ▼ ÄÖÜß éèçñ řžš łęą Ωβ Жя “” ‘’ €";
        for style in ["", "text { font-weight: 700 }"] {
            let renderer = Renderer::with_built_in_fonts();
            // Only the first missing character of a text is recorded.
            for word in text.split(' ') {
                renderer.png(&drawing(style, word)).expect("a picture");
            }
            assert_eq!(renderer.warning(), None);
        }
    }

    /// Committed pictures must equal their drawings on every machine. `UPDATE_RESULTS=1` rewrites
    /// them from the drawings, without running the studies.
    #[test]
    fn every_drawing_of_the_results_has_its_picture() {
        let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results");
        let renderer = Renderer::with_built_in_fonts();
        let mut count = 0;
        let entries = fs::read_dir(results).expect("the results").flatten();
        for study in entries.filter(|entry| entry.path().is_dir()) {
            for file in fs::read_dir(study.path()).expect("a study").flatten() {
                let drawing = file.path();
                if drawing
                    .extension()
                    .is_none_or(|extension| extension != "svg")
                {
                    continue;
                }
                let svg = fs::read_to_string(&drawing).expect("a drawing");
                // A table has no picture, which would be ten thousand pixels high.
                if drawing.ends_with("table.svg") {
                    continue;
                }
                let picture = drawing.with_extension("png");
                if std::env::var_os("UPDATE_RESULTS").is_some() {
                    let png = renderer.png(&svg).expect("a picture");
                    fs::write(&picture, png).expect("the results can be written");
                }
                // Pixels are compared, since another encoder version may write other bytes.
                let kept = fs::read(&picture).unwrap_or_default();
                let kept = Pixmap::decode_png(&kept);
                let drawn = renderer.pixels(&svg).expect("pixels");
                assert!(
                    kept.is_ok_and(|kept| kept == drawn),
                    "{} is not its drawing: UPDATE_RESULTS=1 cargo test -p fslab-render",
                    picture.display()
                );
                count += 1;
            }
        }
        assert!(count > 20, "{count} drawings");
        assert_eq!(renderer.warning(), None);
    }

    #[test]
    fn missing_glyphs_are_named_by_code_point() {
        let renderer = Renderer::with_built_in_fonts();
        for text in ["漢字", "字", "plain"] {
            let picture = renderer.png(&drawing("", text));
            picture.expect("a picture");
        }
        let warning = renderer.warning().expect("a missing character");
        assert!(warning.contains("has no U+5B57, U+6F22:"), "{warning}");
    }
}
