//! Drawings as pixels: SVG to PNG.
//!
//! The fonts are compiled in and no other is ever looked for, so that one drawing is one picture,
//! to the byte, whatever the machine has installed. A letter that they lack is an empty box, and
//! is reported by [`Rasteriser::lacking`].

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, FontResolver, fontdb};

/// Pixels of a picture for each of the drawing's, where it is not too large.
const SCALE: f32 = 2.0;
/// The most pixels of a picture.
const PIXELS_MAX: f32 = 40e6;
/// Liberation Sans 2.1.5, as Debian's fonts-liberation2 2.1.5-1 has it, in the two weights of
/// charts. It is as wide as Arial and has Latin, Greek, Cyrillic and the signs of figures. Under
/// the SIL Open Font License 1.1, which stands beside the files.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../../fonts/LiberationSans-Regular.ttf"),
    include_bytes!("../../fonts/LiberationSans-Bold.ttf"),
];
/// The most colours of a palette whose entries are one byte.
const COLOURS_MAX: usize = 256;
const FAMILY: &str = "Liberation Sans";
/// How many of the letters that the fonts lack are named.
const NAMED_MAX: usize = 5;

/// Turns drawings into pictures.
pub(super) struct Rasteriser {
    options: usvg::Options<'static>,
    lacking: Arc<Mutex<BTreeSet<char>>>,
}

impl Rasteriser {
    pub(super) fn new() -> Self {
        let mut options = usvg::Options {
            font_family: FAMILY.to_owned(),
            ..usvg::Options::default()
        };
        let fonts = options.fontdb_mut();
        for font in FONTS {
            fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
        }
        // Whatever family a drawing asks for, there is this one.
        fonts.set_serif_family(FAMILY);
        fonts.set_sans_serif_family(FAMILY);
        fonts.set_monospace_family(FAMILY);
        let lacking = Arc::new(Mutex::new(BTreeSet::new()));
        let noted = Arc::clone(&lacking);
        options.font_resolver = FontResolver {
            select_font: FontResolver::default_font_selector(),
            select_fallback: Box::new(move |letter, _, _| {
                let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                noted.insert(letter);
                None
            }),
        };
        Self { options, lacking }
    }

    /// The picture, or why there is none.
    pub(super) fn png(&self, svg: &str) -> Result<Vec<u8>, String> {
        encode(&self.pixels(svg)?).map_err(|error| error.to_string())
    }

    fn pixels(&self, svg: &str) -> Result<Pixmap, String> {
        let tree = usvg::Tree::from_str(svg, &self.options).map_err(|error| error.to_string())?;
        let (width, height) = (tree.size().width(), tree.size().height());
        let scale = (PIXELS_MAX / (width * height)).sqrt().min(SCALE);
        // Pixels are some thousands; a cast saturates.
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

    /// What is to be said of letters that the pictures since [`Self::new`] show as empty boxes.
    pub(super) fn lacking(&self) -> Option<String> {
        let lacking = self.lacking.lock().unwrap_or_else(PoisonError::into_inner);
        // By number: the letters themselves come from others, and may be control characters.
        let named = lacking.iter().take(NAMED_MAX);
        let named: Vec<String> = named.map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        let more = if lacking.len() > NAMED_MAX {
            " and others"
        } else {
            ""
        };
        (!named.is_empty()).then(|| {
            let named = named.join(", ");
            format!(
                "the font of PNG pictures has no {named}{more}: empty boxes there, letters in the SVG"
            )
        })
    }
}

/// Opaque pixels as PNG, as small as it gets without a loss, because pictures are kept beside the
/// figures that they show: without the channel that is the same everywhere, and a byte for each
/// pixel where the colours are few. Flat areas and letters pack best without a filter.
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
        let places = colours.filter_map(|colour| palette.binary_search(&colour).ok());
        // There are no more than a byte counts.
        places.map(|place| place as u8).collect()
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
    fn a_picture_of_few_colours_and_one_of_many_are_unpacked_as_they_were_drawn() {
        let rasteriser = Rasteriser::new();
        let shade = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 300 300\" \
                     width=\"300\" height=\"300\"><linearGradient id=\"g\"><stop \
                     stop-color=\"#f00\"/><stop offset=\".5\" stop-color=\"#0f0\"/><stop \
                     offset=\"1\" stop-color=\"#00f\"/></linearGradient>\
                     <path fill=\"url(#g)\" d=\"M0 0H300V300H0z\"/></svg>";
        for (svg, colour_type) in [(drawing("", "few"), 3), (shade.to_owned(), 2)] {
            let png = rasteriser.png(&svg).expect("a picture");
            // The byte of the header in which PNG names its kind of colours.
            assert_eq!(png[25], colour_type);
            let unpacked = Pixmap::decode_png(&png).expect("a PNG");
            assert!(unpacked == rasteriser.pixels(&svg).expect("pixels"));
        }
    }

