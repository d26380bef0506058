//! A page of results: the parts that every benchmark has, for the terminal and in Markdown.

use std::fmt::Write;

use crate::grid::Grid;
use crate::machine::Fact;

/// What was found, as text.
pub(crate) struct Page {
    pub(crate) title: &'static str,
    /// A sentence, or a few.
    pub(crate) summary: String,
    /// How it was measured, in Markdown.
    pub(crate) method: String,
    /// The picture as SVG, and its alternative text.
    pub(crate) picture: Option<(String, &'static str)>,
    /// Targets with verdicts: the first table of the page, and the last on the terminal.
    pub(crate) targets: Option<Grid>,
    pub(crate) sections: Vec<Section>,
    /// Remarks that the terminal has, too.
    pub(crate) notes: Vec<String>,
}

/// A part of a page with a heading.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) body: Body,
}

/// What a section has. The terminal shows tables.
pub(crate) enum Body {
    Grid(Grid),
    /// A table that is too long for the terminal.
    LongGrid(Grid),
    /// Text, then a table.
    Explained(String, Grid),
    List(Vec<String>),
    /// Markdown.
    Text(String),
}

impl Section {
    pub(crate) fn grid(title: &'static str, grid: Grid) -> Self {
        Self {
            title,
            body: Body::Grid(grid),
        }
    }

    /// A list of names with values.
    pub(crate) fn facts(title: &'static str, facts: &[Fact]) -> Self {
        let line = |(name, value): &Fact| format!("{name}: {value}");
        Self {
            title,
            body: Body::List(facts.iter().map(line).collect()),
        }
    }
}

impl Page {
    /// What the terminal shows.
    pub(crate) fn terminal(&self) -> String {
        let of_sections = self
            .sections
            .iter()
            .filter_map(|section| match &section.body {
                Body::Grid(grid) | Body::Explained(_, grid) => Some(grid),
                Body::LongGrid(_) | Body::List(_) | Body::Text(_) => None,
            });
        let mut text = String::new();
        for grid in of_sections.chain(&self.targets) {
            let _ = writeln!(text, "{}\n", grid.terminal());
        }
        let _ = writeln!(text, "{}", self.summary);
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }

    /// The page that is kept. `date` is when it was measured, `command` how, `picture` the file of
    /// the picture in the same directory.
    pub(crate) fn markdown(&self, date: &str, command: &str, picture: &str) -> String {
        let mut text = format!(
            "# {}, {date}\n\n{}\n\n`{command}`\n\n",
            self.title, self.summary
        );
        text.push_str(&self.method);
        if let Some((_, words)) = &self.picture {
            let _ = write!(text, "\n![{words}]({picture})\n");
        }
        if let Some(targets) = &self.targets {
            let _ = write!(text, "\n## Targets\n\n{}", targets.markdown());
        }
        for Section { title, body } in &self.sections {
            let _ = write!(text, "\n## {title}\n\n");
            match body {
                Body::Grid(grid) | Body::LongGrid(grid) => text.push_str(&grid.markdown()),
                Body::Explained(words, grid) => {
                    let _ = write!(text, "{words}\n\n{}", grid.markdown());
                }
                Body::List(lines) => list(&mut text, lines),
                Body::Text(words) => text.push_str(words),
            }
        }
        if !self.notes.is_empty() {
            text.push_str("\n## Notes\n\n");
            list(&mut text, &self.notes);
        }
        text
    }
}

fn list(text: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(text, "- {}", line.replace('\n', "\n  "));
    }
}
