//! The definitions of all figures, read from docs/figures.md, the only place that has them; every
//! report shows them.

const TEXT: &str = include_str!("../../../docs/figures.md");

/// The definition of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The metric's name, or a term such as "95 % interval".
    pub name: String,
    /// The title of its part of the document.
    pub part: String,
    /// The definition by label: Unit, Formula, Source, Bias.
    pub lines: Vec<(String, String)>,
}

/// All definitions, in the order of docs/figures.md.
pub fn figures() -> Vec<Figure> {
    let (mut figures, mut part) = (Vec::<Figure>::new(), String::new());
    for line in TEXT.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            part = title.to_owned();
        } else if let Some(name) = line.strip_prefix("### ") {
            figures.push(Figure {
                name: name.replace('`', ""),
                part: part.clone(),
                lines: Vec::new(),
            });
        } else if let Some(figure) = figures.last_mut() {
            figure.read(line);
        }
    }
    figures
}

impl Figure {
    fn read(&mut self, line: &str) {
        let labelled = line
            .strip_prefix("- **")
            .and_then(|rest| rest.split_once("**: "));
        if let Some((label, text)) = labelled {
            self.lines.push((label.to_owned(), text.to_owned()));
        } else if let Some((rest, (_, text))) = line.strip_prefix("  ").zip(self.lines.last_mut()) {
            text.push(' ');
            text.push_str(rest.trim_start());
        }
    }

    /// The text under `label`.
    pub fn line(&self, label: &str) -> Option<&str> {
        let found = self.lines.iter().find(|(known, _)| known == label);
        found.map(|(_, text)| text.as_str())
    }
}
