//! The charts and tables of a report as files: `RUN/PHASE/KIND`, and `RUN/KIND` for those of the
//! entire run, with an index in Markdown.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use fslab_report::{Cells, Chapter, charts as charts_of, escape_markdown, table_files};

use crate::commands::Renderer;
use crate::commands::report::figure_files::file_name;
use crate::exit::CommandError;
use crate::terminal::output_file::OutputDirectory;
use crate::terminal::screen;

const INDEX: &str = "index.md";

/// A directory with an index of its files.
struct IndexedFolder {
    folder: OutputDirectory,
    index: String,
    /// Paths in use: two names may become the same file name.
    taken: BTreeSet<PathBuf>,
}

impl IndexedFolder {
    fn new(folder: &Path, title: &str) -> Result<Self, CommandError> {
        Ok(Self {
            folder: OutputDirectory::create(folder)?,
            index: format!("# {title}\n"),
            taken: BTreeSet::new(),
        })
    }

    /// An unused path in the directory, without an extension.
    fn unused_path(&mut self, run: &str, phase: Option<&str>, kind: &str) -> PathBuf {
        let mut path = PathBuf::from(file_name(run));
        path.extend(phase.map(file_name));
        let name = file_name(kind);
        let numbered = (2..).map(|number| path.join(format!("{name}-{number}")));
        let names = std::iter::once(path.join(&name)).chain(numbered);
        let mut free = names.filter(|name| !self.taken.contains(name));
        let path = free.next().expect("there is always a higher number");
        self.taken.insert(path.clone());
        path
    }

    fn write(&self, path: &Path, extension: &str, content: &[u8]) -> Result<String, CommandError> {
        // Not `with_extension`: names have dots, as in `latency-99.9`.
        let name = format!("{}.{extension}", path.display());
        let mut parts = Path::new(&name).components();
        let last = parts.next_back();
        let text = |part: Component| part.as_os_str().to_string_lossy().into_owned();
        let mut below: Option<OutputDirectory> = None;
        for part in parts {
            below = Some(below.as_ref().unwrap_or(&self.folder).folder(&text(part))?);
        }
        let folder = below.as_ref().unwrap_or(&self.folder);
        folder.write(&last.map(text).unwrap_or_default(), content)?;
        Ok(name)
    }

    fn heading(&mut self, depth: usize, title: &str) {
        let heading = format!("\n{} {title}\n\n", "#".repeat(depth));
        self.index.push_str(&heading);
    }

    fn finish(self) -> Result<PathBuf, CommandError> {
        self.folder.write(INDEX, self.index.as_bytes())
    }
}

/// Writes every chart as SVG, PNG and PDF, and returns the index. A PNG or PDF that cannot be
/// written is a warning, once per reason.
pub(crate) fn charts(chapters: &[Chapter], folder: &Path) -> Result<PathBuf, CommandError> {
    let renderer = Renderer::with_built_in_fonts();
    let mut files = IndexedFolder::new(folder, "Charts")?;
    let mut reasons = BTreeSet::new();
    for chapter in chapters {
        let run = chapter.run.header.run.to_string();
        files.heading(2, &run);
        for chart in charts_of(chapter)? {
            let path = files.unused_path(&run, chart.phase.as_deref(), &chart.kind);
            let svg = files.write(&path, "svg", chart.svg.as_bytes())?;
            let mut line = format!("- {}: [SVG]({svg})", escape_markdown(&chart.title));
            for (format, drawn) in renderer.formats(&chart.svg, &chart.title) {
                match drawn {
                    Ok(content) => {
                        let file = files.write(&path, format.extension(), &content)?;
                        line.push_str(&format!(", [{format}]({file})"));
                    }
                    Err(reason) => {
                        reasons.insert(format!("charts are not written as {format}: {reason}"));
                    }
                }
            }
            files.index.push_str(&line);
            files.index.push('\n');
        }
    }
    if let Some(warning) = renderer.warning() {
        screen::warn(&warning);
    }
    for reason in reasons {
        screen::warn(&reason);
    }
    files.finish()
}

/// Writes every table as Markdown, CSV and LaTeX, and returns the index.
pub(crate) fn tables(
    chapters: &[Chapter],
    folder: &Path,
    cells: Cells,
) -> Result<PathBuf, CommandError> {
    let mut files = IndexedFolder::new(folder, "Tables")?;
    for chapter in chapters {
        let run = chapter.run.header.run.to_string();
        files.heading(2, &run);
        for file in table_files(chapter) {
            let path = files.unused_path(&run, file.phase.as_deref(), &file.kind);
            let markdown = files.write(&path, "md", file.table.to_markdown().as_bytes())?;
            let csv = file.table.to_csv(cells)?;
            let csv = files.write(&path, "csv", csv.as_bytes())?;
            let latex = file.table.to_latex(&path.display().to_string());
            let latex = files.write(&path, "tex", latex.as_bytes())?;
            let line = format!(
                "- {}: [Markdown]({markdown}), [CSV]({csv}), [LaTeX]({latex})\n",
                escape_markdown(&file.table.caption)
            );
            files.index.push_str(&line);
        }
    }
    files.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_equal_names_get_different_files() {
        let place = tempfile::tempdir().expect("a directory");
        let mut files = IndexedFolder::new(place.path(), "Charts").expect("open");
        let mut path = |phase, kind| files.unused_path("run", phase, kind).display().to_string();
        assert_eq!(path(None, "a b"), "run/a_b");
        assert_eq!(path(None, "a_b"), "run/a_b-2");
        assert_eq!(path(Some("../x"), "99.9"), "run/_x/99.9");
    }
}
