//! The JSON documents in the output of a tool: warnings may precede them, and there may be several,
//! as with `--status-interval` of fio, or a list of them, as `jq -s` writes it.
//!
//! The fields of its objects are read with checked types.

use serde_json::{Deserializer, Map, Value};

use super::packed_json::{BINS, Packed};
use crate::error::Fault;
use crate::reading::is_plausible;

/// A document and its first line.
pub(crate) struct Document {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// Every document that begins a line. If there is none, `hint` says how the tool writes one.
pub(crate) fn documents(text: &str, hint: &str) -> Result<Vec<Document>, Fault> {
    let mut documents = Vec::new();
    let (mut offset, mut line) = (0, 1);
    while offset < text.len() {
        let rest = &text[offset..];
        let here = rest.lines().next().unwrap_or_default();
        let begin = here.trim_start();
        let is_list = begin
            .strip_prefix('[')
            .is_some_and(|rest| rest.trim_start().starts_with('{'));
        if !begin.starts_with('{') && !is_list {
            offset += here.len() + 1;
            line += 1;
            continue;
        }
        let mut stream = Deserializer::from_str(rest).into_iter::<Packed>();
        let value = match stream.next() {
            Some(Ok(Packed(value))) => value,
            Some(Err(error)) => return Err(fault(rest, line, &error)),
            None => break,
        };
        let read = &rest[..stream.byte_offset()];
        match value {
            Value::Array(list) => {
                documents.extend(list.into_iter().map(|value| Document { line, value }));
            }
            value => documents.push(Document { line, value }),
        }
        line += read.matches('\n').count();
        offset += read.len();
        // Text after a document on its last line is not part of it.
        let tail = text[offset..].lines().next().unwrap_or_default();
        if !tail.trim_start().starts_with('{') {
            offset += tail.len() + 1;
            line += 1;
        }
    }
    if documents.is_empty() {
        return Err(Fault::no_figure("there is no JSON document in it").hint(hint));
    }
    Ok(documents)
}

fn fault(rest: &str, first: usize, error: &serde_json::Error) -> Fault {
    let place = format!("line {}", first + error.line().saturating_sub(1));
    if error.is_eof() {
        return Fault::truncated(place, "the JSON document ends before its last brace");
    }
    let found = rest
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    Fault::value(place, found.trim(), "JSON")
}

/// An object with its path.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'d> {
    pub(crate) place: String,
    object: &'d Map<String, Value>,
}

impl<'d> Fields<'d> {
    pub(crate) fn of(place: impl Into<String>, value: &'d Value) -> Result<Self, Fault> {
        let place = place.into();
        match value {
            Value::Object(object) => Ok(Self { place, object }),
            other => Err(Fault::value(place, other.to_string(), "an object")),
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}, {name}", self.place)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'d Value> {
        self.object.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'d String, &'d Value)> + use<'d> {
        self.object.iter()
    }

    /// A nested object; `None` if missing.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>, Fault> {
        let found = self.get(name);
        found
            .map(|value| Self::of(self.path(name), value))
            .transpose()
    }

    /// The bins of a histogram, which a document keeps as text; `None` if missing.
    pub(super) fn bins(&self) -> Result<Option<Map<String, Value>>, Fault> {
        let Some(text) = self.text(BINS)? else {
            return Ok(None);
        };
        let wrong = |_| Fault::value(self.path(BINS), text, "an object");
        serde_json::from_str(text).map(Some).map_err(wrong)
    }

    /// The elements of a list; `None` if missing.
    pub(crate) fn list(&self, name: &str) -> Result<Option<&'d [Value]>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(Fault::value(self.path(name), other.to_string(), "a list")),
        }
    }

    /// A text; `None` if missing.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'d str>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(Fault::value(self.path(name), other.to_string(), "a string")),
        }
    }

    /// A finite number of at least 0; `None` if missing.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| is_plausible(*number));
        let wrong = || Fault::value(self.path(name), value.to_string(), "a number from 0");
        number.map(Some).ok_or_else(wrong)
    }

    /// A count; `None` if missing.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let wrong = || Fault::value(self.path(name), value.to_string(), "an integer from 0");
        as_count(value).map(Some).ok_or_else(wrong)
    }
}

/// An integer that SQLite can store.
pub(crate) fn as_count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| i64::try_from(*count).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_around_documents_are_passed_over() {
        let text = "fio: a warning\n{\n\"a\": 1\n}\n{\"b\": 2} tail\nmore\n  {\"c\":3}{\"d\":4}";
        let documents = documents(text, "").expect("four");
        let lines: Vec<usize> = documents.iter().map(|document| document.line).collect();
        assert_eq!(lines, [2, 5, 7, 7]);
        assert_eq!(documents[3].value["d"], 4);
    }

    #[test]
    fn the_documents_of_a_list_are_documents() {
        let text = "w\n[ {\"a\": 1}, {\"b\":\n2} ]\n[\n{\"c\": 3},\n{\"d\": 4}\n]\n[RESULT] x\n";
        let documents = documents(text, "").expect("four");
        let lines: Vec<usize> = documents.iter().map(|document| document.line).collect();
        assert_eq!(lines, [2, 2, 5, 6]);
        assert_eq!(documents[1].value["b"], 2);
    }

    #[test]
    fn a_document_that_is_cut_off_or_no_json_is_refused_by_its_line() {
        let fault = |text: &str| documents(text, "").err().expect("no document");
        let cut = fault("w\n{\n\"a\": 1,\n");
        assert!(cut.to_string().contains("it is cut off: "), "{cut}");
        let nan = fault("w\n{\n\"a\": -nan,\n\"b\": 1}\n");
        assert_eq!(nan.to_string(), "line 3: \"\\\"a\\\": -nan,\" is not JSON");
        assert!(fault("{").to_string().contains("it is cut off: "));
        assert!(fault("w\n").to_string().contains("it has no figure: "));
    }
}
