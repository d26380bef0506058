//! The JSON documents in the output of a tool: warnings may precede them, and there may be several,
//! as with `--status-interval` of fio.

use serde_json::{Deserializer, Value};

use crate::error::Fault;

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
        if !here.trim_start().starts_with('{') {
            offset += here.len() + 1;
            line += 1;
            continue;
        }
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Err(fault(rest, line, &error)),
            None => break,
        };
        let read = &rest[..stream.byte_offset()];
        documents.push(Document { line, value });
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
