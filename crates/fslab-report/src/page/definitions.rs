//! The definitions of all figures, at the end of the page.

use super::names::slug;
use crate::figures;
use crate::xml::escape;

/// Definitions of one kind.
pub(super) struct Part {
    pub(super) title: String,
    pub(super) entries: Vec<Entry>,
}

/// One definition.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) name: String,
    /// Label and text, the text as HTML.
    pub(super) lines: Vec<(String, String)>,
}

pub(super) fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for figure in figures() {
        let entry = Entry {
            id: format!("def-{}", slug(&figure.name)),
            lines: figure
                .lines
                .iter()
                .map(|(label, text)| (label.clone(), inline(text)))
                .collect(),
            name: figure.name,
        };
        match parts.last_mut() {
            Some(part) if part.title == figure.part => part.entries.push(entry),
            _ => parts.push(Part {
                title: figure.part,
                entries: vec![entry],
            }),
        }
    }
    parts
}

/// Converts the two marks used in lines of docs/figures.md, `code` and *emphasis*, to HTML.
fn inline(text: &str) -> String {
    let marked = |text: &str, mark: char, tag: &str| -> String {
        let pieces: Vec<&str> = text.split(mark).collect();
        if pieces.len().is_multiple_of(2) {
            return text.to_owned();
        }
        let mut html = String::new();
        for (index, piece) in pieces.iter().enumerate() {
            if index % 2 == 1 {
                html.push_str(&format!("<{tag}>{piece}</{tag}>"));
            } else {
                html.push_str(piece);
            }
        }
        html
    };
    marked(&marked(&escape(text), '`', "code"), '*', "em")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_emphasis_are_marked_and_a_lone_star_is_not() {
        assert_eq!(inline("a `b` < *c*"), "a <code>b</code> &lt; <em>c</em>");
        assert_eq!(inline("/sys/block/*/stat"), "/sys/block/*/stat");
    }
}
