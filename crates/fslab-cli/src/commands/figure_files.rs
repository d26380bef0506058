//! The figures of a run's study as files: SVG, PNG, CSV and text.

use std::path::{Path, PathBuf};

use fslab_claims::Original;
use fslab_compare::Analysis;
use fslab_model::{Failure, FailureKind, RunRecord};
use fslab_report::{Exhibit, exhibits};

use super::output_file::put_file;
use super::rasteriser::Rasteriser;
use crate::exit::CommandError;
use crate::screen;

/// Writes every figure of the run's study and returns the files. A figure that cannot be drawn is a
/// warning, not an error.
pub(crate) fn write(
    record: &RunRecord,
    original: Option<&Original>,
    folder: &Path,
) -> Result<Vec<PathBuf>, CommandError> {
    let exhibits = exhibits(&Analysis::of(record), original);
    if exhibits.is_empty() {
        let text = format!("the study of run {} asks for no figures", record.header.run);
        let failure = Failure::new(FailureKind::BadInput, text);
        return Err(failure.hint("add a [[figure]] to the study.toml").into());
    }
    let rasteriser = Rasteriser::new();
    let mut files = Vec::new();
    for exhibit in &exhibits {
        let mut write = |extension: &str, content: &[u8]| {
            let path = folder.join(format!("{}.{extension}", file_name(&exhibit.id)));
            put_file(content, &path)?;
            files.push(path);
            Ok::<(), CommandError>(())
        };
        write("txt", text(exhibit).as_bytes())?;
        write("csv", exhibit.csv()?.as_bytes())?;
        let Some(svg) = exhibit.svg() else {
            let reason = exhibit.absence.as_deref().unwrap_or("it has too many rows");
            screen::warn(&format!("{} is not drawn: {reason}", exhibit.id));
            continue;
        };
        write("svg", svg.as_bytes())?;
        match rasteriser.png(&svg) {
            Ok(png) => write("png", &png)?,
            Err(reason) => screen::warn(&format!("{} is not written as PNG: {reason}", exhibit.id)),
        }
    }
    if let Some(missing) = rasteriser.missing_glyphs() {
        screen::warn(&missing);
    }
    Ok(files)
}

/// A figure as text: its tables, or the reason for its absence, and its notes.
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

/// An id as a file name: other characters than letters, digits, `.`, `_` and `-` become `_`.
pub(super) fn file_name(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = id.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_that_stay_in_their_folder() {
        assert_eq!(file_name("figure-1"), "figure-1");
        assert_eq!(file_name("../a b/ü"), "_a_b__");
    }
}
