//! The figures of a run's study as files: SVG, PNG, CSV and text.

use std::path::{Path, PathBuf};

use fslab_claims::Original;
use fslab_model::{Failure, FailureKind, RunRecord};
use fslab_report::{Analysis, Exhibit, exhibits};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::output_file::put_file;
use crate::exit::CommandError;
use crate::screen;

/// Pixels of a picture for each of the drawing's, where it is not too large.
const SCALE: f32 = 2.0;
/// The most pixels of a picture.
const PIXELS_MAX: f32 = 40e6;
/// Families that look as charts are meant to, the best first.
const FAMILIES: [&str; 5] = [
    "Helvetica Neue",
    "Arial",
    "Liberation Sans",
    "DejaVu Sans",
    "Noto Sans",
];

/// Writes every figure that the run's study asks for, and returns the files. What cannot be drawn
/// is told, and is no error.
pub(crate) fn write(
    record: &RunRecord,
    original: Option<&Original>,
    folder: &Path,
) -> Result<Vec<PathBuf>, CommandError> {
    let exhibits = exhibits(&Analysis::of(record), original);
    if exhibits.is_empty() {
        let text = format!("the study of run {} asks for no figures", record.header.run);
        let failure = Failure::new(FailureKind::BadInput, text);
        return Err(failure
            .hint("[[figure]] in a study.toml asks for one")
            .into());
    }
    let rasteriser = Rasteriser::new();
    let mut files = Vec::new();
    for exhibit in &exhibits {
        let mut keep = |extension: &str, content: &[u8]| {
            let path = folder.join(format!("{}.{extension}", file_name(&exhibit.id)));
            put_file(content, &path)?;
            files.push(path);
            Ok::<(), CommandError>(())
        };
        keep("txt", text(exhibit).as_bytes())?;
        keep("csv", exhibit.csv()?.as_bytes())?;
        let Some(svg) = exhibit.svg() else {
            let reason = exhibit.absence.as_deref().unwrap_or("it has too many rows");
            screen::warn(&format!("{} is not drawn: {reason}", exhibit.id));
            continue;
        };
        keep("svg", svg.as_bytes())?;
        match rasteriser.png(&svg) {
            Ok(png) => keep("png", &png)?,
            Err(reason) => screen::warn(&format!("{} is not a PNG: {reason}", exhibit.id)),
        }
    }
    Ok(files)
}

/// A figure's text: its tables, or why there are none, and its notes.
pub(crate) fn text(exhibit: &Exhibit) -> String {
    let mut text = format!("{}: {}\n", exhibit.id, screen::plain(&exhibit.title));
    if let Some(reason) = &exhibit.absence {
        text.push_str(&format!("Nothing to show: {}\n", screen::plain(reason)));
    }
    for table in &exhibit.tables {
        text.push_str(&format!("\n{}", screen::render(table)));
    }
    for note in &exhibit.notes {
        text.push_str(&screen::plain(note));
        text.push('\n');
    }
    text
}

/// An id as a file name: letters, digits, `.`, `_` and `-` stay.
pub(super) fn file_name(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = id.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    name.trim_start_matches('.').to_owned()
}

/// Turns drawings into pixels, with the fonts of this machine.
pub(super) struct Rasteriser {
    options: usvg::Options<'static>,
    has_font: bool,
}

impl Rasteriser {
    pub(super) fn new() -> Self {
        let mut options = usvg::Options::default();
        let fonts = options.fontdb_mut();
        fonts.load_system_fonts();
        let family = family(fonts);
        if let Some(family) = &family {
            fonts.set_sans_serif_family(family);
            options.font_family.clone_from(family);
        }
        Self {
            options,
            has_font: family.is_some(),
        }
    }

    /// The picture, or why there is none.
    pub(super) fn png(&self, svg: &str) -> Result<Vec<u8>, String> {
        if !self.has_font {
            return Err("this machine has no font; fonts-dejavu-core has one".to_owned());
        }
        let tree = usvg::Tree::from_str(svg, &self.options).map_err(|error| error.to_string())?;
        let (width, height) = (tree.size().width(), tree.size().height());
        let scale = (PIXELS_MAX / (width * height)).sqrt().min(SCALE);
        // Pixels are some thousands; a cast saturates.
        let (columns, rows) = (
            (width * scale).ceil() as u32,
            (height * scale).ceil() as u32,
        );
        let mut pixels = Pixmap::new(columns, rows).ok_or("it has no extent")?;
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}

/// The family to write in; `None` where there is no font at all.
fn family(fonts: &fontdb::Database) -> Option<String> {
    let names = || {
        fonts
            .faces()
            .flat_map(|face| &face.families)
            .map(|(name, _)| name)
    };
    let wanted = FAMILIES
        .iter()
        .find(|wanted| names().any(|name| name == *wanted));
    let wanted = wanted.map(|name| (*name).to_owned());
    // Any font is better than a picture without words; the first by name, as directories have none.
    wanted.or_else(|| names().min().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_that_stay_in_their_folder() {
        assert_eq!(file_name("figure-1"), "figure-1");
        assert_eq!(file_name("../a b/ü"), "_a_b__");
    }

    #[test]
    fn a_drawing_becomes_a_picture_of_twice_its_size() {
        let rasteriser = Rasteriser::new();
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10\" width=\"20\" \
                   height=\"10\"><style>.a { fill: #f00; } @media (prefers-color-scheme: dark) \
                   { .a { fill: #0f0; } }</style><path class=\"a\" d=\"M0 0H20V10H0z\"/></svg>";
        let png = match rasteriser.png(svg) {
            Ok(png) => png,
            Err(reason) => {
                assert!(!rasteriser.has_font, "{reason}");
                return;
            }
        };
        let picture = Pixmap::decode_png(&png).expect("a PNG");
        assert_eq!((picture.width(), picture.height()), (40, 20));
        let colour = picture.pixel(5, 5).expect("inside");
        assert_eq!(
            (colour.red(), colour.green()),
            (255, 0),
            "the light colours are drawn"
        );
    }
}
