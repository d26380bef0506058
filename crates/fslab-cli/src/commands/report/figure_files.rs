//! The figures of a run's study as files: SVG, PNG, PDF, CSV, LaTeX and text.

use std::path::PathBuf;

use fslab_claims::Original;
use fslab_compare::Analysis;
use fslab_model::{Failure, FailureKind, RunRecord};
use fslab_report::{Cells, Exhibit, exhibits, then_and_now_pictures};

use crate::commands::Renderer;
use crate::exit::CommandError;
use crate::terminal::output_file::OutputDirectory;
use crate::terminal::screen::{self, Lines, plain};
use crate::terminal::table;

/// Writes every figure of the run's study and, of a published one, the pictures of the original's
/// figures against the run's; returns the files. A figure that cannot be drawn is a warning, not an
/// error.
pub(crate) fn write(
    record: &RunRecord,
    original: Option<&Original>,
    folder: &OutputDirectory,
    cells: Cells,
) -> Result<Vec<PathBuf>, CommandError> {
    let analysis = Analysis::of(record);
    let mut exhibits = exhibits(&analysis, original);
    exhibits.extend(pictures(&analysis, original));
    if exhibits.is_empty() {
        let text = format!("the study of run {} defines no figures", record.header.run);
        let failure = Failure::new(FailureKind::BadInput, text);
        return Err(failure.hint("add a [[figure]] to the study.toml").into());
    }
    let renderer = Renderer::with_built_in_fonts();
    let mut files = Vec::new();
    for exhibit in &exhibits {
        let mut write = |extension: &str, content: &[u8]| {
            let name = format!("{}.{extension}", file_name(&exhibit.id));
            files.push(folder.write(&name, content)?);
            Ok::<(), CommandError>(())
        };
        write("txt", text(exhibit, Lines::FILE).as_bytes())?;
        write("csv", exhibit.csv(cells)?.as_bytes())?;
        write("tex", latex(exhibit).as_bytes())?;
        let Some(svg) = exhibit.svg() else {
            let reason = exhibit.absence.as_deref().unwrap_or("it has too many rows");
            screen::warn(&format!("{} is not drawn: {reason}", exhibit.id));
            continue;
        };
        write("svg", svg.as_bytes())?;
        for (format, drawn) in renderer.formats(&svg, &exhibit.title) {
            match drawn {
                Ok(file) => write(format.extension(), &file)?,
                Err(reason) => {
                    screen::warn(&format!(
                        "{} is not written as {format}: {reason}",
                        exhibit.id
                    ));
                }
            }
        }
    }
    if let Some(warning) = renderer.warning() {
        screen::warn(&warning);
    }
    Ok(files)
}

/// The pictures of then and now; says so if there is an original and no picture.
fn pictures(analysis: &Analysis, original: Option<&Original>) -> Vec<Exhibit> {
    let Some(original) = original else {
        return Vec::new();
    };
    let pictures = then_and_now_pictures(analysis, original);
    if pictures.is_empty() {
        screen::notice("no chart of the original against this run: they have no figures in common");
    }
    pictures
}

/// A figure's tables as LaTeX, under labels of its id.
fn latex(exhibit: &Exhibit) -> String {
    let tables = exhibit.tables.iter().enumerate();
    let tables = tables.map(|(index, table)| match index {
        0 => table.to_latex(&exhibit.id),
        _ => table.to_latex(&format!("{}-{}", exhibit.id, index + 1)),
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// A figure as text: its tables, or the reason for its absence, and its notes.
pub(crate) fn text(exhibit: &Exhibit, lines: Lines) -> String {
    let mut text = lines.wrap(&plain(&format!("{}: {}", exhibit.id, exhibit.title)));
    if let Some(reason) = &exhibit.absence {
        let what = match exhibit.tables.is_empty() {
            true => "Nothing to show",
            false => "Not drawn",
        };
        text.push_str(&lines.wrap(&plain(&format!("{what}: {reason}"))));
    }
    for table in &exhibit.tables {
        text.push_str(&format!("\n{}", table::render_within(table, lines)));
    }
    for note in &exhibit.notes {
        text.push_str(&lines.wrap(&plain(note)));
    }
    text
}

/// An id as a file name: other characters than letters, digits, `.`, `_` and `-` become `_`.
pub(crate) fn file_name(id: &str) -> String {
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