    #[test]
    fn a_drawing_becomes_a_picture_of_twice_its_size() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10\" width=\"20\" \
                   height=\"10\"><style>.a { fill: #f00; } @media (prefers-color-scheme: dark) \
                   { .a { fill: #0f0; } }</style><path class=\"a\" d=\"M0 0H20V10H0z\"/></svg>";
        let png = Rasteriser::new().png(svg).expect("a picture");
        let picture = Pixmap::decode_png(&png).expect("a PNG");
        assert_eq!((picture.width(), picture.height()), (40, 20));
        let colour = picture.pixel(5, 5).expect("inside");
        assert_eq!(
            (colour.red(), colour.green()),
            (255, 0),
            "the light colours are drawn"
        );
    }

    /// A machine without fonts had no pictures, and every other had pictures in its own font: the
    /// family that a drawing asks for came from the machine.
    #[test]
    fn whatever_family_a_drawing_asks_for_its_letters_are_those_that_are_compiled_in() {
        let rasteriser = Rasteriser::new();
        let pixels = |family: &str| {
            let svg = drawing(&format!("text {{ font-family: {family} }}"), "12.5 ±3 µs");
            rasteriser.pixels(&svg).expect("a picture")
        };
        let ours = pixels("'Liberation Sans'");
        assert!(ink(&ours) > 10_000, "{} of ink", ink(&ours));
        for family in ["'DejaVu Sans'", "Arial", "serif", "monospace", "cursive"] {
            assert!(pixels(family).data() == ours.data(), "{family}");
        }
        let bold = drawing("text { font-weight: 700 }", "12.5 ±3 µs");
        let bold = rasteriser.pixels(&bold).expect("a picture");
        assert!(ink(&bold) > ink(&ours) * 11 / 10, "bold is no bolder");
        let other = drawing("", "12.6 ±3 µs");
        let other = rasteriser.pixels(&other).expect("a picture");
        assert!(other.data() != ours.data(), "the label makes no difference");
    }

    #[test]
    fn the_signs_of_charts_and_names_of_european_languages_are_in_the_fonts() {
        let text =
            "µ μ × ± − – … · ≈ ≤ ≥ → ← ↑ ↓ ∞ √ Σ λ ● ○ ■ □ ▲ ▼ ÄÖÜß éèçñ řžš łęą Ωβ Жя “” ‘’ €";
        for style in ["", "text { font-weight: 700 }"] {
            let rasteriser = Rasteriser::new();
            // Of a text, the first letter that is not there is noted.
            for word in text.split(' ') {
                rasteriser.png(&drawing(style, word)).expect("a picture");
            }
            assert_eq!(rasteriser.lacking(), None);
        }
    }

    /// Pictures were left out of the results, since each machine drew others. `UPDATE_RESULTS=1`
    /// writes them anew from the drawings, without the studies.
    #[test]
    fn every_drawing_of_the_results_has_the_picture_that_this_machine_draws() {
        let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results");
        let rasteriser = Rasteriser::new();
        let mut count = 0;
        for study in fs::read_dir(results).expect("the results").flatten() {
            for file in fs::read_dir(study.path()).expect("a study").flatten() {
                let drawing = file.path();
                if drawing
                    .extension()
                    .is_none_or(|extension| extension != "svg")
                {
                    continue;
                }
                let svg = fs::read_to_string(&drawing).expect("a drawing");
                // What is a table is read as text; its picture would be ten thousand pixels high.
                if drawing.ends_with("table.svg") {
                    continue;
                }
                let picture = drawing.with_extension("png");
                if std::env::var_os("UPDATE_RESULTS").is_some() {
                    let png = rasteriser.png(&svg).expect("a picture");
                    fs::write(&picture, png).expect("the results can be written");
                }
                // The pixels and not the file: a new encoder may pack the same better.
                let kept = fs::read(&picture).unwrap_or_default();
                let kept = Pixmap::decode_png(&kept);
                let drawn = rasteriser.pixels(&svg).expect("pixels");
                assert!(
                    kept.is_ok_and(|kept| kept == drawn),
                    "{} is not its drawing: UPDATE_RESULTS=1 cargo test -p fslab-cli rasteriser",
                    picture.display()
                );
                count += 1;
            }
        }
        assert!(count > 20, "{count} drawings");
        assert_eq!(rasteriser.lacking(), None);
    }

    #[test]
    fn letters_that_the_font_lacks_are_named_by_number() {
        let rasteriser = Rasteriser::new();
        for text in ["漢字", "字", "plain"] {
            let picture = rasteriser.png(&drawing("", text));
            picture.expect("a picture");
        }
        let said = rasteriser.lacking().expect("something is lacking");
        assert!(said.contains("has no U+5B57, U+6F22:"), "{said}");
    }
}
