//! Reads TOML texts that users write: studies, claims, disk profiles. Their common error type has
//! line, column, key, and the most similar known key; the parameters of a phase have it, too,
//! without a position.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::serde_message::{Message, wrong_value};
use crate::{did_you_mean, nearest_name};

/// A position in a text; both numbers count from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl TextPosition {
    fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong with a TOML text, and where. Displayed as `line 3, column 1: seek.avrage: unknown
/// key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlError {
    /// The position of the key, or of its value; `None` if unknown.
    pub position: Option<TextPosition>,
    /// The key with the tables around it; an element of a list is given by its `name` or `id`, else
    /// by its index from 0. Empty for an error without a key, such as one of syntax.
    pub path: Vec<String>,
    /// The problem: a fragment.
    pub problem: String,
    /// What the user can do about it.
    pub hint: Option<String>,
}

impl std::error::Error for TomlError {}

impl fmt::Display for TomlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path.join("."))?;
        }
        f.write_str(&self.problem)
    }
}

impl TomlError {
    /// A problem with the key at `path`, still without a position.
    pub fn new<S: Into<String>>(
        path: impl IntoIterator<Item = S>,
        problem: impl Into<String>,
    ) -> Self {
        Self {
            position: None,
            path: path.into_iter().map(Into::into).collect(),
            problem: problem.into(),
            hint: None,
        }
    }

    /// A key that is not one of `known`.
    pub fn unknown_key<S: Into<String>>(path: impl IntoIterator<Item = S>, known: &[&str]) -> Self {
        let mut error = Self::new(path, "unknown key");
        let key = error.path.last().map_or("", String::as_str);
        error.hint = nearest_hint(key, known);
        error
    }

    /// Adds the position of the key in `text`, of the last one if several have this path; for a
    /// missing key, the position of its table.
    pub fn located(mut self, text: &str) -> Self {
        let mut found: Option<(usize, Range<usize>)> = None;
        visit_text(text, &mut |path, span, _| {
            let is_nearer = found.as_ref().is_none_or(|(depth, _)| *depth <= path.len());
            if is_nearer && self.path.starts_with(path) {
                found = Some((path.len(), span));
            }
        });
        self.position = found.map(|(_, span)| TextPosition::of(text, span.start));
        self
    }

    /// The error without its position, for a text that no user wrote.
    pub fn without_position(self) -> Self {
        let position = None;
        Self { position, ..self }
    }

    /// The error that serde's `message` describes, about the value at `path`.
    pub fn of_serde(mut path: Vec<String>, message: &str) -> Self {
        match Message::read(message) {
            Message::UnknownKey { key, known } => {
                if path.last().is_none_or(|last| last != key) {
                    path.push(key.to_owned());
                }
                Self::unknown_key(path, &known)
            }
            Message::UnknownWord { word, known } => Self {
                hint: nearest_hint(word, &known),
                ..Self::new(path, format!("unknown value '{word}'"))
            },
            Message::Missing { key } => {
                path.push(key.to_owned());
                Self::new(path, "missing")
            }
            Message::WrongValue { found, expected } => {
                Self::new(path, wrong_value(found, expected))
            }
            Message::Other(message) => Self::new(path, message.replace('\n', "; ")),
        }
    }

    fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        let position = error.span().map(|span| TextPosition::of(text, span.start));
        // The table around all others has an empty span.
        let span = error.span().filter(|span| !span.is_empty());
        let path = span.map_or_else(Vec::new, |span| path_at(text, &span));
        let is_outermost = path.is_empty();
        let found = Self::of_serde(path, error.message());
        let position = match Message::read(error.message()) {
            Message::UnknownKey { .. } => found.clone().located(text).position.or(position),
            // A missing key of the outermost table has no position.
            Message::Missing { .. } if is_outermost => None,
            _ => position,
        };
        Self { position, ..found }
    }
}

fn nearest_hint(name: &str, known: &[&str]) -> Option<String> {
    match nearest_name(name, known.iter().copied()) {
        Some(nearest) => Some(did_you_mean(nearest)),
        None if known.is_empty() => None,
        None => Some(format!("expected one of {}", known.join(", "))),
    }
}

/// Checks the version in the key `format` of a file.
pub fn check_format(found: u32, newest: u32) -> Result<(), TomlError> {
    let known = match newest {
        1 => "version 1".to_owned(),
        _ => format!("versions 1 to {newest}"),
    };
    match (1..=newest).contains(&found) {
        true => Ok(()),
        false => {
            let problem = format!("version {found}, but this fslab reads {known}");
            Err(TomlError::new(["format"], problem))
        }
    }
}

/// Reads a TOML text as a `T`.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| TomlError::of_toml(text, &error))
}

/// The path of the innermost key or value that contains `span`.
fn path_at(text: &str, span: &Range<usize>) -> Vec<String> {
    let mut best: Option<(usize, Vec<String>)> = None;
    visit_text(text, &mut |path, key, value| {
        for around in [key, value] {
            let contains = around.start <= span.start && span.end <= around.end;
            let is_smaller = best
                .as_ref()
                .is_none_or(|(length, _)| around.len() <= *length);
            if contains && is_smaller {
                best = Some((around.len(), path.to_vec()));
            }
        }
    });
    best.map_or_else(Vec::new, |(_, path)| path)
}

/// Called with a path and the spans of its key and of its value.
type See<'a> = dyn FnMut(&[String], Range<usize>, Range<usize>) + 'a;

/// Visits every key and every element of a list, the outer ones first; nothing if the text is not
/// TOML.
fn visit_text(text: &str, see: &mut See<'_>) {
    if let Ok(table) = DeTable::parse(text) {
        visit_table(table.get_ref(), &mut Vec::new(), see);
    }
}

fn visit_table(table: &DeTable<'_>, path: &mut Vec<String>, see: &mut See<'_>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        see(path, key.span(), value.span());
        visit_value(value.get_ref(), path, see);
        path.pop();
    }
}

fn visit_value(value: &DeValue<'_>, path: &mut Vec<String>, see: &mut See<'_>) {
    match value {
        DeValue::Table(table) => visit_table(table, path, see),
        DeValue::Array(array) => {
            for (index, value) in array.iter().enumerate() {
                path.push(label(value.get_ref()).unwrap_or_else(|| index.to_string()));
                see(path, value.span(), value.span());
                visit_value(value.get_ref(), path, see);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The `name` or the `id` of an element of a list.
fn label(value: &DeValue<'_>) -> Option<String> {
    let table = value.as_table()?;
    let of_key = |wanted: &str| {
        let (_, value) = table.iter().find(|(key, _)| key.get_ref() == wanted)?;
        value.get_ref().as_str().map(str::to_owned)
    };
    of_key("name").or_else(|| of_key("id"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    struct Document {
        size: u32,
        #[serde(default)]
        phase: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its errors are looked at")]
    struct Inner {
        name: String,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Cold,
        Warm,
    }

    fn error(text: &str) -> (String, Option<String>) {
        let error = from_toml::<Document>(text).expect_err("refused");
        (error.to_string(), error.hint)
    }

    #[test]
    fn an_unknown_key_is_named_with_its_position_and_the_nearest_one() {
        let text = "size = 1\n\n[[phase]]\nname = 'a'\n\n[[phase]]\nname = 'b'\n  kindd = 'cold'\n";
        let (message, hint) = error(text);
        assert_eq!(message, "line 8, column 3: phase.b.kindd: unknown key");
        assert_eq!(hint.as_deref(), Some("did you mean 'kind'?"));
        let (message, hint) = error("size = 1\nqqqqqqq = 2\n");
        assert_eq!(message, "line 2, column 1: qqqqqqq: unknown key");
        assert_eq!(hint.as_deref(), Some("expected one of size, phase"));
    }

    #[test]
    fn a_wrong_value_is_named_by_its_key_and_position() {
        let (message, hint) = error("size = 1\nphase = [{ name = 'ä', kind = 'coold' }]\n");
        assert_eq!(
            message,
            "line 2, column 31: phase.ä.kind: unknown value 'coold'"
        );
        assert_eq!(hint.as_deref(), Some("did you mean 'cold'?"));
        let (message, _) = error("size = 'much'\n");
        let expected = "line 1, column 8: size: 'much' instead of ";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn a_missing_key_has_the_position_of_its_table_if_any_and_a_slip_of_syntax_its_own() {
        let (message, _) = error("size = 1\n[[phase]]\nkind = 'cold'\n");
        assert_eq!(message, "line 2, column 1: phase.0.name: missing");
        let (message, _) = error("[[phase]]\nname = 'a'\n");
        assert_eq!(message, "size: missing");
        let (message, _) = error("size = 1\nphase = [\n");
        assert!(message.starts_with("line "), "{message}");
    }

    #[test]
    fn an_error_that_is_found_later_is_located_by_its_key() {
        let text = "a = 1\n[seek]\ntrack = 1\n";
        let at = |path: &[&str]| {
            let error = TomlError::new(path.iter().copied(), "wrong").located(text);
            error.position.map(|at| (at.line, at.column))
        };
        assert_eq!(at(&["seek", "track"]), Some((3, 1)));
        assert_eq!(at(&["seek", "average"]), Some((2, 2)));
        assert_eq!(at(&["none"]), None);
    }
}
