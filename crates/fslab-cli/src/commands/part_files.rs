//! The charts and tables of a report as files: `RUN/PHASE/KIND`, and `RUN/KIND` for what is of the
//! whole run, with an index of all in Markdown.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fslab_report::{Chapter, charts as charts_of, table_files};

use super::figure_files::file_name;
use super::output_file::put_file;
use super::rasteriser::Rasteriser;
use crate::exit::CommandError;
use crate::screen;

const INDEX: &str = "index.md";

/// The files of a folder, and the index that grows with them.
struct Shelf<'a> {
    folder: &'a Path,
    index: String,
    /// Those written: names that differ only in letters that a file name has not are told apart.
    taken: BTreeSet<PathBuf>,
}

impl<'a> Shelf<'a> {
    fn new(folder: &'a Path, title: &str) -> Self {
        Self {
            folder,
            index: format!("# {title}\n"),
            taken: BTreeSet::new(),
        }
    }

    /// A path in the folder, without an ending, that no other part has.
    fn place(&mut self, run: &str, phase: Option<&str>, kind: &str) -> PathBuf {
        let mut place = PathBuf::from(file_name(run));
        place.extend(phase.map(file_name));
        let name = file_name(kind);
        let numbered = (2..).map(|number| place.join(format!("{name}-{number}")));
        let names = std::iter::once(place.join(&name)).chain(numbered);
        let mut free = names.filter(|name| !self.taken.contains(name));
        let place = free.next().expect("there is always a higher number");
        self.taken.insert(place.clone());
        place
    }

    fn write(&self, place: &Path, extension: &str, content: &[u8]) -> Result<String, CommandError> {
        // The name may have dots of its own, as in `latency-99.9`.
        let name = format!("{}.{extension}", place.display());
        let path = self.folder.join(&name);
        let parent = path.parent().unwrap_or(self.folder);
        fs::create_dir_all(parent).map_err(|error| {
            CommandError::io(format!("cannot make {}", parent.display()), &error)
        })?;
        put_file(content, &path)?;
        Ok(name)
    }

    fn heading(&mut self, depth: usize, title: &str) {
        let heading = format!("\n{} {title}\n\n", "#".repeat(depth));
        self.index.push_str(&heading);
    }

    fn finish(self) -> Result<PathBuf, CommandError> {
        let path = self.folder.join(INDEX);
        put_file(self.index.as_bytes(), &path)?;
        Ok(path)
    }
}

/// Writes every chart as SVG and PNG, and returns the index. Where no PNG can be made, that is told
/// once, and is no error.
pub(super) fn charts(chapters: &[Chapter], folder: &Path) -> Result<PathBuf, CommandError> {
    let rasteriser = Rasteriser::new();
    let mut shelf = Shelf::new(folder, "Charts");
    let mut reasons = BTreeSet::new();
    for chapter in chapters {
        let run = chapter.run.header.run.to_string();
        shelf.heading(2, &run);
        for chart in charts_of(chapter)? {
            let place = shelf.place(&run, chart.phase.as_deref(), &chart.kind);
            let svg = shelf.write(&place, "svg", chart.svg.as_bytes())?;
            let mut line = format!("- {}: [SVG]({svg})", chart.title);
            match rasteriser.png(&chart.svg) {
                Ok(picture) => {
                    let png = shelf.write(&place, "png", &picture)?;
                    line.push_str(&format!(", [PNG]({png})"));
                }
                Err(reason) => {
                    reasons.insert(reason);
                }
            }
            shelf.index.push_str(&line);
            shelf.index.push('\n');
        }
    }
    if let Some(lacking) = rasteriser.lacking() {
        screen::warn(&lacking);
    }
    for reason in reasons {
        screen::warn(&format!("charts are not written as PNG: {reason}"));
    }
    shelf.finish()
}

/// Writes every table as Markdown and CSV, and returns the index.
pub(super) fn tables(chapters: &[Chapter], folder: &Path) -> Result<PathBuf, CommandError> {
    let mut shelf = Shelf::new(folder, "Tables");
    for chapter in chapters {
        let run = chapter.run.header.run.to_string();
        shelf.heading(2, &run);
        for file in table_files(chapter) {
            let place = shelf.place(&run, file.phase.as_deref(), &file.kind);
            let markdown = shelf.write(&place, "md", file.table.to_markdown().as_bytes())?;
            let csv = file.table.to_csv()?;
            let csv = shelf.write(&place, "csv", csv.as_bytes())?;
            let line = format!(
                "- {}: [Markdown]({markdown}), [CSV]({csv})\n",
                file.table.caption
            );
            shelf.index.push_str(&line);
        }
    }
    shelf.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_name_have_each_a_file() {
        let mut shelf = Shelf::new(Path::new("/nowhere"), "Charts");
        let mut place = |phase, kind| shelf.place("run", phase, kind).display().to_string();
        assert_eq!(place(None, "a b"), "run/a_b");
        assert_eq!(place(None, "a_b"), "run/a_b-2");
        assert_eq!(place(Some("../x"), "99.9"), "run/_x/99.9");
    }
}
