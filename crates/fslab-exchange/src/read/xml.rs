//! The XML documents in the output of a tool, which warnings may surround.
//!
//! A document type is refused, and so are documents of more than [`NODES_MAX`] nodes: neither an
//! entity nor a nested element costs more memory than its text.

use roxmltree::{Document, Node, ParsingOptions};

use crate::error::Fault;
use crate::reading::number;

/// Nodes of a document; each costs some hundred bytes.
const NODES_MAX: u32 = 2 << 20;

/// Calls `read` with each document whose root is `root`; errors without a hint have `hint`.
pub(super) fn documents(
    text: &str,
    root: &str,
    hint: &str,
    mut read: impl FnMut(Element) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (open, close) = (format!("<{root}>"), format!("</{root}>"));
    let (mut offset, mut line) = (0, 1);
    while let Some(begin) = text[offset..].find(&open) {
        line += text[offset..offset + begin].matches('\n').count();
        let rest = &text[offset + begin..];
        let place = format!("document at line {line}");
        let Some(end) = rest.find(&close) else {
            let missing = format!("there is no {close} after its {open}");
            return Err(Fault::truncated(place, missing).hint(hint));
        };
        let whole = &rest[..end + close.len()];
        let options = ParsingOptions {
            allow_dtd: false,
            nodes_limit: NODES_MAX,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(whole, options)
            .map_err(|error| Fault::new(&*place, format!("it is not XML: {error}")).hint(hint))?;
        let node = document.root_element();
        read(Element { node, place }).map_err(|fault| fault.or_hint(hint))?;
        line += whole.matches('\n').count();
        offset += begin + whole.len();
    }
    Ok(())
}

/// An element with its path.
#[derive(Clone, Debug)]
pub(super) struct Element<'a, 'input> {
    node: Node<'a, 'input>,
    pub(super) place: String,
}

impl<'a, 'input> Element<'a, 'input> {
    /// Its elements of that name.
    pub(super) fn children(
        &self,
        name: &'static str,
    ) -> impl Iterator<Item = Self> + use<'a, 'input> {
        let place = self.place.clone();
        let named = self.node.children().filter(move |it| it.has_tag_name(name));
        (1..)
            .zip(named)
            .map(move |(number, node): (usize, _)| Self {
                node,
                place: format!("{place}, {name} {number}"),
            })
    }

    /// Its first element of that name.
    pub(super) fn child(&self, name: &'static str) -> Option<Self> {
        self.children(name).next()
    }

    /// The text of its first element of that name, which may be empty; `None` without one.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        let mut named = self.node.children().filter(|it| it.has_tag_name(name));
        Some(named.next()?.text().unwrap_or_default().trim())
    }

    /// A number from 0; `None` without the element.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let wrong = || Fault::value(self.path(name), text, "a number from 0");
        number(text).map(Some).ok_or_else(wrong)
    }

    /// An integer that SQLite can store; `None` without the element.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, Fault> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let count: Option<i64> = text.parse().ok();
        let wrong = || Fault::value(self.path(name), text, "an integer from 0");
        count
            .and_then(|count| u64::try_from(count).ok())
            .map(Some)
            .ok_or_else(wrong)
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    pub(super) fn path(&self, name: &str) -> String {
        format!("{}, {name}", self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        documents(text, "R", "export it as XML", |element| {
            found.push(format!(
                "{}: {}",
                element.place,
                element.text("a").unwrap_or("none")
            ));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn documents_are_found_among_other_lines() {
        let text = "w\n<?xml version=\"1.0\"?>\n<R><a> 1 </a></R>\nw\n<R>\n<b/></R>\n";
        let expected = ["document at line 3: 1", "document at line 5: none"];
        assert_eq!(texts(text).expect("two"), expected);
    }

    #[test]
    fn what_is_cut_off_or_no_xml_is_refused() {
        let fault = |text: &str| texts(text).expect_err(text).to_string();
        assert!(fault("<R><a>1</a>").contains("there is no </R>"));
        assert!(fault("<R><a>1</b></R>").contains("it is not XML: "));
    }

    /// Neither takes the stack or the memory of the machine.
    #[test]
    fn deep_nesting_and_entities_are_refused_or_read() {
        let deep = 300_000;
        let text = format!("<R>{}{}</R>", "<a>".repeat(deep), "</a>".repeat(deep));
        assert_eq!(texts(&text).expect("one").len(), 1);
        let many = format!("<R>{}</R>", "<a/>".repeat(NODES_MAX as usize));
        assert!(
            texts(&many)
                .expect_err("nodes")
                .to_string()
                .contains("limit")
        );
        let entity = "<!DOCTYPE R [<!ENTITY a \"b\">]><R><a>&a;</a></R>";
        assert!(texts(entity).is_err());
    }
}
